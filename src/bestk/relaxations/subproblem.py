"""Problems made easier to bound: items decided, and penalties of a moderate size."""

from dataclasses import dataclass

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.problem import BQP
from bestk.relaxations.rounding import k_largest, rounding


@dataclass(frozen=True, eq=False)
class Subproblem:
    """Choose k of the open items: base + x'Qx is the value of the whole choice, or rounds above."""

    Q: Floats
    k: int
    base: float
    items: Indices  # the open items, as the problem numbers them
    inside: Indices  # items that every choice considered here has

    @classmethod
    def of(cls, problem: BQP) -> "Subproblem":
        """The whole problem."""
        return cls(problem.Q, problem.k, 0.0, np.arange(problem.n), np.zeros(0, np.int64))

    @property
    def n(self) -> int:
        """Number of open items."""
        return len(self.items)

    def without(self, inside: Mask, outside: Mask) -> "Subproblem":
        """The same with more items decided: those inside move into the linear part."""
        keep, count = ~(inside | outside), int(inside.sum())
        Q, block = self.Q[np.ix_(keep, keep)], self.Q[np.ix_(inside, inside)]
        links = self.Q[np.ix_(keep, inside)]
        Q.flat[:: len(Q) + 1] += 2 * links.sum(axis=1)
        size = np.abs(block).sum() + 2 * self.k * np.abs(links).sum(axis=1).max(initial=0.0)
        return Subproblem(
            Q,
            self.k - count,
            self.base + float(block.sum()) + (rounding(count, float(size)) if count else 0.0),
            self.items[keep],
            np.concatenate([self.inside, self.items[inside]]),
        )

    def settled(self) -> tuple[Indices, float] | None:
        """The best choice and a bound on its value where k is 0, 1 or all; otherwise None."""
        if 1 < self.k < self.n:
            return None
        best = np.argsort(-self.Q.diagonal(), kind="stable")[: self.k]
        value = self.base + float(self.Q[np.ix_(best, best)].sum())
        whole = self.k + len(self.inside)
        margin = rounding(whole, abs(value) + whole**2 * float(np.abs(self.Q).max(initial=0.0)))
        return np.concatenate([self.inside, self.items[best]]), value + margin


def screen(value: float, row_values: Floats, k: int, floor: float) -> tuple[Mask, Mask]:
    """Items that are in every choice worth at least ``floor``, and items that are in none.

    The bound ``value`` is a constant and the k largest row values r. A choice with an item i that
    is not among them is worth at most value - r_(k) + r_i; one without an item i that is among
    them is worth at most value - r_i + r_(k+1).

    Examples
    --------
    >>> inside, outside = screen(10.0, np.array([6.0, 4.0, 3.5, 1.0]), k=2, floor=9.0)
    >>> inside, outside
    (array([ True, False, False, False]), array([False, False, False,  True]))
    """
    n = len(row_values)
    order = np.argsort(-row_values, kind="stable")
    top = np.zeros(n, np.bool_)
    top[order[:k]] = True
    floor = floor - rounding(n, float(np.abs(row_values[order[: k + 1]]).max()))
    last_in = row_values[order[k - 1]]
    first_out = row_values[order[k]] if k < n else -np.inf
    inside = top & (value - row_values + first_out < floor)
    outside = ~top & (value - last_in + row_values < floor)
    return inside, outside


def moderate(problem: BQP, value: float) -> BQP:
    """The problem with its penalties raised, as far as choices that have one stay below a value.

    With D the k largest diagonal entries and P the largest entry, or 0, a choice with the pair
    i, j is worth at most D + (k (k - 1) - 2) P + 2 Q_ij. Where that is far below the value
    of a known choice, Q_ij may be raised: the best choices and their values stay the same, and a
    bound on the new problem that is not below ``value`` is one on the old. Rounding in proofs
    grows with the largest entry, and a penalty of 1e12 would hide differences of 0.1.

    Examples
    --------
    >>> Q = [[1.0, 0.5, -1e12], [0.5, 2.0, 1.0], [-1e12, 1.0, 3.0]]
    >>> float(moderate(BQP(Q, k=2), value=7.0).Q.min())
    -21.0
    >>> float(moderate(BQP(Q, k=3), value=-2e12).Q.min())  # every choice has the penalty
    -1000000000000.0
    """
    Q, k, diagonal = problem.Q, problem.k, problem.diagonal
    if k == problem.n:
        return problem
    first, others = k_largest(diagonal, k), k * (k - 1) * max(0.0, float(Q.max()))
    size = abs(value) + abs(first) + others
    least_pair = np.floor((value - first - others) / 2 - size) - 1.0
    rest = k_largest(diagonal, k - 1) if k > 1 else 0.0
    least_item = np.floor(value - rest - others - size) - 1.0
    low = diagonal < least_item
    if not low.any() and Q.min() >= min(least_pair, float(diagonal.min())):
        return problem
    raised = np.maximum(Q, least_pair)
    np.fill_diagonal(raised, np.maximum(diagonal, least_item))
    return BQP.trusted(raised, k)
