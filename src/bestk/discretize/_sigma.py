"""Three states: below, around and above the mean."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, Options

from bestk.discretize._base import UnsupervisedDiscretizer
from bestk.discretize._columns import Floats

WIDEST = 10_000  # standard deviations: of fewer than its square of values none lies so far out


class Sigma(UnsupervisedDiscretizer):
    r"""Discretise into three states: low, middling and high.

    The cuts of a column with mean :math:`\mu` and standard deviation :math:`\sigma` are

    .. math:: \mu - a \sigma, \quad \mu + a \sigma

    the states of the authors of mRMR, with a = 0.5. A constant column gets no cut.

    Parameters
    ----------
    a : float, default=0.5
        Half the width of the middle state, in standard deviations; at most 10,000.
    ddof : {0, 1}, default=0
        The variance is the sum of squared deviations over the number of values less ``ddof``.

    Attributes
    ----------
    cut_points_ : list of ndarray
        The cuts of each column, ascending.
    n_features_in_ : int
        The number of columns seen in ``fit``.
    feature_names_in_ : ndarray
        Their names, where they had names.

    References
    ----------
    C. Ding and H. Peng, "Minimum redundancy feature selection from microarray gene expression
    data", Journal of Bioinformatics and Computational Biology 3(2), 2005.

    Examples
    --------
    >>> from bestk.discretize import Sigma
    >>> Sigma(a=1).fit_transform([[1], [5], [5], [5], [9]]).ravel()
    array([0, 1, 1, 1, 2], dtype=int16)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "a": [Interval(Real, 0, WIDEST, closed="both")],
        "ddof": [Options(int, {0, 1})],
    }

    def __init__(self, a: float = 0.5, ddof: int = 0) -> None:
        self.a = a
        self.ddof = ddof

    def _cut(self, block: Floats) -> list[Floats]:
        block.sort(axis=1)  # sums then do not depend on the order of the samples
        observed = block.shape[1] - np.isnan(block).sum(axis=1)
        return [self._cuts(row[:n]) for row, n in zip(block, observed, strict=True)]

    def _cuts(self, values: Floats) -> Floats:
        """Cut one ascending column; scaling by a power of two keeps squares finite."""
        if len(values) == 0 or values[0] == values[-1]:
            return np.empty(0)
        _, power = np.frexp(max(-values[0], values[-1]))
        scaled = np.ldexp(values, -power)
        with np.errstate(over="ignore"):
            reach = float(self.a) * scaled.std(ddof=self.ddof)
            cuts = np.unique(np.ldexp(scaled.mean() + np.array([-reach, reach]), power))
        return cuts[np.isfinite(cuts)]  # no value lies beyond the others
