"""The exact solver: equal to brute force, to HiGHS, and honest when the time is up."""

from fractions import Fraction
from itertools import combinations
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import lil_array

from bestk.bqp.problem import BQP, good_choice
from bestk.bqp.relaxations.rows import Branching
from bestk.bqp.relaxations.subproblem import moderate
from bestk.bqp.solvers import _exact
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._exact import Exact, _grid, _Proof

from .conftest import PENALTIES, load_instance, optimum, problems


def random_problem(n, k, seed=0):
    Q = np.random.default_rng(seed).random((n, n))
    return BQP((Q + Q.T) / 2, k)


DEFAULT = Exact()


class Exploring:
    """The exact solver with another number of nodes before it tries the relaxation."""

    def __init__(self, nodes):
        self.nodes = nodes

    def pick(self, problem, run):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_exact, "FIRST_NODES", self.nodes)
            return Exact().pick(problem, run)


def solved(problem, solver=DEFAULT, seconds=60.0, starts=()):
    run = Run(np.random.default_rng(0), perf_counter() + seconds, starts)
    return problem.value(solver.pick(problem, run)), run


def test_hand_worked_choice():
    problem = BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    run = Run()
    assert Exact().pick(problem, run).tolist() == [0, 1]
    assert run.upper_bound == 10.0
    assert run.details["optimal"]


@pytest.mark.parametrize("nodes", [300_000, 0], ids=["enumerating", "bounding"])
@given(problem=problems())
def test_equals_brute_force(nodes, problem):
    value, run = solved(problem, Exploring(nodes))
    size = problem.k**2 * np.abs(problem.Q).max()
    assert value == pytest.approx(optimum(problem), abs=1e-12 * size)
    assert run.details["optimal"]
    assert run.upper_bound == value


FORBIDDEN = [
    [0.95, 0.245, 0.48, 0.49, 0.315],
    [0.245, 0.17, 0.06, 0.56, 0.855],
    [0.48, 0.06, 0.46, 0.78, -1e12],
    [0.49, 0.56, 0.78, 0.44, 0.115],
    [0.315, 0.855, -1e12, 0.115, 0.78],
]


@pytest.mark.parametrize("penalty", [-1e3, -1e6, -1e12, -1e17])
def test_a_forbidden_pair_does_not_blur_the_others(penalty):
    Q = np.array(FORBIDDEN)
    Q[2, 4] = Q[4, 2] = penalty
    value, run = solved(BQP(Q, 2))
    assert value == run.upper_bound == pytest.approx(2.66)
    assert run.details["optimal"]


def test_a_penalty_does_not_blur_entries_that_are_tiny():
    Q = np.array(FORBIDDEN) * 2.0**-200
    value, run = solved(BQP(Q, 2))
    assert value == run.upper_bound == pytest.approx(2.66 * 2.0**-200)
    assert run.details["optimal"]


def test_a_best_value_of_zero_stays_apart_from_items_worth_less():
    value, run = solved(BQP(np.diag([-2.0, 0.0, -1e9]), 1))
    assert value == run.upper_bound == 0.0


def exact_value(problem, items):
    return sum(Fraction(float(problem.Q[i, j])) for i in items for j in items)


@pytest.mark.parametrize("nodes", [300_000, 0], ids=["enumerating", "bounding"])
@given(problem=problems(max_n=9, kinds=["penalties", "copies", "ties"]))
def test_every_claim_of_optimality_is_true_whatever_the_penalties(nodes, problem):
    run = Run(np.random.default_rng(0), perf_counter() + 60.0)
    items = Exploring(nodes).pick(problem, run)
    found = exact_value(problem, items)
    best = max(exact_value(problem, c) for c in combinations(range(problem.n), problem.k))
    assert best - found <= Fraction(1e-9) * abs(best) or not run.details["optimal"]
    assert best - Fraction(run.upper_bound) <= Fraction(1e-9) * abs(best)


@given(problem=problems(max_n=8, kinds=PENALTIES))
def test_raising_penalties_changes_no_good_choice(problem):
    known = problem.value(good_choice(problem))
    raised = moderate(problem, known)
    for items in combinations(range(problem.n), problem.k):
        before, after = problem.value(items), raised.value(items)
        assert after == before or before <= after < known


@given(problem=problems(), limit=st.sampled_from([0.0, 0.002, 0.01]))
def test_a_short_time_gives_a_bound_that_holds(problem, limit):
    value, run = solved(problem, Exploring(0), limit)
    best, size = optimum(problem), problem.k**2 * np.abs(problem.Q).max()
    assert value <= best + 1e-12 * size
    assert best <= run.upper_bound + 1e-12 * size
    decided = run.details["proved_in"] + run.details["proved_out"] + run.details["open"]
    assert decided == problem.n


@given(problem=problems(), share=st.floats(0.0, 1.0))
def test_branching_finds_the_best_choice_above_a_floor(problem, share):
    values = [problem.value(c) for c in combinations(range(problem.n), problem.k)]
    size = problem.n**2 * np.abs(problem.Q).max()
    floor = min(values) + share * (max(values) - min(values)) - 1e-9 * size
    if problem.k == problem.n:
        return
    tree = Branching(problem.Q, problem.k, floor)
    while not tree.advance(7):
        pass
    if size == 0:
        assert tree.choice is None
    else:
        assert problem.value(tree.choice) == pytest.approx(max(values), abs=1e-12 * size)


def highs(problem):
    """The optimum by mixed-integer programming: y_ij = x_i x_j, sum_j y_ij = (k - 1) x_i."""
    n, k = problem.n, problem.k
    pairs = list(combinations(range(n), 2))
    columns = n + len(pairs)
    rows = lil_array((n + 1 + 2 * len(pairs), columns))
    low, high = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
    rows[n, :n], low[n], high[n] = 1, k, k
    for i in range(n):
        rows[i, i] = -(k - 1)
    for p, (i, j) in enumerate(pairs):
        rows[i, n + p] = rows[j, n + p] = 1
        for side, item in enumerate((i, j)):
            rows[n + 1 + 2 * p + side, n + p], rows[n + 1 + 2 * p + side, item] = 1, -1
            low[n + 1 + 2 * p + side] = -np.inf
    cost = np.concatenate([problem.Q.diagonal(), [2 * problem.Q[i, j] for i, j in pairs]])
    whole = np.arange(columns) < n
    answer = milp(
        -cost,
        constraints=LinearConstraint(rows.tocsr(), low, high),
        integrality=whole.astype(int),
        bounds=(0, 1),
        options={"mip_rel_gap": 1e-9},
    )
    return -answer.fun


@pytest.mark.parametrize(
    ("n", "k", "law"),
    [(20, 6, "signed"), (25, 5, "points"), (30, 4, "signed"), (40, 3, "points"), (40, 8, "grades")],
)
@pytest.mark.parametrize("nodes", [300_000, 0], ids=["enumerating", "bounding"])
def test_equals_highs(n, k, law, nodes):
    rng = np.random.default_rng(n)
    X, grades = rng.normal(size=(n, 3)), rng.random(n)
    Q = {
        "signed": X @ X.T,
        "points": np.sqrt(((X[:, None] - X) ** 2).sum(-1)),
        "grades": np.outer(grades, grades) * (1 + 0.3 * rng.random((n, n))),
    }[law]
    problem = BQP(Q, k)
    assert solved(problem, Exploring(nodes))[0] == pytest.approx(highs(problem), rel=1e-6)


def test_proves_a_graph_of_forty_items():
    problem = BQP(load_instance("kcluster_n40_d025_10_k10_1"), 10)
    value, run = solved(problem, Exploring(0))
    assert run.details["optimal"]
    assert value == 58


@pytest.mark.parametrize("k", [10, 20])
def test_proves_an_information_matrix(k):
    best = {10: 37.344080956, 20: 138.175875908}[k]
    value, run = solved(BQP(load_instance("mi_digits64"), k), Exploring(0))
    assert run.details["optimal"]
    assert value == run.upper_bound == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("k", [3, 27])
def test_the_two_ways_agree_on_a_problem_of_thirty_items(k):
    problem = random_problem(30, k)
    quick, slow = (solved(problem, Exploring(nodes))[0] for nodes in (300_000, 0))
    assert quick == pytest.approx(slow, rel=1e-12)


def test_eighty_items_are_proved():
    value, run = solved(random_problem(80, 10))
    assert run.details["optimal"]
    assert run.details["proved_in"] == 10
    assert run.details["open"] == 0
    assert value == run.upper_bound


def test_whole_numbers_need_no_proof_beyond_the_next_whole_number():
    Q = np.random.default_rng(3).integers(0, 10, (40, 40)).astype(float)
    problem = BQP(np.triu(Q, 1) + np.triu(Q, 1).T, 8)
    halves = BQP(problem.Q * 1.1, 8)
    (value, run), (other, _) = solved(problem), solved(halves)
    assert run.details["optimal"]
    assert 1.1 * value == pytest.approx(other, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 6]))
def test_the_step_of_whole_numbers_is_what_all_values_are_multiples_of(seed, unit):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    Q = unit * rng.integers(-4, 5, (n, n)).astype(float)
    Q = np.triu(Q) + np.triu(Q, 1).T
    some = [c for k in (1, 2) for c in combinations(range(n), k)]
    assert _grid(Q) == np.gcd.reduce([int(BQP(Q, 1).value(c)) for c in some])
    assert _grid(Q + 0.5) == 0.0
    assert _grid(Q * 2.0**60 + 2.0**61) == 0.0 or not (Q + 2).any()  # too large to add up exactly


def test_what_has_not_been_looked_at_is_open():
    _, run = solved(random_problem(12, 4), Exploring(0), seconds=0.0)
    assert (run.details["proved_in"], run.details["proved_out"], run.details["open"]) == (0, 0, 12)
    assert not run.details["optimal"]


def test_a_better_choice_must_be_so_by_a_step_or_by_more_than_rounding():
    whole = BQP(np.arange(16.0).reshape(4, 4) // 5 + np.arange(16.0).reshape(4, 4).T // 5, 2)
    for problem, step in ((whole, _grid(whole.Q)), (BQP(whole.Q + 0.25, 2), 0.0)):
        proof = _Proof(problem, Run())
        values = {problem.value(c) for c in combinations(range(4), 2)}
        assert all(v > proof.floor for v in values if v > proof.value)
        assert proof.value < proof.floor < proof.value + (step or 1e-9)


def test_whole_numbers_too_large_for_their_rounding_are_not_told_apart_by_a_step():
    problem = BQP(np.diag(np.append(np.full(1500, 488_000.0), 488_001.0)), 1500)
    proof = _Proof(problem, Run())
    assert _grid(problem.Q) == 1.0
    assert proof.floor < proof.value + 1.0 or proof.upper_bound() >= proof.floor


def test_duplicates_and_ties_do_not_blow_up():
    problem = random_problem(8, 4)
    copies = np.repeat(np.arange(8), 4)
    value, run = solved(BQP(problem.Q[np.ix_(copies, copies)], 12), seconds=20)
    assert run.details["optimal"]
    assert value == run.upper_bound


def test_the_deadline_is_kept_and_the_report_says_how_far_it_got():
    problem = random_problem(200, 40)
    start = perf_counter()
    value, run = solved(problem, seconds=1.0)
    assert perf_counter() - start < 4
    assert not run.details["optimal"]
    assert run.details["proved_in"] + run.details["proved_out"] + run.details["open"] == 200
    assert value < run.upper_bound < 1.5 * value


def test_an_interrupt_leaves_the_best_choice_and_its_bound(monkeypatch):
    problem = random_problem(60, 20)
    run = Run(np.random.default_rng(0))
    monkeypatch.setattr("bestk.bqp.solvers._exact._halves", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Exploring(0).pick(problem, run)
    assert len(run.incumbent) == 20


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_start_is_used():
    problem = random_problem(40, 6)
    run = Run()
    best = Exact().pick(problem, run)
    value, _ = solved(problem, Exploring(0), 0.0, starts=[best])
    assert value == run.upper_bound


def test_same_input_same_output():
    problem = random_problem(50, 12)
    first, second = (Exploring(0).pick(problem, Run()) for _ in range(2))
    np.testing.assert_array_equal(first, second)
