"""Selected columns that tell no more about the target than chance would."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from bestk._typing import Floats, Indices, Mask
from bestk.diagnosis import significance
from bestk.diagnosis.selected import SelectedColumns
from bestk.discretize import MDLP
from bestk.information import Entropies
from bestk.information.block_information import BlockInformation
from bestk.information.coding import cut_numbers
from bestk.information.entropy_reader import EntropyReader
from bestk.information.measures import CMI
from bestk.methods.forward import find_pairs
from bestk.tables.table import Table, find_numeric
from bestk.tables.target import NumericTarget, Target

# Of the columns that are not reported, at most this part is at chance level, on average.
FALSE_DISCOVERY_RATE = 0.1

# A p-value below it needs no better test.
CLEAR_PVALUE = FALSE_DISCOVERY_RATE / 100

# Twice the logarithm of the likelihood ratio that cuts gain, at least, where they were chosen for
# the target. It is subtracted before a column is taken as clearly related to it.
MIN_GAIN_OF_CUTS = 30.0


@dataclass(frozen=True)
class _NumbersOfTests:
    """By how many tests p-values are multiplied."""

    of_columns: Floats
    """For each selected column alone: n / rank of its relevance (Benjamini, Hochberg 1995)."""

    of_all: int
    """For a column given others: the number of all columns."""


def find_at_chance(selected: SelectedColumns, candidates: Sequence[int]) -> list[int]:
    """Candidates without a significant relation to y, alone or given any one selected column."""
    target = selected.target
    if target is None or not candidates:
        return []
    information = selected.information
    has_covariates = len(information.dataset.columns.covariates) > 0
    tests = _count_tests(selected)
    numbers = np.array(candidates, np.int64)
    if isinstance(information.estimates, BlockInformation):
        if not has_covariates:
            # Blocks and counts are two tests of the same column.
            tests = _NumbersOfTests(2 * tests.of_columns, tests.of_all)
        doubtful = _doubtful_by_blocks(selected, information.estimates, numbers, tests)
    else:
        doubtful = numbers[~_are_clear(selected, target, tests)[numbers]]
    if not has_covariates:
        # Counts do not know of covariates.
        doubtful = _doubtful_by_counts(selected, target, numbers, doubtful, tests)
    return _without_groups_of_others(selected, doubtful)


def _count_tests(selected: SelectedColumns) -> _NumbersOfTests:
    """The numbers of tests; columns that were screened out have been tested, too."""
    information = selected.information
    relevance = np.sort(information.estimates.mi())
    rank = len(relevance) - np.searchsorted(relevance, selected.relevance)
    n_screened = 0
    if information.relevance_of_screened is not None:
        n_screened = len(information.constant)
    n_tests = len(relevance) + n_screened
    return _NumbersOfTests(n_tests / np.maximum(1, rank), n_tests)


def _without_groups_of_others(selected: SelectedColumns, doubtful: Indices) -> list[int]:
    """The doubtful columns, less those of groups with others, which are selected as a whole."""
    groups = selected.information.dataset.columns.groups
    if len(doubtful) and groups is not None:
        group_of_column = groups[selected.places]
        groups_of_others = np.delete(group_of_column, doubtful)
        has_others = np.isin(group_of_column[doubtful], groups_of_others)
        doubtful = doubtful[~has_others]
    return doubtful.tolist()


def _doubtful_by_blocks(
    selected: SelectedColumns,
    estimates: BlockInformation,
    candidates: Indices,
    tests: _NumbersOfTests,
) -> Indices:
    """Candidates whose blocks have no significant relation to y, alone or given one other.

    Those are the blocks by which they were selected: scores, curves, bins and levels. With
    covariates, all of it is given these.
    """
    items = selected.items
    alone = estimates.among(items).pvalues()[candidates] * tests.of_columns[candidates]
    doubtful = candidates[alone >= FALSE_DISCOVERY_RATE]
    if len(doubtful) and len(candidates) > 1:
        n_partners = len(candidates) - 1
        given_best = estimates.pvalues_given(items[candidates]).min(axis=0) * n_partners
        given = given_best[np.searchsorted(candidates, doubtful)] * tests.of_all
        doubtful = doubtful[given >= FALSE_DISCOVERY_RATE]
    if len(doubtful) and len(selected.information.dataset.columns.covariates):
        # Without covariates, pairs are tested by counts.
        has_pair = np.isin(items[doubtful], _paired_features(estimates, items))
        doubtful = doubtful[~has_pair]
    return doubtful


def _paired_features(estimates: BlockInformation, features: Indices) -> Indices:
    """Which of some features have synergy with another one of them."""
    pairs = find_pairs(estimates).pairs
    first = np.array([pair.first for pair in pairs], np.int64)
    second = np.array([pair.second for pair in pairs], np.int64)
    has_both = np.isin(first, features) & np.isin(second, features)
    return np.union1d(first[has_both], second[has_both])


def _doubtful_by_counts(
    selected: SelectedColumns,
    target: Target,
    candidates: Indices,
    doubtful: Indices,
    tests: _NumbersOfTests,
) -> Indices:
    """Those of the doubtful candidates that show no relation to y by trends and counts in bins."""
    if len(doubtful):
        alone = _alone_pvalues(*selected.keep(doubtful), target) * tests.of_columns[doubtful]
        doubtful = doubtful[alone >= FALSE_DISCOVERY_RATE]
    if len(doubtful) and len(candidates) > 1:
        given_best = _given_pvalues(*selected.keep(candidates), target)
        given = given_best[np.searchsorted(candidates, doubtful)] * tests.of_all
        doubtful = doubtful[given >= FALSE_DISCOVERY_RATE]
    return doubtful


def _alone_pvalues(table: Table, categorical: Indices, target: Target) -> Floats:
    """P-values of columns by themselves; with weights by the effective number of rows."""
    if target.weights is None:
        prepared = significance.PreparedTarget.of(target)
        pvalues, _, _ = significance.alone_pvalues(table, categorical, [prepared])
        return pvalues[0]
    classes = target.classes
    numeric = find_numeric(table, categorical)
    n_bins = significance.bins_for_rows(target.n_rows)
    bins = cut_numbers(table, numeric, n_bins)
    degrees = (bins.levels - 1) * (classes.n_classes - 1)
    ratios = 2 * target.n_rows * Entropies.count(bins, classes).mi()
    p = _likelihood_pvalues(ratios, degrees)
    if len(numeric):
        gaussian = EntropyReader("gaussian").measure(table.keep(numeric), target).entropies
        parameters = classes.n_classes - 1
        if isinstance(target, NumericTarget):
            parameters = 1
        degrees_of_lines = np.full(len(numeric), parameters)
        ratios_of_lines = 2 * target.n_rows * gaussian.mi()
        of_lines = _likelihood_pvalues(ratios_of_lines, degrees_of_lines)
        p[numeric] = 2 * np.minimum(p[numeric], of_lines)
    return np.asarray(p)


def _given_pvalues(table: Table, categorical: Indices, target: Target) -> Floats:
    """P-values of columns given their best partner; with weights by the effective rows."""
    classes = target.classes
    if target.weights is None:
        classes = significance.PreparedTarget.of(target).classes
    codings = significance.codes_for_pairs(table, categorical, target.n_rows, classes.n_classes)
    codes = next(codings)
    if target.weights is None:
        return significance.given_pvalues(codes, classes)
    # I(xj; y | xi) stands at [i, j].
    given = Entropies.count(codes, classes).measure(CMI)
    degrees = np.outer(codes.levels, codes.levels - 1) * (classes.n_classes - 1)
    p = _likelihood_pvalues(2 * target.n_rows * given, degrees)
    # No column is its own partner.
    np.fill_diagonal(p, 1.0)
    n_partners = max(1, codes.n_features - 1)
    return np.asarray(p.min(axis=0) * n_partners)


def _likelihood_pvalues(ratios: Floats, degrees: Indices) -> Floats:
    """The tails of chi-square; 1 without degrees of freedom, which constant columns have."""
    return np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), ratios), 1.0)


def _are_clear(selected: SelectedColumns, target: Target, tests: _NumbersOfTests) -> Mask:
    """Whether likelihood ratios, alone or given one other, show that a column is related to y."""
    n = len(selected.places)
    n_rows = target.n_rows
    levels, gain_of_cuts = _levels_and_gains(selected, n_rows)
    degrees = np.maximum(1, levels - 1) * (target.classes.n_classes - 1)
    degrees_in_pairs = np.outer(levels, degrees)
    best_partner = (2 * n_rows * selected.pairs - degrees_in_pairs).argmax(axis=0)
    with_best = (best_partner, np.arange(n))

    def are_large(information: Floats, degrees: Indices, n_tests: int | Floats) -> Mask:
        """Whether the information of each column, in nats, is clearly above that of chance."""
        # What chance gives on average is subtracted, as if the estimate were not corrected for it.
        ratios = np.maximum(0.0, 2 * n_rows * information - degrees - gain_of_cuts)
        pvalues = chdtrc(degrees, ratios) * n_tests
        return np.asarray(pvalues < CLEAR_PVALUE)

    alone = are_large(selected.relevance, degrees, tests.of_columns)
    n_pairs = n * tests.of_all
    in_pairs = are_large(selected.pairs[with_best], degrees_in_pairs[with_best], n_pairs)
    return alone | in_pairs


def _levels_and_gains(selected: SelectedColumns, n_rows: int) -> tuple[Indices, Floats]:
    """The levels of each selected column, and what cuts that were chosen for y may have gained."""
    information = selected.information
    n = len(selected.places)
    if information.levels is None:
        # A line has two parameters, as two levels have.
        return np.full(n, 2), np.full(n, MIN_GAIN_OF_CUTS)
    items = selected.items
    levels = information.levels[items]
    was_cut = np.zeros(n, bool)
    if information.numeric is not None:
        was_cut = np.isin(items, information.numeric)
    # A cut is the best of as many places as there are rows; few cuts of noise pass MDLP.
    gain_of_cut = 2 * np.log(n_rows)
    if type(information.discretizer) is MDLP:
        gain_of_cut = 0.0
    gains = np.maximum(MIN_GAIN_OF_CUTS, (levels - 1) * gain_of_cut)
    return levels, np.where(was_cut, gains, 0.0)
