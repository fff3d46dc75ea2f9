"""CAIM: intervals in which one class stands out, about as many as there are classes."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from bestk.discretize._base import MAX_BINS, Classes, SupervisedDiscretizer
from bestk.discretize._columns import GROUP, Part, read_columns
from bestk.discretize._scheme import TIE, Scheme, first_largest, new_scheme, split, write_cuts
from bestk.discretize._sorting import Floats, Ints, Labels, Runs, new_runs, new_scratch, tally


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

    def _cut(self, part: Part, classes: Classes, room: Floats) -> Ints:
        n_cuts = np.empty(part.stop - part.start, np.int64)
        max_bins = self.max_bins or len(classes.labels)
        _cut_part(part.array, part.first, *classes, max_bins, room, n_cuts, get_num_threads())
        return n_cuts


@njit(parallel=True, cache=True)
def _cut_part(
    X: NDArray[Any],
    first: int,
    y: Labels,
    order: Ints,
    n_classes: int,
    max_bins: int,
    room: Floats,
    n_cuts: Ints,
    tasks: int,
) -> None:
    """Share the columns out, a group at a time."""
    for task in prange(tasks):
        _cut_share(X, first, y, order, n_classes, max_bins, room, n_cuts, task, tasks)


@njit(cache=True)
def _cut_share(
    X: NDArray[Any],
    first: int,
    y: Labels,
    order: Ints,
    n_classes: int,
    max_bins: int,
    room: Floats,
    n_cuts: Ints,
    task: int,
    tasks: int,
) -> None:
    """Cut the groups ``task``, ``task + tasks``, ... of columns, and put the cuts into their room."""
    rows = np.empty((GROUP, len(y)))
    runs, scratch = new_runs(len(y)), new_scratch(len(y))
    scheme = new_scheme(len(y), n_classes)
    for start in range(task * GROUP, len(n_cuts), tasks * GROUP):
        stop = min(start + GROUP, len(n_cuts))
        read_columns(X, first + start, order, rows[: stop - start])
        for j in range(start, stop):
            n_values = tally(rows[j - start], y, n_classes, runs, scratch)
            n_cuts[j] = _grow(runs, n_values, n_classes, max_bins, scheme)
            write_cuts(scheme, n_cuts[j], runs, room[j])


@njit(cache=True)
def _grow(runs: Runs, n_values: int, n_classes: int, max_bins: int, scheme: Scheme) -> int:
    """Add the best cut while it pays; return the number of cuts."""
    if n_values == 0:
        return 0
    scheme.edge[0], scheme.edge[1] = 0, n_values
    tie = TIE * runs.size[: runs.start[n_values]].sum()
    total = _find_cut(runs, scheme, 0, tie)
    n_bins, accepted = 1, 0.0
    while n_bins < min(max_bins, n_values):
        i = first_largest(scheme.gain[:n_bins], tie)
        caim = (total + scheme.gain[i]) / (n_bins + 1)
        if n_bins >= n_classes and caim <= accepted + tie / (n_bins + 1):
            break
        total, accepted = total + scheme.gain[i], caim
        split(scheme, n_bins, i)
        n_bins += 1
        _find_cut(runs, scheme, i, tie)
        _find_cut(runs, scheme, i + 1, tie)
    return n_bins - 1


@njit(cache=True)
def _find_cut(runs: Runs, scheme: Scheme, i: int, tie: float) -> float:
    """Store the best cut of interval ``i`` and its gain; return ``max_c q_ci^2 / M_i``."""
    first, stop, score = scheme.edge[i], scheme.edge[i + 1], scheme.score
    scheme.left[:] = 0
    top, size = 0, 0
    for v in range(first, stop):
        top, size = _take(runs, v, scheme.left, top, size)
        score[v + 1] = top * top / size
    whole = score[stop]
    scheme.right[:] = 0
    top, size = 0, 0
    for v in range(stop - 1, first, -1):
        top, size = _take(runs, v, scheme.right, top, size)
        score[v] += top * top / size
    scheme.gain[i] = -np.inf
    if stop - first > 1:
        scheme.cut[i] = first + 1 + first_largest(score[first + 1 : stop], tie)
        scheme.gain[i] = score[scheme.cut[i]] - whole
    return float(whole)


@njit(cache=True)
def _take(runs: Runs, v: int, counts: Ints, top: int, size: int) -> tuple[int, int]:
    """Add the samples of value ``v`` to an interval; return its largest class, and its size."""
    for run in range(runs.start[v], runs.start[v + 1]):
        label = runs.label[run]
        counts[label] += runs.size[run]
        size += runs.size[run]
        top = max(top, counts[label])
    return top, size
