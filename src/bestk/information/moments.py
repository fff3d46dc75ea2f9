"""What blocks of columns tell about a target, given the columns that are selected already."""

from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.information.blocks import SMALLEST_VARIANCE, Design, TargetScores, join_ranges
from bestk.native import kernels
from bestk.native.threads import spans

# Coordinates of pairs of block columns that are multiplied at once: there is one for each class,
# which may be as many as rows.
MAX_EXPLAINED_VALUES = 2**22

# Selected columns for which there is room at first.
MIN_SELECTED = 8


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


@dataclass(frozen=True)
class _Prefixes:
    """What is the same of the prefixes of blocks whatever is selected; see PrefixInformation."""

    sizes: Indices
    """The number of columns of each block."""

    first: Indices
    last: Indices
    degrees: Floats
    is_allowed: Mask

    @classmethod
    def of(cls, design: Design, degrees_of_target: int) -> "_Prefixes":
        """Those of the blocks of a design."""
        sizes = np.diff(design.starts)
        degrees = design.degrees[design.block_columns]
        kernels.sum_prefixes(degrees, sizes, len(sizes))
        place_in_block = np.arange(len(degrees)) - np.repeat(design.starts[:-1], sizes)
        return cls(
            sizes=sizes,
            first=design.starts[:-1],
            last=design.starts[1:] - 1,
            degrees=degrees * degrees_of_target,
            is_allowed=place_in_block + 1 >= np.repeat(design.least_columns, sizes),
        )

    def repeated(self, count: int) -> "_Prefixes":
        """The same blocks again and again."""
        sizes = np.tile(self.sizes, count)
        last = np.cumsum(sizes) - 1
        return _Prefixes(
            sizes=sizes,
            first=last - sizes + 1,
            last=last,
            degrees=np.tile(self.degrees, count),
            is_allowed=np.tile(self.is_allowed, count),
        )


class ConditionalMoments:
    """Covariances of the blocks of a design given selected columns, in total and within a target.

    Selecting a column is one step of a Cholesky factorization of both. Several selections may stand
    side by side: arrays have an entry for each of them along their first axis.
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
        # The number of columns that are selected, in each selection.
        self.n_selected = np.zeros(1, np.int64)
        # Covariances of all columns with each selected one, given those selected before, over its
        # standard deviation; in total, and given the target. Of the shape (selected columns,
        # selections, 2, block columns), with room for more selected columns than there are.
        self._with_selected = np.empty((MIN_SELECTED, 1, 2, design.n_columns))
        self._n_steps = 0
        self._prefixes = _Prefixes.of(design, target.degrees)
        self._pairs = _BlockPairs.of(design)
        covariances = design.columns.covariances_of(self._pairs.first, self._pairs.second)
        explained_covariances = self._explained_covariances()
        noise_covariances = shared_noise(covariances, noise)
        # Covariances within blocks, as ``_BlockPairs`` orders them: in total, and given the target.
        # Of the shape (selections, 2, pairs of block columns).
        total = covariances + noise_covariances
        within = covariances - explained_covariances + noise_covariances
        self._covariances = np.stack([total, within])[np.newaxis]

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

    def select_features(self, features: Indices) -> Self:
        """The same moments, of the blocks of some of the features."""
        clone = copy(self)
        clone.design = self.design.select_features(features)
        clone._prefixes = _Prefixes.of(clone.design, self.target.degrees)
        sizes = self._prefixes.sizes
        n_pairs = sizes * (sizes + 1) // 2
        first_pair = np.cumsum(n_pairs) - n_pairs
        kept = join_ranges(first_pair[features], n_pairs[features])
        clone._pairs = _BlockPairs(self._pairs.first[kept], self._pairs.second[kept])
        clone._covariances = self._covariances[:, :, kept]
        clone._with_selected = self._with_selected.copy()
        clone.n_selected = self.n_selected.copy()
        return clone

    def repeated(self, count: int) -> Self:
        """So many selections side by side, each of which starts from the only one there is now."""
        clone = copy(self)
        clone.n_selected = np.repeat(self.n_selected, count)
        room = max(1, self._n_steps)
        clone._with_selected = np.repeat(self._with_selected[:room], count, axis=1)
        clone._covariances = np.repeat(self._covariances, count, axis=0)
        clone._prefixes = self._prefixes.repeated(count)
        return clone

    def information(self) -> PrefixInformation:
        """What blocks and prefixes tell about the target, for one selection after the other."""
        total, within = self._variances_given_earlier()
        within = np.maximum(within, SMALLEST_VARIANCE)
        # A column that those before it determine adds nothing; one that the target determines adds
        # as much as there is.
        information = np.log(np.where(total > SMALLEST_VARIANCE, total / within, 1.0))
        prefixes = self._prefixes
        kernels.sum_prefixes(information, prefixes.sizes, len(prefixes.sizes))
        return PrefixInformation(
            first=prefixes.first,
            last=prefixes.last,
            information=0.5 * information,
            degrees=prefixes.degrees,
            is_allowed=prefixes.is_allowed,
        )

    def _variances_given_earlier(self) -> Floats:
        """The variance of each column of each block given those before it in its block.

        Those in total are the first row of the result, and those given the target the second; a
        row has those of one selection after the other.
        """
        sizes = np.append(self._prefixes.sizes, self._prefixes.sizes)
        variances = np.empty(2 * len(self._prefixes.degrees))
        covariances = self._covariances.transpose(1, 0, 2).flatten()  # a copy, which is overwritten
        kernels.variances_given_earlier(
            covariances, sizes, len(sizes), SMALLEST_VARIANCE, variances
        )
        return variances.reshape(2, -1)

    def condition_on_block(self, columns: Indices) -> None:
        """Select some block columns, one after the other, where there is one selection."""
        covariances = self.design.columns.covariances(columns)
        for place in range(len(columns)):
            self._condition_on(columns[[place]], covariances[[place]])

    def condition_on(self, columns: Indices) -> None:
        """Select a block column in each selection; -1 for none."""
        self._condition_on(columns, self.design.columns.covariances(columns))

    def _condition_on(self, columns: Indices, covariances: Floats) -> None:
        """Select a block column in each selection, given its covariances with all columns.

        One that the selected ones determine changes nothing.
        """
        with_columns = self._given_selected(columns, covariances)
        variances = with_columns[np.arange(len(columns)), :, columns]
        is_new = (columns >= 0) & (variances.min(axis=1) > SMALLEST_VARIANCE)
        deviations = np.sqrt(np.where(is_new[:, np.newaxis], variances, 1.0))
        with_columns /= deviations[:, :, np.newaxis]
        with_columns[~is_new] = 0.0
        self.n_selected += is_new
        self._keep_selected(with_columns)
        of_first = with_columns[:, :, self._pairs.first]
        self._covariances -= of_first * with_columns[:, :, self._pairs.second]

    def _keep_selected(self, with_columns: Floats) -> None:
        """Add covariances to those with selected columns, in twice the room where it is full."""
        if self._n_steps == len(self._with_selected):
            more_room = np.empty_like(self._with_selected)
            self._with_selected = np.concatenate([self._with_selected, more_room])
        self._with_selected[self._n_steps] = with_columns
        self._n_steps += 1

    def _given_selected(self, columns: Indices, covariances: Floats) -> Floats:
        """Covariances of all columns with one of each selection, given those selected in it.

        ``covariances`` are those given nothing. The result has the shape (selections, 2, block
        columns): in total, and given the target.
        """
        total = covariances + shared_noise(covariances, self.noise)
        # One product for each column: its rounding is the same beside any others.
        explained = [self.explained[:, column] @ self.explained for column in columns]
        within = total - np.array(explained)
        given_selected = np.stack([total, within], axis=1)
        kernels.subtract_explained(
            given_selected,
            2 * len(columns),
            self.design.n_columns,
            self._with_selected,
            self._n_steps,
            np.repeat(np.maximum(columns, 0), 2),
        )
        return given_selected


def given_each(alone: ConditionalMoments, features: Indices) -> ConditionalMoments:
    """Moments given each of some features, as selections side by side."""
    starts = alone.design.starts[features]
    sizes = alone.design.starts[features + 1] - starts
    given = alone.repeated(len(features))
    for place in range(int(sizes.max())):
        has_column = place < sizes
        columns = alone.design.block_columns[np.where(has_column, starts + place, 0)]
        given.condition_on(np.where(has_column, columns, -1))
    return given


def explain_all(design: Design, target: TargetScores) -> Floats:
    """What a target explains of all block columns; see ``TargetScores.explain``."""
    return np.hstack([target.explain(part, design.unit) for part in design.columns.parts])
