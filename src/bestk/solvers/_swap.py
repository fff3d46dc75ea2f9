"""Greedy choices from a few starts, mended by swaps until none helps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk.native import kernels
from bestk.problem.lazy import stream
from bestk.problem.problem import BQP
from bestk.solvers._base import Floats, Indices, Needs, Run, best_first, grow, top_k

TOLERANCE = 1e-12  # of the largest entry: a smaller gain is rounding
MOST_SWAPS = 1000  # after which to stop in any case; tens are usual
LOOK = 2**22  # entries that are looked at for pairs to start from
GROW = 2**26  # entries that greedy choices from such pairs may read
FEWEST = 16  # items whose partners are looked for, however many items there are


@dataclass(frozen=True)
class Swap:
    """Add the item that helps most, k times; then make the best swap, until no swap helps.

    The same is done from a few pairs of items that are worth much together, and the best of all
    ends is the answer: items that are worth nothing alone are found so. Nothing is random. Only
    columns of items that are relevant, or have been chosen, are asked for, so that on a lazy
    matrix a choice costs little. ``Search`` goes on from where this ends.

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
    frugal: ClassVar[bool] = True  # a few columns are enough

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others."""
        given = [np.unique(start)[: problem.k] for start in run.starts]
        best, value = np.empty(0, np.int64), -np.inf
        for start in (np.empty(0, np.int64), *given, *self._pairs(problem)):
            found = mend(problem, grow(problem, start), run)
            if (worth := problem.value(found)) > value + TOLERANCE * abs(worth):
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
        wanted = min(self.pairs, GROW // (n * k)) if 2 <= k < n else 0
        if wanted <= 0:
            return
        diagonal = np.ascontiguousarray(problem.diagonal)
        items = top_k(diagonal, min(n, max(FEWEST, LOOK // n)))
        worth, partners = np.empty(len(items)), np.empty(len(items), np.int64)
        done = 0
        for some, columns in _columns(problem, items):
            part = slice(done, done + len(some))
            values = diagonal + 2.0 * (k - 1.0) * columns.T  # if all pairs were like theirs
            values[np.arange(len(some)), some] = -np.inf
            partners[part] = values.argmax(axis=1)
            worth[part] = diagonal[some] + values.max(axis=1)
            done += len(some)
        used: set[int] = set()
        for place in np.argsort(-worth, kind="stable"):
            pair = {int(items[place]), int(partners[place])}
            if not pair & used:
                used |= pair
                yield np.array(sorted(pair), np.int64)
            if len(used) >= 2 * wanted:
                return


def mend(problem: BQP, items: Indices, run: Run) -> Indices:
    """Swap one item for another, the best such pair each time, until none helps."""
    chosen = items.copy()
    if problem.k == problem.n:
        return chosen
    columns = np.ascontiguousarray(problem.columns(chosen).T)
    gains = problem.gains(chosen)
    least = TOLERANCE * float(np.abs(columns).max(initial=0.0))
    for _ in range(MOST_SWAPS):
        out, new = best_swap(columns, gains, chosen, least)
        if out < 0 or run.time_left < 0:
            break
        _swap(problem, columns, gains, chosen, out, new)
    return chosen


def _swap(
    problem: BQP, columns: Floats, gains: Floats, chosen: Indices, out: int, new: int
) -> None:
    """Put an item into the place of another; all arrays follow."""
    old, column = chosen[out], problem.columns([new])[:, 0]
    for sign, item, entries in ((-2.0, old, columns[out]), (2.0, new, column)):
        own = gains[item]
        gains += sign * entries
        gains[item] = own
    chosen[out], columns[out] = new, column


def _columns(problem: BQP, items: Indices) -> Iterator[tuple[Indices, Floats]]:
    return stream(problem.Q, items) if problem.is_lazy else iter([(items, problem.columns(items))])


def best_swap(columns: Floats, gains: Floats, chosen: Indices, least: float) -> tuple[int, int]:
    """The place of the item to drop and the item to add, or -1; the first of equal ones."""
    swap = np.empty(2, np.int64)
    kernels.best_swap(columns, gains, len(gains), chosen, len(chosen), least, swap)
    return int(swap[0]), int(swap[1])
