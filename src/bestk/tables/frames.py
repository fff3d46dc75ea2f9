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
    Column,
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
    if isinstance(X, Table):
        table = X
    else:
        source, names = open_table(X)
        table = _read_source(source, names)
    if not table.n_samples or not table.n_features:
        size = f"{table.n_samples} rows and {table.n_features} columns"
        raise DataError(f"the table is empty: it has {size}; at least one of each is needed")
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
    categorical = find_features(categorical_features, table)
    return parse_text(table, keep=categorical.tolist())


def _read_source(source: Any, names: Sequence[str]) -> Table:
    """Read a table as :func:`open_table` returns it."""
    refuse_shape(source.shape)
    if hasattr(source, "iloc"):
        blocks = list(_pandas_blocks(source, names))
    elif hasattr(source, "collect_schema"):
        blocks = list(_narwhals_blocks(source, names))
    else:
        blocks = _array_blocks(source, names)
    return Table(source.shape[0], names, tuple(blocks))


def _array_blocks(array: Any, names: Sequence[str]) -> list[Block]:
    """The blocks of an array or a sparse matrix; of an array of objects, by columns."""
    columns = np.arange(len(names))
    if array.dtype.kind == "b":
        return [Block(columns, "boolean", array)]
    if array.dtype.kind in "iuf":
        return [Block(columns, "numeric", array)]
    if array.dtype.kind in "Mm":
        return [Block(columns, "numeric", days(array), dates=True)]
    if array.dtype.kind in "OUST":
        lists = (array[:, j].tolist() for j in range(len(names)))
        read = (read_objects(values, name) for values, name in zip(lists, names, strict=True))
        return list(side_by_side(enumerate(read)))
    raise DataError(f"the table holds {array.dtype}; {ACCEPTED}")


def _pandas_blocks(frame: Any, names: Sequence[str]) -> Iterator[Block]:
    """Yield numbers and booleans in a block for each dtype, then text, and the rest by narwhals."""
    columns_of_dtype: dict[Any, list[int]] = {}
    words: list[int] = []
    others: list[int] = []
    for j, dtype in enumerate(frame.dtypes):
        if isinstance(dtype, np.dtype) and dtype in TABLE_TYPES:
            columns_of_dtype.setdefault(dtype, []).append(j)
        elif _holds_words(dtype):
            words.append(j)
        else:
            others.append(j)
    # To take some columns of a frame at once takes as long as to take a third of all one by one.
    one_by_one = 3 * len(words) > len(names)
    all_series = [series for _, series in frame.items()] if one_by_one else None
    for dtype, places in columns_of_dtype.items():
        if all_series is not None:
            by_column = np.array([all_series[j].to_numpy() for j in places])
            values = by_column.T
        elif len(places) == len(names):
            values = frame.to_numpy()
        else:
            values = frame.iloc[:, places].to_numpy()
        kind: Kind = "boolean" if dtype.kind == "b" else "numeric"
        yield Block(np.array(places), kind, values)
    if others:
        frame_of_others = _as_narwhals(frame.iloc[:, others])
        for block in _narwhals_blocks(frame_of_others, [names[j] for j in others]):
            yield replace(block, columns=np.array(others)[block.columns])
    if all_series is None:
        series_of_words = {j: frame.iloc[:, j] for j in words}
    else:
        series_of_words = {j: all_series[j] for j in words}
    yield from side_by_side(
        (j, _read_pandas_words(series, names[j])) for j, series in series_of_words.items()
    )


def _holds_words(dtype: Any) -> bool:
    """Whether a dtype of pandas is of categories, strings or Python objects."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
        return True
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _read_pandas_words(series: Any, name: str) -> Column:
    """Read a pandas series of categories, strings or objects."""
    from pandas.api.types import infer_dtype

    if hasattr(series.array, "categories"):
        column = series.array
        codes, levels = number_levels(column.codes, column.categories.tolist(), name)
        return Column("categorical", codes, levels)
    if infer_dtype(series, skipna=True) != "string":
        return read_objects(series.tolist(), name)
    places, words = series.factorize()
    codes, levels = number_levels(places, words.tolist(), name)
    return Column("string", codes, levels)


def _narwhals_blocks(frame: Any, names: Sequence[str]) -> Iterator[Block]:
    """Yield numbers, booleans and dates in a block for each dtype, then the rest by columns."""
    import narwhals as nw

    words_or_objects = (
        nw.String,
        nw.Categorical,
        nw.Enum,
        nw.Object,
        nw.Unknown,
        nw.Int128,
        nw.UInt128,
        nw.Time,
    )
    columns_of_dtype: dict[Any, list[int]] = {}
    for j, dtype in enumerate(frame.collect_schema().values()):
        columns_of_dtype.setdefault(dtype, []).append(j)
    labels = frame.columns
    objects: list[int] = []
    for dtype, places in columns_of_dtype.items():
        if dtype in words_or_objects:
            objects += places
        elif dtype.is_numeric() or dtype == nw.Boolean:
            kind: Kind = "boolean" if dtype == nw.Boolean else "numeric"
            # To take columns of a frame takes long; most often it is all of them.
            same_type = frame if len(places) == len(names) else frame[:, places]
            values = _narwhals_numbers(same_type, dtype, [names[j] for j in places])
            yield Block(np.array(places), kind, values)
        elif dtype.is_temporal():
            series = [frame[labels[j]] for j in places]
            by_column = np.array([days(dates.to_numpy()) for dates in series])
            yield Block(np.array(places), "numeric", by_column.T, dates=True)
        else:
            raise DataError(f"column {names[places[0]]!r} holds {dtype} values; {ACCEPTED}")
    yield from side_by_side((j, _read_series(frame[labels[j]], names[j])) for j in sorted(objects))


def _narwhals_numbers(frame: Any, dtype: Any, names: Sequence[str]) -> Array:
    """The columns of a frame of narwhals, all of which are of one type of numbers, as an array."""
    import narwhals as nw

    native = frame.to_native()
    if hasattr(native, "itercolumns"):
        # Columns of pyarrow need no transpose.
        by_column = np.array([np.asarray(column) for column in native.columns])
        values = by_column.T
    else:
        values = frame.to_numpy()
    if values.dtype.kind == "O":
        floats = [column.cast(nw.Float64).to_numpy() for column in frame.iter_columns()]
        values = np.array(floats).T
    if values.dtype.kind == "f" and not dtype.is_float():
        # These were integers with missing values, or decimals.
        for j in find_inexact(values):
            raise inexact(names[j])
    return np.asarray(values)


def _read_series(series: Any, name: str) -> Column:
    """Read a series of narwhals that holds strings, categories or Python objects."""
    import narwhals as nw

    native = series.to_native()
    is_categorical = series.dtype in (nw.Categorical, nw.Enum)
    holds_words = is_categorical or series.dtype == nw.String
    if holds_words and hasattr(native, "dictionary_encode") and len(native):  # of pyarrow
        codes, levels = read_dictionary(native, name)
        return Column("categorical" if is_categorical else "string", codes, levels)
    return read_objects(series.to_list(), name, categorical=is_categorical)


def _as_narwhals(X: Any) -> Any:
    """A frame or a series of narwhals; a frame has numbers for names, since names may repeat."""
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
        table = X.tocsc() if X.ndim == 2 else X
        return table, _names_of_shape(table.shape)
    if isinstance(X, np.ndarray | list | tuple):
        array = as_array(X)
        return array, _names_of_shape(array.shape)
    return _open_frame(X)


def _open_frame(X: Any) -> tuple[Any, Sequence[str]]:
    """A frame or a series of any library, or what numpy makes of another object; and its names."""
    import narwhals as nw
    from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

    native = nw.to_native(batch_as_table(X), pass_through=True)
    names = [str(name) for name in labels_of(native)]
    if is_pandas_dataframe(native) or is_pandas_series(native):
        return native, names
    table = _as_narwhals(native)
    if isinstance(table, nw.DataFrame):
        return table, names
    if not isinstance(table, nw.Series):
        table = as_array(table)
    return table, _names_of_shape(table.shape)


def _names_of_shape(shape: tuple[int, ...]) -> Sequence[str]:
    """The names of the columns of a table without names; none for other shapes."""
    return default_names(shape[1] if len(shape) == 2 else 0)


# Kept, since to make very many names takes longer than other checks.
@lru_cache(maxsize=2)
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
        # Numpy has made strings of the numbers beside them.
        return np.array(X, dtype=object)
    return array


def _refuse_masked(X: Any) -> None:
    """Refuse arrays of numpy with masked values; series of pandas have masks, too."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
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
    frame = batch_as_table(X)
    _refuse_masked(frame)
    refuse_twins(labels_of(frame), "X")
    return frame


def labels_of(X: Any) -> Any:
    """The labels of the columns of a frame; none for other tables."""
    for attribute in ("column_names", "columns"):
        if hasattr(type(X), attribute):
            return getattr(X, attribute)
    return ()


def is_frame(X: Any) -> bool:
    """Whether X is a pandas, polars or pyarrow table."""
    return hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")


def is_dask(X: Any) -> bool:
    """Whether X is an array or a frame of dask, in chunks that are yet to be made."""
    return hasattr(X, "__dask_graph__")
