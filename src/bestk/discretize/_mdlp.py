"""MDLP: split while the class entropy saved is worth the bits that describe the split."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numba import get_num_threads, prange
from scipy.special import xlogy
from sklearn.utils._param_validation import Interval

from bestk._kernels import kernel, parallel_kernel
from bestk._sorting import Floats, Ints, Labels, Runs, new_runs, new_scratch, tally
from bestk.discretize._base import MAX_BINS, SupervisedDiscretizer
from bestk.discretize._scheme import TIE, Scheme, first_largest, new_scheme, split, write_cuts


class MDLP(SupervisedDiscretizer):
    r"""Discretise by recursive entropy splits, stopped by minimum description length.

    A set S of N samples is cut in two, S1 and S2, where the class entropy left is least, if

    .. math::

        Gain > \frac{\log_2(N - 1)}{N} + \frac{\Delta}{N}, \quad
        \Delta = \log_2(3^k - 2) - [k\,Ent(S) - k_1 Ent(S_1) - k_2 Ent(S_2)]

    with k, k1 and k2 the numbers of classes in S, S1 and S2; then S1 and S2 are cut likewise.
    Cuts lie midway between neighbouring values that are not both of one and the same class. Of
    equally good cuts the lowest is taken. A column that says little about the class gets no cut.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both"), None]
    }

    def __init__(self, max_bins: int | None = None) -> None:
        self.max_bins = max_bins

    def _cut(self, block: Floats, y: Labels, n_classes: int) -> Ints:
        max_bins, counts = self.max_bins or len(y), np.arange(len(y) + 1.0)
        table, tasks = xlogy(counts, counts), get_num_threads()
        n_cuts: Ints = _cut_block(block, y, n_classes, max_bins, table, tasks)
        return n_cuts


@parallel_kernel
def _cut_block(
    block: Floats, y: Labels, n_classes: int, max_bins: int, xlogx: Floats, tasks: int
) -> Ints:
    """Overwrite the head of each row with its cuts; return how many they are."""
    width, n_samples = block.shape
    n_cuts = np.empty(width, np.int64)
    for task in prange(tasks):
        runs, scratch = new_runs(n_samples), new_scratch(n_samples)
        scheme = new_scheme(n_samples, n_classes)
        for j in range(task, width, tasks):
            n_values = tally(block[j], y, n_classes, runs, scratch)
            n_cuts[j] = _grow(runs, n_values, max_bins, xlogx, scheme)
            write_cuts(scheme, n_cuts[j], runs, block[j])
    return n_cuts


@kernel
def _grow(runs: Runs, n_values: int, max_bins: int, xlogx: Floats, scheme: Scheme) -> int:
    """Make the split that saves most while one is worth it; return the number of cuts."""
    if n_values == 0:
        return 0
    scheme.edge[0], scheme.edge[1] = 0, n_values
    tie = TIE * xlogx[runs.size[: runs.start[n_values]].sum()]
    _find_cut(runs, xlogx, scheme, 0, tie)
    n_bins = 1
    while n_bins < max_bins:
        i = first_largest(scheme.gain[:n_bins], tie)
        if scheme.gain[i] == -np.inf:
            break
        split(scheme, n_bins, i)
        n_bins += 1
        _find_cut(runs, xlogx, scheme, i, tie)
        _find_cut(runs, xlogx, scheme, i + 1, tie)
    return n_bins - 1


@kernel
def _find_cut(runs: Runs, xlogx: Floats, scheme: Scheme, i: int, tie: float) -> None:
    """Store the best cut of interval ``i``; its gain is -inf if it is not worth its bits."""
    first, stop, score = scheme.edge[i], scheme.edge[i + 1], scheme.score
    scheme.gain[i] = -np.inf
    if stop - first < 2:
        return
    whole = _sweep(runs, xlogx, scheme, first, stop)
    at = first + 1 + first_largest(score[first + 1 : stop], tie)
    if score[at] == -np.inf:
        return
    _count(runs, first, at, scheme.left)
    _count(runs, at, stop, scheme.right)
    saved = whole + score[at]
    if saved > _price(scheme.left, scheme.right, xlogx) + tie:
        scheme.cut[i], scheme.gain[i] = at, saved


@kernel
def _sweep(runs: Runs, xlogx: Floats, scheme: Scheme, first: int, stop: int) -> float:
    """Score each boundary by minus the entropy left, times N; return that of the whole."""
    score, left, right = scheme.score, scheme.left, scheme.right
    _count(runs, first, stop, right)
    left[:] = 0
    size_left, size_right = 0, right.sum()
    sum_left, sum_right = 0.0, xlogx[right].sum()
    whole = xlogx[size_right] - sum_right
    for v in range(first, stop - 1):
        for run in range(runs.start[v], runs.start[v + 1]):
            c, n = runs.label[run], runs.size[run]
            sum_left += xlogx[left[c] + n] - xlogx[left[c]]
            sum_right += xlogx[right[c] - n] - xlogx[right[c]]
            left[c], size_left = left[c] + n, size_left + n
            right[c], size_right = right[c] - n, size_right - n
        score[v + 1] = -np.inf
        if _is_boundary(runs, v):
            score[v + 1] = sum_left + sum_right - xlogx[size_left] - xlogx[size_right]
    return float(whole)


@kernel
def _is_boundary(runs: Runs, v: int) -> bool:
    """Tell whether values ``v`` and ``v + 1`` are not both of one and the same class."""
    a, b, c = runs.start[v], runs.start[v + 1], runs.start[v + 2]
    return bool(b - a > 1 or c - b > 1 or runs.label[a] != runs.label[b])


@kernel
def _count(runs: Runs, first: int, stop: int, counts: Ints) -> None:
    """Count the classes of the values ``first:stop``."""
    counts[:] = 0
    for run in range(runs.start[first], runs.start[stop]):
        counts[runs.label[run]] += runs.size[run]


@kernel
def _price(left: Ints, right: Ints, xlogx: Floats) -> float:
    """Return what a split must save: ``log(N - 1) + Delta``, in nats."""
    both = left + right
    k = (both > 0).sum()
    delta = k * np.log(3.0) + np.log1p(-2.0 * 3.0 ** (-k))
    delta -= _classes_times_entropy(both, xlogx)
    delta += _classes_times_entropy(left, xlogx) + _classes_times_entropy(right, xlogx)
    return float(np.log(both.sum() - 1.0) + delta)


@kernel
def _classes_times_entropy(counts: Ints, xlogx: Floats) -> float:
    """Return ``k Ent(S)``."""
    size = counts.sum()
    return float((counts > 0).sum() * (xlogx[size] - xlogx[counts].sum()) / size)
