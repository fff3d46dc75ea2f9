"""CAIM: intervals in which one class stands out, about as many as there are classes."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from bestk.discretize._base import MAX_BINS, Labels, SupervisedDiscretizer
from bestk.discretize._columns import Floats, heads
from bestk.native import kernels


class CAIM(SupervisedDiscretizer):
    r"""Discretise by class-attribute interdependence maximisation.

    A scheme of ``r`` intervals is worth

    .. math:: CAIM = \frac{1}{r} \sum_{i=1}^{r} \frac{\max_c q_{ci}^2}{M_i}

    with :math:`q_{ci}` the samples of class c in interval i and :math:`M_i` its size. Starting
    from one interval, the cut that leads to the largest CAIM is added, as long as CAIM grows or
    there are fewer intervals than classes. Cuts lie midway between neighbouring values. Of equally
    good cuts the lowest is taken; sums of :math:`\max_c q_{ci}^2 / M_i` that differ by less than
    ``1e-12`` of the number of samples are equal.

    Parameters
    ----------
    max_bins : int, optional
        The most intervals a column may get, even if there are more classes.

    Attributes
    ----------
    cut_points_ : list of ndarray
        The cuts of each column, ascending.
    classes_ : ndarray
        The classes seen in ``fit``.
    n_features_in_ : int
        The number of columns seen in ``fit``.
    feature_names_in_ : ndarray
        Their names, where they had names.

    References
    ----------
    L. A. Kurgan and K. J. Cios, "CAIM discretization algorithm", IEEE Transactions on Knowledge
    and Data Engineering 16(2), 2004.

    Examples
    --------
    >>> from bestk.discretize import CAIM
    >>> caim = CAIM().fit([[0.1], [0.2], [0.8], [0.9]], [0, 0, 1, 1])
    >>> caim.cut_points_
    [array([0.5])]
    >>> caim.transform([[0.3], [0.7], [float("nan")]]).ravel()
    array([0, 1, 2], dtype=int16)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both"), None]
    }

    def __init__(self, max_bins: int | None = None) -> None:
        self.max_bins = max_bins

    def _cutter(self, y: Labels, n_classes: int) -> Callable[[Floats], list[Floats]]:
        n, max_bins = len(y), self.max_bins or len(y)

        def cut(block: Floats) -> list[Floats]:
            n_cuts = np.empty(len(block), np.int64)
            kernels.cut_caim(block, len(block), n, y, n_classes, max_bins, n_cuts)
            return heads(block, n_cuts)

        return cut
