"""Tiles of correlations and of measures against numpy, operation by operation."""

import numpy as np
import pytest

from bestk.information._gaussian import PairPart, Side, correlate, write, write_mirrored

rng = np.random.default_rng(0)


def side(n, features, terms=3):
    vectors = [rng.normal(size=n) for _ in range(7)]
    sums, scale, within, *rest = vectors
    return Side(features, sums, rng.normal(size=(terms, n)), scale * 0.1, within * 0.1, *rest[:4])


@pytest.mark.parametrize("terms", [0, 3])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.0), (0.0, 1.0), (0.5, -0.5), (1.0, 0.5), (0.0, 0.0)])
def test_shares_are_those_of_their_formulas(cpu, a, b, terms):
    left, right = side(7, np.arange(7), terms), side(21, np.arange(21), terms)
    products, weights = rng.normal(size=(7, 21)), rng.normal(size=terms)
    spread = products - left.sums[:, None] * right.sums * 0.01
    r = left.scale[:, None] * right.scale * spread
    inner = products.copy()
    for mine, others, weight in zip(left.entries, right.entries, weights, strict=True):
        inner -= mine[:, None] * others * weight
    s = left.scale_within[:, None] * right.scale_within * inner
    total = 1.0 - r * r if a else np.ones_like(r)
    within = 1.0 - s * s if b else np.ones_like(s)
    shares, rest = correlate(products.copy(), (left, right), 0.01, weights, a, b)
    expected = total / within if a == -b else total if a else within
    np.testing.assert_array_equal(shares, expected)
    np.testing.assert_array_equal(rest, within if a and b and a != -b else np.empty((0, 0)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lowest", [-np.inf, 0.0])
def test_a_tile_holds_pairs_and_features_with_themselves(cpu, dtype, lowest):
    left, right = (
        side(5, np.array([4, 9, 2, 7, 30])),
        side(9, np.array([7, 1, 2, 3, 4, 4, 6, 8, 9])),
    )
    part = rng.normal(size=(5, 9))
    out = np.full((5, 12), 9, dtype)
    write(PairPart(part, 0.7), left, right, lowest, out[:, 2:11])
    expected = 0.7 * part + (left.row_term[:, None] + right.column_term)
    same = left.features[:, None] == right.features
    expected = np.where(same, left.diagonal[:, None], expected)
    np.testing.assert_array_equal(out[:, 2:11], np.maximum(expected, lowest).astype(dtype))
    assert (out[:, [0, 1, 11]] == 9).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("first", [0, 3, 19])
def test_a_mirrored_tile_holds_the_pairs_the_other_way_round(cpu, dtype, first):
    left, right = side(5, np.arange(5)), side(19, np.arange(19))
    part = rng.normal(size=(5, 19))
    out = np.full((19, 5), 9, dtype)
    write_mirrored(PairPart(part, -0.5), left, right, 0.1, first, out)
    expected = -0.5 * part.T + (left.column_term + right.row_term[:, None])
    np.testing.assert_array_equal(out[first:], np.maximum(expected, 0.1).astype(dtype)[first:])
    assert (out[:first] == 9).all()
