"""Row sums from some of the columns, and the truncated power method where all are too many."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.problem import problem as problem_module
from bestk.problem.lazy import CachedColumns
from bestk.problem.problem import BQP
from bestk.solvers import solve, solve_path
from bestk.solvers._base import Run
from bestk.solvers._greedy import Forward
from bestk.solvers._ranking import Linear, estimated_row_sums, row_sums
from bestk.solvers._tpower import TruncatedPower

from .conftest import problems


class Drawn:
    """A generator that draws what it is told to."""

    def __init__(self, items):
        self.items = np.array(items)

    def choice(self, n, count, replace):
        assert count == len(self.items)
        assert not replace
        return self.items


def random_problem(n=7, k=2, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return BQP(Q + Q.T, k)


def lazy(problem):
    return BQP(CachedColumns(lambda i: problem.Q[:, i], problem.diagonal), problem.k)


def test_over_all_samples_the_mean_estimate_is_the_row_sum():
    problem = random_problem()
    samples = [Drawn(items) for items in combinations(range(7), 4)]
    estimates = [estimated_row_sums(problem, 4, drawn)[0] for drawn in samples]
    np.testing.assert_allclose(np.mean(estimates, axis=0), row_sums(problem))


def test_the_square_of_the_standard_error_is_on_average_the_variance():
    problem, row = random_problem(), 3
    samples = [Drawn(items) for items in combinations(set(range(7)) - {row}, 4)]
    found = [estimated_row_sums(problem, 4, drawn) for drawn in samples]
    sums, errors = (np.array(part)[:, row] for part in zip(*found, strict=True))
    np.testing.assert_allclose((errors**2).mean(), sums.var())


@given(problems(max_n=12), st.integers(0, 2**32 - 1), st.booleans())
def test_a_sample_is_told_of_and_repeats_by_its_seed(problem, seed, is_lazy):
    asked = lazy(problem) if is_lazy else problem
    first, again = (solve(asked, solver=Linear(sample=3), random_state=seed) for _ in "12")
    np.testing.assert_array_equal(first.support, again.support)
    whole = solve(asked, solver=Linear())
    if problem.n <= 3:
        np.testing.assert_array_equal(first.support, whole.support)
        assert "row_sums" not in first.details
    else:
        assert first.details["row_sums"]["columns"] == 3


def test_what_is_told_of_a_sample_follows_from_its_sums_and_their_errors():
    problem = random_problem(n=30, k=5)
    sums, errors = estimated_row_sums(problem, 8, np.random.default_rng(0))
    solution = solve(problem, solver=Linear(sample=8), random_state=0)
    *picked, next_best = np.argsort(-sums)[:6]
    assert solution.support.tolist() == picked
    doubts = sums[picked] - 2 * errors[picked] < sums[next_best]
    assert 0 < (sums[picked] - errors[picked] < sums[next_best]).sum() < doubts.sum()
    assert solution.details["row_sums"] == {
        "columns": 8,
        "standard_error": errors.max(),
        "relative_error": (errors[picked] / np.abs(sums[picked])).max(),
        "in_doubt": doubts.sum(),
    }


def test_rows_that_are_all_alike_have_no_error():
    told = solve(np.ones((9, 9)), 2, Linear(sample=4), random_state=0).details["row_sums"]
    assert told == {"columns": 4, "standard_error": 0, "relative_error": 0, "in_doubt": 0}


def test_a_sample_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="at least 3 columns, not 2"):
        Linear(sample=2)


def test_row_sums_keep_no_column():
    problem = random_problem(n=9)
    columns = CachedColumns(lambda i: problem.Q[:, i], problem.diagonal)
    np.testing.assert_allclose(row_sums(BQP(columns, 2)), problem.Q.sum(axis=1))
    columns.columns(np.array([4]))
    assert columns.made == 10


@settings(max_examples=30)
@given(problems(max_n=12), st.integers(1, 30))
def test_a_lazy_problem_in_small_pieces_is_the_same(problem, piece):
    whole, items = lazy(problem), np.arange(problem.k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem_module, "MAX_BLOCK", piece)
        patch.setattr("bestk.problem.lazy.MAX_BLOCK", piece)
        parts = lazy(problem)
        near = {"rtol": 1e-9, "atol": 1e-9 * np.abs(problem.Q).max()}
        np.testing.assert_allclose(parts.value(items), whole.value(items), **near)
        np.testing.assert_allclose(parts.product(items), problem.Q[:, items].sum(axis=1), **near)
        np.testing.assert_allclose(parts.gains(items), problem.gains(items), **near)
        np.testing.assert_allclose(row_sums(parts), row_sums(problem), **near)


@given(problems(max_n=12), st.integers(0, 2**32 - 1))
def test_tpower_of_many_items_is_no_worse_than_forward(problem, seed):
    solver = TruncatedPower(exact_rows=0, sample=3)
    found = solve(lazy(problem), solver=solver, random_state=seed)
    greedy = problem.value(Forward().pick(problem, Run()))
    assert found.objective >= greedy - 1e-8 * problem.k * np.abs(problem.Q).max()


def test_tpower_of_many_items_asks_for_few_columns():
    problem = random_problem(n=400, k=5)
    few = lazy(problem)
    told = solve(few, solver=TruncatedPower(exact_rows=399, sample=16), random_state=0).details
    assert told["row_sums"]["columns"] == 16
    assert few.Q.made < 100
    many = lazy(problem)
    exact = solve(many, solver=TruncatedPower(exact_rows=400))
    assert "row_sums" not in exact.details
    assert many.Q.made >= 400
    np.testing.assert_array_equal(exact.support, solve(problem, solver="tpower").support)


def test_a_path_of_many_items_is_no_worse_than_its_single_problems():
    problem = random_problem(n=60, k=1)
    solver = TruncatedPower(exact_rows=0, sample=8)
    path = solve_path(lazy(problem), range(1, 9), solver, random_state=0)
    for k, solution in enumerate(path, 1):
        part = problem.with_k(k)
        assert solution.objective >= part.value(Forward().pick(part, Run())) - 1e-9


def test_a_lazy_problem_has_no_bound_and_makes_no_columns_for_one():
    problem = lazy(random_problem(n=50, k=3))
    solution = solve(problem, solver="forward", bound="fast")
    assert solution.upper_bound == np.inf
    assert problem.Q.made == 3
