"""What the blocks of a table tell about its targets: the information that the default selects by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bestk._typing import Floats, Indices
from bestk.data.table import Table, find_numeric
from bestk.data.target import ParsedTarget
from bestk.information.blocks import Design, TargetScores, make_design
from bestk.information.constants import BlockConstants
from bestk.information.moments import ConditionalMoments
from bestk.information.synergy import Pair, PairCounts, can_scan
from bestk.native.threads import threads


@dataclass(frozen=True)
class BlockInformation:
    """Information of the features of a table about one or more targets, by their blocks."""

    design: Design
    targets: tuple[TargetScores, ...]
    constants: BlockConstants
    relevance: Floats
    """I(xi; y) of each feature in nats, summed over targets, less what chance gives on average."""

    count_pairs: tuple[Callable[[], PairCounts], ...] = ()
    """For each target: how pairs are counted, where their number allows it."""

    worst: bool = False
    """Whether the smallest objective of several targets counts, and not their sum."""

    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        categorical: Indices,
        targets: Sequence[ParsedTarget],
        weights: Floats | None = None,
        *,
        constants: BlockConstants | None = None,
        backend: str = "auto",
        n_jobs: int | None = None,
        worst: bool = False,
    ) -> "BlockInformation":
        """Read a table; ``categorical`` has the places of numbers that are codes of categories."""
        constants = constants or BlockConstants()
        weights = None if weights is None else weights * (len(weights) / weights.sum())
        with threads(n_jobs):
            scored = tuple(
                TargetScores.of(target, weights, constants.largest_score) for target in targets
            )
            design = make_design(table, categorical, scored, weights, constants)
            relevance = np.sum([relevance_of(design, target) for target in scored], axis=0)
        numeric = find_numeric(table, categorical)
        count_pairs: tuple[Callable[[], PairCounts], ...] = ()
        if table.n_features > 1:
            count_pairs = tuple(
                _PairCounting(table, numeric, target, backend) for target in targets
            )
        return cls(design, scored, constants, relevance, count_pairs, worst, n_jobs)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.relevance)

    @property
    def noise(self) -> float:
        """The variance of the noise that is added to every block column."""
        rows = self.design.effective_rows
        return self.constants.ridge + self.constants.ridge_rows / rows

    @property
    def parts(self) -> "tuple[BlockInformation, ...]":
        """The information about each target."""
        if len(self.targets) == 1:
            return (self,)
        return tuple(
            replace(
                self,
                targets=(target,),
                relevance=relevance_of(self.design, target),
                count_pairs=self.count_pairs[place : place + 1],
                worst=False,
            )
            for place, target in enumerate(self.targets)
        )

    def moments(self, design: Design | None = None) -> list[ConditionalMoments]:
        """Covariances with nothing selected, for each target."""
        return [
            ConditionalMoments(design or self.design, target, self.noise)
            for target in self.targets
        ]

    def mi(self) -> Floats:
        """``I(xi; y)`` of every feature."""
        return self.relevance.copy()

    def cmi(self, rows: Indices, columns: Indices) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]``, for the features of ``rows`` and of ``columns``."""
        both = np.concatenate([rows, columns]).tolist()
        part = self.design.keep(both)
        information = np.zeros((len(rows), len(columns)))
        with threads(self.n_jobs):
            for target in self.targets:
                alone = ConditionalMoments(part, target, self.noise)
                for place in range(len(rows)):
                    given = alone.copy()
                    for column in part.blocks[place]:
                        given.condition_on(int(column))
                    values = block_information(part, given)
                    information[place] += values[len(rows) :]
        return np.maximum(information, 0.0)

    def cmi_among(self, items: Indices) -> Floats:
        """``I(xj; y | xi)`` at ``[i, j]`` of some features."""
        return self.cmi(items, items)

    def merged(self, labels: Indices) -> "BlockInformation":
        """The information of groups of features: 0, 1, ... in ``labels``, -1 for none."""
        design = self.design.merged(labels)
        relevance = np.sum([relevance_of(design, target) for target in self.targets], axis=0)
        return replace(self, design=design, relevance=relevance, count_pairs=())


@dataclass(frozen=True)
class _PairCounting:
    """Counts the pairs of a table with one target when it is called."""

    table: Table
    numeric: Indices
    target: ParsedTarget
    backend: str

    def __call__(self) -> PairCounts:
        return PairCounts.of(self.table, self.numeric, self.target.classes, self.backend)


def block_information(design: Design, moments: ConditionalMoments) -> Floats:
    """The information of each block given what the moments are conditioned on, less chance.

    Of a block whose first columns may stand for it, that of the columns that tell most.
    """
    best = np.empty(len(design.blocks))
    prefixes = np.array(design.prefixes)
    chance = moments.target.degrees / (2.0 * design.effective_rows)
    for features, information in moments.information():
        sizes = np.arange(1, len(information) + 1)
        corrected = information - chance * sizes[:, np.newaxis]
        whole = corrected[-1]
        best[features] = np.where(prefixes[features], corrected.max(axis=0), whole)
    return best


def relevance_of(design: Design, target: TargetScores) -> Floats:
    """I(xi; y) of each feature of a design, less chance; at most the entropy of the target."""
    information = block_information(design, ConditionalMoments(design, target, noise=0.0))
    return np.minimum(information, target.entropy)


__all__ = ["BlockInformation", "Pair", "block_information", "can_scan", "relevance_of"]
