"""Columns of a table: identifiers, leaks, and tests of their relation to the target."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincc, chdtrc

from bestk._typing import Array, Floats, Indices, Mask
from bestk.data.codes import Codes
from bestk.data.table import Block, Table, find_numeric
from bestk.data.target import TARGET_BINS, ParsedTarget, Target, cut_target, read_target
from bestk.information import Entropies, normal_scores
from bestk.information.measures import CMI
from bestk.information.reading import PAIR_ROWS, cut_numbers, merge_rare, pair_bins
from bestk.information.scan import scan_pairs
from bestk.native.threads import spans
from bestk.selection.folds import move_outliers

MOSTLY = 0.5  # fraction of the rows: different texts, or missing values
FIRST_VALUES = 32  # most columns that are no identifiers show it here
MIN_ROWS = 10  # of a table in which an identifier can be recognized
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
MIN_BINS, MAX_BINS = 3, 10  # of numeric columns, for what a straight line does not show
BLOCK_VALUES = 2**24  # of columns that are tested together
LEVEL_OF_MEANS = 0.8  # fraction of the level of bins for the means of numbers, not their classes
POOLED_TAIL = 20  # permuted values beyond which tails are extrapolated
MAX_PERMUTATIONS = 50
TINY = np.finfo(float).tiny
MAX_PERMUTED_WORK = 1e12  # pairs of columns times rows, in all permutations: a second or two


class Values(NamedTuple):
    """One column of a table."""

    block: Block
    values: Array  # numbers, booleans, or codes of the categories
    categories: list[Any] | None

    @property
    def missing(self) -> Mask:
        """Which values are missing."""
        return self.block.missing(self.values)


def column_values(table: Table, place: int) -> Values:
    """The values of one column, which are copied only if they are sparse."""
    for block in table.blocks:
        j = int(block.columns.searchsorted(place))
        if j < len(block.columns) and block.columns[j] == place:
            break
    strip = block.values[:, j : j + 1]
    values = (strip.toarray() if hasattr(strip, "toarray") else strip)[:, 0]
    return Values(block, values, None if block.categories is None else block.categories[j])


def names_rows(name: str, column: Values) -> bool:
    """Whether a column is an identifier: text that differs in most rows, or integers in all."""
    rows = len(column.values)
    kind = column.block.kind
    if rows < MIN_ROWS or kind == "boolean":
        return False
    if column.categories is not None:
        most = MOSTLY * rows
        known = column.values[~column.missing] if len(column.categories) > most else ()
        return len(np.unique(known)) > most
    first = column.values[:FIRST_VALUES]
    if kind != "numeric" or len(set(first.tolist())) < len(first) or _has_fractions(first):
        return False
    if column.missing.any() or _has_fractions(column.values):
        return False
    spread = np.ptp(column.values)
    if spread < rows - 1 or len(np.unique(column.values)) < rows:
        return False
    steps = np.diff(np.asarray(column.values, np.float64))
    # integers may be quantities, unless they are sorted, without large gaps, or named so
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return in_order or spread < 2 * rows or IDENTIFIER.search(name) is not None


def _has_fractions(values: Array) -> bool:
    return values.dtype.kind == "f" and bool((values != np.floor(values)).any())


def line_shares(table: Table, y: Floats) -> Floats:
    """The share of the variance of y, or of its ranks, that a line in each number explains."""
    both, shares = np.vstack([*table.numeric()[0].T, y]), []
    for values in (both, normal_scores(both.T)):
        near = move_outliers(standardized(values, np.isnan(values)).T, np.arange(len(y)))
        lines = standardized(near.T)
        shares.append((lines[:-1] @ lines[-1]) ** 2)
    return np.maximum(*shares)


def standardized(values: Floats, missing: Any = False) -> Floats:
    """The rows of a matrix, of mean 0 and length 1; 0 where they are missing or constant."""
    known = ~np.broadcast_to(missing, values.shape)
    values = np.where(known, values, 0.0)
    values /= np.maximum(np.abs(values).max(axis=1, keepdims=True), TINY)  # no overflow
    values -= values.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1), 1)[:, np.newaxis]
    values *= known
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), TINY)


@dataclass(frozen=True)
class PreparedTarget:
    """A target as the tests need it; rows can be permuted."""

    classes: Target  # for pairs; two for a continuous target
    fine: Target  # for single columns; up to five for a continuous target
    scores: Floats | None  # normal scores of numbers; and of those that are not frequent

    @classmethod
    def of(cls, target: ParsedTarget) -> "PreparedTarget":
        """Classes as they are; numbers also cut at the median."""
        if not target.continuous:
            return cls(target.classes, target.classes, None)
        numbers = target.numbers
        halves = cut_target(numbers, 2)
        # where most rows have the largest value, the median does not separate any
        classes = read_target(halves, len(numbers)) if halves.any() else target.classes
        known, counts = np.unique(numbers, return_counts=True)
        often = known[counts > len(numbers) / TARGET_BINS]  # ranks show little else
        rest = np.where(np.isin(numbers, often), np.nan, numbers)
        scores = normal_scores(np.column_stack([numbers, rest] if len(often) else [numbers]))
        return cls(classes, target.classes, scores[scores.any(axis=1)])

    def permuted(self, rng: np.random.RandomState) -> "PreparedTarget":
        """The same values in other rows."""
        order = rng.permutation(len(self.classes.codes))
        classes, fine = (replace(t, codes=t.codes[order]) for t in (self.classes, self.fine))
        return PreparedTarget(classes, fine, None if self.scores is None else self.scores[:, order])


def alone_pvalues(
    table: Table, categorical: Indices, targets: Sequence[PreparedTarget]
) -> tuple[Floats, Floats]:
    """P-values of each column by itself for permutations of a target; I(xi; y) of the first."""
    numeric, classes = find_numeric(table, categorical), targets[0].fine
    n_bins = int(np.clip(table.n_samples**0.5 / 3, MIN_BINS, MAX_BINS))
    bins = cut_numbers(table, numeric, n_bins)
    entropies = Entropies.count(bins, classes)
    source: Any = entropies.source
    relevance, by_chance = entropies.mi(), source.mi_by_chance()
    p = np.stack([
        _binned_pvalues(bins, by_chance, target, None if number else relevance)
        for number, target in enumerate(targets)
    ])  # fmt: skip
    for span in spans(len(numeric), max(1, BLOCK_VALUES // table.n_samples)):
        some = numeric[slice(*span)]
        scores = normal_scores(table.keep(some).numeric()[0])
        lines = np.stack([_explained(*_line_share(scores, target), target) for target in targets])
        lines[:, ~scores.any(axis=1)] = 1.0
        p[:, some] = 2 * np.minimum(p[:, some], lines)
    return p, relevance


def codes_for_pairs(table: Table, categorical: Indices, n_classes: int) -> Iterator[Codes]:
    """The codes that pairs are counted from: numbers in few bins, and in more if affordable."""
    numeric = find_numeric(table, categorical)
    for n_bins in pair_bins(table.n_features, table.n_samples, n_classes):
        yield merge_rare(cut_numbers(table, numeric, n_bins), n_bins)


def _binned_pvalues(
    bins: Codes, mean: Floats, target: PreparedTarget, relevance: Floats | None
) -> Floats:
    """P-values of bins; ``mean`` is that of their relevance, if known, over all permutations."""
    # Bartlett: the mean is exact, so the statistic is scaled to the mean of chi-square
    degrees = (bins.levels - 1) * (target.fine.n_classes - 1)
    relevance = Entropies.count(bins, target.fine).mi() if relevance is None else relevance
    ratio = np.divide(relevance, mean, out=np.zeros_like(mean), where=mean > 0)
    p = likelihood_pvalues(ratio * degrees, degrees)
    if target.scores is None:
        return p
    share = _explained(_bin_share(bins, target.scores), bins.levels - 1, target)
    p = np.minimum(p / (1 - LEVEL_OF_MEANS), share / LEVEL_OF_MEANS)
    return np.where(bins.levels > 1, p, 1.0)


def likelihood_pvalues(ratios: Floats, degrees: Indices) -> Floats:
    """The tails of chi-square; 1 without degrees of freedom, which constant columns have."""
    return np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), ratios), 1.0)


def given_pvalues(codes: Codes, target: Target) -> Floats:
    """P-values of each of few columns given its best partner, times the number of partners."""
    given = Entropies.count(codes, target).measure(CMI)  # I(xj; y | xi) at [i, j]
    degrees = np.outer(codes.levels, codes.levels - 1) * (target.n_classes - 1)
    p = likelihood_pvalues(2 * codes.n_samples * given, degrees)
    np.fill_diagonal(p, 1.0)
    return p.min(axis=0) * max(1, codes.n_features - 1)


def _explained(share: Floats, degrees: Any, goal: PreparedTarget) -> Floats:
    """P-values of shares of variance that so many parameters explain; the smallest of rows."""
    rest = len(goal.classes.codes) - 1 - degrees
    p = betaincc(np.maximum(degrees, 1) / 2, np.maximum(rest, 1) / 2, share)
    return np.asarray(len(p) * p.min(axis=0))


def _line_share(scores: Floats, goal: PreparedTarget) -> tuple[Floats, int]:
    """The share of variance that classes, or a straight line, explain; and their parameters."""
    total = np.maximum(np.einsum("ij,ij->i", scores, scores), np.finfo(float).tiny)
    if goal.scores is not None:
        return (goal.scores @ scores.T) ** 2 / np.outer((goal.scores**2).sum(axis=1), total), 1
    member = np.eye(goal.classes.n_classes)[goal.classes.codes]
    between = ((scores @ member) ** 2 / goal.classes.counts).sum(axis=1)
    return (between / total)[np.newaxis], goal.classes.n_classes - 1


def _bin_share(codes: Codes, scores: Floats) -> Floats:
    """The share of the variance of each row of numbers that the levels of each column explain."""
    share = np.empty((len(scores), codes.n_features))
    for i, row in enumerate(codes.values):
        counts = np.bincount(row)
        share[:, i] = [(np.bincount(row, each) ** 2 / counts).sum() for each in scores]
    return share / (scores**2).sum(axis=1, keepdims=True)


class InPairs(NamedTuple):
    """Each column given its best partner."""

    pvalues: Floats
    partners: Indices
    information: Floats  # I(xi; y | partner), in nats


def pair_pvalues(looks: Sequence[Codes], target: Target, backend: str = "auto") -> InPairs:
    """The smallest p-value of each column given a partner, times the number of looks at pairs."""
    found = [_look_at_pairs(codes, target, backend) for codes in looks]
    pvalues, partners, information = map(np.stack, zip(*found, strict=True))
    best, every = pvalues.argmin(axis=0), np.arange(pvalues.shape[1])
    lowest = len(pvalues) * pvalues[best, every]
    return InPairs(lowest, partners[best, every], information[best, every])


def _look_at_pairs(codes: Codes, target: Target, backend: str) -> InPairs:
    """P-values of each column given its best partner, times the number of partners.

    If xi is independent of xj and y, 2 m I(xi; y | xj) = 2 m I(xi; y) + 2 m interaction is
    chi-square. The best partner is sought among the columns of each number of levels.
    """
    entropies = Entropies.count(codes, target, backend)
    kinds, groups = np.unique(codes.levels, return_inverse=True)
    scan = scan_pairs(entropies, groups)
    given = np.maximum(entropies.mi() + scan.best, 0.0)  # of copies it is a rounding error
    degrees = np.outer(kinds, codes.levels - 1) * (target.n_classes - 1)
    p = likelihood_pvalues(2 * codes.n_samples * given, degrees)
    p[(kinds < 2)[:, np.newaxis] | (scan.partners < 0)] = np.inf  # constants are no partners
    best, every = p.argmin(axis=0), np.arange(len(groups))
    lowest = np.minimum(1.0, p[best, every]) * max(1, (codes.levels > 1).sum() - 1)
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
    """How often y is permuted by default."""
    n, rows = table.n_features, table.n_samples + PAIR_ROWS
    cells = sum((bins - 1) ** 2 for bins in pair_bins(n, table.n_samples, n_classes))
    work = n * rows * (n * cells if pairs else PAIR_ROWS)
    return min(MAX_PERMUTATIONS, int(MAX_PERMUTED_WORK / work))
