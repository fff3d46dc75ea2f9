"""CAIM against the published algorithm, transcribed without any cleverness."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.discretize import CAIM


def worth(counts):
    """max_c(q)^2 / M of one interval, exactly."""
    return Fraction(int(max(counts)) ** 2, int(sum(counts)))


def counts_between(table, edges):
    return [table[a:b].sum(axis=0) for a, b in pairwise(edges)]


def published_caim(x, y):
    """Steps 1 and 2 of Kurgan and Cios (2004), in exact arithmetic."""
    values, place = np.unique(x, return_inverse=True)
    classes, label = np.unique(y, return_inverse=True)
    table = np.zeros((len(values), len(classes)), int)
    np.add.at(table, (place, label), 1)
    scheme, global_caim, k = [0, len(values)], Fraction(0), 1
    while len(scheme) <= len(values):
        candidates = [b for b in range(1, len(values)) if b not in scheme]
        schemes = [sorted([*scheme, b]) for b in candidates]
        caims = [sum(map(worth, counts_between(table, s))) / (k + 1) for s in schemes]
        best = int(np.argmax(caims))
        if not (caims[best] > global_caim or k < len(classes)):
            break
        scheme, global_caim, k = schemes[best], caims[best], k + 1
    return [(values[b - 1] + values[b]) / 2 for b in scheme[1:-1]]


def terms(counts):
    return counts.max(axis=1) ** 2 / counts.sum(axis=1)


def gains(table, a, b):
    """What each cut inside the interval a:b adds to the sum of terms, in floats."""
    below = table[a:b].cumsum(axis=0)
    above = below[-1] - below
    return terms(below[:-1]) + terms(above[:-1]) - terms(below[-1:])


def exact_gain(table, a, b, at):
    parts = table[a:at].sum(axis=0), table[at:b].sum(axis=0)
    return sum(map(worth, parts)) - worth(table[a:b].sum(axis=0))


def published_caim_for_big_tables(x, y):
    """The same, with floats to find the candidates near the best and fractions to choose."""
    values, place = np.unique(np.asarray(x, float), return_inverse=True)
    classes, label = np.unique(y, return_inverse=True)
    table = np.zeros((len(values), len(classes)))
    np.add.at(table, (place, label), 1)
    scheme = [0, len(values)]
    total, global_caim, k = worth(table.sum(axis=0)), Fraction(0), 1
    while len(scheme) <= len(values):
        score = np.full(len(values), -np.inf)
        for a, b in pairwise(scheme):
            if b - a > 1:
                score[a + 1 : b] = gains(table, a, b)
        near = np.flatnonzero(score >= score.max() - 1e-6)
        edge = np.array(scheme)
        homes = [(edge[edge < at].max(), edge[edge > at].min()) for at in near]
        exact = [exact_gain(table, a, b, at) for (a, b), at in zip(homes, near, strict=True)]
        best = exact.index(max(exact))
        caim = (total + exact[best]) / (k + 1)
        if not (caim > global_caim or k < len(classes)):
            break
        scheme = sorted([*scheme, int(near[best])])
        total, global_caim, k = total + exact[best], caim, k + 1
    return [(values[b - 1] + values[b]) / 2 for b in scheme[1:-1]]


def cuts(x, y, **settings):
    return CAIM(**settings).fit(np.reshape(x, (-1, 1)), y).cut_points_[0]


def test_two_pure_halves_are_cut_in_the_middle():
    np.testing.assert_array_equal(cuts([1.0, 2.0, 3.0, 6.0, 7.0, 8.0], [0, 0, 0, 1, 1, 1]), [4.5])


def test_a_case_worked_by_hand():
    # values 1 2 3 4, classes 0 1 1 0. One cut: after 1: (1 + 4/3) / 2 = 7/6; after 2: (1/2 + 1/2)
    # / 2; after 3: 7/6 again, so the lower. A second cut after 3: (1 + 2 + 1) / 3 = 4/3 > 7/6.
    # A third: (1 + 1 + 1 + 1) / 4 < 4/3, so it ends.
    np.testing.assert_array_equal(cuts([1, 2, 3, 4], [0, 1, 1, 0]), [1.5, 3.5])


def test_of_equally_good_cuts_the_lowest_is_taken():
    np.testing.assert_array_equal(cuts([1, 2, 3], [0, 1, 0], max_bins=2), [1.5])


def test_the_lowest_of_equal_cuts_wins_though_floats_disagree():
    # mirror images: each cut is worth exactly what its mirror is, to the last fraction
    half = [0, 1, 2, 0, 0, 1, 2, 2, 1, 0, 1]
    y = half + half[::-1]
    expected = published_caim(np.arange(len(y)), y)
    np.testing.assert_array_equal(cuts(np.arange(len(y)), y), expected)


def test_a_cut_is_compared_with_the_last_accepted_one_though_caim_was_higher_before():
    # classes 0 2 1 2: CAIM is 7/6 with one cut, 5/6 with the two that three classes ask for, and
    # 1 with three: more than 5/6, so the third is made too
    np.testing.assert_array_equal(cuts([0, 1, 2, 3], [0, 2, 1, 2]), [0.5, 1.5, 2.5])


def test_there_are_as_many_intervals_as_classes_even_where_caim_falls():
    # one cut: (9/3 + 4/3) / 2 = 13/6; two: (3 + 2 + 1) / 3 = 2, and made all the same
    np.testing.assert_array_equal(cuts([1, 1, 1, 2, 2, 3], [0, 0, 0, 1, 1, 2]), [1.5, 2.5])
    assert len(cuts([1, 2, 3, 4, 5, 6, 1, 2], [0, 0, 0, 0, 0, 0, 1, 2])) == 2


def test_classes_missing_from_a_column_still_count():
    nan = np.nan
    assert len(cuts([1, 2, 3, 4, nan, nan], [0, 0, 1, 1, 2, 3])) == 3


def test_max_bins_stops_early():
    x, y = np.arange(12), np.arange(12) % 4
    assert len(cuts(x, y)) >= 3
    assert len(cuts(x, y, max_bins=3)) == 2
    np.testing.assert_array_equal(cuts(x, y, max_bins=12), cuts(x, y))


columns = (
    st.integers(2, 5)
    .flatmap(
        lambda c: st.lists(
            st.tuples(st.integers(-4, 9), st.integers(0, c - 1)), min_size=2, max_size=40
        )
    )
    .filter(lambda pairs: len({label for _, label in pairs}) > 1)
)


@given(columns)
def test_cuts_are_those_of_the_published_algorithm_on_tables_with_ties(pairs):
    x, y = np.array(pairs).T
    np.testing.assert_array_equal(cuts(x, y), published_caim(x, y))
    np.testing.assert_array_equal(cuts(x / 8 + 0.0625, y), published_caim(x / 8 + 0.0625, y))


@given(columns)
def test_the_transcription_for_big_tables_is_the_transcription(pairs):
    x, y = np.array(pairs).T
    assert published_caim_for_big_tables(x, y) == published_caim(x, y)


@given(columns)
def test_there_are_at_least_as_many_intervals_as_classes_or_values(pairs):
    x, y = np.array(pairs).T
    assert len(cuts(x, y)) + 1 >= min(len(set(y)), len(set(x)))


@pytest.mark.data
@pytest.mark.parametrize("name", ["waveform", "spambase", "lung"])
def test_cuts_are_those_of_the_published_algorithm_on_every_column_of(name, paper_set):
    X, y = paper_set(name)
    for j, found in enumerate(CAIM().fit(X, y).cut_points_):
        np.testing.assert_array_equal(found, published_caim_for_big_tables(X[:, j], y), f"{j}")


@pytest.mark.parametrize("n_samples", [300, 5000])
@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_cuts_are_those_of_the_published_algorithm_on_random_tables(n_samples, decimals):
    rng = np.random.default_rng(n_samples + decimals)
    y = rng.integers(0, 4, n_samples)
    X = np.round(rng.normal(size=(n_samples, 3)) * 3 + y[:, None] * [0, 1, -2], decimals)
    for j, found in enumerate(CAIM().fit(X, y).cut_points_):
        np.testing.assert_array_equal(found, published_caim_for_big_tables(X[:, j], y))
