"""Bounds, and problems made easier to bound: some items decided, penalties of moderate size."""

from dataclasses import dataclass, replace
from math import frexp

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP, largest_entry
from bestk.bqp.solution import Solution

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no choice of k items exceeds, and what its proof has shown besides."""

    value: float
    """The upper bound on x'Qx over all choices of k items."""

    method: str
    """How it was proved, such as "rows" or "dnn"."""

    row_values: Floats | None = None
    """One number for each item: the value is the sum of the k largest of them, plus a constant."""

    fixed_in: int | None = None
    """How many items every choice has that is as good as the best one known; None if not asked."""

    fixed_out: int | None = None
    """How many items no such choice has; None if not asked."""

    steps: int = 0
    """Steps of the iteration that found the bound; 0 for a formula."""


def rounding(terms: int, size: float) -> float:
    """A margin above the rounding error of a sum.

    terms: how many numbers are added up.
    size: the sum of their absolute values, or more.
    """
    return 4 * (terms + 64) * EPS * size


def power_of_two(size: float) -> float:
    """The smallest power of two above a size; 1 for 0."""
    if size == 0:
        return 1.0
    _, exponent = frexp(size)
    return 2.0**exponent


def k_largest(values: Floats, k: int) -> float:
    """The sum of the k largest values."""
    cut = len(values) - k
    return float(np.partition(values, cut)[cut:].sum())


@dataclass(frozen=True, eq=False)
class OnlyChoice:
    """The best choice where there is nothing to search, and a bound on its value."""

    items: Indices
    """The k chosen items, as the whole problem numbers them."""

    upper_bound: float
    """The value of the choice, and a margin for its rounding."""


@dataclass(frozen=True, eq=False)
class Subproblem:
    """Choose k of the open items, given items that are in the choice and items that are not.

    The value of the whole choice is at most base + x'Qx, and differs from it by rounding alone.
    """

    Q: Floats
    """One row and column for each open item; what the items inside add is on the diagonal."""

    k: int
    """How many of the open items are to be chosen."""

    base: float
    """What the items inside are worth together, and a margin for rounding."""

    items: Indices
    """The open items, as the whole problem numbers them."""

    inside: Indices
    """The items that every choice considered here has, as the whole problem numbers them."""

    @classmethod
    def of(cls, problem: BQP) -> "Subproblem":
        """The whole problem: every item is open."""
        nothing = np.zeros(0, np.int64)
        return cls(
            Q=problem.matrix,
            k=problem.k,
            base=0.0,
            items=np.arange(problem.n),
            inside=nothing,
        )

    @property
    def n(self) -> int:
        """Number of open items."""
        return len(self.items)

    def without(self, inside: Mask, outside: Mask) -> "Subproblem":
        """The subproblem with more items decided; each mask has one entry for each open item."""
        is_open = ~(inside | outside)
        n_inside = int(inside.sum())
        Q = self.Q[np.ix_(is_open, is_open)]
        pairs_inside = self.Q[np.ix_(inside, inside)]
        links = self.Q[np.ix_(is_open, inside)]
        on_diagonal = slice(None, None, len(Q) + 1)
        Q.flat[on_diagonal] += 2 * links.sum(axis=1)
        base = self.base + float(pairs_inside.sum())
        if n_inside:
            sizes_of_links = np.abs(links).sum(axis=1)
            largest_links = sizes_of_links.max(initial=0.0)
            size = np.abs(pairs_inside).sum() + 2 * self.k * largest_links
            base += rounding(n_inside, float(size))
        return Subproblem(
            Q,
            self.k - n_inside,
            base,
            items=self.items[is_open],
            inside=np.concatenate([self.inside, self.items[inside]]),
        )

    def only_choice(self) -> OnlyChoice | None:
        """The best choice if k is 0, 1 or the number of open items; otherwise None."""
        if 1 < self.k < self.n:
            return None
        best_first = np.argsort(-self.Q.diagonal(), kind="stable")
        chosen = best_first[: self.k]
        value = self.base + float(self.Q[np.ix_(chosen, chosen)].sum())
        n_items = self.k + len(self.inside)
        largest = float(np.abs(self.Q).max(initial=0.0))
        size = abs(value) + n_items**2 * largest
        items = np.concatenate([self.inside, self.items[chosen]])
        return OnlyChoice(items, value + rounding(n_items, size))


def moderate(problem: BQP, value: float) -> BQP:
    """The problem with its penalties raised, as far as choices that have one stay below a value.

    With D the sum of the k largest diagonal entries and P the largest entry, or 0, a choice with
    the pair i, j is worth at most D + (k (k - 1) - 2) P + 2 Q_ij. Where that is far below
    ``value``, the value of some choice, Q_ij may be raised: the best choices and their values stay
    the same, and a bound on the new problem that is not below ``value`` is one on the old.
    Likewise for Q_ii, with D of k - 1 entries. Rounding in proofs grows with the largest entry,
    and a penalty of 1e12 would hide differences of 0.1.
    """
    Q = problem.matrix
    k = problem.k
    diagonal = problem.diagonal
    if k == problem.n:
        return problem
    best_k = k_largest(diagonal, k)
    best_others = k_largest(diagonal, k - 1) if k > 1 else 0.0
    # If no entry is below the limits even with P = 0, the passes over the matrix are saved.
    highest_limit = max((value - best_k) / 2, value - best_others)
    highest_limit = highest_limit - abs(value) - abs(best_k)
    if -problem.largest >= highest_limit:
        return problem
    pairs = k * (k - 1) * max(0.0, float(Q.max()))
    size = abs(value) + abs(best_k) + pairs
    # The limits are multiples of a power of two, so that whole numbers stay whole.
    unit = min(1.0, power_of_two(size))
    lowest_pair = _multiple_below((value - best_k - pairs) / 2 - size, unit)
    lowest_item = _multiple_below(value - best_others - pairs - size, unit)
    has_low_item = bool((diagonal < lowest_item).any())
    has_low_pair = Q.min() < min(lowest_pair, float(diagonal.min()))
    if not has_low_item and not has_low_pair:
        return problem
    raised = np.maximum(Q, lowest_pair)
    np.fill_diagonal(raised, np.maximum(diagonal, lowest_item))
    return BQP.trusted(raised, k)


def _multiple_below(value: float, unit: float) -> float:
    """A multiple of a unit, below a value by one to two units."""
    return unit * (float(np.floor(value / unit)) - 1.0)


class Fixed:
    """A problem of which some items must be chosen, as a smaller problem for the others.

    What the fixed items add to the others is spread over all entries: with l_i the sum of Q_ij
    over the fixed j, and m = k less the number of fixed items, the smaller problem has
    Q_ij + (l_i + l_j) / m. Then the value of a whole choice is base + x'Qx for every choice of m
    items. On the diagonal alone, solvers that use row sums would give it too little weight.
    """

    def __init__(self, problem: BQP, inside: Indices) -> None:
        self.problem = problem
        self.inside = inside
        """The fixed items."""
        self.open = np.setdiff1d(np.arange(problem.n), inside)
        """The other items, as the problem numbers them."""
        self.k = problem.k - len(inside)
        """How many of them are still to be chosen; m in the formula above."""
        self.base = problem.value(inside)
        """What the fixed items are worth together."""
        columns = problem.columns(inside)
        links = columns[self.open].sum(axis=1)  # l_i in the formula
        self._extra = links / max(1, self.k)
        n_terms = 2 * len(inside) * problem.k
        self._margin = rounding(n_terms, n_terms * largest_entry(columns))

    def remaining_problem(self) -> BQP:
        """The problem of choosing the other items, which are numbered as in ``open``."""
        if self.problem.is_lazy:
            diagonal = self.problem.diagonal[self.open] + 2 * self._extra
            columns = CachedColumns(self._columns, diagonal, memory=0)
            return BQP.trusted(columns, self.k)
        all_items = np.arange(len(self.open))
        return BQP.trusted(self._columns(all_items), self.k)

    def _columns(self, items: Indices) -> Floats:
        """Columns of the smaller problem, side by side."""
        columns = self.problem.columns(self.open[items])[self.open]
        columns += self._extra[:, None] + self._extra[items]
        return columns

    def complete(self, solution: Solution) -> Solution:
        """The whole choice of a solution of the smaller problem; the fixed items come first."""
        others = self.open[solution.support]
        support = np.concatenate([self.inside, others])
        value = self.problem.value(support)
        if "fixed_in" in solution.details:
            fixed_in = solution.details["fixed_in"] + len(self.inside)
            solution = replace(solution, details={**solution.details, "fixed_in": fixed_in})
        upper_bound = value
        if solution.gap > 0:  # otherwise the choice is proved optimal, but for rounding
            upper_bound = max(value, solution.upper_bound + self.base + self._margin)
        return replace(solution, support=support, objective=value, upper_bound=upper_bound)
