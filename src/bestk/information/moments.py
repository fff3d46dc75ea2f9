"""What blocks of columns tell about a target, given the columns that are selected already."""

from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.information.blocks import SMALLEST_VARIANCE, Design, TargetScores
from bestk.native import kernels


def shared_noise(covariances: Floats, variance: float) -> Floats:
    """Covariances of the noise of standardized columns: ``variance`` times the cube of theirs.

    Every column has noise of this variance. Columns of a small correlation have nearly independent
    noise, so that a chance correlation counts less; copies have the same noise, so that a second
    copy is no new measurement of what both stand for.
    """
    return variance * covariances**3


@dataclass(frozen=True)
class _BlockPairs:
    """The pairs of block columns whose covariances blocks have, one block after the other.

    Those of a block of d columns are the lower triangle of a matrix, row by row: columns 0 and 0,
    1 and 0, 1 and 1, 2 and 0, ...
    """

    first: Indices
    """One column of each pair."""

    second: Indices
    """The other column of each pair."""

    @classmethod
    def of(cls, design: Design) -> "_BlockPairs":
        """The pairs of the blocks of a design."""
        sizes = np.diff(design.starts)
        ends = np.cumsum(sizes * (sizes + 1) // 2)
        first = np.empty(ends[-1], np.int64)
        second = np.empty(ends[-1], np.int64)
        for size in np.unique(sizes):
            blocks = np.flatnonzero(sizes == size)
            row_of_pair, column_of_pair = np.tril_indices(size)
            n_pairs = len(row_of_pair)
            pairs = ends[blocks, np.newaxis] - n_pairs + np.arange(n_pairs)
            starts = design.starts[blocks, np.newaxis]
            first[pairs] = design.block_columns[starts + row_of_pair]
            second[pairs] = design.block_columns[starts + column_of_pair]
        return cls(first, second)


@dataclass(frozen=True)
class PrefixInformation:
    """The information of blocks, and of their first columns only.

    Arrays have an entry for each column of each block, one block after the other: that of the
    columns of the block up to this one, a prefix.
    """

    first: Indices
    """The entry of the first column of each block."""

    last: Indices
    """The entry of the last column of each block, which is that of the whole block."""

    information: Floats
    """In nats, given the columns that are selected."""

    degrees: Floats
    """The parameters of these columns times those of the target."""

    is_allowed: Mask
    """Whether these columns may stand for the feature."""

    def best_prefixes(self, cost_of_degree: float) -> tuple[Indices, Floats]:
        """The entry of the prefix of each block with the largest gain, and that gain.

        A gain is information less ``cost_of_degree`` nats for each parameter.
        """
        gains = self.information - cost_of_degree * self.degrees
        gains[~self.is_allowed] = -np.inf
        largest = np.maximum.reduceat(gains, self.first)
        is_largest = gains == np.repeat(largest, self.last - self.first + 1)
        entries = np.where(is_largest, np.arange(len(gains)), len(gains))
        return np.minimum.reduceat(entries, self.first), largest


class ConditionalMoments:
    """Covariances of the blocks of a design given selected columns, in total and within a target.

    Selecting a column is one step of a Cholesky factorization of both.
    """

    def __init__(
        self, design: Design, target: TargetScores, noise: float, explained: Floats | None = None
    ) -> None:
        """Nothing is selected.

        ``noise``: the variance of the noise of every column. ``explained``: what the target
        explains of all block columns, if it is known.
        """
        self.design = design
        self.target = target
        self.noise = noise
        self.explained = explain_all(design, target) if explained is None else explained
        self.selected: list[int] = []
        # Of each selected column: covariances of all columns with it, given those selected before,
        # over its standard deviation.
        self.total_rows: list[Floats] = []
        self.within_rows: list[Floats] = []
        self._sizes = np.diff(design.starts)
        self._pairs = _BlockPairs.of(design)
        covariances = design.columns.covariances_of(self._pairs.first, self._pairs.second)
        of_first = self.explained[:, self._pairs.first]
        of_second = self.explained[:, self._pairs.second]
        explained_covariances = (of_first * of_second).sum(axis=0)
        noise_covariances = shared_noise(covariances, noise)
        # Covariances within blocks, in total and given the target, as ``_BlockPairs`` orders them.
        self._total = covariances + noise_covariances
        self._within = covariances - explained_covariances + noise_covariances
        degrees = design.degrees[design.block_columns]
        kernels.sum_prefixes(degrees, self._sizes, len(self._sizes))
        self._degrees = degrees * target.degrees
        place_in_block = np.arange(len(design.block_columns)) - np.repeat(
            design.starts[:-1], self._sizes
        )
        self._is_allowed = place_in_block + 1 >= np.repeat(design.least_columns, self._sizes)

    def copy(self) -> Self:
        """The same moments, to be conditioned on other columns."""
        clone = copy(self)
        clone.selected = list(self.selected)
        clone.total_rows = list(self.total_rows)
        clone.within_rows = list(self.within_rows)
        clone._total = self._total.copy()
        clone._within = self._within.copy()
        return clone

    def information(self) -> PrefixInformation:
        """What blocks and their prefixes tell about the target."""
        total = self._variances_given_earlier(self._total)
        within = self._variances_given_earlier(self._within)
        within = np.maximum(within, SMALLEST_VARIANCE)
        # A column that those before it determine adds nothing; one that the target determines adds
        # as much as there is.
        information = np.log(np.where(total > SMALLEST_VARIANCE, total / within, 1.0))
        kernels.sum_prefixes(information, self._sizes, len(self._sizes))
        return PrefixInformation(
            first=self.design.starts[:-1],
            last=self.design.starts[1:] - 1,
            information=0.5 * information,
            degrees=self._degrees,
            is_allowed=self._is_allowed,
        )

    def _variances_given_earlier(self, covariances: Floats) -> Floats:
        """The variance of each column of each block given those before it in its block."""
        variances = np.empty(len(self._degrees))
        kernels.variances_given_earlier(
            covariances.copy(), self._sizes, len(self._sizes), SMALLEST_VARIANCE, variances
        )
        return variances

    def condition_on(self, column: int) -> None:
        """Select a block column; one that the selected ones determine changes nothing."""
        covariances = self.design.columns.covariances(column)
        total, within = self._given_selected(covariances, column)
        if min(total[column], within[column]) <= SMALLEST_VARIANCE:
            return
        total /= np.sqrt(total[column])
        within /= np.sqrt(within[column])
        self.selected.append(column)
        self.total_rows.append(total)
        self.within_rows.append(within)
        self._total -= total[self._pairs.first] * total[self._pairs.second]
        self._within -= within[self._pairs.first] * within[self._pairs.second]

    def _given_selected(self, covariances: Floats, column: int) -> tuple[Floats, Floats]:
        """Covariances of all columns with one, in total and within, given the selected ones."""
        total = covariances + shared_noise(covariances, self.noise)
        within = total - self.explained[:, column] @ self.explained
        for row in self.total_rows:
            total -= row[column] * row
        for row in self.within_rows:
            within -= row[column] * row
        return total, within


def explain_all(design: Design, target: TargetScores) -> Floats:
    """What a target explains of all block columns; see ``TargetScores.explain``."""
    return np.hstack([target.explain(part, design.unit) for part in design.columns.parts])
