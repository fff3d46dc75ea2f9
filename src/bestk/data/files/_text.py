"""CSV and TSV files: their types, and their rows a piece at a time."""

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from bestk._typing import Array
from bestk.data.files._arrow import (
    LONG_LINE,
    WrongTypeError,
    arrow,
    check_free_memory,
    is_whole,
    plain_errors,
    role_of,
)
from bestk.data.files._sources import Report, Source
from bestk.data.frames import refuse_twins
from bestk.data.objects import MAX_EXACT, exceeding
from bestk.data.written import MISSING
from bestk.errors import DataError

BLOCK = 2**22  # bytes parsed at once
MAX_BLOCK = 2**30
MAX_HEADER_BYTES = 2**26
WANTED = "a table of text"
UNNAMED = "left out a column without a name, which may be row numbers"
TRUE, FALSE = ("1", "True", "TRUE", "true"), ("0", "False", "FALSE", "false")


@dataclass(frozen=True)
class TextSource(Source):
    """A file of lines, the first of which names the columns."""

    delimiter: str = ","
    zipped: bool = False
    block: int = BLOCK
    inferred: dict[str, Any] = field(default_factory=dict)  # from the first rows

    @classmethod
    def open(cls, path: Path, suffix: str) -> Self:
        """Read the names, and infer the types from the first rows."""
        zipped = suffix.endswith(".gz")
        with plain_errors(path, WANTED), gzip.open(path) if zipped else path.open("rb") as file:
            header = file.readline(MAX_HEADER_BYTES)
            if len(header) == MAX_HEADER_BYTES:
                raise DataError(f"{path} {LONG_LINE}")
            if b"\0" in header:
                raise DataError(f"{path} is not {WANTED}: it holds binary data")
            delimiter = "\t" if ".tsv" in suffix else find_delimiter(header.decode("utf-8-sig"))
        block = min(MAX_BLOCK, max(BLOCK, 32 * len(header)))
        check_free_memory(path, block)
        source = cls(path, {}, (), delimiter, zipped, block)
        with plain_errors(path, WANTED), ExitStack() as stack:
            schema = source._reader(stack, null_values=MISSING)[1].schema
        names = [name for name in schema.names if name]
        refuse_twins(names, path)
        inferred = {entry.name: entry.type for entry in schema if entry.name}
        types = {name: _read_as(role_of(type_)) for name, type_ in inferred.items()}
        notes = (UNNAMED,) if len(names) < len(schema.names) else ()
        return replace(source, types=types, inferred=inferred, notes=notes)

    def batches(
        self,
        columns: Sequence[str],
        report: Report | None = None,
        types: dict[str, Any] | None = None,
    ) -> Iterator[Any]:
        """Yield batches of some columns; as the text they are where ``types`` is empty."""
        types, text = self.types if types is None else types, arrow().string()
        size = self.path.stat().st_size
        with plain_errors(self.path, WANTED), ExitStack() as stack:
            raw, reader = self._reader(
                stack,
                column_types={name: types.get(name, text) for name in columns},
                include_columns=list(columns),
                null_values=MISSING if types else [],
                strings_can_be_null=bool(types),
            )
            for batch in reader:
                yield batch
                if report:
                    report(raw.tell(), size)

    def check_exact(self, name: str, values: Array) -> None:
        """Have a column of whole numbers read as text, if float64 cannot represent them."""
        if is_whole(self.inferred[name]) and len(exceeding(values[:, None])):
            raise WrongTypeError(
                f"{self.path}: column {name!r} holds whole numbers of 2**53 or more"
            )

    def as_text(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield batches of some columns, spelled as they are in the file."""
        return self.batches(columns, report, types={})

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same table, with types that hold for all rows: a number, else a boolean, else text.

        These are the types that the whole file would have suggested, however few its first rows;
        whole numbers that float64 cannot represent are text.
        """
        before = {name: role_of(self.types[name]) for name in columns}
        left = {name: ["boolean"] for name, role in before.items() if role == "boolean"}
        left |= {name: ["number", "boolean"] for name, role in before.items() if role == "number"}
        odd: dict[str, str] = {}
        text = dict.fromkeys(left, arrow().string())
        for batch in self.batches(list(left), report, text) if left else ():
            for name, column in zip(left, batch.columns, strict=True):
                limit = MAX_EXACT if is_whole(self.inferred[name]) else math.inf
                for role in left[name][:]:
                    if (value := _first_odd(column, role, limit)) is not None:
                        left[name].remove(role)
                        odd |= {name: value} if role == before[name] else {}
        found = {name: _read_as(next(iter(roles), "text")) for name, roles in left.items()}
        new = {name: type_ for name, type_ in found.items() if type_ != self.types[name]}
        notes = [
            f"column {name!r} is read as text, because it holds {odd[name]!r}"
            for name, roles in left.items()
            if not roles
        ]
        types, inferred = self.types | new, self.inferred | new
        return replace(self, types=types, inferred=inferred, notes=(*self.notes, *notes))

    def _reader(self, stack: ExitStack, **convert: Any) -> tuple[Any, Any]:
        """The file, and a reader of its batches."""
        pa, csv = arrow(), arrow("csv")
        raw = stack.enter_context(pa.OSFile(str(self.path)))
        stream = pa.CompressedInputStream(raw, "gzip") if self.zipped else raw
        return raw, csv.open_csv(
            stream,
            csv.ReadOptions(block_size=self.block),
            csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            csv.ConvertOptions(true_values=TRUE, false_values=FALSE, **convert),
        )


@cache
def _read_as(role: str | None) -> Any:
    """The type that numbers, booleans and all else are read as; dates in text are parsed later."""
    pa = arrow()
    return {"number": pa.float64(), "boolean": pa.bool_()}.get(role or "text", pa.string())


def _first_odd(column: Any, role: str, limit: float) -> str | None:
    """A text that is not a number below a limit, or not a boolean."""
    pa, compute = arrow(), arrow("compute")
    if role == "boolean":
        known = compute.is_in(column, value_set=pa.array([*TRUE, *FALSE, None]))
        odd = column.filter(compute.invert(known))
        return str(odd[0]) if len(odd) else None
    try:
        values = compute.cast(compute.utf8_trim(column, " \t"), pa.float64())
    except pa.ArrowInvalid as error:
        found = re.search("'(.*)'", str(error), re.DOTALL)
        return found[1] if found else str(error)
    odd = column.filter(compute.greater_equal(compute.abs(values), limit))
    return str(odd[0]) if len(odd) else None


def find_delimiter(header: str) -> str:
    """The most frequent of comma, semicolon, tab and bar outside quotation marks.

    Examples
    --------
    >>> find_delimiter('height;"weight, kg";class')
    ';'
    """
    counts = Counter(re.sub('"[^"]*"', "", header))
    return max(",;\t|", key=counts.__getitem__)
