"""Named columns of four kinds, held in blocks; and which of them are meant, numeric or constant."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Indices, Mask
from bestk.errors import DataError, UnknownNameError, counted

Kind = Literal["numeric", "categorical", "boolean", "string"]
MAX_EXACT = 2**53  # float64 represents all whole numbers below
SEVERAL = -1  # the place of a name that several columns have
SOME_ROWS = 32  # spread over a table: most columns that vary do so here


@dataclass(frozen=True)
class Block:
    """Columns of one kind, side by side."""

    columns: NDArray[np.intp]  # their places in the table, rising
    kind: Kind
    values: Any  # an array or CSC: numbers (NaN missing), bools or codes (-1 missing)
    categories: list[list[Any]] | None = None  # what the codes of each column stand for, sorted
    dates: bool = False  # or durations: the numbers are days

    def strips(self, width: int | None = None) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Yield places and dense values, some columns at a time; only sparse ones are copied."""
        width = width or max(64, 2**23 // max(1, self.values.shape[0]))
        for start in range(0, len(self.columns), width):
            strip = self.values[:, start : start + width]
            dense = strip.toarray(order="F") if hasattr(strip, "toarray") else strip
            yield self.columns[start : start + width], dense

    def keep(self, mask: Mask) -> "Block":
        """Some of the columns; the same block if it is all of them."""
        if mask.all():
            return self
        chosen = np.flatnonzero(mask)
        known = None if self.categories is None else [self.categories[j] for j in chosen]
        kept = _take_rows(self.values.T, chosen).T
        return Block(self.columns[mask], self.kind, kept, known, self.dates)

    def take(self, rows: NDArray[np.intp]) -> "Block":
        """Some of the rows; categories that none of them has are dropped."""
        values = _take_rows(self.values, rows)
        if self.categories is None:
            return replace(self, values=values)
        known = []
        for column, categories in zip(values.T, self.categories, strict=True):
            seen = np.unique(column[column >= 0])
            column[column >= 0] = np.searchsorted(seen, column[column >= 0])
            known.append([categories[level] for level in seen])
        return replace(self, values=values, categories=known)

    def missing(self, values: Array) -> Mask:
        """Which of the values, taken from this block, are missing."""
        if self.categories is not None:
            return values < 0
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)


@dataclass(frozen=True)
class Table:
    """Named columns, each numeric (or dates), categorical, boolean or string, held in blocks."""

    n_samples: int
    names: Sequence[str]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()  # how columns were read, where that may surprise

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
        return replace(self, n_samples=len(rows), blocks=tuple(b.take(rows) for b in self.blocks))

    def mask(self, columns: Indices) -> NDArray[np.bool_]:
        """Which columns are among the given ones; np.isin takes ten times as long."""
        mask = np.zeros(self.n_features, bool)
        mask[columns] = True
        return mask

    def keep(self, columns: NDArray[np.intp]) -> "Table":
        """Some of the columns, given in rising order."""
        mask = self.mask(columns)
        blocks = [block.keep(mask[block.columns]) for block in self.blocks]
        renumbered = (replace(b, columns=np.searchsorted(columns, b.columns)) for b in blocks)
        names = [self.names[int(j)] for j in columns]
        kept = tuple(b for b in renumbered if len(b.columns))
        return Table(self.n_samples, names, kept, self.notes)

    def count_missing(self) -> Indices:
        """Return the number of missing values in each column."""
        counts = np.zeros(self.n_features, dtype=np.int64)
        for block in self.blocks:
            for columns, values in block.strips():
                counts[columns] = block.missing(values).sum(axis=0)
        return counts

    def check_exact(self, columns: Indices | None = None) -> None:
        """Refuse integers that float64 cannot represent, in all or some numeric columns."""
        for block in (block for block in self.blocks if block.values.dtype.kind in "iu"):
            wrong = block.columns[find_inexact(block.values)]
            wrong = wrong if columns is None else np.intersect1d(wrong, columns)
            if len(wrong):
                raise inexact(self.names[int(wrong[0])])

    def numeric(self) -> tuple[NDArray[np.floating[Any]], NDArray[np.intp]]:
        """The numbers and booleans as one float array (NaN = missing), and their places."""
        blocks = [block for block in self.blocks if block.categories is None]
        places = np.flatnonzero(self.are("numeric", "boolean"))
        if len(blocks) == 1 and blocks[0].values.dtype in (np.float32, np.float64):
            _, values = next(blocks[0].strips(len(places)))
        else:
            self.check_exact()
            values = _as_floats(blocks, places, self.n_samples)
        for columns, strip in Block(places, "numeric", values).strips():
            for j in np.flatnonzero(np.isinf(strip).any(axis=0)):
                check_finite(f"column {self.names[columns[j]]!r}", strip[:, j])
        return values, places


def with_column(table: Table, name: str, values: Array) -> Table:
    """The table with one more column of numbers, the last."""
    place = np.array([table.n_features])
    column = Block(place, "numeric", values[:, np.newaxis])
    return replace(table, names=[*table.names, name], blocks=(*table.blocks, column))


def _take_rows(values: Any, rows: Indices) -> Any:
    """Some rows of an array or a matrix; columns that are contiguous stay so."""
    by_column = isinstance(values, np.ndarray) and values.flags.f_contiguous
    return np.take(values.T, rows, axis=1).T if by_column else values[rows]


def check_finite(where: str, values: Array) -> None:
    """Refuse infinite values."""
    if n := np.isinf(values).sum():
        raise DataError(f"{where} has {counted(n, 'infinite value')}; replace or drop such rows")


def find_inexact(values: Any) -> Indices:
    """The columns of an array or a CSC matrix of whole numbers that float64 cannot represent."""
    if values.dtype.kind in "iu" and values.dtype.itemsize < 8:
        return np.empty(0, np.int64)
    if hasattr(values, "tocsc"):
        low, high = (np.ravel(end.toarray()) for end in (values.min(axis=0), values.max(axis=0)))
    else:
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return np.flatnonzero((low <= -MAX_EXACT) | (high >= MAX_EXACT))


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
    """Refuse two columns of one name."""
    if len(set(names)) < len(names):
        twin = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"{where} has two columns named {twin!r}; rename one of them")


def side_by_side(columns: Iterable[tuple[int, Kind, Array, list[Any] | None]]) -> Iterator[Block]:
    """Blocks of columns of one kind and dtype, given by place, kind, values and categories."""
    groups: dict[tuple[Kind, Any], list[Any]] = {}
    for place, kind, values, levels in columns:
        groups.setdefault((kind, values.dtype), []).append((place, values, levels))
    for (kind, dtype), group in groups.items():
        places, categories = [each[0] for each in group], [each[2] for each in group]
        stacked = np.empty((len(group), len(group[0][1])), dtype)
        for i, row in enumerate(stacked):
            row[:], group[i] = group[i][1], None  # so that no column is held twice
        known = None if categories[0] is None else categories
        yield Block(np.array(places), kind, stacked.T, known)


def find_features(features: Any, table: Table) -> Indices:
    """The places of features given by name, index or mask; of none for None or "from_dtype"."""
    none = features is None or (isinstance(features, str) and features == "from_dtype")
    single = isinstance(features, str | Integral) or getattr(features, "ndim", 1) == 0
    chosen: list[Any] = [] if none else [features] if single else list(features)
    if not chosen:
        return np.empty(0, np.int64)
    if all(isinstance(item, bool | np.bool_) for item in chosen):
        if len(chosen) != table.n_features:
            came = f"{len(chosen)} values and the table has {table.n_features} columns"
            raise ValueError(f"a mask of features needs a value for each column; it has {came}")
        return np.flatnonzero(chosen)
    places: dict[str, int] = {}
    for place, name in enumerate(table.names):
        places[name] = place if name not in places else SEVERAL
    return np.array([_find_place(item, places, table.n_features) for item in chosen], np.int64)


def _find_place(item: Any, places: dict[str, int], n: int) -> int:
    if isinstance(item, str):
        if places.get(item) == SEVERAL:
            raise ValueError(f"there are several columns {item!r}; give the index of the one meant")
        if item in places:
            return places[item]
        raise UnknownNameError("column", item, places, "the table")
    item = item[()] if isinstance(item, np.ndarray) else item
    if not isinstance(item, int | np.integer):
        raise ValueError(f"a feature must be given by its name or its index, not by {item!r}")
    if not -n <= item < n:
        raise ValueError(f"there is no column {item} of {n}; choose one from 0 to {n - 1}")
    return int(item) % n


def find_numeric(table: Table, categorical: Indices) -> Indices:
    """The columns of numbers that are no codes of categories."""
    return np.flatnonzero(table.are("numeric") & ~table.mask(categorical))


def split_numbers(table: Table, numeric: Indices) -> tuple[Block, list[Block]]:
    """The numbers of some columns as one block, and the rest of the table."""
    wanted = table.mask(numeric)
    parts = [b.keep(wanted[b.columns]) for b in table.blocks if wanted[b.columns].any()]
    rest = [b.keep(~wanted[b.columns]) for b in table.blocks if not wanted[b.columns].all()]
    if len(parts) == 1:
        return parts[0], rest
    return Block(numeric, "numeric", _as_floats(parts, numeric, table.n_samples, "F")), rest


def as_matrix(table: Table) -> tuple[Any, NDArray[np.intp]]:
    """The table as one array of numbers, with codes for text; and which columns are such codes."""
    if len(table.blocks) == 1 and table.blocks[0].kind == "numeric":
        return table.blocks[0].values, np.empty(0, np.intp)
    matrix = _as_floats(table.blocks, np.arange(table.n_features), table.n_samples)
    return matrix, np.flatnonzero(table.are("categorical", "string"))


def _as_floats(
    blocks: Sequence[Block], places: Indices, n_samples: int, order: Literal["C", "F"] = "C"
) -> NDArray[np.floating[Any]]:
    """The columns at some places as one array, NaN where values are missing."""
    dtype = np.result_type(np.float32, *(block.values.dtype for block in blocks))
    values = np.empty((n_samples, len(places)), min(dtype, np.dtype(np.float64)), order)
    for block in blocks:
        for columns, strip in block.strips():
            known = strip if block.categories is None else np.where(strip < 0, np.nan, strip)
            with np.errstate(over="ignore"):  # too large for float64 becomes infinite
                values[:, np.searchsorted(places, columns)] = known
    return values


def find_constant(table: Table) -> NDArray[np.intp]:
    """The columns that have the same value in all rows, or none at all."""
    constant = np.zeros(table.n_features, bool)
    for block in table.blocks:
        for columns, values in block.keep(_may_be_constant(block)).strips():
            constant[columns] = _are_alike(values) & ~np.isinf(values[0])
    return np.flatnonzero(constant)


def _may_be_constant(block: Block) -> Mask:
    """Whether columns may be constant: those that vary in some rows are not."""
    values = block.values
    if hasattr(values, "tocsc"):
        stored = np.repeat(np.arange(values.shape[1]), np.diff(values.indptr))
        counts = np.bincount(stored[values.data != 0], minlength=values.shape[1])
        return (counts == 0) | (counts == values.shape[0])
    return _are_alike(values[:: max(1, values.shape[0] // SOME_ROWS)])


def _are_alike(values: Array) -> Mask:
    alike = values == values[:1]
    if values.dtype.kind == "f":
        missing = np.isnan(values)
        alike |= missing & missing[:1]
    return np.asarray(alike.all(axis=0))
