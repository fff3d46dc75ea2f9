"""Columns of Python objects and of text as arrays: categories, numbers, dates as days."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import compress
from types import NoneType
from typing import Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.data.table import Block, Kind, Table, find_inexact, inexact
from bestk.errors import DataError

ACCEPTED = "a column holds numbers, booleans, strings, categories or dates: convert it or drop it"
DAY = 86_400_000_000  # microseconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# booleans and durations come before the integers that they also are
FAMILIES: dict[str, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "date": (date, np.datetime64),
    "duration": (timedelta, np.timedelta64),
    "time": (time,),
    "numeric": (int, float, np.integer, np.floating),
    "string": (str,),
    "bytes": (bytes,),
}
MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
GAPS = frozenset((*MISSING, "-", "--", ".", "n.a.", "na", "none"))  # beside numbers or dates
NEARLY_ALL = 0.99  # of the rows that are not missing must be numbers, or dates
FEW_LEVELS = 20  # up to so many different whole numbers may be codes
CODE_DIGITS = 5  # whole numbers that all have so many digits, or more, may be codes
EXACT_DIGITS = 15  # float64 represents all whole numbers of so many digits
LOOK = 50  # levels that show whether a column is worth parsing
SIGN = "[$€£¥]?"  # of a currency
NUMBER = re.compile(
    rf"[+-]?{SIGN} ?[+-]?(\d{{1,3}}([,' \u00a0\u202f]\d{{3}})+|\d+)?(?(1)(\.\d*)?|\.\d+)"
    r"([eE][+-]?\d+)? ?[%$€£¥]?",
    re.ASCII,
)
COMMA = re.compile(
    rf"[+-]?{SIGN} ?[+-]?(\d{{1,3}}([. \u00a0\u202f]\d{{3}})+|\d+)(,\d+)? ?[%$€£¥]?", re.ASCII
)
WHOLE = re.compile(r"[+-]?(\d+)", re.ASCII)
NEGATIVE = re.compile(r"^\((.*\d.*)\)$|^(.*\d.*)-$")  # as accountants write
DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
# what numbers look like, and what is dropped of them, without and with decimal commas
FORMS = {
    "numbers": (NUMBER, re.compile(r"[$€£¥%,' \u00a0\u202f]")),
    "decimal commas": (COMMA, re.compile(r"[$€£¥%. \u00a0\u202f]")),
}


def read_objects(
    column: list[Any], name: str, *, categorical: bool = False
) -> tuple[Kind, Array, list[Any] | None]:
    """The kind, the values and the categories, if it has any, of a column.

    Examples
    --------
    >>> read_objects(["red", None, "blue"], "colour")
    ('string', array([ 1, -1,  0], dtype=int8), ['blue', 'red'])
    """
    types = set(map(type, column))
    absent = {t for t in types if t is NoneType or t.__name__ == "NAType"}
    strange = sorted(t.__name__ for t in types - absent if _family(t) is None)
    if strange and not categorical:
        raise DataError(f"column {name!r} holds {' and '.join(strange)} values; {ACCEPTED}")
    gone = np.zeros(len(column), dtype=bool)
    if types != {str}:
        gone[:] = [type(value) in absent or value != value for value in column]
    known = list(compress(column, (~gone).tolist())) if gone.any() else column
    families = {_family(t) for t in set(map(type, known))}
    if categorical or families in ({"string"}, {"bytes"}):
        place, codes = dict[Any, int](), np.full(len(gone), -1)
        codes[~gone] = [place.setdefault(value, len(place)) for value in known]
        return ("categorical" if categorical else "string"), *number_levels(
            codes, list(place), name
        )
    if len(families) > 1:
        raise _mixed(known, name)
    if families & {"date", "duration", "time"}:
        is_date = isinstance(known[0], FAMILIES["date"])
        values = days(np.array(list(map(_plain, known)), "M8[us]" if is_date else "m8[us]"))
    else:
        values = np.array(known)
        whole = gone.any() and values.dtype.kind in "iu"
        if values.dtype.kind == "O" or (whole and len(find_inexact(values[:, None]))):
            raise inexact(name)
    if gone.any():
        filled = np.full(len(gone), np.nan)
        filled[~gone] = values
        values = filled
    return ("boolean" if families == {"boolean"} else "numeric"), values, None


def _family(type_: type) -> str | None:
    return next((name for name, types in FAMILIES.items() if issubclass(type_, types)), None)


def read_dictionary(column: Any, name: str) -> tuple[Array, list[Any]]:
    """The codes and the sorted levels of a pyarrow column of strings or categories."""
    if str(column.type) == "string_view":
        column = column.cast("string")
    encoded = column if hasattr(column.type, "index_type") else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    indices = [each.indices.fill_null(-1).to_numpy(zero_copy_only=False) for each in chunks]
    return number_levels(np.concatenate(indices), chunks[0].dictionary.to_pylist(), name)


def number_levels(codes: Array, labels: list[Any], name: str) -> tuple[Array, list[Any]]:
    """New codes, and the sorted labels that occur, from codes of labels in any order."""
    found = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    known = [label for label in compress(labels, found) if label is not None and label == label]
    try:
        levels = sorted(set(known))
    except TypeError as error:
        raise _mixed(known, name) from error
    place = {label: code for code, label in enumerate(levels)}
    dtype = np.min_scalar_type(-max(1, len(levels)))
    lookup = np.array([*(place.get(label, -1) for label in labels), -1], dtype)  # the last is of -1
    return lookup[codes], levels


def _mixed(known: list[Any], name: str) -> DataError:
    came = " and ".join(sorted({type(value).__name__ for value in known}))
    return DataError(f"column {name!r} mixes {came} values; convert them to one type")


def days(values: Array) -> Floats:
    """Dates as days since 1970-01-01, durations in days; NaN where they are NaT."""
    fine = values.astype("m8[us]" if values.dtype.kind == "m" else "M8[us]")
    return np.where(np.isnat(values), np.nan, fine.astype(np.int64) / DAY)


def _plain(value: Any) -> Any:
    """A value that numpy reads: moments in universal time, times of day as durations."""
    if isinstance(value, time):
        return timedelta(0, value.hour * 3600 + value.minute * 60 + value.second, value.microsecond)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


@dataclass(frozen=True)
class Parsed:
    """The levels of a column as numbers."""

    kind: str  # "numbers", "decimal commas" or "dates"
    values: Floats  # NaN for levels that mean missing, or are no number
    example: str
    odd: tuple[str, ...]  # those that are no number


def parse_levels(levels: Sequence[Any], counts: Indices) -> Parsed | None:
    """The levels of a column of text as numbers or days, if nearly all rows hold such.

    Whole numbers that are likely codes are left as they are, see :func:`_are_codes`.

    Examples
    --------
    >>> parse_levels(["$1,250", "$3.50", "n/a"], np.array([1, 1, 1])).values
    array([1250. ,    3.5,     nan])
    >>> parse_levels(["(12.50)", "3.50-", "7"], np.array([1, 1, 1])).values
    array([-12.5,  -3.5,   7. ])
    >>> parse_levels(["2024-03-01", "2024-03-02"], np.array([1, 1])).kind
    'dates'
    >>> parse_levels(["01", "02", "10"], np.array([5, 5, 5])) is None
    True
    """
    texts = [NEGATIVE.sub(r"-\1\2", level.strip()) for level in levels if isinstance(level, str)]
    some = texts[:: max(1, len(texts) // LOOK)]
    if len(texts) < len(levels) or not any(
        text[:1].isdigit() or NUMBER.fullmatch(text) for text in some
    ):
        return None
    known = np.array([text not in GAPS for text in texts])
    kind = "dates" if any(map(DATE.fullmatch, some)) else "numbers"
    values = parse_values(texts, kind)
    if kind == "numbers" and np.isnan(values).any() and any("," in text for text in texts):
        other = parse_values(texts, "decimal commas")
        if np.isnan(other).sum() < np.isnan(values).sum():
            kind, values = "decimal commas", other
    there = known & ~np.isnan(values)
    if not there.any() or counts[there].sum() < NEARLY_ALL * counts[known].sum():
        return None
    read = list(compress(texts, there))
    if kind != "dates" and _are_codes(read):
        return None
    odd = tuple(compress(texts, known & ~there))
    example = next((text for text in read if not WHOLE.fullmatch(text)), read[0])
    return Parsed(kind, values, example, odd)


def parse_values(texts: Sequence[str], kind: str) -> Floats:
    """Texts as numbers or days, NaN where that fails."""
    values = np.full(len(texts), np.nan)
    like, junk = FORMS.get(kind, (DATE, None))
    for i, text in enumerate(texts):
        if text in GAPS or not like.fullmatch(text):
            continue
        if junk is None:
            with suppress(ValueError):  # such as the 30th of February
                moment = datetime.fromisoformat(text)
                utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
                values[i] = (utc - EPOCH) / timedelta(days=1)
        else:
            bare = text if text.isdecimal() else junk.sub("", text).replace(",", ".")
            values[i] = float(bare)
    values[np.isinf(values)] = np.nan
    return values


def _are_codes(texts: list[str]) -> bool:
    """Whether whole numbers are likely codes, such as of places or products."""
    digits = [found[1] if (found := WHOLE.fullmatch(text)) else "" for text in texts]
    if any(len(each) > EXACT_DIGITS or (len(each) > 1 and each[0] == "0") for each in digits):
        return True
    if not all(digits):
        return False
    lengths = set(map(len, digits))
    return len(digits) <= FEW_LEVELS or (len(lengths) == 1 and min(lengths) >= CODE_DIGITS)


@dataclass(frozen=True)
class TextNumbers:
    """Columns of text that hold numbers or dates, as some rows of a table show."""

    kinds: dict[int, str]  # by place: "numbers", "decimal commas" or "dates"
    notes: tuple[str, ...] = ()

    @classmethod
    def find(cls, table: Table, keep: Collection[int] = ()) -> TextNumbers:
        """Look at all columns of text but those to keep."""
        found = {}
        for block in table.blocks:
            if block.kind != "string" or block.categories is None:
                continue
            columns = zip(block.columns.tolist(), block.values.T, block.categories, strict=True)
            for place, codes, levels in columns:
                counts = np.bincount(codes[codes >= 0], minlength=len(levels))
                if place not in keep and (parsed := parse_levels(levels, counts)) is not None:
                    found[place] = parsed
        notes = tuple(notes_on(table.names, found))
        return cls({place: parsed.kind for place, parsed in found.items()}, notes)

    def parse(self, table: Table) -> Table:
        """The same rows, or others, with numbers in these columns; what is no number is missing."""
        blocks: list[Block] = []
        for block in table.blocks:
            here = np.isin(block.columns, list(self.kinds))
            if block.categories is None or not here.any():
                blocks.append(block)
                continue
            values = np.empty((table.n_samples, int(here.sum())))
            for column, j in zip(values.T, np.flatnonzero(here), strict=True):
                texts = [NEGATIVE.sub(r"-\1\2", text.strip()) for text in block.categories[j]]
                numbers = parse_values(texts, self.kinds[int(block.columns[j])])
                column[:] = np.append(numbers, np.nan)[block.values[:, j]]
            blocks.append(Block(block.columns[here], "numeric", values))
            blocks += [] if here.all() else [block.keep(~here)]
        return replace(table, blocks=tuple(blocks))


def parse_text(table: Table, keep: Collection[int] = ()) -> Table:
    """The same table with numbers for text that holds numbers or dates, but for ``keep``."""
    found = TextNumbers.find(table, keep)
    return replace(found.parse(table), notes=(*table.notes, *found.notes))


def notes_on(names: Sequence[str], found: dict[int, Parsed]) -> list[str]:
    """A sentence for all columns of numbers, and one for all of dates."""
    notes = []
    for kind, read_as in (("numbers", "numbers"), ("dates", "days since 1970-01-01")):
        if places := sorted(j for j in found if (found[j].kind == "dates") == (kind == "dates")):
            quoted = ", ".join(repr(str(names[j])) for j in places)
            odd = sorted({text for j in places for text in found[j].odd})
            lost = f", {', '.join(map(repr, odd[:3]))} as missing" if odd else ""
            such = f"{kind} written as text, such as {found[places[0]].example!r}"
            notes.append(f"{quoted}: {such}; read as {read_as}{lost}")
    return notes
