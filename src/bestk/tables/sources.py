"""Tables in files, by pyarrow: their columns and types, and their rows a piece at a time."""

import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
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

# The suffixes of files, and how these are read.
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

# The number of values that are read at once: 128 MiB as float64.
PIECE = 2**24

# The number of bytes of text that are parsed at once: at least, and at most.
BLOCK = 2**22
MAX_BLOCK = 2**30

# The number of rows of wide tables of text that are parsed at once, about.
ROWS_PER_BLOCK = 128

# The largest number of bytes of the line of names.
MAX_HEADER_BYTES = 2**26

# What is read as a boolean in a column that holds nothing else.
TRUE = ("1", "True", "TRUE", "true")
FALSE = ("0", "False", "FALSE", "false")

TEXT = "a table of text"
EXTRA = "tables in files need pyarrow, which is not installed; run: pip install 'bestk[cli]'"
LONG_LINE = "has a line that is too long to read; is a quotation mark or a line feed missing?"
TITLE = "the first line must have the names of the columns; delete a title above it"
RECODE = "convert it first, e.g. iconv -f latin1 -t utf-8 OLD > NEW"
UNNAMED = "left out a column without a name, which may be row numbers"

# The first bytes of a file of UTF-16.
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# A function of the names of columns and a number of rows, which yields batches of these columns
# with about so many rows.
Scan = Callable[[list[str], int], Iterator[Any]]


class WrongTypeError(DataError):
    """A column turned out to be of another type than its first rows suggest."""


def arrow(module: str = "") -> Any:
    """``pyarrow``, or one of its modules."""
    if address_limit():
        # Its own pool of memory reserves 1 GiB, and ends the process without it.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError(EXTRA) from error


@contextmanager
def plain_errors(path: Path, wanted: str) -> Iterator[None]:
    """Raise what goes wrong with a file as an error of one plain line.

    ``wanted`` says what the file should be.
    """
    try:
        yield
    except (UnicodeError, EOFError, zlib.error, OSError, arrow().ArrowException) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise _plain_error(error, path, wanted) from error


def _plain_error(error: Exception, path: Path, wanted: str) -> DataError:
    """The error for a user where pyarrow raises one for a file."""
    lines = str(error).splitlines() or [type(error).__name__]
    text = lines[0].encode("ascii", "replace").decode()
    if isinstance(error, UnicodeError) or "invalid UTF8" in text:
        return DataError(f"{path} is not UTF-8 text; {RECODE}")
    if "conversion error" in text:
        return WrongTypeError(f"{path}: {text}")
    if "straddling object" in text:
        return DataError(f"{path} {LONG_LINE}")
    lengths = re.search(r"(Row .*)?Expected (\d+) columns, got.*", text[:200])
    if lengths:
        title = f"; {TITLE}" if lengths[2] == "1" else ""
        return DataError(f"{path} has rows of different lengths: {lengths[0]}{title}")
    return DataError(f"{path} is not {wanted}: {text[:200]}")


def suffix_of(path: Path) -> str:
    """The suffix that gives the format of a file, or an error that lists those accepted."""
    for suffix in FORMATS:
        if path.name.lower().endswith(suffix):
            return suffix
    if path == Path("-") or Path("/dev") in path.parents:
        raise DataError(f"{path}: standard input and output are not supported; use a .csv file")
    given = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
    raise DataError(f"{path} has {given}; a table is one of {', '.join(FORMATS)}")


@dataclass(frozen=True)
class Source:
    """A table in a Parquet or Arrow file, or in a folder of Parquet files."""

    path: Path

    types: dict[str, Any]
    """The arrow type that each column is read as, by name."""

    wanted: str
    """What the file should be, in the words of an error."""

    scan: Scan | None = None
    """Reads the file; text is read without it."""

    notes: tuple[str, ...] = ()
    """Sentences on how columns are read, where that may surprise."""

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield record batches of some columns, in that order; the next is read meanwhile."""
        names = list(columns)
        if self.scan is None:
            raise NotImplementedError("a table of text is read by TextSource")
        batches = self.scan(names, max(1, PIECE // len(names)))
        with plain_errors(self.path, self.wanted), ThreadPoolExecutor(1) as ahead:
            following = ahead.submit(next, batches, None)
            while (batch := following.result()) is not None:
                following = ahead.submit(next, batches, None)
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
    """The number of bytes that are parsed at once."""

    @classmethod
    def open(cls, path: Path, suffix: str) -> Self:
        """Read the names, and infer the types from the first rows."""
        header = _read_header(path, suffix)
        delimiter = "\t" if ".tsv" in suffix else find_delimiter(header)
        row_bytes = len(header.encode())
        block = min(MAX_BLOCK, max(BLOCK, ROWS_PER_BLOCK * row_bytes))
        source = cls(path, {}, TEXT, delimiter=delimiter, block=block)
        with plain_errors(path, TEXT):
            schema = source._read("open_csv", null_values=MISSING).schema
        names = [name for name in schema.names if name]
        refuse_twins(names, path)
        types = {entry.name: _type_to_read(entry.type) for entry in schema if entry.name}
        notes = (UNNAMED,) if len(names) < len(schema.names) else ()
        return replace(source, types=types, notes=notes)

    def batches(self, columns: Sequence[str], types: dict[str, Any] | None = None) -> Iterator[Any]:
        """Yield batches of some columns, read as ``types``, by default those of the source.

        Columns that are not among the types are text. If there are no types at all, all values
        are the text that they are; else some texts mean missing.
        """
        types = self.types if types is None else types
        text = arrow().string()
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
        integers = [pa.int64(), pa.uint64()]
        unsure = [name for name in columns if self.types[name] != pa.string()]
        digits_only = {name for name in unsure if self.types[name] == pa.float64()}
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
        with plain_errors(self.path, TEXT):
            return self._read(
                "read_csv",
                include_columns=list(columns),
                null_values=MISSING,
                strings_can_be_null=True,
            )

    def _read(self, function: str, **convert: Any) -> Any:
        """What a function of pyarrow makes of the file: batches, or the whole table.

        It decompresses the file by its suffix. ``convert``: see pyarrow.csv.ConvertOptions.
        """
        text = arrow("csv")
        read = getattr(text, function)
        return read(
            self.path,
            text.ReadOptions(block_size=self.block),
            text.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            text.ConvertOptions(true_values=TRUE, false_values=FALSE, **convert),
        )


def _read_header(path: Path, suffix: str) -> str:
    """The first line of a file of text."""
    opened = gzip.open if suffix.endswith(".gz") else open
    with plain_errors(path, TEXT), opened(path, "rb") as file:
        header: bytes = file.readline(MAX_HEADER_BYTES)
        if len(header) == MAX_HEADER_BYTES:
            raise DataError(f"{path} {LONG_LINE}")
        if header.startswith(UTF_16_MARKS):
            raise DataError(f"{path} is UTF-16 text; save it as UTF-8")
        if b"\0" in header:
            raise DataError(f"{path} is not {TEXT}: it holds binary data")
        return header.decode("utf-8-sig")


def _type_to_read(inferred: Any) -> Any:
    """The type that a column of text is read as, given the type that pyarrow infers.

    Integers are read as floats, since a later row may have a fraction; dates as text, which is
    parsed later.
    """
    pa = arrow()
    if inferred in (pa.int64(), pa.null(), pa.float64()):
        return pa.float64()
    return inferred if inferred == pa.bool_() else pa.string()


def _checked_batch(batch: Any, names: list[str]) -> Any:
    """Some columns of a batch, of which text is plain strings: pyarrow cannot filter views."""
    types = arrow("types")
    batch = batch.select(names)
    for j, entry in enumerate(batch.schema):
        if not types.is_primitive(entry.type):
            # Offsets and codes of a damaged file lead anywhere.
            batch.column(j).validate(full=True)
        if types.is_string_view(entry.type):
            plain = batch.column(j).cast("string")
            batch = batch.set_column(j, entry.name, plain)
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
    """Open a Parquet file, which stays open: to read the names of very many columns takes long."""
    wanted = "a Parquet table"
    with plain_errors(path, wanted):
        file = arrow("parquet").ParquetFile(path)

    def scan(names: list[str], n_rows: int) -> Iterator[Any]:
        """Yield batches of some columns, about so many rows at once."""
        groups: list[int] = []
        n_read = 0
        last_group = file.num_row_groups - 1
        for group in range(file.num_row_groups):
            groups.append(group)
            n_read += file.metadata.row_group(group).num_rows
            # One call for all groups would hold all that it has read.
            if n_read >= n_rows or group == last_group:
                yield from file.iter_batches(n_rows, row_groups=groups, columns=names)
                groups = []
                n_read = 0

    return _source_of(path, file.schema_arrow, wanted, scan)


def open_dataset(path: str | Path, format_: str = "parquet") -> Source:
    """Open an Arrow file, with "ipc" for the format, or a folder of Parquet files."""
    path = Path(path)
    wanted = "an Arrow table" if format_ == "ipc" else "a data set"
    with plain_errors(path, wanted):
        dataset = arrow("dataset").dataset(path, format=format_)

    def scan(names: list[str], n_rows: int) -> Iterator[Any]:
        """Yield batches of some columns, about so many rows at once."""
        for fragment in dataset.get_fragments():
            pieces = fragment.split_by_row_group() if format_ == "parquet" else [fragment]
            for piece in pieces:
                yield from piece.to_batches(
                    dataset.schema, columns=names, batch_size=n_rows, batch_readahead=2
                )

    return _source_of(path, dataset.schema, wanted, scan)


def _source_of(path: Path, schema: Any, wanted: str, scan: Scan) -> Source:
    """The table of a schema of arrow, without columns that pandas has stored as an index."""
    refuse_twins(schema.names, path)
    index = [name for name in _index_of_pandas(schema) if name in schema.names]
    types = {entry.name: entry.type for entry in schema if entry.name not in index}
    notes = tuple(f"left out {name!r}, which pandas has stored as an index" for name in index)
    return Source(path, types, wanted, scan, notes)


def _index_of_pandas(schema: Any) -> list[str]:
    """The columns that are an index by the metadata of pandas; none where these are malformed."""
    metadata = schema.metadata or {}
    try:
        stored = json.loads(metadata.get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return []
    listed = stored.get("index_columns") if isinstance(stored, dict) else None
    if not isinstance(listed, list):
        return []
    # A range of numbers is described by a dict, and has no column.
    return [name for name in listed if isinstance(name, str)]


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
