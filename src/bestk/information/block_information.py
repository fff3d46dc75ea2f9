"""What the blocks of a table tell about its targets, by which the default selects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc

from bestk._typing import Floats, Indices
from bestk.errors import ParameterError
from bestk.information.adjustment import Adjustment
from bestk.information.blocks import Design, TargetScores, make_design
from bestk.information.constants import BlockConstants
from bestk.information.entropy_reader import WORK_PER_SECOND, EntropyReader
from bestk.information.moments import ConditionalMoments, explain_all, given_each
from bestk.information.synergy import PairSearch, can_scan
from bestk.native.threads import spans, threads
from bestk.tables.table import Table, find_features, find_numeric
from bestk.tables.target import Target

# Scores of all columns are held at once up to this number of values, 1 GiB; of more, the columns
# to consider are found first.
MAX_HELD_VALUES = 2**27

# Block columns of a design times features, given each of which it is measured at once: 16 MiB for
# each column of a block.
MAX_SIDE_BY_SIDE = 2**20


@dataclass(frozen=True)
class FeaturesAlone:
    """What features tell by themselves about one or more targets."""

    relevance: Floats
    """I(xi; y) of each feature in nats, summed over targets, less what chance gives on average; at
    most the entropies of the targets."""

    n_unlikely: Indices
    """How many features have a p-value above one half, for each target: of the columns of their
    blocks that gain most, with the noise that stands for chance correlations."""

    @classmethod
    def of(
        cls,
        design: Design,
        targets: Sequence[TargetScores],
        explained: Sequence[Floats],
        constants: BlockConstants,
    ) -> "FeaturesAlone":
        """Measure the blocks of a design; ``explained``: what each target explains of them."""
        relevance = relevance_of_blocks(design, targets, explained)
        noise = noise_of_columns(design, constants)
        n_unlikely = np.zeros(len(targets), np.int64)
        for place, (target, explained_by_target) in enumerate(zip(targets, explained, strict=True)):
            moments = ConditionalMoments(design, target, noise, explained_by_target)
            n_unlikely[place] = count_unlikely(moments, constants)
        return cls(relevance, n_unlikely)


@dataclass(frozen=True)
class BlockInformation:
    """Information of the features of a table about one or more targets, by their blocks."""

    design: Design
    targets: tuple[TargetScores, ...]
    explained: tuple[Floats, ...]
    """What each target explains of all block columns."""

    constants: BlockConstants
    relevance: Floats
    """I(xi; y) of each feature in nats, summed over targets, less what chance gives on average."""

    n_unlikely: Indices
    """How many features of the table have a p-value above one half, for each target."""

    n_in_table: int
    """The number of features of the table, of which these may be a part."""

    search: PairSearch | None = None
    """Finds pairs with synergy; None where features are groups of columns."""

    worst: bool = False
    """Whether the smallest objective of several targets counts, and not their sum."""

    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        categorical: Indices,
        targets: Sequence[Target],
        constants: BlockConstants,
        *,
        search: PairSearch | None = None,
        n_jobs: int | None = None,
        worst: bool = False,
        adjustment: Adjustment | None = None,
    ) -> "BlockInformation":
        """Read a table; ``categorical`` has the places of numbers that are codes of categories.

        With an ``adjustment``, all information is that given its covariates.
        """
        row_weights = targets[0].weights
        weights = None if row_weights is None else row_weights.of_mean_one
        with threads(n_jobs):
            scored = tuple(
                TargetScores.of(target, weights, constants.largest_score) for target in targets
            )
            if adjustment is not None:
                scored = tuple(target.adjusted(adjustment, weights) for target in scored)
            design = make_design(table, categorical, scored, weights, constants, adjustment)
            explained = tuple(explain_all(design, target) for target in scored)
            alone = FeaturesAlone.of(design, scored, explained, constants)
        return cls(
            design=design,
            targets=scored,
            explained=explained,
            constants=constants,
            relevance=alone.relevance,
            n_unlikely=alone.n_unlikely,
            n_in_table=design.n_features,
            search=search,
            worst=worst,
            n_jobs=n_jobs,
        )

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.relevance)

    @property
    def noise(self) -> float:
        """The variance of the noise that is added to every block column."""
        return noise_of_columns(self.design, self.constants)

    @property
    def odds_of_chance(self) -> Floats:
        """How many features of the table tell nothing about each target, for one that does.

        Of those that tell nothing, half have a p-value above one half (Storey 2002). At least one
        feature is taken to tell something, and the odds are at least even.
        """
        n_chance = 2.0 * (self.n_unlikely + 1)
        n_informative = np.maximum(self.n_in_table - n_chance, 1.0)
        return np.asarray(np.maximum(self.n_in_table / n_informative - 1.0, 1.0))

    @property
    def of_targets(self) -> "tuple[BlockInformation, ...]":
        """The information about each target."""
        if len(self.targets) == 1:
            return (self,)
        return tuple(
            replace(
                self,
                targets=(target,),
                explained=(explained,),
                relevance=relevance_of_blocks(self.design, (target,), (explained,)),
                n_unlikely=self.n_unlikely[[place]],
                search=None if self.search is None else self.search.of_target(place),
                worst=False,
            )
            for place, (target, explained) in enumerate(
                zip(self.targets, self.explained, strict=True)
            )
        )

    def moments(self, noise: float | None = None) -> list[ConditionalMoments]:
        """Covariances with nothing selected, for each target.

        ``noise``: the variance of the noise of every column; None for that of the constants.
        """
        variance = self.noise if noise is None else noise
        return [
            ConditionalMoments(self.design, target, variance, explained)
            for target, explained in zip(self.targets, self.explained, strict=True)
        ]

    def mi(self) -> Floats:
        """``I(xi; y)`` of every feature."""
        return self.relevance.copy()

    def cmi(self, rows: Indices, columns: Indices) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]``, for the features of ``rows`` and of ``columns``."""
        # The features of the rows come first, and then those of the columns, as a table of its own.
        both = self.among(np.concatenate([rows, columns]))
        return both._information_given_first(len(rows))[:, len(rows) :]

    def cmi_among(self, items: Indices) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]`` of some features."""
        return self.among(items)._information_given_first(len(items))

    def _information_given_first(self, n_given: int) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]``, for the first features i and all features j."""
        information = np.zeros((n_given, self.n_features))
        with threads(self.n_jobs):
            for alone in self.moments():
                for first, last in self._spans_side_by_side(n_given):
                    given = given_each(alone, np.arange(first, last))
                    values = block_information(self.design, given)
                    information[first:last] += values.reshape(last - first, -1)
        return np.maximum(information, 0.0)

    def _spans_side_by_side(self, n_given: int) -> list[tuple[int, int]]:
        """The first features in runs, such that moments given all features of a run are small."""
        return spans(n_given, max(1, MAX_SIDE_BY_SIDE // self.design.n_columns))

    def among(self, features: Indices) -> "BlockInformation":
        """The information of some of the features, which may repeat, without their pairs."""
        if not self.design.columns.is_small:
            return replace(self.keep(features), search=None)
        return replace(
            self,
            design=self.design.select_features(features),
            relevance=self.relevance[features],
            search=None,
        )

    def keep(self, features: Indices) -> "BlockInformation":
        """The information of some of the features."""
        columns, _ = self.design.columns_of_all(features)
        return replace(
            self,
            design=self.design.keep(features),
            explained=tuple(explained[:, columns] for explained in self.explained),
            relevance=self.relevance[features],
            search=None if self.search is None else self.search.among(features),
        )

    def pvalues(self) -> Floats:
        """How often chance makes each feature tell as much about the target, by itself.

        Given the covariates, if there are any; for a single target.
        """
        with threads(self.n_jobs):
            return block_pvalues(self.design, self.moments(noise=0.0)[0])

    def pvalues_given(self, items: Indices) -> Floats:
        """The same of some features given each of them: at ``[i, j]`` that of feature j given i."""
        kept = self.among(items)
        pvalues = np.ones((len(items), len(items)))
        with threads(self.n_jobs):
            alone = kept.moments(noise=0.0)[0]
            for first, last in kept._spans_side_by_side(len(items)):
                given = given_each(alone, np.arange(first, last))
                values = block_pvalues(kept.design, given)
                pvalues[first:last] = values.reshape(last - first, -1)
        np.fill_diagonal(pvalues, 1.0)
        return pvalues

    def merged(self, labels: Indices) -> "BlockInformation":
        """The information of groups of features: 0, 1, ... in ``labels``, -1 for none."""
        design = self.design.merged(labels)
        alone = FeaturesAlone.of(design, self.targets, self.explained, self.constants)
        return replace(
            self,
            design=design,
            relevance=alone.relevance,
            n_unlikely=alone.n_unlikely,
            n_in_table=design.n_features,
            search=None,
        )


@dataclass(frozen=True)
class MeasuredBlocks:
    """What was measured of a table by its blocks; the counterpart of ``Measured`` for counts."""

    entropies: BlockInformation
    discretised: Indices
    """The columns that were read as numbers."""

    discretizer: None = None
    levels: None = None

    def of_targets(self) -> "list[MeasuredBlocks]":
        """What was measured with each target."""
        return [replace(self, entropies=own) for own in self.entropies.of_targets]


@dataclass(frozen=True)
class ConsideredColumns:
    """The columns of a table that are considered together, and what they tell."""

    measured: MeasuredBlocks
    kept: Indices
    """The places of these columns among those that were given."""

    relevance: Floats
    """I(xi; y) of all columns that were given."""

    notes: tuple[str, ...]
    """What was left out, and what to pass to have it looked at."""


def measure_blocks(
    reading: EntropyReader,
    table: Table,
    targets: Sequence[Target],
    constants: BlockConstants,
    *,
    included: Indices,
    most: int,
    grouped: bool = False,
    worst: bool = False,
    time_limit: float | None = None,
    adjustment: Adjustment | None = None,
) -> ConsideredColumns:
    """What the blocks of a table tell about one or more targets.

    Parameters
    ----------
    included
        Places of columns that are considered whatever they tell.
    most
        The number of columns to select, at least so many of which are considered.
    grouped
        Whether groups of columns are selected: then all are considered, and no pairs.
    worst
        Whether the smallest objective of several targets counts, and not their sum.
    time_limit
        Seconds for a scan of all pairs of columns; None for a scan of up to ten seconds.
    adjustment
        The covariates given which all information is measured; None without covariates.
    """
    refuse_settings_of_counts(reading)
    categorical = find_features(reading.categorical_features, table)
    numeric = find_numeric(table, categorical)
    n_features = table.n_features
    search = None
    notes: list[str] = []
    if not grouped and n_features > 1:
        on_gpu = reading.backend.startswith("torch:cuda")
        scans_all = can_scan(n_features, table.n_samples, on_gpu, time_limit)
        search = PairSearch(
            table,
            numeric,
            tuple(targets),
            reading.backend,
            constants,
            scans_all,
            np.arange(n_features),
        )
        if not scans_all:
            notes.append(_note_on_scan(n_features, table.n_samples))
    considered = max(constants.max_measured, 2 * most)
    considers_all = grouped or n_features <= considered

    def measure(columns: Indices, columns_search: PairSearch | None) -> BlockInformation:
        """What some of the columns tell; all are the table as it is."""
        return BlockInformation.of(
            table if len(columns) == n_features else table.keep(columns),
            np.flatnonzero(np.isin(columns, categorical)),
            targets,
            constants,
            search=columns_search,
            n_jobs=reading.n_jobs,
            worst=worst,
            adjustment=adjustment,
        )

    every_column = np.arange(n_features)
    holds_all = considers_all or n_features * table.n_samples <= MAX_HELD_VALUES
    if holds_all:
        information = measure(every_column, search)
        relevance = information.relevance
    else:
        alone = _measure_strips(every_column, measure, constants.max_measured)
        relevance = alone.relevance
    if considers_all:
        measured = MeasuredBlocks(information, numeric)
        return ConsideredColumns(measured, every_column, relevance, tuple(notes))
    kept = _columns_to_consider(relevance, considered, included, search)
    notes.append(
        f"{len(kept):,} of {n_features:,} columns were considered together: those with the "
        "largest relevance alone, and those of pairs with synergy"
    )
    if holds_all:
        information = information.keep(kept)
    else:
        information = replace(
            measure(kept, None if search is None else search.among(kept)),
            n_unlikely=alone.n_unlikely,
            n_in_table=n_features,
        )
    measured = MeasuredBlocks(information, np.flatnonzero(np.isin(kept, numeric)))
    return ConsideredColumns(measured, kept, relevance, tuple(notes))


def _note_on_scan(n_features: int, n_samples: int) -> str:
    """That pairs were not scanned, and how to have them scanned."""
    seconds = np.ceil(n_features**2 * n_samples / WORK_PER_SECOND)
    return (
        f"the pairs of {n_features:,} columns were not scanned, so that columns that tell "
        "something only together may be missed; a scan takes about "
        f"{seconds:,.0f} seconds on two cores: pass time_limit in seconds, or use a GPU"
    )


def _measure_strips(
    columns: Indices,
    measure: Callable[[Indices, PairSearch | None], BlockInformation],
    width: int,
) -> FeaturesAlone:
    """What each column tells by itself, where only so many are held at a time."""
    relevance = np.zeros(len(columns))
    n_unlikely = np.zeros(1, np.int64)
    for start in range(0, len(columns), width):
        strip = columns[start : start + width]
        information = measure(strip, None)
        relevance[start : start + width] = information.relevance
        n_unlikely = n_unlikely + information.n_unlikely
    return FeaturesAlone(relevance, n_unlikely)


def _columns_to_consider(
    relevance: Floats, count: int, included: Indices, search: PairSearch | None
) -> Indices:
    """The columns with the largest relevance, those of pairs, and those to include."""
    chosen = [np.argsort(-relevance, kind="stable")[:count], included]
    if search is not None:
        chosen += [np.array([pair.first, pair.second]) for pair in search.strongest]
    return np.unique(np.concatenate(chosen)).astype(np.int64)


def refuse_settings_of_counts(reading: EntropyReader) -> None:
    """Refuse settings of counts in bins, which the default method does not make."""
    if reading.discretizer is None:
        raise ParameterError(
            "discretizer=None says that columns are codes of categories, and method='auto' takes "
            "numbers as they are; name such columns in categorical_features, or pass a method that "
            "counts, such as method='jmi'"
        )
    if not (isinstance(reading.discretizer, str) and reading.discretizer == "auto"):
        raise ParameterError(
            f"discretizer={reading.discretizer!r} cuts numbers into bins, and method='auto' takes "
            "them as they are; leave it out, or pass a method that counts, such as method='jmi'"
        )
    if reading.correction is not None:
        raise ParameterError(
            f"correction={reading.correction!r} corrects counts, and method='auto' makes none; "
            "leave it out, or pass a method that counts, such as method='jmi'"
        )


def relevance_of_blocks(
    design: Design, targets: Sequence[TargetScores], explained: Sequence[Floats]
) -> Floats:
    """I(xi; y) of each feature, less chance, summed over targets; at most their entropies."""
    relevance = np.zeros(design.n_features)
    for target, explained_by_target in zip(targets, explained, strict=True):
        moments = ConditionalMoments(design, target, noise=0.0, explained=explained_by_target)
        relevance += np.minimum(block_information(design, moments), target.entropy)
    return relevance


def count_unlikely(moments: ConditionalMoments, constants: BlockConstants) -> int:
    """How many features have a p-value above one half, by the columns that gain most."""
    doubled_rows = 2.0 * moments.design.effective_rows
    values = moments.information()
    best, _ = values.best_prefixes(constants.parameter_cost / doubled_rows)
    statistics = doubled_rows * np.maximum(values.information[best], 0.0)
    pvalues = chdtrc(values.degrees[best], statistics)
    return int(np.count_nonzero(pvalues > 0.5))


def noise_of_columns(design: Design, constants: BlockConstants) -> float:
    """The variance of the noise that is added to every block column."""
    return constants.ridge + constants.ridge_rows / design.effective_rows


def block_information(design: Design, moments: ConditionalMoments) -> Floats:
    """The information of each block given what the moments are conditioned on, less chance.

    Of a block whose first columns may stand for it, that of the columns that tell most.
    """
    _, gains = moments.information().best_prefixes(1.0 / (2.0 * design.effective_rows))
    return gains


def block_pvalues(design: Design, moments: ConditionalMoments) -> Floats:
    """P-values of blocks given what the moments are conditioned on, by ratios of likelihoods.

    With d parameters of a block, q columns of the target and n rows, less those that the columns
    conditioned on use up, ``(n - 1 - (d + q + 1) / 2) 2 I`` is compared with chi-square of d q
    degrees of freedom (Bartlett 1938). Where the first column may stand for the block, the smaller
    of its p-value and that of the block is doubled.
    """
    n_target = moments.target.degrees
    values = moments.information()
    n_entries = len(values.information) // len(moments.n_selected)
    rows = design.effective_rows - 1.0 - np.repeat(moments.n_selected, n_entries)
    parameters = values.degrees / n_target
    factor = np.maximum(rows - (parameters + n_target + 1.0) / 2.0, 1.0)
    tails = chdtrc(values.degrees, 2.0 * factor * np.maximum(values.information, 0.0))
    of_first = tails[values.first]
    of_block = tails[values.last]
    of_either = np.minimum(2.0 * np.minimum(of_first, of_block), 1.0)
    has_choice = values.is_allowed[values.first] & (values.last > values.first)
    return np.asarray(np.where(has_choice, of_either, of_block))
