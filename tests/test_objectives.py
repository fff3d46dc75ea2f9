"""Objectives: x'Qx of a choice is the formula of the objective, whole or by the column."""

from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.bqp.solvers import solve
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._greedy import Forward
from bestk.bqp.solvers._simplex import Centred, minimise
from bestk.information import Entropies, GaussianSource, Measure, ScoredTable
from bestk.methods.greedy import CRITERIA, pick_greedily
from bestk.methods.quadratic import OBJECTIVES, QPFS, QuadraticMIFS, get_objective
from bestk.tables.codes import encode
from bestk.tables.target import NumericTarget, read_classes

from .information.conftest import brute_entropy, tables

BIT = np.log(2)
NEAR = {"rtol": 1e-9, "atol": 1e-11}
every = pytest.mark.parametrize("name", OBJECTIVES)
by_column = pytest.mark.parametrize("name", [n for n in OBJECTIVES if n != "qpfs"])
seeds = st.integers(0, 2**32 - 1)
small = tables(max_features=6, max_levels=4, max_classes=4, max_samples=60)
# a bit, its copy, and the other bit of a class of two bits
TWO_BITS = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]), np.arange(4)


def count(X, y, correction=None):
    return Entropies.count(encode(X), read_classes(y, len(y)), correction=correction)


def gaussian(X, y):
    target = NumericTarget(y) if isinstance(y, np.ndarray) else y
    source = GaussianSource(ScoredTable(X, target))
    return Entropies(*source.singles, source)


def value(pairs, choice):
    problem, scale = pairs.problem(len(choice))
    return scale * problem.value(choice)


def draw_choice(n, seed, k=None):
    rng = np.random.default_rng(seed)
    return rng.permutation(n)[: rng.integers(1, n + 1) if k is None else k].tolist()


class Counted:
    """f = I(xi; y), J = I(xi, xj; y), H = I(xi; xj), G = I(xi; xj | y), by plain counting."""

    def __init__(self, X, y):
        n, columns, y = X.shape[1], X.T.tolist(), y.tolist()
        h = brute_entropy
        self.f = [h(a) + h(y) - h(a, y) for a in columns]
        self.J, self.H, self.G = np.empty((3, n, n))
        for i, a in enumerate(columns):
            for j, b in enumerate(columns):
                self.J[i, j] = h(a, b) + h(y) - h(a, b, y)
                self.H[i, j] = h(a) + h(b) - h(a, b)
                self.G[i, j] = h(a, y) + h(b, y) - h(a, b, y) - h(y)


class Measured:
    """The same from entropies that are not plain counts."""

    def __init__(self, h):
        self.f, self.J = h.mi(), h.joint_mi()
        self.H, self.G = h.pair_mi(), h.pair_cmi()
        np.fill_diagonal(self.H, h.copy_mi())


def qpfs(t, S):
    total = np.mean(t.H) + max(0.0, np.mean(t.f))
    alpha = np.mean(t.H) / total if total > 0 else 0.5
    relevance = len(S) * sum(t.f[i] for i in S)
    return alpha * relevance - (1 - alpha) * sum(t.H[i, j] for i in S for j in S) / 2


def mean_over_partners(total, S):
    return total / (len(S) - 1) if len(S) > 1 else 0.0


def balanced(t, S):
    shared = t.H - 0.75 * t.G
    taken = sum(shared[i, j] for i, j in permutations(S, 2))
    return sum(t.f[i] for i in S) - taken / max(2, len(S) - 1)


# what a choice S is worth
FORMULAS = {
    "cmi": lambda t, S: (
        sum(t.f[i] for i in S) + sum(t.J[i, j] - t.f[i] for i, j in permutations(S, 2))
    ),
    "jmi": lambda t, S: (
        t.f[S[0]]
        if len(S) == 1
        else mean_over_partners(sum(t.J[i, j] for i, j in permutations(S, 2)), S)
    ),
    "mrmr": lambda t, S: (
        sum(t.f[i] for i in S)
        - mean_over_partners(sum(t.H[i, j] for i, j in permutations(S, 2)), S)
    ),
    "mifs": lambda t, S: sum(t.f[i] for i in S) - sum(t.H[i, j] for i, j in combinations(S, 2)),
    "cife": lambda t, S: (
        sum(t.f[i] for i in S) + sum(t.G[i, j] - t.H[i, j] for i, j in combinations(S, 2))
    ),
    "balanced": balanced,
    "maxrel": lambda t, S: sum(t.f[i] for i in S),
    "qpfs": qpfs,
}


@pytest.mark.parametrize(
    ("name", "copies", "both_bits"),
    [
        ("cmi", 2 * BIT, 4 * BIT),
        ("jmi", 2 * BIT, 4 * BIT),
        ("mrmr", 0, 2 * BIT),
        ("mifs", BIT, 2 * BIT),
        ("cife", BIT, 2 * BIT),
        ("balanced", BIT, 2 * BIT),
        ("maxrel", 2 * BIT, 2 * BIT),
    ],
)
def test_a_bit_with_its_copy_and_with_the_other_bit(name, copies, both_bits):
    pairs = OBJECTIVES[name].pairs(count(*TWO_BITS))
    np.testing.assert_allclose(value(pairs, [0, 1]), copies, atol=1e-15)
    np.testing.assert_allclose(value(pairs, [0, 2]), both_bits)


def test_a_single_feature_is_worth_its_relevance_to_all_but_qpfs():
    X, y = np.array([[0, 0], [0, 1], [1, 1], [1, 1]]), [0, 0, 1, 1]
    relevance = [BIT, count(X, y).mi()[1]]
    for name in sorted(set(OBJECTIVES) - {"qpfs"}):
        pairs = OBJECTIVES[name].pairs(count(X, y))
        np.testing.assert_allclose([value(pairs, [0]), value(pairs, [1])], relevance)


@every
@given(table=small, seed=seeds)
def test_the_value_of_a_choice_is_the_formula(name, table, seed):
    X, y = table
    S = draw_choice(X.shape[1], seed)
    found = value(OBJECTIVES[name].pairs(count(X, y)), S)
    np.testing.assert_allclose(found, FORMULAS[name](Counted(X, y), S), **NEAR)


@settings(max_examples=30)
@given(table=small, seed=seeds)
def test_cmi_is_the_sum_over_ordered_pairs_less_the_relevance(table, seed):
    X, y = table
    S = draw_choice(X.shape[1], seed)
    t, k = Counted(X, y), len(S)
    ordered = sum(t.J[i, j] for i, j in permutations(S, 2)) - (k - 2) * sum(t.f[i] for i in S)
    np.testing.assert_allclose(value(OBJECTIVES["cmi"].pairs(count(X, y)), S), ordered, **NEAR)


@every
@pytest.mark.parametrize("kind", ["chance", "miller-madow", "gaussian", "number"])
@settings(max_examples=12)
@given(seed=seeds)
def test_the_formula_holds_for_every_estimate(name, kind, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 6)), rng.integers(0, 3, 30)
    y[:3] = 0, 1, 2
    if kind == "number":
        h = gaussian(X, X[:, 0] + rng.normal(size=30))
    elif kind == "gaussian":
        h = gaussian(X, read_classes(y, 30))
    else:
        h = count((X * 2 + 5).astype(int).clip(0), y, kind)
    S = draw_choice(6, seed)
    found = value(OBJECTIVES[name].pairs(h), S)
    np.testing.assert_allclose(found, FORMULAS[name](Measured(h), S), **NEAR)


@by_column
@settings(max_examples=30)
@given(table=small, seed=seeds, room=st.integers(1, 4))
def test_columns_made_when_asked_for_are_those_of_the_matrix(name, table, seed, room):
    X, y = table
    h, n = count(X, y), X.shape[1]
    whole, lazy = OBJECTIVES[name].pairs(h), OBJECTIVES[name].lazy_pairs(h, memory=8 * n * room)
    for k in draw_choice(n, seed):
        (dense, scale), (by_column, same) = whole.problem(k + 1), lazy.problem(k + 1)
        assert scale == same
        assert by_column.is_lazy
        np.testing.assert_array_equal(by_column.diagonal, dense.diagonal)
        items = np.random.default_rng(seed).integers(0, n, 3)
        np.testing.assert_array_equal(by_column.columns(items), dense.columns(items))


@by_column
def test_gaussian_columns_are_those_of_the_matrix(name):
    rng = np.random.default_rng(0)
    h = gaussian(rng.normal(size=(40, 9)), read_classes(np.arange(40) % 3, 40))
    (dense, _), (lazy, _) = (
        p.problem(3) for p in (OBJECTIVES[name].pairs(h), OBJECTIVES[name].lazy_pairs(h))
    )
    np.testing.assert_allclose(lazy.columns(np.arange(9)), dense.Q, **NEAR)


@every
@settings(max_examples=20)
@given(table=small)
def test_the_matrix_is_symmetric_to_the_last_bit_for_every_k(name, table):
    X, y = table
    pairs = OBJECTIVES[name].pairs(count(X, y))
    for k in range(1, X.shape[1] + 1):
        problem, scale = pairs.problem(k)
        assert scale > 0
        np.testing.assert_array_equal(problem.Q, problem.Q.T)


@every
@settings(max_examples=20)
@given(table=small, seed=seeds)
def test_a_problem_for_one_k_stays_as_it_is_when_others_are_made(name, table, seed):
    X, y = table
    n = X.shape[1]
    S = draw_choice(n, seed)
    h = count(X, y)
    for pairs in (OBJECTIVES[name].pairs(h), OBJECTIVES[name].pairs(h).ready_for(len(S))):
        problem, scale = pairs.problem(len(S))
        value_before = problem.value(S)
        for k in range(1, n + 1):
            pairs.problem(k)
        assert problem.value(S) == value_before
        np.testing.assert_allclose(scale * value_before, FORMULAS[name](Counted(X, y), S), **NEAR)


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if OBJECTIVES[name].same_for_all_k])
@settings(max_examples=20)
@given(table=small)
def test_objectives_that_are_the_same_for_all_k_have_one_matrix(name, table):
    X, y = table
    pairs = OBJECTIVES[name].pairs(count(X, y))
    first, scale = pairs.problem(1)
    before = first.Q.copy()
    last, same = pairs.problem(X.shape[1])
    assert scale == same
    np.testing.assert_array_equal(last.Q, before)


@pytest.mark.parametrize(
    ("objective", "criterion"),
    [
        ("cife", CRITERIA["cife"]),
        ("mifs", CRITERIA["mifs"]),
        ("maxrel", CRITERIA["maxrel"]),
    ],
)
@given(table=small)
def test_forward_is_the_greedy_criterion_of_the_same_name(objective, criterion, table):
    X, y = table
    h, n = count(X, y), X.shape[1]
    problem, _ = OBJECTIVES[objective].pairs(h).problem(n)
    ours, greedy = Forward().pick(problem, Run()), pick_greedily(criterion, h, n)[0]
    differ = np.flatnonzero(ours != greedy)
    if len(differ):  # only where rounding breaks a tie
        gains = problem.gains(ours[: differ[0]])
        assert abs(gains[ours[differ[0]]] - gains[greedy[differ[0]]]) < 1e-9


@settings(max_examples=20)
@given(seed=seeds)
def test_qpfs_by_the_simplex_solver_is_the_ranking_of_its_own_weights(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 80)
    X = (rng.normal(size=(80, 8)) + rng.random(8) * y[:, None] > 0.5) + (rng.random((80, 8)) > 0.7)
    h = count(X, y)
    H = h.pair_mi()
    np.fill_diagonal(H, h.x)
    weight = H.mean() / (H.mean() + h.mi().mean())
    A = Centred(H, 1 - weight)
    x = minimise(A, weight * h.mi() - (1 - weight) * A.g)[0]
    solution = solve(QPFS().pairs(h).problem(8)[0], solver="simplex", bound=None)
    np.testing.assert_allclose(solution.details["weights"], x, atol=1e-7)
    used = np.count_nonzero(x > 1e-6)
    assert (np.diff(x[solution.support[:used]]) <= 1e-7).all()
    assert set(solution.support[:used]) == set(np.flatnonzero(x > 1e-6))


def test_qpfs_weighs_relevance_by_its_mean_and_redundancy_by_its_own():
    h = count(*TWO_BITS)  # mean relevance 1 bit, mean of H (3 + 2) / 9 bits
    alpha, H = (5 / 9) / (5 / 9 + 1), h.pair_mi()
    np.fill_diagonal(H, h.x)
    by_hand = alpha * np.add.outer(h.mi(), h.mi()) / 2 - (1 - alpha) * H / 2
    np.testing.assert_allclose(QPFS().pairs(h).problem(2)[0].Q, by_hand)


def test_qpfs_looks_at_relevance_alone_where_all_is_worse_than_chance():
    rng = np.random.default_rng(2)
    h = count(rng.integers(0, 3, (40, 5)), rng.integers(0, 3, 40), "chance")
    assert h.mi().mean() < 0
    np.testing.assert_allclose(
        QPFS().pairs(h).problem(2)[0].Q, np.add.outer(h.mi(), h.mi()) / 2, atol=1e-12
    )


def test_qpfs_of_constant_columns_is_worth_nothing():
    problem, _ = QPFS().pairs(count(np.zeros((4, 3), int), [0, 0, 1, 1])).problem(2)
    assert (problem.Q == 0).all()


def test_a_measure_whose_sums_may_not_fit_is_refused():
    with pytest.raises(OverflowError, match=r"add up to 40.*divide them all"):
        count(*TWO_BITS).measure(Measure(xx=20, xi=-20))


def test_qpfs_by_the_column_is_refused_with_another_way():
    with pytest.raises(MemoryError, match=r"needs all pairs of 3 features.*such as 'mrmr'"):
        QPFS().lazy_pairs(count(*TWO_BITS))


def test_an_unknown_objective_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="unknown objective 'cmi2'; did you mean 'cmi'"):
        get_objective("cmi2")
    assert get_objective(QuadraticMIFS()) == QuadraticMIFS()


def test_qpfs_without_a_matrix_is_refused_with_the_memory_it_would_take():
    with pytest.raises(MemoryError, match=r"all pairs of 65536 features, 32\.0 GiB"):
        QPFS().lazy_pairs(SimpleNamespace(n_features=2**16))
