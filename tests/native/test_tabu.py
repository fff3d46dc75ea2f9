"""The walks and populations of the search, step by step, against their slow twins."""

from itertools import product

import numpy as np
import pytest

from bestk.bqp.problem import BQP
from bestk.bqp.solvers._search import (
    BEST,
    BORN,
    CHAMPION,
    CHOSEN,
    CROWN,
    N_TABU,
    POOL,
    SIZE,
    STALE,
    STEP,
    VALUE,
    WAIT,
    WALK_BEST,
    WORTH,
    YOUNG,
    Population,
    least_entries,
)
from bestk.native import kernels

pytestmark = pytest.mark.usefixtures("cpu")
SIZES = [(1, 1), (2, 1), (9, 4), (31, 2), (32, 31), (33, 31), (40, 7), (64, 20), (70, 33)]
NO_STARTS = np.zeros((0, 1), np.uint8)


def signed(n, k, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return BQP(Q + Q.T, k)


def tied(n, k, seed=0):
    Q = np.random.default_rng(seed).integers(-1, 2, (n, n)).astype(float)
    return BQP(Q + Q.T, k)


def rules(problem, depth=1000, patience=10**6):
    """The kernel with its problem, and with how long a walk and an island last."""
    Q = problem.Q
    return kernels.tabu_advance.bind(Q, least_entries(Q), len(Q), problem.k, depth, patience)


def advance(kernel, isle, starts, steps):
    kernel(steps, starts, len(starts), len(isle.masks) - POOL, *isle)


def mask(n, items):
    one = np.zeros((1, n), np.uint8)
    one[0, items] = 1
    return one


def items_of(row):
    return np.flatnonzero(row)


def lone(problem, seed=7, population=4):
    """An island whose walk stands at a random choice."""
    isle = Population.empty(problem.n, population, seed)
    items = np.random.default_rng(seed).permutation(problem.n)[: problem.k]
    advance(rules(problem), isle, mask(problem.n, items), 0)
    assert sorted(items.tolist()) == items_of(isle.masks[CHOSEN]).tolist()
    return isle


def held(isle):
    return isle.tabu[1, : isle.counts[N_TABU]]


def best_gain(problem, isle):
    """The gain of the best swap without tabu items, or of any if only that is a new best."""
    fixed, chosen = set(held(isle).tolist()), isle.masks[CHOSEN].astype(bool)
    gains = {}
    for u, v in product(np.flatnonzero(chosen), np.flatnonzero(~chosen)):
        gains[u, v] = isle.gains[v] - isle.gains[u] - 2 * problem.Q[u, v]
    free = max(gain for (u, v), gain in gains.items() if not {u, v} & fixed)
    wanted, best = isle.values[BEST] - isle.values[VALUE] + 1e-9, max(gains.values())
    return best if free <= wanted < best else free


@pytest.mark.parametrize("kind", [signed, tied])
@pytest.mark.parametrize(("n", "k"), SIZES[2:])
def test_a_walk_makes_the_best_swap_that_is_allowed_and_keeps_its_books(n, k, kind):
    problem = kind(n, k)
    isle, kernel = lone(problem), rules(problem)
    seen = isle.values[VALUE]
    for step in range(1, 61):
        expected, before = best_gain(problem, isle), isle.masks[CHOSEN].copy()
        value = isle.values[VALUE]
        advance(kernel, isle, NO_STARTS, 1)
        moved = np.flatnonzero(before != isle.masks[CHOSEN])
        assert len(moved) == 2
        np.testing.assert_allclose(isle.values[VALUE] - value, expected, atol=1e-9)
        chosen = items_of(isle.masks[CHOSEN])
        assert len(chosen) == k
        np.testing.assert_allclose(isle.values[VALUE], problem.value(chosen), atol=1e-9)
        np.testing.assert_allclose(isle.gains, problem.gains(chosen), atol=1e-9)
        seen = max(seen, isle.values[VALUE])
        np.testing.assert_allclose(isle.values[BEST], seen)
        np.testing.assert_allclose(problem.value(items_of(isle.masks[WALK_BEST])), seen)
        assert isle.counts[STEP] == step
        assert len(set(held(isle).tolist())) == len(held(isle))
        assert set(held(isle).tolist()) == set(np.flatnonzero(isle.tabu[0]).tolist())
        assert (isle.tabu[0, held(isle)] > step).all()
        if min(k, n - k) > 3:
            assert set(moved.tolist()) <= set(held(isle).tolist())


def test_a_walk_ends_at_a_depth_without_a_new_best():
    problem = signed(30, 6)
    isle, kernel = lone(problem), rules(problem, depth=25)
    while isle.counts[BORN] == 1:
        before = isle._replace(values=isle.values.copy(), counts=isle.counts.copy())
        advance(kernel, isle, NO_STARTS, 1)
        advance(kernel, isle, NO_STARTS, 1)
    assert 25 <= before.counts[STEP] < 20 * 25
    np.testing.assert_allclose(isle.values[CROWN], before.values[BEST])


@pytest.mark.parametrize("kind", [signed, tied])
@pytest.mark.parametrize(("n", "k"), SIZES)
def test_a_value_and_what_each_item_adds_are_those_of_the_problem(n, k, kind):
    problem = kind(n, k)
    isle = lone(problem)
    chosen = items_of(isle.masks[CHOSEN])
    np.testing.assert_allclose(isle.values[VALUE], problem.value(chosen), atol=1e-9)
    np.testing.assert_allclose(isle.gains, problem.gains(chosen), atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 40])
def test_the_least_entries_are_those_off_the_diagonal(n):
    Q = signed(n, 1).Q
    expected = np.where(np.eye(n, dtype=bool), np.inf, Q).min(axis=1)
    np.testing.assert_array_equal(least_entries(Q), expected)


@pytest.mark.parametrize("size", [0, 3, 8])
def test_a_start_is_filled_up_by_what_helps_most(size):
    problem, isle = signed(20, 8), Population.empty(20, 4, 1)
    items = np.random.default_rng(2).permutation(20)[:size].tolist()
    advance(rules(problem), isle, mask(20, items), 0)
    while len(items) < 8:
        others = set(range(20)) - set(items)
        items = max(([*items, new] for new in others), key=problem.value)
    assert items_of(isle.masks[CHOSEN]).tolist() == sorted(items)


def test_random_choices_have_k_items_each_as_often_as_another():
    problem, isle = signed(12, 4), Population.empty(12, 4, 5)
    kernel, often = rules(problem), np.zeros(12)
    for _ in range(3000):
        isle.counts[:] = 0
        advance(kernel, isle, NO_STARTS, 0)
        assert isle.masks[CHOSEN].sum() == 4
        often += isle.masks[CHOSEN]
    np.testing.assert_allclose(often, 1000, rtol=0.12)


def test_a_child_keeps_what_its_parents_share_and_has_the_rest_from_either():
    problem, rng = signed(20, 8), np.random.default_rng(0)
    isle, kernel, shares, copies = Population.empty(20, 3, 9), rules(signed(20, 8)), set(), 0
    pool = isle.masks[POOL:]
    for member in pool:
        member[rng.permutation(20)[:8]] = 1
    for _ in range(60):
        isle.counts[[BORN, YOUNG, SIZE]] = 0, 3, 3  # the people are all there
        advance(kernel, isle, NO_STARTS, 0)
        child = isle.masks[CHOSEN]
        assert child.sum() == problem.k
        parents = {
            (a, b)
            for a, b in [(0, 1), (0, 2), (1, 2)]
            if (child >= (pool[a] & pool[b])).all() and (child <= (pool[a] | pool[b])).all()
        }
        assert parents
        shares |= parents if len(parents) == 1 else set()
        copies += (child == pool).all(axis=1).any()
    assert shares == {(0, 1), (0, 2), (1, 2)}  # any two
    assert copies < 15  # by chance a few, but no one is both parents


def test_an_island_knows_the_worth_of_its_people_and_keeps_no_one_twice():
    problem = signed(60, 15)
    isle, kernel = Population.empty(60, 5, 3), rules(problem, depth=5)
    starts, crowns, full = np.zeros((1, 60), np.uint8), [], 0
    for _ in range(150):
        advance(kernel, isle, starts, 40)
        people = [items_of(row).tolist() for row in isle.masks[POOL : POOL + isle.counts[SIZE]]]
        values = [problem.value(items) for items in people]
        np.testing.assert_allclose(isle.values[WORTH : WORTH + len(people)], values)
        assert len({*map(tuple, people)}) == len(people)
        assert all(len(items) == 15 for items in people)
        full = max(full, len(people))
        if isle.counts[BORN] > 1:
            crowns.append(problem.value(items_of(isle.masks[CHAMPION])))
            np.testing.assert_allclose(isle.values[CROWN], crowns[-1])
            assert crowns[-1] >= max(values, default=-np.inf) - 1e-9
    assert full == 5
    assert crowns == sorted(crowns)
    assert isle.counts[WAIT] >= isle.counts[STALE]


def test_an_island_rests_when_its_patience_is_over():
    problem, isle = signed(12, 3), Population.empty(12, 4, 3)
    kernel = rules(problem, depth=12, patience=9)
    advance(kernel, isle, NO_STARTS, 10**6)
    assert isle.counts[WAIT] >= 9
    born = isle.counts[BORN]
    advance(kernel, isle, NO_STARTS, 10**6)
    assert isle.counts[BORN] == born


def test_a_random_walk_that_ends_at_the_champion_again_is_worth_ten_others():
    problem, isle = signed(12, 3), Population.empty(12, 4, 3)
    kernel = rules(problem, depth=200, patience=10**6)  # so deep that every walk finds the optimum
    waits = []
    while isle.counts[BORN] < 4:  # of a population of 4, all from random choices
        born = isle.counts[BORN]
        advance(kernel, isle, NO_STARTS, 1)
        if isle.counts[BORN] > born > 0:
            waits.append(int(isle.counts[WAIT]))
    assert waits == [0, 10, 20]


@pytest.mark.parametrize("slices", [[3000], [1, 2999], [7] * 428 + [4]])
def test_a_walk_is_the_same_however_it_is_cut_into_calls(slices):
    problem = tied(45, 9)
    isle, whole = lone(problem), lone(problem)
    advance(rules(problem, depth=4000), whole, NO_STARTS, 3000)
    for steps in slices:
        advance(rules(problem, depth=4000), isle, NO_STARTS, steps)
    for name in ("masks", "gains", "tabu", "values", "counts", "random"):
        np.testing.assert_array_equal(getattr(isle, name), getattr(whole, name), err_msg=name)
