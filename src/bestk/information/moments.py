"""What blocks of columns tell about a target, given the columns that are selected already."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices
from bestk.information.blocks import SMALLEST_VARIANCE, Design, TargetScores


def shared_noise(covariances: Floats, variance: float) -> Floats:
    """Covariances of the noise of standardized columns: ``variance`` times the cube of theirs.

    Every column has noise of this variance. Columns of a small correlation have nearly independent
    noise, so that a chance correlation counts less; copies have the same noise, so that a second
    copy is no new measurement of what both stand for.
    """
    return variance * covariances**3


@dataclass
class _EqualBlocks:
    """The blocks that have the same number d of columns."""

    features: Indices
    """The features that have these blocks."""

    columns: Indices
    """The columns of each block, of shape (d, number of features)."""

    total: Floats
    """Covariances within each block, of shape (d, d, number of features)."""

    within: Floats
    """The same given the target."""

    degrees: Floats
    """The parameters of the first 1, 2, ..., d columns of each block, of shape (d, features)."""

    is_allowed: NDArray[np.bool_]
    """Whether the first 1, 2, ..., d columns of a block may stand for it."""

    def condition_on(self, total: Floats, within: Floats) -> None:
        """Subtract what one more selected column explains.

        ``total`` and ``within`` have an entry for each block column: its covariance with the
        selected one over the standard deviation of that one (``ConditionalMoments.total_rows``).
        """
        with_total = total[self.columns]
        self.total -= with_total[:, np.newaxis] * with_total
        with_within = within[self.columns]
        self.within -= with_within[:, np.newaxis] * with_within

    def information(self) -> Floats:
        """Information of the first 1, 2, ..., d columns of each block, one row for each number."""
        total = _variances_given_earlier(self.total)
        within = np.maximum(_variances_given_earlier(self.within), SMALLEST_VARIANCE)
        # A column that those before it determine adds nothing; one that the target determines adds
        # as much as there is.
        log_ratios = np.log(np.where(total > SMALLEST_VARIANCE, total / within, 1.0))
        return np.asarray(0.5 * np.cumsum(log_ratios, axis=0))


def _variances_given_earlier(covariances: Floats) -> Floats:
    """The variance of each column of a block given those before it, by Cholesky.

    ``covariances`` has the shape (d, d, number of blocks), the result (d, number of blocks).
    """
    size = len(covariances)
    if size == 1:
        return np.asarray(covariances[0])
    remaining = covariances.copy()
    variances = np.empty((size, covariances.shape[2]))
    for column in range(size):
        variance = remaining[column, column]
        variances[column] = variance
        varies = variance > SMALLEST_VARIANCE
        with_later = remaining[column, column + 1 :] * varies
        explained = with_later[:, np.newaxis] * with_later / np.where(varies, variance, 1.0)
        remaining[column + 1 :, column + 1 :] -= explained
    return variances


@dataclass(frozen=True)
class PrefixInformation:
    """The information of blocks of the same number of columns, and of their first columns only.

    Arrays have one column for each block; row i is that of its first i + 1 columns, a prefix.
    """

    features: Indices
    """The features that have these blocks."""

    information: Floats
    """In nats, given the columns that are selected."""

    degrees: Floats
    """The parameters of these columns times those of the target."""

    is_allowed: NDArray[np.bool_]
    """Whether these columns may stand for the feature."""

    def best_prefixes(self, cost_of_degree: float) -> tuple[Indices, Floats]:
        """The row of the prefix of each block with the largest gain, and that gain.

        A gain is information less ``cost_of_degree`` nats for each parameter.
        """
        gains = self.information - cost_of_degree * self.degrees
        gains[~self.is_allowed] = -np.inf
        best = gains.argmax(axis=0)
        return best, gains[best, np.arange(len(best))]


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
        self._blocks = [
            self._equal_blocks(features) for features in _by_size(np.diff(design.starts))
        ]

    def copy(self) -> Self:
        """The same moments, to be conditioned on other columns."""
        clone = object.__new__(type(self))
        vars(clone).update(vars(self))
        clone.selected = list(self.selected)
        clone.total_rows = list(self.total_rows)
        clone.within_rows = list(self.within_rows)
        clone._blocks = deepcopy(self._blocks)
        return clone

    def _equal_blocks(self, features: Indices) -> _EqualBlocks:
        starts = self.design.starts[features]
        size = int(self.design.starts[features[0] + 1] - starts[0])
        columns = self.design.block_columns[starts + np.arange(size)[:, np.newaxis]]
        total = np.empty((size, size, len(features)))
        within = np.empty_like(total)
        for i in range(size):
            # Columns i and 0 to i of all blocks, as two lists of the same length.
            left = np.broadcast_to(columns[i], (i + 1, len(features))).ravel()
            right = columns[: i + 1].ravel()
            covariance = self.design.covariances_of(left, right)
            explained = self.explained[:, left] * self.explained[:, right]
            noise = shared_noise(covariance, self.noise)
            total_with = (covariance + noise).reshape(i + 1, -1)
            within_with = (covariance - explained.sum(axis=0) + noise).reshape(i + 1, -1)
            total[i, : i + 1] = total[: i + 1, i] = total_with
            within[i, : i + 1] = within[: i + 1, i] = within_with
        degrees = np.cumsum(self.design.degrees[columns], axis=0)
        is_allowed = np.arange(1, size + 1)[:, np.newaxis] >= self.design.least_columns[features]
        return _EqualBlocks(features, columns, total, within, degrees, is_allowed)

    def information(self) -> list[PrefixInformation]:
        """What blocks and their prefixes tell about the target; one entry for each block size."""
        return [
            PrefixInformation(
                features=blocks.features,
                information=blocks.information(),
                degrees=blocks.degrees * self.target.degrees,
                is_allowed=blocks.is_allowed,
            )
            for blocks in self._blocks
        ]

    def condition_on(self, column: int) -> None:
        """Select a block column; one that the selected ones determine changes nothing."""
        covariances = self.design.covariances(column)
        total, within = self._given_selected(covariances, column)
        if min(total[column], within[column]) <= SMALLEST_VARIANCE:
            return
        total /= np.sqrt(total[column])
        within /= np.sqrt(within[column])
        self.selected.append(column)
        self.total_rows.append(total)
        self.within_rows.append(within)
        for blocks in self._blocks:
            blocks.condition_on(total, within)

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
    return np.hstack([target.explain(part, design.unit) for part in design.parts])


def _by_size(sizes: Indices) -> list[Indices]:
    """Places of equal sizes together."""
    return [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
