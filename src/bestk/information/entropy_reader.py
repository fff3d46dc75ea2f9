"""From a table and its target to entropies: columns are counted, or taken as normal, or both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestk._checks import choice
from bestk._typing import Array, Indices
from bestk.discretize import fit_together
from bestk.errors import ParameterError
from bestk.information._blend import BlendedSource
from bestk.information._gaussian import GaussianSource
from bestk.information._scores import ScoredTable
from bestk.information.backends import device_measures, refuse_weights
from bestk.information.coding import PAIR_ROWS, CodedTable, code_table, get_discretizer
from bestk.information.entropies import Entropies
from bestk.information.measures import CORRECTIONS, Correction
from bestk.native.threads import threads
from bestk.tables.table import Table, find_features, find_numeric
from bestk.tables.target import Target, parse_target

# The discretizers whose counts are averaged in a blend.
BLENDED = ("mdlp", "equal-frequency")

# Pairs of columns, times rows, that are counted in a second on two cores, about.
WORK_PER_SECOND = 1e12

# Nanoseconds, about, to read a value of a table, to cut its column and to count it.
COST_OF_VALUE = 10.0


@dataclass(frozen=True)
class Measured:
    """The entropies of a table with one target, and what they were measured from."""

    entropies: Entropies

    discretizer: Any = None
    """Fitted on the numeric columns; None where no numbers were cut."""

    levels: Indices | None = None
    """The number of levels of each column, where columns were counted."""

    numeric: Indices | None = None
    """The columns that were read as numbers, where some were cut."""


@dataclass(frozen=True)
class EntropyReader:
    """How entropies of a table are measured; :class:`bestk.SelectBestK` has what options mean."""

    information: str = "discrete"
    """"discrete", "gaussian" or "blend"."""

    discretizer: Any = "caim"
    correction: Correction | None = None
    categorical_features: Any = "from_dtype"
    target: str = "auto"
    backend: str = "auto"
    n_jobs: int | None = None

    width: int | None = None
    """The columns of each table, where several tables stand side by side; None: there is one."""

    def measure(self, table: Table, y: Any) -> Measured:
        """The entropies of a table and its target, which may be parsed already."""
        categorical = find_features(self.categorical_features, table)
        target = parse_target(y, table.n_samples, self.target)
        refuse_weights(self.backend, target.weights)
        if self.information == "blend":
            return self._blend(table, target, find_numeric(table, categorical))
        if self.information == "gaussian":
            refuse_other_kinds(table, categorical)
            return self._take_as_normal(table.numeric()[0], target)
        numeric = find_numeric(table, categorical)
        return self._count([self.discretizer], table, numeric, target)[0]

    def _count(
        self, discretizers: Sequence[Any], table: Table, numeric: Indices, target: Target
    ) -> list[Measured]:
        """The counts of a table, by each of several discretizers."""
        fresh = [get_discretizer(discretizer) for discretizer in discretizers]
        return [
            self._count_codes(coded, numeric)
            for coded in code_table(fresh, table, numeric, target.classes)
        ]

    def _count_codes(self, coded: CodedTable, numeric: Indices) -> Measured:
        """The counts of a table that is coded."""
        entropies = Entropies.count(
            replace(coded.codes, width=self.width),
            coded.classes,
            self.backend,
            self.correction,
            self.n_jobs,
        )
        was_cut = coded.discretizer is not None
        return Measured(
            entropies, coded.discretizer, coded.codes.levels, numeric if was_cut else None
        )

    def _take_as_normal(self, numbers: Array, target: Target) -> Measured:
        """Numbers that are taken as normal, with classes or numbers as the target."""
        choice(self.correction, "correction", CORRECTIONS)
        if self.correction is not None:
            raise ParameterError(
                f"correction={self.correction!r} corrects counts, of which information='gaussian' "
                "makes none; pass correction=None"
            )
        with threads(self.n_jobs):
            source = GaussianSource(ScoredTable(numbers, target))
        return Measured(Entropies(*source.singles, source, n_jobs=self.n_jobs))

    def _blend(self, table: Table, target: Target, numeric: Indices) -> Measured:
        """The mean of counts, corrected for chance, and of an estimate from covariances.

        Numbers are counted in two kinds of bins, or in those of a discretizer of the user's own;
        columns that are no numbers are counted only.
        """
        is_auto = isinstance(self.discretizer, str) and self.discretizer == "auto"
        all_are_numbers = len(numeric) == table.n_features
        counting = replace(self, correction=self.correction or "chance")
        if is_auto and all_are_numbers and self.backend.startswith("torch"):
            measured = counting._blend_on_device(table, target)
            if measured is not None:
                return measured
        discretizers = BLENDED if is_auto else (self.discretizer,)
        counted = counting._count(discretizers, table, numeric, target)
        if not len(numeric):
            return counted[0]
        numbers = table if all_are_numbers else table.keep(numeric)
        with threads(self.n_jobs):
            scores = ScoredTable(numbers.numeric()[0], target, "standard")
            normal = GaussianSource(scores)
        sources = [measured.entropies.source for measured in counted]
        source = BlendedSource(sources, normal, numeric)
        entropies = Entropies(*source.singles, source, signed=True, n_jobs=self.n_jobs)
        return replace(counted[0], entropies=entropies)

    def _blend_on_device(self, table: Table, target: Target) -> Measured | None:
        """The blend of a table of numbers on a GPU; None if that is not possible."""
        values = table.blocks[0].values
        if len(table.blocks) > 1 or not isinstance(values, np.ndarray):
            return None
        table.check_exact()
        mdlp = get_discretizer(BLENDED[0])
        n_bins = get_discretizer(BLENDED[1]).n_bins
        measure = device_measures(self.backend)
        on_device = measure(values, target, n_bins, self.correction)
        if on_device is None:
            return None
        if not fit_together([mdlp], values, target.classes.codes, 0, [on_device.cuts]):
            return None
        source = on_device.source
        x, xy, y = source.singles
        entropies = Entropies(x, xy, y, source, signed=True, n_jobs=self.n_jobs)
        return Measured(entropies, mdlp, on_device.levels, np.arange(table.n_features))


def refuse_other_kinds(table: Table, categorical: Indices) -> None:
    """Refuse columns that are no numbers."""
    not_numeric = np.union1d(np.flatnonzero(~table.are("numeric")), categorical)
    if len(not_numeric):
        first = int(not_numeric[0])
        kind = table.kinds[first] if table.kinds[first] != "numeric" else "categorical"
        raise ParameterError(
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
