"""CSV and TSV files, read by pyarrow block by block."""

import gzip
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bestk.files._arrow import arrow, role_of, telling
from bestk.files._source import Report, Source, refuse_twins

BLOCK = 2**22  # bytes of text parsed at once
LONGEST = 2**26  # bytes that a line of names may have
WANTED = "a table of text"
UNNAMED = "left out a column without a name, which may be row numbers"
MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip


@dataclass(frozen=True)
class TextSource:
    """A file of lines, whose first line names the columns."""

    path: Path
    delimiter: str
    zipped: bool
    block: int
    guess: dict[str, Any] = field(default_factory=dict)  # the types of the first rows
    types: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path, *, tabs: bool, zipped: bool) -> "TextSource":
        """Read the names, and guess the types from the first rows."""
        with telling(path, WANTED), gzip.open(path) if zipped else path.open("rb") as file:
            header = file.readline(LONGEST)
            if b"\0" in header:
                raise ValueError(f"{path} is not {WANTED}: it holds binary data")
            delimiter = "\t" if tabs else find_delimiter(header.decode("utf-8-sig"))
        source = cls(path, delimiter, zipped, max(BLOCK, 32 * len(header)))
        with telling(path, WANTED), ExitStack() as stack:
            schema = source._reader(stack, null_values=MISSING).schema
        names = [name for name in schema.names if name]
        refuse_twins(names, path)
        guess = {entry.name: entry.type for entry in schema if entry.name}
        notes = (UNNAMED,) if len(names) < len(schema.names) else ()
        return replace(source, guess=guess, types=_sure(guess), notes=notes)

    def batches(
        self,
        columns: Sequence[str],
        report: Report | None = None,
        types: dict[str, Any] | None = None,
    ) -> Iterator[Any]:
        """Yield record batches of some columns; as the text they are where ``types`` is empty."""
        types, text = self.types if types is None else types, arrow().string()
        chosen = {name: types.get(name, text) for name in columns}
        size = self.path.stat().st_size
        with telling(self.path, WANTED), ExitStack() as stack:
            reader = self._reader(
                stack,
                column_types=chosen,
                include_columns=list(columns),
                null_values=MISSING if types else [],
                strings_can_be_null=bool(types),
            )
            for batch in reader:
                yield batch
                if report:
                    report(reader.tell(), size)

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Source:
        """The same table, with text for the columns that are not numbers or booleans throughout."""
        text = arrow().string()
        types, notes = dict(self.types), list(self.notes)
        doubtful = [name for name in columns if role_of(types[name]) != "text"]
        for batch in self.batches(columns, report, dict.fromkeys(columns, text)):
            for name in list(doubtful):
                if (odd := _odd_value(batch.column(name), types[name])) is not None:
                    doubtful.remove(name)
                    types[name] = text
                    notes.append(f"column {name!r} is read as text, because it holds {odd!r}")
        return replace(self, types=types, guess=types, notes=tuple(notes))

    def _reader(self, stack: ExitStack, **convert: Any) -> "_Reader":
        pa, csv = arrow(), arrow("csv")
        raw = stack.enter_context(pa.OSFile(str(self.path)))
        stream = pa.CompressedInputStream(raw, "gzip") if self.zipped else raw
        batches = csv.open_csv(
            stream,
            csv.ReadOptions(block_size=min(self.block, 2**30)),
            csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            csv.ConvertOptions(**convert),
        )
        return _Reader(raw, batches)


@dataclass(frozen=True)
class _Reader:
    raw: Any
    batches: Any

    @property
    def schema(self) -> Any:
        return self.batches.schema

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)

    def tell(self) -> int:
        return int(self.raw.tell())


def find_delimiter(header: str) -> str:
    """What stands between the names: the most frequent of comma, semicolon, tab and bar.

    Examples
    --------
    >>> find_delimiter('height;"weight, kg";class')
    ';'
    """
    counts = Counter(re.sub('"[^"]*"', "", header))
    return max(",;\t|", key=counts.__getitem__)


def _sure(guess: dict[str, Any]) -> dict[str, Any]:
    """Types that rows further down will rarely contradict."""
    pa = arrow()
    chosen = {"number": pa.float64(), "boolean": pa.bool_()}
    return {name: chosen.get(role_of(t) or "", pa.string()) for name, t in guess.items()}


def _odd_value(column: Any, type_: Any) -> str | None:
    """A value of a column of text that is not of a type."""
    compute = arrow("compute")
    try:
        compute.cast(compute.utf8_trim_whitespace(column), type_)
    except arrow().ArrowInvalid as error:
        found = re.search("'(.*)'|value: (.*)", str(error), re.DOTALL)
        return (found[1] or found[2]) if found else str(error)
    return None
