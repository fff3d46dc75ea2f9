"""The arguments of a report, its warnings, and its names and numbers as text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_consistent_length

from bestk.errors import ParameterError, cut_middle, printable
from bestk.tables.frames import as_array

# The largest number of characters of a name.
MAX_TEXT = 120

# A dash in place of a number that is missing.
NO_VALUE = "\u2013"
NAN = float("nan")


@dataclass(frozen=True)
class ReportRequest:
    """The arguments of make_report."""

    selected: Any
    """A fitted selector."""

    X: Any = None
    y: Any = None

    target: str = "y"
    """The name of y."""

    errors: bool = True
    """Whether scores are to be measured."""

    stability: int | None = None
    """The number of subsamples; None: as many as take little time."""

    groups: Any = None
    """The group of each row."""

    sample_weight: Any = None
    """How much each row counts."""

    scoring: Any = None
    cv: Any = None

    notes: Sequence[str] = ()
    """Further warnings to show."""

    path: str | None = None
    """The file that was read."""

    dropped: Sequence[str] = ()
    """Its columns that were not used."""

    group_column: str | None = None
    """Its column of groups."""

    command: str = ""
    """The command that selects the same."""

    progress: Callable[[int, int], Any] | None = None
    """Called after each fold with the number of folds done and of all."""

    def check(self) -> None:
        """Refuse options without effect, and groups or weights that are missing."""
        has_scores = hasattr(self.selected, "cv_results_")
        if self.lacks_groups and self.errors and not has_scores:
            raise ParameterError(
                "the selector was fitted with groups of rows, and the report needs them, too: "
                "scores of rows of the same group in different folds are too good; pass the "
                "groups of the rows of X, as make_report(..., groups=groups)"
            )
        if self.sample_weight is None and getattr(self.selected, "is_weighted_", False):
            raise ParameterError(
                "the selector was fitted with weights of rows, and the report needs them, too: "
                "without them its scores and relevance are those of another table; pass the "
                "weights of the rows of X, as make_report(..., sample_weight=sample_weight)"
            )
        if getattr(self.selected, "n_covariates_", 0):
            raise ParameterError(
                "the selector was fitted with a table of covariates, which a report does not take; "
                "add its columns to X, and pass their names as the parameter covariates"
            )
        if self.groups is not None:
            check_consistent_length(self.y, as_array(self.groups))
        for name, value in (("scoring", self.scoring), ("cv", self.cv)):
            if value is None:
                continue
            if has_scores:
                kind = type(self.selected).__name__
                raise ParameterError(
                    f"{name} has no effect on the report of a {kind}, which shows the scores that "
                    f"chose k; pass {name} to {kind}"
                )
            if not self.errors:
                raise ParameterError(
                    f"{name} has no effect without scores; leave it out, or pass errors=True"
                )

    @property
    def lacks_groups(self) -> bool:
        """Whether the selector was fitted with groups, and the report has none."""
        return self.groups is None and getattr(self.selected, "n_groups_", None) is not None

    @property
    def used_scoring(self) -> Any:
        """The scorer that was asked for here or of the selector; None: one for the target."""
        if self.scoring is not None:
            return self.scoring
        return getattr(self.selected, "scoring", None)

    @property
    def used_cv(self) -> Any:
        """The folds that were asked for here or of the selector; None: the default."""
        if self.cv is not None:
            return self.cv
        return getattr(self.selected, "cv", None)


@dataclass(frozen=True)
class Caution:
    """A warning about the table or the selection."""

    kind: str
    """What it is about, such as "leak", "identifier", "copy", "class", "missing" or "note"."""

    text: str


def format_text(value: Any, longest: int = MAX_TEXT) -> str:
    """A value as visible text, control characters escaped, cut in the middle if too long."""
    text = cut_middle(printable(str(value)), longest)
    if not text:
        return "(empty)"
    return text if text.strip() else f"(blank) {text}".strip()


def join_some(texts: Sequence[str], n_shown: int, between: str = ", ", what: str = "") -> str:
    """The first texts, and how many more there are; ``what`` names these, as in "2 more rows"."""
    joined = between.join(texts[:n_shown])
    n_others = len(texts) - n_shown
    if n_others <= 0:
        return joined
    others = f"{n_others:,} more {what}" if what else f"{n_others:,} more"
    return f"{joined} and {others}"


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
