"""What a report tells, as records: no page, no table, no measuring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bestk.report._columns import Column

NAN = float("nan")


@dataclass(frozen=True)
class Feature:
    """A selected feature, or one that came near, in nats."""

    place: int  # in the table
    name: str
    relevance: float  # what it says of the target alone
    new_information: float  # the smallest I(x; y | x') over the other selected features x'
    nearest: str  # that one; "" where it is alone
    contribution: float = NAN  # its part of the objective


@dataclass(frozen=True)
class Certificate:
    """How good the choice provably is."""

    objective: float
    upper_bound: float
    gap: float
    solver: str
    greedy: bool
    quality: str  # the gap in words


@dataclass(frozen=True)
class Caution:
    """Something to look at."""

    kind: str  # "leak", "identifier", "duplicate", "class", "constant", "missing" or "note"
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Listed:
    """A column of the table in one line."""

    name: str
    kind: str
    missing: int
    distinct: int
    relevance: float
    rank: int | None  # in the selection


@dataclass(frozen=True)
class TableFacts:
    """How the table was read; what only its rows could tell is None where they are not at hand."""

    n_samples: int | None
    n_features: int
    kinds: Mapping[str, int] = field(default_factory=dict)  # how many columns of each
    missing: int | None = None  # values
    classes: tuple[tuple[str, int], ...] = ()  # with their rows
    continuous: bool = False
    information: str = "discrete"
    discretizer: str = ""
    columns: tuple[Column, ...] = ()  # the selected ones
    listed: tuple[Listed, ...] = ()  # all, or the most relevant


@dataclass(frozen=True)
class Curve:
    """Errors of one method, or scores, against the number of features."""

    name: str
    ks: tuple[int, ...]
    means: tuple[float, ...]  # over the folds
    deviations: tuple[float, ...]

    def at(self, k: int) -> tuple[float, float]:
        """The mean and the deviation with k features; NaN where they were not measured."""
        known = dict(zip(self.ks, zip(self.means, self.deviations, strict=True), strict=True))
        return known.get(k, (NAN, NAN))


@dataclass(frozen=True)
class Errors:
    """Cross-validated errors, by method and number of features."""

    curves: tuple[Curve, ...]  # the reported one first
    measure: str
    model: str
    folds: int
    share: bool = False  # of the rows, told in percent
    rising: bool = False  # a score: more is better
    guess: float = NAN  # the error of a model that sees no feature
    notes: tuple[str, ...] = ()  # what was warned of on the way


@dataclass(frozen=True)
class Choice:
    """What a method selects from all rows."""

    method: str
    support: tuple[int, ...]  # best first
    shared: int  # with the selection that is reported


@dataclass(frozen=True)
class Comparison:
    """The selection beside those of other methods."""

    choices: tuple[Choice, ...]  # the reported one first
    errors: Errors | None
    reason: str = ""  # why there are no errors


@dataclass(frozen=True)
class Facts:
    """All that a report tells; what needs the table is None where there was none."""

    target: str
    method: str
    features: tuple[Feature, ...]
    pairs: NDArray[np.float64]  # [i, j]: what feature j says once feature i is known
    certificate: Certificate
    columns: tuple[str, ...] = ()  # the names of the features as they are, not as they are shown
    runners_up: tuple[Feature, ...] = ()
    tried: Errors | None = None  # how k="auto" was chosen
    reading: TableFacts | None = None
    comparison: Comparison | None = None
    cautions: tuple[Caution, ...] | None = None
    absent: str = ""  # what is not told, why, and what to do
    names: Sequence[str] = ()  # of all columns
    settings: Mapping[str, str] | None = None
    code: str = ""
    command: str = ""
    versions: Mapping[str, str] | None = None
    date: str = ""
