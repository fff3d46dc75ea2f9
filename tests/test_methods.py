"""Methods by name: k different features, the same whatever the order, for one k or many."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings

from bestk.bqp.solvers import SOLVERS, Effort, Solver
from bestk.bqp.solvers._lowrank import LowRank
from bestk.information import Entropies, GaussianSource, ScoredTable
from bestk.methods.greedy import CRITERIA
from bestk.methods.quadratic import CMI, OBJECTIVES, QuadraticMIFS, get_objective
from bestk.methods.registry import METHODS, Greedy, Method, Quadratic, get_method
from bestk.tables.codes import encode
from bestk.tables.target import read_classes

from .information.conftest import tables

# methods that select by counts; the default reads blocks of columns
COUNTING = {name: method for name, method in METHODS.items() if method.information == "discrete"}
QUICK = {**COUNTING, "lowrank": Quadratic("cmi", LowRank(samples=500))}
GREEDY = sorted(name for name, method in METHODS.items() if isinstance(method, Greedy))
QUADRATIC = sorted(name for name, method in METHODS.items() if isinstance(method, Quadratic))
# one order of the features serves every k; the others start from the k before as well, and
# where they draw at random they still find the best choice of a table as small as these
SAME_FOR_EACH_K = [*GREEDY, "linear", "spectral", "forward", "qpfs"]
every = pytest.mark.parametrize("name", COUNTING)
quadratic = pytest.mark.parametrize("name", QUADRATIC)
NO_BOUND = Effort(random_state=0, bound=None)
N = 8


def make_table(seed=0, m=150):
    """Features of 2 to 4 levels that tell something of y alone, in pairs, or of each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m)
    noise = rng.normal(size=(m, N))
    noise[:, 3] = noise[:, 0] + 0.5 * noise[:, 3]
    noise[:, 6] += 1.5 * (noise[:, 5] > 0) * y
    shown = noise + np.array([1, 0.8, 0.6, 0.9, 0, 0, 0.3, 0.5]) * y[:, None]
    return np.column_stack([np.digitize(x, np.arange(i % 3 + 1)) for i, x in enumerate(shown.T)]), y


def count(X, y):
    return Entropies.count(encode(X), read_classes(y, len(y)))


TABLE = make_table()
ENTROPIES = count(*TABLE)


def worth(method, choice, entropies=ENTROPIES):
    """The value of a choice to the objective of a quadratic method."""
    problem, scale = get_objective(method.objective).pairs(entropies).problem(len(choice))
    return scale * problem.value(choice)


def best_worth(method, k, include=()):
    pairs = get_objective(method.objective).pairs(ENTROPIES)
    problem, scale = pairs.problem(k)
    choices = (S for S in combinations(range(N), k) if set(include) <= set(S))
    return scale * max(problem.value(S) for S in choices)


def test_two_bits_and_a_copy_by_hand():
    entropies = count(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]), np.arange(4))
    for name, method in QUICK.items():
        support = method.select(entropies, 2, effort=NO_BOUND).support.tolist()
        assert support == [0, 1] if name in ("maxrel", "mim") else 2 in support, name


@every
def test_a_choice_is_k_different_features_and_says_what_it_is_worth(name):
    method = QUICK[name]
    for k in (1, 3, N):
        solution = method.select(ENTROPIES, k, effort=Effort(random_state=0))
        assert solution.k == len(set(solution.support.tolist())) == k
        assert set(solution.support.tolist()) <= set(range(N))
        if isinstance(method, Quadratic):
            np.testing.assert_allclose(solution.objective, worth(method, solution.support))


@every
@pytest.mark.parametrize("include", [(), (5, 1)])
def test_contributions_add_up_to_the_objective_and_rank_the_features(name, include):
    method = QUICK[name]
    for k in (2, 4, N):
        one = method.select(ENTROPIES, k, include, Effort(random_state=0))
        (path,) = method.select_path(ENTROPIES, [k], include, Effort(random_state=0))
        for solution in (one, path):
            parts = solution.details["contribution"]
            assert len(parts) == k
            assert parts.sum() == pytest.approx(solution.objective, rel=1e-12, abs=1e-14)
            if isinstance(method, Quadratic):
                assert (np.diff(parts) <= 1e-12 * np.abs(parts).max()).all()


def test_a_contribution_is_a_row_of_the_matrix_and_ties_go_to_the_lowest_index():
    columns = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    entropies = count(columns, np.arange(4))
    solution = Quadratic("cmi", "exact").select(entropies, 3)
    pairs = get_objective("cmi").pairs(entropies)
    problem, scale = pairs.problem(3)
    expected = scale * problem.Q.sum(axis=1)
    assert solution.support.tolist() == [2, 0, 1]  # the copies add nothing to each other
    np.testing.assert_allclose(solution.details["contribution"], expected[[2, 0, 1]])


def test_the_draws_of_lowrank_are_those_of_its_paper_or_a_hundred_for_each_choice():
    assert LowRank().draws == 926519
    solution = METHODS["lowrank"].select(ENTROPIES, 3, effort=NO_BOUND)
    assert solution.details["draws"] == 100 * comb(ENTROPIES.n_features, 3)
    quick = QUICK["lowrank"].select(ENTROPIES, 3, effort=NO_BOUND)
    assert sorted(solution.support) == sorted(quick.support)


@quadratic
@pytest.mark.parametrize("include", [(), (5, 1)])
def test_no_choice_beats_the_bound_and_exact_reaches_the_best(name, include):
    method = QUICK[name]
    for k in (2, 4, 7):
        solution = method.select(ENTROPIES, k, include, Effort(random_state=0))
        best = best_worth(method, k, include)
        assert solution.objective <= best + 1e-12
        assert solution.upper_bound >= best - 1e-12
        if name in ("exact", "search", "mrmr-global", "jmi-global"):
            np.testing.assert_allclose(solution.objective, best)
        if name == "exact":
            assert solution.gap == 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("include", [(), (5, 1)])
def test_exact_proves_its_choice_whatever_the_objective(objective, include):
    method = Quadratic(objective, "exact")
    for k in (2, 4):
        solution = method.select(ENTROPIES, k, include)
        assert solution.upper_bound == solution.objective
        np.testing.assert_allclose(solution.objective, best_worth(method, k, include))


@every
@pytest.mark.parametrize("include", [[4], [3, 6, 0]])
def test_features_to_include_are_in_every_choice_and_greedy_methods_begin_with_them(name, include):
    method = QUICK[name]
    for k in (len(include), 5, N):
        solution = method.select(ENTROPIES, k, include, NO_BOUND)
        assert set(include) <= set(solution.support.tolist())
        assert len(set(solution.support.tolist())) == k
        if isinstance(method, Greedy):
            assert solution.support[: len(include)].tolist() == include
        else:
            np.testing.assert_allclose(solution.objective, worth(method, solution.support))


def test_only_features_to_include_are_the_only_choice_and_so_the_best():
    for name in QUADRATIC:
        solution = QUICK[name].select(ENTROPIES, 2, [5, 1])
        assert sorted(solution.support.tolist()) == [1, 5]
        assert solution.gap == 0
        np.testing.assert_allclose(solution.objective, worth(QUICK[name], [1, 5]))


@pytest.mark.parametrize("name", SAME_FOR_EACH_K)
def test_a_path_is_the_choice_of_each_k(name):
    ks = range(1, N + 1)
    for k, solution in zip(ks, QUICK[name].select_path(ENTROPIES, ks), strict=True):
        alone = QUICK[name].select(ENTROPIES, k)
        np.testing.assert_array_equal(solution.support, alone.support)
        np.testing.assert_allclose(solution.objective, alone.objective)


@pytest.mark.parametrize("name", sorted(set(COUNTING) - set(SAME_FOR_EACH_K)))
@pytest.mark.parametrize("seed", range(2))
def test_other_paths_are_not_below_the_choice_of_each_k(name, seed):
    entropies, ks = count(*make_table(seed)), range(1, N + 1)
    path = QUICK[name].select_path(entropies, ks, effort=NO_BOUND)
    for k, solution in zip(ks, path, strict=True):
        assert solution.k == len(set(solution.support.tolist())) == k
        np.testing.assert_allclose(
            solution.objective, worth(QUICK[name], solution.support, entropies)
        )
        alone = QUICK[name].select(entropies, k, effort=NO_BOUND)
        lost = 1e-3 if name == "lowrank" else 1e-12  # its path scores only the most promising draws
        assert solution.objective >= alone.objective * (1 - lost)


@every
def test_a_path_with_features_to_include_is_the_choice_of_each_k(name):
    ks, include = [2, 5, 3], [6, 1]
    path = QUICK[name].select_path(ENTROPIES, ks, include, NO_BOUND)
    for k, solution in zip(ks, path, strict=True):
        alone = QUICK[name].select(ENTROPIES, k, include, NO_BOUND)
        np.testing.assert_array_equal(solution.support, alone.support)


@every
def test_a_path_answers_in_the_order_asked_and_takes_an_array(name):
    method = QUICK[name]
    for ks in ([5, 2, 5], np.array([5, 2, 5])):
        path = method.select_path(ENTROPIES, ks, effort=NO_BOUND)
        assert [solution.k for solution in path] == [5, 2, 5]
        np.testing.assert_array_equal(path[0].support, path[2].support)
    assert method.select_path(ENTROPIES, []) == []
    assert method.select_path(ENTROPIES, [], [1]) == []


@pytest.mark.parametrize("name", GREEDY)
@settings(max_examples=10)
@given(table=tables(max_features=6, max_levels=4, max_samples=40))
def test_the_greedy_picks_for_k_begin_those_for_more(name, table):
    X, y = table
    ks = range(1, X.shape[1] + 1)
    path = METHODS[name].select_path(count(X, y), ks)
    for k, solution in zip(ks, path, strict=True):
        np.testing.assert_array_equal(solution.support, path[-1].support[:k])


@every
@pytest.mark.parametrize("seed", range(2))
def test_permuting_features_permutes_the_answer(name, seed):
    X, y = make_table(seed + 10)
    order = np.random.default_rng(seed).permutation(N)
    here = QUICK[name].select(count(X, y), 4, effort=NO_BOUND)
    there = QUICK[name].select(count(X[:, order], y), 4, effort=NO_BOUND)
    np.testing.assert_allclose(there.objective, here.objective)
    assert set(order[there.support].tolist()) == set(here.support.tolist())


@every
def test_permuting_samples_changes_nothing(name):
    X, y = TABLE
    rows = np.random.default_rng(0).permutation(len(y))
    shuffled = QUICK[name].select(count(X[rows], y[rows]), 4, effort=NO_BOUND)
    here = QUICK[name].select(ENTROPIES, 4, effort=NO_BOUND)
    np.testing.assert_array_equal(shuffled.support, here.support)


@every
def test_the_same_seed_gives_the_same_answer(name):
    effort = Effort(random_state=3, bound=None)
    first, second = (QUICK[name].select(ENTROPIES, 4, effort=effort) for _ in range(2))
    np.testing.assert_array_equal(first.support, second.support)
    one, other = (QUICK[name].select_path(ENTROPIES, [2, 4], effort=effort) for _ in range(2))
    for here, there in zip(one, other, strict=True):
        np.testing.assert_array_equal(here.support, there.support)


COLUMNS = [
    Quadratic(objective, solver)
    for objective in ("cmi", "jmi", "mrmr", "mifs", "cife", "maxrel")
    for solver in ("linear", "tpower", "forward", "search")
]


@pytest.mark.parametrize("method", COLUMNS, ids=lambda m: f"{m.objective}-{m.solver}")
@pytest.mark.parametrize("include", [[], [4, 2]])
def test_a_matrix_beyond_memory_is_made_by_the_column_for_the_same_choice(method, include):
    whole = NO_BOUND
    strip = Effort(random_state=0, bound=None, memory=8 * N * 3)
    for k in (2, 5):
        here = method.select(ENTROPIES, k, include, whole)
        there = method.select(ENTROPIES, k, include, strip)
        np.testing.assert_allclose(there.objective, here.objective)
    path = method.select_path(ENTROPIES, [1 + len(include), 5], include, strip)
    np.testing.assert_allclose(path[1].objective, worth(method, path[1].support))


def test_a_matrix_beyond_memory_is_not_made_whole():
    @dataclass(frozen=True)
    class ByColumn(CMI):
        def pairs(self, entropies):
            raise AssertionError("the whole matrix was asked for")

    small = Effort(memory=8 * N * N - 1, bound=None)
    assert Quadratic(ByColumn(), "tpower").select(ENTROPIES, 3, effort=small).k == 3
    with pytest.raises(AssertionError, match="whole matrix"):
        Quadratic(ByColumn(), "tpower").select(ENTROPIES, 3, effort=Effort(memory=8 * N * N))
    with pytest.raises(AssertionError, match="whole matrix"):
        Quadratic(ByColumn(), "spectral").select(ENTROPIES, 3, effort=small)


@pytest.mark.parametrize("include", [[], [1]])
def test_a_path_makes_its_matrix_once(include):
    made = []

    @dataclass(frozen=True)
    class Counted(CMI):
        def pairs(self, entropies):
            made.append(entropies)
            return super().pairs(entropies)

    Quadratic(Counted(), "tpower").select_path(ENTROPIES, [2, 3, 4], include)
    assert len(made) == 1


@pytest.mark.parametrize("include", [[], [1]])
def test_the_time_limit_of_a_path_is_for_all_of_it(include):
    left = []

    @dataclass(frozen=True)
    class Watched(Solver):
        name: ClassVar[str] = "watched"
        needs: ClassVar[str] = "columns"

        def pick(self, problem, run):
            left.append(run.time_left)
            return np.arange(problem.k)

    effort = Effort(time_limit=60.0, bound=None)
    Quadratic("cmi", Watched()).select_path(ENTROPIES, [2, 3, 4], include, effort)
    np.testing.assert_allclose(left[0], 20, rtol=0.1)


def test_gaussian_information_serves_the_methods_that_do_not_divide_by_entropy():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = rng.normal(size=(100, N))
    X[:, 2] += 2 * y
    X[:, 5] += 2 * y
    source = GaussianSource(ScoredTable(X, read_classes(y, 100)))
    entropies = Entropies(*source.singles, source)
    for name in sorted(set(COUNTING) - {"disr", "njmim"}):
        support = QUICK[name].select(entropies, 2, effort=NO_BOUND).support.tolist()
        assert set(support) == {2, 5} or (name == "mrmr-quotient" and support[0] == 2), name


def test_the_names_of_the_paper_are_objectives_and_solvers():
    for name in ("linear", "spectral", "sdp", "tpower", "lowrank"):
        assert METHODS[name] == Quadratic("cmi", name)
    assert METHODS["mim"] == METHODS["maxrel"]
    assert {METHODS[name].solver for name in QUADRATIC} <= set(SOLVERS)
    assert set(CRITERIA) <= set(METHODS)


def test_settings_of_ones_own_are_methods_too():
    method = Quadratic(QuadraticMIFS(), "exact")
    assert get_method(method) is method
    assert isinstance(method, Method)
    assert isinstance(Greedy(), Method)
    solution = method.select(ENTROPIES, 3)
    np.testing.assert_allclose(solution.objective, best_worth(method, 3))


def test_an_unknown_method_is_refused_with_the_nearest_and_the_choices():
    with pytest.raises(ValueError, match="unknown method 'tpowr'; did you mean 'tpower'"):
        get_method("tpowr")
    with pytest.raises(ValueError, match="unknown method '42'; choose one of 'auto', 'maxrel'"):
        get_method("42")
    with pytest.raises(ValueError, match="unknown solver 'magic'"):
        Quadratic("cmi", "magic").select(ENTROPIES, 2)
    with pytest.raises(ValueError, match="unknown objective 'magic'"):
        Quadratic("magic", "tpower").select(ENTROPIES, 2)


@pytest.mark.parametrize("method", [Greedy("jmi"), Quadratic("cmi", "tpower")], ids=repr)
@pytest.mark.parametrize(
    ("k", "include", "says"),
    [
        (0, [], "k must lie between 1 and 8, the features; not 0"),
        (9, [], "k must lie between 1 and 8, the features; not 9"),
        (1, [2, 3], "between 2 and 8, the features, 2 of them included; not 1"),
        (4, [2, 2], r"features to include must differ from each other, not \[2, 2\]"),
    ],
)
def test_a_k_that_cannot_be_is_refused(method, k, include, says):
    with pytest.raises(ValueError, match=says):
        method.select(ENTROPIES, k, include)
    with pytest.raises(ValueError, match=says):
        method.select_path(ENTROPIES, [k], include)
