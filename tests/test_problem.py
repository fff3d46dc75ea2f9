"""The problem: what it accepts, what it refuses, what it says of a choice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk import solve
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.solution import percent_of

from .solvers.conftest import problems


def test_the_value_of_a_choice_is_the_sum_over_its_rows_and_columns():
    Q = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
    assert BQP(Q, 2).value([0, 2]) == 1 + 3 + 7 + 9
    np.testing.assert_array_equal(BQP(Q, 2).Q, [[1, 3, 5], [3, 5, 7], [5, 7, 9]])


def test_a_gap_in_percent_is_rounded_up():
    gaps = (0.0123, 0.1234, 0.0000012, np.inf)
    assert [percent_of(gap) for gap in gaps] == ["1.3%", "13%", "0.01%", "infinite"]


def test_whole_numbers_that_float64_represents_are_told_apart():
    largest = 2**53 - 1
    assert solve(np.diag([largest - 1, largest]), 1, "exact").support.tolist() == [1]
    assert solve(np.diag([1.0 * 2**62, 3.0 * 2**62]), 1, "exact").support.tolist() == [1]


def test_a_symmetric_matrix_is_not_copied():
    Q = np.array([[1.0, 2.0], [2.0, 3.0]])
    assert BQP(Q, 1).Q is Q


def test_a_problem_is_not_changed_but_made_again_with_another_k():
    problem = BQP(np.eye(3), 1)
    for name, value in (("Q", np.zeros((3, 3))), ("k", 2)):
        with pytest.raises(AttributeError):
            setattr(problem, name, value)
    larger = problem.with_k(2)
    assert (problem.k, larger.k) == (1, 2)
    assert larger.Q is problem.Q
    assert repr(larger) == "<BQP of 3 items, k = 2>"


@pytest.mark.parametrize(
    ("Q", "k", "says"),
    [
        (np.zeros((2, 3)), 1, r"square matrix, not of shape \(2, 3\)"),
        (np.zeros((0, 0)), 1, "square"),
        (np.diag([2**62, 2**62 + 1]), 1, r"whole numbers of 2\*\*53 or more, .* subtract"),
        ([[0, -(2**53)], [-(2**53), 0]], 1, "whole numbers"),
        (np.array([[2**63 + 1]], np.uint64), 1, "whole numbers"),
        ([[np.nan, 0.0], [0.0, 1.0]], 1, "NaN or infinite"),
        ([[np.inf, 0.0], [0.0, 1.0]], 1, "NaN or infinite"),
        (np.eye(2) * 1j, 1, "real numbers, not complex128"),
        ([["a", "b"], ["c", "d"]], 1, "real numbers"),
        (np.eye(3), 0, "between 1 and the 3 items of Q, not 0"),
        (np.eye(3), 4, "between 1 and the 3 items of Q, not 4"),
        (np.eye(3), 1.5, "whole number, not 1.5"),
        (np.eye(3), True, "whole number"),
    ],
)
def test_bad_problems_are_refused_with_advice(Q, k, says):
    with pytest.raises(ValueError, match=says):
        BQP(Q, k)


@given(problems(), st.integers(0, 2**32 - 1))
def test_gains_say_what_an_item_adds(problem, seed):
    items = np.random.default_rng(seed).permutation(problem.n)[: problem.k]
    gains, value = problem.gains(items), problem.value(items)
    for i in range(problem.n):
        others = [j for j in items if j != i]
        with_i, without = problem.value([*others, i]), problem.value(others) if others else 0.0
        np.testing.assert_allclose(gains[i], with_i - without, rtol=1e-9, atol=1e-9 * abs(value))


@given(problems(), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_lazy_columns_are_those_of_the_matrix_whatever_the_room(problem, room, seed):
    lazy = CachedColumns(lambda i: problem.Q[:, i], problem.diagonal, room * 8 * problem.n)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        items = rng.integers(0, problem.n, 4)
        np.testing.assert_array_equal(BQP(lazy, 1).columns(items), problem.Q[:, items])


def test_kept_columns_are_not_made_again():
    Q = np.arange(16.0).reshape(4, 4)
    lazy = CachedColumns(lambda i: (Q + Q.T)[:, i], (Q + Q.T).diagonal())
    lazy.columns(np.array([0, 1, 1]))
    lazy.columns(np.array([1, 0, 2]))
    assert lazy.made == 3
