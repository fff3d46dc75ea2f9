"""From a table and its target to entropies: numbers are cut and counted, or taken as normal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from bestk._checks import choice
from bestk._typing import Array, Indices, Mask
from bestk.discretize import DISCRETIZERS, ColumnCuts, EqualFrequency, fit_together
from bestk.information._blend import BlendedSource
from bestk.information._gaussian import GaussianSource
from bestk.information._scores import ScoredTable
from bestk.information.backends import device_measures, refuse_weights
from bestk.information.entropies import Entropies
from bestk.information.measures import CORRECTIONS, Correction
from bestk.native.threads import threads
from bestk.tables.codes import Codes, encode
from bestk.tables.table import Block, Table, find_features, find_numeric, split_numbers
from bestk.tables.target import ClassTarget, Target, parse_target

BLENDED = ("mdlp", "equal-frequency")  # discretisers whose counts are averaged
MIN_LEVEL_ROWS, MIN_LEVEL_SHARE = 20, 0.1  # of a level in a pair; rarer ones are merged
MIN_CELL_ROWS = 10  # on average, of a pair of terciles and a class; with fewer, medians are used
MAX_TERCILE_FEATURES = 10_000  # above, too: medians take a quarter of the time
MAX_FINE_BINS, MIN_FINE_CELL_ROWS = 8, 6  # of a second look at pairs
MAX_FINE_WORK = 3e11  # of it: pairs of columns times cells times rows; about a second
WORK_PER_SECOND = 1e12  # pairs of columns times rows, about, on two cores
PAIR_ROWS = 500  # rows that take as long to count as the rest of a pair
# Nanoseconds, about, to read a value of a table, to cut its column and to count it.
COST_OF_VALUE = 10.0
# A numeric column of at most so many different values is not cut: a genotype keeps its three.
FEW_VALUES = 8
FIRST_ROWS = 64  # that show most columns of more values
MAX_SMALL_CUTS = 254  # of a column whose codes, one of them for missing values, take a byte


@dataclass(frozen=True)
class Reading:
    """How a table is to be read; see :class:`bestk.SelectBestK` for what each option means."""

    information: str = "discrete"
    discretizer: Any = "caim"
    correction: Correction | None = None
    categorical_features: Any = "from_dtype"
    target: str = "auto"
    backend: str = "auto"
    n_jobs: int | None = None
    width: int | None = None  # columns of each table, where several stand side by side

    def measure(self, table: Table, y: Any) -> "Measured":
        """The entropies of a table and its target."""
        categorical = find_features(self.categorical_features, table)
        target = parse_target(y, table.n_samples, self.target)
        refuse_weights(self.backend, target.weights)
        if self.information == "blend":
            return self._blended(table, target, categorical)
        if self.information == "gaussian":
            refuse_other_kinds(table, categorical)
            return self._normal(table.numeric()[0], target)
        numeric = find_numeric(table, categorical)
        discretizer = get_discretizer(self.discretizer)
        coded = next(code_table([discretizer], table, numeric, target.classes))
        return self._counted(*coded, numeric)

    def _counted(
        self, codes: Codes, classes: ClassTarget, fitted: Any, numeric: Indices
    ) -> "Measured":
        """The counts of a table; see code_table."""
        options = self.backend, self.correction, self.n_jobs
        entropies = Entropies.count(replace(codes, width=self.width), classes, *options)
        return Measured(entropies, fitted, codes.levels, None if fitted is None else numeric)

    def _normal(self, numbers: Array, target: Target) -> "Measured":
        """Numbers that are taken as normal, with classes or numbers as the target."""
        choice(self.correction, "correction", CORRECTIONS)
        if self.correction is not None:
            raise ValueError(
                f"correction={self.correction!r} corrects counts, of which information='gaussian' "
                "makes none; pass correction=None"
            )
        with threads(self.n_jobs):
            source = GaussianSource(ScoredTable(numbers, target))
        return Measured(Entropies(*source.singles, source, n_jobs=self.n_jobs))

    def _blended(self, table: Table, target: Target, categorical: Indices) -> "Measured":
        """The mean of counts, corrected for chance, and of an estimate from covariances.

        Numbers are counted in two kinds of bins, or in those of a discretizer of the user's own;
        columns that are no numbers are counted only.
        """
        is_auto = self.discretizer == "auto"
        numeric = find_numeric(table, categorical)
        all_are_numbers = len(numeric) == table.n_features
        counting = replace(self, correction=self.correction or "chance")
        if is_auto and all_are_numbers and self.backend.startswith("torch"):
            measured = counting._blended_on_device(table, target)
            if measured is not None:
                return measured
        ways = BLENDED if is_auto else (self.discretizer,)
        counted = [
            counting._counted(*coded, numeric)
            for coded in code_table(
                list(map(get_discretizer, ways)), table, numeric, target.classes
            )
        ]
        if not len(numeric):
            return counted[0]
        numbers = table if all_are_numbers else table.keep(numeric)
        with threads(self.n_jobs):
            scores = ScoredTable(numbers.numeric()[0], target, "standard")
            normal = GaussianSource(scores)
        source = BlendedSource([each.entropies.source for each in counted], normal, numeric)
        entropies = Entropies(*source.singles, source, signed=True, n_jobs=self.n_jobs)
        return replace(counted[0], entropies=entropies)

    def _blended_on_device(self, table: Table, target: Target) -> "Measured | None":
        """The blend of a table of numbers on a GPU; None if that is not possible."""
        values = table.blocks[0].values
        if len(table.blocks) > 1 or not isinstance(values, np.ndarray):
            return None
        table.check_exact()
        fitted = get_discretizer(BLENDED[0])
        n_bins = get_discretizer(BLENDED[1]).n_bins
        measure = device_measures(self.backend)
        found = measure(values, target, n_bins, self.correction)
        if found is None or not fit_together(
            [fitted], values, target.classes.codes, 0, [found.cuts]
        ):
            return None
        x, xy, y = found.source.singles
        entropies = Entropies(x, xy, y, found.source, signed=True, n_jobs=self.n_jobs)
        return Measured(entropies, fitted, found.levels, np.arange(table.n_features))


@dataclass(frozen=True)
class Measured:
    """The entropies of a table, and what they were measured from."""

    entropies: Entropies
    discretizer: Any = None  # fitted on the numeric columns, or None
    levels: Indices | None = None  # of each column, where they were counted
    discretised: Indices | None = None  # the columns that were read as numbers

    def of_targets(self) -> "list[Measured]":
        """What was measured with each target."""
        return [replace(self, entropies=own) for own in self.entropies.of_targets]


def refuse_other_kinds(table: Table, categorical: Indices) -> None:
    """Refuse columns that are no numbers."""
    odd = np.union1d(np.flatnonzero(~table.are("numeric")), categorical)
    if len(odd):
        first = int(odd[0])
        kind = table.kinds[first] if table.kinds[first] != "numeric" else "categorical"
        raise ValueError(
            f"column {table.names[first]!r} is {kind}, and information='gaussian' is for "
            "numbers; exclude it, encode it as numbers, or use information='discrete'"
        )


def cost_of_reading(n_features: int, n_samples: int, levels: Indices | None) -> float:
    """About the nanoseconds that it takes to measure a table and all pairs of its columns.

    They are estimated from the table, and not measured: what depends on them is the same on every
    machine. ``levels``: of each column, where columns are counted.
    """
    cells = 1.0
    if levels is not None and len(levels):
        cells = max(1.0, float(np.mean(levels - 1.0))) ** 2
    cost_of_pair = 1e9 * (n_samples + PAIR_ROWS) / WORK_PER_SECOND * cells
    return COST_OF_VALUE * n_samples * n_features + cost_of_pair * n_features**2


def code_table(
    discretizers: Sequence[Any], table: Table, numeric: Indices, target: ClassTarget
) -> Iterator[tuple[Codes, ClassTarget, Any]]:
    """For each discretizer: codes, classes, and the discretizer, which is fitted here.

    It is one that :func:`get_discretizer` or :func:`equal_frequency` gives, or None where columns
    are codes already. Rows come by class, or in their own order.
    """
    order = target.order  # rows of a class are packed at once
    classes = target.in_order(order)
    if not len(numeric) or discretizers[0] is None:
        yield encode(table, order), classes, None
        return
    table.check_exact(numeric)
    numbers, rest = split_numbers(table, numeric)
    n_discretizers = len(discretizers)
    found = fit_together(
        discretizers, numbers.values, target.codes, n_discretizers, weights=target.weights
    )
    if found is None or not all(are_coded(cuts) for cuts in found):
        for own in discretizers:
            if found is None:
                _fit_discretizer(own, table, numeric, target)
            yield encode(_discretise(own, table, numeric)), target, own
        return
    others = np.flatnonzero(~table.mask(numeric))
    coded = encode(table.keep(others), order) if rest else None
    for own, cuts in zip(discretizers, found, strict=True):
        values: Any = cuts.codes
        levels = cuts.counts + 1 + cuts.gaps
        if coded is not None:
            part = values, levels
            values = np.empty((table.n_features, table.n_samples), coded.values.dtype)
            levels = np.empty(table.n_features, np.int64)
            values[numeric], levels[numeric] = part
            values[others], levels[others] = coded.values, coded.levels
        yield Codes(values, levels, table.names), classes, own


def are_coded(cuts: ColumnCuts) -> bool:
    """Whether the codes of all columns are known with their cuts."""
    return cuts.codes is not None and int(cuts.counts.max()) <= MAX_SMALL_CUTS


def _fit_discretizer(discretizer: Any, table: Table, numeric: Indices, target: ClassTarget) -> None:
    """Fit a discretiser to the numbers of some columns and the classes of the rows."""
    numbers, _ = split_numbers(table, numeric)
    try:
        with np.errstate(invalid="ignore"):  # where infinities of both signs are added up
            discretizer.fit(numbers.values, target.codes)
    except ValueError:
        table.numeric()  # names a column of infinite values
        raise


def _discretise(discretizer: Any, table: Table, numeric: Indices) -> Table:
    """The same table with codes for its numbers, by a discretiser that is fitted."""
    numbers, rest = split_numbers(table, numeric)
    codes = discretizer.transform(numbers.values)
    return Table(table.n_samples, table.names, (*rest, Block(numeric, "numeric", codes)))


def cut_numbers(table: Table, numeric: Indices, n_bins: int, few_values: int = 0) -> Codes:
    """The codes of a table, numbers in bins of equal frequency.

    ``few_values``: columns of at most so many different values keep them as levels.
    """
    n = table.n_samples
    one_class = ClassTarget(
        np.zeros(n, np.int64), np.zeros(1), np.array([n])
    )  # rows keep their order
    codes = next(code_table([equal_frequency(n_bins)], table, numeric, one_class))[0]
    return _keep_few_values(codes, table, numeric, few_values) if few_values else codes


def _keep_few_values(codes: Codes, table: Table, numeric: Indices, most: int) -> Codes:
    """The same codes, but numeric columns of few different values have each as a level."""
    is_numeric = table.mask(numeric)
    values = codes.values.copy()
    levels = codes.levels.copy()
    for block in table.blocks:
        for columns, strip in block.strips():
            chosen = np.flatnonzero(is_numeric[columns] & _start_with_few(strip, most))
            for j in chosen:
                different, own_codes = np.unique(strip[:, j], return_inverse=True)
                if len(different) <= most:
                    values[columns[j]] = own_codes
                    levels[columns[j]] = len(different)
    return replace(codes, values=values, levels=levels)


def _start_with_few(strip: Array, most: int) -> Mask:
    """Which columns have few different values in their first rows, missing ones apart."""
    first = np.sort(strip[:FIRST_ROWS], axis=0)
    return np.asarray((first[1:] > first[:-1]).sum(axis=0) < most)


def pair_bins(n_features: int, n_samples: int, n_classes: int) -> list[int]:
    """The bins of numbers in pairs: two or three; and more, where time and rows allow."""
    few_rows = n_samples < 9 * n_classes * MIN_CELL_ROWS
    coarse = 2 if few_rows or n_features > MAX_TERCILE_FEATURES else 3
    fine = min(MAX_FINE_BINS, int((n_samples / (n_classes * MIN_FINE_CELL_ROWS)) ** 0.5))
    work = n_features**2 * (fine - 1) ** 2 * (n_samples + PAIR_ROWS)
    return [coarse, fine] if fine >= 2 * coarse and work <= MAX_FINE_WORK else [coarse]


def merge_rare(codes: Codes, n_bins: int) -> Codes:
    """The same codes with rare levels of many made one: chi-square needs rows in every cell."""
    several = np.flatnonzero(codes.levels > n_bins)
    if not len(several):
        return codes
    values = codes.values.copy()
    for i in several:
        counts = np.bincount(values[i])
        rare = counts < max(MIN_LEVEL_ROWS, MIN_LEVEL_SHARE * codes.n_samples)
        values[i] = np.where(rare[values[i]], len(counts), values[i])
    return encode(values.T)


def get_discretizer(discretizer: Any) -> Any:
    """A discretiser to fit, of that name or like the one given, which gives arrays.

    None for None.
    """
    if discretizer is None:
        return None
    is_name = isinstance(discretizer, str)
    fresh: Any = DISCRETIZERS[discretizer]() if is_name else clone(discretizer)
    return fresh.set_output(transform="default") if hasattr(fresh, "set_output") else fresh


def equal_frequency(n_bins: int) -> Any:
    """A discretizer to fit, which gives arrays."""
    return EqualFrequency(n_bins).set_output(transform="default")
