"""Columns of Python objects as arrays: strings, categories, numbers, dates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from types import NoneType
from typing import Any, Literal

import numpy as np

from bestk._typing import Array, Indices, Mask
from bestk.data.dates import DATES, DURATIONS, TIMES, days_of_objects
from bestk.errors import DataError

Kind = Literal["numeric", "categorical", "boolean", "string"]
ACCEPTED = "a column holds numbers, booleans, strings, categories or dates: convert it or drop it"
MAX_EXACT = 2**53  # float64 represents all whole numbers below

# booleans and durations come before the integers that they also are
FAMILIES: dict[str, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "date": DATES,
    "duration": DURATIONS,
    "time": TIMES,
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


def check_exact(values: Any, names: Sequence[str]) -> None:
    """Refuse columns of whole numbers that float64 cannot represent exactly.

    ``values`` is an array or a CSC matrix of integers, or of floats that were integers.

    Examples
    --------
    >>> check_exact(np.array([[1, 2**53], [2, 3]]), ["size", "id"])
    Traceback (most recent call last):
    bestk.errors.DataError: column 'id' holds whole numbers of 2**53 or more, ...
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


def _exact_numbers(known: list[Any], name: str, with_gaps: bool) -> Array:
    """Numbers as an array; refused if some of them are integers that are rounded."""
    values = np.array(known)
    if (with_gaps or values.dtype.kind in "fO") and any(
        isinstance(value, int | np.integer) and not -MAX_EXACT < value < MAX_EXACT
        for value in known
    ):
        raise inexact(name)
    return values


def inexact(name: str) -> DataError:
    """The error for a column of whole numbers that float64 cannot represent."""
    return DataError(
        f"column {name!r} holds whole numbers of 2**53 or more, which float64 cannot tell apart; "
        "exclude it, pass it as strings or categories, or subtract a constant"
    )


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
    return DataError(f"column {name!r} mixes {came} values; make them all of one type")
