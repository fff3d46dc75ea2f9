"""The columns of a table: how they were read, and the target from bin to bin."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.bqp.solution import Solution
from bestk.diagnosis.column_values import column_values
from bestk.information.information import Information
from bestk.report.records import format_text
from bestk.tables.table import Table
from bestk.tables.target import NumericTarget, Target

# The list of all columns has at most so many.
MAX_LISTED = 500

# It has fewer where they would have more values than this in all rows.
MAX_LISTED_VALUES = 2**26

# The largest number of bins of a column; rarer categories are put together.
MAX_BINS = 8

# The largest number of classes that are counted one by one in bins; rarer ones are put together.
MAX_CLASSES = 8

# A bin with a smaller share of the rows does not decide on a trend.
MIN_SHARE = 0.02

# The target rises or falls if its change from the first bin to the last is at least this part of
# all changes from bin to bin.
MIN_CHANGE = 0.6


@dataclass(frozen=True)
class Bin:
    """Rows of a column with the same value, or with values in the same range."""

    label: str

    counts: tuple[int, ...]
    """The number of rows of each class; of all rows, if the target is numeric."""

    value: float
    """The mean of the target, or the rate of all classes but the most frequent."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.counts)


@dataclass(frozen=True)
class ShownColumn:
    """A column and its bins."""

    name: str
    kind: str

    missing: int
    """The number of missing values."""

    distinct: int
    """The number of different values."""

    bins: tuple[Bin, ...]

    trend: str
    """How the target changes from bin to bin, in words."""


@dataclass(frozen=True)
class ShownTarget:
    """The target as bins show it."""

    codes: Indices
    """The class of each row; 0 if the target is numeric."""

    names: tuple[str, ...] = ()
    """The names of the classes."""

    numbers: Floats | None = None
    """The number of each row of a numeric target."""

    usual: int | None = None
    """The most frequent class, if the rate of the others is shown."""

    @classmethod
    def of(cls, target: Target) -> "ShownTarget":
        """The numbers of the target, or its classes, the rarest of many in one."""
        if isinstance(target, NumericTarget):
            return cls(np.zeros(target.n_samples, np.int64), numbers=target.numbers)
        classes = target.classes
        names = [format_text(label) for label in classes.labels.tolist()]
        if classes.n_classes <= MAX_CLASSES:
            most_frequent = int(classes.counts.argmax())
            has_majority = 2 * classes.counts[most_frequent] > target.n_samples
            usual = None
            if len(names) == 2 or has_majority:
                usual = most_frequent
            return cls(classes.codes, tuple(names), usual=usual)
        by_frequency = np.argsort(-classes.counts, kind="stable")
        rank_of_class = np.argsort(by_frequency, kind="stable")
        new_code_of_class = np.minimum(rank_of_class, MAX_CLASSES - 1)
        frequent = [names[c] for c in by_frequency[: MAX_CLASSES - 1]]
        others = f"{len(names) - len(frequent)} other classes"
        return cls(new_code_of_class[classes.codes], (*frequent, others))

    def count(self, codes: Indices, labels: Sequence[str]) -> list[Bin]:
        """The rows of each class, and the mean or rate of the target, for every bin.

        ``codes`` are the bins of the rows, ``labels`` the names of the bins.
        """
        n_classes = max(1, len(self.names))
        cells = codes * n_classes + self.codes
        counts = np.bincount(cells, minlength=len(labels) * n_classes)
        counts = counts.reshape(-1, n_classes)
        rows = np.maximum(counts.sum(axis=1), 1)
        values = np.full(len(labels), np.nan)
        if self.numbers is not None:
            values = np.bincount(codes, self.numbers, len(labels)) / rows
        elif self.usual is not None:
            values = 1 - counts[:, self.usual] / rows
        bins = zip(labels, counts.tolist(), values.tolist(), strict=True)
        return [Bin(label, tuple(counts_of_bin), value) for label, counts_of_bin, value in bins]

    @property
    def overall(self) -> float:
        """The mean or the rate of all rows."""
        (all_rows,) = self.count(np.zeros_like(self.codes), ["all"])
        return all_rows.value

    def format(self, value: float) -> str:
        """A mean or a rate as text."""
        return f"{value:.3g}" if self.numbers is not None else f"{value:.0%}"

    def trend(self, bins: Sequence[Bin], *, ordered: bool) -> str:
        """How the target changes from the first bin to the last, in words.

        ``ordered``: whether the bins have an order, as those of numbers.
        """
        n_rows = sum(b.rows for b in bins)
        min_rows = max(MIN_SHARE * n_rows, 1)
        large = [b for b in bins if b.rows >= min_rows]
        if len(large) < 2:
            return ""
        if np.isnan(large[0].value):
            return self._trend_of_classes(large) if ordered else ""
        low = min(large, key=lambda b: b.value)
        high = max(large, key=lambda b: b.value)
        if not ordered:
            return " to ".join(f"{self.format(b.value)} ({b.label})" for b in (low, high))
        values = np.array([b.value for b in large])
        change = values[-1] - values[0]
        all_changes = np.abs(np.diff(values)).sum()
        if abs(change) <= MIN_CHANGE * all_changes:
            return f"↕ {self.format(low.value)} to {self.format(high.value)}"
        arrow = "↑" if change > 0 else "↓"
        return f"{arrow} {self.format(values[0])} to {self.format(values[-1])}"

    def _trend_of_classes(self, bins: Sequence[Bin]) -> str:
        """The classes that are most over-represented in the first bin and in the last."""
        counts = np.bincount(self.codes, minlength=len(self.names))
        rows_of_class = np.maximum(counts, 1)
        class_of_first = np.argmax(bins[0].counts / rows_of_class)
        class_of_last = np.argmax(bins[-1].counts / rows_of_class)
        first = self.names[int(class_of_first)]
        last = self.names[int(class_of_last)]
        return "" if first == last else f"{first} → {last}"


class _Cuts(NamedTuple):
    """Bins of the values of a column."""

    bounds: Array
    """The largest value of each bin; a last bin may have all above."""

    labels: list[str]
    """What each bin holds, in words."""


def describe_column(table: Table, place: int, goal: ShownTarget, *, nominal: bool) -> ShownColumn:
    """A column and the target in its bins: of equal frequency where values are many.

    ``nominal``: whether its numbers are codes of categories.
    """
    column = column_values(table, place)
    present = column.values[~column.missing]
    levels = np.unique(present)
    ordered = column.categories is None and not nominal
    if ordered and len(levels) > MAX_BINS:
        cuts = _cut_numbers(present)
    else:
        cuts = _Cuts(levels, _label_levels(levels, column.categories))
    bin_of_row = np.searchsorted(cuts.bounds, column.values)
    codes = np.where(column.missing, len(cuts.labels), bin_of_row)
    *bins, missing = goal.count(codes, [*cuts.labels, "missing"])
    merged = _merge_rare([b for b in bins if b.rows])
    trend = goal.trend(merged, ordered=ordered)
    shown = (*merged, missing) if missing.rows else tuple(merged)
    name = format_text(table.names[place])
    return ShownColumn(name, column.kind, missing.rows, len(levels), shown, trend)


def _cut_numbers(values: Array) -> _Cuts:
    """Bins of equal frequency, which are closed on the right."""
    shares_below = np.arange(1, MAX_BINS) / MAX_BINS
    with np.errstate(invalid="ignore"):
        bounds = np.unique(np.quantile(values, shares_below))
    texts = [f"{bound:.4g}" for bound in bounds]
    between = [f"> {low} to {high}" for low, high in pairwise(texts)]
    return _Cuts(bounds, [f"≤ {texts[0]}", *between, f"> {texts[-1]}"])


def _label_levels(levels: Array, categories: list[Any] | None) -> list[str]:
    """The different values of a column in words."""
    if levels.dtype.kind == "f":
        return [f"{level:.6g}" for level in levels.tolist()]
    return [format_text(label) for label in categories or levels.tolist()]


def _merge_rare(bins: list[Bin]) -> list[Bin]:
    """The most frequent bins, and the others as one."""
    if len(bins) <= MAX_BINS:
        return bins
    by_frequency = sorted(range(len(bins)), key=lambda i: -bins[i].rows)
    frequent = [bins[i] for i in sorted(by_frequency[: MAX_BINS - 1])]
    rare = [bins[i] for i in by_frequency[MAX_BINS - 1 :]]
    counts = np.sum([b.counts for b in rare], axis=0).tolist()
    total = sum(b.rows * b.value for b in rare)
    mean = total / sum(counts)
    return [*frequent, Bin(f"{len(rare)} rarer values", tuple(counts), mean)]


def list_columns(information: Information, solution: Solution) -> list[int]:
    """Selected and most informative columns, as many as can be shown, in the table's order."""
    # Columns that are excluded have NaN, and come last.
    relevance = information.relevance()
    by_relevance = np.argsort(-relevance, kind="stable").tolist()
    n_rows = information.dataset.table.n_samples
    n_listed = min(MAX_LISTED, MAX_LISTED_VALUES // n_rows)
    columns = list(dict.fromkeys([*solution.support.tolist(), *by_relevance]))
    return sorted(columns[:n_listed])


def count_distinct(table: Table, place: int) -> int:
    """The number of different values of a column."""
    column = column_values(table, place)
    return len(np.unique(column.values[~column.missing]))
