"""Linear, spectral, truncated power and greedy solvers, and the one made of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP, best_first, grow, top_k
from bestk.bqp.solvers import solve_path
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._greedy import Forward, Linear, Spectral
from bestk.bqp.solvers._tpower import TruncatedPower

from .conftest import UNTIED, authors_results, load_instance, optimum, problems

SIMPLE = [
    Linear(),
    Spectral(),
    TruncatedPower(),
    Forward(),
]
Q = np.array([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


def rounding(problem):
    return 1e-12 * problem.n**2 * np.abs(problem.Q).max()


def test_hand_worked_choices():
    assert Linear().pick(BQP(Q, 2), Run()).tolist() == [0, 1]
    assert Forward().pick(BQP(Q, 2), Run()).tolist() == [2, 0]
    assert TruncatedPower().pick(BQP(Q, 2), Run()).tolist() == [0, 1]
    assert sorted(Spectral().pick(BQP(Q, 2), Run())) == [0, 1]


def test_growing_by_hand():
    # 1 helps 0 by 10; then 2 adds 1 + 2 * 1 beside it and 3 adds 3.5 alone
    Q = np.diag([0.0, 0.0, 1.0, 3.5])
    Q[0, 1] = Q[1, 0] = 5.0
    Q[1, 2] = Q[2, 1] = 1.0
    assert grow(BQP(Q, 3), np.array([0])).tolist() == [0, 1, 3]
    assert grow(BQP(Q, 4), np.array([2])).tolist() == [2, 3, 1, 0]


def test_top_k_gives_ties_to_the_lowest_index():
    assert top_k(np.array([2.0, 5.0, 2.0, 2.0, 7.0]), 4).tolist() == [4, 1, 0, 2]
    assert top_k(np.zeros(4), 2).tolist() == [0, 1]


def test_ties_go_to_the_lowest_index_however_many_there_are():
    tied = BQP(np.ones((40, 40)), 30)
    for solver in (Linear(), Forward()):
        assert solver.pick(tied, Run()).tolist() == list(range(30)), solver.name
    thirds = BQP(np.diag(np.arange(40.0) % 3), 40)
    expected = [i for rest in (2, 1, 0) for i in range(rest, 40, 3)]
    assert best_first(thirds, range(39, -1, -1)).tolist() == expected


@given(problem=problems(), seed=st.integers(0, 99))
def test_growing_adds_the_item_that_helps_most_each_time(problem, seed):
    start = np.random.default_rng(seed).permutation(problem.n)[: problem.k // 2]
    for first, grown in ((start, grow(problem, start)), ([], Forward().pick(problem, Run()))):
        assert grown[: len(first)].tolist() == list(first)
        for step in range(len(first), problem.k):
            others = np.setdiff1d(np.arange(problem.n), grown[:step])
            best = max(problem.value([*grown[:step], i]) for i in others)
            assert problem.value(grown[: step + 1]) >= best - rounding(problem)


def test_without_time_tpower_stays_where_it_starts():
    matrix = np.random.default_rng(1).normal(size=(40, 40))
    problem = BQP(matrix + matrix.T, 12)
    late, free = (TruncatedPower().pick(problem, run) for run in (Run(deadline=-np.inf), Run()))
    assert set(late) == set(Linear().pick(problem, Run()))
    assert problem.value(free) > problem.value(late)


@pytest.mark.parametrize("solver", SIMPLE, ids=lambda s: f"{s.name}-{getattr(s, 'shift', '')}")
@given(problem=problems())
def test_a_choice_is_k_different_items_and_not_above_the_optimum(solver, problem):
    items = solver.pick(problem, Run())
    assert len(set(items.tolist())) == len(items) == problem.k
    best = optimum(problem)
    assert problem.value(items) <= best + 1e-9 * abs(best)


@given(problems())
def test_tpower_is_not_below_linear(problem):
    climbed = problem.value(TruncatedPower().pick(problem, Run()))
    start = problem.value(Linear().pick(problem, Run()))
    assert climbed >= start - 1e-8 * np.abs(problem.Q).max()


@pytest.mark.parametrize("solver", [Linear(), TruncatedPower(), Forward()], ids=lambda s: s.name)
@given(problem=problems(kinds=UNTIED))
def test_a_lazy_matrix_gives_the_same_choice(solver, problem):
    lazy = BQP(CachedColumns(lambda i: problem.Q[:, i], problem.diagonal), problem.k)
    here, there = (
        problem.value(solver.pick(lazy, Run())),
        problem.value(solver.pick(problem, Run())),
    )
    np.testing.assert_allclose(here, there, rtol=1e-9)


@pytest.mark.parametrize(
    "solver", [Linear(), Spectral(), TruncatedPower(), Forward()], ids=lambda s: s.name
)
@given(problem=problems())
def test_a_path_holds_the_choice_of_each_k(solver, problem):
    ks = range(1, problem.n + 1)
    for k, solution in zip(ks, solve_path(problem, ks, solver), strict=True):
        np.testing.assert_array_equal(solution.support, solver.pick(BQP(problem.Q, k), Run()))


@given(problem=problems())
def test_a_warm_tpower_path_has_k_items_for_each_k_and_is_not_below_single_runs(problem):
    solver, ks = TruncatedPower(warm_start=True), range(1, problem.n + 1)
    for k, solution in zip(ks, solve_path(problem, ks, solver), strict=True):
        part = problem.with_k(k)
        assert len(set(solution.support.tolist())) == k
        single = part.value(TruncatedPower().pick(part, Run()))
        assert solution.objective >= single - 1e-12 * np.abs(problem.Q).max()


@given(problem=problems())
def test_a_warm_tpower_path_grows_from_the_k_before(problem):
    path = solve_path(problem, range(1, problem.n + 1), TruncatedPower(warm_start=True))
    for before, solution in pairwise(path):
        part = problem.with_k(solution.k)
        grown = part.value(grow(part, before.support))
        assert solution.objective >= grown - 1e-8 * part.k * np.abs(problem.Q).max()


@given(problem=problems())
def test_a_lazy_tpower_path_is_worth_the_same(problem):
    ks = range(1, problem.n + 1)
    lazy = BQP(CachedColumns(lambda i: problem.Q[:, i], problem.diagonal), problem.k)
    here, there = (solve_path(p, ks, "tpower") for p in (problem, lazy))
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(one.objective, other.objective, rtol=1e-9)


@pytest.mark.data
def test_tpower_from_linear_equals_its_authors_results():
    Q = load_instance("airline_usca")
    cases = authors_results("airline_usca", "TPower_DkS")
    assert len(cases) == 15
    for k, published in cases.items():
        problem = BQP(Q, k)
        found = problem.value(TruncatedPower().pick(problem, Run()))
        assert found / k == pytest.approx(published, abs=1e-9), k


def test_tpower_does_not_depend_on_the_scale_of_a_lazy_matrix_without_a_diagonal():
    rng = np.random.default_rng(2)
    Q = np.abs(rng.normal(size=(60, 60)))
    Q += Q.T
    np.fill_diagonal(Q, 0.0)

    def pick(scale):
        columns = CachedColumns(lambda i: scale * Q[:, i], np.zeros(60))
        return TruncatedPower().pick(BQP(columns, 6), Run()).tolist()

    assert pick(2.0**-20) == pick(1.0) == pick(2.0**20)
