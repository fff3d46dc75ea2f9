"""Features as blocks of numeric columns, and their second moments with each other and the target.

A number is its normal score and, where that adds something about the target, the square of the
score or indicators of bins. A category is the indicators of its frequent levels. Missing values are
an indicator. A group of columns is the columns of all its members. What blocks tell about the
target is the information of jointly normal variables, which takes covariances only.

Columns are held as whole numbers, multiples of a small unit. Sums of their products are then exact
whole numbers too: the order of rows and the number of threads do not change a bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import chdtrc, ndtri

from bestk._cached import cached_property
from bestk._typing import Floats, Indices, Mask
from bestk.information._scores import normal_quantiles, unit_score
from bestk.information.adjustment import SMALLEST_REMAINDER, Adjustment
from bestk.information.constants import BlockConstants
from bestk.native import kernels
from bestk.native.threads import calm_blas, map_columns, run_blas_tiles, spans, threads
from bestk.tables.codes import encode
from bestk.tables.table import Table, check_finite, find_numeric, split_numbers
from bestk.tables.target import NumericTarget, Target
from bestk.tables.weights import count_effective_rows

# A block column whose variance, or what other columns of its block leave of it, is below this
# share of a variance of 1 is rounding, and is left out.
SMALLEST_VARIANCE = 1e-6

# Products of numbers that are computed at once to have the covariances of all block columns: about
# ten milliseconds.
MAX_SMALL_WORK = 2**25

# Up to this number of columns, too: one product of matrices costs less than one pass over all rows
# for each selected column.
MAX_SMALL_COLUMNS = 400

# Indicators of more classes are held as sparse columns: there may be nearly as many as rows.
MAX_DENSE_CLASSES = 256

# A pair of columns that is multiplied by itself takes about as long as so many of a product of all
# columns with each other, which is computed of up to this number of columns.
COST_OF_PAIR = 40
MAX_COLUMNS_AT_ONCE = 4096

# Seconds, about, for a product of two numbers in a product of matrices.
PRODUCT_COST = 5e-11

# Block columns that are copied at a time.
STRIP_COLUMNS = 256

# The variance that a straight line in the score leaves of its square, in scores; a column of two
# values has less, and no curve.
SMALLEST_CURVE = 2.5e-3

# Rows of a bin on average, and the number of bins, that are needed to test for a relation in bins.
MIN_ROWS_PER_BIN = 20
MIN_BINS = 5

# The number of bins that the kernel has room for.
KERNEL_BINS = 16


@dataclass(frozen=True)
class TargetScores:
    """A target as numeric columns: an indicator of each class, or the normal scores of numbers."""

    columns: Floats | csr_array
    """One row for each class, or one for a numeric target; one entry for each sample. Sparse for
    very many classes."""

    lengths: Floats
    """The length of each row, by which sums of products are divided."""

    degrees: int
    """The number of parameters that the target takes of each block column."""

    entropy: float
    """H(y) of classes, in nats; infinite for numbers."""

    classes: Indices
    """The class of each sample; 0 for numbers."""

    @classmethod
    def of(cls, target: Target, weights: Floats | None, largest_score: float) -> "TargetScores":
        """The columns of a target; ``weights`` (None: all equal) have a mean of 1."""
        root = np.ones(target.n_samples) if weights is None else np.sqrt(weights)
        if isinstance(target, NumericTarget):
            numbers = target.numbers[np.newaxis].astype(np.float64)
            scores = np.empty((1, target.n_samples))
            score_block(numbers, weights, largest_score, scores)
            lengths = np.sqrt((scores * scores).sum(axis=1))
            return cls(scores, lengths, 1, np.inf, np.zeros(target.n_samples, np.int64))
        codes = target.classes.codes
        n_classes = target.classes.n_classes
        if n_classes > MAX_DENSE_CLASSES:
            shape = (n_classes, target.n_samples)
            indicators = csr_array((root, (codes, np.arange(target.n_samples))), shape=shape)
            sizes = np.bincount(codes, root * root, n_classes)
        else:
            indicators = (codes == np.arange(n_classes)[:, np.newaxis]) * root
            sizes = (indicators * indicators).sum(axis=1)
        shares = sizes / sizes.sum()
        entropy = -float((shares * np.log(np.where(shares > 0, shares, 1.0))).sum())
        return cls(indicators, np.sqrt(sizes), len(sizes) - 1, entropy, codes)

    def adjusted(self, adjustment: Adjustment, weights: Floats | None) -> "TargetScores":
        """The target without what covariates explain, as orthogonal columns of variance 1.

        It has no columns where covariates determine it; its indicators must be dense.
        """
        n_samples = self.columns.shape[1]
        root = np.ones(n_samples) if weights is None else np.sqrt(weights)
        lengths = np.where(self.lengths > 0, self.lengths, 1.0)
        # Indicators of classes are not centered, and their columns add up to a constant.
        centered = self.columns - np.outer(self.columns @ root / n_samples, root)
        centered *= (adjustment.unit * np.sqrt(n_samples) / lengths)[:, np.newaxis]
        columns = adjustment.basis_of(centered)
        lengths = np.sqrt((columns * columns).sum(axis=1))
        return replace(self, columns=columns, lengths=lengths, degrees=len(columns))

    def explain(self, values: Floats, unit: float) -> Floats:
        """What the target explains of block columns, as coordinates.

        ``values`` has one row for each column, in multiples of ``unit``. The result has one row for
        each row of the target: the sum of products of two of its columns is the part of their
        covariance that the target explains.
        """
        lengths = np.where(self.lengths > 0, self.lengths, 1.0)
        scale = unit * lengths * np.sqrt(values.shape[1])
        with calm_blas():
            products = self.columns @ values.T
        return np.asarray(products / scale[:, np.newaxis])


def score_block(block: Floats, weights: Floats | None, largest_score: float, out: Floats) -> None:
    """Write normal scores of some columns, one row each, to ``out``; the block is overwritten."""
    n_samples = block.shape[1]
    if weights is None:
        table = np.clip(normal_quantiles(n_samples), -largest_score, largest_score)
        has_gaps = np.isnan(block).any(axis=1)
        kernels.rank_rows(block, *block.shape, table)
        # Rows with missing values come back as probabilities, as their number of ranks differs.
        for row in np.flatnonzero(has_gaps):
            block[row] = np.clip(ndtri(block[row]), -largest_score, largest_score)
        kernels.standardise_rows(block, *block.shape, unit_score(n_samples), out)
        return
    for row, target_row in zip(block, out, strict=True):
        target_row[:] = _weighted_scores(row, weights, largest_score)
    standardise_weighted(out, weights, unit_score(n_samples))


def _weighted_scores(column: Floats, weights: Floats, largest_score: float) -> Floats:
    """Normal quantiles of the share of weight below each value, half of its own included."""
    known = np.flatnonzero(~np.isnan(column) & (weights > 0))
    scores = np.zeros(len(column))
    if not len(known):
        return scores
    levels, level_of = np.unique(column[known], return_inverse=True)
    weight_of_level = np.bincount(level_of, weights[known], len(levels))
    below = np.cumsum(weight_of_level) - 0.5 * weight_of_level
    quantiles = ndtri(below / weight_of_level.sum())
    scores[known] = np.clip(quantiles, -largest_score, largest_score)[level_of]
    missing = np.isnan(column)
    scores[~missing] -= np.average(scores[known], weights=weights[known])
    return scores


def standardise_weighted(columns: Floats, weights: Floats | None, unit: float) -> None:
    """Center and scale columns, one row each, in place: whole numbers of variance ``unit**2``.

    Weights have a mean of 1. They enter as their square roots, so that sums of products of columns
    are sums with these weights. Constant columns become 0. Entries are rounded to multiples of
    ``1 / unit`` first, so that sums are exact and do not depend on the order of rows.
    """
    n_samples = columns.shape[1]
    columns *= unit
    np.rint(columns, out=columns)
    if weights is None:
        mean = columns.sum(axis=1) / n_samples
        variance = np.einsum("ij,ij->i", columns, columns) / n_samples - mean**2
    else:
        mean = columns @ weights / n_samples
        variance = (columns**2) @ weights / n_samples - mean**2
    columns -= mean[:, np.newaxis]
    columns *= _scale_to_unit(variance, unit)[:, np.newaxis]
    if weights is not None:
        columns *= np.sqrt(weights)
    np.rint(columns, out=columns)


def _scale_to_unit(variance: Floats, unit: float) -> Floats:
    """Factors that give columns of some variances one of ``unit**2``; 0 for constant columns."""
    varies = variance > SMALLEST_VARIANCE * unit**2
    return np.where(varies, unit / np.sqrt(np.where(varies, variance, 1.0)), 0.0)


def standard_columns_of_cells(
    values: Floats,
    cell_of_row: Indices,
    rows_of_cell: Indices,
    weights: Floats | None,
    unit: float,
    out: Floats,
) -> None:
    """Write columns that have one value in all rows of a cell, standardized, to ``out``.

    ``values`` has one row for each column and an entry for each cell; ``rows_of_cell``: the number
    of rows of each. Means and variances take a sum over cells, and not over rows:

        columns = values[:, cell_of_row]
        standardise_weighted(columns, weights, unit)
        out[:] = columns
    """
    n_samples = len(cell_of_row)
    size_of_cell = rows_of_cell
    if weights is not None:
        size_of_cell = np.bincount(cell_of_row, weights, len(rows_of_cell))
    whole = np.rint(values * unit)
    mean = whole @ size_of_cell / n_samples
    variance = whole**2 @ size_of_cell / n_samples - mean**2
    standard = (whole - mean[:, np.newaxis]) * _scale_to_unit(variance, unit)[:, np.newaxis]
    if weights is None:
        standard = np.rint(standard)
    np.take(standard, cell_of_row, axis=1, out=out, mode="clip")
    if weights is not None:
        out *= np.sqrt(weights)
        np.rint(out, out=out)


def join_ranges(starts: Indices, sizes: Indices) -> Indices:
    """So many whole numbers from each start on, one range after the other."""
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(starts - ends + sizes, sizes)


@dataclass(frozen=True)
class StandardColumns:
    """Standardized columns, and their covariances, which are computed when they are first needed.

    Columns are the rows of ``parts``, one below the other.
    """

    parts: tuple[Floats, ...]
    """Columns, one in each row, one entry for each sample, in multiples of ``unit``."""

    unit: float
    """The whole number that stands for 1."""

    earlier: "StandardColumns | None" = None
    """All parts but the last, if there are such columns; what is known of them is used here."""

    @property
    def n_samples(self) -> int:
        """The number of rows of the table."""
        return int(self.parts[0].shape[1])

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return sum(len(part) for part in self.parts)

    def extended(self, columns: Floats) -> "StandardColumns":
        """These columns, and then others, one in each row."""
        return StandardColumns((*self.parts, columns), self.unit, earlier=self)

    def rows(self, columns: Indices) -> Floats:
        """Some columns, one in each row."""
        starts = np.cumsum([0, *(len(part) for part in self.parts)])
        taken = np.empty((len(columns), self.n_samples))
        for part, start in zip(self.parts, starts, strict=False):
            inside = np.flatnonzero((columns >= start) & (columns < start + len(part)))
            if len(inside) == len(columns):
                return np.take(part, columns - start, axis=0, out=taken, mode="clip")
            taken[inside] = part[columns[inside] - start]
        return taken

    def covariances(self, columns: Indices) -> Floats:
        """The covariances of some columns, one row for each, with all of them."""
        if self.is_small:
            return self._all_covariances[columns]
        rows = self.rows(columns)
        with calm_blas(self.n_columns * self.n_samples):
            products = np.hstack([rows @ part.T for part in self.parts])
        return np.asarray(products / self._scale)

    def covariances_of(self, first: Indices, second: Indices) -> Floats:
        """The covariance of each pair of columns, one of ``first`` and one of ``second``."""
        if self.is_small:
            return np.asarray(self._all_covariances[first, second])
        products = self._sums_of_squares[first]
        different = np.flatnonzero(first != second)
        lower = np.minimum(first[different], second[different])
        higher = np.maximum(first[different], second[different])
        # Blocks of pairs have the columns of features again and again.
        pairs, place_of_pair = np.unique(lower * self.n_columns + higher, return_inverse=True)
        needs_many = len(pairs) * COST_OF_PAIR > self.n_columns**2
        if needs_many and self.n_columns <= MAX_COLUMNS_AT_ONCE:
            return np.asarray(self._all_covariances[first, second])
        products_of_pairs = np.empty(len(pairs))
        for start, stop in spans(len(pairs), STRIP_COLUMNS):
            left = self.rows(pairs[start:stop] // self.n_columns)
            right = self.rows(pairs[start:stop] % self.n_columns)
            products_of_pairs[start:stop] = np.einsum("ij,ij->i", left, right)
        products[different] = products_of_pairs[place_of_pair]
        return products / self._scale

    @property
    def _scale(self) -> float:
        """The sum of squares of a column of variance 1."""
        return self.n_samples * self.unit**2

    @property
    def is_small(self) -> bool:
        """Whether the covariances of all columns are computed at once."""
        is_narrow = self.n_columns <= MAX_SMALL_COLUMNS
        return is_narrow or self.n_columns**2 * self.n_samples <= MAX_SMALL_WORK

    @cached_property
    def _all_covariances(self) -> Floats:
        last = self.parts[-1]
        n_earlier = self.n_columns - len(last)
        covariances = np.empty((self.n_columns, self.n_columns))
        if n_earlier:
            earlier = self.earlier or StandardColumns(self.parts[:-1], self.unit)
            covariances[:n_earlier, :n_earlier] = earlier._all_covariances
        starts = np.cumsum([0, *(len(part) for part in self.parts)])

        def write(number: int) -> None:
            """Covariances of one part with the last one."""
            columns = slice(starts[number], starts[number + 1])
            with_last = self.parts[number] @ last.T / self._scale
            covariances[columns, n_earlier:] = with_last
            covariances[n_earlier:, columns] = with_last.T

        work = self.n_columns * len(last) * self.n_samples
        with threads(seconds=work * PRODUCT_COST):
            run_blas_tiles(write, range(len(self.parts)))
        return covariances

    @cached_property
    def _sums_of_squares(self) -> Floats:
        return np.concatenate([np.einsum("ij,ij->i", part, part) for part in self.parts])


@dataclass(frozen=True)
class Design:
    """Features as blocks of standardized numeric columns."""

    columns: StandardColumns
    """The block columns of all features."""

    block_columns: Indices
    """The block columns of the first feature, then those of the second, and so on."""

    starts: Indices
    """Where the columns of each feature start in ``block_columns``, and where the last ones end."""

    degrees: Floats
    """The parameters that each block column stands for: 1, or more where it was fitted."""

    least_columns: Indices
    """How many of the first columns of a block may stand for a feature without those after them."""

    effective_rows: float
    """The number of rows; with weights (sum w)**2 / sum w**2. Less those that covariates use up."""

    weights: Floats | None = None
    """The weights of the rows, of mean 1, whose square roots the columns contain."""

    adjustment: Adjustment | None = None
    """The covariates of which nothing is left in the columns; None without covariates."""

    @property
    def unit(self) -> float:
        """The whole number that stands for 1 in block columns."""
        return self.columns.unit

    @property
    def n_columns(self) -> int:
        """The number of block columns of all features."""
        return self.columns.n_columns

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.starts) - 1

    def columns_of(self, feature: int) -> Indices:
        """The block columns of a feature."""
        return self.block_columns[self.starts[feature] : self.starts[feature + 1]]

    def columns_of_all(self, features: Indices) -> tuple[Indices, Indices]:
        """The block columns of some features, and where those of each start and the last end."""
        sizes = np.diff(self.starts)[features]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return self.block_columns[join_ranges(self.starts[features], sizes)], starts

    def select_features(self, features: Indices) -> "Design":
        """The same block columns, some of whose features are of interest."""
        columns, starts = self.columns_of_all(features)
        return replace(
            self,
            block_columns=columns,
            starts=starts,
            least_columns=self.least_columns[features],
        )

    def keep(self, features: Indices) -> "Design":
        """Some of the features, which may repeat, with their block columns only."""
        columns, starts = self.columns_of_all(features)
        return replace(
            self,
            columns=StandardColumns((self.columns.rows(columns),), self.unit),
            block_columns=np.arange(len(columns)),
            starts=starts,
            degrees=self.degrees[columns],
            least_columns=self.least_columns[features],
        )

    def merged(self, labels: Indices) -> "Design":
        """The same columns with one block for each label from 0 up; -1 belongs to none."""
        groups = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
        blocks = [
            np.concatenate([self.columns_of(feature) for feature in group.tolist()])
            for group in groups
        ]
        sizes = np.array([len(block) for block in blocks])
        least = [
            self.least_columns[group[0]] if len(group) == 1 else size
            for group, size in zip(groups, sizes.tolist(), strict=True)
        ]
        return replace(
            self,
            block_columns=np.concatenate(blocks),
            starts=np.cumsum([0, *sizes]),
            least_columns=np.array(least),
        )

    def with_columns(self, columns: Floats, blocks: Sequence[Indices]) -> "Design":
        """More block columns, as rows in multiples of the unit, and features made of columns."""
        sizes = np.array([len(block) for block in blocks])
        return replace(
            self,
            columns=self.columns.extended(columns),
            block_columns=np.concatenate([self.block_columns, *blocks]),
            starts=np.concatenate([self.starts, self.starts[-1] + np.cumsum(sizes)]),
            degrees=np.concatenate([self.degrees, np.ones(len(columns))]),
            least_columns=np.concatenate([self.least_columns, sizes]),
        )


@dataclass(frozen=True)
class _BlockColumns:
    """Some block columns, and what they belong to."""

    features: Indices
    """The feature that each column belongs to."""

    columns: Floats
    """The columns, one in each row, in multiples of the unit."""

    degrees: Floats
    """The parameters that each column stands for."""


def make_design(
    table: Table,
    categorical: Indices,
    targets: Sequence[TargetScores],
    weights: Floats | None,
    constants: BlockConstants,
    adjustment: Adjustment | None = None,
) -> Design:
    """The blocks of all features of a table; ``categorical``: places of codes of categories.

    ``adjustment``: the covariates to subtract from all columns, as they are from the targets.
    """
    numeric = find_numeric(table, categorical)
    others = np.flatnonzero(~table.mask(numeric))
    pieces: list[_BlockColumns] = []
    if len(numeric):
        pieces += _number_columns(table, numeric, targets, weights, constants, adjustment)
    if len(others):
        piece = _category_columns(table, others, targets, weights, constants)
        if adjustment is not None:
            adjustment.subtract_from(piece.columns)
        pieces.append(piece)
    features = np.concatenate([piece.features for piece in pieces])
    parts = [pieces[0].columns]
    if len(pieces) > 1:
        parts.append(np.concatenate([piece.columns for piece in pieces[1:]]))
    sizes = np.bincount(features, minlength=table.n_features)
    least_columns = np.where(table.mask(numeric), 1, sizes)
    return Design(
        columns=StandardColumns(tuple(parts), unit_score(table.n_samples)),
        block_columns=np.argsort(features, kind="stable"),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        degrees=np.concatenate([piece.degrees for piece in pieces]),
        least_columns=least_columns,
        effective_rows=rows_that_count(table.n_samples, weights) - rows_used_by(adjustment),
        weights=weights,
        adjustment=adjustment,
    )


def rows_used_by(adjustment: Adjustment | None) -> float:
    """The number of rows that covariates use up; 0 without covariates."""
    return 0.0 if adjustment is None else adjustment.rows_used


def rows_that_count(n_samples: int, weights: Floats | None) -> float:
    """The effective number of rows: all of them without weights."""
    return float(n_samples) if weights is None else count_effective_rows(weights)


def _number_columns(
    table: Table,
    numeric: Indices,
    targets: Sequence[TargetScores],
    weights: Floats | None,
    constants: BlockConstants,
    adjustment: Adjustment | None,
) -> list[_BlockColumns]:
    """Normal scores of all numeric columns, and then what else belongs to their blocks."""
    table.check_exact(numeric)
    numbers = split_numbers(table, numeric)[0].values
    scores = np.empty((len(numeric), table.n_samples))

    def score(block: Floats, start: int) -> list[_BlockColumns]:
        for row in np.flatnonzero(np.isinf(block).any(axis=1)):
            name = table.names[numeric[start + row]]
            check_finite(f"column {name!r}", block[row])
        missing = np.isnan(block)
        own_scores = scores[start : start + len(block)]
        score_block(block, weights, constants.largest_score, own_scores)
        plain_scores = own_scores
        if adjustment is not None:
            plain_scores = own_scores.copy()
            adjustment.subtract_from(own_scores)
        strip = _Strip(
            numeric[start : start + len(block)],
            own_scores,
            plain_scores,
            missing,
            targets,
            weights,
            constants,
            adjustment,
        )
        return strip.other_columns()

    with calm_blas():
        others = [piece for pieces in map_columns(numbers, score) for piece in pieces]
    return [_BlockColumns(numeric, scores, np.ones(len(numeric))), *others]


@dataclass(frozen=True)
class _Strip:
    """Some neighboring numeric columns, whose blocks may need more than a score."""

    features: Indices
    scores: Floats
    """Normal scores, one row for each column, in multiples of the unit, less what covariates
    explain."""

    plain_scores: Floats
    """The normal scores themselves."""

    missing: NDArray[np.bool_]
    targets: Sequence[TargetScores]
    weights: Floats | None
    constants: BlockConstants
    adjustment: Adjustment | None

    @property
    def n_samples(self) -> int:
        return int(self.scores.shape[1])

    @property
    def unit(self) -> float:
        return unit_score(self.n_samples)

    @property
    def n_rows(self) -> float:
        return rows_that_count(self.n_samples, self.weights) - rows_used_by(self.adjustment)

    def other_columns(self) -> list[_BlockColumns]:
        """Indicators of missing values, and the squares and bins that say more than scores do."""
        pieces = [self._missing_indicators()]
        curves = self._curves()
        by_scores = [target.explain(self.scores, self.unit) for target in self.targets]
        by_curves = [target.explain(curves, self.unit) for target in self.targets]
        information = np.sum(list(map(_information_beside, by_curves, by_scores)), axis=0)
        degrees = sum(target.degrees for target in self.targets)
        cost = self.constants.parameter_cost * degrees / (2.0 * self.n_rows)
        is_curved = information > cost
        curved = np.flatnonzero(is_curved)
        pieces.append(_BlockColumns(self.features[curved], curves[curved], np.ones(len(curved))))
        smooth = [
            (scores**2).sum(axis=0) + np.where(is_curved, (squares**2).sum(axis=0), 0.0)
            for scores, squares in zip(by_scores, by_curves, strict=True)
        ]
        if self.adjustment is None:
            pieces += self._bin_means(smooth, is_curved)
        else:
            pieces += self._bin_means_given_covariates(self.adjustment, smooth, is_curved)
        return [piece for piece in pieces if len(piece.features)]

    def _missing_indicators(self) -> _BlockColumns:
        """An indicator for each column with several missing values."""
        counts = self.missing.sum(axis=1)
        has_gaps = (counts >= self.constants.min_level_rows) & (counts < self.n_samples)
        places = np.flatnonzero(has_gaps)
        indicators = self.missing[places].astype(np.float64)
        if len(places):
            standardise_weighted(indicators, self.weights, self.unit)
            if self.adjustment is not None:
                self.adjustment.subtract_from(indicators)
        return _BlockColumns(self.features[places], indicators, np.ones(len(places)))

    def _curves(self) -> Floats:
        """The part of the square of each score that is no straight line in the score."""
        curves = self._plain_curves()
        if self.adjustment is not None:
            self.adjustment.subtract_from(curves)
            for curve, score in zip(curves, self.scores, strict=True):
                # Covariates may explain a part that the two have in common.
                line = Adjustment(score[np.newaxis], self.unit)
                line.subtract_from(curve[np.newaxis])
        return curves

    def _plain_curves(self) -> Floats:
        """The same before covariates are subtracted."""
        n_columns = len(self.plain_scores)
        curves = np.empty(self.plain_scores.shape)
        if self.weights is None:
            known = self.n_samples - self.missing.sum(axis=1)
            kernels.curve_rows(
                self.plain_scores,
                n_columns,
                self.n_samples,
                self.missing.view(np.uint8),
                known,
                self.unit,
                self.constants.largest_score,
                SMALLEST_CURVE,
                curves,
            )
            return curves
        root = np.sqrt(self.weights)
        plain = self.plain_scores / (self.unit * root)
        squares = np.minimum(np.abs(plain), self.constants.largest_score) ** 2
        known_weights = np.where(self.missing, 0.0, self.weights)
        total = np.maximum(known_weights.sum(axis=1), SMALLEST_VARIANCE)
        mean = (known_weights * squares).sum(axis=1) / total
        products = (known_weights * squares * plain).sum(axis=1)
        slope = products / np.maximum((known_weights * plain**2).sum(axis=1), SMALLEST_VARIANCE)
        curves = squares - mean[:, np.newaxis] - slope[:, np.newaxis] * plain
        curves[self.missing] = 0.0
        variance = (known_weights * curves**2).sum(axis=1) / self.n_samples
        curves[variance < SMALLEST_CURVE] = 0.0
        standardise_weighted(curves, self.weights, self.unit)
        return curves

    def _bin_means(self, smooth: Sequence[Floats], is_curved: Mask) -> list[_BlockColumns]:
        """The mean target in bins, for columns that tell more in bins than by score and curve.

        ``smooth``: what scores and curves explain of each target. The test is Pillai's trace of the
        bins, less that. A mean was fitted to the target, so that it stands for as many parameters
        as there are bins beyond score and curve.
        """
        limits = _bin_limits(self.n_samples, self.constants)
        if not len(limits):
            return []
        root = np.ones(self.n_samples) if self.weights is None else np.sqrt(self.weights)
        plain = self.scores if self.weights is None else self.scores / root
        padded_limits = np.full(KERNEL_BINS - 1, np.inf)
        padded_limits[: len(limits)] = self.unit * limits
        pieces = [
            self._bin_means_of_target(target, explained, is_curved, plain, padded_limits)
            for target, explained in zip(self.targets, smooth, strict=True)
        ]
        return [piece for piece in pieces if piece is not None]

    def _bin_means_of_target(
        self,
        target: TargetScores,
        smooth: Floats,
        is_curved: Mask,
        plain: Floats,
        limits: Floats,
    ) -> _BlockColumns | None:
        n_columns = len(self.scores)
        root = np.ones(self.n_samples) if self.weights is None else np.sqrt(self.weights)
        sizes = np.empty((n_columns, KERNEL_BINS))
        sums = np.empty((n_columns, KERNEL_BINS, int(target.classes.max()) + 1))
        kernels.sum_bins(
            plain,
            n_columns,
            self.n_samples,
            limits,
            target.classes,
            root**2,
            target.columns.sum(axis=0) * root,
            sums.shape[2],
            sizes,
            sums,
        )
        means = sums / np.where(sizes > 0, sizes, 1.0)[:, :, np.newaxis]
        explained = (sums * means).sum(axis=(1,)) / target.lengths**2
        # Indicators of classes are not centered: their mean explains 1 of the trace.
        has_mean = target.degrees < target.columns.shape[0]
        trace = explained.sum(axis=1) - float(has_mean)
        more_bins = (sizes > 0).sum(axis=1) - 2 - is_curved
        statistic = self.n_rows * np.maximum(trace - smooth, 0.0)
        pvalues = chdtrc(np.maximum(more_bins * target.degrees, 1), statistic)
        needed = np.flatnonzero((more_bins > 0) & (pvalues < self.constants.added_pvalue))
        if not len(needed):
            return None
        n_means = min(target.degrees, sums.shape[2])
        if n_means > len(limits[np.isfinite(limits)]):
            return self._bin_columns(needed, limits[np.isfinite(limits)], more_bins[needed])
        bins = np.searchsorted(limits, plain[needed], side="right")
        columns = [means[place, bins[row], :n_means].T for row, place in enumerate(needed.tolist())]
        # Shares of classes lie in 0..1; means of scores are in multiples of the unit.
        scale = 1.0 if has_mean else self.unit
        stacked = np.ascontiguousarray(np.concatenate(columns)) / scale
        standardise_weighted(stacked, self.weights, self.unit)
        degrees = np.repeat(more_bins[needed] / n_means, n_means)
        return _BlockColumns(np.repeat(self.features[needed], n_means), stacked, degrees)

    def _bin_columns(self, columns: Indices, limits: Floats, more_bins: Indices) -> _BlockColumns:
        """Indicators of bins, which say the same as the means of more classes than bins.

        ``more_bins``: the parameters of each of the columns.
        """
        indicators = self._indicators(self.plain_scores[columns], limits)
        degrees = np.repeat(more_bins / len(limits), len(limits))
        return _BlockColumns(np.repeat(self.features[columns], len(limits)), indicators, degrees)

    def _bin_means_given_covariates(
        self, adjustment: Adjustment, smooth: Sequence[Floats], is_curved: Mask
    ) -> list[_BlockColumns]:
        """The same given covariates, which are subtracted from indicators of the bins.

        In place of means there are the values that a regression on these fits to the target.
        """
        limits = self.unit * _bin_limits(self.n_samples, self.constants)
        n_bins = len(limits)
        if not n_bins:
            return []
        pieces = []
        width = max(1, STRIP_COLUMNS // n_bins)
        for start in range(0, len(self.features), width):
            strip = slice(start, start + width)
            bins = self._indicators(self.plain_scores[strip], limits)
            adjustment.subtract_from(bins)
            by_column = bins.reshape(-1, n_bins, self.n_samples)
            covariances = by_column @ by_column.transpose(0, 2, 1)
            covariances /= self.n_samples * self.unit**2
            inverses = np.linalg.pinv(covariances, rcond=SMALLEST_REMAINDER, hermitian=True)
            ranks = np.rint(np.einsum("cij,cji->c", inverses, covariances))
            more_bins = ranks - 1 - is_curved[strip]
            for target, explained_by_smooth in zip(self.targets, smooth, strict=True):
                explained = target.explain(bins, self.unit)
                explained = explained.reshape(-1, len(by_column), n_bins)
                slopes = np.einsum("qci,cij->cqj", explained, inverses)
                trace = np.einsum("cqj,qcj->c", slopes, explained)
                statistic = self.n_rows * np.maximum(trace - explained_by_smooth[strip], 0.0)
                pvalues = chdtrc(np.maximum(more_bins * target.degrees, 1), statistic)
                is_needed = (more_bins > 0) & (pvalues < self.constants.added_pvalue)
                needed = np.flatnonzero(is_needed)
                if not len(needed):
                    continue
                n_fits = min(target.columns.shape[0], n_bins)
                fits = by_column[needed]
                if n_fits < n_bins:
                    fits = slopes[needed] @ fits
                fits = fits.reshape(-1, self.n_samples)
                adjustment.subtract_from(fits)
                degrees = np.repeat(more_bins[needed] / n_fits, n_fits)
                features = np.repeat(self.features[strip][needed], n_fits)
                pieces.append(_BlockColumns(features, fits, degrees))
        return pieces

    def _indicators(self, plain_scores: Floats, limits: Floats) -> Floats:
        """Indicators of all bins but the first of some columns, one below the other."""
        root = np.ones(self.n_samples) if self.weights is None else np.sqrt(self.weights)
        bins = np.searchsorted(limits, plain_scores / root, side="right")
        indicators = bins[:, np.newaxis] == np.arange(1, len(limits) + 1)[:, np.newaxis]
        columns = indicators.astype(np.float64).reshape(-1, self.n_samples)
        standardise_weighted(columns, self.weights, self.unit)
        return columns


def _bin_limits(n_samples: int, constants: BlockConstants) -> Floats:
    """Scores between bins of equal frequency, in standard deviations; none where rows are few."""
    n_bins = min(constants.curve_bins, KERNEL_BINS, n_samples // MIN_ROWS_PER_BIN)
    # No limit is 0, the score of missing values: a reversed sign gives the same bins.
    is_even = n_bins % 2 == 0
    n_bins -= int(is_even)
    if n_bins < MIN_BINS:
        return np.empty(0)
    return np.asarray(ndtri(np.arange(1, n_bins) / n_bins))


def _information_beside(by_columns: Floats, by_scores: Floats) -> Floats:
    """What columns tell about a target beside scores that they are not correlated with.

    Both are given by what the target explains of them, as coordinates, one column for each.
    """
    # Given the target, the two have a covariance, minus this, although they have none in total.
    explained_covariance = (by_columns * by_scores).sum(axis=0)
    score_variance = np.maximum(1.0 - (by_scores**2).sum(axis=0), SMALLEST_VARIANCE)
    column_variance = 1.0 - (by_columns**2).sum(axis=0)
    given_both = column_variance - explained_covariance**2 / score_variance
    return np.asarray(-0.5 * np.log(np.maximum(given_both, SMALLEST_VARIANCE)))


def _category_columns(
    table: Table,
    places: Indices,
    targets: Sequence[TargetScores],
    weights: Floats | None,
    constants: BlockConstants,
) -> _BlockColumns:
    """Indicators of the frequent levels of categories; missing is a level.

    The rarest of the levels is left out where all have an indicator: it follows from the others.
    A category without a frequent level has one column of zeros.
    """
    codes = encode(table.keep(places))
    columns: list[Floats] = []
    feature_of: list[int] = []
    for place, levels in zip(places.tolist(), codes.values, strict=True):
        counts = np.bincount(levels)
        frequent = np.argsort(-counts, kind="stable")
        frequent = frequent[counts[frequent] >= constants.min_level_rows][: constants.max_levels]
        if len(frequent) == len(counts):
            frequent = frequent[:-1]
        indicators = (levels == frequent[:, np.newaxis]).astype(np.float64)
        if not len(frequent):
            indicators = np.zeros((1, table.n_samples))
        columns.append(indicators)
        feature_of += [place] * len(indicators)
    stacked = np.concatenate(columns)
    standardise_weighted(stacked, weights, unit_score(table.n_samples))
    return _BlockColumns(np.array(feature_of, np.int64), stacked, np.ones(len(stacked)))
