"""Columns of Python objects: strings, categories, and whatever else a frame calls object."""

from __future__ import annotations

from itertools import compress
from types import NoneType
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from bestk.data.dates import DATES, DURATIONS, TIMES, days_of_objects
from bestk.data.whole import EXACT, exact_numbers

__all__ = ["WANTED", "Kind", "read_objects", "refuse_inexact"]

Kind = Literal["numeric", "categorical", "boolean", "string"]
WANTED = "a column holds numbers, booleans, strings, categories or dates: convert it or drop it"

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
) -> tuple[Kind, NDArray[Any], list[Any] | None]:
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
        raise ValueError(f"column {name!r} holds {' and '.join(strange)} values; {WANTED}")
    gone = np.zeros(len(column), dtype=bool)
    if types != {str}:
        gone[:] = [type(value) in absent or value != value for value in column]
    known = list(compress(column, ~gone))
    families = {_family(t) for t in set(map(type, known))}
    if categorical or families in ({"string"}, {"bytes"}):
        codes, categories = _factorise(known, gone, name)
        return ("categorical" if categorical else "string"), codes, categories
    if len(families) > 1:
        _refuse_mixed(known, name)
    if families & {"date", "duration", "time"}:
        return "numeric", _with_gaps(days_of_objects(known), gone), None
    kind: Kind = "boolean" if families == {"boolean"} else "numeric"
    return kind, _numbers(known, gone, name), None


def refuse_inexact(values: NDArray[Any], name: str) -> None:
    """Refuse whole numbers that float64, which has room for NaN, cannot tell apart."""
    if ((values >= EXACT) | (values <= -EXACT)).any():
        raise ValueError(
            f"column {name!r} has missing values beside integers of 2**53 or more; "
            "pass it as strings or categories"
        )


def _family(type_: type) -> str | None:
    return next((name for name, types in FAMILIES.items() if issubclass(type_, types)), None)


def _factorise(
    known: list[Any], gone: NDArray[np.bool_], name: str
) -> tuple[NDArray[np.int32], list[Any]]:
    try:
        categories = sorted(set(known))
    except TypeError:
        _refuse_mixed(known, name)
    place = {value: code for code, value in enumerate(categories)}
    codes = np.full(len(gone), -1, dtype=np.int32)
    codes[~gone] = np.fromiter(map(place.__getitem__, known), np.int32, len(known))
    return codes, categories


def _numbers(known: list[Any], gone: NDArray[np.bool_], name: str) -> NDArray[Any]:
    values = exact_numbers(known, name)
    if not gone.any():
        return values
    if values.dtype.kind in "iu":
        refuse_inexact(values, name)
    return _with_gaps(values, gone)


def _with_gaps(values: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    filled = np.full(len(gone), np.nan)
    filled[~gone] = values
    return filled


def _refuse_mixed(known: list[Any], name: str) -> NoReturn:
    came = " and ".join(sorted({type(value).__name__ for value in known}))
    raise ValueError(f"column {name!r} mixes {came} values; make them all of one type")
