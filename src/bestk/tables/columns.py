"""Columns of Python objects as arrays: categories, numbers, dates as days."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import compress
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices, Mask
from bestk.errors import DataError
from bestk.tables.table import Column, find_inexact, inexact

ACCEPTED = "a column holds numbers, booleans, strings, categories or dates: convert it or drop it"

MICROSECONDS_OF_A_DAY = 86_400_000_000

# The types of each family of values that may stand in one column. Booleans and durations come
# before the integers that they also are.
FAMILIES: dict[str, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "date": (date, np.datetime64),
    "duration": (timedelta, np.timedelta64),
    "time": (time,),
    "numeric": (int, float, np.integer, np.floating, Decimal),
    "string": (str,),
    "bytes": (bytes,),
}


class Levels(NamedTuple):
    """A column of categories: the code of each value, -1 where missing, and the sorted levels."""

    codes: Array
    levels: list[Any]


def read_objects(column: list[Any], name: str, *, categorical: bool = False) -> Column:
    """Read a column of Python objects.

    None, NaN and NA of pandas are missing. Strings, and all values of a ``categorical`` column,
    are categories; dates and durations are days.
    """
    types = set(map(type, column))
    missing_types = {type_ for type_ in types if _means_missing(type_)}
    if not categorical:
        _refuse_strange_types(types - missing_types, name)
    is_missing = _find_missing(column, missing_types, only_strings=types == {str})
    present = column
    if is_missing.any():
        present = list(compress(column, (~is_missing).tolist()))
    families = {_family(type_) for type_ in set(map(type, present))}
    if categorical or families in ({"string"}, {"bytes"}):
        codes, levels = _encode_values(present, is_missing, name)
        return Column("categorical" if categorical else "string", codes, levels)
    if len(families) > 1:
        raise _mixed(present, name)
    if families & {"date", "duration", "time"}:
        unit = "M8[us]" if families == {"date"} else "m8[us]"
        moments = np.array([_plain(value) for value in present], unit)
        values: Array = days(moments)
    else:
        values = _as_numbers(present, name, with_missing=bool(is_missing.any()))
    if is_missing.any():
        filled = np.full(len(is_missing), np.nan)
        filled[~is_missing] = values
        values = filled
    return Column("boolean" if families == {"boolean"} else "numeric", values, None)


def _means_missing(type_: type) -> bool:
    """Whether a value of a type is missing: None, or NA of pandas."""
    return type_ is NoneType or type_.__name__ == "NAType"


def _refuse_strange_types(types: set[type], name: str) -> None:
    """Refuse types that no column holds."""
    strange = sorted(type_.__name__ for type_ in types if _family(type_) is None)
    if strange:
        raise DataError(f"column {name!r} holds {' and '.join(strange)} values; {ACCEPTED}")


def _find_missing(column: list[Any], missing_types: set[type], only_strings: bool) -> Mask:
    """Whether each value is missing: of one of the types, or not equal to itself, as NaN."""
    if only_strings:
        return np.zeros(len(column), dtype=bool)
    is_missing = [type(value) in missing_types or value != value for value in column]
    return np.array(is_missing, dtype=bool)


def _encode_values(present: list[Any], is_missing: Mask, name: str) -> Levels:
    """The categories of a column, given those of its values that are present."""
    place_of: dict[Any, int] = {}
    codes = np.full(len(is_missing), -1)
    # A value that has not been seen yet takes the next place.
    codes[~is_missing] = [place_of.setdefault(value, len(place_of)) for value in present]
    return number_levels(codes, list(place_of), name)


def _as_numbers(present: list[Any], name: str, with_missing: bool) -> Array:
    """Numbers or booleans as an array; refuse those that float64 cannot represent if it has to.

    It has to ``with_missing`` values, which are NaN.
    """
    numbers = [float(value) if isinstance(value, Decimal) else value for value in present]
    values = np.array(numbers)
    if values.dtype.kind == "O":
        raise inexact(name)
    becomes_float = with_missing and values.dtype.kind in "iu"
    if becomes_float and len(find_inexact(values[:, np.newaxis])):
        raise inexact(name)
    return values


def _family(type_: type) -> str | None:
    """The family of values of a type; None for types that no column holds."""
    if type_.__name__ == "Period":  # of pandas
        return "date"
    for family, types in FAMILIES.items():
        if issubclass(type_, types):
            return family
    return None


def read_dictionary(column: Any, name: str) -> Levels:
    """Read a pyarrow column of strings or categories."""
    if str(column.type) == "string_view":
        column = column.cast("string")
    is_encoded = hasattr(column.type, "index_type")
    encoded = column if is_encoded else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    codes = [chunk.indices.cast("int64").fill_null(-1) for chunk in chunks]
    all_codes = np.concatenate([np.asarray(of_chunk) for of_chunk in codes])
    labels = chunks[0].dictionary.to_pylist()
    return number_levels(all_codes, labels, name)


def number_levels(codes: Indices | Array, labels: list[Any], name: str) -> Levels:
    """Number the labels that occur in their order, whatever codes they have had.

    ``codes`` are places among the labels, -1 where missing. Labels may repeat; those that are None
    or NaN are missing. ``name`` is that of the column, for errors.
    """
    occurs = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    present = [label for label in compress(labels, occurs) if _is_label(label)]
    try:
        levels = sorted(set(present))
    except TypeError as error:
        raise _mixed(present, name) from error
    code_of = {label: code for code, label in enumerate(levels)}
    new_codes = [code_of.get(label, -1) for label in labels]
    # The last one is of -1, the code of missing values.
    new_codes.append(-1)
    dtype = np.min_scalar_type(-max(1, len(levels)))
    return Levels(np.array(new_codes, dtype)[codes], levels)


def _is_label(label: Any) -> bool:
    return label is not None and label == label


def _mixed(present: list[Any], name: str) -> DataError:
    """The error for a column with values of several families."""
    types = " and ".join(sorted({type(value).__name__ for value in present}))
    return DataError(f"column {name!r} mixes {types} values; convert them to one type")


def days(values: Array) -> Floats:
    """Dates as days since 1970-01-01, durations in days; NaN where they are NaT."""
    unit = "m8[us]" if values.dtype.kind == "m" else "M8[us]"
    microseconds = values.astype(unit).astype(np.int64)
    return np.where(np.isnat(values), np.nan, microseconds / MICROSECONDS_OF_A_DAY)


def _plain(value: Any) -> Any:
    """A value that numpy reads: moments in universal time, times of day as durations."""
    if hasattr(value, "start_time"):  # a period of pandas
        return value.start_time.to_pydatetime()
    if isinstance(value, time):
        return timedelta(
            hours=value.hour,
            minutes=value.minute,
            seconds=value.second,
            microseconds=value.microsecond,
        )
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
