"""What blocks of columns tell about a target, given the columns that are selected already."""

from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.information.blocks import SMALLEST_VARIANCE, Design, TargetScores
from bestk.native import kernels
from bestk.native.threads import spans

# Coordinates of pairs of block columns that are multiplied at once: there is one for each class,
# which may be as many as rows.
MAX_EXPLAINED_VALUES = 2**22


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
        start_of_block = np.repeat(design.starts[:-1], np.diff(design.starts))
        # A column has a pair with each column of its block up to itself.
        n_pairs = np.arange(len(design.block_columns)) - start_of_block + 1
        first_pair = np.cumsum(n_pairs) - n_pairs
        second_place = np.arange(n_pairs.sum()) + np.repeat(start_of_block - first_pair, n_pairs)
        first = np.repeat(design.block_columns, n_pairs)
        return cls(first, design.block_columns[second_place])


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
        # over its standard deviation; in total, and given the target.
        self._with_selected: list[Floats] = []
        self._sizes = np.diff(design.starts)
        self._pairs = _BlockPairs.of(design)
        covariances = design.columns.covariances_of(self._pairs.first, self._pairs.second)
        explained_covariances = self._explained_covariances()
        noise_covariances = shared_noise(covariances, noise)
        # Covariances within blocks, as ``_BlockPairs`` orders them: in total, and given the target.
        total = covariances + noise_covariances
        within = covariances - explained_covariances + noise_covariances
        self._covariances = np.stack([total, within])
        degrees = design.degrees[design.block_columns]
        kernels.sum_prefixes(degrees, self._sizes, len(self._sizes))
        self._degrees = degrees * target.degrees
        place_in_block = np.arange(len(design.block_columns)) - np.repeat(
            design.starts[:-1], self._sizes
        )
        self._is_allowed = place_in_block + 1 >= np.repeat(design.least_columns, self._sizes)

    def _explained_covariances(self) -> Floats:
        """What the target explains of the covariance of each pair of columns of a block."""
        n_pairs = len(self._pairs.first)
        covariances = np.empty(n_pairs)
        width = max(1, MAX_EXPLAINED_VALUES // max(1, len(self.explained)))
        for start, end in spans(n_pairs, width):
            of_first = self.explained[:, self._pairs.first[start:end]]
            of_second = self.explained[:, self._pairs.second[start:end]]
            covariances[start:end] = (of_first * of_second).sum(axis=0)
        return covariances

    def copy(self) -> Self:
        """The same moments, to be conditioned on other columns."""
        clone = copy(self)
        clone.selected = list(self.selected)
        clone._with_selected = list(self._with_selected)
        clone._covariances = self._covariances.copy()
        return clone

    def information(self) -> PrefixInformation:
        """What blocks and their prefixes tell about the target."""
        total, within = self._variances_given_earlier()
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

    def _variances_given_earlier(self) -> Floats:
        """The variance of each column of each block given those before it in its block.

        Those in total are the first row of the result, and those given the target the second.
        """
        variances = np.empty(2 * len(self._degrees))
        sizes = np.append(self._sizes, self._sizes)
        covariances = self._covariances.flatten()  # a copy, which is overwritten
        kernels.variances_given_earlier(
            covariances, sizes, len(sizes), SMALLEST_VARIANCE, variances
        )
        return variances.reshape(2, -1)

    def condition_on(self, column: int) -> None:
        """Select a block column; one that the selected ones determine changes nothing."""
        with_column = self._given_selected(column)
        variances = with_column[:, column]
        if variances.min() <= SMALLEST_VARIANCE:
            return
        with_column /= np.sqrt(variances)[:, np.newaxis]
        self.selected.append(column)
        self._with_selected.append(with_column)
        of_first = with_column[:, self._pairs.first]
        self._covariances -= of_first * with_column[:, self._pairs.second]

    def _given_selected(self, column: int) -> Floats:
        """Covariances of all columns with one, given the selected ones.

        Those in total are the first row of the result, and those given the target the second.
        """
        covariances = self.design.columns.covariances(column)
        total = covariances + shared_noise(covariances, self.noise)
        within = total - self.explained[:, column] @ self.explained
        given_selected = np.stack([total, within])
        for with_selected in self._with_selected:
            given_selected -= with_selected[:, [column]] * with_selected
        return given_selected


def explain_all(design: Design, target: TargetScores) -> Floats:
    """What a target explains of all block columns; see ``TargetScores.explain``."""
    return np.hstack([target.explain(part, design.unit) for part in design.columns.parts])
