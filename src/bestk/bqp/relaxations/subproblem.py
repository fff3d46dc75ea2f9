"""Bounds, and problems made easier to bound: items decided, penalties of a moderate size."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import frexp
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP, largest_entry
from bestk.bqp.solution import Solution

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no choice of k items exceeds, and what else its proof has shown."""

    value: float
    method: str
    row_values: Floats | None = None  # the k largest of these and a constant add up to the value
    details: Mapping[str, Any] = field(default_factory=dict)


def rounding(terms: int, size: float) -> float:
    """More than rounding can move a sum of so many terms whose absolute values add up to size."""
    return 4 * (terms + 64) * EPS * size


def power_of_two(size: float) -> float:
    """The power of two just above a size; 1 for 0."""
    return 2.0 ** frexp(size)[1] if size else 1.0


def k_largest(values: Floats, k: int) -> float:
    """Sum of the k largest values."""
    cut = len(values) - k
    return float(np.partition(values, cut)[cut:].sum())


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


def moderate(problem: BQP, value: float) -> BQP:
    """The problem with its penalties raised, as far as choices that have one stay below a value.

    With D the k largest diagonal entries and P the largest entry, or 0, a choice with the pair
    i, j is worth at most D + (k (k - 1) - 2) P + 2 Q_ij. Where that is far below the value
    of a known choice, Q_ij may be raised: the best choices and their values stay the same, and a
    bound on the new problem that is not below ``value`` is one on the old. Rounding in proofs
    grows with the largest entry, and a penalty of 1e12 would hide differences of 0.1.
    """
    Q, k, diagonal = problem.Q, problem.k, problem.diagonal
    if k == problem.n:
        return problem
    first, rest = k_largest(diagonal, k), k_largest(diagonal, k - 1) if k > 1 else 0.0
    if -problem.largest >= max((value - first) / 2, value - rest) - abs(value) - abs(first):
        return problem  # not below the limits even if P is 0
    others = k * (k - 1) * max(0.0, float(Q.max()))
    size = abs(value) + abs(first) + others
    unit = min(1.0, power_of_two(size))  # whole numbers stay whole, and tiny ones tiny
    least_pair = unit * (np.floor(((value - first - others) / 2 - size) / unit) - 1.0)
    least_item = unit * (np.floor((value - rest - others - size) / unit) - 1.0)
    low = diagonal < least_item
    if not low.any() and Q.min() >= min(least_pair, float(diagonal.min())):
        return problem
    raised = np.maximum(Q, least_pair)
    np.fill_diagonal(raised, np.maximum(diagonal, least_item))
    return BQP.trusted(raised, k)


class Fixed:
    """What is left to choose once some items are in: a smaller problem, and the way back.

    What the items that are in add to the others is spread over all entries, l_i + l_j over 2k at
    [i, j], so that ``value of the whole choice = base + x'Qx`` for every choice of k. On the
    diagonal, methods that use row sums would give it too little weight.
    """

    def __init__(self, problem: BQP, inside: Indices) -> None:
        self.problem, self.inside = problem, inside
        self.open = np.setdiff1d(np.arange(problem.n), inside)
        self.k = problem.k - len(inside)
        self.base = problem.value(inside)
        columns = problem.columns(inside)
        self._extra = columns[self.open].sum(axis=1) / max(1, self.k)
        terms = 2 * len(inside) * problem.k
        self._margin = rounding(terms, terms * largest_entry(columns))

    def rest(self) -> BQP:
        """The problem of choosing the others."""
        if self.problem.is_lazy:
            diagonal = self.problem.diagonal[self.open] + 2 * self._extra
            return BQP.trusted(CachedColumns(self._columns, diagonal, memory=0), self.k)
        return BQP.trusted(self._columns(np.arange(len(self.open))), self.k)

    def _columns(self, items: Indices) -> Floats:
        out = self.problem.columns(self.open[items])[self.open]
        out += self._extra[:, None] + self._extra[items]
        return out

    def whole(self, solution: Solution) -> Solution:
        """The choice with the items that are in, which come first."""
        support = np.concatenate([self.inside, self.open[solution.support]])
        value = self.problem.value(support)
        if "fixed_in" in solution.details:
            certain = solution.details["fixed_in"] + len(self.inside)
            solution = replace(solution, details={**solution.details, "fixed_in": certain})
        upper = value  # proved, to rounding
        if solution.gap > 0:
            upper = max(value, solution.upper_bound + self.base + self._margin)
        return replace(solution, support=support, objective=value, upper_bound=upper)
