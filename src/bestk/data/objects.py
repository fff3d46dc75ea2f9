"""Columns of Python objects as arrays: strings, categories, numbers; dates as days."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import compress
from types import NoneType
from typing import Any, Literal

import numpy as np

from bestk._typing import Array, Floats, Mask
from bestk.data.frames import MAX_EXACT, inexact
from bestk.errors import DataError

Kind = Literal["numeric", "categorical", "boolean", "string"]
ACCEPTED = "a column holds numbers, booleans, strings, categories or dates: convert it or drop it"
DAY = 86_400_000_000  # microseconds

# booleans and durations come before the integers that they also are
FAMILIES: dict[str, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "date": (date, np.datetime64),
    "duration": (timedelta, np.timedelta64),
    "time": (time,),
    "numeric": (int, float, np.integer, np.floating),
    "string": (str,),
    "bytes": (bytes,),
}


def read_objects(
    column: list[Any], name: str, *, categorical: bool = False
) -> tuple[Kind, Array, list[Any] | None]:
    """Return the kind, the values and the categories, if it has any, of a column.

    Examples
    --------
    >>> read_objects(["red", None, "blue"], "colour")
    ('string', array([ 1, -1,  0], dtype=int32), ['blue', 'red'])
    >>> read_objects([1, None, 2], "rank")
    ('numeric', array([ 1., nan,  2.]), None)
    """
    types = set(map(type, column))
    absent = {t for t in types if t is NoneType or t.__name__ == "NAType"}
    strange = sorted(t.__name__ for t in types - absent if _family(t) is None)
    if strange and not categorical:
        raise DataError(f"column {name!r} holds {' and '.join(strange)} values; {ACCEPTED}")
    gone = np.zeros(len(column), dtype=bool)
    if types != {str}:
        gone[:] = [type(value) in absent or value != value for value in column]
    known = list(compress(column, ~gone))
    families = {_family(t) for t in set(map(type, known))}
    if categorical or families in ({"string"}, {"bytes"}):
        return ("categorical" if categorical else "string"), *_factorise(known, gone, name)
    if len(families) > 1:
        raise _mixed(known, name)
    if families & {"date", "duration", "time"}:
        values = days_of_objects(known)
    else:
        values = _exact_numbers(known, name, with_gaps=bool(gone.any()))
    if gone.any():
        filled = np.full(len(gone), np.nan)
        filled[~gone] = values
        values = filled
    return ("boolean" if families == {"boolean"} else "numeric"), values, None


def _exact_numbers(known: list[Any], name: str, with_gaps: bool) -> Array:
    """Numbers as an array; refused if some of them are integers that are rounded."""
    values = np.array(known)
    if (with_gaps or values.dtype.kind in "fO") and any(
        isinstance(value, int | np.integer) and not -MAX_EXACT < value < MAX_EXACT
        for value in known
    ):
        raise inexact(name)
    return values


def _family(type_: type) -> str | None:
    return next((name for name, types in FAMILIES.items() if issubclass(type_, types)), None)


def _factorise(known: list[Any], gone: Mask, name: str) -> tuple[Array, list[Any]]:
    try:
        categories = sorted(set(known))
    except TypeError as error:
        raise _mixed(known, name) from error
    place = {value: code for code, value in enumerate(categories)}
    codes = np.full(len(gone), -1, dtype=np.int32)
    codes[~gone] = np.fromiter(map(place.__getitem__, known), np.int32, len(known))
    return codes, categories


def _mixed(known: list[Any], name: str) -> DataError:
    came = " and ".join(sorted({type(value).__name__ for value in known}))
    return DataError(f"column {name!r} mixes {came} values; convert them to one type")


def days(values: Array) -> Floats:
    """Dates as days since 1970-01-01, durations in days; NaN where they are NaT."""
    fine = values.astype("m8[us]" if values.dtype.kind == "m" else "M8[us]")
    return np.where(np.isnat(values), np.nan, fine.astype(np.int64) / DAY)


def days_of_objects(known: list[Any]) -> Floats:
    """The same for Python's dates, times of day and durations, none of them missing."""
    is_date = isinstance(known[0], FAMILIES["date"])
    return days(np.array([_plain(value) for value in known], "M8[us]" if is_date else "m8[us]"))


def _plain(value: Any) -> Any:
    """A value that numpy reads: moments in universal time, times of day as durations."""
    if isinstance(value, time):
        return timedelta(0, value.hour * 3600 + value.minute * 60 + value.second, value.microsecond)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
