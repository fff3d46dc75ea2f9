"""The data of the heat map: pairs, what they share, and orders of features."""

import numpy as np
import pytest

from bestk.report.page import as_json, most_redundant, shared_information, similar_order


def test_what_two_features_share_is_the_same_both_ways_where_information_is_exact():
    pairs = np.array([[0.6, 0.1, 0.4], [0.2, 0.5, 0.3], [0.5, 0.3, 0.5]])
    both = shared_information(pairs)
    np.testing.assert_allclose(np.diag(both), np.diag(pairs))
    np.testing.assert_allclose(both[0, 1], 0.5 - 0.1)
    np.testing.assert_allclose(both[1, 0], 0.6 - 0.2)


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_an_order_holds_every_feature_once(n):
    values = np.random.default_rng(n).normal(size=(n, n))
    values[0, -1] = np.nan
    assert sorted(similar_order(values)) == list(range(n))


def test_features_that_share_much_stand_side_by_side():
    values = np.zeros((6, 6))
    for i, j in [(0, 3), (1, 4), (2, 5)]:
        values[i, j] = values[j, i] = 1.0
    order = similar_order(values)
    assert {frozenset(order[i : i + 2]) for i in (0, 2, 4)} == {
        frozenset(pair) for pair in [(0, 3), (1, 4), (2, 5)]
    }


def test_the_pairs_that_share_most_come_first():
    pairs = np.array([[0.6, 0.1, 0.4], [0.2, 0.5, 0.3], [0.5, 0.3, 0.5]])
    (i, j, share), *_ = most_redundant(pairs, 2)
    assert (i, j) == (0, 1)
    assert share == pytest.approx((0.4 + 0.4) / 2)


def test_numbers_that_json_does_not_have_are_null():
    assert as_json([[0.1234567, np.nan], [np.inf, 1.0]]) == [[0.123457, None], [None, 1.0]]
