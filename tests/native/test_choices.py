"""Choices that swap by a kernel, from a matrix and from its columns."""

import numpy as np
import pytest

from bestk.bqp import problem as module
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP, NO_ITEMS, grow, improve

pytestmark = pytest.mark.usefixtures("cpu")
SIZES = [(1, 1), (2, 1), (9, 4), (31, 2), (33, 31), (64, 20), (70, 70)]


def matrices(n, seed):
    rng = np.random.default_rng(seed)
    for Q in (rng.normal(size=(n, n)), rng.integers(-1, 2, (n, n)).astype(float)):  # and ties
        yield Q + Q.T


def by_columns(Q, k):
    return BQP(CachedColumns(lambda items: Q[:, items].copy(), Q.diagonal().copy()), k)


@pytest.mark.parametrize(("n", "k"), SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_steps_are_those_of_a_matrix_known_by_its_columns(n, k, seed):
    rng = np.random.default_rng(seed)
    for Q in matrices(n, seed):
        dense, lazy = BQP(Q, k), by_columns(Q, k)
        for start in (NO_ITEMS, np.sort(rng.choice(n, min(2, k), replace=False))):
            np.testing.assert_array_equal(grow(dense, start), grow(lazy, start))
        start = rng.choice(n, k, replace=False)
        np.testing.assert_array_equal(improve(dense, start), improve(lazy, start))


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda Q: np.repeat(Q, 2, axis=1)[:, ::2]])
def test_the_layout_of_the_matrix_does_not_matter(layout):
    Q = next(matrices(40, 0))
    start = np.arange(6)
    found, other = BQP(Q, 6), BQP.trusted(layout(Q), 6)
    np.testing.assert_array_equal(grow(found), grow(other))
    np.testing.assert_array_equal(improve(found, start), improve(other, start))


def test_the_clock_is_looked_at_between_swaps(monkeypatch):
    problem, start = BQP(next(matrices(50, 1)), 8), np.arange(8)
    best = improve(problem, start)
    assert sorted(best) != sorted(start)
    np.testing.assert_array_equal(improve(problem, start, deadline=0.0), start)
    monkeypatch.setattr(module, "MAX_SWAPS", 1)
    assert len(np.setdiff1d(improve(problem, start), start)) == 1
