"""Sweeps of the relaxation by C, against numpy."""

import numpy as np
import pytest

from bestk.native import kernels

pytestmark = pytest.mark.usefixtures("cpu")


@pytest.mark.parametrize("n", [1, 2, 3, 8, 37])
def test_a_sweep_sets_entries_border_and_multipliers(n):
    rng = np.random.default_rng(n)
    P, cost, Y, Z = rng.normal(size=(4, n + 1, n + 1))
    x, penalty, step = rng.random(n), 0.3, 1.6
    y = np.minimum(np.maximum(P + (cost - Z) / penalty, 0.0), 1.0)
    y[0, 1:] = y[1:, 0] = y[range(1, n + 1), range(1, n + 1)] = x
    y[0, 0] = 1.0
    z, apart, moved = Z + step * penalty * (y - P), np.linalg.norm(y - P), np.linalg.norm(y - Y)
    distances = np.empty(2)
    kernels.admm_sweep(P, cost, x, n, penalty, step, Y, Z, distances)
    np.testing.assert_array_equal(Y, y)
    np.testing.assert_array_equal(Z, z)
    np.testing.assert_allclose(distances, [apart, moved], rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 8, 37])
def test_two_outer_products_are_taken_off(n):
    rng = np.random.default_rng(n)
    A, v, w = rng.normal(size=(n + 1, n + 1)), rng.normal(size=n + 1), rng.normal(size=n + 1)
    out = np.empty((n, n))
    kernels.minus_outer(A, v, w, n, out)
    np.testing.assert_array_equal(out, (A - np.outer(v, w) - np.outer(w, v))[1:, 1:])
