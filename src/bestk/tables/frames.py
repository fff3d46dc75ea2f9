"""Any table in, named columns out: arrays, lists, sparse matrices and frames of any library."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from bestk._typing import Array
from bestk.errors import DataError
from bestk.native import TABLE_TYPES
from bestk.tables.columns import ACCEPTED, days, number_levels, read_dictionary, read_objects
from bestk.tables.table import (
    Block,
    Kind,
    Table,
    find_features,
    find_inexact,
    inexact,
    refuse_shape,
    refuse_twins,
    side_by_side,
)
from bestk.tables.text import parse_text


def read_table(X: Any) -> Table:
    """Read any table: an array, a frame, a sparse matrix, a list of rows, or a Table.

    Arrays are not copied, memory-mapped ones not read, sparse matrices stay sparse; columns
    without a name are x0, x1, ...
    """
    table = X if isinstance(X, Table) else _read_source(*open_table(X))
    if not table.n_samples or not table.n_features:
        came = f"{table.n_samples} rows and {table.n_features} columns"
        raise DataError(f"the table is empty: it has {came}; at least one of each is needed")
    return table


def read_column(y: Any) -> Block:
    """Read a target: a series, a vector, or a table of one column."""
    if isinstance(y, Block):
        return y
    wanted = "y should be a 1d array with one value a row"
    if y is None or isinstance(y, str):
        raise DataError(f"{wanted}; got {y!r}; give a name only where X is in files or in blocks")
    source, _ = open_table(y)
    if hasattr(source, "to_frame"):  # a series
        source = source.to_frame()
    elif hasattr(source, "toarray"):
        source = source.toarray()
    elif isinstance(source, np.ndarray) and source.ndim == 1:
        source = source.reshape(-1, 1)
    if len(source.shape) != 2 or source.shape[1] != 1:
        raise DataError(f"{wanted}; got shape {source.shape}")
    return _read_source(source, ["y"]).blocks[0]


def read_features(X: Any, categorical_features: Any = None) -> Table:
    """Read a table in which text of numbers or dates is numeric, unless it is categorical."""
    table = read_table(X)
    if not any(block.kind == "string" for block in table.blocks):
        return table
    return parse_text(table, find_features(categorical_features, table).tolist())


def _read_source(source: Any, names: Sequence[str]) -> Table:
    refuse_shape(source.shape)
    if hasattr(source, "iloc"):
        blocks = list(_pandas_blocks(source, names))
    elif hasattr(source, "collect_schema"):
        blocks = list(_narwhals_blocks(source, names))
    elif source.dtype.kind in "biuf":
        kind: Kind = "boolean" if source.dtype.kind == "b" else "numeric"
        blocks = [Block(np.arange(len(names)), kind, source)]
    elif source.dtype.kind in "Mm":
        blocks = [Block(np.arange(len(names)), "numeric", days(source), dates=True)]
    elif source.dtype.kind in "OUST":
        columns = ((j, *read_objects(source[:, j].tolist(), name)) for j, name in enumerate(names))
        blocks = list(side_by_side(columns))
    else:
        raise DataError(f"the table holds {source.dtype}; {ACCEPTED}")
    return Table(source.shape[0], names, tuple(blocks))


def _pandas_blocks(frame: Any, names: Sequence[str]) -> Iterator[Block]:
    """Numbers and booleans as one array for each dtype, text by its codes, the rest by narwhals."""
    import pandas as pd

    alike: dict[Any, list[int]] = {}
    words, others, text = list[int](), list[int](), (pd.CategoricalDtype, pd.StringDtype)
    for j, dtype in enumerate(frame.dtypes):
        plain = isinstance(dtype, np.dtype)
        if plain and dtype in TABLE_TYPES:
            alike.setdefault(dtype, []).append(j)
        elif (plain and dtype.kind == "O") or isinstance(dtype, text):
            words.append(j)
        else:
            others.append(j)
    # a part of a frame takes as long as some of its columns one by one
    one_by_one = 3 * len(words) > len(names)
    series = dict(enumerate(each for _, each in frame.items())) if one_by_one else {}
    for dtype, places in alike.items():
        if one_by_one:
            values = np.array([series[j].to_numpy() for j in places]).T
        else:
            part = frame if len(places) == len(names) else frame.iloc[:, places]
            values = part.to_numpy()
        yield Block(np.array(places), "boolean" if dtype.kind == "b" else "numeric", values)
    if others:
        rest = _narwhals_blocks(_as_narwhals(frame.iloc[:, others]), [names[j] for j in others])
        yield from (replace(block, columns=np.array(others)[block.columns]) for block in rest)
    series = series or {j: frame.iloc[:, j] for j in words}
    yield from side_by_side((j, *_read_pandas_words(series[j], names[j])) for j in words)


def _read_pandas_words(series: Any, name: str) -> tuple[Kind, Array, list[Any] | None]:
    """The kind, values and categories of a pandas series of categories, strings or objects."""
    from pandas.api.types import infer_dtype

    if hasattr(series.array, "categories"):
        column = series.array
        return "categorical", *number_levels(column.codes, column.categories.tolist(), name)
    if infer_dtype(series, skipna=True) != "string":
        return read_objects(series.tolist(), name)
    codes, words = series.factorize()
    return "string", *number_levels(codes, words.tolist(), name)


def _narwhals_blocks(frame: Any, names: Sequence[str]) -> Iterator[Block]:
    """Numbers and booleans as one array for each dtype, the rest column by column."""
    import narwhals as nw

    alike: dict[Any, list[int]] = {}
    for j, dtype in enumerate(frame.collect_schema().values()):
        alike.setdefault(dtype, []).append(j)
    as_objects = (nw.String, nw.Object, nw.Unknown, nw.Int128, nw.UInt128, nw.Time)
    labels, objects = frame.columns, list[int]()
    for dtype, places in alike.items():
        if dtype in (*as_objects, nw.Categorical, nw.Enum):
            objects += places
        elif dtype.is_numeric() or dtype == nw.Boolean:
            kind: Kind = "boolean" if dtype == nw.Boolean else "numeric"
            part = frame if len(places) == len(names) else frame[:, places]
            native = part.to_native()
            arrow = hasattr(native, "itercolumns")  # columns of pyarrow need no transpose
            values = np.array([*map(np.asarray, native.columns)]).T if arrow else part.to_numpy()
            if values.dtype.kind == "O":
                floats = [each.cast(nw.Float64).to_numpy() for each in part.iter_columns()]
                values = np.array(floats).T
            if values.dtype.kind == "f" and not dtype.is_float():  # integers with gaps, or decimals
                for j in find_inexact(values):
                    raise inexact(names[places[j]])
            yield Block(np.array(places), kind, values)
        elif dtype.is_temporal():
            values = np.array([days(frame[labels[j]].to_numpy()) for j in places]).T
            yield Block(np.array(places), "numeric", values, dates=True)
        else:
            raise DataError(f"column {names[places[0]]!r} holds {dtype} values; {ACCEPTED}")
    yield from side_by_side((j, *_read_series(frame[labels[j]], names[j])) for j in sorted(objects))


def _read_series(series: Any, name: str) -> tuple[Kind, Array, list[Any] | None]:
    """The kind, values and categories of a column of strings, categories or Python objects."""
    import narwhals as nw

    native, categorical = series.to_native(), series.dtype in (nw.Categorical, nw.Enum)
    words = categorical or series.dtype == nw.String
    if words and hasattr(native, "dictionary_encode") and len(native):  # of pyarrow
        return ("categorical" if categorical else "string"), *read_dictionary(native, name)
    return read_objects(series.to_list(), name, categorical=categorical)


def _as_narwhals(X: Any) -> Any:
    """A frame or a series of narwhals; names of a frame that may repeat, or be no strings, go."""
    import narwhals as nw
    from narwhals.dependencies import is_pandas_like_dataframe, is_pyarrow_table

    if is_pyarrow_table(X):
        X = X.rename_columns([str(j) for j in range(X.num_columns)])
    elif is_pandas_like_dataframe(X):
        X = X.copy(deep=False)
        X.columns = [str(j) for j in range(X.shape[1])]
    return nw.from_native(X, pass_through=True, allow_series=True)


def open_table(X: Any) -> tuple[Any, Sequence[str]]:
    """Return X as an array, CSC matrix, pandas or narwhals series or frame; and its names."""
    if hasattr(type(X), "tocsc"):
        X = X.tocsc() if X.ndim == 2 else X
    elif isinstance(X, np.ndarray | list | tuple):
        X = as_array(X)
    else:
        import narwhals as nw
        from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

        X = nw.to_native(batch_as_table(X), pass_through=True)
        names = [str(name) for name in labels_of(X)]
        if is_pandas_dataframe(X) or is_pandas_series(X):
            return X, names
        X = _as_narwhals(X)
        if isinstance(X, nw.DataFrame):
            return X, names
        X = X if isinstance(X, nw.Series) else as_array(X)
    return X, default_names(X.shape[1] if len(X.shape) == 2 else 0)


@lru_cache(maxsize=2)  # many names take longer than other checks
def default_names(n: int) -> tuple[str, ...]:
    """The names of columns without names."""
    return tuple(f"x{j}" for j in range(n))


def as_array(X: Any) -> Array:
    """Rows as an array; of objects, if numbers stand beside strings."""
    _refuse_masked(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError("the rows have different lengths; give each as many values") from error
    if array.ndim == 0:
        raise DataError(f"got a {type(X).__name__}; give an array, a frame or a list of rows")
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        return np.array(X, dtype=object)  # numpy makes strings of the numbers beside them
    return array


def _refuse_masked(X: Any) -> None:
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):  # those of pandas have masks too
        raise DataError("an array has masked values; pass X.astype(float).filled(np.nan)")


def batch_as_table(X: Any) -> Any:
    """A record batch of arrow as a table of one, all else as it is; lazy frames are refused."""
    if hasattr(type(X), "num_rows") and not hasattr(X, "to_batches"):
        from pyarrow import Table as ArrowTable

        return ArrowTable.from_batches([X])
    if hasattr(type(X), "collect"):
        import narwhals as nw

        if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
            raise DataError("X is a lazy frame; read it into memory first, e.g. X.collect()")
    return X


def named_frame(X: Any) -> Any:
    """X as scikit-learn can read its names: no record batch, and not two columns of one name."""
    X = batch_as_table(X)
    _refuse_masked(X)
    refuse_twins(labels_of(X), "X")
    return X


def labels_of(X: Any) -> Any:
    """The labels of the columns of a frame; none for other tables."""
    known = (name for name in ("column_names", "columns") if hasattr(type(X), name))
    return getattr(X, next(known, ""), ())


def is_frame(X: Any) -> bool:
    """Whether X is a pandas, polars or pyarrow table."""
    return hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")


def is_dask(X: Any) -> bool:
    """Whether X is an array or a frame of dask, in chunks that are yet to be made."""
    return hasattr(X, "__dask_graph__")
