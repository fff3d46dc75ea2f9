"""Cutting a table to some of its columns, whatever it is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config

from bestk.data.table import as_array, batch_as_table


def is_frame(X: Any) -> bool:
    """Whether X is a pandas, polars or pyarrow table."""
    return not isinstance(X, np.ndarray | list | tuple) and (
        hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")
    )


def keep_columns(estimator: Any, X: Any, mask: NDArray[np.bool_]) -> Any:
    """Some columns of X: a frame stays one where ``set_output`` asks for its kind."""
    if hasattr(X, "__dask_graph__") and hasattr(X, "chunks"):
        return X[:, np.flatnonzero(mask)]  # an array of dask stays one
    output = _get_output_config("transform", estimator=estimator)["dense"]
    if is_frame(X) and output != "default" and type(X).__module__.split(".")[0] == output:
        return _safe_indexing(X, np.flatnonzero(mask), axis=1)
    if is_frame(X) or isinstance(X, list | tuple):
        X = _frame_array(X) if is_frame(X) else as_array(X)
    return X[:, np.flatnonzero(mask)]


def _frame_array(X: Any) -> NDArray[Any]:
    """The values of a frame as one array; of objects, if its columns are of several kinds."""
    import narwhals as nw

    return np.asarray(nw.from_native(batch_as_table(X)).to_numpy())
