"""The greedy choice, mended by swaps: a choice that no single swap improves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP, best_first, grow, improve
from bestk.bqp.solvers import _greedy, solve, solve_path
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._greedy import Forward, Swap
from bestk.native import kernels

from .conftest import optimum, problems

# greedy takes 2, which is best alone, and cannot have the pair that is best together
PAIR = np.array([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


def rounding(problem):
    return 1e-9 * (np.abs(problem.Q).max() or 1.0)


def swaps(problem, items):
    """The value after each swap of a chosen item for another."""
    others = set(range(problem.n)) - set(items.tolist())
    return [
        problem.value([new if i == old else i for i in items]) for old in items for new in others
    ]


class Watched(CachedColumns):
    """A lazy matrix that notes which columns were asked for."""

    def __init__(self, Q):
        self.asked = set()
        super().__init__(lambda items: Q[:, items], Q.diagonal())

    def columns(self, items):
        self.asked |= {int(item) for item in items}
        return super().columns(items)


def test_the_pair_that_greedy_misses_is_found():
    assert Forward().pick(BQP(PAIR, 2), Run()).tolist() == [2, 0]
    assert Swap().pick(BQP(PAIR, 2), Run()).tolist() == [0, 1]


def best_swap(columns, gains, chosen, least):
    """The place of the item to drop and the item to add, or -1."""
    swap = np.empty(2, np.int64)
    floors = columns.min(axis=1)
    kernels.best_swap(columns, *columns.shape, gains, chosen, floors, least, swap)
    return tuple(swap.tolist())


def test_the_best_of_several_swaps_is_made_and_the_first_of_equal_ones():
    Q = np.diag([3.0, 2.0, 5.0, 5.0])
    gains, chosen = Q.diagonal().copy(), np.array([0, 1])
    assert best_swap(Q[chosen], gains, chosen, 0.0) == (1, 2)
    assert best_swap(Q[chosen], gains, chosen, 3.0) == (-1, -1)


@given(n=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_the_best_swap_is_the_first_of_the_largest_gains(n, seed):
    rng = np.random.default_rng(seed)
    Q, gains = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-9, 9, n).astype(float)
    chosen, best, found = rng.permutation(n)[: rng.integers(1, n + 1)], 1.0, (-1, -1)
    for place, old in enumerate(chosen):
        for new in sorted(set(range(n)) - set(chosen.tolist())):
            gain = gains[new] - gains[old] - 2 * Q[old, new]
            if gain > best:
                best, found = gain, (place, new)
    assert best_swap(Q[chosen], gains, chosen, 1.0) == found


def test_a_pair_of_which_each_is_worth_nothing_alone_is_found_from_a_start_of_its_own():
    Q = np.diag([2.0, 2.0, 0.0, 0.0])
    Q[2, 3] = Q[3, 2] = 5.0
    assert Forward().pick(BQP(Q, 2), Run()).tolist() == [0, 1]
    assert Swap().pick(BQP(Q, 2), Run()).tolist() == [2, 3]
    many = np.diag(np.full(60, 2.0))
    many[58:, 58:] = [[0.0, 5.0], [5.0, 0.0]]
    assert Swap().pick(BQP(many, 2), Run()).tolist() == [58, 59]


@given(problems())
def test_pairs_to_start_from_are_the_best_by_hand_and_share_no_item(problem):
    n, Q, weight = problem.n, problem.Q, problem.k - 1
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_greedy, "MAX_PAIRS", n)
        pairs = list(Swap()._pairs(problem))
    if problem.k in (1, n):
        assert not pairs
        return
    worth = {
        (i, j): Q[i, i] + Q[j, j] + 2 * weight * Q[i, j] for i in range(n) for j in range(i + 1, n)
    }
    most = max(worth.values())
    assert worth[tuple(pairs[0].tolist())] == pytest.approx(most, rel=1e-9)
    assert len({int(item) for pair in pairs for item in pair}) == 2 * len(pairs)


@pytest.mark.parametrize("lazy", [False, True])
def test_every_pair_to_start_from_holds_an_item_and_its_best_partner(lazy, monkeypatch):
    monkeypatch.setattr("bestk.bqp.lazy.MAX_BLOCK", 40 * 7)  # seven columns at a time
    rng = np.random.default_rng(0)
    Q, weight = rng.normal(size=(40, 40)), 4
    Q += Q.T
    matrix = CachedColumns(lambda i: Q[:, i], Q.diagonal()) if lazy else Q
    own = Q.diagonal()
    worth = own[:, None] + own + 2 * weight * Q
    np.fill_diagonal(worth, -np.inf)
    best = worth.max(axis=1)
    values = []
    for i, j in Swap()._pairs(BQP(matrix, weight + 1)):
        values.append(worth[i, j])
        assert worth[i, j] in (best[i], best[j])
    assert values[0] == best.max()
    assert len(values) == _greedy.MAX_PAIRS
    assert values == sorted(values, reverse=True)


@given(problems())
def test_it_is_never_below_forward_nor_above_the_optimum(problem):
    value = problem.value(Swap().pick(problem, Run()))
    assert value >= problem.value(Forward().pick(problem, Run())) - rounding(problem)
    best = optimum(problem)
    assert value <= best + 1e-9 * abs(best)


@given(problems())
def test_no_single_swap_improves_the_choice(problem):
    items = Swap().pick(problem, Run())
    assert len(set(items.tolist())) == problem.k
    value = problem.value(items)
    assert all(other <= value + rounding(problem) for other in swaps(problem, items))


@given(problems(), st.randoms(use_true_random=False))
def test_mending_makes_the_best_swap_each_time(problem, random):
    chosen = np.array(random.sample(range(problem.n), problem.k), np.int64)
    before = problem.value(chosen)
    after = problem.value(improve(problem, chosen))
    best = max([before, *swaps(problem, chosen)])
    assert after >= best - rounding(problem)


@given(problems())
def test_items_stand_by_what_each_adds_to_the_others(problem):
    items = Swap().pick(problem, Run())
    np.testing.assert_array_equal(items, best_first(problem, items))


@given(problems())
def test_a_single_item_is_the_best_one(problem):
    one = problem.with_k(1)
    assert one.value(Swap().pick(one, Run())) == problem.diagonal.max()


@given(problems())
def test_without_pairs_it_is_the_optimum(problem):
    alone = BQP(np.diag(problem.diagonal), problem.k)
    found = alone.value(Swap().pick(alone, Run()))
    np.testing.assert_allclose(found, optimum(alone), rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(5))
def test_where_one_group_is_better_than_all_others_it_is_found(seed):
    rng = np.random.default_rng(seed)
    planted = np.sort(rng.permutation(30)[:6])
    Q = rng.normal(scale=0.1, size=(30, 30))
    Q[np.ix_(planted, planted)] += 1.0
    Q += Q.T
    assert np.sort(solve(Q, 6, "swap").support).tolist() == planted.tolist()
    assert solve(Q, 6, "swap").objective == pytest.approx(solve(Q, 6, "exact").objective)


@given(problems(), st.randoms(use_true_random=False))
def test_no_swap_betters_what_any_start_ends_in(problem, random):
    start = np.array(random.sample(range(problem.n), problem.k), np.int64)
    items = Swap().pick(problem, Run(starts=[start]))
    assert len(set(items.tolist())) == len(items) == problem.k
    value = problem.value(items)
    assert all(other <= value + rounding(problem) for other in swaps(problem, items))


@given(problems())
def test_a_lazy_matrix_gives_the_same_choice(problem):
    lazy = BQP(CachedColumns(lambda i: problem.Q[:, i], problem.diagonal), problem.k)
    np.testing.assert_array_equal(Swap().pick(lazy, Run()), Swap().pick(problem, Run()))


def passed_by(problem, start):
    """Every item that is chosen at some time, from a start on."""
    chosen = grow(problem, start)
    passed = set(chosen.tolist())
    while True:
        columns = problem.Q[chosen]
        out, new = best_swap(columns, problem.gains(chosen), chosen, 1e-9)
        if out < 0:
            return passed
        chosen[out] = new
        passed.add(int(new))


@pytest.mark.parametrize("pairs", [0, 3])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 12))
def test_only_columns_of_the_most_relevant_items_and_of_chosen_ones_are_asked_for(pairs, seed, k):
    rng = np.random.default_rng(seed)
    Q = rng.normal(size=(40, 40))
    Q += Q.T
    problem, solver = BQP(Q, k), Swap()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_greedy, "MAX_PAIRS", pairs)
        patched.setattr(_greedy, "MAX_SCANNED", 0)
        patched.setattr(_greedy, "MIN_SCANNED_ITEMS", 5)
        starts = list(solver._pairs(problem))
        lazy = Watched(Q)
        solver.pick(BQP(lazy, k), Run())
    allowed = set() if not pairs or k == 1 else set(np.argsort(-Q.diagonal())[:5].tolist())
    for start in (np.empty(0, np.int64), *starts):
        allowed |= passed_by(problem, start)
    assert lazy.asked <= allowed


@given(problems())
def test_a_path_is_not_below_single_solutions(problem):
    ks = list(range(1, problem.n + 1))
    for k, solution in zip(ks, solve_path(problem, ks, "swap"), strict=True):
        alone = solve(problem.with_k(k), solver="swap")
        assert solution.objective >= alone.objective - rounding(problem)


def test_without_time_the_greedy_choice_stands():
    late = Run(deadline=-float("inf"))
    assert Swap().pick(BQP(PAIR, 2), late).tolist() == [2, 0]
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(60, 60))
    problem = BQP(Q + Q.T, 20)
    greedy, mended = (problem.value(Swap().pick(problem, run)) for run in (late, Run()))
    assert greedy == pytest.approx(problem.value(Forward().pick(problem, Run())))
    assert mended > greedy + 1


@given(problems())
def test_the_order_of_items_changes_nothing_but_places(problem):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(problem.n, problem.n))  # no two choices are worth the same
    Q = problem.Q / (np.abs(problem.Q).max() or 1.0) + noise + noise.T
    order = rng.permutation(problem.n)
    before = Swap().pick(BQP(Q, problem.k), Run())
    after = Swap().pick(BQP(Q[np.ix_(order, order)], problem.k), Run())
    assert set(order[after].tolist()) == set(before.tolist())
