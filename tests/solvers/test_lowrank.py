"""LowRank draws as often as its paper says, and scores what it draws on the true matrix."""

from itertools import combinations, pairwise
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.bqp.problem import BQP
from bestk.bqp.solvers import _lowrank, solve_path
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._lowrank import LowRank, along_a_curve, factor

from .conftest import optimum, problems

QUICK = LowRank(samples=300)


def run(seed=0, seconds=np.inf):
    return Run(np.random.default_rng(seed), perf_counter() + seconds)


def random_matrix(n, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return Q + Q.T


def test_the_number_of_draws_is_the_published_one():
    assert LowRank().draws == 926519
    assert LowRank(d=2).draws == 16351
    one = run()
    LowRank(d=2).pick(BQP(random_matrix(12), 4), one)
    assert one.details["draws"] == 16351


def test_a_small_problem_needs_few_draws():
    one = run()
    LowRank().pick(BQP(random_matrix(8), 3), one)
    assert one.details["draws"] == 100 * 56


@given(problem=problems())
def test_no_choice_is_above_the_optimum_or_not_a_choice(problem):
    picked = QUICK.pick(problem, run())
    assert len(set(picked.tolist())) == problem.k
    best = optimum(problem)
    assert problem.value(picked) <= best + 1e-9 * abs(best)


@given(n=st.integers(2, 10), k=st.integers(1, 10), seed=st.integers(0, 1000))
def test_a_positive_matrix_of_rank_one_is_solved(n, k, seed):
    v = np.random.default_rng(seed).normal(size=n)
    problem = BQP(np.outer(v, v), min(k, n))
    picked = LowRank(d=1).pick(problem, run())
    np.testing.assert_allclose(problem.value(picked), optimum(problem), rtol=1e-9, atol=1e-12)


@given(n=st.integers(3, 10), k=st.integers(1, 10), seed=st.integers(0, 1000))
def test_a_positive_matrix_of_rank_two_is_solved_by_many_draws(n, k, seed):
    V = np.random.default_rng(seed).normal(size=(n, 2))
    problem = BQP(V @ V.T, min(k, n))
    picked = LowRank(d=2, samples=20_000).pick(problem, run())
    assert problem.value(picked) >= 0.999 * optimum(problem)


def test_the_factor_is_the_best_approximation_of_its_rank():
    for n in (50, 210):
        Q = random_matrix(n)
        V, signs = factor(Q, 3)
        values = np.sort(np.abs(np.linalg.eigvalsh(Q)))
        rest = np.abs(np.linalg.eigvalsh(Q - (V.T * signs) @ V)).max()
        np.testing.assert_allclose(rest, values[-4], rtol=1e-6)
    V, _ = factor(np.zeros((210, 210)), 3)
    assert not V.any()


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_neighbours_on_the_curve_are_close_and_nothing_is_lost(d):
    draws = np.random.default_rng(0).normal(size=(2000, d))
    curve = along_a_curve(draws)
    assert sorted(map(tuple, curve)) == sorted(map(tuple, draws))
    unit = curve / np.linalg.norm(curve, axis=1, keepdims=True)
    steps = [float(np.linalg.norm(a - b)) for a, b in pairwise(unit)]
    assert np.mean(steps) < 8 * len(draws) ** (-1 / max(1, d - 1))


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(monkeypatch):
    problem, answers = BQP(random_matrix(90), 12), []
    monkeypatch.setattr(_lowrank, "MAX_SCORES", 90 * 100)
    monkeypatch.setattr(_lowrank, "MIN_PIECE", 16)
    for threads in (1, 2, 3):
        monkeypatch.setattr(_lowrank, "n_threads", lambda threads=threads: threads)
        answers.append(LowRank(samples=2000).pick(problem, run(7)).tolist())
    assert answers[0] == answers[1] == answers[2]


def test_renaming_the_items_renames_the_answer():
    Q = random_matrix(40)
    names = np.random.default_rng(3).permutation(40)
    found = QUICK.pick(BQP(Q, 8), run())
    again = QUICK.pick(BQP(Q[np.ix_(names, names)], 8), run())
    assert sorted(names[again].tolist()) == sorted(found.tolist())


def test_the_deadline_is_kept():
    problem, one = BQP(random_matrix(300), 30), run(0, 0.2)
    QUICK.pick(problem, run())
    start, one = perf_counter(), run(0, 0.2)
    picked = LowRank(samples=10**8).pick(problem, one)
    assert perf_counter() - start < 0.8
    assert len(set(picked.tolist())) == 30
    assert 0 < one.details["draws"] < 10**8
    assert len(QUICK.pick(problem, run(0, -1.0))) == 30


@given(problem=problems())
def test_a_path_shares_the_draws_among_its_k(problem):
    ks = sorted({1, (problem.k + 1) // 2, problem.k})
    for k, solution in zip(ks, solve_path(problem, ks, QUICK, random_state=0), strict=True):
        best = optimum(BQP(problem.Q, k))
        assert len(set(solution.support.tolist())) == k
        assert solution.objective <= best + 1e-9 * abs(best)
        assert solution.details["draws"] <= -(-300 // len(ks))


def test_a_path_is_as_good_as_its_draws_on_a_matrix_of_low_rank():
    V = np.random.default_rng(0).normal(size=(60, 3))
    problem, solver = BQP(V @ V.T, 30), LowRank(samples=15_000)
    for solution in solve_path(problem, [5, 10, 30], solver, random_state=0):
        alone = problem.value(solver.pick(problem.with_k(solution.k), run()))
        np.testing.assert_allclose(solution.objective, alone)


def test_the_best_of_a_union_may_be_neither():
    Q = np.full((6, 6), -1.0)
    for a, b in combinations((0, 1, 4), 2):
        Q[a, b] = Q[b, a] = 1.0
    problem = BQP(Q, 3)
    picked = LowRank(samples=2000).pick(problem, run())
    assert problem.value(picked) == optimum(problem)
