"""P-values of single columns and of columns given their best partner."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import chdtrc

from bestk._typing import Floats, Indices
from bestk.data.codes import Codes
from bestk.data.table import Table, find_numeric
from bestk.data.target import Target, read_target
from bestk.discretize import EqualFrequency
from bestk.information import Entropies, normal_scores
from bestk.information.coding import PAIR_ROWS, cut_numbers, merge_rare, pair_bins
from bestk.information.reading import ParsedTarget
from bestk.information.scan import DiscreteTable, Progress, scan_pairs
from bestk.native.threads import spans

MIN_BINS, MAX_BINS = 3, 10  # of numeric columns, for what a straight line does not show
BLOCK_VALUES = 2**24  # of columns that are tested together
POOLED_TAIL = 20  # permuted values beyond which tails are extrapolated
MAX_PERMUTATIONS = 50
MAX_PERMUTED_WORK = 1e12  # pairs of columns times rows, in all permutations: a second or two


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
        # where most rows have the largest value, the median does not separate any
        classes = read_target(halves, len(numbers)) if halves.any() else target.classes
        scored = normal_scores(numbers[:, np.newaxis])
        return cls(classes, scored.values[0] / scored.one)

    def permuted(self, rng: np.random.RandomState) -> "PreparedTarget":
        """The same values in other rows."""
        order = rng.permutation(len(self.classes.codes))
        classes = Target(self.classes.codes[order], self.classes.classes, self.classes.counts)
        return PreparedTarget(classes, None if self.scores is None else self.scores[order])


def alone_pvalues(
    table: Table, categorical: Indices, targets: Sequence[PreparedTarget]
) -> tuple[Floats, Floats]:
    """P-values of each column by itself for some targets, which are permutations of each other.

    Also I(xi; y) of the first target, in nats.
    """
    numeric, classes = find_numeric(table, categorical), targets[0].classes
    n_bins = int(np.clip(table.n_samples**0.5 / 3, MIN_BINS, MAX_BINS))
    bins = cut_numbers(table, numeric, n_bins)
    relevance = Entropies.count(bins, classes).mi()
    # the mean over all permutations
    mean = relevance - Entropies.count(bins, classes, correction="chance").mi()
    p = np.stack([_binned_pvalues(bins, mean, target) for target in targets])
    for span in spans(len(numeric), max(1, BLOCK_VALUES // table.n_samples)):
        some = numeric[slice(*span)]
        scores = normal_scores(table.keep(some).numeric()[0]).values
        lines = np.stack([_explained(*_line_share(scores, target), target) for target in targets])
        lines[:, ~scores.any(axis=1)] = 1.0
        p[:, some] = 2 * np.minimum(p[:, some], lines)
    return p, relevance


def codes_for_pairs(table: Table, categorical: Indices, n_classes: int) -> Iterator[Codes]:
    """The codes that pairs are counted from: numbers in few bins, and in more if affordable."""
    numeric = find_numeric(table, categorical)
    for n_bins in pair_bins(table.n_features, table.n_samples, n_classes):
        yield merge_rare(cut_numbers(table, numeric, n_bins), n_bins)


def _binned_pvalues(bins: Codes, mean: Floats, target: PreparedTarget) -> Floats:
    """P-values of bins; ``mean`` is that of their relevance over all permutations."""
    if target.scores is not None:
        share = _explained(_bin_share(bins, target.scores), bins.levels - 1, target)
        return np.where(bins.levels > 1, share, 1.0)
    # Bartlett: the mean is exact, so the statistic is scaled to the mean of chi-square
    degrees = (bins.levels - 1) * (target.classes.n_classes - 1)
    relevance = Entropies.count(bins, target.classes).mi()
    ratio = np.divide(relevance, mean, out=np.zeros_like(mean), where=mean > 0)
    return np.where(bins.levels > 1, stats.chi2.sf(ratio * degrees, np.maximum(degrees, 1)), 1.0)


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


class InPairs(NamedTuple):
    """Each column given its best partner."""

    pvalues: Floats
    partners: Indices
    information: Floats  # I(xi; y | partner), in nats

    @classmethod
    def none(cls, n: int) -> "InPairs":
        """Columns without partners."""
        return cls(np.ones(n), np.full(n, -1), np.zeros(n))


def pair_pvalues(
    looks: Sequence[Codes], target: Target, backend: str = "auto", progress: Progress | None = None
) -> InPairs:
    """The smallest p-value of each column given a partner, times the number of looks at pairs."""
    found = []
    for place, codes in enumerate(looks):
        share = share_of(progress, place, len(looks))
        found.append(_look_at_pairs(DiscreteTable.of(codes, target, backend), share))
    pvalues, partners, information = map(np.stack, zip(*found, strict=True))
    best, every = pvalues.argmin(axis=0), np.arange(pvalues.shape[1])
    lowest = len(pvalues) * pvalues[best, every]
    return InPairs(lowest, partners[best, every], information[best, every])


def share_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """The progress of one of several scans."""
    if progress is None:
        return None
    return lambda done, total: progress(part * total + done, parts * total)


def _look_at_pairs(table: DiscreteTable, progress: Progress | None) -> InPairs:
    """P-values of each column given its best partner, times the number of partners.

    If xi is independent of xj and y, 2 m I(xi; y | xj) = 2 m I(xi; y) + 2 m interaction is
    chi-square. The best partner is sought among the columns of each number of levels.
    """
    kinds, groups = np.unique(table.levels, return_inverse=True)
    scan = scan_pairs(table.entropies, groups, progress=progress)
    given = np.maximum(table.entropies.mi() + scan.best, 0.0)  # of copies it is a rounding error
    degrees = np.outer(kinds, table.levels - 1) * (table.n_classes - 1)
    p = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), 2 * table.n_samples * given), 1.0)
    p[(kinds < 2)[:, np.newaxis] | (scan.partners < 0)] = np.inf  # constants are no partners
    best, every = p.argmin(axis=0), np.arange(len(groups))
    lowest = np.minimum(1.0, p[best, every]) * max(1, (table.levels > 1).sum() - 1)
    return InPairs(lowest, scan.partners[best, every], given[best, every])


def calibrate(p: Floats, null: Floats, tests: int) -> Floats:
    """P-values from the smaller of some tests: their share among those of permuted targets."""
    if not len(null):
        return np.minimum(1.0, tests * p)
    null = np.sort(null)
    share = (1 + np.searchsorted(null, p, side="right")) / (1 + len(null))
    edge = min(POOLED_TAIL, len(null)) - 1
    slope = (edge + 2) / (1 + len(null)) / max(null[edge], 1e-300)
    return np.where(p < null[edge], np.minimum(p * max(slope, tests), share), share)


def affordable_permutations(table: Table, n_classes: int, pairs: bool) -> int:
    """How often y is permuted if nobody says."""
    n, rows = table.n_features, table.n_samples + PAIR_ROWS
    cells = sum((bins - 1) ** 2 for bins in pair_bins(n, table.n_samples, n_classes))
    work = n * rows * (n * cells if pairs else PAIR_ROWS)
    return min(MAX_PERMUTATIONS, int(MAX_PERMUTED_WORK / work))
