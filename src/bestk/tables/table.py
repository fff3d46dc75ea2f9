"""Named columns of four kinds, held in blocks; and which of them are meant, numeric or constant."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Indices, Mask
from bestk.errors import DataError, ParameterError, UnknownNameError, counted

Kind = Literal["numeric", "categorical", "boolean", "string"]

# Float64 represents all whole numbers below.
MAX_EXACT = 2**53

# The place of a name that several columns have.
SEVERAL = -1

# The number of rows, spread over a table, in which most columns that vary do so.
SOME_ROWS = 32

# Columns that are looked at together have about so many values, and are at least so many.
STRIP_VALUES = 2**23
MIN_STRIP_COLUMNS = 64


class Column(NamedTuple):
    """One column of a table that is read."""

    kind: Kind

    values: Array
    """A number, a boolean or a code for each row; NaN or -1 where missing."""

    levels: list[Any] | None
    """What the codes stand for, sorted; None for numbers and booleans."""


@dataclass(frozen=True)
class Block:
    """Columns of one kind, side by side."""

    columns: NDArray[np.intp]
    """Their places in the table, in rising order."""

    kind: Kind

    values: Any
    """An array, or a sparse matrix of SciPy, with a column for each: numbers (NaN where missing),
    booleans, or codes (-1 where missing)."""

    categories: list[list[Any]] | None = None
    """What the codes of each column stand for, sorted; None for numbers and booleans."""

    dates: bool = False
    """Whether the numbers are dates or durations, in days."""

    def strips(self, width: int | None = None) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Yield some columns at a time: their places in the table, and their values.

        Only the values of sparse columns are copied. ``width`` is the number of columns.
        """
        if not width:
            n_rows = max(1, self.values.shape[0])
            width = max(MIN_STRIP_COLUMNS, STRIP_VALUES // n_rows)
        for start in range(0, len(self.columns), width):
            strip = self.values[:, start : start + width]
            dense = strip.toarray(order="F") if hasattr(strip, "toarray") else strip
            yield self.columns[start : start + width], dense

    def keep(self, mask: Mask) -> "Block":
        """The columns for which the mask is true; the same block if it is all of them."""
        if mask.all():
            return self
        kept = np.flatnonzero(mask)
        values = _take_rows(self.values.T, kept).T
        categories = None
        if self.categories is not None:
            categories = [self.categories[j] for j in kept]
        return Block(self.columns[mask], self.kind, values, categories, self.dates)

    def take(self, rows: NDArray[np.intp]) -> "Block":
        """Some of the rows, by their places; categories that none of them has are dropped."""
        values = _take_rows(self.values, rows)
        if self.categories is None:
            return replace(self, values=values)
        categories = []
        for codes, levels in zip(values.T, self.categories, strict=True):
            is_present = codes >= 0
            present = np.unique(codes[is_present])
            codes[is_present] = np.searchsorted(present, codes[is_present])
            categories.append([levels[code] for code in present])
        return replace(self, values=values, categories=categories)

    def missing(self, values: Array) -> Mask:
        """Which of the values, taken from this block, are missing."""
        if self.categories is not None:
            return values < 0
        if values.dtype.kind == "f":
            return np.isnan(values)
        return np.zeros(values.shape, dtype=bool)


@dataclass(frozen=True)
class Table:
    """Named columns, each numeric (or dates), categorical, boolean or string, held in blocks."""

    n_samples: int
    names: Sequence[str]
    blocks: tuple[Block, ...]

    notes: tuple[str, ...] = ()
    """Sentences on how columns were read, where that may surprise."""

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def kinds(self) -> NDArray[np.object_]:
        """The kind of each column."""
        kinds = np.empty(self.n_features, dtype=object)
        for block in self.blocks:
            kinds[block.columns] = block.kind
        return kinds

    def are(self, *kinds: Kind) -> Mask:
        """Which columns are of some kinds."""
        mask = np.zeros(self.n_features, bool)
        for block in self.blocks:
            mask[block.columns] = block.kind in kinds
        return mask

    def take(self, rows: NDArray[np.intp]) -> "Table":
        """The same columns of some rows, which may repeat."""
        blocks = tuple(block.take(rows) for block in self.blocks)
        return replace(self, n_samples=len(rows), blocks=blocks)

    def mask(self, columns: Indices) -> NDArray[np.bool_]:
        """Which columns are among the given ones; np.isin takes ten times as long."""
        mask = np.zeros(self.n_features, bool)
        mask[columns] = True
        return mask

    def keep(self, columns: NDArray[np.intp]) -> "Table":
        """Some of the columns, given in rising order."""
        is_kept = self.mask(columns)
        blocks: list[Block] = []
        for block in self.blocks:
            kept = block.keep(is_kept[block.columns])
            if len(kept.columns):
                places = np.searchsorted(columns, kept.columns)
                blocks.append(replace(kept, columns=places))
        names = [self.names[int(j)] for j in columns]
        return Table(self.n_samples, names, tuple(blocks), self.notes)

    def count_missing(self) -> Indices:
        """Return the number of missing values in each column."""
        counts = np.zeros(self.n_features, dtype=np.int64)
        for block in self.blocks:
            for columns, values in block.strips():
                counts[columns] = block.missing(values).sum(axis=0)
        return counts

    def check_exact(self, columns: Indices | None = None) -> None:
        """Refuse integers that float64 cannot represent, in all or some numeric columns."""
        for block in self.blocks:
            if block.values.dtype.kind not in "iu":
                continue
            wrong = block.columns[find_inexact(block.values)]
            if columns is not None:
                wrong = np.intersect1d(wrong, columns)
            if len(wrong):
                raise inexact(self.names[int(wrong[0])])

    def numeric(self) -> tuple[NDArray[np.floating[Any]], NDArray[np.intp]]:
        """The numbers and booleans as one array of floats, NaN where missing, and their places."""
        blocks = [block for block in self.blocks if block.categories is None]
        places = np.flatnonzero(self.are("numeric", "boolean"))
        types = [block.values.dtype for block in blocks]
        if types in ([np.float32], [np.float64]):
            _, values = next(blocks[0].strips(len(places)))
        else:
            self.check_exact()
            values = _as_floats(blocks, places, self.n_samples)
        for columns, strip in Block(places, "numeric", values).strips():
            has_infinite = np.isinf(strip).any(axis=0)
            for j in np.flatnonzero(has_infinite):
                check_finite(f"column {self.names[columns[j]]!r}", strip[:, j])
        return values, places


def with_column(table: Table, name: str, values: Array) -> Table:
    """The table with one more column of numbers, the last."""
    place = np.array([table.n_features])
    column = Block(place, "numeric", values[:, np.newaxis])
    names = [*table.names, name]
    blocks = (*table.blocks, column)
    return replace(table, names=names, blocks=blocks)


def _take_rows(values: Any, rows: Indices) -> Any:
    """Some rows of an array or a sparse matrix; columns that are contiguous stay so."""
    if isinstance(values, np.ndarray) and values.flags.f_contiguous:
        return np.take(values.T, rows, axis=1).T
    return values[rows]


def check_finite(where: str, values: Array) -> None:
    """Refuse infinite values; ``where`` says for the error what has them."""
    n_infinite = np.isinf(values).sum()
    if n_infinite:
        infinite = counted(n_infinite, "infinite value")
        raise DataError(f"{where} has {infinite}; replace or drop such rows")


def find_inexact(values: Any) -> Indices:
    """The columns of an array or a CSC matrix of whole numbers that float64 cannot represent."""
    if values.dtype.kind in "iu" and values.dtype.itemsize < 8:
        return np.empty(0, np.int64)
    if hasattr(values, "tocsc"):
        lowest = np.ravel(values.min(axis=0).toarray())
        highest = np.ravel(values.max(axis=0).toarray())
    else:
        lowest = np.fmin.reduce(values, axis=0)
        highest = np.fmax.reduce(values, axis=0)
    return np.flatnonzero((lowest <= -MAX_EXACT) | (highest >= MAX_EXACT))


def inexact(name: str) -> DataError:
    """The error for a column of integers that float64 cannot represent."""
    return DataError(
        f"column {name!r} holds whole numbers of 2**53 or more, which float64 cannot tell apart; "
        "exclude it, pass it as strings or categories, or subtract a constant"
    )


def refuse_shape(shape: tuple[int, ...]) -> None:
    """Refuse a table that does not have rows and columns."""
    if len(shape) != 2:
        raise DataError(
            f"X has shape {shape}, but a table has rows and columns; use X.reshape(-1, 1) "
            "if it is one column, X.reshape(1, -1) if it is one row"
        )


def refuse_twins(names: Sequence[Any], where: Any) -> None:
    """Refuse two columns of one name; ``where`` says for the error what has them."""
    if len(set(names)) < len(names):
        seen: set[Any] = set()
        for name in names:
            if name in seen:
                raise DataError(f"{where} has two columns named {name!r}; rename one of them")
            seen.add(name)


def side_by_side(columns: Iterable[tuple[int, Column]]) -> Iterator[Block]:
    """Yield blocks of the columns of one kind and dtype, given with their places in the table."""
    groups: dict[tuple[Kind, Any], deque[tuple[int, Column]]] = {}
    for place, column in columns:
        group = groups.setdefault((column.kind, column.values.dtype), deque())
        group.append((place, column))
    for (kind, dtype), group in groups.items():
        places = np.array([place for place, _ in group])
        categories = [column.levels for _, column in group if column.levels is not None]
        _, first = group[0]
        stacked = np.empty((len(group), len(first.values)), dtype)
        for row in stacked:
            # A column is given up when it is copied, so that none is held twice.
            _, column = group.popleft()
            row[:] = column.values
        yield Block(places, kind, stacked.T, categories or None)


def find_features(features: Any, table: Table) -> Indices:
    """The places of features given by name, index or mask; of none for None or "from_dtype"."""
    chosen = _listed(features)
    if not chosen:
        return np.empty(0, np.int64)
    if all(isinstance(item, bool | np.bool_) for item in chosen):
        if len(chosen) != table.n_features:
            came = f"{len(chosen)} values and the table has {table.n_features} columns"
            raise ParameterError(f"a mask of features needs a value for each column; it has {came}")
        return np.flatnonzero(chosen)
    place_of: dict[str, int] = {}
    for place, name in enumerate(table.names):
        place_of[name] = SEVERAL if name in place_of else place
    places = [_find_place(item, place_of, table.n_features) for item in chosen]
    return np.array(places, np.int64)


def _listed(features: Any) -> list[Any]:
    """Features as a list, where users may pass one alone, or none."""
    if features is None or (isinstance(features, str) and features == "from_dtype"):
        return []
    if isinstance(features, str | Integral) or getattr(features, "ndim", 1) == 0:
        return [features]
    return list(features)


def _find_place(item: Any, place_of: dict[str, int], n_features: int) -> int:
    """The place of a feature given by its name or its index; negative ones count from the end.

    ``place_of``: the place of each name, or SEVERAL.
    """
    if isinstance(item, str):
        if place_of.get(item) == SEVERAL:
            raise ParameterError(
                f"there are several columns {item!r}; give the index of the one meant"
            )
        if item in place_of:
            return place_of[item]
        raise UnknownNameError("column", item, place_of, "the table")
    if isinstance(item, np.ndarray):
        item = item[()]
    if not isinstance(item, int | np.integer):
        raise ParameterError(f"a feature must be given by its name or its index, not by {item!r}")
    if not -n_features <= item < n_features:
        raise ParameterError(
            f"there is no column {item} of {n_features}; choose one from 0 to {n_features - 1}"
        )
    return int(item) % n_features


def find_numeric(table: Table, categorical: Indices) -> Indices:
    """The columns of numbers that are no codes of categories, which are given by their places."""
    return np.flatnonzero(table.are("numeric") & ~table.mask(categorical))


def split_numbers(table: Table, numeric: Indices) -> tuple[Block, list[Block]]:
    """The numbers of some columns as one block, and the blocks of the other columns."""
    is_wanted = table.mask(numeric)
    numbers: list[Block] = []
    others: list[Block] = []
    for block in table.blocks:
        wanted = is_wanted[block.columns]
        if wanted.any():
            numbers.append(block.keep(wanted))
        if not wanted.all():
            others.append(block.keep(~wanted))
    if len(numbers) == 1:
        return numbers[0], others
    values = _as_floats(numbers, numeric, table.n_samples, "F")
    return Block(numeric, "numeric", values), others


def as_matrix(table: Table) -> tuple[Any, NDArray[np.intp]]:
    """The table as one array of numbers, with codes for text; and which columns are such codes."""
    if len(table.blocks) == 1 and table.blocks[0].kind == "numeric":
        return table.blocks[0].values, np.empty(0, np.intp)
    matrix = _as_floats(table.blocks, np.arange(table.n_features), table.n_samples)
    return matrix, np.flatnonzero(table.are("categorical", "string"))


def _as_floats(
    blocks: Sequence[Block], places: Indices, n_samples: int, order: Literal["C", "F"] = "C"
) -> NDArray[np.floating[Any]]:
    """The columns of some blocks, all of which are at ``places``, as one array in that order.

    Values that are missing are NaN; it is of float32 if that holds all types.
    """
    widest = np.result_type(np.float32, *(block.values.dtype for block in blocks))
    dtype = min(widest, np.dtype(np.float64))
    values = np.empty((n_samples, len(places)), dtype, order)
    for block in blocks:
        for columns, strip in block.strips():
            if block.categories is not None:
                strip = np.where(strip < 0, np.nan, strip)
            with np.errstate(over="ignore"):  # too large for float64 becomes infinite
                values[:, np.searchsorted(places, columns)] = strip
    return values


def find_constant(table: Table) -> NDArray[np.intp]:
    """The columns that have the same value in all rows, or none at all."""
    is_constant = np.zeros(table.n_features, bool)
    for block in table.blocks:
        for columns, values in block.keep(_may_be_constant(block)).strips():
            is_constant[columns] = _are_alike(values) & ~np.isinf(values[0])
    return np.flatnonzero(is_constant)


def _may_be_constant(block: Block) -> Mask:
    """Whether columns may be constant: those that vary in some rows are not."""
    values = block.values
    n_rows, n_columns = values.shape
    if hasattr(values, "tocsc"):
        column_of_entry = np.repeat(np.arange(n_columns), np.diff(values.indptr))
        counts = np.bincount(column_of_entry[values.data != 0], minlength=n_columns)
        return (counts == 0) | (counts == n_rows)
    return _are_alike(values[:: max(1, n_rows // SOME_ROWS)])


def _are_alike(values: Array) -> Mask:
    """Whether each column has one value in all rows; missing values are alike."""
    alike = values == values[:1]
    if values.dtype.kind == "f":
        is_missing = np.isnan(values)
        alike |= is_missing & is_missing[:1]
    return np.asarray(alike.all(axis=0))
