"""Items that are in every choice: the rest is a smaller problem of the same kind."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.relaxations.subproblem import Fixed
from bestk.bqp.solvers import solve

from .conftest import problems

Q = np.array([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


@st.composite
def fixed_problems(draw, max_n=10):
    """A problem, some items that are to be in, and at least one left to choose."""
    problem = draw(problems(max_n).filter(lambda problem: problem.k > 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return problem, rng.permutation(problem.n)[: rng.integers(1, problem.k)]


def lazy_twin(problem):
    """The same matrix known by its columns, whose diagonal is laid over them."""
    columns = CachedColumns(lambda i: problem.Q[:, i], np.zeros(problem.n), 24 * problem.n)
    return BQP(columns.with_diagonal(problem.diagonal), problem.k)


def best_with(problem, inside):
    others = np.setdiff1d(np.arange(problem.n), inside)
    rest = combinations(others, problem.k - len(inside))
    return max(problem.value([*inside, *items]) for items in rest)


def slack(problem):
    return 1e-9 * problem.k**2 * np.abs(problem.Q).max()


def test_the_best_choice_with_the_third_item_by_hand():
    fixed = Fixed(BQP(Q, 2), np.array([2]))
    assert fixed.k == 1
    assert fixed.base == 3.0
    np.testing.assert_array_equal(fixed.remaining_problem().Q, Q[:2, :2])
    solution = fixed.complete(solve(fixed.remaining_problem(), solver="exact"))
    assert solution.support.tolist() == [2, 0]
    assert (solution.objective, solution.gap) == (4.0, 0.0)


def test_what_is_in_is_spread_over_the_entries_of_the_others():
    # Item 0 adds 2 * 4 to item 1, and nothing to item 2.
    remaining = Fixed(BQP(Q, 2), np.array([0])).remaining_problem()
    np.testing.assert_array_equal(remaining.Q, [[1 + 4 + 4, 0 + 4], [0 + 4, 3]])


def test_the_matrix_of_the_whole_problem_is_left_alone():
    before = Q.copy()
    Fixed(BQP(Q, 3), np.array([1])).remaining_problem()
    np.testing.assert_array_equal(Q, before)


def test_every_item_can_be_in():
    fixed = Fixed(BQP(Q, 2), np.array([1, 0]))
    assert (fixed.k, fixed.base) == (0, 10.0)


@given(fixed_problems(), st.integers(0, 2**32 - 1))
def test_the_whole_is_worth_the_base_and_the_rest(case, seed):
    problem, inside = case
    fixed = Fixed(problem, inside)
    items = np.random.default_rng(seed).permutation(len(fixed.open))[: fixed.k]
    whole = problem.value([*inside, *fixed.open[items]])
    assert abs(fixed.base + fixed.remaining_problem().value(items) - whole) <= slack(problem)


@given(fixed_problems())
def test_exact_finds_the_best_choice_that_has_them_and_proves_it(case):
    problem, inside = case
    fixed = Fixed(problem, inside)
    solution = fixed.complete(solve(fixed.remaining_problem(), solver="exact"))
    assert solution.support[: len(inside)].tolist() == inside.tolist()
    assert len(set(solution.support.tolist())) == problem.k
    assert solution.objective == problem.value(solution.support)
    assert abs(solution.objective - best_with(problem, inside)) <= slack(problem)
    assert solution.gap == 0


@pytest.mark.parametrize("solver", ["linear", "spectral", "tpower", "forward"])
@settings(max_examples=30)
@given(case=fixed_problems())
def test_the_bound_holds_for_every_choice_that_has_them(solver, case):
    problem, inside = case
    fixed = Fixed(problem, inside)
    solution = fixed.complete(solve(fixed.remaining_problem(), solver=solver, bound="fast"))
    best = best_with(problem, inside)
    assert solution.objective == problem.value(solution.support)
    assert solution.objective <= best + slack(problem)
    assert solution.upper_bound >= best - 1e-14 * abs(best)
    assert solution.upper_bound >= solution.objective


def test_a_bound_leaves_room_for_the_rounding_of_what_is_in():
    entry, inside = 0.1, np.arange(10)
    fixed = Fixed(BQP(np.full((40, 40), entry), 20), inside)
    rest = replace(solve(fixed.remaining_problem(), solver="forward"), upper_bound=1e3)
    room = Fraction(fixed.complete(rest).upper_bound) - 1000 - Fraction(fixed.base)
    terms = 2 * len(inside) * 20  # entries of the items inside, by row and by column
    assert terms * np.finfo(float).eps * terms * entry <= room <= 1e-6


def test_without_a_bound_there_is_none():
    fixed = Fixed(BQP(Q, 2), np.array([2]))
    solution = solve(fixed.remaining_problem(), solver="forward", bound=None)
    assert fixed.complete(solution).upper_bound == np.inf


@given(fixed_problems(), st.integers(0, 2**32 - 1))
def test_a_lazy_rest_has_the_columns_of_the_dense_one(case, seed):
    problem, inside = case
    dense, lazy = (Fixed(p, inside).remaining_problem() for p in (problem, lazy_twin(problem)))
    assert lazy.is_lazy
    assert (lazy.n, lazy.k) == (dense.n, dense.k)
    np.testing.assert_array_equal(lazy.diagonal, dense.diagonal)
    items = np.random.default_rng(seed).integers(0, dense.n, 4)
    np.testing.assert_array_equal(lazy.columns(items), dense.columns(items))


@pytest.mark.parametrize("solver", ["linear", "tpower", "forward"])
@settings(max_examples=30)
@given(case=fixed_problems())
def test_a_lazy_problem_gets_the_same_choice(solver, case):
    problem, inside = case
    here, there = (
        fixed.complete(solve(fixed.remaining_problem(), solver=solver, bound=None))
        for fixed in (Fixed(problem, inside), Fixed(lazy_twin(problem), inside))
    )
    assert abs(here.objective - there.objective) <= slack(problem)
