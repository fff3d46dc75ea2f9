"""Cuts that ignore the class: bins of equal width, bins of equal frequency."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from bestk.discretize._base import MAX_BINS, UnsupervisedDiscretizer
from bestk.discretize._columns import Floats, heads
from bestk.native import kernels


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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")]
    }

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")]
    }

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def _cut(self, block: Floats) -> list[Floats]:
        n_cuts, zeros = np.empty(len(block), np.int64), np.zeros(block.shape[1], np.int32)
        kernels.cut_frequency(block, *block.shape, zeros, self.n_bins, n_cuts)
        return heads(block, n_cuts)


def _even_cuts(low: float, high: float, n_bins: int) -> Floats:
    """Return the inner edges of equal bins; none where there is nothing to part."""
    if not low < high:
        return np.empty(0)
    if high / n_bins - low / n_bins > np.finfo(float).max / n_bins**2:
        return _even_cuts(low * 2.0**-32, high * 2.0**-32, n_bins) * 2.0**32
    cuts = np.unique(low + (high - low) * np.arange(1, n_bins) / n_bins)
    return cuts[(low <= cuts) & (cuts < high)]
