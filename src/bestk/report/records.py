"""The content of a report as records, and its names and numbers as text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Any

from bestk.errors import printable
from bestk.problem.solution import Solution

MAX_TEXT = 120  # characters of a name
NO_VALUE = "\u2013"
NAN = float("nan")


@dataclass(frozen=True)
class ReportRequest:
    """The arguments of make_report."""

    selected: Any  # a selector or a solution
    X: Any = None
    y: Any = None
    target: str = "y"
    errors: bool = True
    date: str = ""
    notes: Sequence[str] = ()  # further warnings
    solution: Solution | None = None  # of a selector that is not fitted
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

    @property
    def shared(self) -> float:
        """The part of the relevance that the nearest feature has, too."""
        return self.relevance - self.new_information if self.nearest else NAN


@dataclass(frozen=True)
class Caution:
    """A warning about the table or the selection."""

    kind: str  # "leak", "identifier", "copy", "class", "constant", "missing", "note", ...
    text: str


@dataclass(frozen=True)
class Bin:
    """The rows of a column that have the same code."""

    label: str
    counts: tuple[int, ...]  # rows of each class; of all, if there are no classes


@dataclass(frozen=True)
class Column:
    """How a column was read; None and NaN where the rows are not available."""

    name: str
    kind: str
    missing: int | None = None
    distinct: int | None = None
    relevance: float = NAN
    rank: int | None = None  # in the selection
    cuts: tuple[float, ...] = ()  # between the bins of numbers
    bins: tuple[Bin, ...] = ()  # none if numbers were not cut


@dataclass(frozen=True)
class TableFacts:
    """How the table was read; None where the rows are not available."""

    n_samples: int | None
    n_features: int
    kinds: Mapping[str, int] = field(default_factory=dict)  # number of columns of each kind
    missing: int | None = None  # values
    classes: tuple[tuple[str, int], ...] = ()  # with their rows
    groups: tuple[str, ...] = ()  # the classes of the counts of bins, rare ones in one
    continuous: bool = False
    information: str = "discrete"
    discretizer: str = ""
    columns: tuple[Column, ...] = ()  # the selected ones
    listed: tuple[Column, ...] = ()  # all, or the most relevant


@dataclass(frozen=True)
class Curve:
    """Errors or scores of one method against the number of features."""

    name: str
    ks: tuple[int, ...]
    means: tuple[float, ...]  # over the folds
    deviations: tuple[float, ...]

    def at(self, k: int) -> tuple[float, float]:
        """Mean and standard deviation with k features; NaN if they were not measured."""
        known = dict(zip(self.ks, zip(self.means, self.deviations, strict=True), strict=True))
        return known.get(k, (NAN, NAN))

    def known(self) -> list[tuple[int, float]]:
        """The numbers of features and their finite means."""
        both = zip(self.ks, self.means, strict=True)
        return [(k, mean) for k, mean in both if isfinite(mean)]


@dataclass(frozen=True)
class Errors:
    """Cross-validated errors or scores, by method and number of features."""

    curves: tuple[Curve, ...]  # the reported method first
    measure: str
    model: str
    folds: int
    percent: bool = False
    rising: bool = False  # a score: higher is better
    guess: float = NAN  # of a model that uses no feature
    notes: tuple[str, ...] = ()  # warnings of the models

    @property
    def ks(self) -> list[int]:
        """All numbers of features."""
        return sorted({k for curve in self.curves for k in curve.ks})

    def advantage(self, k: int) -> float:
        """How much better than guessing k features are, in standard errors."""
        mean, deviation = self.curves[0].at(k)
        better = mean - self.guess if self.rising else self.guess - mean
        return better / max(deviation / sqrt(self.folds), 1e-12)

    def enough(self) -> tuple[int, int]:
        """The smallest k within one standard error of the best, and the best k."""
        curve, sign = self.curves[0], -1 if self.rising else 1
        loss = {k: sign * mean for k, mean in zip(curve.ks, curve.means, strict=True)}
        best = min(loss, key=lambda k: (loss[k] != loss[k], loss[k], k))
        limit = loss[best] + curve.at(best)[1] / sqrt(self.folds)
        return min((k for k in loss if loss[k] <= limit), default=best), best


@dataclass(frozen=True)
class OtherMethods:
    """The selection compared with those of other methods."""

    choices: Mapping[str, tuple[int, ...]]  # best first, by method; the reported one first
    errors: Errors | None
    reason: str = ""  # why there are no errors

    def ranks(self) -> list[tuple[int, list[float]]]:
        """The places of all selected features, with the rank of each by every method."""
        ranks = [{p: i for i, p in enumerate(places, 1)} for places in self.choices.values()]
        places = dict.fromkeys(p for support in self.choices.values() for p in support)
        return [(place, [rank.get(place, NAN) for rank in ranks]) for place in places]


@dataclass(frozen=True)
class RelevantColumn:
    """A column that carries information about the target."""

    name: str
    partner: str  # "" if it is most informative alone
    information: float  # I(x; y), or I(x; y | partner), in nats
    qvalue: float
    rank: int | None  # in the selection


@dataclass(frozen=True)
class Relevant:
    """All columns that carry information, and how they were tested."""

    n_tested: int
    fdr: float
    pairs: bool
    n_permutations: int
    columns: tuple[RelevantColumn, ...]  # smallest p-value first


@dataclass(frozen=True)
class Facts:
    """The content of a report; None for what needs the table, if there was none."""

    target: str
    method: str
    solution: Solution
    features: tuple[Feature, ...]
    runners_up: tuple[Feature, ...] = ()
    tried: Errors | None = None  # how k="auto" was chosen
    table: TableFacts | None = None
    comparison: OtherMethods | None = None
    relevant: Relevant | None = None
    cautions: tuple[Caution, ...] | None = None
    absent: str = ""  # what is missing, and how to get it
    settings: Mapping[str, str] | None = None
    code: str = ""
    command: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str = ""


def format_text(value: Any, longest: int = MAX_TEXT) -> str:
    r"""A value as visible text, control characters escaped, cut in the middle if too long.

    Examples
    --------
    >>> print(format_text("a\tb"), format_text("x" * 9, longest=5), format_text(""))
    a\tb xx…xx (empty)
    """
    text = printable(str(value))
    if len(text) > longest:
        head = longest // 2
        text = f"{text[:head]}…{text[len(text) - (longest - head - 1) :]}"
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


def format_error(value: float, percent: bool = False) -> str:
    """An error or a score with four digits, or in percent."""
    if value != value:
        return NO_VALUE
    if percent:
        return f"{value:.1%}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
