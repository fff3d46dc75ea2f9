"""Rows that come in blocks, joined to one table; a random sample of them if they are too many."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from bestk._memory import machine_memory
from bestk._typing import Array, Floats, Indices, Mask
from bestk.errors import DataError
from bestk.tables.columns import number_levels
from bestk.tables.frames import as_array
from bestk.tables.table import Block, Table, find_inexact, inexact

# A table of more values than this, and of more rows than MIN_LONG_ROWS, is sampled.
MAX_VALUES = 2**28

# A table of at most so many rows is never sampled.
MIN_LONG_ROWS = 10_000

# The part of the machine's memory that rows which come in blocks may take.
HELD_SHARE = 0.125

# The number of rows that are held even where memory is short.
MIN_HELD_ROWS = 1_000

# The number of rows that the default method needs, if ENOUGH_RARE_ROWS of them are not of the
# largest class.
ENOUGH_ROWS = 200_000
ENOUGH_RARE_ROWS = 20_000

# The share of rows of other classes, in the rows seen so far, from which ENOUGH_ROWS of all rows
# will have ENOUGH_RARE_ROWS of them.
SAFE_SHARE = 1.2 * ENOUGH_RARE_ROWS / ENOUGH_ROWS

# The rows of a sample, times this, are held before it is drawn again.
SLACK = 1.5

# The first so many rows show most columns that do not fit into a narrow type.
HEAD = 100

# The types that columns of floats and of integers are stored in if these hold them exactly.
NARROW_TYPES: dict[str, tuple[DTypeLike, ...]] = {
    "f": (np.uint8, np.int16, np.float32),
    "i": (np.uint8, np.int16, np.int32),
    "u": (np.uint8, np.int16, np.int32),
}

# Why not all rows are used.
ENOUGH = "more would hardly change the default's estimates (method='jmi', which counts, uses all)"
NO_MEMORY = "the others do not fit into memory"


class RowsWithTarget(NamedTuple):
    """Some rows of a table, and the target of each as it is given: a number or a label."""

    table: Table
    y: Array


def most_rows(n_features: int) -> int:
    """The number of rows that are used, at most, of a table with so many columns."""
    return max(MIN_LONG_ROWS, MAX_VALUES // max(1, n_features))


def rows_to_hold(n_features: int, value_bytes: float) -> int:
    """The number of rows that are held, at most, if they come in blocks.

    ``value_bytes``: the number of bytes that a value takes on average.
    """
    row_bytes = max(1, n_features) * max(value_bytes, 1.0)
    n_fitting = int(HELD_SHARE * machine_memory() / row_bytes)
    return max(MIN_HELD_ROWS, min(most_rows(n_features), n_fitting))


def draw_rows(table: Table, most: int, random_state: Any) -> tuple[Table, Indices | None]:
    """Draw at most so many rows of a table in memory.

    Returns the whole table, with a note if not all of its rows are to be used, and the places of
    the rows that are drawn; None for all of them.
    """
    n_rows = table.n_samples
    large = most_rows(table.n_features)
    size = min(most, large)
    if n_rows <= size:
        return table, None
    keys = _generator(random_state).random(n_rows)
    drawn = np.flatnonzero(keys < _limit(keys, size))
    note = _note_on_sample(size, n_rows, ENOUGH if size < large else _too_many_values())
    return replace(table, notes=(*table.notes, note)), drawn


def _note_on_sample(n_used: int, n_rows: int, why: str) -> str:
    return f"a random sample of {n_used:,} of {n_rows:,} rows is used; {why}"


def _too_many_values() -> str:
    return f"tables of more than {MAX_VALUES:,} values are sampled"


def _generator(random_state: Any) -> np.random.Generator:
    seed = int(random_state) if isinstance(random_state, Integral) else 0
    return np.random.default_rng(seed)


def _limit(keys: Floats, size: int) -> float:
    """The number that just so many of the keys, which are below 1, are below."""
    if len(keys) <= size:
        return 1.0
    return float(np.partition(keys, size)[size])


class _Piece(NamedTuple):
    """Rows that are held: the random key of each, and what was read."""

    keys: Floats
    table: Table
    y: Array

    def take(self, rows: Indices) -> "_Piece":
        """Some of the rows, given by their places."""
        return _Piece(self.keys[rows], self.table.take(rows), self.y[rows])


class Reservoir:
    """A random sample of rows that come in blocks: those with the smallest of random keys.

    If they are few enough, it holds all rows.

    Parameters
    ----------
    random_state : int or None
        The seed of the keys. Reservoirs of the same seed and the same number of rows hold the same
        rows below the smallest of their limits.
    n_features : int or None
        The number of columns of the whole table, where blocks have some of them only.
    for_default : bool
        Whether the rows are for the default method, which needs no more than ENOUGH_ROWS.
    limit : float
        Rows with larger keys are not held; keys are between 0 and 1.
    """

    def __init__(
        self,
        random_state: Any = None,
        n_features: int | None = None,
        for_default: bool = False,
        limit: float = 1.0,
    ) -> None:
        self._random = _generator(random_state)
        self._n_features = n_features
        self._for_default = for_default
        self._pieces: list[_Piece] = []
        self.limit = limit
        self.n_rows = 0

    def add(self, n_rows: int, take: Callable[[Indices], RowsWithTarget]) -> None:
        """Draw from a block of so many rows.

        ``take`` is called with the places of the rows that are drawn, and returns these.
        """
        keys = self._random.random(n_rows)
        drawn = np.flatnonzero(keys < self.limit)
        self.n_rows += n_rows
        if not len(drawn):
            return
        table, y = take(drawn)
        blocks = tuple(narrow for block in table.blocks for narrow in narrowed(block))
        narrow_table = replace(table, blocks=blocks)
        self._pieces.append(_Piece(keys[drawn], narrow_table, y))
        n_held = sum(len(piece.keys) for piece in self._pieces)
        n_to_hold = self._size()
        if self._for_default:
            n_to_hold = min(n_to_hold, ENOUGH_ROWS)
        if n_held > SLACK * n_to_hold:
            self.shrink()

    def add_table(self, table: Table, y: Array) -> None:
        """Draw from a block in memory, and copy what is drawn."""
        self.add(table.n_samples, lambda rows: RowsWithTarget(table.take(rows), y[rows]))

    def _size(self) -> int:
        """The number of rows that may be held."""
        tables = [piece.table for piece in self._pieces]
        n_bytes = sum(_n_bytes(block.values) for table in tables for block in table.blocks)
        n_values = sum(table.n_samples * table.n_features for table in tables)
        n_features = self._n_features or tables[0].n_features
        return rows_to_hold(n_features, n_bytes / max(1, n_values))

    def shrink(self, limit: float = 1.0) -> None:
        """Forget rows that are too many, or whose keys are not below a limit."""
        if not self._pieces:
            return
        keys = np.concatenate([piece.keys for piece in self._pieces])
        size = self._size()
        if self._for_default and len(keys) > ENOUGH_ROWS:
            self._for_default = self._has_rare_rows()
            if self._for_default:
                size = min(size, ENOUGH_ROWS)
        self.limit = min(limit, self.limit, _limit(keys, size))
        if keys.max(initial=0.0) < self.limit:
            return
        for i, piece in enumerate(self._pieces):
            kept = np.flatnonzero(piece.keys < self.limit)
            self._pieces[i] = piece.take(kept)

    def _has_rare_rows(self) -> bool:
        """Whether enough of the rows that are held are not of the largest class."""
        y = join_values([piece.y for piece in self._pieces])
        largest_class = max(Counter(y.tolist()).values())
        return largest_class < (1.0 - SAFE_SHARE) * len(y)

    def sample(self, limit: float = 1.0) -> RowsWithTarget:
        """The rows whose keys are below a limit, in their order; more may be added afterwards."""
        if not self.n_rows:
            raise DataError("there are no rows in any block; one block at least must have some")
        self.shrink(limit)
        keys = np.concatenate([piece.keys for piece in self._pieces])
        table = join_rows([piece.table for piece in self._pieces])
        y = join_values([piece.y for piece in self._pieces])
        self._pieces = [_Piece(keys, table, y)]
        if table.n_samples < self.n_rows:
            note = _note_on_sample(table.n_samples, self.n_rows, self._why_sampled(table))
            table = replace(table, notes=(note,))
        return RowsWithTarget(table, y)

    def _why_sampled(self, sample: Table) -> str:
        """The reason why a sample does not have all rows."""
        large = most_rows(self._n_features or sample.n_features)
        if self._for_default and sample.n_samples == ENOUGH_ROWS < large:
            return ENOUGH
        return _too_many_values() if sample.n_samples >= large else NO_MEMORY


def _n_bytes(values: Any) -> int:
    """The number of bytes of an array or a sparse matrix."""
    if hasattr(values, "tocsc"):
        return int(values.data.nbytes + values.indices.nbytes)
    return int(values.nbytes)


def narrowed(block: Block) -> Iterator[Block]:
    """Yield the columns of a block in the narrowest types that hold them exactly.

    Categories and sparse columns stay as they are.
    """
    is_dense = block.categories is None and isinstance(block.values, np.ndarray)
    types = NARROW_TYPES.get(block.values.dtype.kind, ()) if is_dense else ()
    for dtype in types:
        if np.dtype(dtype).itemsize >= block.values.dtype.itemsize:
            break
        fits = _fits(block.values[:HEAD], dtype)
        fits[fits] = _fits(block.values[:, fits], dtype)
        if not fits.any():
            continue
        narrow = block.keep(fits)
        yield replace(narrow, values=narrow.values.astype(dtype))
        if fits.all():
            return
        block = block.keep(~fits)
    yield block


def _fits(values: Array, dtype: DTypeLike) -> Mask:
    """Whether each column has the same values in another type."""
    with np.errstate(over="ignore", invalid="ignore"):
        converted = values.astype(dtype)
    both_missing = np.isnan(converted) & np.isnan(values)
    same = (converted == values) | both_missing
    return np.asarray(same.all(axis=0))


def refuse_other_type(name: str, kind: str, other: str) -> None:
    """Refuse a column that is of another type in another block."""
    raise DataError(
        f"column {name!r} is {kind} in one block and {other} in another; "
        "give it one type throughout"
    )


def join_values(arrays: Sequence[Array]) -> Array:
    """The targets of several blocks, end to end; numbers of different types as Python has them."""
    if len({array.dtype for array in arrays}) == 1:
        return np.concatenate(arrays)
    return as_array([value for array in arrays for value in array.tolist()])


def join_rows(tables: Sequence[Table]) -> Table:
    """Tables of the same columns, one below the other."""
    with_rows = [table for table in tables if table.n_samples] or list(tables[:1])
    first = with_rows[0]
    if len(with_rows) == 1:
        return first
    group_of_column = _group_columns(with_rows)
    blocks: list[Block] = []
    n_groups = int(group_of_column.max(initial=-1)) + 1
    for group in range(n_groups):
        is_in_group = group_of_column == group
        same_columns = [
            block.keep(is_in_group[block.columns])
            for table in with_rows
            for block in table.blocks
            if is_in_group[block.columns].any()
        ]
        blocks += _join_blocks(same_columns, first.names)
    n_samples = sum(table.n_samples for table in with_rows)
    return Table(n_samples, first.names, tuple(blocks))


def _group_columns(tables: Sequence[Table]) -> Indices:
    """A number for each column, the same for columns that share a block in every table."""
    n_features = tables[0].n_features
    group_of_column = np.zeros(n_features, np.int64)
    for table in tables:
        block_of_column = np.empty(n_features, np.int64)
        for number, block in enumerate(table.blocks):
            block_of_column[block.columns] = number
        if len(table.blocks) > 1:
            pairs = group_of_column * len(table.blocks) + block_of_column
            _, group_of_column = np.unique(pairs, return_inverse=True)
    return group_of_column


def _join_blocks(blocks: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """The same columns of several tables, one below the other.

    A column without any value fits every kind. ``names`` are those of all columns of the tables.
    """
    columns = blocks[0].columns
    kinds = {block.kind for block in blocks}
    if all(block.categories is None for block in blocks):
        kind = blocks[0].kind if len(kinds) == 1 else "numeric"
        return [Block(columns, kind, _join_numbers(blocks, names))]
    kind = "categorical" if "categorical" in kinds else "string"
    joined: list[Block] = []
    for j in range(len(columns)):
        codes, levels = _join_levels(blocks, j, names[columns[j]])
        joined.append(Block(columns[[j]], kind, codes, [levels]))
    return joined


def _join_numbers(blocks: Sequence[Block], names: Sequence[str]) -> Any:
    """The numbers of several blocks of the same columns, end to end."""
    values = [block.values for block in blocks]
    if all(hasattr(array, "tocsc") for array in values):
        return sparse.vstack(values, format="csc")
    dense = [array.toarray() if hasattr(array, "tocsc") else array for array in values]
    joined = np.concatenate(dense)
    if joined.dtype.kind != "f":
        return joined
    for array in dense:
        lost = find_inexact(array) if array.dtype.kind in "iu" else ()
        for j in lost:
            raise inexact(names[int(blocks[0].columns[j])])
    return joined


def _join_levels(blocks: Sequence[Block], j: int, name: str) -> tuple[Array, list[Any]]:
    """The codes of the j-th column of several blocks, as a column, and what they stand for."""
    codes: list[Array] = []
    labels: list[Any] = []
    for block in blocks:
        if block.categories is None:
            column = block.values[:, [j]]
            if not block.missing(column).all():
                refuse_other_type(name, "string", block.kind)
            codes.append(np.full(column.shape[0], -1))
            continue
        values = block.values[:, j]
        shifted = values.astype(np.int64) + len(labels)
        codes.append(np.where(values < 0, -1, shifted))
        labels += block.categories[j]
    types = {type(label).__name__ for label in labels if not isinstance(label, float)}
    if len(types) > 1:
        refuse_other_type(name, *sorted(types)[:2])
    joined, levels = number_levels(np.concatenate(codes), labels, name)
    return joined[:, np.newaxis], levels
