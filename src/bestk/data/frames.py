"""Any table in, named columns out: arrays, lists, sparse matrices and frames of any library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bestk._typing import Array, Mask
from bestk.data._frame_blocks import as_narwhals, narwhals_blocks, pandas_blocks
from bestk.data.columns import ACCEPTED, days, parse_text, read_objects
from bestk.data.table import Block, Kind, Table, find_features, side_by_side
from bestk.errors import DataError


def read_table(X: Any) -> Table:
    """Read any table into named columns.

    Parameters
    ----------
    X : array, frame, sparse matrix, list of rows, or Table
        Arrays are not copied, memory-mapped ones not read, sparse matrices stay sparse; unnamed
        columns are x0, x1, ...

    Examples
    --------
    >>> table = read_table([[1.5, "red"], [None, "blue"], [2.0, "red"]])
    >>> table.kinds
    array(['numeric', 'string'], dtype=object)
    >>> table.count_missing()
    array([1, 0])
    """
    table = X if isinstance(X, Table) else _read_source(*open_table(X))
    if not table.n_samples or not table.n_features:
        came = f"{table.n_samples} rows and {table.n_features} columns"
        raise DataError(f"the table is empty: it has {came}; at least one of each is needed")
    return table


def read_column(y: Any, name: str = "y") -> Block:
    """Read one column: a series, a vector, or a table of one column.

    Examples
    --------
    >>> read_column(["no", "yes", None]).values
    array([[ 0], [ 1], [-1]], dtype=int8)
    """
    if isinstance(y, Block):
        return y
    wanted = f"{name} should be a 1d array with one value a row"
    if y is None:
        raise DataError(f"{wanted}; got None")
    source, _ = open_table(y)
    if hasattr(source, "to_frame"):  # a series
        source = source.to_frame()
    elif hasattr(source, "toarray"):
        source = source.toarray()
    elif isinstance(source, np.ndarray) and source.ndim == 1:
        source = source.reshape(-1, 1)
    if len(source.shape) != 2 or source.shape[1] != 1:
        raise DataError(f"{wanted}; got shape {source.shape}")
    return _read_source(source, [name]).blocks[0]


def read_features(X: Any, categorical_features: Any = None) -> Table:
    """Read a table in which text of numbers or dates is numeric, unless it is categorical."""
    table = read_table(X)
    if not any(block.kind == "string" for block in table.blocks):
        return table
    return parse_text(table, find_features(categorical_features, table).tolist())


def _read_source(source: Any, names: Sequence[str]) -> Table:
    refuse_shape(source.shape)
    if hasattr(source, "iloc"):
        blocks = list(pandas_blocks(source, names))
    elif hasattr(source, "collect_schema"):
        blocks = list(narwhals_blocks(source, names))
    elif source.dtype.kind in "biuf":
        kind: Kind = "boolean" if source.dtype.kind == "b" else "numeric"
        blocks = [Block(np.arange(len(names)), kind, source)]
    elif source.dtype.kind in "Mm":
        blocks = [Block(np.arange(len(names)), "numeric", days(source))]
    elif source.dtype.kind in "OUST":
        columns = ((j, *read_objects(source[:, j].tolist(), name)) for j, name in enumerate(names))
        blocks = list(side_by_side(columns))
    else:
        raise DataError(f"the table holds {source.dtype}; {ACCEPTED}")
    return Table(source.shape[0], names, tuple(blocks))


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
        if is_pandas_dataframe(X):
            return X, [str(name) for name in labels_of(X)]
        if is_pandas_series(X):
            return X, []
        names = labels_of(X)
        X = as_narwhals(X)
        if isinstance(X, nw.DataFrame):
            return X, [str(name) for name in names]
        X = X if isinstance(X, nw.Series) else as_array(X)
    return X, [f"x{j}" for j in range(X.shape[1] if len(X.shape) == 2 else 0)]


def as_array(X: Any) -> Array:
    """Rows as an array; of objects, if numbers stand beside strings."""
    X = unmask(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError("the rows have different lengths; give each as many values") from error
    if array.ndim == 0:
        raise DataError(f"got a {type(X).__name__}; give an array, a frame or a list of rows")
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        return np.array(X, dtype=object)  # numpy makes strings of the numbers beside them
    return array


def unmask(X: Any) -> Any:
    """The same with missing values for those that a numpy mask hides."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    hidden = np.ma.getmaskarray(X)
    if not hidden.any():
        return X.data
    shown = np.array(X.data, dtype=object if X.dtype.kind not in "f" else None)
    shown[hidden] = np.nan
    return shown


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
    refuse_twins(labels_of(X), "X")
    return X


def labels_of(X: Any) -> Any:
    """The labels of the columns of a frame; none for other tables."""
    return X.column_names if hasattr(type(X), "column_names") else getattr(X, "columns", ())


def refuse_twins(names: Sequence[Any], where: Any) -> None:
    """Refuse two columns of one name."""
    if len(set(names)) < len(names):
        twin = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"{where} has two columns named {twin!r}; rename one of them")


def refuse_shape(shape: tuple[int, ...]) -> None:
    """Refuse a table that does not have rows and columns."""
    if len(shape) != 2:
        raise DataError(
            f"X has shape {shape}, but a table has rows and columns; use X.reshape(-1, 1) "
            "if it is one column, X.reshape(1, -1) if it is one row"
        )


def is_frame(X: Any) -> bool:
    """Whether X is a pandas, polars or pyarrow table."""
    return not isinstance(X, np.ndarray | list | tuple) and (
        hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")
    )


def keep_columns(estimator: Any, X: Any, mask: Mask) -> Any:
    """Some columns of X: a frame stays one where ``set_output`` asks for its kind."""
    from sklearn.utils import _safe_indexing
    from sklearn.utils._set_output import _get_output_config

    if is_frame(X):
        output = _get_output_config("transform", estimator=estimator)["dense"]
        if type(X).__module__.split(".")[0] == output:
            return _safe_indexing(X, np.flatnonzero(mask), axis=1)
        import narwhals as nw

        X = np.asarray(nw.from_native(batch_as_table(X)).to_numpy())
    elif isinstance(X, list | tuple):
        X = as_array(X)
    return X[:, np.flatnonzero(mask)]


def is_dask(X: Any) -> bool:
    """Whether X is an array or a frame of dask, in chunks that are yet to be made."""
    return hasattr(X, "__dask_graph__")


def is_stream(X: Any, y: Any) -> bool:
    """Whether X is to be read block by block: anything but a table in memory."""
    if isinstance(X, str | Path) or is_dataset(X) or callable(X) or is_dask(X):
        return True
    if isinstance(X, list | tuple):
        return isinstance(y, str) or (y is None and bool(X) and all(map(_is_pair, X)))
    in_memory = is_frame(X) or any(hasattr(X, name) for name in ("shape", "__array__"))
    return hasattr(X, "__iter__") and not in_memory


def is_dataset(X: Any) -> bool:
    """Whether X is a data set of pyarrow."""
    return hasattr(X, "to_batches") and hasattr(X, "get_fragments")


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and hasattr(item[0], "shape")
