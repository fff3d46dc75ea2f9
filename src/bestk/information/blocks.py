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
from itertools import pairwise

import numpy as np
from scipy.special import chdtrc, ndtri

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.data.codes import encode
from bestk.data.table import Table, find_numeric, split_numbers
from bestk.data.target import ParsedTarget
from bestk.information.constants import BlockConstants
from bestk.native import kernels
from bestk.native.threads import calm_blas, map_columns

# A block column whose variance, or what other columns of its block leave of it, is below this
# share of a variance of 1 is rounding, and is left out.
SMALLEST_VARIANCE = 1e-6

# Block columns that are copied at a time.
STRIP_COLUMNS = 256

# The variance that a straight line in the score leaves of its square, in scores; a column of two
# values has less, and no curve.
SMALLEST_CURVE = 2.5e-3

# Rows of a bin on average, and the number of bins, that are needed to test for a relation in bins.
MIN_ROWS_PER_BIN = 20
MIN_BINS = 5


@dataclass(frozen=True)
class TargetScores:
    """A target as numeric columns: an indicator of each class, or the normal scores of numbers."""

    columns: Floats
    """One row for each class, or one for a numeric target; one entry for each sample."""

    lengths: Floats
    """The length of each row, by which sums of products are divided."""

    degrees: int
    """The number of parameters that the target takes of each block column."""

    entropy: float
    """H(y) of classes, in nats; infinite for numbers."""

    classes: Indices
    """The class of each sample; 0 for numbers."""

    @classmethod
    def of(
        cls, target: ParsedTarget, weights: Floats | None, largest_score: float
    ) -> "TargetScores":
        """The columns of a target; ``weights`` (None: all equal) have a mean of 1."""
        root = np.ones(target.n_samples) if weights is None else np.sqrt(weights)
        if target.continuous:
            numbers = target.numbers[:, np.newaxis]
            scores = normal_scores(numbers, weights, largest_score)
            lengths = np.sqrt((scores * scores).sum(axis=1))
            return cls(scores, lengths, 1, np.inf, np.zeros(target.n_samples, np.int64))
        codes = target.classes.codes
        indicators = (codes == np.arange(target.classes.n_classes)[:, np.newaxis]) * root
        sizes = (indicators * indicators).sum(axis=1)
        shares = sizes / sizes.sum()
        entropy = -float((shares * np.log(np.where(shares > 0, shares, 1.0))).sum())
        return cls(indicators, np.sqrt(sizes), len(sizes) - 1, entropy, codes)

    def explain(self, values: Floats, unit: float) -> Floats:
        """What the target explains of block columns, as coordinates.

        ``values`` has one row for each column, in multiples of ``unit``. The result has one row for
        each row of the target: the sum of products of two of its columns is the part of their
        covariance that the target explains.
        """
        lengths = np.where(self.lengths > 0, self.lengths, 1.0)
        scale = unit * lengths * np.sqrt(values.shape[1])
        with calm_blas(values.size * len(self.columns)):
            products = self.columns @ values.T
        return np.asarray(products / scale[:, np.newaxis])


def unit_score(n_samples: int) -> float:
    """The whole number that stands for a score of 1, so that sums of products are exact."""
    bits_for_a_product = 52 - int(np.ceil(np.log2(max(2, n_samples))))
    return 2.0 ** (bits_for_a_product // 2)


def normal_scores(values: Array, weights: Floats | None, largest_score: float) -> Floats:
    """Normal scores of the columns of a table, one row for each column, as whole numbers.

    A score is the normal quantile of (rank - 1/2) / n, with the mean rank of equal values, cut at
    ``largest_score`` and scaled to variance 1. Missing values have the mean score, 0.
    """
    n_samples, n_columns = values.shape
    scores = np.empty((n_columns, n_samples))

    def write(block: Floats, start: int) -> None:
        score_block(block, weights, largest_score, scores[start : start + len(block)])

    map_columns(values, write)
    return scores


def score_block(block: Floats, weights: Floats | None, largest_score: float, out: Floats) -> None:
    """Write normal scores of some columns, one row each, to ``out``; the block is overwritten."""
    n_samples = block.shape[1]
    if weights is None:
        quantiles = ndtri(np.arange(1, 2 * n_samples) / (2 * n_samples))
        table = np.clip(quantiles, -largest_score, largest_score)
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
    are sums with these weights. Constant columns become 0.
    """
    n_samples = columns.shape[1]
    root = np.ones(n_samples) if weights is None else np.sqrt(weights)
    columns -= ((columns * root**2).sum(axis=1) / n_samples)[:, np.newaxis]
    columns *= root
    variance = (columns**2).sum(axis=1) / n_samples
    varies = variance > SMALLEST_VARIANCE**2
    scale = np.where(varies, unit / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    columns *= scale[:, np.newaxis]
    np.rint(columns, out=columns)


@dataclass(frozen=True)
class Design:
    """Features as blocks of standardized numeric columns.

    The block columns of all features are the rows of ``parts``, one below the other.
    """

    parts: tuple[Floats, ...]
    """Block columns, one in each row, one entry for each sample, in multiples of ``unit``."""

    blocks: tuple[Indices, ...]
    """The block columns of each feature: a score before its square, and that before bins."""

    prefixes: tuple[bool, ...]
    """Whether the first columns of the block of a feature may stand for it, without the others."""

    unit: float
    """The whole number that stands for 1."""

    effective_rows: float
    """The number of rows; with weights (sum w)**2 / sum w**2."""

    weights: Floats | None = None
    """The weights of the rows, of mean 1, whose square roots the columns contain."""

    @property
    def n_samples(self) -> int:
        """The number of rows of the table."""
        return int(self.parts[0].shape[1])

    @property
    def n_columns(self) -> int:
        """The number of block columns of all features."""
        return sum(len(part) for part in self.parts)

    def rows(self, columns: Indices) -> Floats:
        """Some block columns, one in each row."""
        starts = np.cumsum([0, *(len(part) for part in self.parts)])
        taken = np.empty((len(columns), self.n_samples))
        for part, start in zip(self.parts, starts, strict=False):
            inside = (columns >= start) & (columns < start + len(part))
            taken[inside] = part[columns[inside] - start]
        return taken

    def covariances(self, row: Floats) -> Floats:
        """The covariances of all block columns with a column, given in multiples of the unit."""
        with calm_blas(self.n_columns * self.n_samples):
            products = np.concatenate([part @ row for part in self.parts])
        return np.asarray(products / (self.n_samples * self.unit**2))

    def covariances_of(self, first: Indices, second: Indices) -> Floats:
        """The covariance of each pair of block columns, one of ``first`` and one of ``second``."""
        scale = self.n_samples * self.unit**2
        if np.array_equal(first, second):
            return np.asarray(self._sums_of_squares[first] / scale)
        products = np.empty(len(first))
        for start in range(0, len(first), STRIP_COLUMNS):
            strip = slice(start, start + STRIP_COLUMNS)
            left = self.rows(first[strip])
            products[strip] = np.einsum("ij,ij->i", left, self.rows(second[strip]))
        return products / scale

    @cached_property
    def _sums_of_squares(self) -> Floats:
        return np.concatenate([np.einsum("ij,ij->i", part, part) for part in self.parts])

    def keep(self, features: Sequence[int]) -> "Design":
        """Some of the features, which may repeat, with their block columns only."""
        columns = [self.blocks[j] for j in features]
        starts = np.cumsum([0, *(len(own) for own in columns)])
        return replace(
            self,
            parts=(self.rows(np.concatenate(columns)),),
            blocks=tuple(np.arange(a, b) for a, b in pairwise(starts)),
            prefixes=tuple(self.prefixes[j] for j in features),
        )

    def merged(self, labels: Indices) -> "Design":
        """The same columns with one block for each label from 0 up; -1 belongs to none."""
        members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
        blocks = tuple(np.concatenate([self.blocks[j] for j in group]) for group in members)
        prefixes = tuple(len(group) == 1 and self.prefixes[group[0]] for group in members)
        return replace(self, blocks=blocks, prefixes=prefixes)

    def with_columns(self, columns: Floats, blocks: Sequence[Indices]) -> "Design":
        """More block columns, as rows in multiples of the unit, and features made of columns."""
        return replace(
            self,
            parts=(*self.parts, columns),
            blocks=(*self.blocks, *blocks),
            prefixes=(*self.prefixes, *(False for _ in blocks)),
        )


@dataclass(frozen=True)
class _Strip:
    """The block columns that some neighboring numeric columns have beside their scores."""

    features: Indices
    """The numeric column that each row belongs to."""

    columns: Floats
    """Squares, bins and indicators of missing values, in multiples of the unit."""


def make_design(
    table: Table,
    categorical: Indices,
    targets: Sequence[TargetScores],
    weights: Floats | None,
    constants: BlockConstants,
) -> Design:
    """The blocks of all features of a table; ``categorical``: places of codes of categories."""
    n_samples = table.n_samples
    unit = unit_score(n_samples)
    numeric = find_numeric(table, categorical)
    # The rows of the design that belong to each feature.
    members: list[list[int]] = [[] for _ in range(table.n_features)]
    parts: list[Floats] = []
    if len(numeric):
        scores, strips = _score_numbers(table, numeric, targets, weights, constants)
        for row, feature in enumerate(numeric.tolist()):
            members[feature].append(row)
        parts.append(scores)
        next_row = len(scores)
        for strip in strips:
            for row, place in enumerate(strip.features.tolist(), next_row):
                members[int(numeric[place])].append(row)
            next_row += len(strip.features)
            parts.append(strip.columns)
    others = np.flatnonzero(~table.mask(numeric))
    if len(others):
        columns, feature_of = _category_columns(table, others, weights, constants)
        next_row = sum(len(part) for part in parts)
        for row, feature in enumerate(feature_of.tolist(), next_row):
            members[feature].append(row)
        parts.append(columns)
    joined = [part for part in parts if len(part)] or [np.zeros((1, n_samples))]
    if len(joined) > 2:
        joined = [joined[0], np.concatenate(joined[1:])]
    is_numeric = table.mask(numeric)
    return Design(
        parts=tuple(joined),
        blocks=tuple(np.array(rows, np.int64) for rows in members),
        prefixes=tuple(is_numeric.tolist()),
        unit=unit,
        effective_rows=effective_rows(n_samples, weights),
        weights=weights,
    )


def effective_rows(n_samples: int, weights: Floats | None) -> float:
    """(sum w)**2 / sum w**2: the equally weighted rows that would give estimates as certain."""
    if weights is None:
        return float(n_samples)
    return float(weights.sum() ** 2 / (weights**2).sum())


def _score_numbers(
    table: Table,
    numeric: Indices,
    targets: Sequence[TargetScores],
    weights: Floats | None,
    constants: BlockConstants,
) -> tuple[Floats, list[_Strip]]:
    """Normal scores of all numeric columns, one row each, and what else belongs to their blocks."""
    table.check_exact(numeric)
    numbers = split_numbers(table, numeric)[0].values
    scores = np.empty((len(numeric), table.n_samples))

    def score(block: Floats, start: int) -> _Strip:
        missing = np.isnan(block)
        own = scores[start : start + len(block)]
        score_block(block, weights, constants.largest_score, own)
        return _other_columns(own, missing, start, targets, weights, constants)

    with calm_blas():
        strips = map_columns(numbers, score)
    return scores, [strip for strip in strips if len(strip.features)]


def _other_columns(
    scores: Floats,
    missing: Array,
    start: int,
    targets: Sequence[TargetScores],
    weights: Floats | None,
    constants: BlockConstants,
) -> _Strip:
    """Indicators of missing values, and the squares and bins that say more than scores do."""
    unit = unit_score(scores.shape[1])
    n_rows = effective_rows(scores.shape[1], weights)
    features: list[Indices] = []
    columns: list[Floats] = []

    counts = missing.sum(axis=1)
    gaps = np.flatnonzero((counts >= constants.min_level_rows) & (counts < scores.shape[1]))
    if len(gaps):
        indicators = missing[gaps].astype(np.float64)
        standardise_weighted(indicators, weights, unit)
        features.append(gaps)
        columns.append(indicators)

    curves = _curves(scores, missing, weights, constants)
    information = _information_beside(curves, scores, targets, unit)
    degrees = sum(target.degrees for target in targets)
    is_curved = information > constants.parameter_cost * degrees / (2.0 * n_rows)
    curved = np.flatnonzero(is_curved)
    if len(curved):
        features.append(curved)
        columns.append(curves[curved])

    curves[~is_curved] = 0.0
    binned = _need_bins(scores, curves, targets, weights, constants)
    if len(binned):
        indicators = _bin_indicators(scores[binned], weights, constants)
        features.append(np.repeat(binned, len(indicators) // len(binned)))
        columns.append(indicators)

    return _Strip(
        start + np.concatenate(features) if features else np.empty(0, np.int64),
        np.concatenate(columns) if columns else np.empty((0, scores.shape[1])),
    )


def _curves(
    scores: Floats, missing: Array, weights: Floats | None, constants: BlockConstants
) -> Floats:
    """The part of the square of each score that is no straight line in the score."""
    n_samples = scores.shape[1]
    unit = unit_score(n_samples)
    squares = np.minimum(np.abs(scores) / unit, constants.largest_score) ** 2
    squares[missing] = 0.0
    known = ~missing
    share = np.maximum(known.sum(axis=1), 1)[:, np.newaxis]
    squares -= known * (squares.sum(axis=1, keepdims=True) / share)
    slopes = (squares * scores).sum(axis=1) / np.maximum((scores * scores).sum(axis=1), 1.0)
    squares -= slopes[:, np.newaxis] * scores
    variance = (squares**2).mean(axis=1)
    squares[variance < SMALLEST_CURVE] = 0.0
    standardise_weighted(squares, weights, unit)
    return squares


def _bin_limits(n_samples: int, constants: BlockConstants) -> Floats:
    """Scores between bins of equal frequency, in standard deviations; none where rows are few."""
    n_bins = min(constants.curve_bins, n_samples // MIN_ROWS_PER_BIN)
    if n_bins < MIN_BINS:
        return np.empty(0)
    return np.asarray(ndtri(np.arange(1, n_bins) / n_bins))


def _need_bins(
    scores: Floats,
    curves: Floats,
    targets: Sequence[TargetScores],
    weights: Floats | None,
    constants: BlockConstants,
) -> Indices:
    """The columns that tell more in bins than scores and curves do, by Pillai's trace."""
    n_columns, n_samples = scores.shape
    unit = unit_score(n_samples)
    limits = _bin_limits(n_samples, constants)
    if not len(limits):
        return np.empty(0, np.int64)
    root = np.ones(n_samples) if weights is None else np.sqrt(weights)
    all_limits = np.full(constants.curve_bins - 1, np.inf)
    all_limits[: len(limits)] = unit * limits
    has_curve = curves.any(axis=1)
    needed = np.zeros(n_columns, bool)
    for target in targets:
        sizes = np.empty((n_columns, constants.curve_bins))
        sums = np.empty((n_columns, constants.curve_bins, int(target.classes.max()) + 1))
        values = target.columns.sum(axis=0) * root
        plain_scores = scores if weights is None else scores / np.where(root > 0, root, 1.0)
        kernels.sum_bins(
            plain_scores, n_columns, n_samples, all_limits, target.classes, root**2, values,
            sums.shape[2], sizes, sums,
        )  # fmt: skip
        by_size = np.where(sizes > 0, sizes, 1.0)[:, :, np.newaxis]
        explained = (sums**2 / by_size).sum(axis=1) / np.maximum(target.lengths**2, 1e-300)
        trace = explained.sum(axis=1) - (1.0 if target.degrees + 1 == len(target.columns) else 0.0)
        smooth = (target.explain(scores, unit) ** 2).sum(axis=0)
        smooth += (target.explain(curves, unit) ** 2).sum(axis=0)
        degrees = ((sizes > 0).sum(axis=1) - 2 - has_curve) * target.degrees
        statistic = effective_rows(n_samples, weights) * np.maximum(trace - smooth, 0.0)
        pvalues = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), statistic), 1.0)
        needed |= pvalues < constants.curve_pvalue
    return np.flatnonzero(needed)


def _bin_indicators(scores: Floats, weights: Floats | None, constants: BlockConstants) -> Floats:
    """Indicators of all bins but the first of each column, one below the other."""
    n_columns, n_samples = scores.shape
    unit = unit_score(n_samples)
    limits = _bin_limits(n_samples, constants)
    root = np.ones(n_samples) if weights is None else np.sqrt(weights)
    plain_scores = scores / np.where(root > 0, root, 1.0)
    bins = np.searchsorted(unit * limits, plain_scores, side="right")
    indicators = bins[:, np.newaxis] == np.arange(1, len(limits) + 1)[:, np.newaxis]
    columns = indicators.astype(np.float64).reshape(n_columns * len(limits), n_samples)
    standardise_weighted(columns, weights, unit)
    return columns


def _information_beside(
    columns: Floats, scores: Floats, targets: Sequence[TargetScores], unit: float
) -> Floats:
    """What each column tells about the targets beside a score that it is not correlated with."""
    information = np.zeros(len(columns))
    for target in targets:
        by_columns = target.explain(columns, unit)
        of_columns = (by_columns**2).sum(axis=0)
        of_scores = target.explain(scores, unit)
        shared = (by_columns * of_scores).sum(axis=0)
        own = np.maximum(1.0 - (of_scores**2).sum(axis=0), SMALLEST_VARIANCE)
        rest = 1.0 - of_columns - shared**2 / own
        varies = columns.any(axis=1)
        rest = np.where(varies, np.maximum(rest, SMALLEST_VARIANCE), 1.0)
        information += -0.5 * np.log(rest)
    return information


def _category_columns(
    table: Table, places: Indices, weights: Floats | None, constants: BlockConstants
) -> tuple[Floats, Indices]:
    """Indicators of the frequent levels of categories, and the feature of each; missing is a level.

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
    return stacked, np.array(feature_of, np.int64)
