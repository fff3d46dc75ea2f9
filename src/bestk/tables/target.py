"""The target: classes, or numbers to predict; and the weights of its rows."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bestk._cached import cached_property
from bestk._checks import choice
from bestk._typing import Array, Floats, Indices
from bestk.errors import DataError, counted
from bestk.tables.frames import read_column
from bestk.tables.table import Block, Table, check_finite, find_inexact, inexact
from bestk.tables.text import example_of
from bestk.tables.weights import RowWeights, effective_rows, first_with_shares, read_weights

TARGETS = ("auto", "classes", "continuous")
TARGET_BINS = 5  # classes of equal frequency, where a continuous target is to be counted
MAX_CLASSES = 20  # different whole numbers that are always classes
MAX_CERTAIN = 10  # of which so many are surely classes, though one may have a single row
MIN_COUNTS = 6  # different whole numbers that may be counts of events
MIN_MODE_ROWS, MIN_FOLDED_ROWS = 30, 5  # of the most frequent count; of a class, for five folds
PEAK = 3.0  # times the rows of a number at either end of a score has one in its middle
MAX_CODES = 100  # different whole numbers that may be the codes of classes
MIN_ROWS_PER_CLASS = 20  # fewer on average, and many different whole numbers are a quantity


def order_by_class(codes: Indices, n_classes: int) -> Indices:
    """The samples by class, those of a class in their own order."""
    short = codes.astype(np.uint16) if n_classes <= 2**16 else codes  # counted, not compared
    return np.argsort(short, kind="stable")


@dataclass(frozen=True)
class Target:
    """The class of every sample."""

    codes: Indices  # classes[codes] are the labels
    classes: Array  # sorted
    counts: Indices  # how many samples each class has, never 0
    weights: RowWeights | None = None
    """How much each sample counts, above 0; None where all count alike."""

    @property
    def n_rows(self) -> int:
        """The effective number of rows: that of the samples where all count alike."""
        return effective_rows(self.weights, len(self.codes))

    @cached_property
    def sizes(self) -> Floats:
        """How many of the effective rows each class has."""
        if self.weights is None:
            return self.counts.astype(np.float64)
        return np.asarray(np.bincount(self.codes, self.weights.values) * self.weights.scale)

    def in_order(self, order: Indices) -> "Target":
        """The same samples in another order."""
        weights = None if self.weights is None else RowWeights(self.weights.values[order])
        return replace(self, codes=self.codes[order], weights=weights)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def order(self) -> Indices:
        """The samples by class, those of a class in their own order."""
        return order_by_class(self.codes, self.n_classes)


@dataclass(frozen=True)
class ParsedTarget:
    """A target: its classes, and its numbers where it is continuous."""

    column: Block = field(repr=False)
    n_samples: int
    continuous: bool
    weights: RowWeights | None = field(default=None, repr=False)
    """How much each row counts; None where all count alike."""

    @classmethod
    def of(cls, y: Any, n_samples: int, kind: str = "auto") -> "ParsedTarget":
        """Parse a target of that kind; one that is parsed already is given back."""
        if isinstance(y, ParsedTarget):
            return y
        column = read_column(y)
        return cls(column, n_samples, is_continuous(column, kind))

    def weighted(self, sample_weight: Any) -> "ParsedTarget":
        """The same target with weights of its rows, as users pass them; None: all count alike."""
        if sample_weight is None:
            return self
        weights = read_weights(sample_weight, self.n_samples)
        read_full_column(self.column, self.n_samples)
        return replace(self, weights=weights)

    def take(self, rows: Indices) -> "ParsedTarget":
        """Some of the rows, which may repeat."""
        weights = None if self.weights is None else self.weights.take(rows)
        return ParsedTarget(self.column.take(rows), len(rows), self.continuous, weights)

    @property
    def n_rows(self) -> int:
        """The effective number of rows: all of them where they count alike."""
        return effective_rows(self.weights, self.n_samples)

    @property
    def goal(self) -> Any:
        """The numbers of a continuous target, or the classes."""
        return self.numbers if self.continuous else self.classes

    @property
    def labels(self) -> Array:
        """The number, or the label of the class, of each row."""
        return self.numbers if self.continuous else self.classes.classes[self.classes.codes]

    @cached_property
    def numbers(self) -> Floats:
        """A finite number for each row."""
        if self.n_samples == 1:
            raise ValueError("y has 1 sample; at least two are needed")
        return read_continuous_target(self.column, self.n_samples)

    @cached_property
    def classes(self) -> Target:
        """The classes; a continuous target is cut into classes of equal frequency."""
        return replace(self._read_classes(), weights=self.weights)

    def _read_classes(self) -> Target:
        if not self.continuous:
            target = read_target(self.column, self.n_samples)
            n, rows, words = target.n_classes, self.n_samples, self.column.kind == "string"
            if n == rows > 2 or (words and n > max(MAX_CLASSES, rows / 2)):
                such = f", such as {example_of(target.classes.tolist())!r}" if words else ""
                how = "convert it to numbers" if words else "pass target='continuous'"
                raise ValueError(
                    f"y has {n} different values in {rows} rows{such}, so it has no classes; is it "
                    f"an identifier? If it is a number to predict, {how}"
                )
            return target
        values = self.numbers
        bins = cut_target(values, weights=self.weights)
        if not bins.any():
            largest = values.max()
            if largest == values.min():
                raise DataError(f"y is constant, {largest}; give at least two different values")
            raise ValueError(
                f"y is {largest} in {(values == largest).sum()} of its {self.n_samples} rows, too "
                "often to be cut into classes of equal frequency; give y as classes of your own"
            )
        return read_target(bins, self.n_samples)


def drop_weightless(
    table: Table, targets: tuple[ParsedTarget, ...]
) -> tuple[Table, tuple[ParsedTarget, ...]]:
    """A table and its targets, which share their weights, without the rows of weight 0."""
    weights = targets[0].weights
    if weights is None or weights.counts.all():
        return table, targets
    rows = np.flatnonzero(weights.counts)
    return table.take(rows), tuple(target.take(rows) for target in targets)


def read_target(y: Any, n_samples: int) -> Target:
    """Read the class of every sample: whole numbers, booleans, strings or categories."""
    block = read_full_column(y, n_samples)
    codes = values = block.values[:, 0]
    if block.categories is not None:
        classes = np.fromiter(block.categories[0], object)
        classes = classes.astype(str) if isinstance(classes[0], str) else classes
    elif _is_fractional(block):
        raise DataError(
            f"y is not discrete: it holds {values[values % 1 != 0][0]}; discretise it into "
            "classes first, or predict it as numbers, by target='continuous' or a regressor"
        )
    else:
        classes, codes = np.unique(values, return_inverse=True)
    if len(classes) == 1:
        raise DataError(f"y has one class only, {classes[0]}; at least two are needed")
    codes = codes.astype(np.int64)
    return Target(codes, classes, np.bincount(codes))


def read_continuous_target(y: Any, n_samples: int) -> Floats:
    """Read a finite number for every sample."""
    block = read_full_column(y, n_samples)
    if block.categories is not None:
        came = example_of(block.categories[0])
        raise DataError(f"y holds {block.kind} values such as {came!r}; give it as numbers")
    if block.values.dtype.kind in "iu" and len(find_inexact(block.values)):
        raise inexact("y")
    with np.errstate(over="ignore"):
        values = np.asarray(block.values[:, 0], dtype=np.float64)
    check_finite("y", values)
    return values


def read_full_column(y: Any, n_samples: int) -> Block:
    """Read a target, which has a finite value for each sample."""
    block = read_column(y)
    if len(block.values) != n_samples:
        came = f"y has {len(block.values)} values but X has {n_samples} rows"
        raise DataError(f"{came}; give one value for each row")
    if n_samples == 0:
        raise DataError("y is empty; give one value for each row of X")
    if gone := block.missing(block.values).sum():
        lost = counted(gone, "missing value")
        raise DataError(f"y has {lost} (NaN or None); drop such rows of X and y")
    check_finite("y", block.values)
    return block


def is_continuous(y: Any, target: str = "auto") -> bool:
    """As asked; "auto": y holds fractions, or whole numbers that are a quantity."""
    if isinstance(target, str) and target == "auto":
        column = read_column(y)
        return _is_fractional(column) or _is_quantity(column)
    choice(target, "target", TARGETS)
    return target == "continuous"


def _is_fractional(column: Block) -> bool:
    values = column.values
    return values.dtype.kind == "f" and bool((values > np.floor(values)).any())


def note_on_target(target: str, y: Any) -> str | None:
    """A warning about text or whole numbers that could be classes or a quantity; None: no doubt."""
    column = read_column(y)
    rows = len(column.values)
    if target != "auto" or _is_fractional(column):
        return None
    if column.kind == "string" and column.categories is not None:
        labels = column.categories[0]
        if len(labels) <= max(MAX_CLASSES, rows / 10):
            return None
        came = f"y holds {len(labels)} different strings in {rows} rows"
        return (
            f"{came}, such as {example_of(labels)!r}, taken as classes; convert them to numbers if "
            "they are a quantity"
        )
    if column.kind != "numeric" or _spread(column) < MIN_COUNTS - 1:
        return None
    values, counts = np.unique(column.values, return_counts=True)
    n, single = len(values), counts.min() == 1
    if _is_quantity(column):
        taken, other = "numbers to predict", "pass target='classes' if they are classes"
    elif n > (MAX_CERTAIN if single else MAX_CLASSES) or _may_count(counts):
        taken, other = "classes", "pass target='continuous' if they are a quantity"
    else:
        return None
    what = "dates" if column.dates else "whole numbers"
    return f"y holds {n} different {what} in {rows} rows, taken as {taken}; {other}"


def _is_quantity(column: Block) -> bool:
    """Whether whole numbers are too many, too rare or too peaked for classes, and no codes."""
    if column.kind != "numeric" or column.categories is not None or _spread(column) < MAX_CLASSES:
        return False  # a small spread needs no sorting
    values, counts = np.unique(column.values, return_counts=True)
    n, few = len(values), len(column.values) < MIN_ROWS_PER_CLASS * len(values)
    if n <= MAX_CLASSES:
        return False
    ends, middle = (counts[: n // 6], counts[n - n // 6 :]), counts[n // 3 : n - n // 3]
    if counts.min() == 1 or PEAK * max(end.mean() for end in ends) < middle.mean():
        return True  # the tails of counts and scores, and of no classes
    codes = values[0] in (0, 1) and values[-1] - values[0] == n - 1
    return (few and n > MAX_CODES) if codes else (few or n > MAX_CODES)


def _may_count(counts: Indices) -> bool:
    """Whether frequencies rise to one mode and fall to too few rows for a class, as of visits."""
    mode = int(counts.argmax())
    rising = np.arange(len(counts) - 1) < mode
    larger, smaller = np.where(rising, (counts[1:], counts[:-1]), (counts[:-1], counts[1:]))
    falls = smaller <= larger + 2.0 * np.sqrt(larger)  # away from the mode, but for chance
    rare = counts[-1] < MIN_FOLDED_ROWS and counts[mode] >= MIN_MODE_ROWS
    return bool(len(counts) >= MIN_COUNTS and rare and falls.all())


def _spread(column: Block) -> float:
    values = column.values
    return values.max().item() - values.min().item() if len(values) else 0


def cut_target(
    values: Floats, n_bins: int = TARGET_BINS, weights: RowWeights | None = None
) -> Indices:
    """Classes of numbers: each value one where they are few, or else of equal frequency."""
    known = np.unique(values)
    if weights is not None and len(known) > n_bins:
        order = np.argsort(values, kind="stable")
        up_to = np.cumsum(weights.values[order])
        basis, places = values[order], first_with_shares(up_to, n_bins)
    else:
        basis = known if 1 < len(known) <= n_bins else np.sort(values)
        places = -(-np.arange(1, n_bins) * len(basis) // n_bins) - 1
    last = np.unique(basis[places])  # of each class
    last = last[last < basis[-1]]
    if not len(last) and n_bins > 2:  # nearly all rows have the largest value
        last = known[-2:-1]
    return np.searchsorted(last, values)
