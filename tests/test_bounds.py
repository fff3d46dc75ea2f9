"""Bounds are proved: no choice of any problem is worth more than any of them."""

import sys
from fractions import Fraction
from itertools import combinations, product
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.bqp.bounds import BOUNDS, Budget, upper_bound
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP, good_choice, grow, largest_entry
from bestk.bqp.relaxations import dnn
from bestk.bqp.relaxations.admm import DoublyNonnegative, capped, gpu_module
from bestk.bqp.relaxations.dnn import Gap, narrowed_gap
from bestk.bqp.relaxations.eigen import factor_below, largest_eigenvalue, reflect
from bestk.bqp.relaxations.rows import screen
from bestk.bqp.relaxations.sdp import proved_dual
from bestk.bqp.relaxations.subproblem import EPS, Subproblem, moderate, power_of_two
from bestk.bqp.relaxations.triangles import Triangles
from bestk.bqp.solvers import solve

from .solvers.conftest import PENALTIES, listed_cases, load_instance, optimum, problems

ALL = [*BOUNDS, "fast", "tight"]
WORKED = BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("method", ALL)
@given(problem=problems(kinds=PENALTIES))
def test_no_choice_is_worth_more_than_a_bound(method, problem):
    assert optimum(problem) <= upper_bound(problem, method, time_limit=0.02)


@pytest.mark.parametrize("method", ALL)
@given(problem=problems(kinds=PENALTIES), part=st.floats(-1.0, 1.5))
def test_a_bound_holds_whatever_the_best_known_value_is_said_to_be(method, problem, part):
    best = optimum(problem)
    assert best <= upper_bound(problem, method, 0.02, best_known=best * part)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("power", [-40, 40])
def test_a_bound_in_other_units_is_the_same_bound(method, power):
    Q = np.random.default_rng(0).normal(size=(12, 12))
    here, there = (upper_bound(BQP(unit * (Q + Q.T), 4), method) for unit in (1.0, 2.0**power))
    assert there == pytest.approx(2.0**power * here, rel=1e-9)


@pytest.mark.parametrize("power", [-200, 200])
def test_items_outside_the_core_are_bounded_in_any_unit(power, monkeypatch):
    monkeypatch.setattr(dnn, "FOLLOW_ITEMS", 10)
    monkeypatch.setattr(dnn, "MIN_CORE_ITEMS", 10)
    Q = np.random.default_rng(0).normal(size=(30, 30))
    here, there = (BOUNDS["dnn"](BQP(u * (Q + Q.T), 4)) for u in (1.0, 2.0**power))
    assert here.steps > 0
    assert there.value == pytest.approx(2.0**power * here.value, rel=1e-9)


def test_hand_worked_bounds():
    bounds = {name: round(upper_bound(WORKED, name), 6) for name in ("linear", "rows", "dnn")}
    assert bounds == {"linear": 10.0, "rows": 10.0, "dnn": 10.0}


@pytest.mark.parametrize(
    ("method", "k", "entries"),
    [
        ("linear", 30, 30 * 40),
        *((name, 30, 30 * 30) for name in ("rows", "sdp", "dnn")),
        *((name, 40, 40 * 40) for name in ("fast", "tight", "sdp")),
    ],
)
def test_a_bound_leaves_room_for_the_rounding_of_its_sums(method, k, entries):
    """Of equal entries, every choice is worth k^2 of them; k terms round by k eps at most."""
    problem = BQP(np.full((40, 40), entry := 1e12 / 3), k)
    value = BOUNDS[method](problem).value if method in BOUNDS else upper_bound(problem, method)
    room = Fraction(value) - entries * Fraction(entry)
    assert k * EPS * entries * entry <= room <= 1e-3 * entries * entry


@given(problem=problems())
def test_the_fast_bound_is_not_above_that_of_rows(problem):
    size = 1e-9 * problem.k**2 * np.abs(problem.Q).max()
    assert upper_bound(problem, "fast") <= upper_bound(problem, "rows") + size


def test_the_largest_entry_is_so_whatever_its_sign():
    assert largest_entry(np.array([[1.0, -5.0], [-5.0, 2.0]])) == 5.0
    assert largest_entry(np.array([[-1.0, 3.0], [3.0, 2.0]])) == 3.0


@pytest.mark.parametrize("size", [1e-300, 0.75, 1.0, 3.0, 1e300])
def test_a_scale_is_a_power_of_two_above_the_size(size):
    fraction, _ = np.frexp(power_of_two(size))
    assert fraction == 0.5
    assert 0.5 <= size / power_of_two(size) < 1
    assert power_of_two(0.0) == 1.0


def test_a_settled_part_leaves_room_for_the_rounding_of_what_is_in():
    n, k, entry = 160, 101, 0.1
    part = Subproblem.of(BQP(np.full((n, n), entry), k))
    rest = part.without(np.arange(n) < k - 1, np.zeros(n, bool))
    room = Fraction(rest.only_choice().upper_bound) - k**2 * Fraction(entry)
    assert k * EPS * k**2 * entry <= room <= 1e-6


@given(problem=problems())
def test_one_item_or_all_of_them_are_settled_at_once(problem):
    for k in {1, problem.n}:
        part = problem.with_k(k)
        choice = Subproblem.of(part).only_choice()
        assert part.value(choice.items) <= choice.upper_bound
        size = k**2 * np.abs(part.Q).max()
        assert choice.upper_bound == pytest.approx(optimum(part), abs=1e-9 * size)


@pytest.mark.parametrize("inside", [[0, 1], [0], [0, 1, 2]])
def test_a_part_with_every_item_decided_is_bounded_by_its_only_choice(inside):
    problem = BQP(np.diag([4.0, 3.0, 2.0]) + 0.5, len(inside))
    chosen = np.isin(np.arange(3), inside)
    gap = Gap(Subproblem.of(problem).without(chosen, ~chosen), -1e9)
    gap.close()
    assert gap.value == pytest.approx(problem.value(inside))


@given(problem=problems())
def test_a_good_choice_is_greedy_or_by_row_sums_and_no_swap_betters_it(problem):
    found, greedy = good_choice(problem), grow(problem)
    sums = np.argsort(-problem.Q.sum(axis=1), kind="stable")[: problem.k]
    size = 1e-12 * problem.n**2 * np.abs(problem.Q).max()
    assert len(set(found.tolist())) == problem.k
    assert problem.value(found) >= max(problem.value(greedy), problem.value(sums)) - size
    others = set(range(problem.n)) - set(found.tolist())
    for out, new in product(found.tolist(), others):
        swap = [*(i for i in found.tolist() if i != out), new]
        assert problem.value(swap) <= problem.value(found) + size


@given(problem=problems())
def test_row_values_give_the_bound_and_never_screen_out_a_better_choice(problem):
    for name in ("linear", "rows"):
        bound = BOUNDS[name](problem)
        assert np.sort(bound.row_values)[-problem.k :].sum() <= bound.value
        floor = optimum(problem)
        inside, outside = screen(bound.value, bound.row_values, problem.k, floor)
        for items in combinations(range(problem.n), problem.k):
            if problem.value(items) >= floor:
                assert not outside[list(items)].any()
                assert inside.sum() == inside[list(items)].sum()


@given(problem=problems(), steps=st.integers(0, 40), share=st.floats(0.0, 1.0))
def test_deciding_items_loses_no_choice_above_the_floor(problem, steps, share):
    values = {c: problem.value(c) for c in combinations(range(problem.n), problem.k)}
    floor = min(values.values()) + share * (max(values.values()) - min(values.values()))
    gap = Gap(Subproblem.of(problem), floor)
    gap.close(Budget.within(0.01 * (steps / 40), 0.0))
    forced = set(gap.subproblem.inside)
    left = set(gap.subproblem.items) | forced
    for items, value in values.items():
        ruled_out = not forced <= set(items) <= left
        assert value <= (floor if ruled_out else gap.value) or gap.closed
        assert value <= max(floor, gap.value)


@pytest.mark.parametrize("steps", [0, 20])
@given(problem=problems(), seed=seeds, spread=st.sampled_from([0.0, 1e-3, 1.0, 1e3]))
def test_any_multipliers_give_a_bound(steps, problem, seed, spread):
    if problem.k == problem.n:
        return
    relaxation = DoublyNonnegative(
        Subproblem.of(problem), power_of_two(float(np.abs(problem.Q).max()))
    )
    Z = spread * np.random.default_rng(seed).normal(size=relaxation.Z.shape)
    bound = relaxation.bound(Z + Z.T, steps=steps)
    assert optimum(problem) <= bound.value
    inside, outside = screen(bound.value, bound.row_values, problem.k, optimum(problem))
    best = max(combinations(range(problem.n), problem.k), key=problem.value)
    assert not outside[list(best)].any()
    assert set(np.flatnonzero(inside)) <= set(best)


@given(seed=seeds, spread=st.sampled_from([0.0, 0.1, 1.0, 30.0]), steps=st.sampled_from([0, 20]))
def test_any_multipliers_of_a_core_bound_the_choices_with_items_outside_it(seed, spread, steps):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 11))
    k = int(rng.integers(2, n // 2))
    Q = rng.normal(size=(n, n))
    problem = BQP(Q + Q.T, k)
    core = rng.permutation(n)[: rng.integers(2 * k, n)]
    relaxation = DoublyNonnegative(Subproblem.of(problem), 4.0, core)
    Z = spread * rng.normal(size=relaxation.Z.shape)
    for one in (relaxation, relaxation.widened(Subproblem.of(problem), _missing(n, core)[:1])):
        Z = np.pad(Z, (0, len(one.Z) - len(Z)))
        bound = one.bound(Z + Z.T, steps=steps)
        assert optimum(problem) <= bound.value
        inside, outside = screen(bound.value, bound.row_values, k, optimum(problem))
        best = max(combinations(range(n), k), key=problem.value)
        assert not outside[list(best)].any()
        assert set(np.flatnonzero(inside)) <= set(best)


def _missing(n, core):
    return np.setdiff1d(np.arange(n), core)


def test_a_core_that_leaves_nothing_good_out_gives_the_bound_of_the_whole(monkeypatch):
    rng = np.random.default_rng(0)
    worth = np.concatenate([rng.random(30), 0.1 * rng.random(60)])
    problem = BQP(np.add.outer(worth, worth) * (1 + 0.5 * rng.random((90, 90))), 5)
    plain = upper_bound(problem, "dnn", time_limit=20)
    monkeypatch.setattr(dnn, "FOLLOW_ITEMS", 20)
    monkeypatch.setattr(dnn, "MIN_CORE_ITEMS", 20)
    assert upper_bound(problem, "dnn", time_limit=20) <= 1.001 * plain


@pytest.mark.parametrize("method", ALL)
@settings(max_examples=4)
@given(seed=seeds, n=st.integers(17, 60), signed=st.booleans())
def test_no_bound_of_up_to_sixty_items_is_below_the_proved_optimum(method, seed, n, signed):
    rng = np.random.default_rng(seed)
    worth = rng.random(n) * (1 - 2 * signed * rng.random(n))
    Q = np.add.outer(worth, worth) * (0.5 + rng.random((n, n)))
    if rng.random() < 0.5:
        copied = rng.integers(0, n, n)
        Q = np.round(Q[np.ix_(copied, copied)], 1)
    problem = BQP(Q + Q.T, int(rng.integers(2, 9)))
    best = solve(problem, solver="exact", time_limit=1.0, bound=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dnn, "FOLLOW_ITEMS", 20)
        patch.setattr(dnn, "MIN_CORE_ITEMS", 20)
        assert best.objective <= upper_bound(problem, method, 0.1, best_known=best.objective)
        rest = narrowed_gap(problem, Budget.within(0.1, 0.0), best.objective).subproblem
    if method == "tight":
        chosen = set(best.support.tolist())
        assert set(rest.inside.tolist()) <= chosen <= {*rest.inside.tolist(), *rest.items.tolist()}


@given(seed=seeds)
def test_triangles_of_any_weight_lower_no_choice(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    triangles = Triangles(n)
    triangles.items = np.array([rng.permutation(n)[:3] for _ in range(5)])
    triangles.weights = np.zeros(5)
    Y = rng.normal(size=(n + 1, n + 1))
    change = triangles.update_weights(lambda rows, columns: Y[rows, columns], 3.0)
    np.testing.assert_array_equal(change, triangles.weights)
    E = np.zeros((n, n))
    triangles.add_to(E, triangles.weights)
    np.testing.assert_array_equal(E, E.T)
    for choice in product([0.0, 1.0], repeat=n):
        assert np.array(choice) @ E @ np.array(choice) >= 0
    left = rng.random(n) < 0.8
    places = np.flatnonzero(left)
    rest = places[triangles.for_items(places).items]
    assert set(map(tuple, rest)) <= set(map(tuple, triangles.items))


def test_by_hand_a_triangle_that_does_not_hold_is_found_once():
    Y = np.full((4, 4), 0.5)
    Y[2, 3] = Y[3, 2] = 0.0  # items 1 and 2 are each always with item 0, and never together
    triangles = Triangles(3)
    assert triangles.find(Y) == 1
    assert triangles.items.tolist() == [[0, 1, 2]]
    triangles.update_weights(lambda rows, columns: Y[rows, columns], 1.0)
    assert triangles.weights.tolist() == [0.5]
    assert triangles.find(Y) == 0


def test_a_bound_counts_the_steps_that_it_took():
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(24, 24))
    gap = Gap(Subproblem.of(BQP(Q + Q.T, 8)), 0.0)
    gap.close(Budget.within(1.0, 0.0), patience=0.5)
    assert gap.steps == gap.relaxation.steps > 0


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=9), st.data())
def test_the_nearest_point_with_a_given_sum_differs_by_one_shift_where_it_is_free(target, data):
    k = data.draw(st.integers(1, len(target)))
    point = capped(np.array(target), k)
    assert point.sum() == pytest.approx(k)
    assert 0.0 <= point.min() <= point.max() <= 1.0
    shifts = target - point  # those of free entries are equal, of zeros lower, of ones higher
    zeros, ones, free = (shifts[point == 0], shifts[point == 1], shifts[(point > 0) & (point < 1)])
    assert max([*zeros, *free], default=-9.0) <= min([*free, *ones]) + 1e-9


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_relaxation_that_there_is_no_time_for_is_not_set_up(share, monkeypatch):
    monkeypatch.setattr(dnn, "FOLLOW_ITEMS", 10)
    monkeypatch.setattr(dnn, "ROWS_SHARE", share)
    monkeypatch.setattr(dnn, "SECONDS_OF_PROOF", 1.0)  # times n^3
    Q = np.random.default_rng(0).normal(size=(30, 30))
    problem = BQP(Q + Q.T, 4)
    gap = narrowed_gap(problem, Budget.within(2.0, 0.0))
    assert gap.relaxation is None
    assert gap.value <= upper_bound(problem, "rows")


def test_the_library_of_a_gpu_is_not_loaded_for_a_short_time(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert gpu_module(5000, seconds=1.0) is None
    assert "torch" not in sys.modules


def test_negative_entries_of_the_diagonal_lower_the_linear_bound():
    assert upper_bound(BQP(np.diag([-1.0, -2.0, -3.0]), 2), "linear") == pytest.approx(-3.0)


def test_a_semidefinite_bound_leaves_room_for_rounding_where_it_is_tight():
    """Of equal entries q, d = 0 and a = q / 2 give T = 0, and k^2 q, the value of every choice."""
    n, k, q, d = 200, 190, 1e12 / 3, 1e-3
    problem = BQP(np.full((n, n), q), k)
    value = proved_dual(problem, np.full(n, d), np.full(n, q / 2), q)
    room = Fraction(value) - k**2 * Fraction(q) - k * Fraction(d)
    assert k * EPS * k**2 * q <= room <= 1e-6 * k**2 * q


def test_definite_by_less_than_rounding_is_not_proved_definite():
    assert factor_below(np.diag([0.0] * 9 + [1.0 - 1e-15]), 1.0) is None
    assert factor_below(np.diag([0.0] * 9 + [1.0 - 1e-12]), 1.0) is not None


@given(problem=problems())
def test_a_relaxation_starts_at_the_mean_of_all_choices(problem):
    scale = power_of_two(float(np.abs(problem.Q).max()))
    relaxation = DoublyNonnegative(Subproblem.of(problem), scale)
    lifted = [np.isin(np.arange(problem.n), c) for c in combinations(range(problem.n), problem.k)]
    ones = np.column_stack([np.ones(len(lifted)), lifted])
    np.testing.assert_allclose(relaxation.Y, ones.T @ ones / len(ones), atol=1e-12)


@pytest.mark.parametrize("penalty", [1e-6, 1e6])
def test_a_penalty_far_from_its_balance_moves_towards_it_every_ten_steps(penalty):
    Q = np.random.default_rng(0).random((12, 12))
    relaxation = DoublyNonnegative(Subproblem.of(BQP(Q + Q.T, 4)), 2.0)
    relaxation.penalty = penalty
    seen = []
    for _ in range(30):
        relaxation.project()
        relaxation.update()
        seen.append(relaxation.penalty)
    factor = 1.5 if penalty < 1 else 1 / 1.5
    expected = penalty * np.repeat([1, factor, factor**2, factor**3], [9, 10, 10, 1])
    np.testing.assert_allclose(seen, expected)


@given(problem=problems(), seed=seeds)
def test_a_restricted_relaxation_starts_from_the_bound_of_the_whole(problem, seed):
    if not 2 < problem.k < problem.n - 2:
        return
    rng = np.random.default_rng(seed)
    part = Subproblem.of(problem)
    relaxation = DoublyNonnegative(part, power_of_two(float(np.abs(problem.Q).max())))
    for _ in range(20):
        relaxation.project()
        relaxation.update()
    relaxation.project()
    relaxation.Z = relaxation.multipliers()
    whole = relaxation.bound(relaxation.Z).value
    first, second = rng.permutation(problem.n)[:2]
    inside, outside = np.arange(problem.n) == first, np.arange(problem.n) == second
    rest = part.without(inside, outside)
    smaller = relaxation.restricted(rest, inside, outside)
    value = smaller.bound(smaller.Z).value
    assert rest.base + value <= whole + 1e-6 * problem.n**2 * relaxation.scale
    choices = (c for c in combinations(range(problem.n), problem.k) if first in c)
    assert max(problem.value(c) for c in choices if second not in c) <= rest.base + value


@given(seed=seeds, n=st.integers(1, 12), scale=st.sampled_from([1e-12, 1.0, 1e12]))
def test_an_eigenvalue_is_never_above_its_bound(seed, n, scale):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, rng.integers(1, n + 1)))
    A = scale * (factor @ factor.T) * rng.choice([-1, 1])
    level = largest_eigenvalue(A)
    top = np.linalg.eigvalsh(A)[-1]
    assert top <= level <= top + 1e-10 * n * np.abs(A).sum() + 1e-200
    assert factor_below(A, top - 1e-6 * np.abs(A).sum()) is None


def test_reflecting_leaves_out_the_direction_of_the_sum():
    n, k = 7, 3
    A = np.random.default_rng(0).normal(size=(n + 1, n + 1))
    A += A.T
    N = np.concatenate([[-k], np.ones(n)])
    basis = np.linalg.svd(N[None])[2][1:].T
    v = np.concatenate([[-k - np.sqrt(n + k**2)], np.ones(n)])
    inner = reflect(A, v / np.linalg.norm(v))
    np.testing.assert_allclose(np.linalg.eigvalsh(inner), np.linalg.eigvalsh(basis.T @ A @ basis))


@given(seed=seeds, n=st.integers(2, 9))
def test_the_appendix_of_the_paper(seed, n):
    """2 q(x*) <= q(xbar) for q(x) = x'Qx - ||Q||_1 <= 0, xbar the k largest row sums, Q >= 0."""
    rng = np.random.default_rng(seed)
    Q = rng.random((n, n)) * rng.integers(0, 2, (n, n))
    problem = BQP(Q + Q.T, int(rng.integers(1, n + 1)))
    xbar = np.argsort(-problem.Q.sum(axis=1))[: problem.k]
    best, total = optimum(problem), float(problem.Q.sum())
    assert 2 * (best - total) <= problem.value(xbar) - total + 1e-9
    assert best <= problem.Q.sum(axis=1)[xbar].sum() + 1e-9  # LP2 bounds BQP
    assert upper_bound(problem, "linear") == pytest.approx(problem.Q.sum(axis=1)[xbar].sum())


def test_tighter_methods_are_tighter_on_an_information_matrix():
    problem = BQP(load_instance("mi_digits64"), 10)
    best = 37.344080956
    gaps = {name: upper_bound(problem, name, 5, best) / best - 1 for name in BOUNDS}
    assert gaps["linear"] > gaps["rows"] > gaps["dnn"] >= -1e-9
    assert gaps["rows"] < 0.04
    assert gaps["dnn"] < 1e-3


@pytest.mark.parametrize(("name", "k", "best"), listed_cases("GKD-b"))
def test_distances_between_points_have_a_small_gap(name, k, best):
    assert upper_bound(BQP(load_instance(name), k), "tight", 5, best) < 1.005 * best


def test_time_is_up_and_the_bound_still_holds():
    Q = np.random.default_rng(0).random((300, 300))
    problem = BQP(Q + Q.T, 30)
    start = perf_counter()
    short = BOUNDS["dnn"](problem, time_limit=0.2)
    assert perf_counter() - start < 3
    assert short.value >= problem.value(range(30))


def test_a_lazy_problem_has_no_fast_bound():
    Q = np.ones((4, 4))
    lazy = BQP(CachedColumns(lambda items: Q[:, items], Q.diagonal()), 2)
    assert upper_bound(lazy) == np.inf


def test_the_only_choice_of_a_lazy_problem_is_its_bound():
    Q = np.add.outer(np.arange(4.0), np.arange(4.0))
    lazy = BQP(CachedColumns(lambda items: Q[:, items], Q.diagonal()), 4)
    assert upper_bound(lazy, "tight") == pytest.approx(Q.sum())


def test_an_unknown_bound_is_refused_with_the_names_of_the_known():
    with pytest.raises(ValueError, match="choose one of 'linear', 'rows', 'antisymmetric', 'sdp'"):
        upper_bound(WORKED, "magic")


def test_by_hand_items_are_screened_by_their_rows():
    inside, outside = screen(10.0, np.array([6.0, 4.0, 3.5, 1.0]), k=2, floor=9.0)
    assert inside.tolist() == [True, False, False, False]
    assert outside.tolist() == [False, False, False, True]


def test_by_hand_penalties_are_raised_as_far_as_they_stay_penalties():
    Q = [[1.0, 0.5, -1e12], [0.5, 2.0, 1.0], [-1e12, 1.0, 3.0]]
    assert moderate(BQP(Q, k=2), value=7.0).Q.min() == -21.0
    assert moderate(BQP(Q, k=3), value=-2e12).Q.min() == -1e12  # every choice has the penalty


def test_penalties_are_raised_to_the_size_of_the_other_entries_in_any_unit():
    Q = 2.0**-200 * np.array([[1.0, 0.5, 0.0], [0.5, 2.0, 1.0], [0.0, 1.0, 3.0]])
    Q[0, 2] = Q[2, 0] = -1e12
    assert moderate(BQP(Q, k=2), value=7 * 2.0**-200).Q.min() > -100 * 2.0**-200
