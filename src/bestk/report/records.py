"""The arguments of a report, its warnings, and its names and numbers as text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bestk.errors import printable
from bestk.plots import cut_middle

MAX_TEXT = 120  # characters of a name
NO_VALUE = "\u2013"
NAN = float("nan")


@dataclass(frozen=True)
class ReportRequest:
    """The arguments of make_report."""

    selected: Any  # a fitted selector
    X: Any = None
    y: Any = None
    target: str = "y"
    errors: bool = True
    stability: int | None = None  # number of subsamples; None: as many as take little time
    notes: Sequence[str] = ()  # further warnings
    path: str | None = None  # of the file that was read
    dropped: Sequence[str] = ()  # its columns that were not used
    groups: str | None = None  # its column of groups
    command: str = ""
    progress: Callable[[int, int], Any] | None = None


@dataclass(frozen=True)
class Caution:
    """A warning about the table or the selection."""

    kind: str  # "leak", "identifier", "copy", "class", "constant", "missing", "note", ...
    text: str


def format_text(value: Any, longest: int = MAX_TEXT) -> str:
    """A value as visible text, control characters escaped, cut in the middle if too long."""
    text = cut_middle(printable(str(value)), longest)
    return text if text.strip() else f"(blank) {text}".strip() if text else "(empty)"


def join_some(texts: Sequence[str], most: int, between: str = ", ", what: str = "") -> str:
    """Some texts, and how many more there are."""
    rest = len(texts) - most
    more = f" and {rest:,} more{' ' * bool(what)}{what}" if rest > 0 else ""
    return between.join(texts[:most]) + more


def format_number(value: float, digits: int = 4) -> str:
    """A number with a few digits, never minus zero; a dash for NaN."""
    if value != value:
        return NO_VALUE
    if isinstance(value, int):
        return f"{value:,}"
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def format_score(value: float, percent: bool = False) -> str:
    """An error or a score with three digits, or in percent."""
    if value != value:
        return NO_VALUE
    if percent:
        return f"{value:.1%}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) <= 1 else f"{value:.4g}"
