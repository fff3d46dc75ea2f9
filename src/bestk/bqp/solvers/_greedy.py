"""Simple choices: rankings by one score of each item; greedy ones, forwards and with swaps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, NO_ITEMS, best_first, grow, grow_each, improve, top_k
from bestk.bqp.relaxations.eigen import lanczos
from bestk.bqp.solvers._base import Needs, Run, Solver

# Operations, see ``Budget``, of the row sums, for each entry of Q.
OPERATIONS_OF_ROW_SUM = 0.3
# Operations of the leading eigenvector, for each entry of Q.
OPERATIONS_OF_EIGENVECTOR = 2.0
# Operations of a greedy choice, for each entry of k columns.
OPERATIONS_OF_GAIN = 5.0
# Operations of a greedy choice with all its swaps, for each entry of k columns.
OPERATIONS_OF_SWAPS = 25.0
# A smaller difference between two choices, relative to their value, is rounding.
MIN_BETTER = 1e-12
# Digits of the weights of an eigenvector; beyond them, items are equal.
DIGITS = 12
# Pairs to start from, beside the greedy start; fewer where there are very many items.
MAX_PAIRS = 8
# Entries that are scanned for pairs to start from.
MAX_SCANNED = 2**22
# Entries that greedy choices from such pairs may read.
MAX_GROWN = 2**26
# Columns that are scanned at a time, so few that they stay in the cache.
ROWS_AT_ONCE = 32
# Items whose partners are scanned, at least, however many items there are.
MIN_SCANNED_ITEMS = 16


@dataclass(frozen=True)
class Linear(Solver):
    """Linear relaxation: the k largest row sums of Q (LP2 of Venkateswara et al. 2015).

    The columns of a lazy Q are added up some at a time, and none is kept; for a million items
    that takes hours.
    """

    name: ClassVar[str] = "linear"
    needs: ClassVar[Needs] = "columns"
    ranks: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling row sum."""
        run.spend(OPERATIONS_OF_ROW_SUM * problem.n**2)
        return top_k(problem.row_sums(), problem.k)


@dataclass(frozen=True)
class Spectral(Solver):
    """Spectral relaxation: the k largest entries of the leading eigenvector (Nguyen et al. 2014).

    The reference is that of :class:`SDP`.
    """

    name: ClassVar[str] = "spectral"
    ranks: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling weight in the eigenvector."""
        run.spend(OPERATIONS_OF_EIGENVECTOR * problem.n**2)
        start = np.ones(problem.n)
        _, vectors = lanczos(problem.matrix, start, "LA", deadline=run.deadline)
        weights: Floats = np.abs(vectors[:, 0]).round(DIGITS)
        return top_k(weights, problem.k)


@dataclass(frozen=True)
class Forward(Solver):
    """Forward selection: adds the item that helps most, k times; ties go to the lowest index."""

    name: ClassVar[str] = "forward"
    needs: ClassVar[Needs] = "columns"
    ranks: ClassVar[bool] = True
    reads_few_columns: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items in the order in which they were added."""
        run.spend(OPERATIONS_OF_GAIN * problem.k * problem.n)
        return grow(problem)


@dataclass(frozen=True)
class Swap(Solver):
    """Add the item that helps most, k times; then make the best swap, until no swap helps.

    The same is done from a few pairs of items that are worth much together, which finds items
    that are worth nothing alone; the best of all ends is the answer. Nothing is random. Only
    columns of items that are relevant, or have been chosen, are read, so that on a lazy matrix a
    choice costs little. ``Search`` goes on from where this ends.

    Examples
    --------
    >>> Q = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> Swap().pick(BQP(Q, k=2), Run())
    array([1, 2])
    """

    name: ClassVar[str] = "swap"
    needs: ClassVar[Needs] = "columns"
    reads_few_columns: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others."""
        best = NO_ITEMS
        best_value = -np.inf
        sorted_starts = [np.sort(start) for start in run.starts]
        starts = [NO_ITEMS, *sorted_starts, *self._pairs(problem)]
        for grown in grow_each(problem, starts):
            run.spend(OPERATIONS_OF_SWAPS * problem.k * problem.n)
            items = improve(problem, grown, run.deadline)
            value = problem.value(items)
            if value > best_value + MIN_BETTER * abs(value):
                best = items
                best_value = value
            if run.time_left < 0:
                break
        return best_first(problem, best)

    def _pairs(self, problem: BQP) -> list[Indices]:
        """Pairs of items that are worth most together, no item twice.

        A pair counts what its items are worth if all pairs of a choice were like it:
        Q_ii + Q_jj + 2 (k - 1) Q_ij. Of the items of the largest diagonal entries, each is taken
        with its best partner.
        """
        n = problem.n
        k = problem.k
        if k == 1 or k == n:
            return []
        n_pairs = min(MAX_PAIRS, MAX_GROWN // (n * k))
        if n_pairs == 0:
            return []
        diagonal = np.ascontiguousarray(problem.diagonal)
        weight = 2.0 * (k - 1.0)
        items = top_k(diagonal, min(n, max(MIN_SCANNED_ITEMS, MAX_SCANNED // n)))
        worth = np.empty(len(items))
        partners = np.empty(len(items), np.int64)
        for start in range(0, len(items), ROWS_AT_ONCE):
            strip = slice(start, start + ROWS_AT_ONCE)
            numbers = np.arange(len(items[strip]))
            # Columns that are made on demand are kept: choices need some of them.
            columns = problem.columns(items[strip])
            values = diagonal + weight * columns.T
            values[numbers, items[strip]] = -np.inf
            best_partners = values.argmax(axis=1)
            partners[strip] = best_partners
            worth[strip] = diagonal[items[strip]] + values[numbers, best_partners]
        return _disjoint_pairs(items, partners, worth, n_pairs)


def _disjoint_pairs(
    items: Indices, partners: Indices, worth: Floats, max_pairs: int
) -> list[Indices]:
    """At most so many pairs of items and partners, those of most worth first, no item twice."""
    pairs: list[Indices] = []
    used: set[int] = set()
    for place in np.argsort(-worth, kind="stable").tolist():
        if len(pairs) == max_pairs:
            break
        pair = {int(items[place]), int(partners[place])}
        if not pair & used:
            used |= pair
            pairs.append(np.array(sorted(pair), np.int64))
    return pairs
