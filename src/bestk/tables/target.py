"""The target: classes to tell apart, or numbers to predict, with the weights of the rows.

``parse_target`` reads what a user passes as y, once. What it returns is a :class:`ClassTarget` or a
:class:`NumericTarget`. Several targets are a tuple of these, one for each column of y.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bestk._cached import cached_property
from bestk._checks import choice
from bestk._typing import Array, Floats, Indices
from bestk.errors import DataError, counted
from bestk.tables.frames import open_table, read_column, read_table
from bestk.tables.table import Block, Table, check_finite, find_inexact, inexact
from bestk.tables.text import example_of
from bestk.tables.weights import RowWeights, effective_rows, first_with_shares, read_weights

# What a user may say about a target; "auto" decides by its values.
TARGETS = ("auto", "classes", "continuous")

# The number of classes of equal frequency that a numeric target is cut into, where it is counted.
TARGET_BINS = 5

# Whole numbers of at most so many different values are always classes.
MAX_CLASSES = 20

# Whole numbers of at most so many different values are classes without a note, even if a value
# stands in one row only.
MAX_CLASSES_WITHOUT_NOTE = 10

# Counts of events, such as of visits, have at least so many different values.
MIN_COUNTS = 6

# The most frequent count of events stands in at least so many rows.
MIN_MODE_ROWS = 30

# A class of fewer rows cannot be in each of five folds.
MIN_FOLDED_ROWS = 5

# Whole numbers are a score, and no classes, if the values in the middle of their range are so many
# times as frequent as those at either end.
PEAK = 3.0

# The largest number of different whole numbers that may be the codes of classes.
MAX_CODES = 100

# Many different whole numbers are a quantity if they have fewer rows than this on average.
MIN_ROWS_PER_CLASS = 20


@dataclass(frozen=True, kw_only=True)
class Target(ABC):
    """What is to be predicted, for each row of a table.

    The subclasses say what it is: classes, or numbers. A target that is neither, such as censored
    times, is one more subclass.
    """

    weights: RowWeights | None = field(default=None, repr=False)
    """How much each row counts; None where all rows count alike."""

    note: str | None = field(default=None, repr=False)
    """A sentence for the user, where y could be classes as well as numbers; else None."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """The number of rows."""

    @property
    def n_rows(self) -> int:
        """The effective number of rows: that of all rows where these count alike."""
        return effective_rows(self.weights, self.n_samples)

    @property
    @abstractmethod
    def values(self) -> Array:
        """The label of the class, or the number, of each row: y as an array."""

    @property
    @abstractmethod
    def classes(self) -> "ClassTarget":
        """The target for methods that count: itself, or its numbers in classes."""

    @abstractmethod
    def take(self, rows: Indices) -> "Target":
        """The target of some rows, given by their places, which may repeat."""

    def _weights_of(self, rows: Indices) -> RowWeights | None:
        return None if self.weights is None else self.weights.take(rows)


@dataclass(frozen=True)
class ClassTarget(Target):
    """The class of each row."""

    codes: Indices
    """The class of each row, as a place among the labels."""

    labels: Array
    """The name of each class, in rising order."""

    counts: Indices
    """The number of rows of each class, never 0."""

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.labels)

    @property
    def values(self) -> Array:
        """The label of the class of each row."""
        return self.labels[self.codes]

    @property
    def classes(self) -> "ClassTarget":
        """The target itself."""
        return self

    @cached_property
    def sizes(self) -> Floats:
        """The number of effective rows of each class."""
        if self.weights is None:
            return self.counts.astype(np.float64)
        weight_of_class = np.bincount(self.codes, self.weights.values)
        return np.asarray(weight_of_class * self.weights.scale)

    @cached_property
    def order(self) -> Indices:
        """The places of the rows, sorted by class; those of a class in their own order."""
        return order_by_class(self.codes, self.n_classes)

    def in_order(self, order: Indices) -> "ClassTarget":
        """The same rows in another order."""
        weights = self.weights
        if weights is not None:
            weights = RowWeights(weights.values[order])
        return replace(self, codes=self.codes[order], weights=weights)

    def take(self, rows: Indices) -> "ClassTarget":
        """The classes of some rows; a class that none of them has is dropped."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        target = _number_classes(codes, self.labels[present])
        return replace(target, weights=self._weights_of(rows), note=self.note)


@dataclass(frozen=True)
class NumericTarget(Target):
    """A number for each row."""

    numbers: Floats
    """Finite numbers, one for each row."""

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.numbers)

    @property
    def values(self) -> Array:
        """The number of each row."""
        return self.numbers

    @cached_property
    def classes(self) -> ClassTarget:
        """Classes of equal frequency; their labels are 0, 1, ..., from the smallest numbers up."""
        bins = cut_target(self.numbers, weights=self.weights)
        if not bins.any():
            raise self._uncut()
        return replace(read_classes(bins, self.n_samples), weights=self.weights)

    def take(self, rows: Indices) -> "NumericTarget":
        """The numbers of some rows."""
        return NumericTarget(self.numbers[rows], weights=self._weights_of(rows), note=self.note)

    def _uncut(self) -> DataError:
        """The error for numbers that all fall into one class."""
        largest = self.numbers.max()
        if largest == self.numbers.min():
            return DataError(f"y is constant, {largest}; give at least two different values")
        n_largest = (self.numbers == largest).sum()
        return DataError(
            f"y is {largest} in {n_largest} of its {self.n_samples} rows, too often to be cut into "
            "classes of equal frequency; give y as classes of your own"
        )


Targets = tuple[Target, ...]
"""Several targets of the same rows, which share their weights: one for each column of y."""


def order_by_class(codes: Indices, n_classes: int) -> Indices:
    """The places of rows sorted by class, given the class of each; stable."""
    # Numpy sorts integers of two bytes by counting them, which takes less time than comparing.
    short = codes.astype(np.uint16) if n_classes <= 2**16 else codes
    return np.argsort(short, kind="stable")


def parse_targets(y: Any, n_samples: int, kind: str = "auto", sample_weight: Any = None) -> Targets:
    """Read one target for each column of y; see :func:`parse_target`.

    Targets that are parsed already are given back.
    """
    if isinstance(y, tuple) and y and isinstance(y[0], Target):
        return y
    columns = _columns_of(y)
    return tuple(parse_target(column, n_samples, kind, sample_weight) for column in columns)


def _columns_of(y: Any) -> list[Any]:
    """The columns of a table of several targets; any other y as it is, as the only column."""
    if y is None or isinstance(y, Block | str):
        return [y]
    if hasattr(type(y), "tocsc"):
        y = y.toarray()
    if isinstance(y, Table):
        is_table = y.n_features > 1
    else:
        source, _ = open_table(y)
        is_table = len(source.shape) == 2 and source.shape[1] > 1
    if not is_table:
        return [y]
    table = read_table(y)
    columns = [table.keep(np.array([j])) for j in range(table.n_features)]
    return [column.blocks[0] for column in columns]


def parse_target(y: Any, n_samples: int, kind: str = "auto", sample_weight: Any = None) -> Target:
    """Read a target as a user passes it.

    Parameters
    ----------
    y : array, series, list, or table of one column
        A value for each row, none of them missing.
    n_samples : int
        The number of rows of X.
    kind : {"auto", "classes", "continuous"}
        "auto": numbers if y holds fractions, or whole numbers that are a quantity; else classes.
    sample_weight : array of shape (n_samples,) or None
        How much each row counts; None: all count alike.
    """
    if isinstance(y, Target):
        return y
    choice(kind, "target", TARGETS)
    column = read_full_column(y, n_samples)
    weights = read_weights(sample_weight, n_samples)
    note = note_on_target(kind, column)
    if is_continuous(column, kind):
        if n_samples == 1:
            raise DataError("y has 1 sample; at least two are needed")
        numbers = read_numbers(column, n_samples)
        return NumericTarget(numbers, weights=weights, note=note)
    target = read_classes(column, n_samples)
    _refuse_identifier(target, is_text=column.kind == "string")
    return replace(target, weights=weights, note=note)


def _refuse_identifier(target: ClassTarget, is_text: bool) -> None:
    """Refuse classes that are as many as rows, or nearly as many where they are text."""
    n_classes = target.n_classes
    n_rows = target.n_samples
    is_identifier = n_classes == n_rows > 2
    many_texts = is_text and n_classes > max(MAX_CLASSES, n_rows / 2)
    if not is_identifier and not many_texts:
        return
    example = ""
    cure = "pass target='continuous'"
    if is_text:
        example = f", such as {example_of(target.labels.tolist())!r}"
        cure = "convert it to numbers"
    raise DataError(
        f"y has {n_classes} different values in {n_rows} rows{example}, so it has no classes; "
        f"is it an identifier? If it is a number to predict, {cure}"
    )


def drop_weightless(table: Table, targets: Targets) -> tuple[Table, Targets]:
    """A table and its targets, which share their weights, without the rows of weight 0."""
    weights = targets[0].weights
    if weights is None or weights.counts.all():
        return table, targets
    rows = np.flatnonzero(weights.counts)
    return table.take(rows), tuple(target.take(rows) for target in targets)


def read_classes(y: Any, n_samples: int) -> ClassTarget:
    """Read the class of each row: whole numbers, booleans, strings or categories."""
    column = read_full_column(y, n_samples)
    values = column.values[:, 0]
    if column.categories is not None:
        labels = np.fromiter(column.categories[0], object)
        if isinstance(labels[0], str):
            labels = labels.astype(str)
        return _number_classes(values, labels)
    if _is_fractional(column):
        raise DataError(
            f"y is not discrete: it holds {values[values % 1 != 0][0]}; discretise it into "
            "classes first, or predict it as numbers, by target='continuous' or a regressor"
        )
    labels, codes = np.unique(values, return_inverse=True)
    return _number_classes(codes, labels)


def _number_classes(codes: Array, labels: Array) -> ClassTarget:
    """The target of the class of each row, all of which occur, and the labels of the classes."""
    if len(labels) == 1:
        raise DataError(f"y has one class only, {labels[0]}; at least two are needed")
    codes = codes.astype(np.int64)
    return ClassTarget(codes, labels, np.bincount(codes))


def read_numbers(y: Any, n_samples: int) -> Floats:
    """Read a finite number for each row."""
    column = read_full_column(y, n_samples)
    if column.categories is not None:
        example = example_of(column.categories[0])
        raise DataError(f"y holds {column.kind} values such as {example!r}; give it as numbers")
    if column.values.dtype.kind in "iu" and len(find_inexact(column.values)):
        raise inexact("y")
    with np.errstate(over="ignore"):
        numbers = np.asarray(column.values[:, 0], dtype=np.float64)
    check_finite("y", numbers)
    return numbers


def read_full_column(y: Any, n_samples: int) -> Block:
    """Read y as a block of one column, which has a finite value for each row."""
    column = read_column(y)
    n_values = len(column.values)
    if n_values != n_samples:
        raise DataError(
            f"y has {n_values} values but X has {n_samples} rows; give one value for each row"
        )
    if n_samples == 0:
        raise DataError("y is empty; give one value for each row of X")
    if n_missing := column.missing(column.values).sum():
        missing = counted(n_missing, "missing value")
        raise DataError(f"y has {missing} (NaN or None); drop such rows of X and y")
    check_finite("y", column.values)
    return column


def is_continuous(y: Any, kind: str = "auto") -> bool:
    """Whether y is read as numbers; "auto": if it holds fractions, or numbers of a quantity."""
    choice(kind, "target", TARGETS)
    if kind != "auto":
        return kind == "continuous"
    column = read_column(y)
    if _is_fractional(column):
        return True
    if _range_of(column) < MAX_CLASSES:
        return False
    values, counts = np.unique(column.values, return_counts=True)
    return _is_quantity(values, counts)


def note_on_target(kind: str, y: Any) -> str | None:
    """A sentence on text or whole numbers that could be classes or a quantity; None if clear.

    ``kind``: what the user says about y, see :func:`parse_target`.
    """
    column = read_column(y)
    if kind != "auto" or _is_fractional(column):
        return None
    if column.kind == "string" and column.categories is not None:
        return _note_on_strings(column.categories[0], len(column.values))
    if _range_of(column) < MIN_COUNTS - 1:
        return None
    values, counts = np.unique(column.values, return_counts=True)
    n_values = len(values)
    max_classes = MAX_CLASSES_WITHOUT_NOTE if counts.min() == 1 else MAX_CLASSES
    if _is_quantity(values, counts):
        taken = "numbers to predict"
        cure = "pass target='classes' if they are classes"
    elif n_values > max_classes or _are_counts_of_events(counts):
        taken = "classes"
        cure = "pass target='continuous' if they are a quantity"
    else:
        return None
    what = "dates" if column.dates else "whole numbers"
    n_rows = len(column.values)
    return f"y holds {n_values} different {what} in {n_rows} rows, taken as {taken}; {cure}"


def _note_on_strings(labels: list[Any], n_rows: int) -> str | None:
    """A sentence on text of very many different values, which may be a quantity."""
    if len(labels) <= max(MAX_CLASSES, n_rows / 10):
        return None
    return (
        f"y holds {len(labels)} different strings in {n_rows} rows, such as "
        f"{example_of(labels)!r}, taken as classes; convert them to numbers if they are a quantity"
    )


def _is_fractional(column: Block) -> bool:
    """Whether some number of a column is not whole."""
    values = column.values
    if values.dtype.kind != "f":
        return False
    return bool((values > np.floor(values)).any())


def _range_of(column: Block) -> float:
    """The largest of whole numbers less the smallest, which takes less time than to sort them.

    A column that is empty, or not of numbers, has 0.
    """
    values = column.values
    if column.kind != "numeric" or column.categories is not None or not len(values):
        return 0
    return values.max().item() - values.min().item()


def _is_quantity(values: Array, counts: Indices) -> bool:
    """Whether whole numbers are too many, too rare or too peaked to be classes.

    ``values`` are the different ones in rising order, ``counts`` the numbers of their rows.
    """
    n_values = len(values)
    if n_values <= MAX_CLASSES:
        return False
    sixth = n_values // 6
    third = n_values // 3
    rows_at_low_end = counts[:sixth].mean()
    rows_at_high_end = counts[-sixth:].mean()
    rows_in_middle = counts[third : n_values - third].mean()
    is_peaked = PEAK * max(rows_at_low_end, rows_at_high_end) < rows_in_middle
    # Counts and scores have tails; classes have none.
    if counts.min() == 1 or is_peaked:
        return True
    few_rows = counts.sum() < MIN_ROWS_PER_CLASS * n_values
    are_many = n_values > MAX_CODES
    are_consecutive = values[-1] - values[0] == n_values - 1
    if are_consecutive and values[0] in (0, 1):
        # They look like the codes of classes.
        return bool(few_rows and are_many)
    return bool(few_rows or are_many)


def _are_counts_of_events(counts: Indices) -> bool:
    """Whether whole numbers are counts of events, such as of visits.

    Their frequencies, given from the smallest number up, rise to one mode, and fall from there to
    too few rows for a class.
    """
    mode = int(counts.argmax())
    if len(counts) < MIN_COUNTS or counts[mode] < MIN_MODE_ROWS:
        return False
    if counts[-1] >= MIN_FOLDED_ROWS:
        return False
    is_before_mode = np.arange(len(counts) - 1) < mode
    nearer_to_mode = np.where(is_before_mode, counts[1:], counts[:-1])
    farther_from_mode = np.where(is_before_mode, counts[:-1], counts[1:])
    chance = 2.0 * np.sqrt(nearer_to_mode)
    return bool((farther_from_mode <= nearer_to_mode + chance).all())


def cut_target(
    values: Floats, n_bins: int = TARGET_BINS, weights: RowWeights | None = None
) -> Indices:
    """The class of each number, from 0 up: one for each value, or if many, of equal frequency.

    ``weights`` are those of the rows; None: all rows count alike.
    """
    different = np.unique(values)
    if weights is not None and len(different) > n_bins:
        order = np.argsort(values, kind="stable")
        rising = values[order]
        weight_up_to = np.cumsum(weights.values[order])
        places = first_with_shares(weight_up_to, n_bins)
    else:
        rising = different if 1 < len(different) <= n_bins else np.sort(values)
        n_rows_up_to = np.ceil(np.arange(1, n_bins) * len(rising) / n_bins)
        places = n_rows_up_to.astype(np.int64) - 1
    largest_of_class = np.unique(rising[places])
    largest_of_class = largest_of_class[largest_of_class < rising[-1]]
    if not len(largest_of_class) and n_bins > 2:
        # Nearly all rows have the largest value: all smaller ones make a class.
        largest_of_class = different[-2:-1]
    return np.searchsorted(largest_of_class, values)
