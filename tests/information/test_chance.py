"""What random labels give on average: the hypergeometric law, by sums and by moments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from bestk.information import measures
from bestk.information.measures import expected_cells
from bestk.native import kernels


def by_law(t, m, size, large):
    """E[s log s]: by moments where more than ``large`` samples are expected, by a sum elsewhere."""
    out = np.zeros(1)
    kernels.expect(np.array([int(t)]), np.array([size]), 1, m, large, None, out, 0, 1)
    return out[0]


def expectation(t, m, size):
    """E[s log s], s of a class of that size among t of m samples."""
    mean, far = t * size / m, 4 * np.sqrt(t) + 20  # no count is further from the mean
    low, high = max(0, t + size - m, int(mean - far)), min(t, size, int(mean + far))
    s = np.arange(low, high + 1)
    return hypergeom.pmf(s, m, size, t) @ (s * np.log(np.maximum(s, 1)))


@settings(max_examples=15)
@given(st.lists(st.integers(1, 25), min_size=1, max_size=4))
def test_cells_of_every_size_have_their_expectation(sizes):
    m = sum(sizes)
    expected = [sum(expectation(t, m, size) for size in sizes) for t in range(m + 1)]
    found = expected_cells(np.arange(m + 1), np.array(sizes))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("t", [20_000, 30_000, 50_000])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.8, 0.97])
def test_moments_give_what_a_sum_gives_whatever_the_skew(t, share):
    m = 60_000
    expected = expectation(t, m, int(share * m))
    assert by_law(t, m, int(share * m), 0.0) == pytest.approx(expected, rel=0, abs=1e-8)
    assert by_law(t, m, int(share * m), np.inf) == pytest.approx(expected, rel=1e-11)


def test_large_cells_use_moments_and_small_ones_sums():
    sizes, mean = np.array([30_000, 30_000]), measures.MIN_MOMENT_SAMPLES
    for t, large in ((2 * mean, np.inf), (2 * mean + 2, 0.0)):
        found = expected_cells(np.array([int(t)]), sizes)[0]
        assert found == 2 * by_law(t, 60_000, 30_000, large)
        assert found != 2 * by_law(t, 60_000, 30_000, np.inf if large == 0.0 else 0.0)
