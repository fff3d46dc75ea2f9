"""Antisymmetric multipliers and the items they fix, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.relaxations import rows
from bestk.bqp.relaxations.rows import antisymmetric_bound, fix_by_rows, rows_bound, screen
from bestk.bqp.relaxations.subproblem import Subproblem
from bestk.bqp.solvers import solve

from .solvers.conftest import PENALTIES, optimum, problems


def test_by_hand_a_pair_that_both_rows_count_is_paid_for_once():
    Q = np.array([[2.0, 0, 1, 0], [0, 2, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    problem = BQP(Q, 2)
    assert rows_bound(problem).value == pytest.approx(6.0)
    assert optimum(problem) == 4.0 <= antisymmetric_bound(problem).value < 4.01


@settings(max_examples=60)
@given(problem=problems(max_n=12, kinds=PENALTIES), steps=st.integers(0, 60))
def test_no_choice_exceeds_the_bound_and_it_is_not_above_that_of_rows(problem, steps):
    bound = antisymmetric_bound(problem, steps=steps)
    assert optimum(problem) <= bound.value
    size = 1e-9 * problem.k**2 * np.abs(problem.Q).max()
    assert bound.value <= rows_bound(problem).value + size


@settings(max_examples=30)
@given(problem=problems(max_n=12), held=st.integers(1, 60))
def test_multipliers_of_some_rows_only_and_a_lazy_matrix_give_a_bound(problem, held):
    lazy = BQP(CachedColumns(lambda i: problem.Q[:, i], problem.diagonal), problem.k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "MAX_HELD", held)
        for one in (problem, lazy):
            assert optimum(problem) <= antisymmetric_bound(one, steps=40).value


def test_sixteen_items_of_either_sign():
    for seed in range(3):
        Q = np.random.default_rng(seed).normal(size=(16, 16))
        problem = BQP(Q + Q.T, 5)
        best = optimum(problem)
        found = antisymmetric_bound(problem, best_known=best).value
        assert best <= found < rows_bound(problem).value


def test_without_time_for_a_pass_there_is_no_bound():
    problem = BQP(np.ones((5, 5)), 2)
    assert antisymmetric_bound(problem, time_limit=-1.0).value == np.inf


@pytest.mark.parametrize("steps", [0, 30])
@settings(max_examples=60)
@given(problem=problems(max_n=11, kinds=PENALTIES), share=st.floats(0.0, 1.0))
def test_no_fixed_item_is_ever_wrong(steps, problem, share):
    values = {c: problem.value(c) for c in combinations(range(problem.n), problem.k)}
    low, high = min(values.values()), max(values.values())
    floor = low + share * (high - low)
    if steps:
        found = antisymmetric_bound(problem, None, floor, steps)
        bound = found.value
        inside, outside = screen(bound, found.row_values, problem.k, floor)
    else:
        inside, outside, bound = fix_by_rows(problem, floor)
    rest = Subproblem.of(problem).without(inside, outside)
    open_or_in = set(rest.items.tolist()) | set(rest.inside.tolist())
    margin = 1e-12 * problem.k**2 * np.abs(problem.Q).max()
    for items, value in values.items():
        if value >= floor + margin:
            assert set(rest.inside.tolist()) <= set(items) <= open_or_in
        assert value <= max(bound, floor) + margin


def test_a_solution_counts_the_items_that_were_fixed():
    Q = np.diag([9.0, 8.0, 7.0, 1.0, 0.0]) + 0.1
    solution = solve(Q, 3, "forward")
    assert (solution.details["fixed_in"], solution.details["fixed_out"]) == (3, 2)
    assert solution.quality == "proved optimal"
