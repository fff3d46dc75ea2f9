"""CAIM: intervals in which one class stands out, about as many as there are classes."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numba import get_num_threads, prange
from sklearn.utils._param_validation import Interval

from bestk._kernels import kernel, parallel_kernel
from bestk._sorting import Floats, Ints, Labels, Runs, new_runs, new_scratch, tally
from bestk.discretize._base import MAX_BINS, SupervisedDiscretizer
from bestk.discretize._scheme import TIE, Scheme, first_largest, new_scheme, split, write_cuts


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

    def _cut(self, block: Floats, y: Labels, n_classes: int) -> Ints:
        max_bins = self.max_bins or len(y)
        n_cuts: Ints = _cut_block(block, y, n_classes, max_bins, get_num_threads())
        return n_cuts


@parallel_kernel
def _cut_block(block: Floats, y: Labels, n_classes: int, max_bins: int, tasks: int) -> Ints:
    """Overwrite the head of each row with its cuts; return how many they are."""
    width, n_samples = block.shape
    n_cuts = np.empty(width, np.int64)
    for task in prange(tasks):
        runs, scratch = new_runs(n_samples), new_scratch(n_samples)
        scheme = new_scheme(n_samples, n_classes)
        for j in range(task, width, tasks):
            n_values = tally(block[j], y, n_classes, runs, scratch)
            n_cuts[j] = _grow(runs, n_values, n_classes, max_bins, scheme)
            write_cuts(scheme, n_cuts[j], runs, block[j])
    return n_cuts


@kernel
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


@kernel(error_model="numpy")
def _find_cut(runs: Runs, scheme: Scheme, i: int, tie: float) -> float:
    """Store the best cut of interval ``i`` and its gain; return ``max_c q_ci^2 / M_i``."""
    first, stop, score = scheme.edge[i], scheme.edge[i + 1], scheme.score
    near, far = runs.start[first], runs.start[stop]
    _sweep(runs, near, far, 1, scheme.left, score[1:])
    whole = score[stop]
    scheme.gain[i] = -np.inf
    if stop - first > 1:
        _sweep(runs, far - 1, near - 1, -1, scheme.left, scheme.score_right)
        for v in range(first + 1, stop):
            score[v] += scheme.score_right[v]
        scheme.cut[i] = first + 1 + first_largest(score[first + 1 : stop], tie)
        scheme.gain[i] = score[scheme.cut[i]] - whole
    return float(whole)


@kernel(error_model="numpy")
def _sweep(runs: Runs, start: int, stop: int, step: int, counts: Ints, term: Floats) -> None:
    """Let an interval grow run by run; a value's ``term`` is that of the interval it completes."""
    owner, label, number = runs.owner, runs.label, runs.size
    counts[:] = 0
    top, size = 0, 0
    for run in range(start, stop, step):
        counts[label[run]] += number[run]
        top = max(top, counts[label[run]])
        size += number[run]
        term[owner[run]] = top * top / size
