"""What one feature leaves of another, against numpy, operation by operation."""

import numpy as np
import pytest

from bestk.information._gaussian import unexplained
from bestk.native import kernels

rng = np.random.default_rng(0)


@pytest.mark.parametrize("terms", [0, 1, 3])
@pytest.mark.parametrize("shape", [(1, 1), (7, 21)])
def test_what_is_left_is_that_of_the_formula(cpu, shape, terms):
    sides = [(rng.normal(size=(terms, n)), 0.1 * rng.normal(size=n)) for n in shape]
    products, weights = rng.normal(size=shape), rng.normal(size=terms)
    (left, left_scale), (right, right_scale) = sides
    inner = products.copy()
    for mine, others, weight in zip(left, right, weights, strict=True):
        inner -= mine[:, None] * others * weight
    r = left_scale[:, None] * right_scale * inner
    np.testing.assert_array_equal(unexplained(products, *sides, weights), 1.0 - r * r)


def test_tables_one_below_the_other_have_what_is_left_of_each(cpu):
    n_tables, height, width = 3, 4, 5
    products, weights = rng.normal(size=(n_tables, height, width)), rng.normal(size=2)
    left = rng.normal(size=(2, n_tables, height)), 0.1 * rng.normal(size=(n_tables, height))
    right = rng.normal(size=(2, n_tables, width)), 0.1 * rng.normal(size=(n_tables, width))
    flat = [(side[0].reshape(2, -1), side[1].ravel()) for side in (left, right)]
    found = unexplained(products.reshape(-1, width), *flat, weights)
    each = [
        unexplained(products[t], *((side[0][:, t], side[1][t]) for side in (left, right)), weights)
        for t in range(n_tables)
    ]
    np.testing.assert_array_equal(found, np.vstack(each))


@pytest.mark.parametrize("n", [1, 40, 1100])
def test_pairs_are_compared_in_total_and_within_y(cpu, n):
    places, entries, weights = rng.integers(0, n, 5), rng.normal(size=(4, n)), rng.random(4)
    products, scales = rng.normal(size=(5, n)), 0.1 * rng.normal(size=(2, n))
    total, within = (
        unexplained(products, (entries[k][:, places], scales[i, places]), (entries[k], scales[i]),
                    weights[k])
        for i, k in enumerate((slice(1), slice(1, 4)))
    )  # fmt: skip
    ratios, correlated = np.empty((2, 5, n))
    kernels.compare_pairs(
        products, 5, n, places, entries, scales, weights, 4, ratios, correlated
    )  # fmt: skip
    np.testing.assert_array_equal(ratios, total / within)
    np.testing.assert_array_equal(correlated, 1.0 - total)


def test_what_correlated_columns_share_is_subtracted_down_to_the_less_relevance(cpu):
    relevance, places = rng.random(21), rng.integers(0, 21, 6)
    values, correlated = rng.normal(size=(6, 21)), rng.random((6, 21))
    least = np.minimum.outer(relevance[places], relevance)
    expected = np.maximum(values - correlated * least, -least)
    kernels.subtract_shared(values, correlated, 6, 21, places, relevance)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("n_rows", [0, 1, 7])
def test_columns_are_conditioned_on_one_after_the_earlier_ones(cpu, n_rows):
    items, rows = np.array([3, 0]), rng.normal(size=(n_rows, 2, 2, 21))
    rest, variances = rng.normal(size=(2, 2, 21)), rng.random((2, 2, 21))
    variances[0, 1, 3] = -1.0  # rounding
    expected, places = rest.copy(), items[:, None, None]
    for row in rows:
        expected -= np.take_along_axis(row, places, 2) * row
    expected /= np.sqrt(np.maximum(np.take_along_axis(variances, places, 2), 1e-12))
    left = variances - expected * expected
    kernels.condition(rows, n_rows, 4, 21, items, 1e-12, rest, variances)
    np.testing.assert_array_equal(rest, expected)
    np.testing.assert_array_equal(variances, left)
