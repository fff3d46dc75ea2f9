"""The largest entries of rows and their multipliers by C, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.bqp.relaxations.rows import lower_rows, row_values
from bestk.native import kernels

pytestmark = pytest.mark.usefixtures("cpu")
seeds = st.integers(0, 2**32 - 1)


def by_numpy(C, items, k, shift):
    rows = C - shift
    rows[np.arange(len(items)), items] = -np.inf
    return np.sort(rows, axis=1)[:, len(shift) - k + 1 :]


@given(seed=seeds, n=st.integers(2, 30), whole=st.booleans())
def test_the_largest_entries_of_rows_are_those_of_a_sorted_row(seed, n, whole):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, n + 1)), int(rng.integers(2, n + 1))
    C, shift = rng.normal(size=(m, n)), rng.normal(size=n)
    if whole:
        C, shift = np.rint(C), np.rint(shift)
    items = np.sort(rng.permutation(n)[:m])
    tops, least, sums = np.empty((m, k - 1), np.int64), np.empty(m), np.empty(m)
    kernels.row_tops(C, m, n, items, shift, None, 0, k - 1, tops, least, sums)
    expected = by_numpy(C, items, k, shift)
    np.testing.assert_allclose(sums, expected.sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(least, expected[:, 0])
    found = np.sort(np.take_along_axis(C - shift, tops, axis=1), axis=1)
    np.testing.assert_array_equal(found, expected)
    assert (tops != items[:, None]).all()
    closed = rng.permutation(n)[: (k - 1) // 2]
    shift[closed] = np.inf
    left, open_rows = k - len(closed), ~np.isin(items, closed)
    expected = by_numpy(C, items, left, shift)[open_rows]
    for known, n_known in ((None, 0), (tops, k - 1)):
        fewer = np.empty((m, left - 1), np.int64)
        kernels.row_tops(C, m, n, items, shift, known, n_known, left - 1, fewer, least, sums)
        np.testing.assert_allclose(sums[open_rows], expected.sum(axis=1), atol=1e-12)
        np.testing.assert_array_equal(least[open_rows], expected[:, 0])
        assert not sums[~open_rows].any()
        found = np.take_along_axis((C - shift)[open_rows], fewer[open_rows], axis=1)
        np.testing.assert_array_equal(np.sort(found, axis=1), expected)


@given(seed=seeds, n=st.integers(3, 20), steps=st.integers(0, 80))
def test_multipliers_stay_antisymmetric_and_the_values_are_those_of_the_rows(seed, n, steps):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, n))
    Q = rng.normal(size=(n, n))
    Q += Q.T
    C, linear = Q.copy(), rng.normal(size=n)
    before = np.sort(row_values(Q, linear, k))[-k:].sum()
    bound = lower_rows(C, linear, k, -np.inf, steps=steps)
    A = C - Q
    np.testing.assert_allclose(A, -A.T, atol=1e-9)
    assert bound.value <= before + 1e-9
    assert bound.steps <= steps
    if steps:  # the best values are those of some step
        assert (
            np.sort(bound.row_values)[-k:].sum()
            <= np.sort(row_values(C, linear, k))[-k:].sum() + 1e-9
        )
