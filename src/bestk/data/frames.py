"""Tables of any kind as arrays, CSC matrices or narwhals frames; which values are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bestk._typing import Array, Indices, Mask
from bestk.errors import DataError

MAX_EXACT = 2**53  # float64 represents all whole numbers below
LAZY = "X is a lazy frame; read it into memory first, e.g. X.collect()"


class NumberedNames(Sequence[str]):
    """The names x0, x1, ... of columns without names; none of them is stored."""

    def __init__(self, n: int) -> None:
        self._places = range(n)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        found = self._places[index]
        return [f"x{i}" for i in found] if isinstance(found, range) else f"x{found}"


def open_table(X: Any) -> tuple[Any, Sequence[str]]:
    """Return X as an array, CSC matrix, narwhals series or frame of unique names; and its names."""
    if hasattr(type(X), "tocsc"):
        X = X.tocsc() if X.ndim == 2 else X
    elif isinstance(X, np.ndarray | list | tuple):
        X = as_array(X)
    else:
        import narwhals as nw

        _check_eager(X)
        X, names = _number_columns(batch_as_table(nw.to_native(X, pass_through=True)))
        X = nw.from_native(X, pass_through=True, allow_series=True)
        if isinstance(X, nw.LazyFrame):
            raise DataError(LAZY)
        if isinstance(X, nw.DataFrame):
            return X, names or X.columns
        X = X if isinstance(X, nw.Series) else as_array(X)
    return X, NumberedNames(X.shape[1] if len(X.shape) == 2 else 0)


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
    if (
        array.dtype.kind == "f"
        and not isinstance(X, np.ndarray)
        and (np.abs(array) >= MAX_EXACT).any()
    ):
        return np.array(X, dtype=object)  # numpy rounds integers beside fractions
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


def named_frame(X: Any) -> Any:
    """X as scikit-learn can read its names: no record batch, and not two columns of one name."""
    _check_eager(X)
    X = batch_as_table(X)
    refuse_twins(getattr(X, "column_names", getattr(X, "columns", ())), "X")
    return X


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


def batch_as_table(X: Any) -> Any:
    """A record batch of arrow as a table of one; all else as it is."""
    if hasattr(X, "num_rows") and not hasattr(X, "to_batches"):
        from pyarrow import Table as ArrowTable

        return ArrowTable.from_batches([X])
    return X


def _check_eager(X: Any) -> None:
    import narwhals as nw

    if hasattr(X, "collect") and isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise DataError(LAZY)


def _number_columns(X: Any) -> tuple[Any, list[str]]:
    """Number the columns of a frame whose names may repeat, or not be strings."""
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


def check_exact(values: Any, names: Sequence[str]) -> None:
    """Refuse columns of whole numbers that float64 cannot represent exactly.

    ``values`` is an array or a CSC matrix of integers, or of floats that were integers.
    """
    if len(wrong := exceeding(values)):
        raise inexact(names[wrong[0]])


def check_finite(where: str, values: Array) -> None:
    """Refuse infinite values."""
    if count := np.isinf(values).sum():
        raise DataError(f"{where} has {count} infinite values; replace them or drop those rows")


def exceeding(values: Any) -> Indices:
    """The columns of an array or a CSC matrix with values of 2**53 or more, or -2**53 or less."""
    if values.dtype.kind in "iu" and values.dtype.itemsize < 8:
        return np.empty(0, np.int64)
    if hasattr(values, "tocsc"):
        low, high = (np.ravel(most.toarray()) for most in (values.min(axis=0), values.max(axis=0)))
    else:
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return np.flatnonzero((low <= -MAX_EXACT) | (high >= MAX_EXACT))


def inexact(name: str) -> DataError:
    """The error for a column of whole numbers that float64 cannot represent."""
    return DataError(
        f"column {name!r} holds whole numbers of 2**53 or more, which float64 cannot tell apart; "
        "exclude it, pass it as strings or categories, or subtract a constant"
    )
