"""The same input gives the same bits on every machine, however fast its clock runs."""

import sys
from itertools import count

import numpy as np
import pytest

from bestk import BQP, SOLVERS, SelectBestK, SelectBestKCV, solve, solve_path, upper_bound
from bestk.bqp.bounds import BOUNDS

FAST = 0.0  # seconds that pass between two looks at the clock
SLOW = 100.0
CLOCKS = ("perf_counter", "process_time", "monotonic", "time")


def with_clock(step, compute):
    """What a function returns while every look at a clock finds it so many seconds later."""
    reading = count()
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] == "bestk":
                for clock in CLOCKS:
                    if callable(getattr(module, clock, None)):
                        patch.setattr(module, clock, lambda: step * next(reading))
        return compute()


def described(solution):
    """All of a solution but its time, to the last bit."""
    details = {
        name: np.asarray(value).tolist()
        for name, value in solution.details.items()
        if isinstance(value, int | float | str | np.ndarray)
    }
    return solution.support.tolist(), solution.objective, solution.upper_bound, details


def same_for_all_clocks(compute):
    """What is computed by a machine whose clock stands still, if a slow one computes the same."""
    fast = with_clock(FAST, compute)
    slow = with_clock(SLOW, compute)
    assert fast == slow
    return fast


def half_normal(n, seed=0):
    """A symmetric matrix of which no bound by rows is sharp."""
    A = np.abs(np.random.default_rng(seed).normal(size=(n, n))) / 2 + 1
    return A + A.T


@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - {"exact", "lowrank"}))
def test_a_default_bound_does_not_depend_on_the_time_of_the_solver(solver):
    A = half_normal(300)
    same_for_all_clocks(lambda: described(solve(A, 40, solver, random_state=0)))


@pytest.mark.parametrize("solver", ["exact", "lowrank"])
def test_neither_does_what_a_slow_solver_finds(solver):
    A = half_normal(40)
    same_for_all_clocks(lambda: described(solve(A, 5, solver, random_state=0)))


def test_a_proof_of_items_alike_returns_the_same_of_equal_choices():
    A = np.random.default_rng(0).integers(0, 3, size=(30, 30)).astype(float)
    same_for_all_clocks(lambda: described(solve(A + A.T, 6, "exact", random_state=0)))


@pytest.mark.parametrize("solver", ["tpower", "search", "linear"])
def test_a_path_is_the_same_with_any_clock(solver):
    A = half_normal(120)

    def path():
        found = solve_path(A, [5, 10, 20], solver, random_state=0, bound="fast")
        return [described(solution) for solution in found]

    same_for_all_clocks(path)


@pytest.mark.parametrize("method", [*BOUNDS, "fast", "tight"])
@pytest.mark.parametrize("n", [30, 520])
def test_bounds_are_the_same_with_any_clock_unless_there_is_a_time_limit(method, n):
    if n > 500 and method in ("dnn", "tight"):
        A = np.outer(np.linspace(0.0, 1.0, n) ** 8, np.linspace(0.0, 1.0, n) ** 8)
        A += half_normal(n) / 1000
    else:
        A = half_normal(n)
    value = same_for_all_clocks(lambda: upper_bound(BQP(A, 5), method))
    assert np.isfinite(value)


@pytest.mark.parametrize("method", ["tpower", "search", "sdp", "jmi-global", "auto"])
def test_a_selection_and_its_gap_are_the_same_with_any_clock(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=150) > 0).astype(int)

    def select():
        return described(SelectBestK(10, method=method, random_state=0).fit(X, y).solution_)

    same_for_all_clocks(select)


def test_the_choice_of_k_is_the_same_with_any_clock():
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)

    def select():
        found = SelectBestKCV(GaussianNB(), [1, 2, 4], "search", cv=2, random_state=0).fit(X, y)
        return described(found.solution_)

    same_for_all_clocks(select)


def test_a_bound_by_default_is_shown_or_not_whatever_the_machine():
    solution = solve(half_normal(300), 40, random_state=0)
    assert 0.0 < solution.gap < 0.25
