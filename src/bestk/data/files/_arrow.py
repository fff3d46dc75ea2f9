"""pyarrow where it is installed: its errors in plain words, its columns as arrays."""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bestk._memory import free_memory, is_limited
from bestk._typing import Array, Mask
from bestk.data.dates import days
from bestk.errors import DataError

Role = Literal["number", "boolean", "date", "text", "category"]
EXTRA = "tables in files need pyarrow, which is not installed; run: pip install 'bestk[cli]'"
MIN_FREE_BYTES = 2**28  # for the threads of pyarrow, which end the process where they get none
LONG_LINE = "has a line that is too long to read; is a quotation mark or a line feed missing?"
RECODE = "convert it first, e.g. iconv -f latin1 -t utf-8 OLD > NEW"


class WrongTypeError(DataError):
    """A column turned out to be of another type than its first rows suggest."""


def arrow(module: str = "") -> Any:
    """``pyarrow``, or one of its modules."""
    if is_limited():  # its own pool of memory reserves 1 GiB, and ends the process where it may not
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        pyarrow = import_module("pyarrow")
        return import_module(f"pyarrow.{module}") if module else pyarrow
    except ImportError as error:
        raise ImportError(EXTRA) from error


def check_free_memory(path: Path, block: int) -> None:
    """Refuse to read where addresses are limited to fewer than pyarrow needs."""
    needed = MIN_FREE_BYTES + 4 * block
    if is_limited() and free_memory() < needed:
        raise MemoryError(f"to read {path} takes {needed / 2**30:.2g} GiB")


@contextmanager
def plain_errors(path: Path, wanted: str) -> Iterator[None]:
    """Raise what goes wrong with a file as an error of one plain line."""
    faults = (UnicodeError, EOFError, zlib.error, arrow().ArrowException)
    try:
        yield
    except faults as error:
        said = _first_line(error)
        if isinstance(error, UnicodeError) or "invalid UTF8" in said:
            raise DataError(f"{path} is not UTF-8 text; {RECODE}") from error
        if "conversion error" in said:
            raise WrongTypeError(f"{path}: {said}") from error
        if "straddling object" in said:
            raise DataError(f"{path} {LONG_LINE}") from error
        raise DataError(f"{path} is not {wanted}: {said}") from error
    except OSError as error:
        if error.errno:
            raise
        raise DataError(f"{path} is not {wanted}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    line = lines[0].encode("ascii", "replace").decode()
    return line if len(line) <= 200 else line[:200] + " ..."


@lru_cache(maxsize=256)
def role_of(type_: Any) -> Role | None:
    """The use of a column of an arrow type; None if it can be no feature.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [role_of(t) for t in (pa.int8(), pa.bool_(), pa.date32(), pa.list_(pa.int8()))]
    ['number', 'boolean', 'date', None]
    """
    is_ = arrow("types")
    if is_.is_dictionary(type_):
        return "category"
    if is_.is_boolean(type_):
        return "boolean"
    if is_whole(type_) or is_.is_floating(type_) or is_.is_decimal(type_) or is_.is_null(type_):
        return "number"
    if is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_):
        return "text"
    return "date" if is_.is_temporal(type_) and not is_.is_interval(type_) else None


@lru_cache(maxsize=256)
def is_whole(type_: Any) -> bool:
    """Whether a column of an arrow type holds whole numbers."""
    is_ = arrow("types")
    return bool(is_.is_integer(type_) or (is_.is_decimal(type_) and type_.scale <= 0))


def known(column: Any) -> Mask:
    """Where a column is neither missing nor NaN."""
    missing = arrow("compute").is_null(column, nan_is_null=True)
    return ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)


def numbers(column: Any) -> Array:
    """A column of numbers, booleans or dates, NaN where missing."""
    for type_ in _casts(column.type):
        column = column.cast(type_)
    values = np.asarray(column.to_numpy(zero_copy_only=False))
    return days(values) if values.dtype.kind in "mM" else values


@lru_cache(maxsize=256)
def _casts(type_: Any) -> tuple[str, ...]:
    """The types to which a column is cast before numpy reads it."""
    is_ = arrow("types")
    if is_.is_time(type_):
        return ("time64[us]", "int64", "duration[us]")
    if is_.is_boolean(type_):
        return ("uint8",)
    odd = is_.is_decimal(type_) or is_.is_null(type_) or is_.is_float16(type_)
    return ("float64",) if odd else ()


def categories(column: Any) -> tuple[Array, list[Any]]:
    """The codes of a column of text or categories, -1 where missing, and what they stand for."""
    if arrow("types").is_string_view(column.type):
        column = column.cast("string")
    coded = column if hasattr(column, "indices") else column.dictionary_encode()
    codes = coded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, coded.dictionary.to_pylist()
