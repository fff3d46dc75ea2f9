"""Matrices known by their columns, and a diagonal laid over them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP

from .solvers.conftest import problems

seeds = st.integers(0, 2**32 - 1)


def test_a_diagonal_of_its_own_stands_in_every_column():
    Q = np.array([[0.0, 1.0], [1.0, 0.0]])
    lazy = CachedColumns(lambda i: Q[:, i].copy(), np.zeros(2)).with_diagonal(np.array([5.0, 7.0]))
    assert lazy.shape == (2, 2)
    np.testing.assert_array_equal(lazy.diagonal(), [5, 7])
    np.testing.assert_array_equal(lazy.columns(np.array([1, 0, 1])), [[1, 5, 1], [7, 1, 7]])
    np.testing.assert_array_equal(lazy.columns(np.array([], int)), np.empty((2, 0)))


@given(problems(), seeds, st.integers(1, 4))
def test_diagonals_share_the_columns_and_do_not_touch_each_other(problem, seed, room):
    rng, n = np.random.default_rng(seed), problem.n
    columns = CachedColumns(lambda i: problem.Q[:, i], problem.diagonal, room * 8 * n)
    diagonals = rng.normal(size=(3, n))
    twins = [columns.with_diagonal(diagonal) for diagonal in diagonals]
    for number in rng.integers(0, 3, 8):
        whole = problem.Q.copy()
        np.fill_diagonal(whole, diagonals[number])
        items = rng.integers(0, n, 3)
        np.testing.assert_array_equal(twins[number].columns(items), whole[:, items])
    items = rng.integers(0, n, 3)
    np.testing.assert_array_equal(columns.columns(items), problem.Q[:, items])


@given(problems(), seeds)
def test_a_problem_with_another_diagonal_has_its_value_and_gains(problem, seed):
    rng, n = np.random.default_rng(seed), problem.n
    diagonal = rng.normal(size=n) * np.abs(problem.Q).max()
    whole = problem.Q.copy()
    np.fill_diagonal(whole, diagonal)
    columns = CachedColumns(lambda i: problem.Q[:, i], np.zeros(n))
    dense, lazy = BQP(whole, problem.k), BQP(columns.with_diagonal(diagonal), problem.k)
    items = rng.permutation(n)[: problem.k]
    near = {"rtol": 1e-9, "atol": 1e-9 * np.abs(whole).max()}
    np.testing.assert_allclose(lazy.value(items), dense.value(items), **near)
    np.testing.assert_allclose(lazy.gains(items), dense.gains(items), **near)


def test_columns_made_for_one_diagonal_are_not_made_again_for_another():
    Q = np.ones((4, 4))
    made: list[int] = []
    columns = CachedColumns(lambda i: made.extend(i) or Q[:, i], np.zeros(4))
    for diagonal in (np.zeros(4), np.arange(4.0)):
        columns.with_diagonal(diagonal).columns(np.array([0, 2]))
    assert made == [0, 2]
