"""CSV and TSV files: their types, and their rows a piece at a time."""

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from bestk._memory import free_memory, is_limited
from bestk.data.files._sources import (
    LONG_LINE,
    Report,
    Source,
    arrow,
    is_whole,
    plain_errors,
    role_of,
)
from bestk.data.frames import MAX_EXACT, refuse_twins
from bestk.data.written import MISSING
from bestk.errors import DataError

BLOCK, MAX_BLOCK = 2**22, 2**30  # bytes parsed at once
MAX_HEADER_BYTES = 2**26
MIN_FREE_BYTES = 2**28  # for the threads of pyarrow, which end the process where they get none
WANTED = "a table of text"
UNNAMED = "left out a column without a name, which may be row numbers"
TRUE, FALSE = ("1", "True", "TRUE", "true"), ("0", "False", "FALSE", "false")


@dataclass(frozen=True)
class TextSource(Source):
    """A file of lines, the first of which names the columns."""

    inferred: dict[str, Any] = field(default_factory=dict)  # from the first rows
    delimiter: str = ","
    zipped: bool = False
    block: int = BLOCK

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
            text = header.decode("utf-8-sig")
            delimiter = "\t" if ".tsv" in suffix else find_delimiter(text)
        block = min(MAX_BLOCK, max(BLOCK, 32 * len(header)))
        needed = MIN_FREE_BYTES + 4 * block
        if is_limited() and free_memory() < needed:
            raise MemoryError(f"to read {path} takes {needed / 2**30:.2g} GiB")
        source = cls(path, {}, delimiter=delimiter, zipped=zipped, block=block)
        with plain_errors(path, WANTED), ExitStack() as stack:
            schema = source._reader(stack, null_values=MISSING)[1].schema
        names = [name for name in schema.names if name]
        refuse_twins(names, path)
        inferred = {entry.name: entry.type for entry in schema if entry.name}
        # dates are read as text, and parsed later
        read_as = {"number": arrow().float64(), "boolean": arrow().bool_()}
        types = {
            n: read_as.get(str(role_of(type_)), arrow().string()) for n, type_ in inferred.items()
        }
        notes = (UNNAMED,) if len(names) < len(schema.names) else ()
        return replace(source, types=types, inferred=inferred, notes=notes)

    def type_in_file(self, name: str) -> Any:
        """The arrow type that the first rows of a column suggest."""
        return self.inferred[name]

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

    def as_text(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield batches of some columns, spelled as they are in the file."""
        return self.batches(columns, report, types={})

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same table; what is no number or boolean in all rows is text.

        Whole numbers that float64 cannot represent are text, too.
        """
        text, odd = arrow().string(), dict[str, str]()
        left = [name for name in columns if self.types[name] != text]
        for batch in self.batches(left, report, dict.fromkeys(left, text)) if left else ():
            for name, column in zip(left, batch.columns, strict=True):
                limit = MAX_EXACT if is_whole(self.inferred[name]) else math.inf
                if name not in odd and (value := _first_odd(column, self.types[name], limit)):
                    odd[name] = value
        new = dict.fromkeys(odd, text)
        return replace(self, types=self.types | new, inferred=self.inferred | new, odd=odd)

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


def _first_odd(column: Any, type_: Any, limit: float) -> str | None:
    """A text that is not a number below a limit, or not a boolean."""
    pa, compute = arrow(), arrow("compute")
    if type_ == pa.bool_():
        right = compute.is_in(column, value_set=pa.array([*TRUE, *FALSE, None]))
    else:
        try:
            values = compute.cast(compute.utf8_trim(column, " \t"), pa.float64())
        except pa.ArrowInvalid as error:
            found = re.search("'(.*)'", str(error), re.DOTALL)
            return found[1] if found else str(error)
        right = compute.less(compute.abs(values), limit)
    odd = column.filter(compute.invert(right))
    return str(odd[0]) if len(odd) else None


def find_delimiter(header: str) -> str:
    """The most frequent of comma, semicolon, tab and bar outside quotation marks."""
    counts = Counter(re.sub('"[^"]*"', "", header))
    return max(",;\t|", key=counts.__getitem__)
