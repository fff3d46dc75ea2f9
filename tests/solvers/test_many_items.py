"""Row sums of a lazy matrix, and the truncated power method where there are too many of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.bqp import lazy as lazy_module
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.solvers import _tpower, solve, solve_path
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._greedy import Forward

from .conftest import problems


def random_problem(n=7, k=2, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return BQP(Q + Q.T, k)


def lazy(problem):
    return BQP(CachedColumns(lambda i: problem.Q[:, i], problem.diagonal), problem.k)


def test_row_sums_keep_no_column():
    problem = random_problem(n=9)
    columns = CachedColumns(lambda i: problem.Q[:, i], problem.diagonal)
    np.testing.assert_allclose(BQP(columns, 2).row_sums(), problem.Q.sum(axis=1))
    columns.columns(np.array([4]))
    assert columns.made == 10


@settings(max_examples=30)
@given(problems(max_n=12), st.integers(1, 30))
def test_a_lazy_problem_in_small_pieces_is_the_same(problem, piece):
    whole, items = lazy(problem), np.arange(problem.k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_module, "MAX_BLOCK", piece)
        parts = lazy(problem)
        near = {"rtol": 1e-9, "atol": 1e-9 * np.abs(problem.Q).max()}
        np.testing.assert_allclose(parts.value(items), whole.value(items), **near)
        np.testing.assert_allclose(parts.product(items), problem.Q[:, items].sum(axis=1), **near)
        np.testing.assert_allclose(parts.gains(items), problem.gains(items), **near)
        np.testing.assert_allclose(parts.row_sums(), problem.row_sums(), **near)


@given(problems(max_n=12))
def test_tpower_of_many_items_is_no_worse_than_forward(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_tpower, "MAX_SUMMED_ITEMS", 0)
        found = solve(lazy(problem), solver="tpower")
    greedy = problem.value(Forward().pick(problem, Run()))
    assert found.objective >= greedy - 1e-8 * problem.k * np.abs(problem.Q).max()


def test_tpower_of_many_items_asks_for_few_columns(monkeypatch):
    problem = random_problem(n=400, k=5)
    monkeypatch.setattr(_tpower, "MAX_SUMMED_ITEMS", 399)
    few = lazy(problem)
    solve(few, solver="tpower")
    assert few.Q.made < 100
    monkeypatch.setattr(_tpower, "MAX_SUMMED_ITEMS", 400)
    many = lazy(problem)
    exact = solve(many, solver="tpower")
    assert many.Q.made >= 400
    np.testing.assert_array_equal(exact.support, solve(problem, solver="tpower").support)


def test_a_path_of_many_items_is_no_worse_than_its_single_problems(monkeypatch):
    problem = random_problem(n=60, k=1)
    monkeypatch.setattr(_tpower, "MAX_SUMMED_ITEMS", 0)
    path = solve_path(lazy(problem), range(1, 9), "tpower")
    for k, solution in enumerate(path, 1):
        part = problem.with_k(k)
        assert solution.objective >= part.value(Forward().pick(part, Run())) - 1e-9


def test_a_lazy_problem_has_no_bound_and_makes_no_columns_for_one():
    problem = lazy(random_problem(n=50, k=3))
    solution = solve(problem, solver="forward", bound="fast")
    assert solution.upper_bound == np.inf
    assert problem.Q.made == 3
