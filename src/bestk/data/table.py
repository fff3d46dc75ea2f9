"""Any table in, named columns of four kinds out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Indices, Mask
from bestk.data.frames import (
    check_exact,
    check_finite,
    exceeding,
    inexact,
    open_table,
    refuse_shape,
)
from bestk.data.objects import ACCEPTED, Kind, days, read_objects
from bestk.errors import DataError, UnknownNameError

MISSING = ("category", "error")


@dataclass(frozen=True)
class Block:
    """Columns of one kind, side by side."""

    columns: NDArray[np.intp]  # their places in the table
    kind: Kind
    # a row per sample: numbers (NaN missing), bools or codes (-1 missing); an array, CSC, or
    # anything with a shape, a dtype and columns that are made when sliced
    values: Any
    categories: list[list[Any]] | None = None  # what the codes of each column stand for, sorted

    def strips(self, width: int | None = None) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Yield places and dense values, some columns at a time; only sparse ones are copied."""
        width = width or max(64, 2**23 // max(1, self.values.shape[0]))
        for start in range(0, len(self.columns), width):
            strip = self.values[:, start : start + width]
            dense = strip.toarray(order="F") if hasattr(strip, "toarray") else strip
            yield self.columns[start : start + width], dense

    def keep(self, mask: Mask) -> Block:
        """Some of the columns; the same block if it is all of them."""
        if mask.all():
            return self
        chosen = np.flatnonzero(mask)
        known = None if self.categories is None else [self.categories[j] for j in chosen]
        return Block(self.columns[mask], self.kind, self.values[:, chosen], known)

    def take(self, rows: NDArray[np.intp]) -> Block:
        """Some of the rows; categories that none of them has are dropped."""
        values = self.values[rows]
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

    def take(self, rows: NDArray[np.intp]) -> Table:
        """The same columns of some rows, which may repeat."""
        blocks = tuple(block.take(rows) for block in self.blocks)
        return Table(len(rows), self.names, blocks, self.notes)

    def keep(self, columns: NDArray[np.intp]) -> Table:
        """Some of the columns, given in rising order."""
        blocks = [block.keep(np.isin(block.columns, columns)) for block in self.blocks]
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
        for block in self.blocks:
            if block.categories is None and block.values.dtype.kind in "iu":
                wrong = block.columns[exceeding(block.values)]
                wrong = wrong if columns is None else np.intersect1d(wrong, columns)
                if len(wrong):
                    raise inexact(self.names[int(wrong[0])])

    def numeric(self) -> tuple[NDArray[np.floating[Any]], NDArray[np.intp]]:
        """Return the numbers and booleans as one float array (NaN = missing), and their places.

        A table that is one block of float32 or float64 comes back uncopied.
        """
        blocks = [block for block in self.blocks if block.categories is None]
        places = np.sort(np.concatenate([np.empty(0, np.intp), *(b.columns for b in blocks)]))
        if len(blocks) == 1 and blocks[0].values.dtype in (np.float32, np.float64):
            _, values = next(blocks[0].strips(len(places)))
        else:
            self.check_exact()
            dtype = np.result_type(np.float32, *(block.values.dtype for block in blocks))
            values = np.empty((self.n_samples, len(places)), min(dtype, np.dtype(np.float64)))
            for block in blocks:
                for columns, strip in block.strips():
                    with np.errstate(over="ignore"):  # too large for float64 becomes infinite
                        values[:, np.searchsorted(places, columns)] = strip
        for columns, strip in Block(places, "numeric", values).strips():
            finite = ~np.isinf(strip).any(axis=0)
            if not finite.all():
                first = int(np.argmin(finite))
                check_finite(f"column {self.names[columns[first]]!r}", strip[:, first])
        return values, places


def read_table(X: Any, *, missing: str = "category") -> Table:
    """Read any table into named columns.

    Parameters
    ----------
    X : array, frame, sparse matrix, list of rows, or Table
        Arrays are not copied, memory-mapped ones not read, sparse matrices stay sparse; unnamed
        columns are x0, x1, ...
    missing : {"category", "error"}
        Whether missing values (NaN, None, NA, null) are kept or refused.

    Examples
    --------
    >>> table = read_table([[1.5, "red"], [None, "blue"], [2.0, "red"]])
    >>> table.kinds
    array(['numeric', 'string'], dtype=object)
    >>> table.count_missing()
    array([1, 0])
    """
    if not isinstance(missing, str) or missing not in MISSING:
        raise UnknownNameError("missing", missing, MISSING)
    table = X if isinstance(X, Table) else _read_source(*open_table(X))
    if not table.n_samples or not table.n_features:
        came = f"{table.n_samples} rows and {table.n_features} columns"
        raise DataError(f"the table is empty: it has {came}; at least one of each is needed")
    if missing == "error" and (counts := table.count_missing()).any():
        first = int(np.argmax(counts > 0))
        raise DataError(
            f"column {table.names[first]!r} has {counts[first]} missing values; fill them in, "
            "drop those rows, or use missing='category'"
        )
    return table


def read_column(y: Any, name: str = "y") -> Block:
    """Read one column: a series, a vector, or a table of one column.

    Examples
    --------
    >>> read_column(["no", "yes", None]).values
    array([[ 0], [ 1], [-1]], dtype=int32)
    """
    if isinstance(y, Block):
        return y
    wanted = f"{name} should be a 1d array with one value a row"
    if y is None:
        raise DataError(f"{wanted}; got None")
    source, _ = open_table(y)
    if hasattr(source, "to_frame"):
        source = source.alias(name).to_frame()
    elif hasattr(source, "toarray"):
        source = source.toarray()
    elif isinstance(source, np.ndarray) and source.ndim == 1:
        source = source.reshape(-1, 1)
    if len(source.shape) != 2 or source.shape[1] != 1:
        raise DataError(f"{wanted}; got shape {source.shape}")
    return _read_source(source, [name]).blocks[0]


def _read_source(source: Any, names: Sequence[str]) -> Table:
    refuse_shape(source.shape)
    if hasattr(source, "collect_schema"):
        blocks = list(_frame_blocks(source, names))
    elif source.dtype.kind in "biuf":
        kind: Kind = "boolean" if source.dtype.kind == "b" else "numeric"
        blocks = [Block(np.arange(len(names)), kind, source)]
    elif source.dtype.kind in "Mm":
        blocks = [Block(np.arange(len(names)), "numeric", days(source))]
    elif source.dtype.kind in "OUST":
        columns = ((j, source[:, j].tolist(), False) for j in range(len(names)))
        blocks = list(_object_blocks(columns, names))
    else:
        raise DataError(f"the table holds {source.dtype}; {ACCEPTED}")
    return Table(source.shape[0], names, tuple(blocks))


def _frame_blocks(frame: Any, names: Sequence[str]) -> Iterator[Block]:
    """Numbers and booleans as one array for each dtype, the rest column by column."""
    import narwhals as nw

    alike: dict[Any, list[int]] = {}
    for j, dtype in enumerate(frame.collect_schema().values()):
        alike.setdefault(dtype, []).append(j)
    as_objects = (nw.String, nw.Object, nw.Unknown, nw.Int128, nw.UInt128, nw.Time)
    labels, objects = frame.columns, []
    for dtype, places in alike.items():
        categorical = dtype in (nw.Categorical, nw.Enum)
        if categorical or dtype in as_objects:
            objects += [(j, categorical) for j in places]
        elif dtype.is_numeric() or dtype == nw.Boolean:
            kind: Kind = "boolean" if dtype == nw.Boolean else "numeric"
            part = frame if len(places) == len(names) else frame[:, places]
            values = part.to_numpy()
            if values.dtype.kind == "O":
                values = np.array(
                    [each.cast(nw.Float64).to_numpy() for each in part.iter_columns()]
                ).T
            if values.dtype.kind == "f" and not dtype.is_float():  # because of gaps, or decimals
                check_exact(values, [names[j] for j in places])
            yield Block(np.array(places), kind, values)
        elif dtype.is_temporal():
            values = np.array([days(frame[labels[j]].to_numpy()) for j in places]).T
            yield Block(np.array(places), "numeric", values)
        else:
            raise DataError(f"column {names[places[0]]!r} holds {dtype} values; {ACCEPTED}")
    columns = ((j, frame[labels[j]].to_list(), categorical) for j, categorical in sorted(objects))
    yield from _object_blocks(columns, names)


def _object_blocks(
    columns: Iterable[tuple[int, list[Any], bool]], names: Sequence[str]
) -> Iterator[Block]:
    return side_by_side(
        (j, *read_objects(column, names[j], categorical=categorical))
        for j, column, categorical in columns
    )


def side_by_side(
    columns: Iterable[tuple[int, Kind, Array, list[Any] | None]],
) -> Iterator[Block]:
    """Blocks of columns of one kind and dtype, each given by place, kind, values and categories."""
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
