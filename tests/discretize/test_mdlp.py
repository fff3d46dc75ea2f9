"""MDLP against Fayyad and Irani's recursion, transcribed."""

from fractions import Fraction
from math import log2, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.discretize import MDLP


def entropy(y):
    p = np.unique(y, return_counts=True)[1] / len(y)
    return -(p * np.log2(p)).sum()


def exponent(y):
    """2 ** (N Ent(y)), exactly: N^N / prod n_c^n_c."""
    counts = [int(n) for n in np.unique(y, return_counts=True)[1]]
    return Fraction(sum(counts) ** sum(counts), prod(n**n for n in counts))


def is_boundary(x, y, cut):
    below, above = x[x <= cut].max(), x[x > cut].min()
    return len(set(y[(x == below) | (x == above)])) > 1


def published_mdlp(x, y, mess=exponent):
    values = np.unique(x)
    candidates = [c for c in (values[1:] + values[:-1]) / 2 if is_boundary(x, y, c)]
    if not candidates:
        return []
    cut = min(candidates, key=lambda c: mess(y[x <= c]) * mess(y[x > c]))
    left, right, n = y[x <= cut], y[x > cut], len(y)
    gain = entropy(y) - (len(left) * entropy(left) + len(right) * entropy(right)) / n
    k, k1, k2 = (len(set(part)) for part in (y, left, right))
    delta = log2(3**k - 2) - (k * entropy(y) - k1 * entropy(left) - k2 * entropy(right))
    if gain <= log2(n - 1) / n + delta / n:
        return []
    low, high = x <= cut, x > cut
    return [*published_mdlp(x[low], left, mess), cut, *published_mdlp(x[high], right, mess)]


def cuts(x, y, **settings):
    return MDLP(**settings).fit(np.reshape(x, (-1, 1)), y).cut_points_[0]


def test_two_pure_halves_are_cut_in_the_middle():
    np.testing.assert_array_equal(cuts([1.0, 2.0, 3.0, 6.0, 7.0, 8.0], [0, 0, 0, 1, 1, 1]), [4.5])


def test_a_column_that_says_nothing_gets_no_cut():
    assert len(cuts(np.tile(np.arange(10), 2), np.repeat([0, 1], 10))) == 0


def test_the_stop_worked_by_hand():
    # N = 4, classes 0 0 1 1: gain 1 bit > log2(3)/4 + (log2(7) - 2)/4 = 0.598, so it is cut;
    # N = 2, classes 0 1: gain 1 > log2(1)/2 + (log2(7) - 2)/2 = 0.404, so it is cut
    np.testing.assert_array_equal(cuts([0, 0, 1, 1], [0, 0, 1, 1]), [0.5])
    np.testing.assert_array_equal(cuts([0, 1], [0, 1]), [0.5])
    # classes 0 1 0: gain 0.918 - 2/3 = 0.252, threshold 1/3 + (log2(7) - 2 * 0.918 + 2)/3: none
    assert len(cuts([0, 1, 2], [0, 1, 0])) == 0


def test_max_bins_keeps_the_splits_that_save_most():
    x, y = np.arange(60), np.repeat([0, 1, 2], [30, 20, 10])
    np.testing.assert_array_equal(cuts(x, y), [29.5, 49.5])
    np.testing.assert_array_equal(cuts(x, y, max_bins=2), [29.5])


@given(
    st.lists(st.tuples(st.integers(-4, 30), st.integers(0, 2)), min_size=2, max_size=80).filter(
        lambda pairs: len({label for _, label in pairs}) > 1
    )
)
def test_cuts_are_those_of_the_published_recursion_on_tables_with_ties(pairs):
    x, y = np.array(pairs).T
    y = np.where(x > 20, 2, np.where(x > 5, y % 2, 0)) if x[0] % 2 else y
    y[:2] = [0, 1]
    np.testing.assert_array_equal(cuts(x, y), published_mdlp(x, y))


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_cuts_are_those_of_the_published_recursion_on_random_tables(decimals):
    rng = np.random.default_rng(decimals)
    y = rng.integers(0, 5, 400)
    X = np.round(rng.normal(size=(400, 3)) + y[:, None] * [0, 1, -2], decimals)
    for j, found in enumerate(MDLP().fit(X, y).cut_points_):
        np.testing.assert_array_equal(found, published_mdlp(X[:, j], y))


@pytest.mark.data
def test_cuts_are_those_of_the_published_recursion_on_columns_of_lung(paper_set):
    X, y = paper_set("lung")
    X = X[:, :60].astype(float)
    for j, found in enumerate(MDLP().fit(X, y).cut_points_):
        np.testing.assert_array_equal(found, published_mdlp(X[:, j], y), f"{j}")
