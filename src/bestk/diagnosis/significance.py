"""P-values of columns: of each alone, and given its best partner.

The null hypothesis is that a column does not depend on the target, whatever their distributions
are. A p-value that is too small is the worst fault here, so the approximations are those whose
tails stay right, or become too heavy, where rows are few, values are tied or classes are rare:
likelihood ratios, and sums of scores whose skewness is corrected for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import stats
from scipy.special import betaincc, chdtrc

from bestk._typing import Array, Floats, Indices, Mask
from bestk.errors import DataError
from bestk.information import Entropies, normal_scores
from bestk.information.coding import FEW_VALUES, PAIR_ROWS, cut_numbers, merge_rare, pair_bins
from bestk.information.measures import CMI
from bestk.information.scan import scan_pairs
from bestk.native.threads import spans
from bestk.tables.codes import Codes
from bestk.tables.table import Table, find_numeric
from bestk.tables.target import (
    TARGET_BINS,
    ClassTarget,
    NumericTarget,
    Target,
    cut_target,
    read_classes,
)
from bestk.tables.weights import check_weights, count_effective_rows

# Numeric columns are cut into a third of the square root of the rows, within these limits, for
# relations that a straight line does not show.
MIN_BINS = 3
MAX_BINS = 10

# Values of columns that are tested together: it bounds the memory, and changes no result.
BLOCK_VALUES = 2**24

# Of a target of numbers, the test of the means in bins gets this fraction of the level, and the
# test of five classes, which shows changes of the spread, what remains of it.
LEVEL_OF_MEANS = 0.8

# The tail of the p-values of permuted targets is judged by so many of the smallest. With 20, its
# exponent has a standard error of 22%.
TAIL_SIZE = 20

# The mean excess of exponential variables is 1; that of 20 of them is above this limit in 5% of
# cases. With a larger one, the tail is heavier than that of uniform p-values.
MAX_MEAN_EXCESS = 1.4

# Smaller p-values are taken for this one, so that their logarithms are finite.
SMALLEST_PVALUE = 1e-300

# The target is permuted at most so often by default. More permutations take time, and change few
# p-values: those of all columns are compared with those of all columns in all permutations.
MAX_PERMUTATIONS = 50

# The default number of permutations is limited to this many pairs of columns times rows, in all of
# them, which take a second or two.
MAX_PERMUTED_WORK = 1e12

# Weights that are not whole are rounded to so many copies of a row, on average. The error is that
# of weights with a relative error of 0.07, which takes about half a percent of the rows.
COPIES_OF_ROW = 4

# Weights that are multiples of the smallest are exact up to so many copies of a row, on average.
MAX_COPIES_OF_ROW = 8

# Classes whose sums are a product with a matrix of indicators, which is fastest for few classes.
# For very many that matrix would need more memory than the table.
MAX_INDICATORS = 64

# Classes with fewer rows are one class in the tests of means: a mean of few scores is far from
# normal, and the correction for that costs more power than the difference of the classes gives.
MIN_CLASS_ROWS = 20

# A 2 x 2 table with fewer expected rows in a cell is tested exactly, as Fisher did.
MIN_EXPECTED_ROWS = 5

# Likelihood ratios in pairs are divided by their mean over the degrees of freedom, to the first
# order of 1 / rows. Where cells have less than a row, that order says nothing; this is the most.
MAX_PAIR_FACTOR = 1.25

# A column whose kurtosis is the square of its skewness plus 1 has two values.
TWO_VALUES_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PreparedTarget:
    """A target as the tests need it; rows can be permuted."""

    classes: ClassTarget
    """For pairs; two for a continuous target."""

    fine: ClassTarget
    """For single columns; up to five for a continuous target."""

    scores: Floats | None
    """Normal scores of numbers; and, in a second row, of those that are not frequent."""

    rows: Indices | None = None
    """Which row of the table each row of the target goes with; None: the same."""

    effective_rows: float = 0.0
    """(sum of weights)^2 / (sum of squared weights); the number of rows without weights."""

    @classmethod
    def of(cls, target: Target, copies: Indices | None = None) -> "PreparedTarget":
        """Prepare classes as they are, and numbers as scores and as classes.

        Parameters
        ----------
        target : Target
            The target of the rows of a table, in their order.
        copies : array of shape (n_samples,) or None
            How often each row of the table counts, at least once; None: once.
        """
        rows = None
        effective_rows = float(target.n_samples)
        if copies is not None:
            rows = np.repeat(np.arange(target.n_samples), copies)
            effective_rows = count_effective_rows(copies.astype(np.float64))
            target = target.take(rows)
        classes = target.classes
        scores = None
        if isinstance(target, NumericTarget):
            classes = _cut_at_median(target)
            scores = _scores_of_numbers(target.numbers)
        return cls(
            classes=classes,
            fine=target.classes,
            scores=scores,
            rows=rows,
            effective_rows=effective_rows,
        )

    def permuted(self, rng: np.random.RandomState) -> "PreparedTarget":
        """The same values, and their weights, with other rows of the table."""
        if self.rows is not None:
            # Rows of the table are repeated in ascending order, so that the last is the largest.
            n_rows_of_table = int(self.rows[-1]) + 1
            order = rng.permutation(n_rows_of_table)
            return replace(self, rows=order[self.rows])
        order = rng.permutation(len(self.classes.codes))
        classes = replace(self.classes, codes=self.classes.codes[order])
        fine = replace(self.fine, codes=self.fine.codes[order])
        scores = None if self.scores is None else self.scores[:, order]
        return replace(self, classes=classes, fine=fine, scores=scores)

    def match(self, codes: Codes) -> Codes:
        """The codes of a table in the rows that go with those of the target."""
        if self.rows is None:
            return codes
        values = codes.values.take(self.rows, axis=1)
        return replace(codes, values=values)


def _cut_at_median(target: NumericTarget) -> ClassTarget:
    """Two classes of the numbers of a target: those up to the median, and those above it."""
    halves = cut_target(target.numbers, 2)
    if not halves.any():
        # Where most rows have the largest value, the median does not separate any.
        return target.classes
    return read_classes(halves, len(target.numbers))


def _scores_of_numbers(numbers: Floats) -> Floats:
    """Normal scores of the numbers of a target; and, in a second row, of those that are rare.

    Where a value is frequent, as 0 often is, the ranks of all numbers show little else than which
    rows have it. The second row has the ranks of the others among themselves.
    """
    values, counts = np.unique(numbers, return_counts=True)
    is_frequent = counts > len(numbers) / TARGET_BINS
    columns = [numbers]
    if is_frequent.any():
        has_frequent_value = np.isin(numbers, values[is_frequent])
        others = np.where(has_frequent_value, np.nan, numbers)
        columns.append(others)
    scores = normal_scores(np.column_stack(columns))
    is_not_constant = scores.any(axis=1)
    return scores[is_not_constant]


def count_copies(sample_weight: Any, n_samples: int) -> Indices:
    """How often each row counts, in proportion to its weight; 0 where the weight is.

    Weights that are multiples of the smallest, and not much larger, are exact. Others are rounded.
    """
    weights = check_weights(sample_weight, n_samples)
    if not weights.any():
        raise DataError("sample_weight is zero in all rows; give some row a weight above zero")
    positive = weights[weights > 0]
    multiples = weights / positive.min()
    rounding = np.abs(multiples - np.rint(multiples)).max()
    are_whole = rounding < 1e-9
    max_copies = MAX_COPIES_OF_ROW * len(positive)
    if not are_whole or multiples.sum() > max_copies:
        multiples = weights * (COPIES_OF_ROW / positive.mean())
    return np.rint(multiples).astype(np.int64)


class Moments(NamedTuple):
    """The third and fourth moments of one factor of products that are summed over rows.

    Both are arrays of one shape, which broadcasts to that of the sums.
    """

    skewness: Floats
    kurtosis: Floats

    def along_last_axis(self) -> "Moments":
        """The same for sums with one axis more: all sums along it have this factor."""
        return Moments(self.skewness[..., np.newaxis], self.kurtosis[..., np.newaxis])


class Scores(NamedTuple):
    """Rows of numbers of mean 0, and their moments."""

    values: Floats
    """The numbers, of shape (rows of numbers, samples)."""

    squares: Floats
    """The sum of the squares of each row of numbers."""

    moments: Moments
    """The moments of each row of numbers; those of constants are 0."""

    @classmethod
    def of(cls, values: Floats) -> "Scores":
        """Center numbers of shape (rows of numbers, samples)."""
        n_samples = values.shape[1]
        values = values - values.mean(axis=1, keepdims=True)
        powers = values * values
        squares = powers.sum(axis=1)
        cubes = np.einsum("ij,ij->i", powers, values)
        fourths = np.einsum("ij,ij->i", powers, powers)
        variance = squares / n_samples
        scale = np.where(variance > 0, variance, np.inf)
        skewness = cubes / n_samples / scale**1.5
        kurtosis = fourths / n_samples / scale**2
        return cls(values, squares, Moments(skewness, kurtosis))

    @property
    def have_two_values(self) -> Mask:
        """Which rows of numbers have at most two different values."""
        smallest_kurtosis = 1.0 + self.moments.skewness**2
        return self.moments.kurtosis <= smallest_kurtosis * (1.0 + TWO_VALUES_TOLERANCE)


def indicator_moments(share: Floats) -> Moments:
    """Moments of indicators, which are 1 in this share of the rows and 0 in the others."""
    variance = share * (1.0 - share)
    skewness = (1.0 - 2.0 * share) / np.sqrt(variance)
    kurtosis = 1.0 / variance - 3.0
    return Moments(skewness, kurtosis)


def correct_skewness(z: Floats, first: Moments, second: Moments, rows: float) -> Floats:
    """Squares of standardized sums of products, made chi-square with one degree of freedom.

    A sum of a_i b_i over rows, with b in random order, has about the skewness
    ``skew(a) skew(b) / sqrt(rows)`` and the excess kurtosis
    ``(kurt(a) - 3) (kurt(b) - 3) / rows``. Where both are sparse, its tail is as heavy as that of
    a gamma variable. Twice the log likelihood ratio of such a variable, with skewness s,

        (8 / s^2) (x - log(1 + x)),  x = s |z| / 2,

    has the tail of a chi-square variable; it is z^2 where s is 0. A tail on the other side of the
    skewness is lighter than a normal one, and z^2 is taken there.

    Parameters
    ----------
    z : array
        Sums of products over rows, divided by their standard deviation.
    first, second : Moments
        Those of a and of b, which broadcast to the shape of ``z``.
    rows : float
        The effective number of rows.
    """
    skew = first.skewness * second.skewness / np.sqrt(rows)
    excess_of_first = np.maximum(first.kurtosis - 3.0, 0.0)
    excess_of_second = np.maximum(second.kurtosis - 3.0, 0.0)
    excess = excess_of_first * excess_of_second / rows
    is_on_heavy_side = skew * z > 0
    squared_skew = np.where(is_on_heavy_side, skew**2, 0.0)
    # A gamma variable of skewness s has an excess kurtosis of 1.5 s^2.
    gamma_skew = np.sqrt(np.maximum(squared_skew, excess / 1.5))
    x = 0.5 * gamma_skew * np.abs(z)
    # Of a smaller x, the correction is less than its rounding error.
    is_corrected = x > 1e-4
    safe_x = np.where(is_corrected, x, 1.0)
    correction = 2.0 * (safe_x - np.log1p(safe_x)) / safe_x**2
    factor = np.where(is_corrected, correction, 1.0)
    return np.asarray(z * z * factor)


def explained_pvalues(deviance: Floats, parameters: int | Array, rows: float) -> Floats:
    """P-values of sums of squares that linear models explain, by the beta distribution.

    Parameters
    ----------
    deviance : array
        The sum of squares that a model explains, where the variance of a row is 1.
    parameters : int or array that broadcasts to ``deviance``
        How many parameters the model has, besides the mean.
    rows : float
        The effective number of rows.
    """
    share = np.minimum(deviance / (rows - 1.0), 1.0)
    unexplained = rows - 1.0 - parameters
    half_of_parameters = np.maximum(parameters, 1) / 2
    half_of_unexplained = np.maximum(unexplained, 1.0) / 2
    p = betaincc(half_of_parameters, half_of_unexplained, share)
    return np.asarray(np.where(unexplained > 0, p, 1.0))


def bins_for_rows(rows: float) -> int:
    """The number of bins of numeric columns, by the effective number of rows."""
    return int(np.clip(rows**0.5 / 3, MIN_BINS, MAX_BINS))


def alone_pvalues(
    table: Table, categorical: Indices, targets: Sequence[PreparedTarget]
) -> tuple[Floats, Floats, Mask]:
    """Test each column by itself, for a target and permutations of it.

    Parameters
    ----------
    table : Table
        The columns to test.
    categorical : array of int
        The places of numbers that are codes of categories.
    targets : sequence of PreparedTarget
        The target, and then its permutations.

    Returns
    -------
    pvalues : array of shape (n_targets, n_columns)
        The smaller of the p-values of bins and of a trend, times the number of these tests.
    relevance : array of shape (n_columns,)
        I(xi; y) for the first target, in nats.
    varies : array of bool, of shape (n_columns,)
        Which columns have more than one value.
    """
    observed = targets[0]
    numeric = find_numeric(table, categorical)
    n_bins = bins_for_rows(observed.effective_rows)
    bins = cut_numbers(table, numeric, n_bins, few_values=n_bins)
    entropies = Entropies.count(observed.match(bins), observed.fine)
    relevance = entropies.mi()
    by_chance = None
    if observed.rows is None:
        by_chance = entropies.source.mi_by_chance()
    p = np.empty((len(targets), table.n_features))
    for i, target in enumerate(targets):
        relevance_of_target = relevance if i == 0 else None
        p[i] = binned_pvalues(bins, by_chance, target, relevance_of_target)

    width = max(1, BLOCK_VALUES // table.n_samples)
    for start, end in spans(len(numeric), width):
        columns = numeric[start:end]
        numbers = table.keep(columns).numeric()[0]
        normal = normal_scores(numbers)
        scores = Scores.of(normal)
        for i, target in enumerate(targets):
            if target.rows is not None:
                scores = Scores.of(normal[:, target.rows])
            # A trend shows the same as bins where a column has two values only.
            has_trend = ~scores.have_two_values
            of_trends = trend_pvalues(scores, target)[has_trend]
            tested = columns[has_trend]
            p[i, tested] = 2 * np.minimum(p[i, tested], of_trends)
    return p, relevance, bins.levels > 1


def binned_pvalues(
    bins: Codes, by_chance: Floats | None, target: PreparedTarget, relevance: Floats | None
) -> Floats:
    """P-values of columns in bins and of categories, for one target.

    Parameters
    ----------
    bins : Codes
        The columns, in the rows of the table.
    by_chance : array of shape (n_columns,) or None
        The mean of I(xi; y) over all permutations of y; None where it is not known.
    target : PreparedTarget
        The target, or a permutation of it.
    relevance : array of shape (n_columns,) or None
        I(xi; y) for this target; None where it is not known.
    """
    bins = target.match(bins)
    if relevance is None:
        relevance = Entropies.count(bins, target.fine).mi()
    degrees = (bins.levels - 1) * (target.fine.n_classes - 1)
    doubled_rows = 2.0 * target.effective_rows
    mean_ratios = degrees.astype(np.float64)
    if by_chance is not None:
        mean_ratios = doubled_rows * by_chance
    p = counted_pvalues(doubled_rows * relevance, mean_ratios, degrees)
    if target.scores is None:
        if target.fine.n_classes == 2 and target.rows is None:
            _make_exact(p, bins, target.fine)
        return p
    of_means = bin_mean_pvalues(bins, Scores.of(target.scores), target.effective_rows)
    p = np.minimum(p / (1 - LEVEL_OF_MEANS), of_means / LEVEL_OF_MEANS)
    return np.where(bins.levels > 1, p, 1.0)


def _make_exact(p: Floats, bins: Codes, target: ClassTarget) -> None:
    """Put Fisher's exact p-values of 2 x 2 tables in place, where a cell should have few rows.

    ``p``: the p-value of each column, which is changed; ``target``: two classes.
    """
    n = bins.n_samples
    with_two_levels = np.flatnonzero(bins.levels == 2)
    is_one = (bins.values[with_two_levels] == 1).astype(np.float32)
    ones = is_one.sum(axis=1).astype(np.int64)
    rarer = np.minimum(ones, n - ones)
    # The smallest cell should have rows of the rarer level * rows of the rarer class / n rows.
    are_few = rarer * target.counts.min() < MIN_EXPECTED_ROWS * n
    columns = with_two_levels[are_few]
    is_second_class = (target.codes == 1).astype(np.float32)
    ones_in_second = (is_one[are_few] @ is_second_class).astype(np.int64)
    ones = ones[are_few]
    n_second = int(target.counts[1])
    for n_ones in np.unique(ones):
        has_so_many = ones == n_ones
        exact = fisher_pvalues(int(n_ones), n_second, n)
        p[columns[has_so_many]] = exact[ones_in_second[has_so_many]]


# The same tables come back for all permutations of a target.
@lru_cache(maxsize=10_000)
def fisher_pvalues(n_ones: int, n_second: int, n_rows: int) -> Floats:
    """P-values of 0, 1, ... ones among the rows of the second of two classes.

    ``n_ones`` of ``n_rows`` rows are one, and ``n_second`` are of the second class.
    """
    ones_in_second = np.arange(min(n_ones, n_second) + 1)
    probability = stats.hypergeom.pmf(ones_in_second, n_rows, n_second, n_ones)
    order = np.argsort(probability, kind="stable")
    ascending = probability[order]
    total = np.cumsum(ascending)
    # Numbers that are equally likely, but for rounding, count as well.
    n_no_likelier = np.searchsorted(ascending, probability * (1 + 1e-9), side="right")
    return np.asarray(np.minimum(total[n_no_likelier - 1], 1.0))


def counted_pvalues(ratios: Floats, mean: Floats, degrees: Indices) -> Floats:
    """P-values of likelihood ratios with a known mean over all permutations.

    A mean above the degrees of freedom shows that ratios are too large by that factor (Bartlett
    1937). A mean below shows that some cells have too few rows to contribute: then the degrees of
    freedom are fewer. One is added to the mean, because few cells take few values, far apart; with
    a single cell that is right.
    """
    too_large = np.maximum(mean / np.maximum(degrees, 1), 1.0)
    fewer = np.minimum(degrees, mean + 1.0)
    used_degrees = np.where(mean < degrees, fewer, degrees)
    return likelihood_pvalues(ratios / too_large, used_degrees)


def likelihood_pvalues(ratios: Floats, degrees: Array) -> Floats:
    """The tails of chi-square; 1 without degrees of freedom, which constant columns have."""
    is_tested = degrees > 0
    safe_degrees = np.where(is_tested, degrees, 1)
    return np.where(is_tested, chdtrc(safe_degrees, ratios), 1.0)


def trend_pvalues(scores: Scores, target: PreparedTarget) -> Floats:
    """P-values of the means of scores in classes, or of their correlation with numbers.

    ``scores``: a row for each column of the table, in the rows of the target.
    """
    if target.scores is not None:
        return _correlation_pvalues(scores, Scores.of(target.scores), target.effective_rows)
    return _class_mean_pvalues(scores, target.classes, target.effective_rows)


def _correlation_pvalues(scores: Scores, of_target: Scores, rows: float) -> Floats:
    """P-values of the correlation of each row of scores with those of a target; the smallest.

    It is multiplied by the number of rows of scores of the target.
    """
    squares = np.where(scores.squares > 0, scores.squares, np.inf)
    lengths = np.sqrt(np.outer(of_target.squares, squares))
    correlation = (of_target.values @ scores.values.T) / lengths
    z = correlation * np.sqrt(rows - 1.0)
    deviance = correct_skewness(z, scores.moments, of_target.moments.along_last_axis(), rows)
    p = explained_pvalues(deviance, 1, rows)
    return np.asarray(len(p) * p.min(axis=0))


def _class_mean_pvalues(scores: Scores, classes: ClassTarget, rows: float) -> Floats:
    """P-values of the means of each row of scores in the classes: an analysis of variance."""
    codes, counts = _merge_rare_classes(classes)
    n_classes = len(counts)
    n = scores.values.shape[1]
    share = counts / n
    lengths_of_indicators = np.sqrt(n * share * (1.0 - share))
    squares = np.where(scores.squares > 0, scores.squares, np.inf)
    correlation = _sums_by_class(scores.values, codes, n_classes) / lengths_of_indicators
    correlation /= np.sqrt(squares)[:, np.newaxis]
    z = correlation * np.sqrt(rows - 1.0)
    moments = scores.moments.along_last_axis()
    deviance = correct_skewness(z, moments, indicator_moments(share), rows)
    between = deviance @ (1.0 - share)
    return explained_pvalues(between, n_classes - 1, rows)


def _sums_by_class(values: Floats, codes: Indices, n_classes: int) -> Floats:
    """The sums of each row of numbers over the samples of each class, as (row, class).

    ``values``: of shape (rows of numbers, samples); ``codes``: the class of each sample, none of
    which is empty.
    """
    if n_classes <= MAX_INDICATORS:
        indicators = np.eye(n_classes)[codes]
        return np.asarray(values @ indicators)
    order = np.argsort(codes, kind="stable")
    first_of_class = np.searchsorted(codes[order], np.arange(n_classes))
    return np.add.reduceat(values[:, order], first_of_class, axis=1)


def _merge_rare_classes(target: ClassTarget) -> tuple[Indices, Indices]:
    """The class of each row and the sizes of classes, with all rare ones made one.

    Classes stay as they are where fewer than two are rare, or all of them.
    """
    is_rare = target.counts < MIN_CLASS_ROWS
    n_rare = is_rare.sum()
    n_frequent = len(is_rare) - n_rare
    if n_rare < 2 or n_frequent < 1:
        return target.codes, target.counts
    new_code = np.cumsum(~is_rare) - 1
    new_code[is_rare] = n_frequent
    codes = new_code[target.codes]
    return codes, np.bincount(codes)


def bin_mean_pvalues(codes: Codes, scores: Scores, rows: float) -> Floats:
    """P-values of the means of scores of a target in the levels of each column.

    It is the smallest of the rows of scores, times their number. ``rows``: their effective number.
    """
    n = codes.n_samples
    # The levels of all columns stand one after the other.
    first_level = np.cumsum(codes.levels) - codes.levels
    n_levels = int(codes.levels.sum())
    counts = np.empty(n_levels)
    sums = np.empty((len(scores.values), n_levels))
    for j, column in enumerate(codes.values):
        levels = slice(first_level[j], first_level[j] + codes.levels[j])
        counts[levels] = np.bincount(column)
        for i, numbers in enumerate(scores.values):
            sums[i, levels] = np.bincount(column, numbers)
    # A constant column has one level with all rows, which explains nothing.
    share = np.minimum(counts / n, 1.0 - 0.5 / n)
    lengths_of_indicators = np.sqrt(n * share * (1.0 - share))
    lengths_of_scores = np.sqrt(scores.squares)[:, np.newaxis]
    correlation = sums / (lengths_of_scores * lengths_of_indicators)
    z = correlation * np.sqrt(rows - 1.0)
    moments = scores.moments.along_last_axis()
    deviance = correct_skewness(z, moments, indicator_moments(share), rows)
    between = np.add.reduceat(deviance * (1.0 - share), first_level, axis=1)
    p = explained_pvalues(between, codes.levels - 1, rows)
    return np.asarray(len(p) * p.min(axis=0))


def codes_for_pairs(
    table: Table, categorical: Indices, n_rows: int, n_classes: int
) -> Iterator[Codes]:
    """The codes that pairs are counted from: numbers in few bins, and in more if affordable.

    Parameters
    ----------
    table : Table
        The columns to test.
    categorical : array of int
        The places of numbers that are codes of categories.
    n_rows : int
        The effective number of rows.
    n_classes : int
        The number of classes of the target.
    """
    numeric = find_numeric(table, categorical)
    for n_bins in pair_bins(table.n_features, n_rows, n_classes):
        codes = cut_numbers(table, numeric, n_bins, few_values=FEW_VALUES)
        yield merge_rare(codes, n_bins)


def given_pvalues(codes: Codes, target: ClassTarget) -> Floats:
    """P-values of each of few columns given its best partner, times the number of partners."""
    # I(xj; y | xi) stands at [i, j].
    given = Entropies.count(codes, target).measure(CMI)
    degrees = np.outer(codes.levels, codes.levels - 1) * (target.n_classes - 1)
    p = likelihood_pvalues(2 * codes.n_samples * given, degrees)
    # No column is its own partner.
    np.fill_diagonal(p, 1.0)
    n_partners = max(1, codes.n_features - 1)
    return p.min(axis=0) * n_partners


class InPairs(NamedTuple):
    """Each column given its best partner."""

    pvalues: Floats
    """The p-value of each column given its partner, times the number of tests."""

    partners: Indices
    """The place of the partner of each column; -1 where it has none."""

    information: Floats
    """I(xi; y | partner), in nats."""


AnyTarget = TypeVar("AnyTarget")


class PermutationTests(Protocol[AnyTarget]):
    """Tests of the columns of a table, by their target and by permutations of it."""

    @property
    def target(self) -> AnyTarget:
        """The target as the tests need it."""

    @property
    def vary_in_pairs(self) -> Mask:
        """Which columns vary there: of a column of many rare levels, all may be merged."""

    def permuted(self, rng: np.random.RandomState) -> AnyTarget:
        """The target in random order."""

    def affordable_permutations(self, pairs: bool) -> int:
        """How often the target is permuted by default, with a test of pairs or without."""

    def alone(self, targets: Sequence[AnyTarget]) -> tuple[Floats, Floats, Mask]:
        """Test each column by itself.

        The results are p-values by target and column, the information about the first target in
        nats, and which columns vary.
        """

    def in_pairs(self, target: AnyTarget, backend: str) -> InPairs:
        """Each column given its best partner; p-values are times the number of partners."""


@dataclass(frozen=True)
class CountedTests:
    """Tests of the columns of a table alone and in pairs, without covariates."""

    table: Table
    categorical: Indices
    """The places of numbers that are codes of categories."""

    target: PreparedTarget
    codings: tuple[Codes, ...]
    """The columns in few bins, and in more if affordable, of which pairs are counted."""

    @classmethod
    def of(
        cls, table: Table, categorical: Indices, parsed: Target, copies: Indices | None
    ) -> "CountedTests":
        """``copies``: how often each row counts, at least once; None: once."""
        target = PreparedTarget.of(parsed, copies)
        n_effective = round(target.effective_rows)
        n_classes = target.classes.n_classes
        codings = tuple(codes_for_pairs(table, categorical, n_effective, n_classes))
        return cls(table, categorical, target, codings)

    @property
    def vary_in_pairs(self) -> Mask:
        """Which columns vary in pairs."""
        return self.codings[0].levels > 1

    def permuted(self, rng: np.random.RandomState) -> PreparedTarget:
        """The target in random order."""
        return self.target.permuted(rng)

    def affordable_permutations(self, pairs: bool) -> int:
        """How often the target is permuted by default."""
        classes = self.target.classes
        return affordable_permutations(self.table, len(classes.codes), classes.n_classes, pairs)

    def alone(self, targets: Sequence[PreparedTarget]) -> tuple[Floats, Floats, Mask]:
        """Test each column by itself; see :func:`alone_pvalues`."""
        return alone_pvalues(self.table, self.categorical, targets)

    def in_pairs(self, target: PreparedTarget, backend: str) -> InPairs:
        """Each column given its best partner."""
        return pair_pvalues(self.codings, target, backend)


def pair_pvalues(
    codings: Sequence[Codes], target: PreparedTarget, backend: str = "auto"
) -> InPairs:
    """The smallest p-value of each column given a partner, times the number of codings.

    ``codings``: the same columns in few bins, and in more.
    """
    results = [_pvalues_of_coding(codes, target, backend) for codes in codings]
    pvalues = np.stack([result.pvalues for result in results])
    partners = np.stack([result.partners for result in results])
    information = np.stack([result.information for result in results])
    columns = np.arange(pvalues.shape[1])
    best = pvalues.argmin(axis=0)
    lowest = len(results) * pvalues[best, columns]
    return InPairs(lowest, partners[best, columns], information[best, columns])


def _pvalues_of_coding(codes: Codes, target: PreparedTarget, backend: str) -> InPairs:
    """P-values of each column given its best partner, times the number of partners.

    If xi is independent of xj and y, 2 m I(xi; y | xj) = 2 m I(xi; y) + 2 m interaction is
    chi-square. The best partner is sought among the columns of each number of levels.
    """
    entropies = Entropies.count(target.match(codes), target.classes, backend)
    # A row of the arrays below has partners with one number of levels.
    levels, group_of_column = np.unique(codes.levels, return_inverse=True)
    scan = scan_pairs(entropies, group_of_column)
    # It is a rounding error below 0 for copies.
    given = np.maximum(entropies.mi() + scan.best, 0.0)
    degrees = np.outer(levels, codes.levels - 1) * (target.classes.n_classes - 1)
    ratios = 2 * target.effective_rows * given
    corrected = ratios / _pair_factors(levels, codes.levels, target)
    p = likelihood_pvalues(corrected, degrees)
    # Constants are no partners.
    is_constant = (levels < 2)[:, np.newaxis]
    p[is_constant | (scan.partners < 0)] = np.inf
    best = p.argmin(axis=0)
    columns = np.arange(codes.n_features)
    n_varying = int((codes.levels > 1).sum())
    n_partners = max(1, n_varying - 1)
    lowest = np.minimum(1.0, p[best, columns]) * n_partners
    return InPairs(lowest, scan.partners[best, columns], given[best, columns])


def _pair_factors(partner_levels: Indices, levels: Indices, target: PreparedTarget) -> Floats:
    """The mean of likelihood ratios in pairs over their degrees of freedom, at [partner, column].

    For a table of independent margins p and q, from n rows, that is to the first order
    ``1 + (sum 1/p - 1) (sum 1/q - 1) / (6 n degrees)`` (Lawley 1956), here with equal p, of a
    column, and n the rows of a level of its partner.
    """
    counts = target.classes.counts
    share = counts / counts.sum()
    of_classes = float((1.0 / share).sum() - 1.0) / (len(share) - 1)
    rows_of_level = target.effective_rows / partner_levels
    # With equal p of L levels, (sum 1/p - 1) / (L - 1) is L + 1.
    excess = np.outer(of_classes / (6.0 * rows_of_level), levels + 1.0)
    return np.minimum(1.0 + excess, MAX_PAIR_FACTOR)


def calibrate(p: Floats, null: Floats, tests: int) -> Floats:
    """P-values from the smaller of some tests, by those of all columns for permuted targets.

    A p-value is the share of those in the null that are as small. Below the smallest of the null,
    it falls in proportion to p, or as slowly as the null does where its tail is heavier than that
    of uniform p-values.

    Parameters
    ----------
    p : array of shape (n_columns,)
        The smallest p-value of some tests of each column.
    null : array of shape (n_permutations, n_columns)
        The same for permuted targets.
    tests : int
        How many tests of each column there are.
    """
    bonferroni = np.minimum(1.0, tests * p)
    if not null.size:
        return bonferroni
    null = np.sort(null, axis=None)
    n_as_small = np.searchsorted(null, p, side="right")
    share_of_null = (1 + n_as_small) / (1 + len(null))

    log_tail = np.log(np.maximum(null[:TAIL_SIZE], SMALLEST_PVALUE))
    mean_excess = float((log_tail[-1] - log_tail).sum()) / max(1, len(log_tail) - 1)
    exponent = 1.0
    if mean_excess > MAX_MEAN_EXCESS:
        exponent = 1.0 / mean_excess
    log_p = np.log(np.maximum(p, SMALLEST_PVALUE))
    log_smallest = log_tail[0]
    at_smallest = 2 / (1 + len(null))
    beyond = at_smallest * np.exp(exponent * (log_p - log_smallest))
    beyond = np.maximum(beyond, bonferroni)
    beyond = np.minimum(beyond, at_smallest)
    return np.where(log_p < log_smallest, beyond, share_of_null)


def affordable_permutations(table: Table, n_rows: int, n_classes: int, pairs: bool) -> int:
    """How often a target of so many rows and classes is permuted by default.

    ``pairs``: whether columns are tested in pairs, too.
    """
    n = table.n_features
    work_of_column = PAIR_ROWS
    if pairs:
        cells = sum((bins - 1) ** 2 for bins in pair_bins(n, n_rows, n_classes))
        work_of_column = n * cells
    work = n * (n_rows + PAIR_ROWS) * work_of_column
    return min(MAX_PERMUTATIONS, int(MAX_PERMUTED_WORK / work))
