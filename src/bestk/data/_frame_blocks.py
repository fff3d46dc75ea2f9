"""The columns of pandas, polars and pyarrow frames as blocks of one kind each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestk._typing import Array
from bestk.data.columns import ACCEPTED, days, number_levels, read_dictionary, read_objects
from bestk.data.table import Block, Kind, find_inexact, inexact, side_by_side
from bestk.errors import DataError
from bestk.native import TABLE_TYPES


def pandas_blocks(frame: Any, names: Sequence[str]) -> Iterator[Block]:
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
    for dtype, places in alike.items():
        part = frame if len(places) == len(names) else frame.iloc[:, places]
        yield Block(
            np.array(places), "boolean" if dtype.kind == "b" else "numeric", part.to_numpy()
        )
    if others:
        rest = narwhals_blocks(as_narwhals(frame.iloc[:, others]), [names[j] for j in others])
        yield from (replace(block, columns=np.array(others)[block.columns]) for block in rest)
    if words:
        columns = zip(words, frame.iloc[:, words].items(), strict=True)
        yield from side_by_side(
            (j, *_read_pandas_words(series, names[j])) for j, (_, series) in columns
        )


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


def narwhals_blocks(frame: Any, names: Sequence[str]) -> Iterator[Block]:
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
                floats = [each.cast(nw.Float64).to_numpy() for each in part.iter_columns()]
                values = np.array(floats).T
            if values.dtype.kind == "f" and not dtype.is_float():  # integers with gaps, or decimals
                for j in find_inexact(values):
                    raise inexact(names[places[j]])
            yield Block(np.array(places), kind, values)
        elif dtype.is_temporal():
            values = np.array([days(frame[labels[j]].to_numpy()) for j in places]).T
            yield Block(np.array(places), "numeric", values)
        else:
            raise DataError(f"column {names[places[0]]!r} holds {dtype} values; {ACCEPTED}")
    yield from side_by_side(
        (j, *_read_series(frame[labels[j]], names[j], categorical))
        for j, categorical in sorted(objects)
    )


def _read_series(series: Any, name: str, categorical: bool) -> tuple[Kind, Array, list[Any] | None]:
    """The kind, values and categories of a column of strings, categories or Python objects."""
    native, words = series.to_native(), categorical or str(series.dtype) == "String"
    if words and hasattr(native, "dictionary_encode") and len(native):  # of pyarrow
        return ("categorical" if categorical else "string"), *read_dictionary(native, name)
    return read_objects(series.to_list(), name, categorical=categorical)


def as_narwhals(X: Any) -> Any:
    """A frame or a series of narwhals; names of a frame that may repeat, or be no strings, go."""
    import narwhals as nw
    from narwhals.dependencies import is_pandas_like_dataframe, is_pyarrow_table

    if is_pyarrow_table(X):
        X = X.rename_columns([str(j) for j in range(X.num_columns)])
    elif is_pandas_like_dataframe(X):
        X = X.copy(deep=False)
        X.columns = [str(j) for j in range(X.shape[1])]
    return nw.from_native(X, pass_through=True, allow_series=True)
