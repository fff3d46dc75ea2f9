"""pyarrow, where it is installed, and types in our words."""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from bestk._memory import free_memory, is_limited

Role = Literal["number", "boolean", "date", "text", "category"]
EXTRA = "tables in files need pyarrow, which is not installed; run: pip install 'bestk[cli]'"
ROOM = 2**28  # bytes that the threads of pyarrow are to find
LONG_LINE = "has a line that is too long to read; is a quotation mark or a line feed missing?"
RECODE = "convert it first, e.g. iconv -f latin1 -t utf-8 OLD > NEW"


def arrow(module: str = "") -> Any:
    """``pyarrow``, or one of its modules."""
    if is_limited():  # its own pool of memory reserves 1 GiB, and ends the process where it may not
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        pyarrow = import_module("pyarrow")
        return import_module(f"pyarrow.{module}") if module else pyarrow
    except ImportError as error:
        raise ImportError(EXTRA) from error


def check_room(path: Path, block: int = 0) -> None:
    """Refuse to read where addresses are limited to fewer than pyarrow can do with.

    Its threads end the process where they get none.
    """
    needed = ROOM + 4 * block
    if is_limited() and free_memory() < needed:
        raise MemoryError(f"to read {path} takes {needed / 2**30:.2g} GiB")


@lru_cache(maxsize=256)
def role_of(type_: Any) -> Role | None:
    """What a column of an arrow type is to us; None if it can be no feature.

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
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_):
        return "number"
    if is_.is_null(type_):
        return "number"
    if is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_):
        return "text"
    return "date" if is_.is_temporal(type_) and not is_.is_interval(type_) else None


class WrongTypeError(ValueError):
    """A column turned out to be of another type than its first rows suggest."""


@contextmanager
def telling(path: Path, wanted: str) -> Iterator[None]:
    """Say in one line what is wrong with a file, where others say it in their own words."""
    faults = (UnicodeError, EOFError, zlib.error, arrow().ArrowException)
    try:
        yield
    except faults as error:
        said = _first_line(error)
        if isinstance(error, UnicodeError) or "invalid UTF8" in said:
            raise ValueError(f"{path} is not UTF-8 text; {RECODE}") from error
        if "conversion error" in said:
            raise WrongTypeError(f"{path}: {said}") from error
        if "straddling object" in said:
            raise ValueError(f"{path} {LONG_LINE}") from error
        raise ValueError(f"{path} is not {wanted}: {said}") from error
    except OSError as error:
        if error.errno:
            raise
        raise ValueError(f"{path} is not {wanted}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    line = lines[0].encode("ascii", "replace").decode()
    return line if len(line) <= 200 else line[:200] + " ..."
