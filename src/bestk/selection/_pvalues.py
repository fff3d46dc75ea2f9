"""P-values of single columns and of columns given their best partner."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from bestk._typing import Floats, Indices
from bestk.data.codes import Codes, encode
from bestk.data.features import find_numeric
from bestk.data.table import Table
from bestk.data.target import Target, read_target
from bestk.discretize import EqualFrequency
from bestk.information import Entropies, normal_scores
from bestk.information.reading import ParsedTarget, discretise
from bestk.information.scan import best_partners

MIN_BINS, MAX_BINS = 3, 10  # of numeric columns, for what a straight line does not show
MIN_LEVEL_ROWS, MIN_LEVEL_SHARE = 20, 0.05  # of a level in a pair; rarer ones are merged
POOLED_TAIL = 20  # permuted values beyond which tails are extrapolated
GRID = 512  # points of an integral, and of a tail


@dataclass(frozen=True)
class PreparedTable:
    """A table as the tests need it: nothing here depends on the target."""

    scores: Floats  # normal scores of the numeric columns, a row each
    numeric: Indices
    bins: Codes  # all columns, numbers in a few bins
    halves: Codes  # all columns, numbers in two

    @classmethod
    def of(cls, table: Table, categorical: Indices, target: Target) -> "PreparedTable":
        """Bins and scores of every column."""
        numeric = find_numeric(table, categorical)
        scores = np.empty((0, table.n_samples))
        if len(numeric):
            scored = normal_scores(table.keep(numeric).numeric()[0])
            scores = scored.values / scored.one
        n_bins = int(np.clip(table.n_samples**0.5 / 3, MIN_BINS, MAX_BINS))
        bins = _cut(table, numeric, target, n_bins)
        return cls(scores, numeric, bins, cut_in_two(table, numeric, target))


def cut_in_two(table: Table, numeric: Indices, target: Target) -> Codes:
    """All columns as pairs need them: numbers cut at the median, rare levels made one.

    Chi-square needs some rows in every cell.
    """
    codes = _cut(table, numeric, target, 2)
    several = np.flatnonzero(codes.levels > 2)
    if not len(several):
        return codes
    values = codes.values.copy()
    for i in several:
        counts = np.bincount(values[i])
        rare = counts < max(MIN_LEVEL_ROWS, MIN_LEVEL_SHARE * codes.n_samples)
        values[i] = np.where(rare[values[i]], len(counts), values[i])
    return encode(values.T)


def _cut(table: Table, numeric: Indices, target: Target, n_bins: int) -> Codes:
    if len(numeric):
        table = discretise(EqualFrequency(n_bins), table, numeric, target)[0]
    return encode(table)


@dataclass(frozen=True)
class PreparedTarget:
    """A target as the tests need it; rows can be permuted."""

    classes: Target  # two for a continuous target
    scores: Floats | None  # normal scores of a continuous target

    @classmethod
    def of(cls, target: ParsedTarget) -> "PreparedTarget":
        """Classes as they are; numbers also cut at the median."""
        if not target.continuous:
            return cls(target.classes, None)
        numbers = target.numbers
        halves = EqualFrequency(2).fit_transform(numbers[:, np.newaxis])[:, 0]
        scored = normal_scores(numbers[:, np.newaxis])
        return cls(read_target(halves, len(numbers)), scored.values[0] / scored.one)

    def permuted(self, rng: np.random.RandomState) -> "PreparedTarget":
        """The same values in other rows."""
        order = rng.permutation(len(self.classes.codes))
        classes = Target(self.classes.codes[order], self.classes.classes, self.classes.counts)
        return PreparedTarget(classes, None if self.scores is None else self.scores[order])


def mean_relevance(columns: PreparedTable, goal: PreparedTarget) -> Floats:
    """The mean of I(xi; y) over all permutations of y, in nats."""
    plain = Entropies.count(columns.bins, goal.classes)
    return plain.mi() - Entropies.count(columns.bins, goal.classes, correction="chance").mi()


def alone_pvalues(columns: PreparedTable, goal: PreparedTarget, mean: Floats) -> Floats:
    """P-values of each column by itself; ``mean`` is that of its relevance under chance.

    Numbers take the smaller of two p-values, doubled: of a straight line through normal scores,
    and of bins. Categories have the second alone.
    """
    levels = columns.bins.levels
    if goal.scores is None:
        # Bartlett: the mean is exact, so the statistic is scaled to the mean of chi-square
        degrees = (levels - 1) * (goal.classes.n_classes - 1)
        relevance = Entropies.count(columns.bins, goal.classes).mi()
        ratio = np.divide(relevance, mean, out=np.zeros_like(mean), where=mean > 0)
        binned = stats.chi2.sf(ratio * degrees, np.maximum(degrees, 1))
    else:
        binned = _explained(_bin_share(columns.bins, goal.scores), levels - 1, goal)
    p = np.where(levels > 1, binned, 1.0)
    if len(columns.numeric):
        linear = _explained(*_line_share(columns.scores, goal), goal)
        linear[~columns.scores.any(axis=1)] = 1.0
        p[columns.numeric] = np.minimum(1.0, 2 * np.minimum(p[columns.numeric], linear))
    return p


def _explained(share: Floats, degrees: Any, goal: PreparedTarget) -> Floats:
    """P-values of shares of variance that so many parameters explain."""
    rest = len(goal.classes.codes) - 1 - degrees
    return np.asarray(stats.beta.sf(share, np.maximum(degrees, 1) / 2, np.maximum(rest, 1) / 2))


def _line_share(scores: Floats, goal: PreparedTarget) -> tuple[Floats, int]:
    """The share of variance that classes, or a straight line, explain; and their parameters."""
    total = np.maximum(np.einsum("ij,ij->i", scores, scores), np.finfo(float).tiny)
    if goal.scores is not None:
        return (scores @ goal.scores) ** 2 / (total * (goal.scores @ goal.scores)), 1
    member = np.eye(goal.classes.n_classes)[goal.classes.codes]
    between = ((scores @ member) ** 2 / goal.classes.counts).sum(axis=1)
    return between / total, goal.classes.n_classes - 1


def _bin_share(codes: Codes, scores: Floats) -> Floats:
    """The share of the variance of numbers that the levels of each column explain."""
    share = np.empty(codes.n_features)
    for i, row in enumerate(codes.values):
        sums, counts = np.bincount(row, scores), np.bincount(row)
        share[i] = (sums**2 / counts).sum()
    return share / (scores @ scores)


def pair_pvalues(columns: PreparedTable, goal: PreparedTarget) -> tuple[Floats, Indices, Floats]:
    """P-values of each column given its best partner, the partner, and I(xi; y | partner).

    The statistic is the largest 2 m I(xi; y | xj) = 2 m I(xi; y) + 2 m interaction over all j. If
    xi is independent of the others and y, the first part is chi-square, and the second parts are
    independent chi-squares; if columns depend on each other, the largest is smaller.
    """
    codes, n_classes = columns.halves, goal.classes.n_classes
    entropies = Entropies.count(codes, goal.classes)
    relevance, m = entropies.mi(), codes.n_samples
    p, partner = np.ones(codes.n_features), np.full(codes.n_features, -1)
    cmi = np.zeros(codes.n_features)
    kinds = [int(level) for level in np.unique(codes.levels) if level > 1]
    for level in kinds:
        others = np.flatnonzero(codes.levels == level)
        best, found = best_partners(entropies, others)
        for own in kinds:
            rows = np.flatnonzero((codes.levels == own) & (found >= 0))
            alone = (own - 1) * (n_classes - 1)
            given = relevance[rows] + best[rows]
            tests = len(others) - (own == level)
            each = len(kinds) * _largest_sf(2 * m * given, alone, alone * (level - 1), tests)
            better = each < p[rows]
            p[rows[better]], partner[rows[better]] = each[better], found[rows[better]]
            cmi[rows[better]] = given[better]
    return np.minimum(p, 1.0), partner, cmi


def _largest_sf(t: Floats, alone: int, together: int, tests: int) -> Floats:
    """P(s + max of d_j > t): s is chi-square, the d_j are so many others, all independent."""
    grid, logs = _largest_tail(alone, together, tests)
    return np.exp(np.interp(t, grid, logs))


@lru_cache(maxsize=64)
def _largest_tail(alone: int, together: int, tests: int) -> tuple[Floats, Floats]:
    """The logarithm of that probability on a grid that reaches below 1e-100."""
    grid = np.linspace(0.0, np.sqrt(600.0 + 4.0 * (alone + together)), GRID) ** 2
    roots = np.linspace(0.0, 1.0, GRID)
    s = grid[1:, np.newaxis] * roots[1:] ** 2  # s = t u^2 takes the pole of the density at 0
    density = np.zeros((GRID, GRID))
    density[1:, 1:] = stats.chi2.pdf(s, alone) * 2 * grid[1:, np.newaxis] * roots[1:]
    if alone == 1:
        density[1:, 0] = np.sqrt(2 * grid[1:] / np.pi)
    single = np.ones((GRID, GRID))
    single[1:, 1:] = stats.chi2.sf(grid[1:, np.newaxis] - s, together)
    single[1:, 0] = stats.chi2.sf(grid[1:], together)
    any_larger = -np.expm1(tests * np.log1p(-np.minimum(single, 1 - 1e-16)))
    p = np.trapezoid(any_larger * density, roots, axis=1) + stats.chi2.sf(grid, alone)
    return grid, np.minimum.accumulate(np.log(np.clip(p, 1e-300, 1.0)))


def calibrate(p: Floats, null: Floats, tests: int) -> Floats:
    """P-values from the smaller of some tests, by what permuted targets gave.

    Within the permuted values the p-value is their share; beyond, tails keep their shape.
    Without permutations the smallest is multiplied by the number of tests.
    """
    if not len(null):
        return np.minimum(1.0, tests * p)
    null = np.sort(null)
    share = (1 + np.searchsorted(null, p, side="right")) / (1 + len(null))
    edge = min(POOLED_TAIL, len(null)) - 1
    slope = (edge + 2) / (1 + len(null)) / max(null[edge], 1e-300)
    return np.where(p < null[edge], np.minimum(p * max(slope, 1.0), share), share)
