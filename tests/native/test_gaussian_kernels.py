"""What one feature leaves of another, against numpy, operation by operation."""

import numpy as np
import pytest

from bestk.information._gaussian import Residuals, unexplained

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
    residuals = [Residuals(*side) for side in sides]
    np.testing.assert_array_equal(unexplained(products, *residuals, weights), 1.0 - r * r)


def test_tables_one_below_the_other_have_what_is_left_of_each(cpu):
    n_tables, height, width = 3, 4, 5
    products, weights = rng.normal(size=(n_tables, height, width)), rng.normal(size=2)
    left = rng.normal(size=(2, n_tables, height)), 0.1 * rng.normal(size=(n_tables, height))
    right = rng.normal(size=(2, n_tables, width)), 0.1 * rng.normal(size=(n_tables, width))
    flat = [Residuals(side[0].reshape(2, -1), side[1].ravel()) for side in (left, right)]
    together = unexplained(products.reshape(-1, width), *flat, weights)
    one_by_one = []
    for t in range(n_tables):
        of_table = [Residuals(side[0][:, t], side[1][t]) for side in (left, right)]
        one_by_one.append(unexplained(products[t], *of_table, weights))
    np.testing.assert_array_equal(together, np.vstack(one_by_one))
