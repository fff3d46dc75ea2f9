"""Cuts that use the class: CAIM and MDLP."""

from collections.abc import Callable
from math import log, log1p
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy
from sklearn.utils._param_validation import Interval

from bestk._typing import Floats
from bestk.discretize._base import MAX_BINS, Labels, SupervisedDiscretizer
from bestk.discretize._columns import first_values
from bestk.native import kernels

MAX_BINS_CONSTRAINT: dict[str, list[Any]] = {
    "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both"), None]
}


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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MAX_BINS_CONSTRAINT

    def __init__(self, max_bins: int | None = None) -> None:
        self.max_bins = max_bins

    def _cutter(self, y: Labels, n_classes: int) -> Callable[[Floats], list[Floats]]:
        n, max_bins = len(y), self.max_bins or len(y)

        def cut(block: Floats) -> list[Floats]:
            n_cuts = np.empty(len(block), np.int64)
            kernels.cut_caim(block, len(block), n, y, n_classes, max_bins, n_cuts)
            return first_values(block, n_cuts)

        return cut


class MDLP(SupervisedDiscretizer):
    r"""Discretise by recursive entropy splits, stopped by minimum description length.

    A set S of N samples is cut in two, S1 and S2, where the class entropy left is least, if

    .. math::

        Gain > \frac{\log_2(N - 1)}{N} + \frac{\Delta}{N}, \quad
        \Delta = \log_2(3^k - 2) - [k\,Ent(S) - k_1 Ent(S_1) - k_2 Ent(S_2)]

    with k, k1 and k2 the numbers of classes in S, S1 and S2; then S1 and S2 are cut likewise.
    Cuts lie midway between neighbouring values that are not both of one and the same class. Of
    equally good cuts the lowest is taken. A column with little information about the class gets
    no cut.

    Parameters
    ----------
    max_bins : int, optional
        The most intervals a column may get; the splits that save most entropy are made first.

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
    U. M. Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued attributes
    for classification learning", IJCAI 1993.

    Examples
    --------
    >>> from bestk.discretize import MDLP
    >>> X = [[1, 5], [2, 3], [3, 4], [6, 3], [7, 5], [8, 4]]
    >>> MDLP().fit(X, [0, 0, 0, 1, 1, 1]).cut_points_
    [array([4.5]), array([], dtype=float64)]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MAX_BINS_CONSTRAINT

    def __init__(self, max_bins: int | None = None) -> None:
        self.max_bins = max_bins

    def _cutter(self, y: Labels, n_classes: int) -> Callable[[Floats], list[Floats]]:
        n, max_bins, tables = len(y), self.max_bins or len(y), _log_tables(len(y), n_classes)

        def cut(block: Floats) -> list[Floats]:
            n_cuts = np.empty(len(block), np.int64)
            kernels.cut_mdlp(block, len(block), n, y, n_classes, max_bins, *tables, n_cuts)
            return first_values(block, n_cuts)

        return cut


def _log_tables(n_samples: int, n_classes: int) -> tuple[Floats, ...]:
    """``n log n``, its steps and ``log n`` of counts, and ``log(3^k - 2)`` of numbers of classes.

    All by the logarithm of the C library: that of numpy differs from machine to machine.
    """
    counts = np.arange(n_samples + 1.0)
    classes = [k * log(3.0) + log1p(-2.0 * 3.0**-k) for k in range(1, n_classes + 1)]
    xlogx = xlogy(counts, counts)
    return xlogx, np.diff(xlogx), xlogy(1.0, counts), np.array([-np.inf, *classes])
