"""The search finds what brute force finds, from any start, on any number of threads."""

import threading
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP
from bestk.bqp.solvers import _search
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._search import Search
from bestk.native.threads import threads

from .conftest import load_instance, optimum, problems

QUICK = Search(patience=5)


class Columns(CachedColumns):
    """A matrix that only shows columns, and remembers which were asked for."""

    def __init__(self, Q):
        self.Q, self.asked = Q, set()
        super().__init__(lambda items: Q[:, items], Q.diagonal())

    def columns(self, items):
        self.asked |= {int(i) for i in items}
        return super().columns(items)


def random_matrix(n, seed=0, signed=False):
    rng = np.random.default_rng(seed)
    Q = rng.normal(size=(n, n)) if signed else rng.random((n, n))
    return Q + Q.T


def run(seed=0, seconds=np.inf, starts=()):
    return Run(np.random.default_rng(seed), perf_counter() + seconds, starts)


def is_choice(items, problem):
    return len(set(items.tolist())) == len(items) == problem.k and set(items) <= {*range(problem.n)}


def test_a_swap_gains_what_the_two_items_add_to_the_others():
    Q = random_matrix(9, signed=True)
    problem, u, v = BQP(Q, 4), 2, 7
    p = problem.gains([0, 1, u, 3])
    gain = p[v] - p[u] - 2 * Q[u, v]
    np.testing.assert_allclose(problem.value([0, 1, v, 3]) - problem.value([0, 1, u, 3]), gain)


@given(problem=problems())
def test_small_problems_are_solved(problem):
    picked = QUICK.pick(problem, run())
    assert is_choice(picked, problem)
    np.testing.assert_allclose(problem.value(picked), optimum(problem), rtol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 32, 39, 40])
def test_a_diagonal_matrix_gives_its_largest_entries(k):
    diagonal = np.random.default_rng(0).permutation(40) - 20.0
    picked = QUICK.pick(BQP(np.diag(diagonal), k), run())
    assert picked.tolist() == np.argsort(-diagonal)[:k].tolist()


@given(problem=problems(), seed=st.integers(0, 1000))
def test_renaming_the_items_renames_the_answer(problem, seed):
    names = np.random.default_rng(seed).permutation(problem.n)
    renamed = BQP(np.ascontiguousarray(problem.Q[np.ix_(names, names)]), problem.k)
    found, again = QUICK.pick(problem, run()), QUICK.pick(renamed, run())
    np.testing.assert_allclose(problem.value(names[again]), problem.value(found), rtol=1e-9)


def test_items_come_most_important_first():
    problem = BQP(random_matrix(30), 6)
    picked = QUICK.pick(problem, run())
    assert (np.diff(problem.gains(picked)[picked]) <= 0).all()


def test_the_same_seed_gives_the_same_answer_however_the_time_is_sliced(monkeypatch):
    problem = BQP(random_matrix(120, signed=True), 30)
    runs = [run(3), run(3)]
    first = QUICK.pick(problem, runs[0])
    monkeypatch.setattr(_search, "SLICE_SECONDS", 1e-4)
    assert first.tolist() == QUICK.pick(problem, runs[1]).tolist()
    assert runs[0].details["walks"] == runs[1].details["walks"]


def test_the_number_of_threads_does_not_matter():
    problem = BQP(random_matrix(80), 20)
    search, answers = Search(patience=4, islands=3), []
    for n_jobs in (1, 2, 3):
        one = run(5)
        with threads(n_jobs):
            answers.append((search.pick(problem, one).tolist(), one.details["walks"]))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("seconds", [-1.0, 0.01, 0.3])
@pytest.mark.parametrize("lazy", [False, True])
def test_the_deadline_is_kept(seconds, lazy):
    Q = random_matrix(400, signed=True)
    problem = BQP(Columns(Q) if lazy else Q, 60)
    start = perf_counter()
    picked = Search(patience=10**6).pick(problem, run(0, seconds))
    assert is_choice(picked, problem)
    assert perf_counter() - start < max(seconds, 0) + 0.5


def test_a_good_start_is_not_lost():
    problem = BQP(random_matrix(300, signed=True), 40)
    good = Search(patience=10).pick(problem, run(0))
    picked = QUICK.pick(problem, run(9, seconds=0.01, starts=[good]))
    assert problem.value(picked) >= problem.value(good) - 1e-9


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("shift", [-5.0, 0.0, 5.0])
def test_a_constant_on_every_pair_or_a_scale_changes_nothing(scale, shift):
    Q = np.random.default_rng(4).integers(0, 50, (60, 60)).astype(float)
    Q += Q.T
    problem, moved = BQP(Q, 12), BQP((Q + shift) * scale, 12)
    found = problem.value(QUICK.pick(problem, run()))
    np.testing.assert_allclose(problem.value(QUICK.pick(moved, run())), found)


def test_pairs_forbidden_by_a_huge_penalty_are_avoided():
    Q = random_matrix(50)
    problem = BQP(Q, 6)
    best = QUICK.pick(problem, run())
    fined = Q.copy()
    fined[best[0], best[1:]] = fined[best[1:], best[0]] = -1e9
    picked = QUICK.pick(BQP(fined, 6), run())
    assert not (best[0] in picked and set(best[1:]) & set(picked))
    free = np.delete(np.arange(50), best[0])
    without = problem.value(free[QUICK.pick(BQP(Q[np.ix_(free, free)], 6), run())])
    assert problem.value(picked) >= without - 1e-9


@given(problem=problems())
def test_columns_are_enough(problem):
    lazy = BQP(Columns(problem.Q), problem.k)
    picked = QUICK.pick(lazy, run())
    assert is_choice(picked, problem)
    np.testing.assert_allclose(problem.value(picked), optimum(problem), rtol=1e-9)


def test_few_columns_are_asked_for():
    Q = random_matrix(1500, seed=1)
    weight = np.random.default_rng(1).random(1500)
    source = Columns(Q * weight * weight[:, None])
    picked = QUICK.pick(BQP(source, 10), run())
    assert len(source.asked) < 600
    whole = BQP(source.Q, 10)
    best = whole.value(QUICK.pick(whole, run()))
    assert whole.value(picked) >= best * (1 - 1e-9)


@pytest.mark.parametrize("size", [0, 5, 30, 70])
def test_columns_in_small_blocks_give_the_same_gains_and_blocks(size, monkeypatch):
    Q = random_matrix(70, signed=True)
    problem = BQP(Columns(Q), 30)
    items = np.random.default_rng(size).permutation(70)[:size]
    monkeypatch.setattr("bestk.bqp.lazy.MAX_BLOCK", 8 * 70)
    np.testing.assert_allclose(problem.gains(items), BQP(Q, 30).gains(items), atol=1e-9)
    np.testing.assert_array_equal(problem.block(items), Q[np.ix_(items, items)])


def test_the_best_of_several_starts_is_taken():
    Q = random_matrix(50, signed=True)
    problem, rng = BQP(Columns(Q), 10), np.random.default_rng(0)
    starts = [rng.permutation(50)[:10] for _ in range(5)]
    best = max(BQP(Q, 10).value(start) for start in starts)
    found = QUICK.pick(problem, run(seconds=-1.0, starts=starts))
    assert BQP(Q, 10).value(found) == pytest.approx(best)


def test_without_a_deadline_the_steps_add_up_to_the_work():
    assert sum(_search._counted_slices(50, 50 * 1000.7)) == 1000
    assert sum(_search._counted_slices(50, 3)) == 64  # at least a look
    slices = list(_search._counted_slices(50, 50 * 10**6))
    assert sum(slices) == 10**6
    assert len(slices) > 1  # and looks for an interrupt from one to the next


@pytest.mark.parametrize(("count", "patience"), [(1, 50), (2, 50), (4, 25), (1000, 3)])
def test_a_path_of_many_k_takes_as_long_as_two_single_ones(count, patience):
    share = Search().for_path(count)
    assert share.patience == patience
    assert share.work * max(count, 2) == pytest.approx(2 * Search().work)


def test_an_interrupt_leaves_the_best_so_far_and_no_thread(monkeypatch):
    problem = BQP(random_matrix(100, signed=True), 20)
    one, threads, calls = run(), threading.active_count(), []

    def interrupt(price, most):
        yield 2000
        calls.append(one.incumbent.copy())
        raise KeyboardInterrupt

    monkeypatch.setattr(_search, "_counted_slices", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Search().pick(problem, one)
    assert one.incumbent.tolist() == calls[0].tolist()
    assert is_choice(one.incumbent, problem)
    assert threading.active_count() == threads


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "k", "best"),
    [
        ("MDG-a_1_n500_m50", 50, 7833.83),
        ("MDG-b_1_n500_m50", 50, 778030.57),
        ("GKD-c_1_n500_m50", 50, 19485.18697),
        ("SOM-b_18_n500_m100", 100, 26258),
        ("tsplib_rd400", 40, 607626.841447),
    ],
)
def test_the_best_known_value_is_found(name, k, best):
    problem = BQP(load_instance(name), k)
    picked = Search().pick(problem, run())
    assert problem.value(picked) >= 2 * best * (1 - 1e-6)


def test_the_only_item_outside_is_never_under_tabu():
    """A tabu that a new best overrides would leave nothing to swap, and lose an item."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        Q = -rng.integers(0, 3, (8, 8)).astype(float)
        i, j = rng.integers(0, 8, (2, 6))
        Q[i, j] = -(10.0 ** rng.uniform(3, 17, 6))
        problem = BQP(Q + Q.T, 7)
        picked = Search().pick(problem, Run(np.random.default_rng(0)))
        assert len(set(picked.tolist())) == 7
