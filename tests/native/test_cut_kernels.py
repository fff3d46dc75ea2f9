"""Cuts of columns against the same steps in numpy, and the order that they rest on."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import xlogy

from bestk.discretize._base import (
    BY_ENTROPY,
    BY_FREQUENCY,
    BY_MAJORITY,
    Classes,
    CutMethod,
    cut_by_kernel,
)

rng = np.random.default_rng(0)
TIE = 1e-12
COLUMNS = {
    "bytes": rng.integers(0, 256, 500).astype(float),
    "few whole numbers": rng.integers(-3, 4, 300).astype(float),
    "far whole numbers": rng.integers(-(10**9), 10**9, 500).astype(float),
    "shifted whole numbers": rng.integers(0, 50, 500) + 1e12,
    "whole numbers beyond 2**53": rng.integers(0, 50, 500) * 16 + 1e17,
    "normal, small": rng.normal(size=60),
    "normal, large": rng.normal(size=9000),
    "few values": rng.choice([-1.5, -0.0, 0.0, 2.25, np.nan], 9000),
    "heavy tails": rng.standard_cauchy(3000) ** 3,
    "one far out": np.append(1 + 1e-13 * rng.normal(size=900), -1e300),
    "nearly equal": 1 + 1e-15 * rng.integers(0, 40, 900),
    "every magnitude": rng.normal(size=5000) * 10.0 ** rng.integers(-300, 300, 5000),
    "beyond division": rng.normal(size=300) * 1e307,
    "below division": rng.normal(size=300) * 1e-310,
    "extremes": np.array([np.finfo(float).max, -np.finfo(float).max, 5e-324, -5e-324, 0.0, np.nan]),
    "some missing": np.where(rng.random(700) < 0.3, np.nan, rng.normal(size=700)),
    "one": np.array([3.3]),
    "none": np.array([np.nan, np.nan]),
}


def cut(columns, y, *ways, n_coded=0):
    """The cuts of some columns in each of some ways."""
    classes = Classes.of(y, int(y.max()) + 1)
    methods = [CutMethod(*way) for way in ways]
    return cut_by_kernel(np.transpose(columns), classes, methods, n_coded)


def tally(column, y, n_classes):
    """Distinct values, and the counts (value, class)."""
    seen = ~np.isnan(column)
    values, place = np.unique(column[seen] + 0.0, return_inverse=True)
    counts = np.zeros((len(values), n_classes), int)
    np.add.at(counts, (place, y[seen]), 1)
    return values, counts


def midpoints(values, places):
    low, high = values[np.array(places, int) - 1], values[places]
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)


def first_largest(scores, tie):
    return int(np.flatnonzero(scores >= max(scores) - tie)[0])


def entropy_terms(counts):
    """N log N less the sum over classes, and the number of classes, of the whole."""
    return xlogy(counts.sum(), counts.sum()) - xlogy(counts, counts).sum(), (counts > 0).sum()


def entropy_cut(counts, tie):
    """The best cut of an interval and what it saves; None where it is not worth its bits."""
    total, best = counts.sum(axis=0), []
    for v in range(1, len(counts)):
        a, b = counts[v - 1] > 0, counts[v] > 0
        pure = a.sum() == b.sum() == 1 and (a == b).all()
        halves = counts[:v].sum(axis=0), counts[v:].sum(axis=0)
        best.append(-np.inf if pure else -sum(entropy_terms(half)[0] for half in halves))
    if not best or max(best) == -np.inf:
        return None
    at = first_largest(np.array(best), tie) + 1
    parts = total, counts[:at].sum(axis=0), counts[at:].sum(axis=0)
    (whole, k), *halves = map(entropy_terms, parts)
    delta = np.log(3.0**k - 2) - k * whole / total.sum()
    delta += sum(
        n * entropy / part.sum() for (entropy, n), part in zip(halves, parts[1:], strict=True)
    )
    saved = whole + best[at - 1]
    return (at, saved) if saved > np.log(total.sum() - 1.0) + delta + tie else None


def numpy_mdlp(column, y, n_classes, max_bins):
    values, counts = tally(column, y, n_classes)
    tie, edges = TIE * xlogy(counts.sum(), counts.sum()), [0, len(values)]
    while len(edges) - 1 < max_bins and len(values):
        found = [entropy_cut(counts[a:b], tie) for a, b in pairwise(edges)]
        gains = np.array([-np.inf if cut is None else cut[1] for cut in found])
        if gains.max() == -np.inf:
            break
        i = first_largest(gains, tie)
        edges.insert(i + 1, edges[i] + found[i][0])
    return midpoints(values, edges[1:-1])


def majority(counts):
    total = counts.sum(axis=0)
    return total.max() ** 2 / total.sum()


def numpy_caim(column, y, n_classes, max_bins):
    values, counts = tally(column, y, n_classes)
    if len(values) == 0:
        return np.empty(0)
    tie, edges, accepted = TIE * counts.sum(), [0, len(values)], 0.0
    while len(edges) - 1 < min(max_bins, len(values)):
        gains, cuts = [], []
        for a, b in pairwise(edges):
            scores = [majority(counts[a:v]) + majority(counts[v:b]) for v in range(a + 1, b)]
            at = first_largest(np.array(scores), tie) if scores else 0
            cuts.append(a + 1 + at)
            gains.append(scores[at] - majority(counts[a:b]) if scores else -np.inf)
        i, n_bins = first_largest(np.array(gains), tie), len(edges) - 1
        total = sum(majority(counts[a:b]) for a, b in pairwise(edges))
        caim = (total + gains[i]) / (n_bins + 1)
        if n_bins >= n_classes and caim <= accepted + tie / (n_bins + 1):
            break
        accepted = caim
        edges.insert(i + 1, cuts[i])
    return midpoints(values, edges[1:-1])


def numpy_frequency(column, n_bins):
    values = np.sort(column[~np.isnan(column)])
    n = len(values)
    if n == 0:
        return np.empty(0)
    ranks = -(-np.arange(1, n_bins) * n // n_bins)
    after = np.unique(np.searchsorted(values, values[np.unique(ranks) - 1], side="right"))
    return midpoints(values, after[after < n])


def classes_for(column, n_classes):
    """Classes that ascend with the rows, and the column with values that tell of them."""
    y = np.sort(rng.integers(0, n_classes, len(column))).astype(np.int32)
    return column[np.argsort(column + 0.3 * np.nanstd(column) * rng.normal(size=len(y)))], y


# sums of squares and of logarithms of whole numbers: equal scores are within the tie
SHORT = [name for name in COLUMNS if len(COLUMNS[name]) <= 1000]


@pytest.mark.filterwarnings("ignore:(overflow|invalid):RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Degrees of freedom:RuntimeWarning")
@pytest.mark.parametrize("max_bins", [2, 4, 10**6])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("name", SHORT)
def test_mdlp_and_caim_take_the_steps_of_their_twins(name, n_classes, max_bins):
    column, y = classes_for(COLUMNS[name], n_classes)
    ways = (BY_ENTROPY, max_bins), (BY_MAJORITY, max_bins)
    by_entropy, by_majority = cut([column], y, *ways)
    np.testing.assert_array_equal(by_entropy.values, numpy_mdlp(column, y, n_classes, max_bins))
    if max_bins <= 4 or len(np.unique(column)) <= 60:
        twin = numpy_caim(column, y, int(y.max()) + 1, max_bins)
        np.testing.assert_array_equal(by_majority.values, twin)


@pytest.mark.parametrize("n_bins", [2, 3, 10, 10**4])
@pytest.mark.parametrize("name", COLUMNS)
def test_bins_of_equal_frequency_are_cut_after_the_quantiles(name, n_bins):
    column = COLUMNS[name]
    y = np.zeros(len(column), np.int64)
    (found,) = cut([column, column[::-1]], y, (BY_FREQUENCY, n_bins))
    for cuts in found.split():
        np.testing.assert_array_equal(cuts, numpy_frequency(column, n_bins))


@pytest.mark.filterwarnings("ignore:(overflow|invalid):RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Degrees of freedom:RuntimeWarning")
@pytest.mark.parametrize("name", COLUMNS)
def test_codes_count_the_cuts_below_and_several_ways_give_what_each_gives_alone(name):
    column, y = classes_for(COLUMNS[name], 3)
    order = rng.permutation(len(y))
    column, y = column[order], y[order]
    ways = (BY_ENTROPY, 9), (BY_FREQUENCY, 100), (BY_MAJORITY, 4), (BY_FREQUENCY, 2)
    for way, found in zip(ways, cut([column, column], y, *ways, n_coded=3), strict=True):
        alone = cut([column], y, way)[0].values
        by_class = column[np.argsort(y, kind="stable")]
        codes = np.searchsorted(alone, by_class)
        codes[np.isnan(by_class)] = len(alone) + 1
        assert found.gaps.all() == np.isnan(column).any()
        for j, cuts in enumerate(found.split()):
            np.testing.assert_array_equal(cuts, alone)
            if found.codes is not None:
                np.testing.assert_array_equal(found.codes[j], codes)


def test_columns_of_infinite_numbers_are_named_by_a_count_of_minus_one():
    columns = [[0.0, 1.0, 2.0], [0.0, np.inf, 1.0], [-np.inf, np.nan, 1.0]]
    (found,) = cut(columns, np.array([0, 1, 1]), (BY_FREQUENCY, 3))
    assert found.counts.tolist() == [2, -1, -1]


@pytest.mark.parametrize("low", [-1.7e308, -1.0, -5e-324, 0.0, 5e-324, 0.1, 1.7e308])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_cut_is_not_below_the_lower_and_is_below_the_upper_value(low, step):
    high = low
    for _ in range(step):
        high = np.nextafter(high, np.inf)
    for upper in (high, 1.75e308):
        (found,) = cut([[upper, low]], np.zeros(2, np.int64), (BY_FREQUENCY, 2))
        (middle,) = found.values
        assert low <= middle < upper
