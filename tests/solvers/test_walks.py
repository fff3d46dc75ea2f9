"""The kernels of the search, step by step, against their slow twins."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.problem import BQP
from bestk.solvers import _islands as islands
from bestk.solvers import _tabu as tabu
from bestk.solvers._islands import BORN, SIZE, STALE, WAIT, advance, least_entries, new_island
from bestk.solvers._search import by_rows
from bestk.solvers._tabu import BEST, N_TABU, STEP, VALUE

from .conftest import problems

seeds = st.integers(1, 2**32)


def signed(n, k, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return BQP(by_rows(Q + Q.T), k)


def lone(problem, seed=7, population=4):
    """An island whose walk stands at a random choice."""
    isle = new_island(problem.n, population, seed)
    items = np.random.default_rng(seed).permutation(problem.n)[: problem.k]
    isle.walk.chosen[items] = True
    value = islands._value(problem.Q, isle.walk.chosen, isle.walk.p)
    tabu.set_out(problem.Q, isle.walk, value)
    return isle


def close(problem):
    return {"rtol": 1e-9, "atol": 1e-9 * problem.n * (np.abs(problem.Q).max() or 1.0)}


def best_gain(problem, walk):
    """The gain of the best swap of items not under tabu, or of any if it leads to a new best."""
    held = set(walk.tabu[: walk.counts[N_TABU]].tolist())
    now, gains = walk.values[VALUE], {}
    for u, v in product(np.flatnonzero(walk.chosen), np.flatnonzero(~walk.chosen)):
        gains[u, v] = walk.p[v] - walk.p[u] - 2 * problem.Q[u, v]
    free = [gain for (u, v), gain in gains.items() if not {u, v} & held]
    best = max(gains.values())
    return best if now + best > walk.values[BEST] + 1e-9 else max(free)


@pytest.mark.parametrize(("n", "k"), [(9, 4), (40, 7), (70, 33), (33, 31)])
def test_a_walk_makes_the_best_swap_that_is_allowed_and_keeps_its_books(n, k):
    problem = signed(n, k)
    walk, least = lone(problem).walk, least_entries(problem.Q)
    seen = walk.values[VALUE]
    for step in range(1, 61):
        expected, before = best_gain(problem, walk), walk.chosen.copy()
        value = walk.values[VALUE]
        assert tabu.stroll(problem.Q, least, walk, k, 1000, 1) == 0
        moved = np.flatnonzero(before != walk.chosen)
        assert len(moved) == 2
        assert walk.chosen.sum() == k
        np.testing.assert_allclose(walk.values[VALUE] - value, expected, atol=1e-9)
        chosen = np.flatnonzero(walk.chosen)
        np.testing.assert_allclose(walk.values[VALUE], problem.value(chosen), atol=1e-9)
        np.testing.assert_allclose(walk.p, problem.gains(chosen), atol=1e-9)
        seen = max(seen, walk.values[VALUE])
        np.testing.assert_allclose(walk.values[BEST], seen)
        np.testing.assert_allclose(problem.value(np.flatnonzero(walk.best)), seen)
        held = walk.tabu[: walk.counts[N_TABU]]
        assert walk.counts[STEP] == step
        assert len(set(held.tolist())) == len(held)
        assert set(held.tolist()) == set(np.flatnonzero(walk.until).tolist())
        assert (walk.until[held] > step).all()
        assert set(moved.tolist()) <= set(held.tolist())


def test_a_walk_ends_at_a_depth_without_a_new_best():
    problem = signed(30, 6)
    walk, least = lone(problem).walk, least_entries(problem.Q)
    left = tabu.stroll(problem.Q, least, walk, 6, 25, 10_000)
    assert walk.counts[STEP] == 10_000 - left
    best = problem.value(np.flatnonzero(walk.best))
    tabu.stroll(problem.Q, least, walk, 6, 25, 10_000)
    assert walk.counts[STEP] == 10_000 - left  # it is over
    assert 25 <= walk.counts[STEP] < 20 * 25
    assert walk.values[BEST] == pytest.approx(best)


@settings(max_examples=25)
@given(problem=problems(), seed=seeds)
def test_a_value_and_what_each_item_adds_are_those_of_the_problem(problem, seed):
    walk = lone(problem, seed).walk
    chosen = np.flatnonzero(walk.chosen)
    np.testing.assert_allclose(walk.values[VALUE], problem.value(chosen), **close(problem))
    np.testing.assert_allclose(walk.p, problem.gains(chosen), **close(problem))


@given(problem=problems())
def test_the_least_entries_are_those_off_the_diagonal(problem):
    Q = problem.Q + np.diag(np.full(problem.n, np.inf))
    expected = Q.min(axis=1) if problem.n > 1 else [np.inf]
    np.testing.assert_array_equal(least_entries(by_rows(problem.Q)), expected)


@pytest.mark.parametrize("size", [0, 3, 8, 20])
def test_a_start_is_repaired_by_what_is_missed_least_or_helps_most(size):
    problem = signed(20, 8)
    walk = new_island(20, 4, 1).walk
    items = np.random.default_rng(2).permutation(20)[:size].tolist()
    walk.chosen[items] = True
    islands._repair(problem.Q, 8, walk)
    while len(items) > 8:
        items = max(([i for i in items if i != out] for out in items), key=problem.value)
    while len(items) < 8:
        others = set(range(20)) - set(items)
        items = max(([*items, new] for new in others), key=problem.value)
    assert np.flatnonzero(walk.chosen).tolist() == sorted(items)


def test_random_choices_have_k_items_each_as_often_as_another():
    walk = new_island(12, 4, 5).walk
    often = np.zeros(12)
    for _ in range(3000):
        islands._choose_any(4, walk)
        assert walk.chosen.sum() == 4
        often += walk.chosen
    np.testing.assert_allclose(often, 1000, rtol=0.12)


def test_a_child_keeps_what_its_parents_share_and_has_the_rest_from_either():
    problem, rng = signed(20, 8), np.random.default_rng(0)
    isle, shares, copies = new_island(20, 3, 9), set(), 0
    for member in isle.pool:
        member[rng.permutation(20)[:8]] = True
    isle.tally[SIZE] = 3
    for _ in range(60):
        islands._cross(problem.Q, 8, isle)
        child = isle.walk.chosen
        assert child.sum() == 8
        parents = {
            (a, b)
            for a, b in [(0, 1), (0, 2), (1, 2)]
            if (child >= (isle.pool[a] & isle.pool[b])).all()
            and (child <= (isle.pool[a] | isle.pool[b])).all()
        }
        assert parents
        shares |= parents if len(parents) == 1 else set()
        copies += (child == isle.pool).all(axis=1).any()
    assert shares == {(0, 1), (0, 2), (1, 2)}  # any two
    assert copies < 15  # by chance a few, but no one is both parents


def test_an_island_knows_the_worth_of_its_people_and_keeps_no_one_twice():
    problem = signed(60, 15)
    isle, least = new_island(60, 5, 3), least_entries(problem.Q)
    starts, crowns, full = np.zeros((1, 60), np.bool_), [], 0
    for _ in range(150):
        advance(problem.Q, least, 15, isle, starts, 5, 10**6, 40)
        people = [np.flatnonzero(member).tolist() for member in isle.pool[: isle.tally[SIZE]]]
        values = [problem.value(items) for items in people]
        np.testing.assert_allclose(isle.worth[: len(people)], values)
        assert len({*map(tuple, people)}) == len(people)
        assert all(len(items) == 15 for items in people)
        full = max(full, len(people))
        if isle.tally[BORN] > 1:
            crowns.append(problem.value(np.flatnonzero(isle.champion)))
            np.testing.assert_allclose(isle.crown[0], crowns[-1])
            assert crowns[-1] >= max(values, default=-np.inf) - 1e-9
    assert full == 5
    assert crowns == sorted(crowns)
    assert isle.tally[WAIT] >= isle.tally[STALE]


def test_an_island_rests_when_its_patience_is_over():
    problem = signed(12, 3)
    isle, least = new_island(12, 4, 3), least_entries(problem.Q)
    starts = np.zeros((0, 12), np.bool_)
    advance(problem.Q, least, 3, isle, starts, 12, 9, 10**6)
    assert isle.tally[WAIT] == 9
    born = isle.tally[BORN]
    advance(problem.Q, least, 3, isle, starts, 12, 9, 10**6)
    assert isle.tally[BORN] == born
