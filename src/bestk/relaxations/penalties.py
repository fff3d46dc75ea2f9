"""Entries so negative that no good choice contains them, at a size that rounding can bear."""

import numpy as np

from bestk.problem.problem import BQP
from bestk.relaxations.rounding import k_largest


def moderate(problem: BQP, value: float) -> BQP:
    """The problem with its penalties raised, as far as choices that have one stay below a value.

    With D the k largest diagonal entries and P the largest other one, or 0, a choice with the
    pair i, j is worth at most D + (k (k - 1) - 2) P + 2 Q_ij. Where that is below the value of a
    known choice by far, Q_ij may be raised until it is below by less: the best choices and their
    values stay the same, and a bound on the new problem that is not below ``value`` is one on the
    old. Rounding in proofs grows with the largest entry, and a penalty of 1e12 would hide
    differences of 0.1.

    Examples
    --------
    >>> Q = [[1.0, 0.5, -1e12], [0.5, 2.0, 1.0], [-1e12, 1.0, 3.0]]
    >>> float(moderate(BQP(Q, k=2), value=7.0).Q.min())
    -14.0
    >>> float(moderate(BQP(Q, k=3), value=-2e12).Q.min())  # there is no choice without it
    -1000000000000.0
    """
    Q, k, diagonal = problem.Q, problem.k, problem.diagonal
    if k == problem.n:
        return problem
    pair = _largest_pair(Q)
    first, others = k_largest(diagonal, k), k * (k - 1) * pair
    size = abs(value) + abs(first) + others
    least_pair = np.floor((value - first - others) / 2 - size)
    rest = k_largest(diagonal, k - 1) if k > 1 else 0.0
    least_item = np.floor(value - rest - others - size)
    low = diagonal < least_item
    if not low.any() and Q.min() >= min(least_pair, float(diagonal.min())):
        return problem
    raised = np.maximum(Q, least_pair)
    np.fill_diagonal(raised, np.maximum(diagonal, least_item))
    return BQP.trusted(raised, k)


def _largest_pair(Q: np.ndarray, strip: int = 256) -> float:
    """The largest entry off the diagonal, or 0 if that is larger."""
    largest = 0.0
    for i in range(0, len(Q), strip):
        rows = Q[i : i + strip].copy()
        rows[np.arange(len(rows)), i + np.arange(len(rows))] = -np.inf
        largest = max(largest, float(rows.max()))
    return largest
