"""SelectRelevant: every informative feature, with control of false discoveries; pair_scan."""

import itertools
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks.error_control import count_discoveries
from bestk import Entropies, SelectionWarning, SelectRelevant, encode, pair_scan
from bestk.diagnosis import significance
from bestk.information import measures, normal_scores
from bestk.information.backends import _reductions
from bestk.information.scan import scan_pairs
from bestk.tables import rows
from bestk.tables.target import parse_target, read_classes


def count(X, y, backend="auto"):
    return Entropies.count(encode(X), read_classes(y, len(y)), backend)


def interaction(X, y, i, j):
    """I(xi; y | xj) - I(xi; y) by its definition."""

    def entropy(*columns):
        shares = np.unique(np.stack(columns), axis=1, return_counts=True)[1] / len(y)
        return -(shares * np.log(shares)).sum()

    a, b = X[:, i], X[:, j]
    given = entropy(a, b) + entropy(b, y) - entropy(a, b, y) - entropy(b)
    return given - (entropy(a) + entropy(y) - entropy(a, y))


@pytest.mark.parametrize("backend", ["native", "numpy", "torch:cpu"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9))
def test_partners_and_pairs_are_those_of_all_pairs(backend, seed, n):
    if backend.startswith("torch"):
        pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (40, n)), rng.integers(0, 2, 40)
    X[:, ::2] = X[:, ::2] > 0
    groups = (np.arange(n) + 1) % 2 if n > 2 else np.zeros(n, int)
    values = np.full((n, n), -np.inf)
    for i, j in itertools.permutations(range(n), 2):
        values[i, j] = interaction(X, y, *sorted((i, j)))
    found = scan_pairs(count(X, y, backend), groups, top=5)
    for g, i in itertools.product(range(groups.max() + 1), range(n)):
        others = np.where(groups == g, values[i], -np.inf)
        assert found.best[g, i] == pytest.approx(others.max(), abs=1e-6)
        assert others[found.partners[g, i]] == pytest.approx(others.max(), abs=1e-6)
    upper = np.sort(values[np.triu_indices(n, 1)])[::-1][:5]
    assert found.values == pytest.approx(upper, abs=1e-6)
    assert [values[i, j] for i, j in found.pairs] == pytest.approx(upper, abs=1e-6)


@pytest.mark.parametrize("backend", ["native", "torch:cpu"])
def test_ties_go_to_the_lowest_column_however_the_matrix_is_cut(backend, monkeypatch):
    if backend.startswith("torch"):
        pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (12, 60)), np.arange(12) % 2  # many values are equal
    wanted = scan_pairs(count(X, y, "native"), top=30)
    values = count(X, y).measure(measures.INTERACTION, dtype=np.float32, signed=True)
    np.fill_diagonal(values, -np.inf)
    np.testing.assert_array_equal(wanted.partners[0], values.argmax(axis=1))
    monkeypatch.setattr(_reductions, "TILE_ROWS", 7)
    monkeypatch.setattr(_reductions, "TILE_COLUMNS", 11)
    for one, other in zip(wanted, scan_pairs(count(X, y, backend), top=30), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["classes", "numbers", "claims"])
def test_pvalues_of_noise_are_uniform(kind):
    rng = np.random.default_rng(1)
    found = []
    for _ in range(15):
        X = rng.normal(size=(150, 30))
        X[:, 20:] = np.round(X[:, 20:] * 2)  # ties
        y = rng.integers(0, 3, 150) if kind == "classes" else rng.normal(size=150)
        y = np.maximum(y - 1, 0) if kind == "claims" else y
        found.append(SelectRelevant().fit(X, y).pvalues_)
    assert stats.kstest(np.concatenate(found), "uniform").pvalue > 0.01


@pytest.mark.parametrize("pairs", [False, True])
def test_pvalues_of_noise_are_not_too_small_without_permutations(pairs):
    rng = np.random.default_rng(2)
    found = []
    for _ in range(20):
        X = rng.normal(size=(90, 20))
        X[:, 10:] = rng.integers(0, [3] * 5 + [30] * 5, (90, 10))  # categories, some rare
        options = {"categorical_features": list(range(10, 20)), "permutations": 0}
        selector = SelectRelevant(pairs=pairs, **options).fit(X, rng.integers(0, 3, 90))
        found.append(selector.pvalues_)
    assert np.mean(np.concatenate(found) < 0.05) < 0.07


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


def test_a_thin_ring_is_found_by_the_second_look_in_more_bins(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((1000, 40))
    y = np.abs(np.hypot(X[:, 3] - 0.5, X[:, 7] - 0.5) - 0.35) <= 0.03
    y ^= rng.random(1000) < 0.05
    found = SelectRelevant(permutations=0).fit(X, y)
    assert found.partners_[[3, 7]].tolist() == [7, 3]
    assert found.get_support(indices=True).tolist() == [3, 7]
    monkeypatch.setattr("bestk.information.coding.MAX_FINE_WORK", 0.0)
    coarse = SelectRelevant(permutations=0).fit(X, y)
    assert (found.pvalues_[[3, 7]] < 0.1 * coarse.pvalues_[[3, 7]]).all()


def test_copies_of_an_informative_feature_are_selected_too():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 12))
    X[:, 7] = -3 * X[:, 2] + 1
    selector = SelectRelevant().fit(X, X[:, 2] + rng.normal(size=300) > 0)
    assert selector.get_support()[[2, 7]].all()


@pytest.mark.parametrize("seed", range(5))
def test_two_copies_of_a_yes_or_no_column_are_found_beside_numbers(seed):
    rng = np.random.default_rng(seed)
    y = rng.random(700) < 0.3
    X = rng.normal(size=(700, 6))
    X[:, 1] = X[:, 4] = y ^ (rng.random(700) < 0.2)
    selector = SelectRelevant().fit(X, y)
    assert selector.support_[[1, 4]].all()
    assert selector.pvalues_[1] == selector.pvalues_[4] < 1e-9


# Cells in which most null tables once had a discovery: sparse columns, and classes of few rows.
SUSPICIOUS = [
    ("2% ones", "counts", 600),
    ("90% zeros", "20 classes, some rare", 60),
    ("90% zeros", "15 equal classes", 200),
    ("90% zeros", "classes of 90, 9 and 1%", 600),
    ("30 categories", "claims", 60),
]


@pytest.mark.parametrize("permutations", [None, 0])
@pytest.mark.parametrize(("columns", "target", "n_rows"), SUSPICIOUS)
@pytest.mark.filterwarnings("ignore::bestk.SelectionWarning")
def test_few_tables_of_sparse_columns_and_rare_classes_have_a_discovery(
    columns, target, n_rows, permutations
):
    found = count_discoveries(columns, target, n_rows, tables=20, permutations=permutations)
    assert found <= 4  # of a binomial variable of mean 2, more in 4% of cases


def test_a_column_that_many_permutations_explain_is_no_discovery():
    rng = np.random.default_rng(100)
    X, y = (rng.random((600, 40)) < 0.02).astype(int), rng.poisson(3, 600)
    selector = SelectRelevant(target="classes").fit(X, y)
    assert not selector.support_.any()
    assert selector.pvalues_.min() > 1e-3  # 20,000 permutations of the statistic gave 0.008


def test_true_sparse_columns_are_found_among_others():
    shares, power = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = (rng.random((600, 64)) < 0.05).astype(int)
        y = rng.poisson(3 + 2.5 * X[:, :4].sum(axis=1))
        selector = SelectRelevant(target="classes", pairs=False).fit(X, y)
        found = selector.get_support(indices=True)
        shares.append((found >= 4).mean() if len(found) else 0.0)
        power.append((found < 4).sum() / 4)
    assert np.mean(shares) < 0.2
    assert np.mean(power) > 0.85


@pytest.mark.parametrize("n_second", [1, 3, 40])
def test_pvalues_of_small_tables_are_those_of_fisher(n_second):
    found = significance.fisher_pvalues(7, n_second, 90)
    for both, p in enumerate(found):
        table = [[both, 7 - both], [n_second - both, 83 - n_second + both]]
        assert p == pytest.approx(stats.fisher_exact(table).pvalue)


@pytest.mark.parametrize(("n_ones", "n_rare"), [(12, 6), (60, 18), (300, 300)])
def test_the_tails_of_corrected_sums_are_no_lighter_than_those_of_permutations(n_ones, n_rare):
    rng = np.random.default_rng(0)
    amounts = np.zeros(600)
    amounts[:n_ones] = 1 + rng.random(n_ones)
    scores = significance.Scores.of(amounts[np.newaxis])
    draws = np.array([rng.permutation(scores.values[0])[:n_rare].sum() for _ in range(20_000)])
    share = np.array([n_rare / 600])
    z = draws / np.sqrt(scores.squares * share * (1 - share)) * np.sqrt(599 / 600)
    moments = significance.indicator_moments(share)
    p = stats.chi2.sf(significance.correct_skewness(z, scores.moments, moments, 600), 1)
    for level in (0.01, 0.001):
        assert (p < level).mean() < 2 * level
    if n_ones == n_rare == 300:
        assert (p < 0.01).mean() > 0.005


def test_no_pvalue_is_below_its_share_where_the_null_has_a_heavy_tail():
    rng = np.random.default_rng(0)
    null = rng.random((50, 40)) ** 4
    ranks = significance.calibrate(np.sort(null, axis=None)[:40], null, 1)
    np.testing.assert_allclose(ranks, np.arange(2, 42) / 2001)
    assert significance.calibrate(np.array([1e-40]), null, 1)[0] > 1e-15  # (1e-40)^(1/4), about
    uniform = rng.random((50, 40))
    assert significance.calibrate(np.array([1e-40]), uniform, 1)[0] < 1e-39


@pytest.mark.parametrize(("n_rows", "n_columns"), [(300, 204), (200, 5002)])
def test_genotypes_as_integers_keep_their_levels_in_pairs(n_rows, n_columns):
    rng = np.random.default_rng(0)
    genotypes = rng.binomial(2, 0.5, (n_rows, n_columns))
    y = (genotypes[:, 5] == 1) ^ (genotypes[:, 99] == 1) ^ (rng.random(n_rows) < 0.05)
    assert pair_scan(genotypes, y, top=1).pairs.tolist() == [[5, 99]]
    assert pair_scan(genotypes, y, top=1).pvalues[0] < 1e-10
    selector = SelectRelevant(permutations=0).fit(genotypes.astype(float), y)
    assert selector.get_support(indices=True).tolist() == [5, 99]


def test_a_yes_or_no_column_with_more_ones_than_zeros_has_two_levels_in_pairs():
    rng = np.random.default_rng(0)
    X = (rng.random((150, 30)) < 0.6).astype(int)
    y = X[:, 3] ^ X[:, 17]
    assert pair_scan(X, y, top=1).pairs.tolist() == [[3, 17]]


def test_a_relation_without_a_trend_is_found():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 20))
    y = X[:, 4] ** 2 + rng.normal(size=400)
    assert SelectRelevant(pairs=False).fit(X, y).get_support()[4]


@pytest.mark.parametrize("kind", ["spread", "sign", "category"])
def test_a_column_that_changes_the_spread_of_a_number_but_not_its_mean_is_found(kind):
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(800, 11)), rng.normal(size=800)
    if kind == "category":
        X[:, 0] = rng.integers(0, 3, 800)
    y = X[:, 0] * rng.choice([-1, 1], 800) + noise if kind == "sign" else noise * np.exp(X[:, 0])
    codes = [0] if kind == "category" else []
    selector = SelectRelevant(categorical_features=codes, pairs=False).fit(X, y)
    assert selector.pvalues_[0] < 1e-6
    assert selector.scores_.argmax() == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_columns_behind_the_number_and_the_size_of_rare_claims_are_found(sign):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    claim = rng.random(1000) < 1 / (1 + np.exp(np.log(19) - X[:, 0]))
    size = np.exp(0.7 * X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=1000))
    selector = SelectRelevant().fit(X, sign * np.where(claim, size, 0.0))
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]


@pytest.mark.parametrize("n_levels", [12, 30, 200])
def test_a_column_of_many_equally_frequent_categories_is_found(n_levels):
    rng = np.random.default_rng(n_levels)
    codes = rng.integers(0, n_levels, (3000, 20))
    effect = rng.normal(size=n_levels)
    probability = 1 / (1 + np.exp(-effect[codes[:, 7]]))
    y = (rng.random(3000) < probability).astype(int)
    X = pd.DataFrame(codes, columns=[f"c{j}" for j in range(20)]).astype(str).astype("category")
    selector = SelectRelevant().fit(X, y)
    assert selector.support_[7]
    assert selector.pvalues_[7] < 1e-6
    assert selector.support_.sum() <= 2


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


def test_very_many_classes_take_no_more_memory_than_their_rows():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(2500), 2))
    X = np.column_stack([y + rng.normal(size=5000), rng.normal(size=5000)])
    target = significance.PreparedTarget.of(parse_target(y, 5000, "classes"))
    scores = significance.Scores.of(normal_scores(X))
    tracemalloc.start()
    try:
        p = significance.trend_pvalues(scores, target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**24  # a matrix of rows and classes has 100 MB
    assert p[0] < 1e-9
    assert p[1] > 1e-3


def test_a_continuous_target_that_is_mostly_at_its_largest_value():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(300, 5))
    y = np.minimum(X[:, 3] + 0.5 * rng.normal(size=300), -0.3)
    assert SelectRelevant(target="continuous").fit(X, y).get_support(indices=True).tolist() == [3]


def unbalanced(seed):
    """4,000 rows, 5% positives: six true columns, and 26 of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 32))
    score = 0.4 * X[:, :6].sum(axis=1) + rng.logistic(size=4000)
    return X, (score > np.quantile(score, 0.95)).astype(int), rng.uniform(0.5, 1.5, 4000)


@pytest.mark.parametrize("kind", ["that balance classes", "uniform"])
def test_weights_make_no_noise_significant(kind):
    false, true = [], []
    for seed in range(5):
        X, y, uniform = unbalanced(seed)
        weights = uniform if kind == "uniform" else np.where(y == 1, 10.0, 10 / 19)
        found = SelectRelevant().fit(X, y, sample_weight=weights).get_support(indices=True)
        true.append((found < 6).sum())
        false.append((found >= 6).sum())
    assert np.mean(false) <= 1.5
    assert np.mean(true) > 5.5


def test_a_constant_factor_of_the_weights_changes_nothing():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    weights = rng.uniform(0.5, 1.5, 300)
    for w, other in ((np.ones(300), None), (np.full(300, 5), None), (weights, 5 * weights)):
        one = SelectRelevant().fit(X, y, sample_weight=w)
        two = SelectRelevant().fit(X, y, sample_weight=other)
        np.testing.assert_array_equal(one.pvalues_, two.pvalues_)
        np.testing.assert_array_equal(one.scores_, two.scores_)


def test_rows_of_weight_zero_are_left_out():
    rng = np.random.default_rng(8)
    X, y, kept = rng.normal(size=(300, 6)), rng.integers(0, 2, 300), rng.random(300) < 0.7
    weighted = SelectRelevant().fit(X, y, sample_weight=3 * kept)
    np.testing.assert_array_equal(
        weighted.pvalues_, SelectRelevant().fit(X[kept], y[kept]).pvalues_
    )


def test_the_information_is_that_of_the_weighted_table():
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, 2, (2, 3000))
    weights = np.where(x == y, 3, 1)
    joint = np.zeros((2, 2))
    np.add.at(joint, (x, y), weights / weights.sum())
    exact = (joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))).sum()
    selector = SelectRelevant(pairs=False).fit(x[:, np.newaxis], y, sample_weight=weights)
    assert selector.scores_[0] == pytest.approx(exact)


def test_information_given_a_partner_is_weighted_too():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(900, 20))
    y = ((X[:, 4] * X[:, 11] > 0) ^ (rng.random(900) < 0.2)).astype(int)
    weights = np.where(y == 1, 1.0, 4.0) * rng.uniform(0.5, 1.5, 900)
    selector = SelectRelevant().fit(X, y, sample_weight=weights)
    assert selector.support_[[4, 11]].all()
    assert selector.partners_[[4, 11]].tolist() == [11, 4]


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.full(40, -1.0), "from 0 up"),
        (np.full(40, np.nan), "finite"),
        (np.zeros(40), "some row a weight above zero"),
        (np.ones(3), "give a weight for each row"),
        (np.full(40, "a"), "give numbers"),
    ],
)
def test_other_weights_are_refused_with_advice(weights, says):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match=says):
        SelectRelevant().fit(X, np.arange(40) % 2, sample_weight=weights)


def customers(seed, n_columns=8):
    """150 customers of 8 rows each, all of whose columns are noise."""
    rng = np.random.default_rng(seed)
    customer = np.repeat(np.arange(150), 8)
    return rng.normal(size=(150, n_columns))[customer], rng.integers(0, 2, 150)[customer], customer


def test_rows_of_a_group_count_once():
    found = []
    for seed in range(30):
        X, y, customer = customers(seed)
        with pytest.warns(SelectionWarning, match="one row of each group is tested, 150 of 1200"):
            found.append(SelectRelevant().fit(X, y, groups=customer).support_.any())
    assert np.mean(found) <= 0.2  # of a binomial variable of mean 0.1, more in 3% of cases
    names = np.array([f"customer {i}" for i in customer], dtype=object)
    with pytest.warns(SelectionWarning):
        selector = SelectRelevant().fit(X, X[:, 3] > 0, groups=names)
    assert selector.get_support(indices=True).tolist() == [3]
    with pytest.raises(ValueError, match="give a group for each row"):
        SelectRelevant().fit(X, y, groups=customer[:10])


def test_groups_and_weights_are_columns_of_a_file(tmp_path):
    X, y, customer = customers(0)
    frame = pd.DataFrame(X).add_prefix("c")
    weights = np.where(y == 1, 2.0, 1.0)
    frame.assign(w=weights, g=customer, y=y).to_csv(tmp_path / "table.csv", index=False)
    options = {"y": y, "sample_weight": weights, "groups": customer}
    with pytest.warns(SelectionWarning, match="one row of each group"):
        in_memory = SelectRelevant().fit(frame, **options)
    options = {"y": "y", "sample_weight": "w", "groups": "g"}
    with pytest.warns(SelectionWarning, match="one row of each group"):
        of_file = SelectRelevant().fit(tmp_path / "table.csv", **options)
    np.testing.assert_array_equal(of_file.pvalues_, in_memory.pvalues_)


def test_a_warning_says_that_rows_repeat_in_groups():
    X, y, customer = customers(1)
    with pytest.warns(SelectionWarning, match=r"8 columns have the same values .* 150 .*groups="):
        SelectRelevant().fit(X, y)
    rng = np.random.default_rng(0)
    visits = pd.DataFrame(rng.normal(size=(1200, 3)), columns=list("abc")).assign(
        patient_id=customer
    )
    with pytest.warns(SelectionWarning, match="'patient_id' has 150 values in 1200 rows"):
        SelectRelevant().fit(visits, y)


def test_no_warning_where_values_repeat_but_not_rows():
    rng = np.random.default_rng(0)
    months = rng.integers(0, 200, 1000)
    frame = pd.DataFrame({
        "age": rng.integers(18, 90, 1000), "months": months, "days": 30 * months,
        "visits": rng.poisson(30, 1000), "size": np.round(rng.normal(size=1000), 1),
        "answer": rng.integers(0, 2, 1000), "amount": rng.lognormal(size=1000),
    })  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SelectRelevant().fit(frame, rng.integers(0, 2, 1000))


def test_columns_are_tested_in_parts_with_the_same_result(monkeypatch):
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.normal(size=(120, 9)), columns=list("abcdefghi"))
    frame["kind"] = rng.choice(list("xyz"), 120)
    y = frame["b"] + rng.normal(size=120) > 0
    whole = SelectRelevant().fit(frame, y)
    monkeypatch.setattr(significance, "BLOCK_VALUES", 500)
    parts = SelectRelevant().fit(frame, y)
    np.testing.assert_array_equal(whole.pvalues_, parts.pvalues_)


@pytest.mark.parametrize("regression", [False, True])
def test_of_rows_in_many_blocks_a_sample_is_tested(regression, monkeypatch):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(4000, 12))
    y = X[:, 2] + 2 * X[:, 5] * X[:, 8] + rng.normal(size=4000)
    y = y if regression else (y > 0).astype(int)
    parts = [(X[i : i + 700], y[i : i + 700]) for i in range(0, 4000, 700)]
    in_memory, whole = SelectRelevant().fit(parts, None), SelectRelevant().fit(X, y)
    np.testing.assert_array_equal(in_memory.pvalues_, whole.pvalues_)
    monkeypatch.setattr(rows, "most_rows", lambda n_features: 2000)
    selector = SelectRelevant(0.01).fit(parts, None)
    assert selector.n_permutations_ > 0
    assert set(selector.get_support(indices=True)) == {2, 5, 8}
    assert selector.partners_[[5, 8]].tolist() == [8, 5]
    assert pair_scan(parts, None, top=1).pairs.tolist() == [[5, 8]]
    noise = SelectRelevant().fit([(x, rng.permutation(t)) for x, t in parts], None)
    assert noise.qvalues_.min() > 0.01


WEIGHTS_ARE_NO_COPIES = {
    f"check_sample_weight_equivalence_on_{kind}_data": "chance follows the effective rows"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [SelectRelevant(permutations=2)], expected_failed_checks=lambda _: WEIGHTS_ARE_NO_COPIES
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_what_was_read_from_text_and_what_the_target_is_taken_as_are_said():
    numbers, noise = np.random.default_rng(0).normal(size=(2, 300))
    X = pd.DataFrame({"price": [f"${v:.2f}" for v in numbers], "noise": noise})
    with pytest.warns(SelectionWarning, match=r"'price': numbers .*\ny holds .* to predict"):
        found = SelectRelevant(permutations=0).fit(X, np.round(40 * numbers))
    assert found.get_feature_names_out().tolist() == ["price"]
