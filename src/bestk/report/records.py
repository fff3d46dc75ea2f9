"""The content of a report as records, and its names and numbers as text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestk.errors import printable
from bestk.plots import cut_middle
from bestk.problem.solution import Solution

if TYPE_CHECKING:
    from bestk.report.scores import FoldScores
    from bestk.selection.stability import StabilitySelection

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
    command: str = ""
    progress: Callable[[int, int], Any] | None = None


@dataclass(frozen=True)
class Feature:
    """A selected feature, or one that was nearly selected; in nats."""

    place: int  # in the table
    name: str
    relevance: float  # I(x; y)
    new_information: float  # the smallest I(x; y | x') over the selected features x'
    nearest: str  # that x'; "" if there is no other
    contribution: float = NAN  # to the objective


@dataclass(frozen=True)
class Caution:
    """A warning about the table or the selection."""

    kind: str  # "leak", "identifier", "copy", "class", "constant", "missing", "note", ...
    text: str
    again: str = ""  # code or a command that selects without the cause


@dataclass(frozen=True)
class Bin:
    """Rows of a column with the same value, or with values in the same range."""

    label: str
    counts: tuple[int, ...]  # rows of each class; of all, if the target is continuous
    value: float = NAN  # mean of the target, or rate of all classes but the most frequent

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.counts)


@dataclass(frozen=True)
class Column:
    """A column, as it is listed, or with its bins."""

    name: str
    kind: str
    missing: int
    distinct: int
    relevance: float = NAN
    rank: int | None = None  # in the selection
    bins: tuple[Bin, ...] = ()
    trend: str = ""  # of the target from bin to bin


@dataclass(frozen=True)
class TableFacts:
    """How the table was read."""

    n_samples: int
    n_features: int
    kinds: Mapping[str, int]  # number of columns of each kind
    missing: int  # values
    classes: tuple[tuple[str, int], ...]  # with their rows
    groups: tuple[str, ...]  # the classes of the counts of bins, rare ones in one
    usual: int | None  # the group whose complement is shown as a rate
    overall: float  # mean of the target, or that rate
    information: str
    discretizer: str
    columns: tuple[Column, ...]  # the selected ones
    listed: tuple[Column, ...]  # all, or the most relevant


@dataclass(frozen=True)
class Facts:
    """The content of a report."""

    target: str
    method: str
    solution: Solution
    features: tuple[Feature, ...]
    runners_up: tuple[Feature, ...]
    table: TableFacts
    choices: Mapping[str, tuple[int, ...]]  # by method, this one first; best first
    cautions: tuple[Caution, ...]
    settings: Mapping[str, str]
    code: str
    command: str
    versions: Mapping[str, str]
    stability: "StabilitySelection | None"
    scores: "FoldScores | None" = None
    unmeasured: str = ""  # why there are no scores


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
