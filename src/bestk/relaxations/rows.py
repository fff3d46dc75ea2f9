"""The bound by rows: what an item is worth with its k - 1 best partners."""

import numpy as np

from bestk.problem.problem import BQP
from bestk.relaxations.rounding import Bound, Floats, k_largest, largest_entry, rounding


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


def row_values(Q: Floats, linear: Floats, k: int, strip: int = 256) -> Floats:
    """For each i, linear_i + the k - 1 largest Q_ij with j other than i.

    Examples
    --------
    >>> row_values(np.array([[9.0, 1.0, 2.0], [1.0, 9.0, 4.0], [2.0, 4.0, 9.0]]), np.zeros(3), 2)
    array([2., 4., 4.])
    """
    if k == 1:
        return linear.copy()
    tops = [_row_tops(Q[i : i + strip].copy(), i, k) for i in range(0, len(Q), strip)]
    return np.asarray(linear + np.concatenate(tops))


def _row_tops(rows: Floats, first: int, k: int) -> Floats:
    """Sums of the k - 1 largest entries of these rows off the diagonal; rows are overwritten."""
    own = np.arange(len(rows))
    rows[own, first + own] = -np.inf
    cut = rows.shape[1] - k + 1
    rows.partition(cut, axis=1)
    return np.asarray(rows[:, cut:].sum(axis=1))
