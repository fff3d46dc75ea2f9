"""CSV and TSV files, read by pyarrow."""

import gzip
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from bestk.data.files._arrow import LONG_LINE, arrow, check_room, role_of, telling
from bestk.data.files._batch import ArrowBatch
from bestk.data.files._long import LONG, Spelled
from bestk.data.files._source import Report
from bestk.data.table import refuse_twins
from bestk.data.written import MISSING

BLOCK = 2**22  # bytes of text parsed at once
MAX_HEADER_BYTES = 2**26
WANTED = "a table of text"
ANYTHING = r"(?s:.*)"
UNNAMED = "left out a column without a name, which may be row numbers"
TRUE, FALSE = ("1", "True", "TRUE", "true"), ("0", "False", "FALSE", "false")


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
    settled: bool = False  # whether the types are known to hold for all rows

    @classmethod
    def open(cls, path: Path, *, tabs: bool, zipped: bool) -> Self:
        """Read the names, and guess the types from the first rows."""
        with telling(path, WANTED), gzip.open(path) if zipped else path.open("rb") as file:
            header = file.readline(MAX_HEADER_BYTES)
            if len(header) == MAX_HEADER_BYTES:
                raise ValueError(f"{path} {LONG_LINE}")
            if b"\0" in header:
                raise ValueError(f"{path} is not {WANTED}: it holds binary data")
            delimiter = "\t" if tabs else find_delimiter(header.decode("utf-8-sig"))
        source = cls(path, delimiter, zipped, max(BLOCK, 32 * len(header)))
        with telling(path, WANTED):
            found = source._first_types()
        names = [name for name, _ in found if name]
        refuse_twins(names, path)
        guess = {name: type_ for name, type_ in found if name}
        known = source._known_types()
        types = {name: known.get(role_of(t) or "text", known["text"]) for name, t in guess.items()}
        notes = (UNNAMED,) if len(names) < len(found) else ()
        return replace(source, guess=guess, types=types, notes=notes)

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same table, with types that hold for all rows: a number, else a boolean, else text.

        These are the types that the whole file would have suggested, however few its first rows.
        Whole numbers that float64 would take for one another are integers, or else text.
        """
        known, types, notes = self._known_types(), dict(self.types), list(self.notes)
        possible, odd, long = self._possible_roles(columns, report)
        for name, spelled in self._spelled([n for n in long if "number" in possible[n]]).items():
            role, largest = spelled.role(), spelled.largest
            possible[name], odd[name] = [role] if role != "text" else [], str(largest)
            if role == "number" and spelled.is_merged:
                notes.append(f"column {name!r} is rounded: it holds fractions beside {largest}")
        for name, roles in possible.items():
            types[name] = known[roles[0] if roles else "text"]
            if not roles:
                notes.append(f"column {name!r} is read as text, because it holds {odd[name]!r}")
        return replace(self, types=types, guess=types, notes=tuple(notes), settled=True)

    def _spelled(self, columns: Sequence[str]) -> dict[str, Spelled]:
        """What the texts of some columns of numbers are like."""
        spelled = {name: Spelled() for name in columns}
        text = dict.fromkeys(columns, self._known_types()["text"])
        for batch in self.batches(columns, types=text) if columns else ():
            for place, name in enumerate(columns):
                spelled[name].add(self._texts(batch, place, ANYTHING))
        return spelled

    def _possible_roles(
        self, columns: Sequence[str], report: Report | None
    ) -> tuple[dict[str, list[str]], dict[str, str], list[str]]:
        """What columns that are no text may be, what contradicts their first rows, long ones."""
        roles = {name: role_of(self.types[name]) or "text" for name in columns}
        fallback = {"number": ["number", "boolean"], "boolean": ["boolean"]}
        left = {name: fallback[role][:] for name, role in roles.items() if role in fallback}
        odd: dict[str, str] = {}
        long: list[str] = []
        text = dict.fromkeys(columns, self._known_types()["text"])
        for batch in self.batches(columns, report, text):
            for place, name in enumerate(columns):
                if "number" in left.get(name, []) and name not in long:
                    long += [name] if self._texts(batch, place, LONG) else []
                for role in left.get(name, [])[:]:
                    if (value := self._odd_value(batch, place, role)) is not None:
                        left[name].remove(role)
                        odd |= {name: value} if role == roles[name] else {}
        return left, odd, long

    def batches(
        self,
        columns: Sequence[str],
        report: Report | None = None,
        types: dict[str, Any] | None = None,
    ) -> Iterator[ArrowBatch]:
        """Yield batches of some columns; as the text they are where ``types`` is empty."""
        types, text = self.types if types is None else types, arrow().string()
        chosen = {name: types.get(name, text) for name in columns}
        size = self.path.stat().st_size
        with telling(self.path, WANTED), ExitStack() as stack:
            raw, reader = self._reader(
                stack,
                column_types=chosen,
                include_columns=list(columns),
                null_values=MISSING if types else [],
                strings_can_be_null=bool(types),
            )
            for batch in reader:
                yield ArrowBatch(batch)
                if report:
                    report(raw.tell(), size)

    def _first_types(self) -> list[tuple[str, Any]]:
        check_room(self.path, self.block)
        with ExitStack() as stack:
            _, reader = self._reader(stack, null_values=MISSING)
            return [(entry.name, entry.type) for entry in reader.schema]

    def _known_types(self) -> dict[str, Any]:
        pa = arrow()
        whole = {"int64": pa.int64(), "uint64": pa.uint64()}
        return {"number": pa.float64(), "boolean": pa.bool_(), "text": pa.string(), **whole}

    def _texts(self, batch: ArrowBatch, column: int, like: str) -> list[str]:
        compute, values = arrow("compute"), batch.batch.column(column)
        found = values.filter(compute.match_substring_regex(values, f"^({like})$"))
        texts: list[str] = compute.unique(found).to_pylist()
        return texts

    def _odd_value(self, batch: ArrowBatch, column: int, role: str) -> str | None:
        pa, compute, values = arrow(), arrow("compute"), batch.batch.column(column)
        if role == "boolean":
            known = compute.is_in(values, value_set=pa.array([*TRUE, *FALSE, None]))
            odd = values.filter(compute.invert(known))
            return str(odd[0]) if len(odd) else None
        try:
            compute.cast(compute.utf8_trim(values, " \t"), pa.float64())
        except pa.ArrowInvalid as error:
            found = re.search("'(.*)'|value: (.*)", str(error), re.DOTALL)
            return (found[1] or found[2]) if found else str(error)
        return None

    def _reader(self, stack: ExitStack, **convert: Any) -> tuple[Any, Any]:
        """The file, and a reader of its batches."""
        pa, csv = arrow(), arrow("csv")
        raw = stack.enter_context(pa.OSFile(str(self.path)))
        stream = pa.CompressedInputStream(raw, "gzip") if self.zipped else raw
        return raw, csv.open_csv(
            stream,
            csv.ReadOptions(block_size=min(self.block, 2**30)),
            csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            csv.ConvertOptions(true_values=TRUE, false_values=FALSE, **convert),
        )


def find_delimiter(header: str) -> str:
    """What stands between the names: the most frequent of comma, semicolon, tab and bar.

    Examples
    --------
    >>> find_delimiter('height;"weight, kg";class')
    ';'
    """
    counts = Counter(re.sub('"[^"]*"', "", header))
    return max(",;\t|", key=counts.__getitem__)
