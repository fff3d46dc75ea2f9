"""From a table and its target to entropies: numbers are cut and counted, or taken as normal."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._checks import choice
from bestk._typing import Array, Floats, Indices
from bestk.data.codes import encode
from bestk.data.frames import read_column
from bestk.data.table import Block, Table, find_features, find_numeric
from bestk.data.target import Target, is_continuous, read_continuous_target, read_target
from bestk.discretize import Discretizer, EqualFrequency, fit_together
from bestk.errors import UnknownNameError
from bestk.information import coding
from bestk.information._blend import BlendedSource, measure_covariances, measure_curvature
from bestk.information._gaussian import GaussianSource
from bestk.information._scores import Covariances, ScoredTable
from bestk.information.backends import PairSource, device_measures
from bestk.information.entropies import Entropies, largest_by_chance
from bestk.information.measures import CORRECTIONS, Correction
from bestk.information.scan import Synergies, strongest_pairs
from bestk.native.threads import threads

TARGET_BINS = 5  # classes of equal frequency, where a continuous target is to be counted
INFORMATION = ("discrete", "gaussian", "blend")
BLENDED = ("mdlp", "equal-frequency")  # levels of numbers whose counts are averaged
BLENDED_SHARE = 3.0**-0.5  # of the error of one count in the mean of three estimates
MIN_ROWS = 200  # with fewer, and fewer than columns, only covariances of numbers are used


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

    def parse(self, y: Any, n_samples: int) -> "ParsedTarget":
        """The target, parsed once; one that is parsed already is given back."""
        if isinstance(y, ParsedTarget):
            return y
        column = read_column(y)
        return ParsedTarget(column, n_samples, is_continuous(column, self.target))

    def measure(self, table: Table, y: Any) -> "Measured":
        """The entropies of a table and its target."""
        if self.information not in INFORMATION:
            raise UnknownNameError("information", self.information, INFORMATION)
        categorical = find_features(self.categorical_features, table)
        target = self.parse(y, table.n_samples)
        if self.information == "blend":
            return self._blended(table, target, categorical)
        if self.information == "gaussian":
            refuse_other_kinds(table, categorical)
            return self._normal(table.numeric()[0], target.goal)
        numeric = find_numeric(table, categorical)
        return self._counted([self.discretizer], table, numeric, target.classes)[0]

    def _counted(
        self, ways: Sequence[Any], table: Table, numeric: Indices, target: Target,
        also: Sequence[Discretizer] = (),
    ) -> list["Measured"]:  # fmt: skip
        """The counts of a table, its numbers cut in each of several ways; see code_table."""
        found = []
        for codes, classes, fitted in coding.code_table(ways, table, numeric, target, also):
            options = self.backend, self.correction, self.n_jobs
            entropies = Entropies.count(replace(codes, width=self.width), classes, *options)
            cut = None if fitted is None else numeric
            found.append(Measured(entropies, target, fitted, codes.levels, cut))
        return found

    def _normal(self, numbers: Array, goal: Any) -> "Measured":
        """Numbers that are taken as normal, with classes or numbers as the target."""
        choice(self.correction, "correction", CORRECTIONS)
        if self.correction is not None:
            raise ValueError(
                f"correction={self.correction!r} is meant for counts; use correction=None, "
                "or another information than 'gaussian'"
            )
        with threads(self.n_jobs):
            scored = ScoredTable(numbers, goal)
            source = GaussianSource(scored)
            n = source.n_features
            covariances = measure_covariances((np.arange(n), scored), (np.arange(0), ()), goal)
        levels = np.full(n, 2)  # a column takes one parameter, like two levels
        entropies = Entropies(
            *source.singles, source, n_jobs=self.n_jobs, covariances=covariances, levels=levels,
            chance=largest_by_chance(levels, scored.n_rows, covariances.n_groups),
        )  # fmt: skip
        return Measured(entropies, goal)

    def _blended(self, table: Table, target: "ParsedTarget", categorical: Indices) -> "Measured":
        """Counts of one or two kinds of levels, corrected for chance, and covariances, averaged."""
        auto = isinstance(self.discretizer, str) and self.discretizer == "auto"
        ways = BLENDED if auto else (self.discretizer,)
        numeric = find_numeric(table, categorical)
        if auto and self.correction is None and len(numeric) == table.n_features:
            few = has_few_rows(table.n_samples, table.n_features)
            if few and not np.isnan(numbers := table.numeric()[0]).any():
                return self._normal(numbers, target.goal)
        if not len(numeric):  # without numbers, all ways count the same
            ways = ways[:1]
        counting = replace(self, correction=self.correction or "chance")
        shape = table.n_features, table.n_samples, target.classes.n_classes
        n_bins = coding.pair_bins(*shape)[0]
        for_pairs = EqualFrequency(n_bins)  # sorted columns are cut at little cost
        find = partial(find_synergy, table, numeric, target.classes, self.backend, for_pairs)
        if auto and len(numeric) == table.n_features and self.backend.startswith("torch"):
            measured = counting._blended_on_device(table, target, find)
            if measured is not None:
                return measured
        also = [] if self.width else [for_pairs]  # of one table, pairs are counted without
        counted = counting._counted(ways, table, numeric, target.classes, also)
        source: PairSource = counted[0].entropies.source
        scored, curvature = None, np.zeros(table.n_features)
        if len(numeric):
            kept = table if len(numeric) == table.n_features else table.keep(numeric)
            with threads(self.n_jobs):
                scored = ScoredTable(kept.numeric()[0], target.goal, "standard")
                normal = GaussianSource(scored)
                curvature[numeric] = measure_curvature(scored)
            source = BlendedSource([each.entropies.source for each in counted], normal, numeric)
        blended = table.mask(numeric)
        others = np.flatnonzero(~blended)
        codes = encode(table.keep(others)).values if len(others) else ()
        covariances = measure_covariances((numeric, scored), (others, codes), target.goal)
        levels = np.asarray(counted[-1].levels)
        entropies = self._join(source, covariances, levels, blended, curvature, find)
        return replace(counted[0], entropies=entropies)

    def _join(
        self, source: PairSource, covariances: Covariances, levels: Indices, blended: Any,
        curvature: Floats, find: Any,
    ) -> Entropies:  # fmt: skip
        """The entropies of a blend; ``blended``: columns with several estimates."""
        share = np.where(blended & (levels > 1), BLENDED_SHARE, 1.0)
        chance = share * largest_by_chance(levels, covariances.n_samples, covariances.n_groups)
        return Entropies(
            *source.singles, source, signed=True, n_jobs=self.n_jobs, covariances=covariances,
            levels=levels, share=share, curvature=curvature, chance=chance, find_synergy=find,
        )  # fmt: skip

    def _blended_on_device(
        self, table: Table, target: "ParsedTarget", find: Any
    ) -> "Measured | None":
        """The blend of a table of numbers on a GPU; None if that is not possible."""
        measure, numeric = device_measures(self.backend), np.arange(table.n_features)
        values = table.blocks[0].values
        if len(table.blocks) > 1 or not isinstance(values, np.ndarray):
            return None
        table.check_exact()
        fitted, classes = coding.get_discretizer(BLENDED[0]), target.classes
        n_bins = coding.get_discretizer(BLENDED[1]).n_bins, find.args[-1].n_bins
        found = measure(values, classes, target.goal, n_bins, self.correction)
        if found is None or not fit_together([fitted], values, classes.codes, 0, [found.cuts]):
            return None
        measured = found.source, found.covariances, found.levels[1], True, found.curvature
        entropies = self._join(*measured, found.find_synergy or find)
        return Measured(entropies, classes, fitted, found.levels[0], numeric)


@dataclass(frozen=True)
class Measured:
    """The entropies of a table, and what they were measured from."""

    entropies: Entropies
    target: Any  # the classes, or the numbers of a continuous target
    discretizer: Any = None  # fitted on the numeric columns, or None
    levels: Indices | None = None  # of each column, where they were counted
    discretised: Indices | None = None  # the columns that the discretizer was fitted on


@dataclass(frozen=True)
class ParsedTarget:
    """A target: its classes, and its numbers where it is continuous."""

    column: Block = field(repr=False)
    n_samples: int
    continuous: bool

    def take(self, rows: Indices) -> "ParsedTarget":
        """Some of the rows, which may repeat."""
        return ParsedTarget(self.column.take(rows), len(rows), self.continuous)

    @property
    def goal(self) -> Any:
        """The numbers of a continuous target, or the classes."""
        return self.numbers if self.continuous else self.classes

    @property
    def labels(self) -> NDArray[Any]:
        """The number, or the label of the class, of each row."""
        return self.numbers if self.continuous else self.classes.classes[self.classes.codes]

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """A finite number for each row."""
        if self.n_samples == 1:
            raise ValueError("y has 1 sample; at least two are needed")
        return read_continuous_target(self.column, self.n_samples)

    @cached_property
    def classes(self) -> Target:
        """The classes; a continuous target is cut into classes of equal frequency."""
        if not self.continuous:
            target = read_target(self.column, self.n_samples)
            if target.n_classes == self.n_samples > 2:
                raise ValueError(
                    f"y has a different value in each of its {self.n_samples} rows, so it has no "
                    "classes; is it an identifier? If it is a number to predict, pass "
                    "target='continuous'"
                )
            return target
        values = self.numbers
        bins = cut_target(values)
        if not bins.any():
            largest = values.max()
            raise ValueError(
                f"y is {largest} in {(values == largest).sum()} of its {self.n_samples} rows, too "
                "often to be cut into classes of equal frequency; give y as classes of your own"
            )
        return read_target(bins, self.n_samples)


def has_few_rows(n_samples: int, n_features: int) -> bool:
    """Whether counts, and covariances of many columns together, are too uncertain to be used."""
    return n_samples < min(MIN_ROWS, n_features)


def refuse_other_kinds(table: Table, categorical: Indices) -> None:
    """Refuse columns that are no numbers."""
    odd = np.union1d(np.flatnonzero(table.kinds != "numeric"), categorical)
    if len(odd):
        first = int(odd[0])
        kind = table.kinds[first] if table.kinds[first] != "numeric" else "categorical"
        raise ValueError(
            f"column {table.names[first]!r} is {kind}, and information='gaussian' is for "
            "numbers; exclude it, encode it as numbers, or use information='discrete'"
        )


def find_synergy(
    table: Table, numeric: Indices, target: Target, backend: str, cutter: EqualFrequency, top: int
) -> Synergies:
    """The pairs of columns with the largest synergy, among all."""
    if len(numeric):
        is_fitted = hasattr(cutter, "cut_points_")
        table = coding.discretise(cutter, table, numeric, None if is_fitted else target)[0]
    codes = coding.merge_rare(encode(table), cutter.n_bins)
    entropies = Entropies.count(codes, target, backend)
    return strongest_pairs(entropies, codes, target.n_classes, top, coding.MAX_PAIR_PVALUE)


def cut_target(values: NDArray[np.float64], n_bins: int = TARGET_BINS) -> Indices:
    """Classes of numbers: each value one where they are few, or else of equal frequency."""
    known = np.unique(values)
    basis = known if 1 < len(known) <= n_bins else np.sort(values)
    ranks = -(-np.arange(1, n_bins) * len(basis) // n_bins)
    last = np.unique(basis[ranks - 1])  # of each class
    return np.searchsorted(last[last < basis[-1]], values)
