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
MIN_BINS, MAX_BINS = 3, 10

# Values of columns that are tested together: it bounds the memory, and changes no result.
BLOCK_VALUES = 2**24

# Of a target of numbers, the test of the means in bins gets this fraction of the level, and the
# test of five classes, which shows changes of the spread, what remains of it.
LEVEL_OF_MEANS = 0.8

# The tail of the permuted p-values is judged by so many of them. With 20, its exponent has a
# standard error of 22%.
TAIL_SIZE = 20

# The mean excess of exponential variables is 1; that of 20 of them is above this limit in 5% of
# cases. With a larger one, the tail is heavier than that of uniform p-values.
MAX_MEAN_EXCESS = 1.4

# So that logarithms of p-values are finite.
SMALLEST_PVALUE = 1e-300

MAX_PERMUTATIONS = 50

# Pairs of columns times rows, in all permutations: a second or two.
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
        """Classes as they are; numbers also cut at the median.

        ``copies``: how often each row of the table counts, at least once; None: once.
        """
        rows = None
        effective_rows = float(target.n_samples)
        if copies is not None:
            rows = np.repeat(np.arange(target.n_samples), copies)
            effective_rows = count_effective_rows(copies.astype(np.float64))
            target = target.take(rows)
        if not isinstance(target, NumericTarget):
            return cls(target.classes, target.classes, None, rows, effective_rows)
        numbers = target.numbers
        halves = cut_target(numbers, 2)
        # where most rows have the largest value, the median does not separate any
        classes = read_classes(halves, len(numbers)) if halves.any() else target.classes
        values, counts = np.unique(numbers, return_counts=True)
        frequent = values[counts > len(numbers) / TARGET_BINS]  # ranks show little else
        others = np.where(np.isin(numbers, frequent), np.nan, numbers)
        columns = [numbers, others] if len(frequent) else [numbers]
        scores = normal_scores(np.column_stack(columns))
        return cls(classes, target.classes, scores[scores.any(axis=1)], rows, effective_rows)

    def permuted(self, rng: np.random.RandomState) -> "PreparedTarget":
        """The same values, and their weights, with other rows of the table."""
        if self.rows is not None:
            order = rng.permutation(int(self.rows[-1]) + 1)
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
        return replace(codes, values=codes.values.take(self.rows, axis=1))


def count_copies(sample_weight: Any, n_samples: int) -> Indices:
    """How often each row counts, in proportion to its weight.

    Weights that are multiples of the smallest, and not much larger, are exact.
    """
    weights = check_weights(sample_weight, n_samples)
    if not weights.any():
        raise DataError("sample_weight is zero in all rows; give some row a weight above zero")
    positive = weights[weights > 0]
    multiples = weights / positive.min()
    most = MAX_COPIES_OF_ROW * len(positive)
    are_whole = np.abs(multiples - np.rint(multiples)).max() < 1e-9
    if not are_whole or multiples.sum() > most:
        multiples = weights * (COPIES_OF_ROW / positive.mean())
    return np.rint(multiples).astype(np.int64)


class Scores(NamedTuple):
    """Rows of numbers of mean 0, and their moments."""

    values: Floats  # (rows of numbers, samples)
    squares: Floats  # sums of squares
    skewness: Floats
    kurtosis: Floats

    @classmethod
    def of(cls, values: Floats) -> "Scores":
        """Center rows of numbers; constant ones have no skewness and a kurtosis of 0."""
        values = values - values.mean(axis=1, keepdims=True)
        powers = values * values
        squares = powers.sum(axis=1)
        cubes = np.einsum("ij,ij->i", powers, values)
        fourths = np.einsum("ij,ij->i", powers, powers)
        variance = squares / values.shape[1]
        scale = np.where(variance > 0, variance, np.inf)
        n = values.shape[1]
        return cls(values, squares, cubes / n / scale**1.5, fourths / n / scale**2)

    @property
    def have_two_values(self) -> Mask:
        """Which rows have at most two different values."""
        return self.kurtosis <= (1.0 + self.skewness**2) * (1.0 + TWO_VALUES_TOLERANCE)


def indicator_moments(share: Floats) -> tuple[Floats, Floats]:
    """The skewness and the kurtosis of the indicators of some rows, by their share of all."""
    variance = share * (1.0 - share)
    return (1.0 - 2.0 * share) / np.sqrt(variance), 1.0 / variance - 3.0


def correct_skewness(
    z: Floats, skewness: tuple[Any, Any], kurtosis: tuple[Any, Any], rows: float
) -> Floats:
    """Squares of standardized sums of products, made chi-square with one degree of freedom.

    A sum of a_i b_i over rows, with b in random order, has about the skewness
    ``skew(a) skew(b) / sqrt(rows)`` and the excess kurtosis
    ``(kurt(a) - 3) (kurt(b) - 3) / rows``. Where both are sparse, its tail is as heavy as that of
    a gamma variable. Twice the log likelihood ratio of such a variable, with skewness s,

        (8 / s^2) (x - log(1 + x)),  x = s |z| / 2,

    has the tail of a chi-square variable; it is z^2 where s is 0. A tail on the other side of the
    skewness is lighter than a normal one, and z^2 is taken there.
    """
    skew = skewness[0] * skewness[1] / np.sqrt(rows)
    excess = np.maximum(kurtosis[0] - 3.0, 0.0) * np.maximum(kurtosis[1] - 3.0, 0.0) / rows
    squared_skew = np.where(skew * z > 0, skew**2, 0.0)
    # a gamma variable has an excess kurtosis of 1.5 s^2
    heavier = np.sqrt(np.maximum(squared_skew, excess / 1.5))
    x = 0.5 * heavier * np.abs(z)
    is_heavier = x > 1e-4  # below, the difference is smaller than the rounding error
    safe = np.where(is_heavier, x, 1.0)
    factor = np.where(is_heavier, 2.0 * (safe - np.log1p(safe)) / safe**2, 1.0)
    return np.asarray(z * z * factor)


def explained_pvalues(deviance: Floats, parameters: Any, rows: float) -> Floats:
    """P-values of sums of squares that so many parameters explain: of a share of the variance."""
    share = np.minimum(deviance / (rows - 1.0), 1.0)
    unexplained = rows - 1.0 - parameters
    p = betaincc(np.maximum(parameters, 1) / 2, np.maximum(unexplained, 1.0) / 2, share)
    return np.asarray(np.where(unexplained > 0, p, 1.0))


def alone_pvalues(
    table: Table, categorical: Indices, targets: Sequence[PreparedTarget]
) -> tuple[Floats, Floats, Mask]:
    """Test each column by itself, for permutations of a target.

    The results are p-values by permutation and column, I(xi; y) for the first target, and which
    columns vary.
    """
    numeric = find_numeric(table, categorical)
    n_bins = int(np.clip(targets[0].effective_rows ** 0.5 / 3, MIN_BINS, MAX_BINS))
    bins = cut_numbers(table, numeric, n_bins, few_values=n_bins)
    first = Entropies.count(targets[0].match(bins), targets[0].fine)
    relevance = first.mi()
    by_chance = first.source.mi_by_chance() if targets[0].rows is None else None
    p = np.empty((len(targets), table.n_features))
    for number, target in enumerate(targets):
        p[number] = binned_pvalues(bins, by_chance, target, None if number else relevance)
    for span in spans(len(numeric), max(1, BLOCK_VALUES // table.n_samples)):
        columns = numeric[slice(*span)]
        values = normal_scores(table.keep(columns).numeric()[0])
        scores = Scores.of(values)
        for number, target in enumerate(targets):
            if target.rows is not None:
                scores = Scores.of(values[:, target.rows])
            # of two values, bins show the same
            tested = ~scores.have_two_values
            trend = trend_pvalues(scores, target)[tested]
            both = np.minimum(p[number, columns[tested]], trend)
            p[number, columns[tested]] = 2 * both
    return p, relevance, bins.levels > 1


def binned_pvalues(
    bins: Codes, by_chance: Floats | None, target: PreparedTarget, relevance: Floats | None
) -> Floats:
    """P-values of bins and categories.

    ``by_chance``: the mean of I(xi; y) over all permutations of y; ``relevance``: I(xi; y). None
    where they are not known.
    """
    bins = target.match(bins)
    if relevance is None:
        relevance = Entropies.count(bins, target.fine).mi()
    degrees = (bins.levels - 1) * (target.fine.n_classes - 1)
    doubled = 2.0 * target.effective_rows
    mean = degrees.astype(np.float64) if by_chance is None else doubled * by_chance
    p = counted_pvalues(doubled * relevance, mean, degrees)
    if target.scores is None:
        if target.fine.n_classes == 2 and target.rows is None:
            _make_exact(p, bins, target.fine)
        return p
    of_means = bin_mean_pvalues(bins, Scores.of(target.scores), target.effective_rows)
    p = np.minimum(p / (1 - LEVEL_OF_MEANS), of_means / LEVEL_OF_MEANS)
    return np.where(bins.levels > 1, p, 1.0)


def _make_exact(p: Floats, bins: Codes, target: ClassTarget) -> None:
    """Put Fisher's exact p-values of 2 x 2 tables in place, where a cell should have few rows."""
    n = bins.n_samples
    two_levels = np.flatnonzero(bins.levels == 2)
    is_one = (bins.values[two_levels] == 1).astype(np.float32)
    ones = is_one.sum(axis=1).astype(np.int64)
    rarer = np.minimum(ones, n - ones)
    few = np.flatnonzero(rarer * target.counts.min() < MIN_EXPECTED_ROWS * n)
    in_both = (is_one[few] @ (target.codes == 1).astype(np.float32)).astype(np.int64)
    for n_ones in np.unique(ones[few]):
        same = ones[few] == n_ones
        exact = fisher_pvalues(int(n_ones), int(target.counts[1]), n)
        p[two_levels[few[same]]] = exact[in_both[same]]


@lru_cache(maxsize=10_000)  # the same for all permutations of a target
def fisher_pvalues(n_ones: int, n_second: int, n_rows: int) -> Floats:
    """P-values of 0, 1, ... ones among the rows of the second of two classes."""
    in_both = np.arange(min(n_ones, n_second) + 1)
    probability = stats.hypergeom.pmf(in_both, n_rows, n_second, n_ones)
    order = np.argsort(probability, kind="stable")
    total = np.cumsum(probability[order])
    # what is equally likely, but for rounding, counts as well
    last = np.searchsorted(probability[order], probability * (1 + 1e-9), side="right") - 1
    return np.asarray(np.minimum(total[last], 1.0))


def counted_pvalues(ratios: Floats, mean: Floats, degrees: Indices) -> Floats:
    """P-values of likelihood ratios with a known mean over all permutations.

    A mean above the degrees of freedom shows that ratios are too large by that factor (Bartlett
    1937). A mean below shows that some cells have too few rows to contribute: then the degrees of
    freedom are fewer. One is added to the mean, because few cells take few values, far apart; with
    a single cell that is right.
    """
    too_large = np.maximum(mean / np.maximum(degrees, 1), 1.0)
    fewer = np.minimum(degrees, mean + 1.0)
    return likelihood_pvalues(ratios / too_large, np.where(mean < degrees, fewer, degrees))


def likelihood_pvalues(ratios: Floats, degrees: Array) -> Floats:
    """The tails of chi-square; 1 without degrees of freedom, which constant columns have."""
    return np.where(degrees > 0, chdtrc(np.where(degrees > 0, degrees, 1), ratios), 1.0)


def trend_pvalues(scores: Scores, target: PreparedTarget) -> Floats:
    """P-values of the means of scores in classes, or of their correlation with numbers."""
    rows = target.effective_rows
    n = scores.values.shape[1]
    total = np.where(scores.squares > 0, scores.squares, np.inf)
    if target.scores is not None:
        goal = Scores.of(target.scores)
        correlation = (goal.values @ scores.values.T) / np.sqrt(np.outer(goal.squares, total))
        deviance = correct_skewness(
            correlation * np.sqrt(rows - 1.0),
            (scores.skewness, goal.skewness[:, np.newaxis]),
            (scores.kurtosis, goal.kurtosis[:, np.newaxis]),
            rows,
        )
        p = explained_pvalues(deviance, 1, rows)
        return np.asarray(len(p) * p.min(axis=0))
    codes, counts = _merge_rare_classes(target.classes)
    share = counts / n
    skewness, kurtosis = indicator_moments(share)
    correlation = _sums_by_class(scores.values, codes, len(counts)) / np.sqrt(
        n * share * (1.0 - share)
    )
    correlation /= np.sqrt(total)[:, np.newaxis]
    deviance = correct_skewness(
        correlation * np.sqrt(rows - 1.0),
        (scores.skewness[:, np.newaxis], skewness),
        (scores.kurtosis[:, np.newaxis], kurtosis),
        rows,
    )
    between = deviance @ (1.0 - share)
    return explained_pvalues(between, len(counts) - 1, rows)


def _sums_by_class(values: Floats, codes: Indices, n_classes: int) -> Floats:
    """The sums of each row of numbers over the columns of each class; no class is empty."""
    if n_classes <= MAX_INDICATORS:
        return np.asarray(values @ np.eye(n_classes)[codes])
    order = np.argsort(codes, kind="stable")
    first_of_class = np.searchsorted(codes[order], np.arange(n_classes))
    return np.add.reduceat(values[:, order], first_of_class, axis=1)


def _merge_rare_classes(target: ClassTarget) -> tuple[Indices, Indices]:
    """Codes and sizes of classes, all rare ones made one; two classes stay as they are."""
    is_rare = target.counts < MIN_CLASS_ROWS
    if is_rare.sum() < 2 or len(is_rare) - is_rare.sum() < 1:
        return target.codes, target.counts
    new_code = np.cumsum(~is_rare) - 1
    new_code[is_rare] = (~is_rare).sum()
    codes = new_code[target.codes]
    return codes, np.bincount(codes)


def bin_mean_pvalues(codes: Codes, scores: Scores, rows: float) -> Floats:
    """P-values of the means of each row of numbers in the levels of each column; the smallest."""
    first = np.cumsum(codes.levels) - codes.levels
    counts = np.empty(int(codes.levels.sum()))
    sums = np.empty((len(scores.values), len(counts)))
    for j, column in enumerate(codes.values):
        cells = slice(first[j], first[j] + codes.levels[j])
        counts[cells] = np.bincount(column)
        for i, numbers in enumerate(scores.values):
            sums[i, cells] = np.bincount(column, numbers)
    # a constant column has one level with all rows, which explains nothing
    share = np.minimum(counts / codes.n_samples, 1.0 - 0.5 / codes.n_samples)
    skewness, kurtosis = indicator_moments(share)
    error = np.sqrt(codes.n_samples * share * (1.0 - share))
    correlation = sums / (np.sqrt(scores.squares)[:, np.newaxis] * error)
    deviance = correct_skewness(
        correlation * np.sqrt(rows - 1.0),
        (scores.skewness[:, np.newaxis], skewness),
        (scores.kurtosis[:, np.newaxis], kurtosis),
        rows,
    )
    between = np.add.reduceat(deviance * (1.0 - share), first, axis=1)
    p = explained_pvalues(between, codes.levels - 1, rows)
    return np.asarray(len(p) * p.min(axis=0))


def codes_for_pairs(
    table: Table, categorical: Indices, n_rows: int, n_classes: int
) -> Iterator[Codes]:
    """The codes that pairs are counted from: numbers in few bins, and in more if affordable.

    ``n_rows``: the effective number of rows.
    """
    numeric = find_numeric(table, categorical)
    for n_bins in pair_bins(table.n_features, n_rows, n_classes):
        codes = cut_numbers(table, numeric, n_bins, few_values=FEW_VALUES)
        yield merge_rare(codes, n_bins)


def given_pvalues(codes: Codes, target: ClassTarget) -> Floats:
    """P-values of each of few columns given its best partner, times the number of partners."""
    given = Entropies.count(codes, target).measure(CMI)  # I(xj; y | xi) at [i, j]
    degrees = np.outer(codes.levels, codes.levels - 1) * (target.n_classes - 1)
    p = likelihood_pvalues(2 * codes.n_samples * given, degrees)
    np.fill_diagonal(p, 1.0)
    return p.min(axis=0) * max(1, codes.n_features - 1)


class InPairs(NamedTuple):
    """Each column given its best partner."""

    pvalues: Floats
    partners: Indices
    information: Floats  # I(xi; y | partner), in nats


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
    """The smallest p-value of each column given a partner, times the number of codings."""
    results = [_pvalues_of_coding(codes, target, backend) for codes in codings]
    pvalues = np.stack([result.pvalues for result in results])
    best = pvalues.argmin(axis=0)
    columns = np.arange(pvalues.shape[1])
    partners = np.stack([result.partners for result in results])[best, columns]
    information = np.stack([result.information for result in results])[best, columns]
    return InPairs(len(results) * pvalues[best, columns], partners, information)


def _pvalues_of_coding(codes: Codes, target: PreparedTarget, backend: str) -> InPairs:
    """P-values of each column given its best partner, times the number of partners.

    If xi is independent of xj and y, 2 m I(xi; y | xj) = 2 m I(xi; y) + 2 m interaction is
    chi-square. The best partner is sought among the columns of each number of levels.
    """
    entropies = Entropies.count(target.match(codes), target.classes, backend)
    levels, groups = np.unique(codes.levels, return_inverse=True)
    scan = scan_pairs(entropies, groups)
    given = np.maximum(entropies.mi() + scan.best, 0.0)  # of copies it is a rounding error
    degrees = np.outer(levels, codes.levels - 1) * (target.classes.n_classes - 1)
    ratios = 2 * target.effective_rows * given
    p = likelihood_pvalues(ratios / _pair_factors(levels, codes.levels, target), degrees)
    p[(levels < 2)[:, np.newaxis] | (scan.partners < 0)] = np.inf  # constants are no partners
    best = p.argmin(axis=0)
    columns = np.arange(len(groups))
    n_partners = max(1, int((codes.levels > 1).sum()) - 1)
    lowest = np.minimum(1.0, p[best, columns]) * n_partners
    return InPairs(lowest, scan.partners[best, columns], given[best, columns])


def _pair_factors(partner_levels: Indices, levels: Indices, target: PreparedTarget) -> Floats:
    """The mean of likelihood ratios in pairs over their degrees of freedom, at [partner, column].

    For a table of independent margins p and q, from n rows, that is to the first order
    ``1 + (sum 1/p - 1) (sum 1/q - 1) / (6 n degrees)`` (Lawley 1956), here with equal p, of a
    column, and n the rows of a level of its partner.
    """
    share = target.classes.counts / target.classes.counts.sum()
    of_classes = float((1.0 / share).sum() - 1.0) / (len(share) - 1)
    rows = target.effective_rows / partner_levels
    excess = np.outer(of_classes / (6.0 * rows), levels + 1.0)
    return np.minimum(1.0 + excess, MAX_PAIR_FACTOR)


def calibrate(p: Floats, null: Floats, tests: int) -> Floats:
    """P-values from the smaller of some tests, by those of all columns for permuted targets.

    ``p``: the smaller of the p-values of so many tests, for each column; ``null``: the same for
    the permuted targets (rows), for each column. A p-value is the share of those in the null that
    are as small. Below the smallest of the null, it falls in proportion to p, or as slowly as the
    null does where its tail is heavier than that of uniform p-values.
    """
    if not null.size:
        return np.minimum(1.0, tests * p)
    null = np.sort(null, axis=None)
    share = (1 + np.searchsorted(null, p, side="right")) / (1 + len(null))
    tail = np.log(np.maximum(null[:TAIL_SIZE], SMALLEST_PVALUE))
    mean_excess = float((tail[-1] - tail).sum()) / max(1, len(tail) - 1)
    exponent = 1.0 if mean_excess <= MAX_MEAN_EXCESS else 1.0 / mean_excess
    logs = np.log(np.maximum(p, SMALLEST_PVALUE))
    at_smallest = 2 / (1 + len(null))
    beyond = at_smallest * np.exp(exponent * (logs - tail[0]))
    beyond = np.maximum(beyond, np.minimum(1.0, tests * p))
    return np.where(logs < tail[0], np.minimum(beyond, at_smallest), share)


def affordable_permutations(table: Table, n_rows: int, n_classes: int, pairs: bool) -> int:
    """How often y, of so many rows, is permuted by default."""
    n = table.n_features
    rows = n_rows + PAIR_ROWS
    cells = sum((bins - 1) ** 2 for bins in pair_bins(n, n_rows, n_classes))
    work = n * rows * (n * cells if pairs else PAIR_ROWS)
    return min(MAX_PERMUTATIONS, int(MAX_PERMUTED_WORK / work))
