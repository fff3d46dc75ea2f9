"""Estimators: what each column of a dataset, and each pair of them, tells about the target.

An estimator has a method ``fit(dataset)`` that returns the :class:`Information`. ``ESTIMATORS`` has
those that a user chooses by ``information=``; to add one, register a class that is made from
:class:`EstimatorSettings`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from bestk._typing import Indices
from bestk.errors import Registry
from bestk.information.adjustment import Adjustment
from bestk.information.block_information import measure_blocks
from bestk.information.constants import BlockConstants
from bestk.information.covariates import adjustment_for
from bestk.information.entropy_reader import EntropyReader, Measured, cost_of_reading
from bestk.information.information import Information
from bestk.information.joined import JoinedEntropies
from bestk.information.measures import Correction
from bestk.tables.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class EstimatorSettings:
    """The parameters of a selector that estimators take; see :class:`bestk.SelectBestK`."""

    discretizer: Any = "auto"
    correction: Correction | None = None
    backend: str = "auto"
    n_jobs: int | None = None

    worst: bool = False
    """Whether the smallest objective of several targets counts, and not their sum."""

    n_selected: int = 0
    """The number of features to select, 0 if that is not known; the default considers more."""

    time_limit: float | None = None
    """Seconds for a scan of all pairs of columns."""


class Estimator(Protocol):
    """What turns a dataset into information; equal ones give the same."""

    name: ClassVar[str]
    """The name of the estimate, as in ``ESTIMATORS``; "blocks" for that of the default method."""

    needs_all_rows: ClassVar[bool]
    """Whether it uses every row; other estimates hardly change beyond some 200,000 rows."""

    def fit(self, dataset: Dataset) -> Information:
        """Measure the columns that may be selected."""

    def with_threads(self, n_jobs: int) -> "Estimator":
        """The same estimator, with so many threads."""


@dataclass(frozen=True)
class TableEstimator:
    """Counts, normal densities, or the mean of both: measured for each target, then joined."""

    settings: EstimatorSettings

    name: ClassVar[str]
    needs_all_rows: ClassVar[bool] = True

    def reading(self, columns: Indices, dataset: Dataset) -> EntropyReader:
        """How a table of some columns of a dataset is measured."""
        settings = self.settings
        return EntropyReader(
            self.name,
            settings.discretizer,
            settings.correction,
            categorical_features=_find_among(columns, dataset.columns.categorical),
            backend=settings.backend,
            n_jobs=settings.n_jobs,
        )

    def with_threads(self, n_jobs: int) -> Self:
        """The same estimator, with so many threads."""
        return replace(self, settings=replace(self.settings, n_jobs=n_jobs))

    def fit(self, dataset: Dataset) -> Information:
        """Measure the columns that may be selected and vary."""
        features = dataset.find_varying()
        reading = self.reading(features, dataset)
        table = _keep_columns(dataset, features)
        measured = [reading.measure(table, target) for target in dataset.targets]
        information = information_of(dataset, features, measured[0])
        if len(measured) == 1:
            return information
        entropies = tuple(of_target.entropies for of_target in measured)
        levels = [of_target.levels for of_target in measured if of_target.levels is not None]
        return replace(
            information,
            estimates=JoinedEntropies(entropies, self.settings.worst),
            discretizer=[of_target.discretizer for of_target in measured],
            levels=np.max(levels, axis=0) if levels else None,
        )


class Counted(TableEstimator):
    """Count the levels of columns; numbers are cut into bins."""

    name = "discrete"


class Gaussian(TableEstimator):
    """Take numbers as jointly normal, within classes and over all of them."""

    name = "gaussian"


class Blend(TableEstimator):
    """The mean of counts, corrected for chance, and of the estimate of normal numbers."""

    name = "blend"
    needs_all_rows = False


@dataclass(frozen=True)
class BlockEstimator:
    """Take each feature as a block of numeric columns that are jointly normal with the target."""

    constants: BlockConstants
    settings: EstimatorSettings = field(default_factory=EstimatorSettings)

    name: ClassVar[str] = "blocks"
    needs_all_rows: ClassVar[bool] = False

    def with_threads(self, n_jobs: int) -> Self:
        """The same estimator, with so many threads."""
        return replace(self, settings=replace(self.settings, n_jobs=n_jobs))

    def fit(self, dataset: Dataset) -> Information:
        """Measure the columns that may be selected and vary; of very many the best ones."""
        columns = dataset.columns
        settings = self.settings
        varying = dataset.find_varying()
        considered = measure_blocks(
            EntropyReader(
                "blocks",
                settings.discretizer,
                settings.correction,
                categorical_features=_find_among(varying, columns.categorical),
                backend=settings.backend,
                n_jobs=settings.n_jobs,
            ),
            _keep_columns(dataset, varying),
            dataset.targets,
            self.constants,
            included=np.searchsorted(varying, columns.included),
            most=settings.n_selected,
            grouped=columns.groups is not None,
            worst=settings.worst,
            time_limit=settings.time_limit,
            adjustment=_adjustment_of(dataset, self.constants),
        )
        relevance_of_screened = None
        if len(considered.kept) < len(varying):
            relevance_of_screened = np.zeros(dataset.table.n_features)
            relevance_of_screened[varying] = considered.relevance
        return Information(
            dataset=dataset,
            features=varying[considered.kept],
            estimates=considered.measured.entropies,
            cost=_cost_of(dataset, len(considered.kept), None),
            numeric=considered.measured.discretised,
            relevance_of_screened=relevance_of_screened,
            notes=considered.notes,
        )


ESTIMATORS: Registry[Callable[[EstimatorSettings], Estimator]] = Registry(
    "information", {"discrete": Counted, "gaussian": Gaussian, "blend": Blend}
)


def information_of(dataset: Dataset, features: Indices, measured: Measured) -> Information:
    """What was measured of some columns of a dataset."""
    return Information(
        dataset=dataset,
        features=features,
        estimates=measured.entropies,
        cost=_cost_of(dataset, len(features), measured.levels),
        discretizer=measured.discretizer,
        levels=measured.levels,
        numeric=measured.numeric,
    )


def _cost_of(dataset: Dataset, n_features: int, levels: Indices | None) -> float:
    """The operations of measuring so many features with every target."""
    of_one_target = cost_of_reading(n_features, dataset.table.n_samples, levels)
    return len(dataset.targets) * of_one_target


def _find_among(columns: Indices, wanted: Indices) -> Indices:
    """The places among ``columns`` of those that are wanted."""
    return np.flatnonzero(np.isin(columns, wanted))


def _keep_columns(dataset: Dataset, columns: Indices) -> Any:
    """The table of some columns; the table itself if these are all."""
    table = dataset.table
    return table if len(columns) == table.n_features else table.keep(columns)


def _adjustment_of(dataset: Dataset, constants: BlockConstants) -> Adjustment | None:
    """What is to be subtracted from all columns; None without covariates."""
    covariates = dataset.columns.covariates
    if not len(covariates):
        return None
    categorical = _find_among(covariates, dataset.columns.categorical)
    table = dataset.table.keep(covariates)
    return adjustment_for(table, categorical, dataset.targets, constants)
