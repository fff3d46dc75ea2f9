"""Greedy choices: forwards, and from a few starts with swaps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk._typing import Indices
from bestk.problem import BQP, NO_ITEMS, best_first, grow, improve, top_k
from bestk.solvers._base import Needs, Run, pick_prefixes

MIN_BETTER = 1e-12  # relative: a smaller difference between two choices is rounding
MAX_SCANNED = 2**22  # entries that are scanned for pairs to start from
MAX_GROWN = 2**26  # entries that greedy choices from such pairs may read
ROWS_AT_ONCE = 32  # of them that stay in the cache
MIN_SCANNED_ITEMS = 16  # items whose partners are scanned, however many items there are


@dataclass(frozen=True)
class Forward:
    """Forward selection: adds the item that helps most, k times; ties go to the lowest index."""

    name: ClassVar[str] = "forward"
    needs: ClassVar[Needs] = "columns"
    frugal: ClassVar[bool] = True  # a few columns are enough

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items in the order in which they were added."""
        return grow(problem)

    pick_path = pick_prefixes


@dataclass(frozen=True)
class Swap:
    """Add the item that helps most, k times; then make the best swap, until no swap helps.

    The same is done from a few pairs of items that are worth much together, which finds items
    that are worth nothing alone; the best of all ends is the answer. Nothing is random. Only
    columns of items that are relevant, or have been chosen, are read, so that on a lazy matrix a
    choice costs little. ``Search`` goes on from where this ends.

    Parameters
    ----------
    pairs : int, default=8
        Pairs to start from, beside the greedy start; fewer where there are very many items.

    Examples
    --------
    >>> Q = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> Swap().pick(BQP(Q, k=2), Run())
    array([1, 2])
    """

    pairs: int = 8

    name: ClassVar[str] = "swap"
    needs: ClassVar[Needs] = "columns"
    frugal: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others."""
        best, value = NO_ITEMS, -np.inf
        for start in (NO_ITEMS, *map(np.sort, run.starts), *self._pairs(problem)):
            found = improve(problem, grow(problem, start), run.deadline)
            if (worth := problem.value(found)) > value + MIN_BETTER * abs(worth):
                best, value = found, worth
            if run.time_left < 0:
                break
        return best_first(problem, best)

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """Each k on its own: the columns are there already."""
        return {k: self.pick(problem.with_k(k), run) for k in ks}

    def _pairs(self, problem: BQP) -> Iterator[Indices]:
        """Items and their best partners, those of the largest worth first, no item twice."""
        n, k = problem.n, problem.k
        wanted = min(self.pairs, MAX_GROWN // (n * k)) if 2 <= k < n else 0
        if wanted <= 0:
            return
        diagonal = np.ascontiguousarray(problem.diagonal)
        items = top_k(diagonal, min(n, max(MIN_SCANNED_ITEMS, MAX_SCANNED // n)))
        worth, partners = [], []
        for some in np.array_split(items, -(-len(items) // ROWS_AT_ONCE)):
            columns = problem.columns(some)  # kept, where they are lazy: choices need some of them
            values = diagonal + 2.0 * (k - 1.0) * columns.T  # if all pairs were like theirs
            values[np.arange(len(some)), some] = -np.inf
            partners.extend(values.argmax(axis=1).tolist())
            worth.extend(diagonal[some] + values.max(axis=1))
        used: set[int] = set()
        for place in np.argsort(-np.array(worth), kind="stable"):
            pair = {int(items[place]), partners[place]}
            if not pair & used:
                used |= pair
                yield np.array(sorted(pair), np.int64)
            if len(used) >= 2 * wanted:
                return
