"""Made-up ordinary tables with known relevant columns: ``make(family, seed, rows)``.

Every family has groups of correlated columns among the noise, as ordinary tables do. A group of
relevant columns is recovered by any of its members; columns of no group are independent of the
target. Seeds 0-4 are for tuning, seeds 100-104 and, later, 300-302 for judging. Two families,
those at positions 2 and 5 of the sorted names, are for judging only. The rule was fixed before any
result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.quality.problem import Half, Kind, Problem

Floats = NDArray[np.float64]
TUNE_SEEDS = range(5)
JUDGE_SEEDS = range(100, 105)
NEW_JUDGE_SEEDS = range(300, 303)
JUDGE_ONLY = (2, 5)  # positions among the sorted names of families
TRAINING_ROWS = 2000
MORE_ROWS = {"imbalance": 4000, "labels_40": 5000}  # else no method can find the columns
DAYS_PER_YEAR = 365.25


@dataclass
class Draft:
    """Columns drawn so far."""

    rng: np.random.Generator

    rows: int

    columns: dict[str, Any] = field(default_factory=dict)

    groups: list[tuple[str, ...]] = field(default_factory=list)
    """Names of relevant columns; any one of a group recovers it."""

    score: Floats = field(default_factory=lambda: np.zeros(0))
    """The sum of what the columns contribute to the target, one number for each row."""

    def __post_init__(self) -> None:
        self.score = np.zeros(self.rows)

    def normal(self, *shape: int) -> Floats:
        """Independent standard normal numbers, one row per row of the table."""
        return self.rng.normal(size=(self.rows, *shape))

    def block(self, size: int, correlation: float) -> Floats:
        """Standard normal columns of one pairwise correlation."""
        shared = self.normal(1) * np.sqrt(correlation)
        return shared + self.normal(size) * np.sqrt(1 - correlation)

    def add(self, prefix: str, values: Sequence[Any], group: bool = False) -> tuple[str, ...]:
        """Add columns under a common prefix; as one group of relevant columns if asked to."""
        first = sum(name.startswith(f"{prefix}_") for name in self.columns)
        names = tuple(f"{prefix}_{first + i}" for i in range(len(values)))
        self.columns |= dict(zip(names, values, strict=True))
        if group:
            self.groups.append(names)
        return names

    def relevant_blocks(self, blocks: int, size: int, correlation: float) -> None:
        """Blocks of correlated columns; every column has its own effect of one sign per block."""
        for _ in range(blocks):
            values = self.block(size, correlation)
            effects = self.rng.uniform(0.5, 1.0, size) * self.rng.choice([-1, 1])
            self.score += values @ effects
            self.add("relevant", self.disguise(values), group=True)

    def noise_blocks(self, blocks: int, size: int, correlation: float) -> None:
        """Blocks of correlated columns without any effect."""
        for _ in range(blocks):
            self.add("noise", self.disguise(self.block(size, correlation)))

    def disguise(self, values: Floats) -> list[Any]:
        """The columns as amounts, counts, shares, flags or plain numbers, at random."""
        looks = self.rng.choice(len(LOOKS), values.shape[1], p=[0.4, 0.2, 0.15, 0.15, 0.1])
        return [LOOKS[look](column) for look, column in zip(looks, values.T, strict=True)]

    def category(self, levels: int, effect: float = 0.0) -> pd.Categorical:
        """A category of unequal frequencies; each level shifts the score by a random effect."""
        frequency = 1 / (np.arange(levels) + 3.0)
        codes = self.rng.choice(levels, self.rows, p=frequency / frequency.sum())
        codes = self.rng.permutation(levels)[codes]
        self.score += effect * self.rng.normal(size=levels)[codes]
        return pd.Categorical.from_codes(codes, [f"level {i}" for i in range(levels)])

    def with_missing(self, values: Any, share: float) -> Any:
        """The column with cells missing at random."""
        missing = self.rng.random(self.rows) < share
        if isinstance(values, pd.Categorical):
            return pd.Categorical.from_codes(np.where(missing, -1, values.codes), values.categories)
        return np.where(missing, np.nan, np.asarray(values, float))

    def classes(self, strength: float, positives: float = 0.5) -> NDArray[np.int64]:
        """Classes from a logistic model of the standardised score."""
        logit = strength * self.standard_score() + self.rng.logistic(size=self.rows)
        return (logit > np.quantile(logit, 1 - positives)).astype(np.int64)

    def numbers(self, explained: float) -> Floats:
        """A target of which the score explains this share of the variance."""
        return np.sqrt(explained) * self.standard_score() + np.sqrt(1 - explained) * self.normal()

    def standard_score(self) -> Floats:
        """The score with mean 0 and variance 1."""
        return (self.score - self.score.mean()) / self.score.std()

    def frame(self) -> pd.DataFrame:
        """The columns in a random order."""
        names = list(self.columns)
        return pd.DataFrame(self.columns)[[names[i] for i in self.rng.permutation(len(names))]]


LOOKS: tuple[Callable[[Floats], Floats], ...] = (
    lambda z: np.round(z, 4),
    lambda z: np.round(np.exp(7 + 0.8 * z), 2),  # amounts
    lambda z: np.floor(np.exp(1 + 0.7 * z)),  # counts
    lambda z: np.round(1 / (1 + np.exp(-z)), 3),  # shares
    lambda z: (z > 0.4).astype(float),  # flags
)


def categories(draft: Draft) -> NDArray[Any]:
    """Categories of 50 to 500 levels and of few levels, with and without effect."""
    effects = {50: 0.8, 200: 0.9, 500: 1.1, 3: 0.6, 4: 0.6, 8: 0.6, 12: 0.6}
    for levels, effect in effects.items():
        draft.add("relevant", [draft.category(levels, effect)], group=True)
    draft.relevant_blocks(5, 1, 0.0)
    for levels in (50, 80, 120, 200, 350, 500, 2, 3, 4, 5, 6, 8, 10, 12):
        draft.add("noise", [draft.category(levels)])
    draft.noise_blocks(2, 7, 0.7)
    return draft.classes(1.6)


def credit(draft: Draft) -> NDArray[Any]:
    """15 relevant columns in 5 correlated groups, weak signal (AUC about 0.70), 22% positives."""
    draft.relevant_blocks(5, 3, 0.6)
    draft.noise_blocks(5, 7, 0.7)
    return draft.classes(0.9, positives=0.22)


def derived(draft: Draft) -> NDArray[Any]:
    """10 relevant and 20 noise columns, each with derived ones: copies, sums and ratios."""
    relevant = np.exp(0.4 * draft.normal(10))
    noise = np.exp(0.4 * np.hstack([draft.block(10, 0.6), draft.block(10, 0.6)]))
    draft.score += np.log(relevant) @ draft.rng.choice([-1.0, -0.7, 0.7, 1.0], 10)
    for i in range(10):
        draft.add("relevant", [relevant[:, i], 2.54 * relevant[:, i] + 32], group=True)
    for i in range(0, 10, 2):
        pair = [relevant[:, i] + relevant[:, i + 1], relevant[:, i] / relevant[:, i + 1]]
        names = draft.add("pair", pair)
        draft.groups[i : i + 2] = [(*group, *names) for group in draft.groups[i : i + 2]]
    draft.add("noise", [*noise.T, *(1.8 * noise[:, :10] + 3).T, *np.log(noise[:, 10:]).T])
    draft.add("noise", [*(noise[:, :5] + noise[:, 10:15]).T, *(noise[:, :5] / noise[:, 5:10]).T])
    return draft.classes(1.5)


def imbalance(draft: Draft) -> NDArray[Any]:
    """3.5% positives, 10 relevant columns of 40."""
    draft.relevant_blocks(10, 1, 0.0)
    draft.noise_blocks(3, 10, 0.6)
    return draft.classes(1.8, positives=0.035)


def interactions(draft: Draft) -> NDArray[Any]:
    """Two pairs of signs (XOR), two products and six single effects among 40 noise columns."""
    for pair in range(4):
        a, b = draft.normal(2).T
        draft.score += 1.5 * (np.sign(a * b) if pair < 2 else a * b)
        for values in (a, b):
            draft.add("paired", [values], group=True)
    draft.relevant_blocks(6, 1, 0.0)
    draft.noise_blocks(4, 10, 0.6)
    return draft.classes(2.5)


def labels(flipped: float) -> Callable[[Draft], NDArray[Any]]:
    """20 relevant columns of 100; a share of the labels is flipped."""

    def draw(draft: Draft) -> NDArray[Any]:
        draft.relevant_blocks(20, 1, 0.0)
        draft.noise_blocks(8, 10, 0.5)
        y = (draft.score > 0).astype(np.int64)
        return np.where(draft.rng.random(draft.rows) < flipped, 1 - y, y)

    return draw


def marketing(draft: Draft) -> NDArray[Any]:
    """100 mixed columns of which 16 are relevant, very weak signal (AUC about 0.60)."""
    draft.relevant_blocks(6, 2, 0.5)
    for levels in (3, 5, 6, 8):
        draft.add("relevant", [draft.category(levels, 0.8)], group=True)
    draft.noise_blocks(8, 8, 0.6)
    for levels in range(2, 22):
        draft.add("noise", [draft.category(levels)])
    return draft.classes(0.45, positives=0.3)


def missing(draft: Draft) -> NDArray[Any]:
    """Missing cells: without meaning in most columns, a signal in four of them."""
    values = draft.normal(10)
    draft.score += values @ draft.rng.choice([-1.0, -0.7, 0.7, 1.0], 10)
    for column in values.T:
        draft.add("relevant", [draft.with_missing(column, 0.2)], group=True)
    for share in (0.2, 0.3, 0.3, 0.4):
        absent = draft.rng.random(draft.rows) < share
        draft.score += 1.8 * absent
        draft.add("absent", [np.where(absent, np.nan, draft.normal())], group=True)
    for share in (0.0, 0.1, 0.3, 0.5):
        draft.add("noise", [draft.with_missing(z, share) for z in draft.block(8, 0.6).T])
    for levels in (3, 6, 9):
        draft.add("noise", [draft.with_missing(draft.category(levels), 0.3)])
    return draft.classes(1.4)


def seasonal(draft: Draft) -> NDArray[Any]:
    """Four years of days: the season and single effects matter, trending columns do not."""
    day = draft.rng.integers(0, round(4 * DAYS_PER_YEAR), draft.rows)
    years = day / DAYS_PER_YEAR
    season = np.cos(2 * np.pi * day / DAYS_PER_YEAR)
    date = pd.Timestamp("2020-01-01") + pd.to_timedelta(day, unit="D")
    weekday = pd.Categorical.from_codes(day % 7, list("MTWRFSU"))
    draft.score += 1.5 * season + np.array([0, 0, 0, 0.3, 0.8, 1.4, 1.0])[day % 7]
    stations = [10 - 8 * season + 3 * z for z in draft.block(3, 0.3).T]
    month = pd.Categorical(date.month.astype(str))
    draft.add("season", [date, month, *stations], group=True)
    draft.add("weekday", [weekday], group=True)
    draft.relevant_blocks(8, 1, 0.0)
    for slope in (0.0, 0.5, 1.0, -1.0, 2.0):
        draft.add("noise", [slope * years + z for z in draft.block(6, 0.5).T])
    return draft.numbers(0.5)


def sensors(draft: Draft) -> NDArray[Any]:
    """Four signals seen by four noisy sensors each; 44 sensors that share disturbances."""
    for _ in range(4):
        signal = draft.normal()
        draft.score += signal * draft.rng.choice([-1.0, -0.8, 0.8, 1.0])
        noise = draft.rng.uniform(0.3, 0.8, 4)
        draft.add("relevant", [signal + level * draft.normal() for level in noise], group=True)
    for _ in range(4):
        draft.add("noise", [*draft.block(11, 0.85).T])
    return draft.classes(2.0)


def weak_regression(draft: Draft) -> NDArray[Any]:
    """15 relevant columns in 5 correlated groups explain 10% of the variance; 45 noise columns."""
    draft.relevant_blocks(5, 3, 0.6)
    draft.noise_blocks(5, 9, 0.7)
    return draft.numbers(0.1)


def within_range(draft: Draft) -> NDArray[Any]:
    """Measurements of which high and low values differ from normal ones: 6 pairs, 4 straight."""
    for _ in range(6):
        values = draft.block(2, 0.7)
        draft.score += draft.rng.uniform(0.5, 1.0) * (values**2).sum(axis=1) / 2
        draft.add("relevant", draft.disguise(values), group=True)
    draft.relevant_blocks(4, 1, 0.0)
    draft.noise_blocks(4, 8, 0.6)
    return draft.classes(1.8)


FAMILIES: dict[str, dict[str, Callable[[Draft], NDArray[Any]]]] = {
    "categories": {"categories": categories},
    "credit": {"credit": credit},
    "derived": {"derived": derived},
    "imbalance": {"imbalance": imbalance},
    "interactions": {"interactions": interactions},
    "labels": {f"labels_{100 * share:02.0f}": labels(share) for share in (0.0, 0.2, 0.4)},
    "marketing": {"marketing": marketing},
    "missing": {"missing": missing},
    "seasonal": {"seasonal": seasonal},
    "sensors": {"sensors": sensors},
    "weak_regression": {"weak_regression": weak_regression},
    "within_range": {"within_range": within_range},
}
MAKERS = {name: maker for makers in FAMILIES.values() for name, maker in makers.items()}
REGRESSION = ("seasonal", "weak_regression")


def half_of(name: str, seed: int) -> Half:
    """The half that a table belongs to."""
    held_out = [sorted(FAMILIES)[position] for position in JUDGE_ONLY]
    judged = any(name in FAMILIES[family] for family in held_out)
    return "tune" if seed in TUNE_SEEDS and not judged else "judge"


def training_rows(name: str) -> int:
    """Rows to select from."""
    return MORE_ROWS.get(name, TRAINING_ROWS)


def make(name: str, seed: int, rows: int | None = None) -> Problem:
    """A table of a family; the same seed and rows give the same table.

    Examples
    --------
    >>> table = make("credit", seed=0, rows=500)
    >>> table.X.shape, len(table.groups), len(table.relevant), len(table.noise)
    ((500, 50), 5, 15, 35)
    """
    return draw(name, seed, rows)[0]


def draw(
    name: str, seed: int, rows: int | None = None, kind: type[Draft] = Draft
) -> tuple[Problem, Floats]:
    """A table of a family, and the score behind its target."""
    rng = np.random.default_rng([sorted(MAKERS).index(name), seed])
    draft = kind(rng, rows or training_rows(name))
    y = MAKERS[name](draft)
    target: Kind = "numbers" if name in REGRESSION else "classes"
    source = "new made-up" if seed in NEW_JUDGE_SEEDS else "made-up"
    table = Problem(
        f"{name}-{seed}",
        draft.frame(),
        y,
        target,
        source,
        half_of(name, seed),
        tuple(draft.groups),
        name,
    )
    return table, draft.score


def names() -> list[tuple[str, int]]:
    """All tables of both halves, as names and seeds; seeds first, so that a part is balanced."""
    tune = [(name, seed) for seed in TUNE_SEEDS for name in MAKERS]
    judge = [(name, seed) for seed in (*JUDGE_SEEDS, *NEW_JUDGE_SEEDS) for name in MAKERS]
    return [(name, seed) for name, seed in tune if half_of(name, seed) == "tune"] + judge
