"""The optimisation problem, independent of data and features, and choices that are good."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import issymmetric

from bestk._cached import cached_property
from bestk._checks import whole
from bestk._typing import Floats, Indices
from bestk.bqp.lazy import CachedColumns, blocks
from bestk.native import kernels

MIN_ENTRY, MAX_ENTRY = 1e-75, 1e75  # the largest entry: its cubes neither vanish nor overflow
# float64 represents every whole number below it, and from it on only some.
MAX_EXACT = 2**53
MIN_GAIN = 1e-12  # of a swap, relative to the largest entry: a smaller one is rounding
MAX_SWAPS = 1000  # tens are usual
NO_ITEMS = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class BQP:
    """Maximise x'Qx over x in {0, 1}^n with sum(x) = k.

    Parameters
    ----------
    Q : square array, or CachedColumns
        Any real matrix; only its symmetric part matters and is kept. A symmetric float64 array
        is not copied.
    k : int
        How many items to choose, from 1 to n.

    Examples
    --------
    >>> problem = BQP([[1.0, 4.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    >>> problem.value([0, 1])
    8.0
    """

    Q: Any
    k: int

    def __post_init__(self) -> None:
        if not isinstance(self.Q, CachedColumns):
            vars(self)["Q"], vars(self)["largest"] = _symmetric(self.Q)
        vars(self)["k"] = whole(self.k, "k")
        self._check_k(self.k)

    @classmethod
    def trusted(cls, Q: Any, k: int) -> "BQP":
        """A problem whose matrix is known to be symmetric and finite: nothing is checked."""
        problem = object.__new__(cls)
        vars(problem).update(Q=Q, k=k)
        return problem

    def with_k(self, k: int) -> "BQP":
        """The same matrix with another k; what is known of the matrix is not computed again."""
        problem = copy(self)
        vars(problem)["k"] = whole(k, "k")
        self._check_k(problem.k)
        return problem

    def _check_k(self, k: int) -> None:
        if not 1 <= k <= self.n:
            raise ValueError(f"k must lie between 1 and the {self.n} items of Q, not {k}")

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.Q.shape[0])

    @property
    def is_lazy(self) -> bool:
        """Whether Q is only known by its columns."""
        return not isinstance(self.Q, np.ndarray)

    @cached_property
    def diagonal(self) -> Floats:
        """The diagonal of Q."""
        return np.asarray(self.Q.diagonal(), dtype=np.float64)

    @cached_property
    def rows(self) -> Floats:
        """Q to read only, if it is no lazy one: its rows, which are its columns, in one piece."""
        rows = (self.Q.T if self.Q.flags.f_contiguous else np.ascontiguousarray(self.Q)).view()
        rows.flags.writeable = False
        return np.asarray(rows)

    @cached_property
    def largest(self) -> float:
        """The largest absolute value of Q; of a lazy one, of its diagonal."""
        return largest_entry(self.diagonal if self.is_lazy else self.Q)

    def row_sums(self) -> Floats:
        """Sums of the rows of Q, added up once."""
        return self._row_sums

    @cached_property
    def _row_sums(self) -> Floats:
        return np.asarray(self.Q.row_sums() if self.is_lazy else self.Q.sum(axis=1))

    def columns(self, items: Iterable[int]) -> Floats:
        """Columns of Q, side by side."""
        chosen = np.asarray(list(items) if not hasattr(items, "__len__") else items, np.int64)
        # rows are columns, and lie together in memory
        return np.asarray(self.Q.columns(chosen)) if self.is_lazy else self.Q[chosen].T

    def value(self, items: Iterable[int]) -> float:
        """The objective x'Qx of a choice of items."""
        return float(self.block(np.asarray(list(items), np.int64)).sum())

    def block(self, items: Indices) -> Floats:
        """The rows and columns of those items."""
        if not self.is_lazy:
            return np.asarray(self.Q[np.ix_(items, items)])
        return np.hstack([self.columns(some)[items] for some in self._blocks(items)])

    def product(self, items: Iterable[int]) -> Floats:
        """Qx of a choice of items, the sum of their columns."""
        chosen = np.asarray(list(items), np.int64)
        return sum((self.columns(some).sum(axis=1) for some in self._blocks(chosen)), np.zeros(()))

    def gains(self, items: Iterable[int], rows: Floats | None = None) -> Floats:
        """For every item i: Q_ii + 2 sum of Q_ij over the other chosen items j; rows: of these."""
        chosen = np.asarray(list(items), np.int64)
        gains = self.diagonal + 2 * (self.product(chosen) if rows is None else rows.sum(axis=0))
        gains[chosen] -= 2 * self.diagonal[chosen]
        return gains

    def _blocks(self, items: Indices) -> list[Indices]:
        """All items of a matrix at once, those of a lazy one in blocks."""
        return (blocks(items, self.n) if self.is_lazy else []) or [items]


def largest_entry(Q: Floats) -> float:
    """The largest absolute value, without a copy of the matrix."""
    return float(max(Q.max(), -Q.min()))


def _symmetric(Q: Any) -> tuple[Floats, float]:
    """Q as a symmetric float64 array, itself where it is one, and its largest absolute value."""
    try:
        matrix = np.asarray(Q.toarray() if hasattr(Q, "toarray") else Q)
    except ValueError as error:
        raise ValueError("Q must be a square matrix; its rows have different lengths") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"Q must be a square matrix, not of shape {matrix.shape}")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"Q must hold real numbers, not {matrix.dtype}")
    if np.ma.is_masked(Q):
        raise ValueError("Q has masked entries; fill them in before solving, e.g. Q.filled(0)")
    if matrix.dtype.kind in "iu" and (matrix.min() <= -MAX_EXACT or matrix.max() >= MAX_EXACT):
        raise ValueError(
            "Q holds whole numbers of 2**53 or more, which float64 cannot tell apart; subtract a "
            "constant from the diagonal, which changes no choice, or divide Q by a common factor"
        )
    with np.errstate(over="ignore"):
        matrix = np.asarray(matrix, np.float64)
    largest = largest_entry(matrix)
    if not np.isfinite(largest):
        raise ValueError("Q holds NaN or infinite entries; replace them before solving")
    if largest and not MIN_ENTRY <= largest <= MAX_ENTRY:
        raise ValueError(
            f"the largest entry of Q, {largest:.3g}, is not between {MIN_ENTRY} and {MAX_ENTRY}: "
            "sums of its powers would not be exact; divide Q by it, which changes no choice"
        )
    if issymmetric(matrix):
        return matrix, largest
    matrix = (matrix + matrix.T) / 2
    return matrix, largest_entry(matrix)


def top_k(scores: Floats, k: int) -> Indices:
    """The k largest scores, largest first; ties go to the lowest index."""
    if k == 0:
        return NO_ITEMS
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > least)
    level = np.flatnonzero(scores == least)[: k - len(above)]
    chosen = np.concatenate([above, level])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def best_first(problem: BQP, items: Iterable[int]) -> Indices:
    """Order chosen items by what each adds to the others."""
    chosen = np.sort(np.asarray(list(items), np.int64))
    return chosen[np.argsort(-problem.gains(chosen)[chosen], kind="stable")]


def grow(problem: BQP, items: Indices = NO_ITEMS, deadline: float = inf) -> Indices:
    """Add items until there are k, each the one that helps most, or all at once when late."""
    return grow_each(problem, [items], deadline)[0]


def grow_each(problem: BQP, starts: Sequence[Indices], deadline: float = inf) -> list[Indices]:
    """The same from each of several starts, in step: the columns of a step are read together."""
    each = [(start.tolist(), problem.gains(start)) for start in starts]
    for items, gains in each:
        gains[items] = -np.inf
    while perf_counter() < deadline and (
        left := [pair for pair in each if len(pair[0]) < problem.k]
    ):
        best = [int(np.argmax(gains)) for _, gains in left]
        for (items, gains), item, column in zip(left, best, problem.columns(best).T, strict=True):
            items.append(item)
            gains += 2 * column
            gains[item] = -np.inf
    return [
        np.array([*items, *top_k(gains, problem.k - len(items))], np.int64) for items, gains in each
    ]


def improve(problem: BQP, items: Indices, deadline: float = inf) -> Indices:
    """Swap one item for another, the best such pair each time, until no swap helps."""
    chosen = items.copy()
    if problem.k == problem.n:
        return chosen
    columns = np.ascontiguousarray(problem.columns(chosen).T)
    gains = problem.gains(chosen, columns)
    least = MIN_GAIN * float(np.abs(columns).max())
    floors, swap = columns.min(axis=1), np.empty(2, np.int64)
    best_swap = kernels.best_swap.bind(columns, *columns.shape, gains, chosen, floors, least, swap)
    for _ in range(MAX_SWAPS):
        best_swap()
        out, new = swap.tolist()
        if out < 0 or perf_counter() >= deadline:
            break
        old, column = chosen[out], problem.columns([new])[:, 0]
        for sign, item, entries in ((-2.0, old, columns[out]), (2.0, new, column)):
            own = gains[item]
            gains += sign * entries
            gains[item] = own
        chosen[out], columns[out], floors[out] = new, column, column.min()
    return chosen


def good_choice(problem: BQP) -> Indices:
    """The better of greedy and of the k largest row sums, improved by swaps."""
    starts = (grow(problem), top_k(problem.row_sums(), problem.k))
    ends = [np.sort(improve(problem, start)) for start in starts]
    return max(ends, key=problem.value)
