"""Numbers and dates that are written as text."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import compress
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices
from bestk.tables.table import MAX_EXACT, Block, Table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
GAPS = frozenset((*MISSING, "-", "--", ".", "n.a.", "na", "none"))  # beside numbers or dates
NEARLY_ALL = 0.99  # of the rows that are not missing must be numbers, or dates
MOST = 0.9  # of them: it stays text, with a note
MAJORITY = 0.5  # of them: it stays text, with a note if there are more than FEW_LEVELS numbers
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
SLASHED = re.compile(
    r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})( (\d{1,2})(:\d\d(:\d\d)?)( ?([AP])M)?)?", re.ASCII
)
TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(:([0-5]\d))?", re.ASCII)
LIMIT = re.compile(r"^[<>≤≥]=? ?(?=[\d.])")  # of detection
DAY_FIRST, MONTH_FIRST = "dates, the day first", "dates, the month first"
UNIT = re.compile(r"([A-Z]{3} )?[^a-zA-Z]*\d[^a-zA-Z]*?( ?[a-zA-Zµ°][a-zA-Zµ°/²³]{0,7})?")
READ_AS = {"dates": "days since 1970-01-01", "times": "fractions of a day"}  # others: "numbers"
# what numbers look like, and what is dropped of them, without and with decimal commas
FORMS = {
    "numbers": (NUMBER, re.compile(r"[$€£¥%,' \u00a0\u202f]")),
    "decimal commas": (COMMA, re.compile(r"[$€£¥%. \u00a0\u202f]")),
}


@dataclass(frozen=True)
class Parsed:
    """The levels of a column as numbers."""

    kind: str  # "numbers", "numbers in kg", "decimal commas", "times" or "dates"; see parse_values
    values: Floats  # NaN for levels that mean missing, or are no number
    example: str
    odd: tuple[str, ...]  # those that are no number
    share: float  # of the rows that are not missing; below NEARLY_ALL, the column is text
    limits: tuple[str, ...] = ()  # those such as "<0.7", which are read as 0.7


def parse_levels(levels: Sequence[Any], counts: Indices) -> Parsed | None:
    """The levels of a column of text as numbers or days, if most rows hold such values.

    Those of fewer rows than NEARLY_ALL are for a note only, see :class:`Parsed`.
    Whole numbers that are likely codes are left as they are, see :func:`_are_codes`.
    """
    texts = [NEGATIVE.sub(r"-\1\2", level.strip()) for level in levels if isinstance(level, str)]
    some = texts[:: max(1, len(texts) // LOOK)]
    if len(texts) < len(levels) or not any(
        text[:1].isdigit() or NUMBER.fullmatch(text) or UNIT.fullmatch(text) for text in some
    ):
        return None
    known, bare = np.array([text not in GAPS for text in texts]), [LIMIT.sub("", t) for t in texts]
    limited = np.array([a != b for a, b in zip(texts, bare, strict=True)])
    kind = _date_form(texts, some) or "numbers"
    if kind == "numbers" and 2 * counts[limited].sum() <= counts[known].sum():
        texts = bare
    values = parse_values(texts, kind)
    if kind == "numbers" and np.isnan(values[known]).any():
        if unit := _common_unit(list(compress(texts, known))):
            kind = f"numbers in {unit}"
            texts = [text.removeprefix(unit).removesuffix(unit).strip() for text in texts]
            values = parse_values(texts, "numbers")
        if any("," in text for text in texts):
            other = parse_values(texts, "decimal commas")
            if np.isnan(other).sum() < np.isnan(values).sum():
                kind, values = "decimal commas", other
    there = known & ~np.isnan(values)
    share = counts[there].sum() / max(1, counts[known].sum())
    # A few numbers among words are names of categories, such as "2" and "2 or more".
    least = MAJORITY if there.sum() > FEW_LEVELS else MOST
    if not there.any() or share < least:
        return None
    read = list(compress(texts, there))
    if kind[:5] not in READ_AS and _are_codes(read):
        return None
    if _are_merged(values[there]):
        return None
    odd = tuple(compress(texts, known & ~there))
    first = next((i for i, text in enumerate(read) if not WHOLE.fullmatch(text)), 0)
    example = str(levels[int(np.flatnonzero(there)[first])]).strip()
    limits = tuple(compress(levels, limited & there))
    return Parsed(kind, values, example, odd, float(share), limits)


def example_of(levels: Sequence[Any]) -> str:
    """The first of the levels of text that is no number, if there is one."""
    texts = [str(level) for level in levels]
    return next((text for text in texts if not NUMBER.fullmatch(text.strip())), texts[0])


def _date_form(texts: Sequence[str], some: Sequence[str]) -> str | None:
    """How dates are written; None if they are none, or day and month cannot be told apart."""
    if all(text in GAPS or TIME.fullmatch(text) for text in texts):
        return "times"
    if any(map(DATE.fullmatch, some)):
        return "dates"
    if not any(map(SLASHED.fullmatch, some)):
        return None
    found = [match for match in map(SLASHED.fullmatch, texts) if match]
    first, second = (max(int(match[i]) for match in found) for i in (1, 3))
    if second > 12:
        return MONTH_FIRST
    return DAY_FIRST if first > 12 or found[0][2] == "." else None


def _common_unit(texts: Sequence[str]) -> str:
    """The unit of most texts, before or after their numbers; empty if they have none."""
    found = Counter(match[1] or match[2] or "" for match in map(UNIT.fullmatch, texts) if match)
    unit, count = found.most_common(1)[0] if found else ("", 0)
    return unit.strip() if 2 * count > len(texts) else ""


def parse_values(texts: Sequence[str], kind: str) -> Floats:
    """Texts as numbers or days, NaN where that fails."""
    values = np.full(len(texts), np.nan)
    like, junk = FORMS.get(kind, ({"dates": DATE, "times": TIME}.get(kind, SLASHED), None))
    for i, text in enumerate(texts):
        if (match := like.fullmatch(text)) is None:
            continue
        if junk is not None:
            bare = text if text.isdecimal() else junk.sub("", text).replace(",", ".")
            values[i] = float(bare)
            continue
        if like is TIME:
            values[i] = int(match[1]) / 24 + int(match[2]) / 1440 + int(match[4] or 0) / 86400
            continue
        if like is SLASHED:
            day, month = match.group(1, 3) if kind == DAY_FIRST else match.group(3, 1)
            text = f"{match[4]}-{month:0>2}-{day:0>2}"
            if match[5]:
                hour = int(match[6]) % 12 + 12 * (match[10] == "P") if match[10] else match[6]
                text += f" {hour:0>2}{match[7]}"
        with suppress(ValueError):  # such as the 30th of February
            moment = datetime.fromisoformat(text)
            utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            values[i] = (utc - EPOCH) / timedelta(days=1)
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


def _are_merged(values: Floats) -> bool:
    """Whether numbers that are written differently are the same because float64 rounds them."""
    large = values[np.abs(values) >= MAX_EXACT]
    return len(np.unique(large)) < len(large)


def parse_text(table: Table, keep: Collection[int] = ()) -> Table:
    """The same table with numbers for text that holds numbers or dates, but for ``keep``."""
    found, blocks = dict[int, Parsed](), list[Block]()
    for block in table.blocks:
        if block.kind != "string" or block.categories is None:
            blocks.append(block)
            continue
        columns = zip(block.columns.tolist(), block.values.T, block.categories, strict=True)
        numbers = list[Floats]()
        for place, codes, levels in columns:
            counts = np.bincount(codes[codes >= 0], minlength=len(levels))
            if place not in keep and (parsed := parse_levels(levels, counts)) is not None:
                found[place] = parsed
                if parsed.share >= NEARLY_ALL:
                    numbers.append(np.append(parsed.values, np.nan)[codes])  # -1 is missing
        here = np.isin(block.columns, [j for j in found if found[j].share >= NEARLY_ALL])
        if numbers:
            blocks.append(Block(block.columns[here], "numeric", np.array(numbers).T))
        if not here.all():
            blocks.append(block.keep(~here))
    notes = (*table.notes, *notes_on(table.names, found))
    return replace(table, blocks=tuple(blocks), notes=notes)


def notes_on(names: Sequence[str], found: dict[int, Parsed]) -> list[str]:
    """A sentence for all columns of numbers, of dates and of times, and on those of most."""
    notes = []
    for kind, read_as in (("numbers", "numbers"), *READ_AS.items()):
        here = sorted(j for j in found if READ_AS.get(found[j].kind[:5], "numbers") == read_as)
        places = [j for j in here if found[j].share >= NEARLY_ALL]
        if text := [j for j in here if found[j].share < NEARLY_ALL]:
            each = ", ".join(f"{str(names[j])!r} ({found[j].share:.0%})" for j in text)
            notes.append(
                f"{each}: most values are {kind}, but others, such as {found[text[0]].odd[0]!r}, "
                f"make it text; replace them, for example by missing values, to use it as {kind}"
            )
        if places:
            quoted = ", ".join(repr(str(names[j])) for j in places)
            odd = sorted({text for j in places for text in found[j].odd})
            lost = f", {', '.join(map(repr, odd[:3]))} as missing" if odd else ""
            if limit := next((each.strip() for j in places for each in found[j].limits), ""):
                lost = f", {limit!r} as {LIMIT.sub('', limit)}{lost}"
            such = f"{kind} written as text, such as {found[places[0]].example!r}"
            notes.append(f"{quoted}: {such}; read as {read_as}{lost}; transform returns the text")
    return notes
