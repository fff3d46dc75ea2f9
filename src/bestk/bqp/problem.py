"""The optimisation problem, independent of data and features, and choices that are good."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import issymmetric
from scipy.sparse import issparse

from bestk._cached import cached_property
from bestk._checks import whole
from bestk._typing import Array, Floats, Indices
from bestk.bqp.lazy import CachedColumns, blocks
from bestk.errors import DataError, ParameterError
from bestk.native import kernels

# The largest entry of Q must lie between these, so that its cube neither vanishes nor overflows.
MIN_ENTRY = 1e-75
MAX_ENTRY = 1e75
# float64 represents every whole number below this, and from it on only some.
MAX_EXACT = 2**53
# A swap must gain more than this, relative to the largest entry: a smaller gain is rounding.
MIN_GAIN = 1e-12
# Swaps that are made in a row. Tens are usual; the limit guards against gains that are rounding.
MAX_SWAPS = 1000
NO_ITEMS = np.empty(0, np.int64)


class BQP:
    """Maximise x'Qx over x in {0, 1}^n with sum(x) = k.

    Parameters
    ----------
    Q : square array, or CachedColumns
        Any real matrix; only its symmetric part matters and is kept. A symmetric float64 array
        is not copied, and must not be changed while the problem is in use.
    k : int
        How many items to choose, from 1 to n.

    Examples
    --------
    >>> problem = BQP([[1.0, 4.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    >>> problem.value([0, 1])
    8.0
    """

    _Q: Floats | CachedColumns
    _k: int
    _largest: float | None

    def __init__(self, Q: Any, k: int) -> None:
        if isinstance(Q, CachedColumns):
            self._Q = Q
            self._largest = None
        else:
            self._Q, self._largest = _symmetric(Q)
        self._k = self._checked_k(k)

    @classmethod
    def trusted(cls, Q: Floats | CachedColumns, k: int) -> "BQP":
        """A problem whose matrix is known to be symmetric and finite: nothing is checked."""
        problem = cls.__new__(cls)
        problem._Q = Q
        problem._k = k
        problem._largest = None
        return problem

    def with_k(self, k: int) -> "BQP":
        """The same matrix with another k; what was computed of the matrix is kept."""
        problem = copy(self)
        problem._k = self._checked_k(k)
        return problem

    def _checked_k(self, k: int) -> int:
        k = whole(k, "k")
        if not 1 <= k <= self.n:
            raise ParameterError(f"k must lie between 1 and the {self.n} items of Q, not {k}")
        return k

    def __repr__(self) -> str:
        return f"<BQP of {self.n} items, k = {self.k}>"

    @property
    def Q(self) -> Floats | CachedColumns:  # noqa: N802, as in the formula
        """The symmetric matrix: an array, or its columns on demand."""
        return self._Q

    @property
    def k(self) -> int:
        """How many items to choose."""
        return self._k

    @property
    def n(self) -> int:
        """Number of items."""
        return self._Q.shape[0]

    @property
    def is_lazy(self) -> bool:
        """Whether Q is computed column by column."""
        return isinstance(self._Q, CachedColumns)

    @property
    def matrix(self) -> Floats:
        """Q as an array, for code that needs all of it; an error if Q is lazy."""
        if isinstance(self._Q, CachedColumns):
            raise TypeError("Q is computed column by column, and there is no array of all of it")
        return self._Q

    @property
    def lazy_columns(self) -> CachedColumns | None:
        """Q as columns on demand; None if it is an array."""
        return self._Q if isinstance(self._Q, CachedColumns) else None

    @cached_property
    def diagonal(self) -> Floats:
        """The diagonal of Q."""
        return np.asarray(self._Q.diagonal(), dtype=np.float64)

    @cached_property
    def rows(self) -> Floats:
        """Q as an array whose rows are contiguous, to be read only; an error if Q is lazy."""
        # Q is symmetric: where its columns are contiguous, they serve as the rows.
        is_transposed = self.matrix.flags.f_contiguous
        contiguous = self.matrix.T if is_transposed else np.ascontiguousarray(self.matrix)
        rows = contiguous.view()
        rows.flags.writeable = False
        return np.asarray(rows)

    @property
    def largest(self) -> float:
        """The largest absolute value of Q; of a lazy one, of its diagonal."""
        if self._largest is None:
            self._largest = largest_entry(self.diagonal if self.is_lazy else self.matrix)
        return self._largest

    def row_sums(self) -> Floats:
        """Sums of the rows of Q, added up once."""
        return self._row_sums

    @cached_property
    def _row_sums(self) -> Floats:
        if isinstance(self._Q, CachedColumns):
            return self._Q.row_sums()
        return np.asarray(self._Q.sum(axis=1))

    def columns(self, items: Iterable[int]) -> Floats:
        """Columns of Q, side by side: an array of shape (n, number of items)."""
        chosen = _as_indices(items)
        if isinstance(self._Q, CachedColumns):
            return self._Q.columns(chosen)
        # Rows are equal to columns, and lie together in memory.
        return self._Q[chosen].T

    def value(self, items: Iterable[int]) -> float:
        """The objective x'Qx of a choice of items."""
        return float(self.block(_as_indices(items)).sum())

    def block(self, items: Indices) -> Floats:
        """The rows and columns of those items."""
        if not self.is_lazy:
            return np.asarray(self.matrix[np.ix_(items, items)])
        blocks_of_columns = [self.columns(block)[items] for block in self._blocks(items)]
        return np.hstack(blocks_of_columns)

    def product(self, items: Iterable[int]) -> Floats:
        """Qx of a choice of items, the sum of their columns."""
        chosen = _as_indices(items)
        sums = [self.columns(block).sum(axis=1) for block in self._blocks(chosen)]
        return sum(sums, np.zeros(()))

    def gains(self, items: Iterable[int], columns: Floats | None = None) -> Floats:
        """For every item i: Q_ii + 2 sum of Q_ij over the other chosen items j.

        That is what i adds to the chosen items, or what they lose without it.

        items: the chosen ones.
        columns: their columns of Q, one below the other, if they are at hand.
        """
        chosen = _as_indices(items)
        product = self.product(chosen) if columns is None else columns.sum(axis=0)
        gains = self.diagonal + 2 * product
        gains[chosen] -= 2 * self.diagonal[chosen]
        return gains

    def _blocks(self, items: Indices) -> list[Indices]:
        """All items of a matrix at once, those of a lazy one in blocks."""
        if self.is_lazy and len(items):
            return blocks(items, self.n)
        return [items]


def _as_indices(items: Iterable[int]) -> Indices:
    """Item numbers as an array."""
    if isinstance(items, np.ndarray):
        return np.asarray(items, np.int64)
    return np.array(list(items), np.int64)


def largest_entry(Q: Floats) -> float:
    """The largest absolute value, without a copy of the matrix."""
    return float(max(Q.max(), -Q.min()))


def _symmetric(Q: Any) -> tuple[Floats, float]:
    """Q as a symmetric float64 array, and its largest absolute value; Q itself where it is one."""
    matrix = _read_matrix(Q)
    largest = largest_entry(matrix)
    if not np.isfinite(largest):
        raise DataError("Q holds NaN or infinite entries; replace them before solving")
    if largest and not MIN_ENTRY <= largest <= MAX_ENTRY:
        raise DataError(
            f"the largest entry of Q, {largest:.3g}, is not between {MIN_ENTRY} and {MAX_ENTRY}: "
            "sums of its powers would not be exact; divide Q by it, which changes no choice"
        )
    if issymmetric(matrix):
        return matrix, largest
    matrix = (matrix + matrix.T) / 2
    return matrix, largest_entry(matrix)


def _read_matrix(Q: Any) -> Floats:
    """What a user passes as Q, as a square float64 array, which may hold NaN or infinity."""
    try:
        dense = Q.toarray() if issparse(Q) else Q
        matrix: Array = np.asarray(dense)
    except ValueError as error:
        raise DataError("Q must be a square matrix; its rows have different lengths") from error
    is_square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    if not is_square or not matrix.size:
        raise DataError(f"Q must be a square matrix, not of shape {matrix.shape}")
    if matrix.dtype.kind not in "fiub":
        raise DataError(f"Q must hold real numbers, not {matrix.dtype}")
    if np.ma.is_masked(Q):
        raise DataError("Q has masked entries; fill them in before solving, e.g. Q.filled(0)")
    is_whole = matrix.dtype.kind in "iu"
    if is_whole and not -MAX_EXACT < matrix.min() <= matrix.max() < MAX_EXACT:
        raise DataError(
            "Q holds whole numbers of 2**53 or more, which float64 cannot tell apart; subtract a "
            "constant from the diagonal, which changes no choice, or divide Q by a common factor"
        )
    with np.errstate(over="ignore"):  # of longer floats; what overflows is refused as infinite
        return np.asarray(matrix, np.float64)


def top_k(scores: Floats, k: int) -> Indices:
    """The places of the k largest scores, largest first; ties go to the lowest index."""
    if k == 0:
        return NO_ITEMS
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    cut = len(scores) - k
    lowest = np.partition(scores, cut)[cut]
    above = np.flatnonzero(scores > lowest)
    tied = np.flatnonzero(scores == lowest)[: k - len(above)]
    chosen = np.concatenate([above, tied])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def best_first(problem: BQP, items: Iterable[int]) -> Indices:
    """Chosen items, ordered by what each adds to the others; ties go to the lowest index."""
    chosen = np.sort(_as_indices(items))
    gains = problem.gains(chosen)[chosen]
    return chosen[np.argsort(-gains, kind="stable")]


def grow(
    problem: BQP,
    items: Indices = NO_ITEMS,
    deadline: float = inf,
) -> Indices:
    """Add items until there are k, each the one that helps most, or all at once when late."""
    return grow_each(problem, [items], deadline)[0]


@dataclass(eq=False)
class _GrowingChoice:
    """A choice of fewer than k items, to which items are added one by one."""

    items: list[int]
    """The items so far, in the order in which they were added."""

    gains: Floats
    """What each item would add; -inf for those that are in the choice."""

    @classmethod
    def of(cls, problem: BQP, items: Indices) -> "_GrowingChoice":
        gains = problem.gains(items)
        gains[items] = -np.inf
        return cls(items.tolist(), gains)

    def add(self, item: int, column: Floats) -> None:
        """Add an item, whose column of Q is given."""
        self.items.append(item)
        self.gains += 2 * column
        self.gains[item] = -np.inf

    def filled_up(self, k: int) -> Indices:
        """The choice with those items, up to k, that would add most now."""
        others = top_k(self.gains, k - len(self.items))
        return np.array([*self.items, *others], np.int64)


def grow_each(
    problem: BQP,
    starts: Sequence[Indices],
    deadline: float = inf,
) -> list[Indices]:
    """Add items to each of several starts until there are k, as ``grow`` does.

    All choices grow in step, so that the columns of a step are read together.
    """
    choices = [_GrowingChoice.of(problem, start) for start in starts]
    while perf_counter() < deadline:
        unfinished = [choice for choice in choices if len(choice.items) < problem.k]
        if not unfinished:
            break
        best_items = [int(np.argmax(choice.gains)) for choice in unfinished]
        columns = problem.columns(best_items).T
        for choice, item, column in zip(unfinished, best_items, columns, strict=True):
            choice.add(item, column)
    return [choice.filled_up(problem.k) for choice in choices]


def improve(problem: BQP, items: Indices, deadline: float = inf) -> Indices:
    """Swap one item for another, the best such pair each time, until no swap helps.

    With p_i what item i adds to the other chosen ones, swapping u for v gains
    p_v - p_u - 2 Q_uv.
    """
    chosen = items.copy()
    if problem.k == problem.n:
        return chosen
    # The columns of the chosen items, one below the other, with the lowest entry of each.
    columns = np.ascontiguousarray(problem.columns(chosen).T)
    lowest_entries = columns.min(axis=1)
    gains = problem.gains(chosen, columns)
    min_gain = MIN_GAIN * float(np.abs(columns).max())
    # The kernel writes the place of the item to drop and the item to add, or -1 if no swap gains.
    swap = np.empty(2, np.int64)
    find_best_swap = kernels.best_swap.bind(
        columns, *columns.shape, gains, chosen, lowest_entries, min_gain, swap
    )
    for _ in range(MAX_SWAPS):
        find_best_swap()
        place, added = swap.tolist()
        if place < 0 or perf_counter() >= deadline:
            break
        new_column = problem.columns([added])[:, 0]
        _add_to_other_gains(gains, chosen[place], -2.0 * columns[place])
        _add_to_other_gains(gains, added, 2.0 * new_column)
        chosen[place] = added
        columns[place] = new_column
        lowest_entries[place] = new_column.min()
    return chosen


def _add_to_other_gains(gains: Floats, item: int, changes: Floats) -> None:
    """Add changes to the gains of all items but one, which does not count itself."""
    gain = gains[item]
    gains += changes
    gains[item] = gain


def good_choice(problem: BQP) -> Indices:
    """The better of greedy and of the k largest row sums, improved by swaps."""
    greedy = grow(problem)
    by_row_sums = top_k(problem.row_sums(), problem.k)
    improved = [np.sort(improve(problem, start)) for start in (greedy, by_row_sums)]
    return max(improved, key=problem.value)
