"""Numbers and dates that are written as text: of tables and targets, in memory and in files.

``parse_levels`` decides how the different texts of a column are written, and reads them.
``parse_column`` and ``parse_text`` apply it to a column and to a table. FORMS has the forms in
which numbers are written; one that is added to it is tried before the others.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices, Mask
from bestk.tables.table import MAX_EXACT, Block, Table

# Dates are read as days since then.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Texts that stand for a missing value in every column of a file, as in pandas.
MISSING = (
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "?",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
)

# Texts that stand for a missing value beside numbers or dates.
GAPS = frozenset((*MISSING, "-", "--", ".", "n.a.", "na", "none"))

# A column is read as numbers or dates if at least this share of its rows holds such values. All
# shares are of the rows that are not missing.
NEARLY_ALL = 0.99

# With fewer, the column stays text; a note says so if at least this share holds such values.
MOST = 0.9

# The same share for a column with more than FEW_LEVELS different numbers: a few numbers among
# words are names of categories, such as "2" and "2 or more".
MAJORITY = 0.5

# At most so many different whole numbers may be codes.
FEW_LEVELS = 20

# Whole numbers that all have the same number of digits, and at least so many, may be codes.
CODE_DIGITS = 5

# Float64 represents all whole numbers of so many digits.
EXACT_DIGITS = 15

# The number of different texts that show whether a column is worth parsing, and how dates are
# written in it.
SAMPLE_LEVELS = 50

CURRENCY = "[$€£¥]?"
NUMBER = re.compile(
    rf"[+-]?{CURRENCY} ?[+-]?(\d{{1,3}}([,' \u00a0\u202f]\d{{3}})+|\d+)?(?(1)(\.\d*)?|\.\d+)"
    r"([eE][+-]?\d+)? ?[%$€£¥]?",
    re.ASCII,
)
NO_PART_OF_NUMBER = re.compile(r"[$€£¥%,' \u00a0\u202f]")
NUMBER_WITH_COMMA = re.compile(
    rf"[+-]?{CURRENCY} ?[+-]?(\d{{1,3}}([. \u00a0\u202f]\d{{3}})+|\d+)(,\d+)? ?[%$€£¥]?", re.ASCII
)
NO_PART_OF_NUMBER_WITH_COMMA = re.compile(r"[$€£¥%. \u00a0\u202f]")
WHOLE = re.compile(r"[+-]?(\d+)", re.ASCII)
NEGATIVE_OF_ACCOUNTANTS = re.compile(r"^\((.*\d.*)\)$|^(.*\d.*)-$")
DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
SLASHED_DATE = re.compile(
    r"(?P<first>\d{1,2})(?P<separator>[/.-])(?P<second>\d{1,2})(?P=separator)(?P<year>\d{4})"
    r"(?P<time> (?P<hour>\d{1,2})(?P<minutes>:\d\d(:\d\d)?)( ?(?P<half_of_day>[AP])M)?)?",
    re.ASCII,
)
TIME = re.compile(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(:(?P<second>[0-5]\d))?", re.ASCII)
LIMIT_OF_DETECTION = re.compile(r"^[<>≤≥]=? ?(?=[\d.])")
UNIT = re.compile(r"([A-Z]{3} )?[^a-zA-Z]*\d[^a-zA-Z]*?( ?[a-zA-Zµ°][a-zA-Zµ°/²³]{0,7})?")

# The names of the forms in which texts are written; see FORMS. The form of numbers with a unit
# names this, as "numbers in kg".
NUMBERS = "numbers"
DECIMAL_COMMAS = "decimal commas"
DATES = "dates"
DAY_FIRST = "dates, the day first"
MONTH_FIRST = "dates, the month first"
TIMES = "times"

What = Literal["numbers", "dates", "times"]

# What the texts are read as, in the words of a note.
READ_AS: dict[What, str] = {
    "numbers": "numbers",
    "dates": "days since 1970-01-01",
    "times": "fractions of a day",
}


def _read_number(text: str) -> float:
    """A number with a decimal point, such as "-1,234.5" or "$7"; NaN for other text."""
    if not NUMBER.fullmatch(text):
        return np.nan
    return float(text if text.isdecimal() else NO_PART_OF_NUMBER.sub("", text))


def _read_number_with_comma(text: str) -> float:
    """A number with a decimal comma, such as "1.234,5"; NaN for other text."""
    if not NUMBER_WITH_COMMA.fullmatch(text):
        return np.nan
    return float(NO_PART_OF_NUMBER_WITH_COMMA.sub("", text).replace(",", "."))


def _read_time(text: str) -> float:
    """A time of day, such as "18:30", as a fraction of the day; NaN for other text."""
    match = TIME.fullmatch(text)
    if match is None:
        return np.nan
    hours = int(match["hour"]) / 24
    minutes = int(match["minute"]) / 1440
    seconds = int(match["second"] or 0) / 86400
    return hours + minutes + seconds


def _read_date(text: str) -> float:
    """A date as ISO 8601 writes it, as days since 1970; NaN for other text."""
    if not DATE.fullmatch(text):
        return np.nan
    return _days_since_epoch(text)


def _read_day_first(text: str) -> float:
    """A date such as "31/12/2024", as days since 1970; NaN for other text."""
    match = SLASHED_DATE.fullmatch(text)
    if match is None:
        return np.nan
    iso = _as_iso(match, day=match["first"], month=match["second"])
    return _days_since_epoch(iso)


def _read_month_first(text: str) -> float:
    """A date such as "12/31/2024", as days since 1970; NaN for other text."""
    match = SLASHED_DATE.fullmatch(text)
    if match is None:
        return np.nan
    iso = _as_iso(match, day=match["second"], month=match["first"])
    return _days_since_epoch(iso)


def _as_iso(match: re.Match[str], day: str, month: str) -> str:
    """What SLASHED_DATE has matched, as ISO 8601 writes it."""
    date = f"{match['year']}-{month:0>2}-{day:0>2}"
    if not match["time"]:
        return date
    hour = match["hour"]
    if match["half_of_day"]:
        is_afternoon = match["half_of_day"] == "P"
        hour = str(int(hour) % 12 + (12 if is_afternoon else 0))
    return f"{date} {hour:0>2}{match['minutes']}"


def _days_since_epoch(text: str) -> float:
    """A date of ISO 8601, in universal time unless it says otherwise; NaN if there is no such."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:  # such as the 30th of February
        return np.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) / timedelta(days=1)


@dataclass(frozen=True)
class TextForm:
    """A form in which people write numbers or dates."""

    what: What
    """What such a text means."""

    read: Callable[[str], float]
    """The number of a text, NaN for a text of another form. Dates are days since EPOCH."""


FORMS: dict[str, TextForm] = {
    NUMBERS: TextForm("numbers", _read_number),
    DECIMAL_COMMAS: TextForm("numbers", _read_number_with_comma),
    DATES: TextForm("dates", _read_date),
    DAY_FIRST: TextForm("dates", _read_day_first),
    MONTH_FIRST: TextForm("dates", _read_month_first),
    TIMES: TextForm("times", _read_time),
}

# These forms are recognized by regular expressions; others are tried before them.
RECOGNIZED = frozenset((NUMBERS, DECIMAL_COMMAS, DATES, DAY_FIRST, MONTH_FIRST, TIMES))


@dataclass(frozen=True)
class ParsedText:
    """The different texts of a column as numbers."""

    form: str
    """How they are written: a key of FORMS, or "numbers in kg" and other units."""

    values: Floats
    """The number of each text; NaN for one that means missing, or is no number."""

    example: str
    """One of the texts that are numbers."""

    odd: tuple[str, ...]
    """The texts that are neither numbers nor missing."""

    share: float
    """The share of rows that hold numbers; below NEARLY_ALL, the column stays text."""

    limits: tuple[str, ...] = ()
    """The texts such as "<0.7", which are read as 0.7."""

    @property
    def what(self) -> What:
        """What the texts mean."""
        return _meaning(self.form)

    @property
    def is_numeric(self) -> bool:
        """Whether the column is to be read as numbers."""
        return self.share >= NEARLY_ALL


def _meaning(form: str) -> What:
    """What texts of a form mean; those with a unit are numbers."""
    return FORMS[form].what if form in FORMS else "numbers"


def parse_levels(levels: Sequence[Any], counts: Indices) -> ParsedText | None:
    """Read the different texts of a column as numbers or dates, if most of its rows hold such.

    None if they do not, or if the numbers are likely codes, see :func:`_are_codes`.

    Parameters
    ----------
    levels : sequence of str
        The different values of the column. If one of them is no text, none is read.
    counts : ndarray
        The number of rows of each.
    """
    words = [level.strip() for level in levels if isinstance(level, str)]
    if len(words) < len(levels):
        return None
    texts = [NEGATIVE_OF_ACCOUNTANTS.sub(r"-\1\2", word) for word in words]
    sample = texts[:: max(1, len(texts) // SAMPLE_LEVELS)]
    form = _other_form(sample)
    if form is None and not any(_may_be_number(text) for text in sample):
        return None
    if form is None:
        form = _date_form(texts, sample) or NUMBERS
    is_value = np.array([text not in GAPS for text in texts])
    without_limits = [LIMIT_OF_DETECTION.sub("", text) for text in texts]
    is_limit = np.array([text != bare for text, bare in zip(texts, without_limits, strict=True)])
    rows_of_limits = counts[is_limit].sum()
    rows_of_values = counts[is_value].sum()
    if form == NUMBERS and 2 * rows_of_limits <= rows_of_values:
        texts = without_limits
    values = parse_values(texts, form)
    if form == NUMBERS and np.isnan(values[is_value]).any():
        form, texts, values = _parse_other_numbers(texts, values, is_value)
    is_read = is_value & ~np.isnan(values)
    n_read = is_read.sum()
    share = counts[is_read].sum() / max(1, rows_of_values)
    min_share = MAJORITY if n_read > FEW_LEVELS else MOST
    if not n_read or share < min_share:
        return None
    numbers = list(compress(texts, is_read))
    if _meaning(form) == "numbers" and _are_codes(numbers):
        return None
    if _are_merged(values[is_read]):
        return None
    return ParsedText(
        form=form,
        values=values,
        example=_example_of_numbers(list(compress(words, is_read)), numbers),
        odd=tuple(compress(texts, is_value & ~is_read)),
        share=float(share),
        limits=tuple(compress(levels, is_limit & is_read)),
    )


def _example_of_numbers(words: list[str], numbers: list[str]) -> str:
    """The first word whose number is not whole, since that shows most, or else the first."""
    for word, number in zip(words, numbers, strict=True):
        if not WHOLE.fullmatch(number):
            return word
    return words[0]


def _other_form(sample: Sequence[str]) -> str | None:
    """The first other form that reads all of some texts but those that mean missing."""
    values = [text for text in sample if text not in GAPS]
    for name, form in FORMS.items():
        if name in RECOGNIZED or not values:
            continue
        if not any(np.isnan(form.read(text)) for text in values):
            return name
    return None


def _may_be_number(text: str) -> bool:
    """Whether a text looks like a number or a date, if only at its beginning."""
    if text[:1].isdigit():
        return True
    return bool(NUMBER.fullmatch(text) or UNIT.fullmatch(text))


def example_of(levels: Sequence[Any]) -> str:
    """The first of the different texts of a column that is no number, or else the first."""
    texts = [str(level) for level in levels]
    for text in texts:
        if not NUMBER.fullmatch(text.strip()):
            return text
    return texts[0]


def _date_form(texts: Sequence[str], sample: Sequence[str]) -> str | None:
    """How dates are written; None if they are none, or day and month cannot be told apart.

    ``sample`` are some of the texts; times are recognized by all of them.
    """
    if all(text in GAPS or TIME.fullmatch(text) for text in texts):
        return TIMES
    if any(map(DATE.fullmatch, sample)):
        return DATES
    if not any(map(SLASHED_DATE.fullmatch, sample)):
        return None
    matches = [match for match in map(SLASHED_DATE.fullmatch, texts) if match]
    if max(int(match["second"]) for match in matches) > 12:
        return MONTH_FIRST
    largest_first = max(int(match["first"]) for match in matches)
    with_points = matches[0]["separator"] == "."
    return DAY_FIRST if largest_first > 12 or with_points else None


class _OtherNumbers(NamedTuple):
    form: str
    texts: list[str]
    values: Floats


def _parse_other_numbers(texts: list[str], values: Floats, is_value: Mask) -> _OtherNumbers:
    """Numbers with units or decimal commas: their form, the texts without units, the numbers.

    ``values`` are what is read without regard to these. ``is_value``: which texts are not missing.
    """
    form = NUMBERS
    unit = _common_unit(list(compress(texts, is_value)))
    if unit:
        form = f"numbers in {unit}"
        texts = [text.removeprefix(unit).removesuffix(unit).strip() for text in texts]
        values = parse_values(texts, NUMBERS)
    if any("," in text for text in texts):
        with_commas = parse_values(texts, DECIMAL_COMMAS)
        n_unread = np.isnan(values).sum()
        if np.isnan(with_commas).sum() < n_unread:
            return _OtherNumbers(DECIMAL_COMMAS, texts, with_commas)
    return _OtherNumbers(form, texts, values)


def _common_unit(texts: Sequence[str]) -> str:
    """The unit of most texts, before or after their numbers; empty if they have none."""
    matches = [match for match in map(UNIT.fullmatch, texts) if match]
    if not matches:
        return ""
    units = Counter(match[1] or match[2] or "" for match in matches)
    unit, count = units.most_common(1)[0]
    return unit.strip() if 2 * count > len(texts) else ""


def parse_values(texts: Sequence[str], form: str) -> Floats:
    """The number of each text, NaN where it is not of a form; see FORMS."""
    read = FORMS[form].read
    values = np.array([read(text) for text in texts], np.float64)
    values[np.isinf(values)] = np.nan
    return values


def _are_codes(texts: list[str]) -> bool:
    """Whether whole numbers are likely codes, such as of places or products."""
    matches = [WHOLE.fullmatch(text) for text in texts]
    digits = [match[1] for match in matches if match]
    are_long = any(len(code) > EXACT_DIGITS for code in digits)
    begin_with_zero = any(len(code) > 1 and code[0] == "0" for code in digits)
    if are_long or begin_with_zero:
        return True
    if len(digits) < len(texts):
        return False
    lengths = set(map(len, digits))
    are_alike = len(lengths) == 1 and min(lengths) >= CODE_DIGITS
    return are_alike or len(digits) <= FEW_LEVELS


def _are_merged(values: Floats) -> bool:
    """Whether numbers that are written differently are the same because float64 rounds them."""
    large = values[np.abs(values) >= MAX_EXACT]
    return len(np.unique(large)) < len(large)


def parse_column(codes: Array, levels: Sequence[Any]) -> ParsedText | None:
    """Read a column of text as numbers or dates; see :func:`parse_levels`.

    ``codes`` are the places of its values among the levels, -1 where missing.
    """
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    return parse_levels(levels, counts)


def parse_text(table: Table, keep: Collection[int] = ()) -> Table:
    """The same table with numbers for text that holds numbers or dates, and notes on them.

    ``keep``: the places of the columns whose text stays as it is.
    """
    parsed_columns: dict[int, ParsedText] = {}
    blocks: list[Block] = []
    for block in table.blocks:
        if block.kind != "string" or block.categories is None:
            blocks.append(block)
            continue
        is_numeric = np.zeros(len(block.columns), bool)
        numbers: list[Floats] = []
        for j, place in enumerate(block.columns.tolist()):
            codes = block.values[:, j]
            parsed = None if place in keep else parse_column(codes, block.categories[j])
            if parsed is None:
                continue
            parsed_columns[place] = parsed
            if parsed.is_numeric:
                is_numeric[j] = True
                # The code of a missing value, -1, is the place of the last value: NaN.
                numbers.append(np.append(parsed.values, np.nan)[codes])
        if numbers:
            blocks.append(Block(block.columns[is_numeric], "numeric", np.array(numbers).T))
        if not is_numeric.all():
            blocks.append(block.keep(~is_numeric))
    named = [(str(table.names[place]), parsed) for place, parsed in sorted(parsed_columns.items())]
    notes = (*table.notes, *notes_on(named))
    return replace(table, blocks=tuple(blocks), notes=notes)


def notes_on(columns: Sequence[tuple[str, ParsedText]]) -> list[str]:
    """Sentences on columns of text that holds numbers, dates or times, given with their names.

    One names all columns that are read as numbers, and one all that stay text although most of
    their rows hold numbers; so for dates and for times.
    """
    notes: list[str] = []
    for what in READ_AS:
        of_this = [(name, parsed) for name, parsed in columns if parsed.what == what]
        as_text = [(name, parsed) for name, parsed in of_this if not parsed.is_numeric]
        as_numbers = [(name, parsed) for name, parsed in of_this if parsed.is_numeric]
        if as_text:
            notes.append(_note_on_text(as_text, what))
        if as_numbers:
            notes.append(f"{note_on_numbers(as_numbers, what)}; transform returns the text")
    return notes


def _note_on_text(columns: Sequence[tuple[str, ParsedText]], what: What) -> str:
    """A sentence on columns that stay text although most of their rows hold numbers."""
    shares = ", ".join(f"{name!r} ({parsed.share:.0%})" for name, parsed in columns)
    first = columns[0][1]
    return (
        f"{shares}: most values are {what}, but others, such as {first.odd[0]!r}, make it text; "
        f"replace them, for example by missing values, to use it as {what}"
    )


def note_on_numbers(columns: Sequence[tuple[str, ParsedText]], what: What) -> str:
    """A sentence on columns of text that are read as numbers: how, and what is taken as missing."""
    names = ", ".join(repr(name) for name, _ in columns)
    first = columns[0][1]
    sentence = (
        f"{names}: {what} written as text, such as {first.example!r}; read as {READ_AS[what]}"
    )
    limits = [limit.strip() for _, parsed in columns for limit in parsed.limits]
    if limits:
        sentence += f", {limits[0]!r} as {LIMIT_OF_DETECTION.sub('', limits[0])}"
    odd = sorted({text for _, parsed in columns for text in parsed.odd})
    if odd:
        sentence += f", {', '.join(map(repr, odd[:3]))} as missing"
    return sentence
