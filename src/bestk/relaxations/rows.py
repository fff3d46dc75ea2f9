"""Bounds by rows: what an item is worth with its k - 1 best partners, or with all of them."""

import numpy as np

from bestk._typing import Floats
from bestk.problem import BQP
from bestk.relaxations.rounding import Bound, k_largest, largest_entry, rounding

STRIP = 256  # rows that are copied at a time


def rows_bound(problem: BQP) -> Bound:
    """Bound each chosen row by its diagonal entry and its k - 1 largest other entries.

    With r_i = Q_ii + the k - 1 largest Q_ij, x'Qx is at most the sum of the k largest r_i.

    Examples
    --------
    >>> round(rows_bound(BQP([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 2)).value, 9)
    6.0
    """
    values = row_values(problem.Q, problem.diagonal, problem.k)
    margin = rounding(2 * problem.k, problem.k**2 * largest_entry(problem.Q))
    return Bound(k_largest(values, problem.k) + margin, "rows", row_values=values)


def row_values(Q: Floats, linear: Floats, k: int) -> Floats:
    """For each i, linear_i + the k - 1 largest Q_ij with j other than i."""
    if k == 1:
        return linear.copy()
    tops = [_row_tops(Q[i : i + STRIP].copy(), i, k) for i in range(0, len(Q), STRIP)]
    return np.asarray(linear + np.concatenate(tops))


def _row_tops(rows: Floats, first: int, k: int) -> Floats:
    """Sums of the k - 1 largest entries of these rows off the diagonal; rows are overwritten."""
    own = np.arange(len(rows))
    rows[own, first + own] = -np.inf
    cut = rows.shape[1] - k + 1
    rows.partition(cut, axis=1)
    return np.asarray(rows[:, cut:].sum(axis=1))


def linear_bound(problem: BQP) -> Bound:
    """Bound x'Qx by the sum of the k largest row sums, LP2 of Venkateswara et al. (2015).

    A negative entry off the diagonal counts as zero, which can only raise x'Qx, so the bound
    holds for every symmetric Q; for Q >= 0 it is the optimal value of LP2.

    Examples
    --------
    >>> round(linear_bound(BQP([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 2)).value, 9)
    6.0
    """
    Q, n, k = problem.Q, problem.n, problem.k
    strips = (Q[i : i + STRIP] for i in range(0, n, STRIP))
    positive = np.concatenate([np.maximum(strip, 0.0).sum(axis=1) for strip in strips])
    sums = positive + np.minimum(problem.diagonal, 0.0)
    margin = rounding(n, k * n * largest_entry(Q))
    return Bound(k_largest(sums, k) + margin, "linear", row_values=sums)
