"""The referee: every solver alike."""

from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import BQP, SOLVERS, Solution, solve, solve_path
from bestk.bqp import CachedColumns, bounds
from bestk.bqp.bounds import MIN_BOUND_OPERATIONS, Budget, default_budget
from bestk.bqp.relaxations.rows import rows_bound
from bestk.bqp.relaxations.subproblem import Bound
from bestk.bqp.solvers import Effort, Solver, solve_each, with_useful_bound
from bestk.bqp.solvers._lowrank import LowRank
from bestk.bqp.solvers._referee import prove

from .conftest import optimum, problems

QUICK = {**SOLVERS, "lowrank": LowRank(samples=200)}
TIMED = {"search", "exact", "sdp"}
Q = np.array([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


@pytest.mark.parametrize("name", sorted(QUICK))
@settings(max_examples=25)
@given(problem=problems(max_n=8), seed=st.integers(0, 99))
def test_no_solver_beats_the_optimum_or_its_own_bound(name, problem, seed):
    limit = 0.05 if name in TIMED - {"exact"} else None
    solution = solve(problem, solver=QUICK[name], random_state=seed, time_limit=limit)
    best = optimum(problem)
    slack = 1e-9 * (abs(best) + np.abs(problem.Q).max())
    assert len(set(solution.support.tolist())) == problem.k
    assert solution.objective <= best + slack
    assert best <= solution.upper_bound + slack
    assert solution.gap >= 0
    if name == "exact":
        assert solution.objective >= best - slack
        assert solution.gap == 0


@pytest.mark.parametrize("name", sorted(QUICK))
def test_the_same_seed_gives_the_same_answer(name):
    matrix = np.random.default_rng(0).random((30, 30))
    first, second = (solve(matrix, 5, QUICK[name], random_state=3, bound=None) for _ in range(2))
    np.testing.assert_array_equal(first.support, second.support)


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_path_holds_a_solution_for_each_k(name):
    matrix = np.random.default_rng(1).random((20, 20))
    ks = [2, 5, 3, 20]
    limit = 1.0 if name in TIMED else None
    path = solve_path(matrix, ks, QUICK[name], random_state=0, time_limit=limit)
    assert [solution.k for solution in path] == ks
    for k, solution in zip(ks, path, strict=True):
        assert solution.objective == pytest.approx(BQP(matrix, k).value(solution.support))
    assert path[-1].upper_bound == path[-1].objective  # there is but one choice of all


def test_an_empty_path_is_empty():
    assert solve_path(Q, []) == []


@pytest.mark.parametrize("name", ["linear", "tpower", "exact"])
@settings(max_examples=20)
@given(problem=problems(max_n=7))
def test_the_bounds_of_a_path_hold(name, problem):
    path = solve_path(problem, range(1, problem.n + 1), name, bound="fast")
    for k, solution in enumerate(path, start=1):
        best = optimum(problem.with_k(k))
        slack = 1e-9 * (abs(best) + np.abs(problem.Q).max())
        assert solution.objective - slack <= best <= solution.upper_bound + slack
        assert name != "exact" or solution.objective >= best - slack


def test_a_path_answers_in_the_order_asked_however_often():
    matrix = np.random.default_rng(3).random((9, 9))
    for name in ("forward", "tpower", "exact"):
        path = solve_path(matrix, [4, 2, 4, 9], name)
        assert [solution.k for solution in path] == [4, 2, 4, 9]
        np.testing.assert_array_equal(path[0].support, path[2].support)


def test_a_path_of_problems_asks_by_rising_k_and_starts_from_the_k_before():
    asked, started = [], []

    class Watched(Solver):
        name, needs = "watched", "columns"

        def pick(self, problem, run):
            started.append([start.tolist() for start in run.starts])
            return np.arange(problem.k)

    def problem_of(k):
        asked.append(k)
        return BQP(np.diag([0.0, 1.0, 5.0, 3.0]) / k, k)

    solutions = solve_each(problem_of, [3, 1, 3], Watched(), Effort(bound=None))
    assert asked == [1, 3]
    assert started == [[], [[0, 2, 3]]]
    np.testing.assert_allclose([s.objective for s in solutions], [2.0, 0.0, 2.0])


def test_the_time_of_a_path_is_shared_by_what_is_left_of_it():
    left = []

    class Watched(Solver):
        name, needs = "watched", "columns"

        def pick(self, problem, run):
            left.append(run.time_left)
            return np.arange(problem.k)

    solve_path(Q, [1, 2, 3], Watched(), time_limit=60.0)
    np.testing.assert_allclose(left, [20, 30, 60], rtol=0.1)


class Slow(Solver):
    """Takes its time, draws a number and keeps it."""

    name, needs = "slow", "columns"
    takes = 2e-3

    def __init__(self):
        self.drawn = []

    def pick(self, problem, run):
        stop = perf_counter() + self.takes
        while perf_counter() < stop:
            pass
        self.drawn.append(run.rng.random())
        return np.arange(problem.k)


class SlowPath(Slow):
    """The same, for all k at once."""

    def pick_path(self, problem, ks, run):
        order = self.pick(problem, run)
        return {k: order[:k] for k in ks}


def test_seconds_are_those_of_the_solver():
    start = perf_counter()
    assert Slow.takes <= solve(Q, 2, Slow()).seconds <= perf_counter() - start


@pytest.mark.parametrize(("solver", "picks"), [(Slow(), 3), (SlowPath(), 1)])
def test_the_seconds_of_a_path_add_up_to_its_time(solver, picks):
    start = perf_counter()
    path = solve_path(Q, [1, 2, 3], solver)
    assert picks * Slow.takes <= sum(s.seconds for s in path) <= perf_counter() - start
    assert all(s.seconds >= picks * Slow.takes / 3 for s in path)


@pytest.mark.parametrize("kind", [Slow, SlowPath])
def test_the_randomness_of_a_path_is_that_of_its_seed(kind):
    solver = kind()
    solve_path(Q, [1, 2], solver, random_state=5)
    assert solver.drawn == np.random.default_rng(5).random(len(solver.drawn)).tolist()


@pytest.mark.parametrize("solver", [Slow(), SlowPath()], ids=["one by one", "all at once"])
def test_a_path_is_bounded_if_asked(solver):
    with_bound, without = (solve_path(Q, [1, 2], solver, bound=b) for b in ("tight", None))
    assert all(solution.upper_bound < np.inf for solution in with_bound)
    assert all(solution.upper_bound == np.inf for solution in without)


@pytest.mark.parametrize("k", [0, 4])
def test_a_path_beyond_the_items_is_refused(k):
    with pytest.raises(ValueError, match=f"between 1 and the 3 items of Q, not {k}"):
        solve_path(Q, [1, k])


def test_a_solution_prints_itself_as_a_small_table():
    solution = replace(solve(Q, 2, "exact"), names=["red", "green", "blue"])
    assert "red, green" in str(solution)
    assert "proved optimal" in str(solution)
    assert solution.to_frame()["name"].tolist() == ["red", "green"]


def test_a_solution_without_a_bound_says_so():
    assert "no bound" in str(Solution(np.array([0]), 1.0))


@pytest.mark.parametrize("name", sorted(n for n in QUICK if QUICK[n].needs == "columns"))
def test_solvers_that_need_columns_only_take_a_lazy_matrix(name):
    matrix = np.random.default_rng(2).random((25, 25))
    matrix += matrix.T
    lazy = CachedColumns(lambda items: matrix[:, items], matrix.diagonal())
    solution = solve(lazy, 4, name, time_limit=0.3, bound=None, random_state=0)
    assert solution.objective == pytest.approx(BQP(matrix, 4).value(solution.support))


def test_solvers_that_need_the_matrix_refuse_a_lazy_one():
    lazy = CachedColumns(lambda items: Q[:, items], Q.diagonal())
    with pytest.raises(ValueError, match=r"'spectral' needs the whole matrix.*'tpower'"):
        solve(lazy, 1, "spectral")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": None}, "k is missing"),
        ({"solver": "magic"}, "unknown solver 'magic'; choose one of 'linear'"),
        ({"bound": "loose"}, "unknown bound 'loose'"),
        ({"time_limit": 0}, "positive number of seconds"),
    ],
)
def test_bad_options_are_refused_with_the_choices(options, says):
    with pytest.raises(ValueError, match=says):
        solve(Q, **{"k": 2, **options})


@pytest.mark.parametrize("items", [[0, 0], [0, 3], [-1, 0], [0], [0, 1, 2]])
def test_a_solver_that_breaks_the_rules_is_caught(items):
    class Cheat(Solver):
        name, needs = "cheat", "columns"

        def pick(self, problem, run):
            return np.array(items)

    with pytest.raises(RuntimeError, match="'cheat' did not return 2 different items"):
        solve(Q, 2, Cheat())


def test_a_default_bound_of_a_small_problem_is_a_bound_and_better_than_rows():
    rng = np.random.default_rng(3)
    Q = rng.normal(size=(14, 14))
    problem = BQP((Q + Q.T) / 2, 5)
    best = solve(problem, solver="exact", bound=None)
    found = prove(problem, best.support, "fast", Budget(operations=1e10))
    assert best.objective - 1e-9 <= found.value < rows_bound(problem).value
    assert prove(problem, best.support, "fast", Budget(operations=1e10)).value == found.value


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_relaxation_is_computed_where_the_gap_is_wide_and_time_allows(sign, monkeypatch):
    problem, calls = BQP(sign * (np.eye(6) + 1), 3), []  # every choice is worth 12
    none = np.zeros(6, np.bool_)
    monkeypatch.setattr(bounds, "fix_by_rows", lambda *_: (none, none, 12 * sign + 2.0))
    monkeypatch.setattr(
        bounds, "sdp_bound",
        lambda problem: calls.append(1) or Bound(12.0 * sign, "sdp"),
    )  # fmt: skip
    items = np.arange(3)
    assert prove(problem, items, "fast", Budget(operations=1e9)).value == 12 * sign
    assert len(calls) == 1
    monkeypatch.setattr(bounds, "fix_by_rows", lambda *_: (none, none, 12 * sign + 1.0))
    assert (
        prove(problem, items, "fast", Budget(operations=1e9)).value == 12 * sign + 1
    )  # within a tenth
    assert len(calls) == 1


def test_a_default_bound_never_starts_what_takes_longer_than_the_choice(monkeypatch):
    rng = np.random.default_rng(0)
    Q = rng.random((300, 300))
    problem, calls = BQP(Q + Q.T, 20), []
    monkeypatch.setattr(bounds, "sdp_bound", lambda problem: calls.append(1))
    prove(problem, np.arange(20), "fast", Budget(operations=1e7))
    assert not calls


def test_a_default_bound_without_time_is_that_of_rows_or_for_many_items_none():
    rng = np.random.default_rng(0)
    for n, method in ((50, "rows"), (1000, "rows"), (2000, "nothing: no time")):
        Q = rng.random((n, n))
        bound = prove(BQP(Q + Q.T, 5), np.arange(5), "fast", Budget(operations=1.0))
        assert bound.method == method
        assert np.isfinite(bound.value) == (method == "rows")


def test_the_bound_of_a_small_problem_is_the_same_on_a_busy_machine():
    rng = np.random.default_rng(1)
    for n in (4, 6, 9, 12):
        Q = rng.random((n, n))
        problem = BQP(Q + Q.T, n // 2)
        items = solve(problem, solver="search", bound=None, random_state=0).support
        budgets = Budget(operations=MIN_BOUND_OPERATIONS), Budget(operations=1e10)
        least, most = (prove(problem, items, "fast", budget) for budget in budgets)
        assert (least.value, least.method) == (most.value, most.method)


@pytest.mark.parametrize(
    ("spent", "limit", "left", "seconds"),
    [
        (1e6, np.inf, np.inf, MIN_BOUND_OPERATIONS / 1e9),  # a few operations are always allowed
        (2e9, np.inf, np.inf, 2.0),  # as many as the selection took
        (1e9, 1.0, -0.1, 0.1),  # a tenth of the limit, where the solver has used it up
        (0.2e9, 1.0, 0.8, 0.2),
    ],
)
def test_a_default_bound_costs_no_more_than_the_selection_or_the_limit(spent, limit, left, seconds):
    assert default_budget(spent, limit, left).left == seconds


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_without_time_every_solver_gives_a_choice_and_a_path(name):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(260, 260))
    solution = solve(matrix, 5, name, time_limit=1e-6, random_state=0)
    assert len(set(solution.support.tolist())) == 5
    path = solve_path(matrix, [2, 4], name, time_limit=1e-6, bound="tight", random_state=0)
    assert [one.k for one in path] == [2, 4]
    assert all(one.objective <= one.upper_bound for one in path)


def test_a_path_shares_its_time_with_tight_bounds(monkeypatch):
    given_time = []

    def note(problem, items, effort, budget):
        given_time.append(budget.left)
        return Bound(np.inf, "none")

    monkeypatch.setattr("bestk.bqp.solvers._referee.prove", note)
    for solver in (Slow(), SlowPath()):
        given_time.clear()
        solve_path(Q, [1, 2], solver, time_limit=60.0, bound="tight")
        assert len(given_time) == 2
        assert all(29 < seconds <= 60 for seconds in given_time)


def test_a_default_bound_that_says_little_is_none_and_the_solution_says_what_to_do():
    turned = Q[::-1, ::-1]  # the first two are worth 4, and the best 10
    fast, tight = (solve(turned, 2, Slow(), bound=b) for b in ("fast", "tight"))
    assert fast.upper_bound == np.inf
    assert "no useful bound within the time; ask for bound='tight'" in str(fast)
    assert tight.upper_bound < np.inf
    assert "optimality gap: " in str(tight)
    assert solve_path(turned, [2], Slow(), bound="fast")[0].upper_bound == np.inf
    near, far = (replace(fast, upper_bound=share * fast.objective) for share in (1.25, 1.26))
    assert with_useful_bound(near) is near
    assert with_useful_bound(far).upper_bound == np.inf


@pytest.mark.parametrize(
    ("objective", "bound", "words"),
    [
        (2.0, 2.0, "proved optimal"),
        (2.0, 2.0 + 1e-12, "proved optimal"),
        (2.0, 2.0000001, "optimality gap: 0.01% (objective 2.00, upper bound 2.00)"),
        (0.78, 0.817, "optimality gap: 4.8% (objective 0.780, upper bound 0.817)"),
        (2.0, 2.5001, "optimality gap: 26% (objective 2.00, upper bound 2.50)"),
        (-1.0, -0.5, "optimality gap: 50% (objective -1.00, upper bound -0.500)"),
        (0.0, 0.5, "optimality gap: infinite (objective 0.00, upper bound 0.500)"),
        (1.0, np.inf, "no bound requested"),
    ],
)
def test_a_gap_is_told_in_words_that_stay_true(objective, bound, words):
    assert Solution(np.array([0]), objective, bound).quality == words


def test_features_of_every_optimal_selection_are_counted():
    Q = np.diag([9.0, 5.0, 5.0, 0.0])
    found = solve(Q, 2, "exact")
    assert found.quality == "proved optimal"
    assert found.certainty == "at least 1 of 2 features is in every optimal selection"  # not 1, 2
    assert solve(np.diag([9.0, 8.0, 1.0]), 2).certainty.startswith("2 of 2 features are in every")
    assert solve(Q, 2, "forward", bound=None).certainty == ""
