"""The bound of the paper's linear relaxation: the k largest row sums."""

import numpy as np

from bestk.problem.problem import BQP
from bestk.relaxations.rounding import Bound, Floats, k_largest, largest_entry, rounding


def linear_bound(problem: BQP) -> Bound:
    """Bound x'Qx by x'Qe: the sum of the k largest row sums, LP2 of the paper.

    A negative entry off the diagonal counts as zero, which can only raise x'Qx, so the bound
    holds for every symmetric Q; for Q >= 0 it is the optimal value of LP2.

    References
    ----------
    H. Venkateswara, P. Lade, B. Lin, J. Ye, S. Panchanathan, "Efficient approximate solutions to
    mutual information based global feature selection", ICDM 2015.

    Examples
    --------
    >>> round(linear_bound(BQP([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 2)).value, 9)
    6.0
    """
    sums = _row_sums(problem.Q, problem.diagonal)
    margin = rounding(problem.n, problem.k * problem.n * largest_entry(problem.Q))
    return Bound(k_largest(sums, problem.k) + margin, "linear", row_values=sums)


def _row_sums(Q: Floats, diagonal: Floats, strip: int = 256) -> Floats:
    """The diagonal entry and the positive other entries of each row, added up."""
    starts = range(0, len(Q), strip)
    sums = np.concatenate([np.maximum(Q[i : i + strip], 0.0).sum(axis=1) for i in starts])
    return np.asarray(sums + np.minimum(diagonal, 0.0))
