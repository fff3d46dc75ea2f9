"""Tables in files, by pyarrow: their columns and types, and their rows a piece at a time."""

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from bestk._memory import is_limited
from bestk._typing import Array
from bestk.data.frames import refuse_twins
from bestk.data.objects import days
from bestk.errors import DataError, UnknownNameError

Role = Literal["number", "boolean", "date", "text", "category"]
Report = Callable[[int, int], None]  # how much is done, and of how much
PIECE = 2**22  # values converted at once: 32 MiB as float64
EXTRA = "tables in files need pyarrow, which is not installed; run: pip install 'bestk[cli]'"
LONG_LINE = "has a line that is too long to read; is a quotation mark or a line feed missing?"
RECODE = "convert it first, e.g. iconv -f latin1 -t utf-8 OLD > NEW"
ACCEPTED = "a column holds numbers, booleans, text or dates"
FORMATS = {
    ".csv": "text",
    ".csv.gz": "text",
    ".tsv": "text",
    ".tsv.gz": "text",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
}


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


@contextmanager
def plain_errors(path: Path, wanted: str) -> Iterator[None]:
    """Raise what goes wrong with a file as an error of one plain line."""
    try:
        yield
    except (UnicodeError, EOFError, zlib.error, OSError, arrow().ArrowException) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        lines = str(error).splitlines() or [type(error).__name__]
        text = lines[0].encode("ascii", "replace").decode()
        if isinstance(error, UnicodeError) or "invalid UTF8" in text:
            raise DataError(f"{path} is not UTF-8 text; {RECODE}") from error
        if "conversion error" in text:
            raise WrongTypeError(f"{path}: {text}") from error
        if "straddling object" in text:
            raise DataError(f"{path} {LONG_LINE}") from error
        text = text if len(text) <= 200 else text[:200] + " ..."
        raise DataError(f"{path} is not {wanted}: {text}") from error


@lru_cache(maxsize=256)
def role_of(type_: Any) -> Role | None:
    """The use of a column of an arrow type; None if it can be no feature."""
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


def coded(column: Any) -> Any:
    """A column of text or categories as a dictionary array with indices of 32 bits."""
    pa = arrow()
    if pa.types.is_string_view(column.type):
        column = column.cast("string")
    if not pa.types.is_dictionary(column.type):
        return column.dictionary_encode()
    return pa.DictionaryArray.from_arrays(column.indices.cast("int32"), column.dictionary)


def suffix_of(path: Path) -> str:
    """The suffix that gives the format of a file, or an error that lists those known."""
    name = path.name.lower()
    for suffix in FORMATS:
        if name.endswith(suffix):
            return suffix
    came = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
    raise DataError(f"{path} has {came}; a table is one of {', '.join(FORMATS)}")


@dataclass(frozen=True)
class Source:
    """A table in a file, whose types are known."""

    path: Path
    types: dict[str, Any]  # the arrow type that each column is read as, by name
    notes: tuple[str, ...] = ()  # how columns are read, where that may surprise
    odd: dict[str, str] = field(default_factory=dict)  # a value of each column that is read as text

    def type_in_file(self, name: str) -> Any:
        """The arrow type that a column has in the file."""
        return self.types[name]

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield record batches of some columns, in that order."""
        raise NotImplementedError

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same table, with types that hold for all rows of some columns."""
        return self

    def as_text(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield batches of some columns that are to be written as text."""
        return self.batches(columns, report)


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file, which stays open: the names of very many columns take long to read."""

    file: Any = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the names and types of the columns."""
        with plain_errors(path, "a Parquet table"):
            file = arrow("parquet").ParquetFile(path)
            return cls(path, column_types(file.schema_arrow, path), file=file)

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield record batches of some columns, in that order."""
        names, done = list(columns), 0
        with plain_errors(self.path, "a Parquet table"):
            for batch in self.file.iter_batches(max(1, PIECE // len(names)), columns=names):
                yield batch.select(names)
                done += batch.num_rows
                if report:
                    report(done, self.file.metadata.num_rows)


@dataclass(frozen=True)
class DatasetSource(Source):
    """A data set of pyarrow: an Arrow file, or many files of one schema."""

    dataset: Any = None

    @classmethod
    def open(cls, X: Any, format_: str = "parquet") -> Self:
        """Open a file, a folder, or a data set that is open."""
        path = Path(X) if isinstance(X, str | Path) else Path("the data set")
        with plain_errors(path, "an Arrow table" if format_ == "ipc" else "a data set"):
            if isinstance(X, str | Path):
                X = arrow("dataset").dataset(path, format=format_)
            return cls(path, column_types(X.schema, path), dataset=X)

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield batches of some columns, in that order."""
        names, done = list(columns), 0
        options = {"batch_readahead": 2, "fragment_readahead": 1}
        with plain_errors(self.path, "an Arrow table"):
            rows = self.dataset.count_rows() if report else 0
            for batch in self.dataset.to_batches(names, batch_size=max(1, PIECE // len(names)),
                                                 **options):  # fmt: skip
                batch.validate(full=True)  # offsets and codes of a damaged file may lead anywhere
                yield batch.select(names)
                done += batch.num_rows
                if report:
                    report(done, rows)


def column_types(schema: Any, path: Path) -> dict[str, Any]:
    """The columns of a schema, except for an index that pandas has stored."""
    stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in stored.get("index_columns", []) if isinstance(name, str)]
    refuse_twins(schema.names, path)
    return {entry.name: entry.type for entry in schema if entry.name not in index}


def check_names(source: Source, names: Iterable[str]) -> None:
    """Refuse a name that no column has."""
    for name in names:
        if name not in source.types:
            raise UnknownNameError("column", name, source.types, source.path)


def find_columns(source: Source, target: str, exclude: Iterable[str] = ()) -> list[str]:
    """The features of a file; the names asked for must be there."""
    excluded = set(exclude)
    check_names(source, (target, *excluded))
    if target in excluded:
        raise DataError(f"column {target!r} is the target, and cannot be excluded as well")
    names = [name for name in source.types if name != target and name not in excluded]
    if not names:
        raise DataError(f"{source.path} has no column to select from beside {target!r}")
    for name in (*names, target):
        if role_of(source.types[name]) is None:
            came = source.types[name]
            raise DataError(f"column {name!r} holds {came} values; {ACCEPTED}: exclude it")
    return names
