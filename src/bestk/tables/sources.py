"""Tables in files, by pyarrow: their columns and types, and their rows a piece at a time."""

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from bestk._memory import address_limit
from bestk.errors import DataError, UnknownNameError
from bestk.tables.table import refuse_twins
from bestk.tables.text import MISSING

FORMATS = dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), "text") | {".parquet": "parquet"}
FORMATS |= dict.fromkeys((".feather", ".arrow", ".ipc"), "arrow")
PIECE = 2**24  # values read at once: 128 MiB as float64
BLOCK, MAX_BLOCK = 2**22, 2**30  # bytes of text parsed at once
ROWS_PER_BLOCK = 128  # about, of wide tables of text
MAX_HEADER_BYTES = 2**26
TRUE, FALSE = ("1", "True", "TRUE", "true"), ("0", "False", "FALSE", "false")
TEXT = "a table of text"
EXTRA = "tables in files need pyarrow, which is not installed; run: pip install 'bestk[cli]'"
LONG_LINE = "has a line that is too long to read; is a quotation mark or a line feed missing?"
TITLE = "the first line must have the names of the columns; delete a title above it"
RECODE = "convert it first, e.g. iconv -f latin1 -t utf-8 OLD > NEW"
UNNAMED = "left out a column without a name, which may be row numbers"


class WrongTypeError(DataError):
    """A column turned out to be of another type than its first rows suggest."""


def arrow(module: str = "") -> Any:
    """``pyarrow``, or one of its modules."""
    if address_limit():  # its own pool of memory reserves 1 GiB, and ends the process without it
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
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
        if found := re.search(r"(Row .*)?Expected (\d+) columns, got.*", text[:200]):
            title = f"; {TITLE}" if found[2] == "1" else ""
            raise DataError(f"{path} has rows of different lengths: {found[0]}{title}") from error
        raise DataError(f"{path} is not {wanted}: {text[:200]}") from error


def suffix_of(path: Path) -> str:
    """The suffix that gives the format of a file, or an error that lists those known."""
    for suffix in FORMATS:
        if path.name.lower().endswith(suffix):
            return suffix
    if path == Path("-") or Path("/dev") in path.parents:
        raise DataError(f"{path}: standard input and output are not supported; use a .csv file")
    came = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
    raise DataError(f"{path} has {came}; a table is one of {', '.join(FORMATS)}")


@dataclass(frozen=True)
class Source:
    """A table in a Parquet or Arrow file, or in a folder of Parquet files."""

    path: Path
    types: dict[str, Any]  # the arrow type that each column is read as, by name
    wanted: str  # what the file should be
    scan: Any = None  # a function of names and a number of rows that gives batches
    notes: tuple[str, ...] = ()  # how columns are read, where that may surprise

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield record batches of some columns, in that order."""
        names = list(columns)
        found = self.scan(names, max(1, PIECE // len(names)))
        with plain_errors(self.path, self.wanted), ThreadPoolExecutor(1) as ahead:
            following = ahead.submit(next, found, None)
            while (batch := following.result()) is not None:
                following = ahead.submit(next, found, None)
                yield _checked_batch(batch, names)

    def checked(self, columns: Sequence[str]) -> Self:
        """The same table, with types that hold for all rows of some columns."""
        return self

    def as_text(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of some columns that are to be written as text."""
        return self.batches(columns)

    def as_arrow(self, columns: Sequence[str]) -> Any:
        """Some columns as an arrow table."""
        return arrow().Table.from_batches(self.batches(columns))


@dataclass(frozen=True)
class TextSource(Source):
    """A file of lines, the first of which names the columns."""

    delimiter: str = ","
    block: int = BLOCK

    @classmethod
    def open(cls, path: Path, suffix: str) -> Self:
        """Read the names, and infer the types from the first rows."""
        opened = gzip.open if suffix.endswith(".gz") else open
        with plain_errors(path, TEXT), opened(path, "rb") as file:
            header = file.readline(MAX_HEADER_BYTES)
            if len(header) == MAX_HEADER_BYTES:
                raise DataError(f"{path} {LONG_LINE}")
            if header.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(f"{path} is UTF-16 text; save it as UTF-8")
            if b"\0" in header:
                raise DataError(f"{path} is not {TEXT}: it holds binary data")
            text = header.decode("utf-8-sig")
        delimiter = "\t" if ".tsv" in suffix else find_delimiter(text)
        block = min(MAX_BLOCK, max(BLOCK, ROWS_PER_BLOCK * len(header)))
        source = cls(path, {}, TEXT, delimiter=delimiter, block=block)
        with plain_errors(path, TEXT):
            schema = source._read("open_csv", null_values=MISSING).schema
        names = [name for name in schema.names if name]
        refuse_twins(names, path)
        pa = arrow()  # dates are read as text, and parsed later
        read_as = dict.fromkeys((pa.int64(), pa.null()), pa.float64())
        read_as |= {same: same for same in (pa.float64(), pa.bool_())}
        types = {each.name: read_as.get(each.type, pa.string()) for each in schema if each.name}
        return replace(source, types=types, notes=(UNNAMED,) * (len(names) < len(schema.names)))

    def batches(self, columns: Sequence[str], types: dict[str, Any] | None = None) -> Iterator[Any]:
        """Yield batches of some columns; as the text they are where ``types`` is empty."""
        types, text = self.types if types is None else types, arrow().string()
        with plain_errors(self.path, TEXT):
            yield from self._read(
                "open_csv",
                column_types={name: types.get(name, text) for name in columns},
                include_columns=list(columns),
                null_values=MISSING if types else [],
                strings_can_be_null=bool(types),
            )

    def checked(self, columns: Sequence[str]) -> Self:
        """The same table, with types that hold for all rows of some columns.

        Numbers without a fraction are integers, so that none is rounded; what is no number or
        boolean in all rows is text, and so are whole numbers that no type of integers holds.
        """
        pa = arrow()
        number, integers = pa.float64(), [pa.int64(), pa.uint64()]
        unsure = [name for name in columns if self.types[name] != pa.string()]
        digits_only = {name for name in unsure if self.types[name] == number}
        possible = {name: [*integers, self.types[name]] for name in unsure}
        for batch in self.batches(unsure, types=dict.fromkeys(unsure, pa.string())):
            for name, column in zip(unsure, batch.columns, strict=True):
                if name in digits_only and not _are_whole(column):
                    digits_only.remove(name)
                possible[name] = [type_ for type_ in possible[name] if _holds(column, type_)]
        types = dict(self.types)
        for name in unsure:
            accepted = integers if name in digits_only else [self.types[name]]
            exact = [type_ for type_ in accepted if type_ in possible[name]]
            types[name] = exact[0] if exact else pa.string()
        return replace(self, types=types)

    def as_text(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of some columns, spelled as they are in the file."""
        return self.batches(columns, types={})

    def as_arrow(self, columns: Sequence[str]) -> Any:
        """Some columns as an arrow table, with types that are inferred from all rows."""
        convert = {"include_columns": list(columns), "null_values": MISSING}
        with plain_errors(self.path, TEXT):
            return self._read("read_csv", strings_can_be_null=True, **convert)

    def _read(self, function: str, **convert: Any) -> Any:
        """What a function of pyarrow makes of the file: batches, or the whole table."""
        text = arrow("csv")
        return getattr(text, function)(
            self.path,  # is decompressed by its suffix
            text.ReadOptions(block_size=self.block),
            text.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            text.ConvertOptions(true_values=TRUE, false_values=FALSE, **convert),
        )


def _checked_batch(batch: Any, names: list[str]) -> Any:
    """Some columns with plain strings, since pyarrow cannot filter views of strings."""
    batch, types = batch.select(names), arrow("types")
    for j, entry in enumerate(batch.schema):
        if not types.is_primitive(entry.type):  # offsets and codes of a damaged file lead anywhere
            batch.column(j).validate(full=True)
        if types.is_string_view(entry.type):
            batch = batch.set_column(j, entry.name, batch.column(j).cast("string"))
    return batch


def _are_whole(column: Any) -> bool:
    """Whether all texts that are not missing are numbers written with digits only."""
    compute = arrow("compute")
    digits_only = compute.match_substring_regex(column, r"^[ \t]*[+-]?[0-9]+[ \t]*$")
    return compute.all(digits_only).as_py() is not False


def _holds(column: Any, type_: Any) -> bool:
    """Whether all texts are values of a type of numbers, or booleans."""
    compute = arrow("compute")
    try:
        compute.cast(compute.utf8_trim(column, " \t"), type_)
    except arrow().ArrowInvalid:
        return False
    return True


def find_delimiter(header: str) -> str:
    """The most frequent of comma, semicolon, tab and bar outside quotation marks."""
    return max(",;\t|", key=re.sub('"[^"]*"', "", header).count)


def open_source(path: str | Path) -> Source:
    """Open the table in a file, by its suffix; no more than its beginning is read."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file")
    suffix = suffix_of(path)
    with path.open("rb") as file:
        if not file.read(1):
            raise DataError(f"{path} is empty; a table needs a line of names and rows below it")
    source: Source
    if FORMATS[suffix] == "text":
        source = TextSource.open(path, suffix)
    elif FORMATS[suffix] == "parquet":
        source = _open_parquet(path)
    else:
        source = open_dataset(path, "ipc")
    if not source.types:
        raise DataError(f"{path} has no column with a name")
    return source


def _open_parquet(path: Path) -> Source:
    """A file that stays open: the names of very many columns take long to read."""
    with plain_errors(path, wanted := "a Parquet table"):
        file = arrow("parquet").ParquetFile(path)

    def scan(names: list[str], rows: int) -> Iterator[Any]:
        groups, n_rows = list[int](), 0
        for group in range(n_groups := file.num_row_groups):
            groups.append(group)
            n_rows += file.metadata.row_group(group).num_rows
            if n_rows >= rows or group == n_groups - 1:  # one call would hold all that it has read
                yield from file.iter_batches(rows, row_groups=groups, columns=names)
                groups, n_rows = [], 0

    return _source_of(path, file.schema_arrow, wanted, scan)


def open_dataset(path: str | Path, format_: str = "parquet") -> Source:
    """Open an Arrow file, or a folder of files."""
    path = Path(path)
    with plain_errors(path, wanted := "an Arrow table" if format_ == "ipc" else "a data set"):
        found = arrow("dataset").dataset(path, format=format_)

    def scan(names: list[str], rows: int) -> Iterator[Any]:
        for part in found.get_fragments():
            for piece in part.split_by_row_group() if format_ == "parquet" else [part]:
                yield from piece.to_batches(
                    found.schema, columns=names, batch_size=rows, batch_readahead=2
                )

    return _source_of(path, found.schema, wanted, scan)


def _source_of(path: Path, schema: Any, wanted: str, scan: Any) -> Source:
    """The table of a schema, but for columns that pandas has stored as an index."""
    refuse_twins(schema.names, path)
    index = [name for name in _index_of_pandas(schema) if name in schema.names]
    types = {entry.name: entry.type for entry in schema if entry.name not in index}
    notes = tuple(f"left out {name!r}, which pandas has stored as an index" for name in index)
    return Source(path, types, wanted, scan, notes)


def _index_of_pandas(schema: Any) -> list[str]:
    """The columns that are an index by the metadata of pandas; none where these are malformed."""
    try:
        stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return []
    listed = stored.get("index_columns") if isinstance(stored, dict) else None
    # A range of numbers is described by a dict, and has no column.
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


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
    return names
