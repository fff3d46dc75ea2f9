"""Swaps by C, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.problem import best_swap

pytestmark = pytest.mark.usefixtures("cpu")
seeds = st.integers(0, 2**32 - 1)


def matrix(n, seed, whole):
    rng = np.random.default_rng(seed)
    Q = rng.integers(-2, 3, (n, n)).astype(float) if whole else rng.normal(size=(n, n))
    return Q + Q.T, rng


@given(n=st.integers(1, 40), seed=seeds, whole=st.booleans())
def test_the_best_swap_is_the_first_of_the_largest_gains(n, seed, whole):
    Q, rng = matrix(n, seed, whole)
    chosen = rng.permutation(n)[: rng.integers(1, n + 1)]
    gains, least = rng.integers(-9, 9, n).astype(float), float(rng.integers(-1, 12))
    table = gains - gains[chosen][:, None] - 2 * Q[chosen]
    table[:, chosen] = -np.inf
    place, item = np.unravel_index(table.argmax(), table.shape)
    expected = (place, item) if table.max() > least else (-1, -1)
    assert best_swap(Q[chosen], gains, chosen, least) == expected
