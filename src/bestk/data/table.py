"""Any table in, named columns of four kinds out: the one module that knows frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from bestk.data._objects import WANTED, Kind, read_objects, refuse_inexact
from bestk.data.dates import days
from bestk.data.whole import EXACT, has_rounded, refuse_merged, refuse_merging

__all__ = ["Block", "Kind", "Table", "as_array", "read_column", "read_table"]

MISSING = ("category", "error")
FIRST_ROWS = 32  # that show most columns to vary
LAZY = "X is a lazy frame; read it into memory first, e.g. X.collect()"


@dataclass(frozen=True)
class Block:
    """Columns of one kind, side by side."""

    columns: NDArray[np.intp]  # their places in the table
    kind: Kind
    # a row per sample: numbers (NaN missing), bools or codes (-1 missing); an array, CSC, or
    # anything with a shape, a dtype and columns that are made when sliced
    values: Any
    categories: list[list[Any]] | None = None  # what the codes of each column stand for, sorted

    def strips(self, width: int | None = None) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
        """Yield places and dense values, some columns at a time; only sparse ones are copied."""
        width = width or max(64, 2**23 // max(1, self.values.shape[0]))
        for start in range(0, len(self.columns), width):
            strip = self.values[:, start : start + width]
            dense = strip.toarray(order="F") if hasattr(strip, "toarray") else strip
            yield self.columns[start : start + width], dense

    def keep(self, mask: NDArray[np.bool_]) -> Block:
        """Some of the columns; the same block if it is all of them."""
        if mask.all():
            return self
        chosen = np.flatnonzero(mask)
        known = None if self.categories is None else [self.categories[j] for j in chosen]
        return Block(self.columns[mask], self.kind, self.values[:, chosen], known)

    def take(self, rows: NDArray[np.intp]) -> Block:
        """Some of the rows; categories that none of them has are forgotten."""
        values = self.values[rows]
        if self.categories is None:
            return replace(self, values=values)
        known = []
        for column, categories in zip(values.T, self.categories, strict=True):
            seen = np.unique(column[column >= 0])
            column[column >= 0] = np.searchsorted(seen, column[column >= 0])
            known.append([categories[level] for level in seen])
        return replace(self, values=values, categories=known)

    def missing(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which of the values, taken from this block, are missing."""
        if self.categories is not None:
            return values < 0
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)


@dataclass(frozen=True)
class Table:
    """Named columns, each numeric (or dates), categorical, boolean or string, held in blocks."""

    n_samples: int
    names: Sequence[str]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()  # what a reader should know of how columns were read

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

    def count_missing(self) -> NDArray[np.int64]:
        """Return the number of missing values in each column."""
        counts = np.zeros(self.n_features, dtype=np.int64)
        for block in self.blocks:
            for columns, values in block.strips():
                counts[columns] = block.missing(values).sum(axis=0)
        return counts

    def numeric(self) -> tuple[NDArray[np.floating[Any]], NDArray[np.intp]]:
        """Return the numbers and booleans as one float array (NaN = missing), and their places.

        A table that is one block of float32 or float64 comes back uncopied; integers that float64
        would take for one another are refused.
        """
        blocks = [block for block in self.blocks if block.categories is None]
        places = np.sort(np.concatenate([np.empty(0, np.intp), *(b.columns for b in blocks)]))
        if len(blocks) == 1 and blocks[0].values.dtype in (np.float32, np.float64):
            _, values = next(blocks[0].strips(len(places)))
        else:
            refuse_merging(blocks, self.names)
            dtype = np.result_type(np.float32, *(block.values.dtype for block in blocks))
            values = np.empty((self.n_samples, len(places)), min(dtype, np.dtype(np.float64)))
            for block in blocks:
                for columns, strip in block.strips():
                    with np.errstate(over="ignore"):  # what float64 has no room for is infinite
                        values[:, np.searchsorted(places, columns)] = strip
        for columns, strip in Block(places, "numeric", values).strips():
            infinite = np.isinf(strip).sum(axis=0)
            if infinite.any():
                first = int(np.argmax(infinite > 0))
                refuse_infinite(f"column {self.names[columns[first]]!r}", infinite[first])
        return values, places


def find_constant(table: Table) -> NDArray[np.intp]:
    """The columns that have the same value in all rows, or none at all.

    Examples
    --------
    >>> find_constant(read_table([[1.0, None, "a", None], [1.0, None, "b", "c"]]))
    array([0, 1])
    """
    found = [np.empty(0, np.intp)]
    for block in table.blocks:
        if (likely := _may_be_constant(block)).any():
            found += [
                columns[_are_alike(block, values)]
                for columns, values in block.keep(likely).strips()
            ]
    return np.sort(np.concatenate(found))


def _may_be_constant(block: Block) -> NDArray[np.bool_]:
    """Whether columns may be constant: those that vary in the first rows are not."""
    values = block.values
    if hasattr(values, "tocsc"):
        stored = np.repeat(np.arange(values.shape[1]), np.diff(values.indptr))
        counts = np.bincount(stored[values.data != 0], minlength=values.shape[1])
        return (counts == 0) | (counts == values.shape[0])
    return _are_alike(block, values[:FIRST_ROWS])


def _are_alike(block: Block, values: NDArray[Any]) -> NDArray[np.bool_]:
    missing = block.missing(values)
    return np.asarray(((values == values[:1]) | (missing & missing[:1])).all(axis=0))


def read_table(X: Any, *, missing: str = "category") -> Table:
    """Read any table into named columns.

    Parameters
    ----------
    X : array, frame, sparse matrix, list of rows, or Table
        Arrays are not copied, memory-mapped ones not read, sparse matrices stay sparse; unnamed
        columns are x0, x1, ...
    missing : {"category", "error"}
        Whether missing values (NaN, None, NA, null) are kept or refused.

    Returns
    -------
    Table
        The columns, in blocks of one kind.

    Examples
    --------
    >>> table = read_table([[1.5, "red"], [None, "blue"], [2.0, "red"]])
    >>> table.kinds
    array(['numeric', 'string'], dtype=object)
    >>> table.count_missing()
    array([1, 0])
    >>> list(table.names)
    ['x0', 'x1']
    """
    if not isinstance(missing, str) or missing not in MISSING:
        raise ValueError(f"unknown missing={missing!r}; choose one of {', '.join(MISSING)}")
    table = X if isinstance(X, Table) else _read_source(*_open(X))
    if not table.n_samples or not table.n_features:
        came = f"{table.n_samples} rows and {table.n_features} columns"
        raise ValueError(f"the table is empty: it has {came}; at least one of each is needed")
    if missing == "error" and (counts := table.count_missing()).any():
        first = int(np.argmax(counts > 0))
        raise ValueError(
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
    if y is None:
        raise ValueError(f"{name} should be a 1d array with one value a row; got None")
    source, _ = _open(y)
    if hasattr(source, "to_frame"):
        source = source.alias(name).to_frame()
    elif hasattr(source, "toarray"):
        source = source.toarray()
    elif isinstance(source, np.ndarray) and source.ndim == 1:
        source = source.reshape(-1, 1)
    if len(source.shape) != 2 or source.shape[1] != 1:
        came = f"shape {source.shape}"
        raise ValueError(f"{name} should be a 1d array with one value a row; got {came}")
    return _read_source(source, [name]).blocks[0]


def refuse_infinite(where: str, count: int) -> NoReturn:
    """Raise the error that says what to do about infinite values."""
    raise ValueError(f"{where} has {count} infinite values; replace them or drop those rows")


def refuse_shape(shape: tuple[int, ...]) -> None:
    """Raise the error that says what to do about a table that has no rows and columns."""
    if len(shape) != 2:
        raise ValueError(
            f"X has shape {shape}, but a table has rows and columns; use X.reshape(-1, 1) "
            "if it is one column, X.reshape(1, -1) if it is one row"
        )


class _Numbered(Sequence[str]):
    """The names x0, x1, ... without storing them."""

    def __init__(self, n: int) -> None:
        self._places = range(n)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [f"x{i}" for i in self._places[index]]
        return f"x{self._places[index]}"

    def __repr__(self) -> str:
        return f"<x0 .. x{len(self) - 1}>"


def _open(X: Any) -> tuple[Any, Sequence[str]]:
    """Return X as an array, CSC matrix, narwhals series or frame of unique names; and its names."""
    if hasattr(type(X), "tocsc"):
        X = X.tocsc() if X.ndim == 2 else X
    elif isinstance(X, np.ndarray | list | tuple):
        X = as_array(X)
    else:
        import narwhals as nw

        refuse_lazy(X)
        X, names = _number_columns(batch_as_table(nw.to_native(X, pass_through=True)))
        X = nw.from_native(X, pass_through=True, allow_series=True)
        if isinstance(X, nw.LazyFrame):
            raise ValueError(LAZY)
        if isinstance(X, nw.DataFrame):
            return X, names or X.columns
        X = X if isinstance(X, nw.Series) else as_array(X)
    return X, _Numbered(X.shape[1] if len(X.shape) == 2 else 0)


def refuse_lazy(X: Any) -> None:
    """Refuse a frame that is a plan of what to read."""
    import narwhals as nw

    if hasattr(X, "collect") and isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise ValueError(LAZY)


def named_frame(X: Any) -> Any:
    """X as scikit-learn can read its names: no record batch, and not two columns of one name."""
    refuse_lazy(X)
    X = batch_as_table(X)
    refuse_twins(getattr(X, "column_names", getattr(X, "columns", ())), "X")
    return X


def refuse_twins(names: Sequence[Any], where: Any) -> None:
    """Refuse two columns of one name, which no option could tell apart."""
    if len(set(names)) < len(names):
        twin = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{where} has two columns named {twin!r}; rename one of them")


def batch_as_table(X: Any) -> Any:
    """A record batch of arrow as a table of one; all else as it is."""
    if hasattr(X, "num_rows") and not hasattr(X, "to_batches"):
        from pyarrow import Table as ArrowTable

        return ArrowTable.from_batches([X])
    return X


def _number_columns(X: Any) -> tuple[Any, list[str]]:
    """Number the columns of a frame that may name two alike, or by other than strings."""
    from narwhals.dependencies import is_pandas_like_dataframe, is_pyarrow_table

    if is_pyarrow_table(X):
        numbers = [str(j) for j in range(X.num_columns)]
        return X.rename_columns(numbers), X.column_names
    if is_pandas_like_dataframe(X):
        names = [str(name) for name in X.columns]
        X = X.copy(deep=False)
        X.columns = [str(j) for j in range(len(names))]
        return X, names
    return X, []


def as_array(X: Any) -> NDArray[Any]:
    """Rows as an array; of objects, if numbers stand beside strings."""
    X = unmask(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError("the rows have different lengths; give each as many values") from error
    if array.ndim == 0:
        raise ValueError(f"got a {type(X).__name__}; give an array, a frame or a list of rows")
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        return np.array(X, dtype=object)  # numpy makes strings of the numbers beside them
    if array.dtype.kind == "f" and isinstance(X, list | tuple) and (np.abs(array) >= EXACT).any():
        objects = np.array(X, dtype=object)  # numpy rounds integers beside fractions
        return objects if has_rounded(objects.flat) else array
    return array


def unmask(X: Any) -> Any:
    """The same with missing values where a numpy mask hides one; scikit-learn would show them."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    hidden = np.ma.getmaskarray(X)
    if not hidden.any():
        return X.data
    shown = np.array(X.data, dtype=object if X.dtype.kind not in "f" else None)
    shown[hidden] = np.nan
    return shown


def _read_source(source: Any, names: Sequence[str]) -> Table:
    refuse_shape(source.shape)
    if hasattr(source, "collect_schema"):
        blocks = _frame_blocks(source, names)
    elif source.dtype.kind in "biuf":
        kind: Kind = "boolean" if source.dtype.kind == "b" else "numeric"
        blocks = [Block(np.arange(len(names)), kind, source)]
    elif source.dtype.kind in "Mm":
        blocks = [Block(np.arange(len(names)), "numeric", days(source))]
    elif source.dtype.kind in "OUST":
        columns = ((j, source[:, j].tolist(), False) for j in range(len(names)))
        blocks = _object_blocks(columns, names)
    else:
        raise ValueError(f"the table holds {source.dtype}; {WANTED}")
    return Table(source.shape[0], names, tuple(blocks))


def _frame_blocks(frame: Any, names: Sequence[str]) -> list[Block]:
    """Numbers and booleans as one array for each dtype, the rest column by column."""
    import narwhals as nw

    alike: dict[Any, list[int]] = {}
    for j, dtype in enumerate(frame.collect_schema().values()):
        alike.setdefault(dtype, []).append(j)
    arrays: dict[Any, list[int]] = {}
    objects: list[tuple[int, bool]] = []
    dates: list[int] = []
    for dtype, places in alike.items():
        if dtype in (nw.Categorical, nw.Enum):
            objects += [(j, True) for j in places]
        elif dtype in (nw.String, nw.Object, nw.Unknown, nw.Int128, nw.UInt128, nw.Time):
            objects += [(j, False) for j in places]
        elif dtype.is_numeric() or dtype == nw.Boolean:
            arrays[dtype] = places
        elif dtype.is_temporal():
            dates += places
        else:
            raise ValueError(f"column {names[places[0]]!r} holds {dtype} values; {WANTED}")
    labels = frame.columns
    blocks: list[Block] = []
    for dtype, places in arrays.items():
        part = frame if len(places) == len(names) else frame[:, places]
        blocks += _array_blocks(part, dtype, places, names)
    if dates:
        values = np.array([days(frame[labels[j]].to_numpy()) for j in sorted(dates)]).T
        blocks.append(Block(np.array(sorted(dates)), "numeric", values))
    columns = ((j, frame[labels[j]].to_list(), categorical) for j, categorical in sorted(objects))
    return blocks + _object_blocks(columns, names)


def _array_blocks(
    frame: Any, dtype: Any, places: list[int], names: Sequence[str]
) -> Iterator[Block]:
    """Columns of one number-like dtype; integers and booleans with gaps become floats."""
    import narwhals as nw

    values = frame.to_numpy()
    if values.dtype.kind == "O":
        objects = values
        values = np.array([column.cast(nw.Float64).to_numpy() for column in frame.iter_columns()]).T
        for j in np.flatnonzero((np.abs(values) >= EXACT).any(axis=0)):  # decimals
            known = [value for value in objects[:, j] if value is not None and value == value]
            refuse_merged(known, f"column {names[places[j]]!r}")
    if dtype.is_integer() and values.dtype.kind == "f":
        gaps = np.isnan(values).any(axis=0)
        if gaps.any() and not gaps.all():  # whole numbers without gaps stay as they are
            for part in (np.flatnonzero(gaps).tolist(), np.flatnonzero(~gaps).tolist()):
                yield from _array_blocks(frame[:, part], dtype, [places[j] for j in part], names)
            return
        for place, column in zip(places, values.T, strict=True):
            refuse_inexact(column, names[place])
    kind: Kind = "boolean" if dtype == nw.Boolean else "numeric"
    yield Block(np.array(places), kind, values)


def _object_blocks(
    columns: Iterable[tuple[int, list[Any], bool]], names: Sequence[str]
) -> list[Block]:
    """Group columns of Python objects into one block for each kind and dtype."""
    groups: dict[tuple[Kind, Any], list[tuple[int, NDArray[Any], list[Any] | None]]] = {}
    for j, column, categorical in columns:
        kind, values, categories = read_objects(column, names[j], categorical=categorical)
        groups.setdefault((kind, values.dtype), []).append((j, values, categories))
    blocks = []
    for (kind, _), group in groups.items():
        known = [categories for _, _, categories in group if categories is not None]
        rows = np.array([values for _, values, _ in group])
        blocks.append(Block(np.array([j for j, _, _ in group]), kind, rows.T, known or None))
    return blocks
