"""pyarrow, where it is installed, and its types in our words."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

Role = Literal["number", "boolean", "text", "category"]
EXTRA = "files are read by pyarrow, which is not installed; run: pip install 'bestk[files]'"

RECODE = "convert it first, e.g. iconv -f latin1 -t utf-8 OLD > NEW"


def arrow(module: str = "") -> Any:
    """``pyarrow``, or one of its modules."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError(EXTRA) from error


@lru_cache(maxsize=256)
def role_of(type_: Any) -> Role | None:
    """What a column of an arrow type is to us; None if it can be no feature.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [role_of(t) for t in (pa.int8(), pa.bool_(), pa.date32(), pa.list_(pa.int8()))]
    ['number', 'boolean', 'text', None]
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
    return "text" if is_.is_temporal(type_) else None


class WrongTypeError(ValueError):
    """A column turned out to be of another type than its first rows suggest."""


@contextmanager
def telling(path: Path, wanted: str) -> Iterator[None]:
    """Say in one line what is wrong with a file, where pyarrow says it in its own words."""
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, EOFError, zlib.error) as error:
        said = _first_line(error)
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in said:
            raise ValueError(f"{path} is not UTF-8 text; {RECODE}") from error
        if "conversion error" in said:
            raise WrongTypeError(f"{path}: {said}") from error
        raise ValueError(f"{path} is not {wanted}: {said}") from error
    except OSError as error:
        if error.errno:
            raise
        raise ValueError(f"{path} is not {wanted}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    line = lines[0].encode("ascii", "replace").decode()
    return line if len(line) <= 200 else line[:200] + " ..."
