"""Cuts that ignore the class: equal width, equal frequency, standard deviations."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, Options

from bestk._typing import Floats
from bestk.discretize._base import MAX_BINS, UnsupervisedDiscretizer
from bestk.discretize._columns import first_values
from bestk.native import kernels

MAX_DEVIATIONS = 10_000  # fewer than its square of values never reach so far
N_BINS_CONSTRAINT: dict[str, list[Any]] = {
    "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")]
}


class EqualWidth(UnsupervisedDiscretizer):
    r"""Discretise into bins of equal width between the least and the greatest value.

    .. math:: c_i = \min + \frac{i}{b} (\max - \min), \quad i = 1, \dots, b - 1

    A constant column gets no cut.

    Parameters
    ----------
    n_bins : int, default=5
        The number of bins, b.

    Attributes
    ----------
    cut_points_ : list of ndarray
        The cuts of each column, ascending.
    n_features_in_ : int
        The number of columns seen in ``fit``.
    feature_names_in_ : ndarray
        Their names, where they had names.

    Examples
    --------
    >>> from bestk.discretize import EqualWidth
    >>> EqualWidth(n_bins=4).fit([[0], [1], [8]]).cut_points_
    [array([2., 4., 6.])]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = N_BINS_CONSTRAINT

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def _cut(self, block: Floats) -> list[Floats]:
        lows, highs = np.fmin.reduce(block, axis=1), np.fmax.reduce(block, axis=1)
        return [_even_cuts(low, high, self.n_bins) for low, high in zip(lows, highs, strict=True)]


class EqualFrequency(UnsupervisedDiscretizer):
    r"""Discretise into bins that hold about as many samples each.

    Cut i of b - 1 comes after the quantile of i / b by the inverse of the distribution function,
    the least observed value with at least that share of the samples at or below it:

    .. math:: q_i = \min\{v : F(v) \ge i / b\}

    and lies midway between it and the next greater value. Equal values share a bin, so where one
    value is frequent there are fewer bins.

    Parameters
    ----------
    n_bins : int, default=5
        The number of bins wanted, b.

    Attributes
    ----------
    cut_points_ : list of ndarray
        The cuts of each column, ascending.
    n_features_in_ : int
        The number of columns seen in ``fit``.
    feature_names_in_ : ndarray
        Their names, where they had names.

    Examples
    --------
    >>> from bestk.discretize import EqualFrequency
    >>> EqualFrequency(n_bins=3).fit([[1], [2], [4], [5], [70], [80]]).cut_points_
    [array([ 3. , 37.5])]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = N_BINS_CONSTRAINT

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def _cut(self, block: Floats) -> list[Floats]:
        n_cuts, zeros = np.empty(len(block), np.int64), np.zeros(block.shape[1], np.int32)
        kernels.cut_frequency(block, *block.shape, zeros, self.n_bins, n_cuts)
        return first_values(block, n_cuts)


class Sigma(UnsupervisedDiscretizer):
    r"""Discretise into three states: low, middle and high.

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
        "a": [Interval(Real, 0, MAX_DEVIATIONS, closed="both")],
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


def _even_cuts(low: float, high: float, n_bins: int) -> Floats:
    """Return the inner edges of equal bins; none for a constant column."""
    if not low < high:
        return np.empty(0)
    if high / n_bins - low / n_bins > np.finfo(float).max / n_bins**2:
        return _even_cuts(low * 2.0**-32, high * 2.0**-32, n_bins) * 2.0**32
    cuts = np.unique(low + (high - low) * np.arange(1, n_bins) / n_bins)
    return cuts[(low <= cuts) & (cuts < high)]
