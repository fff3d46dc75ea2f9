"""Greedy criteria: the formulas of Brown et al. (2012), one pick after the other."""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import Greedy, select
from bestk.information import Entropies, GaussianSource, Measure, ScoredTable
from bestk.information.measures import JOINT_MI, PAIR_ENTROPY
from bestk.methods import greedy as criteria
from bestk.methods.greedy import CRITERIA, MIFS, MRMR, Criterion, get_criterion, pick_greedily
from bestk.tables.codes import encode
from bestk.tables.target import NumericTarget, read_classes

from .information.conftest import brute_entropy, tables

TIE = 1e-9
BIT = np.log(2)
EVERY = {
    **CRITERIA,
    "mrmr-quotient": MRMR("quotient"),
    "mifs-half": MIFS(0.5),
    "mifs-strong": MIFS(3.0),
}
every = pytest.mark.parametrize("name", EVERY)
seeds = st.integers(0, 2**32 - 1)
# a bit, its copy, and the other bit of a class of two bits
TWO_BITS = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]), np.arange(4)


def count(X, y, correction=None):
    return Entropies.count(encode(X), read_classes(y, len(y)), correction=correction)


def pick(name, X, y, k=None):
    k = X.shape[1] if k is None else k
    return pick_greedily(get_criterion(EVERY[name]), count(X, y), k)[0].tolist()


class Slow:
    """Information of a table, by counting tuples in plain Python."""

    def __init__(self, X, y):
        self.columns = {**dict(enumerate(X.T.tolist())), "y": y.tolist()}
        self.H = cache(lambda *which: brute_entropy(*(self.columns[c] for c in which)))

    def mi(self, i, j):
        return self.H(i) + self.H(j) - self.H(i, j)

    def mi_given_y(self, i, j):
        return self.H(i, "y") + self.H(j, "y") - self.H(i, j, "y") - self.H("y")

    def joint(self, i, j):
        return self.H(i, j) + self.H("y") - self.H(i, j, "y")

    def added(self, i, j):
        return self.joint(i, j) - self.mi(j, "y")

    def share(self, i, j):
        return self.joint(i, j) / self.H(i, j, "y")


# J(X_i) after the picks S, as printed
FORMULAS = {
    "maxrel": lambda h, i, S: h.mi(i, "y"),
    "mifs": lambda h, i, S: h.mi(i, "y") - sum(h.mi(i, j) for j in S),
    "mifs-half": lambda h, i, S: h.mi(i, "y") - 0.5 * sum(h.mi(i, j) for j in S),
    "mifs-strong": lambda h, i, S: h.mi(i, "y") - 3.0 * sum(h.mi(i, j) for j in S),
    "mrmr": lambda h, i, S: h.mi(i, "y") - sum(h.mi(i, j) for j in S) / len(S),
    "mrmr-quotient": lambda h, i, S: h.mi(i, "y") / max(1e-12, sum(h.mi(i, j) for j in S) / len(S)),
    "jmi": lambda h, i, S: sum(h.joint(i, j) for j in S),
    "cife": lambda h, i, S: h.mi(i, "y") - sum(h.mi(i, j) - h.mi_given_y(i, j) for j in S),
    "icap": lambda h, i, S: (
        h.mi(i, "y") - sum(max(0.0, h.mi(i, j) - h.mi_given_y(i, j)) for j in S)
    ),
    "cmim": lambda h, i, S: min(h.added(i, j) for j in S),
    "disr": lambda h, i, S: sum(h.share(i, j) for j in S),
    "jmim": lambda h, i, S: min(h.joint(i, j) for j in S),
    "njmim": lambda h, i, S: min(h.share(i, j) for j in S),
}


def slow_scores(name, h, picked, n):
    """The score of each feature that is not picked yet."""
    formula = FORMULAS[name] if picked else FORMULAS["maxrel"]
    return {i: formula(h, i, picked) for i in range(n) if i not in picked}


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"maxrel"}))
def test_a_copy_comes_after_what_is_new(name):
    assert pick(name, *TWO_BITS) == [0, 2, 1]


def test_relevance_alone_does_not_see_copies():
    assert pick("maxrel", *TWO_BITS) == [0, 1, 2]


def test_scores_by_hand():
    _, scores = pick_greedily(get_criterion("jmi"), count(*TWO_BITS), 3)
    np.testing.assert_allclose(scores, [BIT, 2 * BIT, BIT + 2 * BIT])
    _, scores = pick_greedily(get_criterion("mrmr"), count(*TWO_BITS), 3)
    np.testing.assert_allclose(scores, [BIT, BIT, BIT - (BIT + 0) / 2])
    _, scores = pick_greedily(get_criterion("disr"), count(*TWO_BITS), 3)
    np.testing.assert_allclose(scores, [BIT, 1.0, 0.5 + 1.0])


def test_only_criteria_of_pairs_see_an_exclusive_or():
    X = np.array([[a, c, b] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    y = X[:, 0] ^ X[:, 2]
    for name in ("jmi", "cmim", "disr", "cife", "jmim", "njmim"):
        assert pick(name, X, y) == [0, 2, 1], name
    for name in ("maxrel", "mrmr", "mifs", "icap"):
        assert pick(name, X, y) == [0, 1, 2], name


@every
@given(table=tables(max_features=7, max_levels=4, max_classes=4, max_samples=60))
def test_picks_are_those_of_the_formula(name, table):
    X, y = table
    n, h = X.shape[1], Slow(X, y)
    picked, scores = pick_greedily(EVERY[name], count(X, y), n)
    assert sorted(picked) == list(range(n))
    for step, best in enumerate(picked.tolist()):
        slow = slow_scores(name, h, picked[:step].tolist(), n)
        slack = TIE * max(1.0, abs(slow[best]))
        assert max(slow.values()) <= slow[best] + slack
        assert abs(scores[step] - slow[best]) <= slack


@every
@settings(max_examples=30)
@given(table=tables(max_features=4, max_levels=4, max_classes=4, max_samples=60), seed=seeds)
def test_of_equal_features_the_first_is_picked_first(name, table, seed):
    X, y = table
    rng = np.random.default_rng(seed)
    original = rng.integers(0, X.shape[1], 8)
    renamed = np.column_stack([rng.permutation(X.max() + 1)[column] for column in X.T[original]])
    picked = pick(name, renamed, y)
    for feature in set(original.tolist()):
        equal = [i for i in picked if original[i] == feature]
        assert equal == sorted(equal)


@every
@settings(max_examples=30)
@given(table=tables(max_features=6, max_levels=4, max_samples=60), seed=seeds)
def test_features_to_include_come_first_and_the_formula_goes_on_from_them(name, table, seed):
    X, y = table
    n, rng = X.shape[1], np.random.default_rng(seed)
    include = rng.permutation(n)[: rng.integers(1, n + 1)].tolist()
    picked = pick_greedily(EVERY[name], count(X, y), n, include)[0].tolist()
    assert picked[: len(include)] == include
    assert sorted(picked) == list(range(n))
    if len(include) < n:
        slow = slow_scores(name, Slow(X, y), include, n)
        best = slow[picked[len(include)]]
        assert max(slow.values()) <= best + TIE * max(1.0, abs(best))


@pytest.mark.parametrize("name", ["maxrel", "mrmr", "mrmr-quotient", "mifs", "mifs-strong"])
@given(seed=seeds)
def test_independent_features_are_ranked_by_relevance(name, seed):
    X = np.array(list(product(range(2), range(3), range(4))))  # every row once
    y = np.random.default_rng(seed).integers(0, 3, len(X))
    relevance = count(X, y).mi()
    assert (np.diff(relevance[pick(name, X, y)]) <= TIE).all()


@pytest.fixture(scope="module")
def itmo_fs():
    return pytest.importorskip("ITMO_FS.filters.multivariate")


ITMO_FS = {"maxrel": "MIM", "mrmr": "MRMR", "jmi": "JMI", "cife": "CIFE", "cmim": "CMIM"}


@pytest.mark.parametrize("name", [*ITMO_FS, "mifs"])
@settings(max_examples=12)
@given(table=tables(max_features=7, max_levels=5, max_classes=4, max_samples=60))
def test_picks_are_those_of_itmo_fs(itmo_fs, name, table):
    X, y = table
    n, beta = X.shape[1], {"beta": 1.0} if name == "mifs" else {}
    theirs = itmo_fs.MultivariateFilter(ITMO_FS.get(name, "MIFS"), n, **beta)
    theirs.fit(X, y)
    ours = np.array(pick(name, X, y))
    differ = np.flatnonzero(ours != theirs.selected_features)
    if len(differ):  # only where their own scores tie
        before, rest = np.split(ours, [differ[0]])
        scores = theirs.measure(before, rest, X, y, *beta.values())
        theirs_here = np.flatnonzero(rest == theirs.selected_features[differ[0]])[0]
        assert abs(scores[0] - scores[theirs_here]) < TIE


def test_picks_on_a_real_table_are_those_of_itmo_fs(itmo_fs):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, y = X[:400, 18:38].astype(int) // 4, y[:400]
    for name in ("mrmr", "jmi"):
        theirs = itmo_fs.MultivariateFilter(ITMO_FS[name], 8)
        theirs.fit(X, y)
        assert pick(name, X, y, 8) == theirs.selected_features.tolist()


@pytest.mark.parametrize("name", sorted(set(CRITERIA) - {"disr", "njmim"}))
def test_gaussian_information_serves_every_criterion_that_does_not_divide_by_entropy(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 6)), rng.integers(0, 2, 80)
    X[:, 2] += 2 * y
    X[:, 4] += y
    X[:, 3] = X[:, 2] + 0.1 * rng.normal(size=80)
    source = GaussianSource(ScoredTable(X, read_classes(y, 80)))
    picked, _ = pick_greedily(CRITERIA[name], Entropies(*source.singles, source), 6)
    assert sorted(picked) == list(range(6))
    assert picked[0] in (2, 3)
    assert name == "maxrel" or name.startswith("jmi") or picked[1] not in (2, 3)


@pytest.mark.parametrize("name", ["disr", "njmim"])
def test_dividing_by_the_entropy_of_numbers_is_refused(name):
    source = GaussianSource(
        ScoredTable(np.random.default_rng(0).normal(size=(9, 2)), NumericTarget(np.arange(9.0)))
    )
    with pytest.raises(ValueError, match=r"which only discrete features have.*such as 'jmi'"):
        pick_greedily(CRITERIA[name], Entropies(*source.singles, source), 2)


@every
@settings(max_examples=20)
@given(table=tables(max_features=5, max_levels=6, max_samples=40))
def test_corrected_entropies_serve_every_criterion(name, table):
    X, y = table
    for correction in ("chance", "miller-madow"):
        picked, scores = pick_greedily(EVERY[name], count(X, y, correction), X.shape[1])
        assert sorted(picked) == list(range(X.shape[1]))
        assert np.isfinite(scores).all()


@every
def test_rows_that_are_counted_ahead_or_by_one_kernel_change_no_pick_and_no_score(
    name, monkeypatch
):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (150, 60)), rng.integers(0, 2, 150)
    at_once = pick_greedily(get_criterion(EVERY[name]), count(X, y), 40)
    monkeypatch.setattr(criteria, "_pick_at_once", lambda *_: None)
    ahead = pick_greedily(get_criterion(EVERY[name]), count(X, y), 40)
    monkeypatch.setattr(criteria, "MAX_AHEAD", 0)
    alone = pick_greedily(get_criterion(EVERY[name]), count(X, y), 40)
    for found, same in zip([*at_once, *ahead], [*alone, *alone], strict=True):
        np.testing.assert_array_equal(found, same)


def test_an_unknown_criterion_or_form_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="unknown criterion 'mrmmr'; did you mean 'mrmr'"):
        get_criterion("mrmmr")
    with pytest.raises(ValueError, match="unknown form 'ratio'; choose 'difference' or 'quotient'"):
        pick_greedily(MRMR("ratio"), count(*TWO_BITS), 2)


@dataclass(frozen=True)
class PerEntropy(Criterion):
    """Joint information per bit of the pair, a criterion of a user's own."""

    name: ClassVar[str] = "per-entropy"
    measure: ClassVar[Measure | None] = JOINT_MI

    def pair(self, entropies, j):
        return super().pair(entropies, j) / (
            1.0 + entropies.measure(PAIR_ENTROPY, [j], signed=True)[0]
        )


def test_a_criterion_of_ones_own_may_use_any_measure():
    X, y = np.random.default_rng(0).integers(0, 3, (200, 12)), np.arange(200) % 2
    X[:, 3] = np.where(np.arange(200) < 150, y, X[:, 3])
    solution = select(X, y, 6, Greedy(PerEntropy()), discretizer=None)
    assert solution.support[0] == 3
    assert len(set(solution.support)) == 6
