"""The columns of a table: how they were read, and the target from bin to bin."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.solution import Solution
from bestk.diagnosis.column_values import column_values
from bestk.information.information import Information
from bestk.report.records import format_text
from bestk.tables.table import Table
from bestk.tables.target import NumericTarget, Target

MAX_LISTED = 500  # columns in the list of all
MAX_LISTED_VALUES = 2**26  # of these columns
MAX_BINS = 8  # of a column; rarer categories are put together
MAX_CLASSES = 8  # counted one by one in bins; rarer ones are put together
MIN_SHARE = 0.02  # of the rows, for a bin that decides on a trend
MIN_CHANGE = 0.6  # from the first bin to the last, of all changes from bin to bin, for a direction


@dataclass(frozen=True)
class Bin:
    """Rows of a column with the same value, or with values in the same range."""

    label: str
    counts: tuple[int, ...]  # rows of each class; of all rows, if the target is continuous
    value: float  # mean of the target, or rate of all classes but the most frequent

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.counts)


@dataclass(frozen=True)
class Column:
    """A column and its bins."""

    name: str
    kind: str
    missing: int
    distinct: int
    bins: tuple[Bin, ...]
    trend: str  # of the target from bin to bin


@dataclass(frozen=True)
class ShownTarget:
    """The target as bins show it."""

    codes: Indices  # the class of each row, 0 if the target is continuous
    names: tuple[str, ...] = ()  # of the classes
    numbers: Floats | None = None  # of a continuous target
    usual: int | None = None  # the most frequent class, if the rate of the others is shown

    @classmethod
    def of(cls, target: Target) -> "ShownTarget":
        """The numbers of the target, or its classes, the rarest of many in one."""
        if isinstance(target, NumericTarget):
            return cls(np.zeros(target.n_samples, np.int64), numbers=target.numbers)
        classes = target.classes
        names = [format_text(label) for label in classes.labels.tolist()]
        if classes.n_classes <= MAX_CLASSES:
            first = int(classes.counts.argmax())
            usual = len(names) == 2 or 2 * classes.counts[first] > target.n_samples
            return cls(classes.codes, tuple(names), usual=first if usual else None)
        order = np.argsort(-classes.counts, kind="stable")
        kept = np.minimum(np.argsort(order, kind="stable"), MAX_CLASSES - 1)
        most = [names[c] for c in order[: MAX_CLASSES - 1]]
        return cls(kept[classes.codes], (*most, f"{len(names) - len(most)} other classes"))

    def count(self, codes: Indices, labels: Sequence[str]) -> list[Bin]:
        """The rows of each class, and the mean or rate of the target, for every bin."""
        n = max(1, len(self.names))
        counts = np.bincount(codes * n + self.codes, minlength=len(labels) * n).reshape(-1, n)
        rows = np.maximum(counts.sum(axis=1), 1)
        values = np.full(len(labels), np.nan)
        if self.numbers is not None:
            values = np.bincount(codes, self.numbers, len(labels)) / rows
        elif self.usual is not None:
            values = 1 - counts[:, self.usual] / rows
        both = zip(labels, counts.tolist(), values.tolist(), strict=True)
        return [Bin(label, tuple(each), value) for label, each, value in both]

    @property
    def overall(self) -> float:
        """The mean or the rate of all rows."""
        return self.count(np.zeros_like(self.codes), ["all"])[0].value

    def format(self, value: float) -> str:
        """A mean or a rate as text."""
        return f"{value:.3g}" if self.numbers is not None else f"{value:.0%}"

    def trend(self, bins: Sequence[Bin], *, ordered: bool) -> str:
        """How the target changes from the first bin to the last."""
        least = MIN_SHARE * sum(each.rows for each in bins)
        bins = [each for each in bins if each.rows >= max(least, 1)]
        if len(bins) < 2:
            return ""
        if np.isnan(bins[0].value):  # the classes most over-represented at both ends
            totals = np.maximum(np.bincount(self.codes, minlength=len(self.names)), 1)
            first, last = (self.names[int(np.argmax(bins[i].counts / totals))] for i in (0, -1))
            return f"{first} → {last}" if ordered and first != last else ""
        low, high = (pick(bins, key=lambda each: each.value) for pick in (min, max))
        if not ordered:
            return " to ".join(f"{self.format(b.value)} ({b.label})" for b in (low, high))
        values = np.array([each.value for each in bins])
        change = values[-1] - values[0]
        if abs(change) <= MIN_CHANGE * np.abs(np.diff(values)).sum():
            return f"↕ {self.format(low.value)} to {self.format(high.value)}"
        arrow = "↑" if change > 0 else "↓"
        return f"{arrow} {self.format(bins[0].value)} to {self.format(bins[-1].value)}"


def describe_column(table: Table, place: int, goal: ShownTarget, *, nominal: bool) -> Column:
    """A column and the target in its bins: of equal frequency where values are many."""
    column = column_values(table, place)
    known = column.values[~column.missing]
    levels = bounds = np.unique(known)
    labels = [format_text(each) for each in column.categories or levels.tolist()]
    if levels.dtype.kind == "f":
        labels = [f"{each:.6g}" for each in levels.tolist()]
    ordered = column.categories is None and not nominal
    if ordered and len(levels) > MAX_BINS:
        with np.errstate(invalid="ignore"):
            bounds = np.unique(np.quantile(known, np.arange(1, MAX_BINS) / MAX_BINS))
        cuts = [f"{bound:.4g}" for bound in bounds]  # intervals are closed on the right
        between = [f"> {low} to {high}" for low, high in pairwise(cuts)]
        labels = [f"≤ {cuts[0]}", *between, f"> {cuts[-1]}"]
    codes = np.where(column.missing, len(labels), np.searchsorted(bounds, column.values))
    *bins, missing = goal.count(codes, [*labels, "missing"])
    bins = _merge_rare([each for each in bins if each.rows])
    trend = goal.trend(bins, ordered=ordered)
    shown = (*bins, missing) if missing.rows else tuple(bins)
    name = format_text(table.names[place])
    return Column(name, column.kind, missing.rows, len(levels), shown, trend)


def _merge_rare(bins: list[Bin]) -> list[Bin]:
    """The most frequent bins, and the others as one."""
    if len(bins) <= MAX_BINS:
        return bins
    frequent = sorted(range(len(bins)), key=lambda i: -bins[i].rows)
    kept, rest = frequent[: MAX_BINS - 1], [bins[i] for i in frequent[MAX_BINS - 1 :]]
    counts = tuple(sum(each) for each in zip(*(b.counts for b in rest), strict=True))
    mean = sum(b.rows * b.value for b in rest) / sum(counts)
    return [*(bins[i] for i in sorted(kept)), Bin(f"{len(rest)} rarer values", counts, mean)]


def list_columns(information: Information, solution: Solution) -> list[int]:
    """Selected and most informative columns, as many as can be shown, in the table's order."""
    order = np.argsort(-information.relevance(), kind="stable").tolist()  # excluded ones come last
    most = min(MAX_LISTED, MAX_LISTED_VALUES // information.dataset.table.n_samples)
    return sorted(list(dict.fromkeys([*solution.support.tolist(), *order]))[:most])


def count_distinct(table: Table, place: int) -> int:
    """The number of different values of a column."""
    column = column_values(table, place)
    return len(np.unique(column.values[~column.missing]))
