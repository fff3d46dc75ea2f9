"""Columns of Python objects as arrays: categories, numbers, dates as days."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import compress
from types import NoneType
from typing import Any

import numpy as np

from bestk._typing import Array, Floats
from bestk.errors import DataError
from bestk.tables.table import Kind, find_inexact, inexact

ACCEPTED = "a column holds numbers, booleans, strings, categories or dates: convert it or drop it"
DAY = 86_400_000_000  # microseconds

# booleans and durations come before the integers that they also are
FAMILIES: dict[str, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "date": (date, np.datetime64),
    "duration": (timedelta, np.timedelta64),
    "time": (time,),
    "numeric": (int, float, np.integer, np.floating, Decimal),
    "string": (str,),
    "bytes": (bytes,),
}


def read_objects(
    column: list[Any], name: str, *, categorical: bool = False
) -> tuple[Kind, Array, list[Any] | None]:
    """The kind, the values and the categories, if it has any, of a column."""
    types = set(map(type, column))
    absent = {t for t in types if t is NoneType or t.__name__ == "NAType"}
    strange = sorted(t.__name__ for t in types - absent if _family(t) is None)
    if strange and not categorical:
        raise DataError(f"column {name!r} holds {' and '.join(strange)} values; {ACCEPTED}")
    gone = np.zeros(len(column), dtype=bool)
    if types != {str}:
        gone[:] = [type(value) in absent or value != value for value in column]
    known = list(compress(column, (~gone).tolist())) if gone.any() else column
    families = {_family(t) for t in set(map(type, known))}
    if categorical or families in ({"string"}, {"bytes"}):
        place, codes = dict[Any, int](), np.full(len(gone), -1)
        codes[~gone] = [place.setdefault(value, len(place)) for value in known]
        kind: Kind = "categorical" if categorical else "string"
        return kind, *number_levels(codes, list(place), name)
    if len(families) > 1:
        raise _mixed(known, name)
    if families & {"date", "duration", "time"}:
        unit = "M8[us]" if families == {"date"} else "m8[us]"
        values = days(np.array(list(map(_plain, known)), unit))
    else:
        if Decimal in types:
            known = [float(value) if isinstance(value, Decimal) else value for value in known]
        values = np.array(known)
        whole = gone.any() and values.dtype.kind in "iu"
        if values.dtype.kind == "O" or (whole and len(find_inexact(values[:, None]))):
            raise inexact(name)
    if gone.any():
        filled = np.full(len(gone), np.nan)
        filled[~gone] = values
        values = filled
    return ("boolean" if families == {"boolean"} else "numeric"), values, None


def _family(type_: type) -> str | None:
    if type_.__name__ == "Period":  # of pandas
        return "date"
    return next((name for name, types in FAMILIES.items() if issubclass(type_, types)), None)


def read_dictionary(column: Any, name: str) -> tuple[Array, list[Any]]:
    """The codes and the sorted levels of a pyarrow column of strings or categories."""
    if str(column.type) == "string_view":
        column = column.cast("string")
    encoded = column if hasattr(column.type, "index_type") else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    codes = [np.asarray(each.indices.cast("int64").fill_null(-1)) for each in chunks]
    return number_levels(np.concatenate(codes), chunks[0].dictionary.to_pylist(), name)


def number_levels(codes: Array, labels: list[Any], name: str) -> tuple[Array, list[Any]]:
    """New codes, and the sorted labels that occur, from codes of labels in any order."""
    found = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    known = [label for label in compress(labels, found) if label is not None and label == label]
    try:
        levels = sorted(set(known))
    except TypeError as error:
        raise _mixed(known, name) from error
    place = {label: code for code, label in enumerate(levels)}
    dtype = np.min_scalar_type(-max(1, len(levels)))
    lookup = np.array([*(place.get(label, -1) for label in labels), -1], dtype)  # the last is of -1
    return lookup[codes], levels


def _mixed(known: list[Any], name: str) -> DataError:
    came = " and ".join(sorted({type(value).__name__ for value in known}))
    return DataError(f"column {name!r} mixes {came} values; convert them to one type")


def days(values: Array) -> Floats:
    """Dates as days since 1970-01-01, durations in days; NaN where they are NaT."""
    fine = values.astype("m8[us]" if values.dtype.kind == "m" else "M8[us]")
    return np.where(np.isnat(values), np.nan, fine.astype(np.int64) / DAY)


def _plain(value: Any) -> Any:
    """A value that numpy reads: moments in universal time, times of day as durations."""
    if hasattr(value, "start_time"):  # a period
        return value.start_time.to_pydatetime()
    if isinstance(value, time):
        return timedelta(0, value.hour * 3600 + value.minute * 60 + value.second, value.microsecond)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
