"""SelectRelevant: every informative feature, with control of false discoveries; pair_scan."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from bestk import Entropies, SelectRelevant, encode, pair_scan
from bestk.data.target import read_target
from bestk.information import Query, measures
from bestk.information.scan import best_partners
from bestk.selection._pvalues import _largest_sf


def count(X, y):
    return Entropies.count(encode(X), read_target(y, len(y)))


def interaction(X, y, i, j):
    """I(xi; y | xj) - I(xi; y) by its definition."""

    def entropy(*columns):
        shares = np.unique(np.stack(columns), axis=1, return_counts=True)[1] / len(y)
        return -(shares * np.log(shares)).sum()

    a, b = X[:, i], X[:, j]
    given = entropy(a, b) + entropy(b, y) - entropy(a, b, y) - entropy(b)
    return given - (entropy(a) + entropy(y) - entropy(a, y))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9))
def test_partners_and_pairs_are_those_of_all_pairs(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (40, n)), rng.integers(0, 2, 40)
    values = {(i, j): interaction(X, y, i, j) for i, j in itertools.combinations(range(n), 2)}
    entropies = count(X, y)
    best, partners = best_partners(entropies)
    for i in range(n):
        assert best[i] == pytest.approx(max(v for p, v in values.items() if i in p), abs=1e-6)
        pair = tuple(sorted((i, int(partners[i]))))
        assert values[pair] == pytest.approx(best[i], abs=1e-6)
    _, pairs, found = entropies.source.summary(Query(measures.INTERACTION), 5, sums=False)
    assert found == pytest.approx(sorted(values.values(), reverse=True)[:5], abs=1e-6)
    assert [values[tuple(p)] for p in pairs] == pytest.approx(found, abs=1e-6)


@pytest.mark.parametrize(("alone", "together", "tests"), [(1, 1, 50), (2, 2, 300), (1, 3, 1)])
def test_the_tail_of_the_largest_statistic_is_that_of_a_simulation(alone, together, tests):
    rng = np.random.default_rng(0)
    t = rng.chisquare(alone, 20_000) + rng.chisquare(together, (tests, 20_000)).max(axis=0)
    p = _largest_sf(t, alone, together, tests)
    assert stats.kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("regression", [False, True])
def test_pvalues_of_noise_are_uniform(regression):
    rng = np.random.default_rng(1)
    found = []
    for _ in range(15):
        X = rng.normal(size=(150, 30))
        X[:, 20:] = np.round(X[:, 20:] * 2)  # ties
        y = rng.normal(size=150) if regression else rng.integers(0, 3, 150)
        found.append(SelectRelevant().fit(X, y).pvalues_)
    assert stats.kstest(np.concatenate(found), "uniform").pvalue > 0.01


def test_false_discoveries_are_few_beside_true_ones():
    rng = np.random.default_rng(2)
    shares = []
    for _ in range(20):
        X = rng.normal(size=(300, 60))
        y = X[:, :10].sum(axis=1) * 0.5 + 2 * rng.normal(size=300) > 0
        found = SelectRelevant(fdr=0.1).fit(X, y).get_support(indices=True)
        shares.append((found >= 10).mean() if len(found) else 0.0)
    assert np.mean(shares) < 0.1 + 2 * np.std(shares) / len(shares) ** 0.5


def test_a_feature_that_is_informative_only_in_a_pair_is_reported_with_its_partner():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 300))
    selector = SelectRelevant().fit(X, X[:, 5] * X[:, 99] > 0)
    assert set(selector.get_support(indices=True)) >= {5, 99}
    assert selector.partners_[[5, 99]].tolist() == [99, 5]
    assert selector.in_pair_[[5, 99]].all()
    assert SelectRelevant(pairs=False).fit(X, X[:, 5] * X[:, 99] > 0).qvalues_[5] > 0.1


def test_copies_of_an_informative_feature_are_selected_too():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 12))
    X[:, 7] = -3 * X[:, 2] + 1
    selector = SelectRelevant().fit(X, X[:, 2] + rng.normal(size=300) > 0)
    assert selector.get_support()[[2, 7]].all()


def test_a_relation_without_a_trend_is_found():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 20))
    y = X[:, 4] ** 2 + rng.normal(size=400)
    assert SelectRelevant(pairs=False).fit(X, y).get_support()[4]


def test_categories_missing_values_and_constants():
    rng = np.random.default_rng(6)
    city = rng.choice(list("abcdef"), 500)
    frame = pd.DataFrame({"city": city, "noise": rng.choice(list("xyz"), 500),
                          "number": rng.normal(size=500), "constant": 1.0})  # fmt: skip
    y = np.isin(city, ["a", "b"]) ^ (rng.random(500) < 0.2)
    frame.loc[rng.random(500) < 0.3, "number"] = np.nan
    selector = SelectRelevant().fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["city"]
    assert selector.pvalues_[3] == 1.0
    frame["gap"] = np.where(y, np.nan, rng.normal(size=500))
    assert "gap" in SelectRelevant().fit(frame, y).get_feature_names_out()


def test_weights_repeat_rows():
    rng = np.random.default_rng(7)
    X, weights = rng.normal(size=(80, 6)), rng.integers(0, 3, 80)
    y = X[:, 0] > 0
    weighted = SelectRelevant().fit(X, y, sample_weight=weights)
    repeated = SelectRelevant().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.pvalues_, repeated.pvalues_)


def test_the_best_pairs_of_a_table_with_their_names():
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(500, 40)), columns=[f"f{i}" for i in range(40)])
    y = (X["f3"] * X["f30"] > 0).to_numpy()
    frame = pair_scan(X, y, top=3).to_frame()
    assert frame.loc[0, ["first", "second"]].tolist() == ["f3", "f30"]
    assert frame["pvalue"][0] < 1e-10
    assert frame["synergy"].is_monotonic_decreasing
    assert len(pair_scan(X, y, top=10_000).pairs) == 40 * 39 // 2


@parametrize_with_checks([SelectRelevant(permutations=2)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)
