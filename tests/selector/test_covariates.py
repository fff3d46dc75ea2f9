"""Covariates: columns that are adjusted for, and never selected."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bestk import (
    Greedy,
    SelectBestK,
    SelectBestKCV,
    SelectionWarning,
    SelectRelevant,
    error_curves,
    select,
    stability_selection,
)
from bestk.errors import DataError, ParameterError, UnknownNameError

GENES = 300
# The first genes follow the batch; two of them, and two others, are causes of the disease.
FOLLOWERS = 150
CAUSES = [3, 60, 200, 250]

pytestmark = pytest.mark.filterwarnings("ignore::bestk.SelectionWarning")


def genes_and_batch(seed, rows=150):
    """Genes that follow a batch, which the disease depends on, too; and whether rows are ill."""
    rng = np.random.default_rng(seed)
    batch = rng.integers(0, 3, rows)
    shifts = 1.5 * rng.normal(size=(3, GENES))
    shifts[:, FOLLOWERS:] = 0
    noise = rng.normal(size=(rows, GENES))
    risk = 2.0 * (batch - 1) + noise[:, CAUSES] @ [1.6, 1.3, 1.6, 1.3]
    ill = (risk + 0.7 * rng.normal(size=rows) > 0).astype(int)
    table = pd.DataFrame(noise + shifts[batch], columns=[f"g{j}" for j in range(GENES)])
    table["batch"] = np.array(["a", "b", "c"])[batch]
    return table, ill


def genes_of(selector):
    names = selector.get_feature_names_out()
    return np.array([int(name[1:]) for name in names if name != "batch"])


def only_followers(genes):
    """Which genes only follow the batch."""
    return (genes < FOLLOWERS) & ~np.isin(genes, CAUSES)


def by_hand(columns, covariates):
    """Residuals of normal scores, cut at 2.5, in a linear regression on covariates."""
    rows = len(columns)
    scores = stats.norm.ppf((stats.rankdata(columns, axis=0) - 0.5) / rows).clip(-2.5, 2.5)
    design = np.column_stack([np.ones(rows), covariates])
    return scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]


def test_genes_that_only_follow_the_batch_are_not_taken_for_causes():
    found = {"covariates": [], "include": [], "exclude": []}
    for seed in range(8):
        table, ill = genes_and_batch(seed)
        for name, genes in found.items():
            # a column to include is one of the k
            k = 5 if name == "include" else 4
            genes.append(genes_of(SelectBestK(k, **{name: ["batch"]}).fit(table, ill)))
    causes = {name: np.isin(genes, CAUSES).mean() for name, genes in found.items()}
    followers = {name: only_followers(np.array(genes)).mean() for name, genes in found.items()}
    assert causes["covariates"] > 0.95
    assert causes["covariates"] > causes["include"] + 0.05
    assert causes["include"] > causes["exclude"]
    assert followers["covariates"] <= 0.02
    assert followers["include"] > 0.05
    assert followers["exclude"] > 0.2


def test_noise_that_follows_the_batch_is_selected_no_more_often_than_other_noise():
    picked = []
    for seed in range(10):
        table, ill = genes_and_batch(100 + seed, rows=180)
        genes = genes_of(SelectBestK(20, covariates="batch").fit(table, ill))
        picked += genes[~np.isin(genes, CAUSES)].tolist()
    share = only_followers(np.array(picked)).mean()
    assert stats.binomtest(round(share * len(picked)), len(picked), 0.5).pvalue > 0.01


def test_relevance_is_that_of_residuals_in_a_regression_on_the_covariates():
    rng = np.random.default_rng(0)
    rows = 400
    age = rng.normal(size=rows)
    site = rng.integers(0, 4, rows)
    X = rng.normal(size=(rows, 30)) + age[:, np.newaxis] + 0.5 * site[:, np.newaxis]
    y = X[:, 0] + 2 * age + site + rng.normal(size=rows)
    table = pd.DataFrame(X).add_prefix("x").assign(age=age, site=pd.Categorical(site))
    selector = SelectBestK(3, covariates=["age", "site"]).fit(table, y)

    scores_of_age = stats.norm.ppf((stats.rankdata(age) - 0.5) / rows).clip(-2.5, 2.5)
    covariates = np.column_stack([scores_of_age, np.eye(4)[site][:, 1:]])
    residuals = by_hand(np.column_stack([y, X]), covariates)
    correlation = np.corrcoef(residuals.T)[0, 1:]
    rows_left = rows - covariates.shape[1]
    expected = -0.5 * np.log(1 - correlation**2) - 0.5 / rows_left
    # squares of columns are used where they tell something, and only then there is more
    found = selector.scores_[:30]
    assert (found > expected - 1e-6).all()
    assert np.isclose(found, expected, atol=1e-6).mean() > 0.8
    assert np.isclose(found[0], expected[0], atol=1e-6)


def test_covariates_are_neither_counted_nor_returned():
    table, ill = genes_and_batch(0)
    table = table[[*table.columns[:12], "batch"]]
    with pytest.warns(UserWarning, match="k=12 is more than the 11 features to select from"):
        selector = SelectBestK(12, covariates=["batch", "g0"]).fit(table, ill)
    assert selector.k_ == 11
    assert not {"batch", "g0"} & set(selector.get_feature_names_out())
    assert selector.transform(table).shape == (150, 11)
    assert np.isnan(selector.scores_[[0, 12]]).all()
    assert (selector.ranking_[[0, 12]] == 12).all()
    half = SelectBestK(0.5, covariates=["batch", "g0"]).fit(table, ill)
    assert half.k_ == 6  # of 11, as half of them is rounded to an even number


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.filterwarnings("ignore::bestk.SelectionWarning")
def test_all_features_are_all_but_the_covariates():
    table, ill = genes_and_batch(0)
    table = table[[*table.columns[:12], "batch"]]
    assert SelectBestK(1.0, covariates=["batch"]).fit(table, ill).k_ == 12


def test_covariates_are_named_or_given_by_index_or_mask():
    table, ill = genes_and_batch(1)
    mask = table.columns.isin(["batch", "g7"])
    chosen = [
        SelectBestK(4, covariates=covariates).fit(table, ill).solution_
        for covariates in (["batch", "g7"], ["g7", "batch", "g7"], [GENES, 7], [7, -1], mask)
    ]
    for solution in chosen[1:]:
        assert solution.support.tolist() == chosen[0].support.tolist()
        assert solution.objective == chosen[0].objective
    one = SelectBestK(4, covariates=GENES).fit(table, ill)
    assert (
        one.support_.tolist()
        == SelectBestK(4, covariates="batch").fit(table, ill).support_.tolist()
    )


def test_covariates_that_there_are_not_or_that_are_asked_for_twice_are_refused():
    table, ill = genes_and_batch(0)
    table = table[[*table.columns[:5], "batch"]]
    with pytest.raises(UnknownNameError, match="batches"):
        SelectBestK(2, covariates="batches").fit(table, ill)
    for option in ("include", "exclude"):
        with pytest.raises(ParameterError, match=f"'batch' is both a covariate and {option}d"):
            SelectBestK(2, covariates="batch", **{option: "batch"}).fit(table, ill)
    with pytest.raises(ValueError, match="every column is a covariate or excluded"):
        SelectBestK(2, covariates=list(table.columns)).fit(table, ill)
    selector = SelectBestK(2, covariates="g0", column_groups={"both": ["g0", "g1"]})
    with pytest.raises(ParameterError, match="'g1' is in a group with a covariate"):
        selector.fit(table, ill)


def test_the_parameter_takes_names_and_fit_takes_a_table():
    table, ill = genes_and_batch(0)
    for covariates in (table[["batch"]], np.ones((150, 2))):
        with pytest.raises(ParameterError, match=r"pass a table of covariates to fit\("):
            SelectBestK(2, covariates=covariates).fit(table, ill)


def same_selector(first, second):
    """Whether both give the same results for all columns but the last, which the first lacks."""
    np.testing.assert_array_equal(first.support_, second.support_[:-1])
    np.testing.assert_array_equal(first.scores_, second.scores_[:-1])
    assert first.n_features_in_ == len(first.support_)


@pytest.mark.parametrize(
    "selector",
    [
        SelectBestK(6, covariates=["age"]),
        SelectBestK(0.02, covariates="age"),
        SelectBestK("auto", covariates="age", cv=3, random_state=0),
        SelectBestK(3, covariates="age", column_groups={"pair": ["g1", "g2"]}, exclude=["g200"]),
        SelectBestKCV(LogisticRegression(), covariates="age", ks=[1, 4], cv=3),
        SelectRelevant(covariates="age", permutations=5),
    ],
)
@pytest.mark.parametrize("kind", ["frame", "series", "strings"])
def test_a_table_of_covariates_is_the_same_as_columns_of_x(selector, kind):
    table, ill = genes_and_batch(0)
    genes = table.drop(columns="batch").assign(age=np.random.default_rng(0).normal(size=150))
    batch = {
        "frame": table[["batch"]],
        "series": table["batch"],
        "strings": table[["batch"]].to_numpy(),
    }[kind]
    joined = clone(selector).fit(genes, ill, covariates=batch)
    named = clone(selector).set_params(covariates=["age", "batch"])
    same_selector(joined, named.fit(genes.assign(batch=table["batch"]), ill))
    assert joined.transform(genes).shape == (150, joined.support_.sum())
    assert set(joined.get_feature_names_out()) <= set(genes.columns)


def test_select_takes_names_or_a_table_of_covariates():
    table, ill = genes_and_batch(0)
    genes = table.drop(columns="batch")
    joined = select(genes, ill, 6, covariates=table[["batch"]])
    named = select(table, ill, 6, covariates="batch")
    assert joined.support.tolist() == named.support.tolist()
    assert joined.names == list(genes.columns)


def test_masks_and_categories_refer_to_x_beside_a_table_of_covariates():
    table, ill = genes_and_batch(0)
    genes = table.drop(columns="batch").assign(site=np.arange(150) % 12)
    mask = np.arange(GENES + 1) < 100
    joined = SelectBestK(6, exclude=mask, covariates="site", categorical_features=["site"])
    joined.fit(genes, ill, covariates=table[["batch"]])
    named = SelectBestK(
        6,
        exclude=np.append(mask, False),
        covariates=["site", "batch"],
        categorical_features=["site"],
    )
    same_selector(joined, named.fit(genes.assign(batch=table["batch"]), ill))


def test_a_table_of_covariates_needs_a_row_for_each_row_of_x_in_memory(tmp_path):
    table, ill = genes_and_batch(0)
    for selector in (SelectBestK(2), SelectRelevant(), SelectBestKCV(LogisticRegression())):
        with pytest.raises(DataError, match="149 rows and X has 150"):
            selector.fit(table, ill, covariates=np.ones((149, 1)))
    path = tmp_path / "table.csv"
    table.assign(ill=ill).to_csv(path, index=False)
    for selector in (SelectBestK(2), SelectRelevant()):
        with pytest.raises(ParameterError, match="X comes in blocks of rows"):
            selector.fit(path, "ill", covariates=table[["batch"]])


def test_covariates_with_names_of_x_are_other_columns():
    table, ill = genes_and_batch(0)
    genes = table.drop(columns="batch")
    covariates = table[["batch"]].rename(columns={"batch": "g0"})
    joined = SelectBestK(6).fit(genes, ill, covariates=covariates)
    same_selector(joined, SelectBestK(6, covariates="batch").fit(table, ill))


def test_features_that_add_to_covariates_are_found_and_followers_are_not():
    discoveries = []
    found = 0
    for seed in range(6):
        table, ill = genes_and_batch(seed, rows=200)
        genes = genes_of(SelectRelevant(covariates="batch").fit(table, ill))
        found += np.isin(CAUSES, genes).sum()
        discoveries.append(np.mean(~np.isin(genes, CAUSES)) if len(genes) else 0.0)
    assert found >= 20
    assert np.mean(discoveries) < 0.15


def test_noise_that_follows_covariates_is_not_found_in_few_rows():
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        site = rng.integers(0, 6, 60)
        age = rng.normal(size=60)
        drift = rng.normal(size=6)[site] + age
        X = pd.DataFrame(rng.normal(size=(60, 30)) + np.outer(drift, rng.normal(size=30)))
        y = (drift + rng.logistic(size=60) > 0).astype(int)
        table = X.add_prefix("x").assign(site=site, age=age)
        selector = SelectRelevant(covariates=["site", "age"], permutations=10).fit(table, y)
        n_found += selector.support_.any()
    assert n_found <= 4


def test_a_curve_a_category_and_a_pair_are_found_given_covariates():
    rng = np.random.default_rng(0)
    rows = 800
    batch = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 20)) + 0.5 * batch[:, np.newaxis]
    kind = rng.choice([*"abcdef"], rows)
    pair = (X[:, 1] > 0.25) == (X[:, 2] > 0.25)
    y = 2 * batch + (X[:, 0] - 0.25) ** 2 + 1.5 * pair + (kind == "c") + rng.normal(size=rows)
    table = pd.DataFrame(X).add_prefix("x").assign(kind=kind, batch=batch)
    selector = SelectRelevant(covariates="batch").fit(table, y)
    found = selector.get_feature_names_out()
    assert {"x0", "x1", "x2", "kind"} <= set(found)
    assert len(found) <= 6
    assert selector.partners_[1] == 2
    assert selector.partners_[2] == 1
    assert np.isnan(selector.pvalues_[-1])
    assert np.isnan(selector.scores_[-1])
    assert not selector.support_[-1]


def test_three_classes_are_tested_given_covariates():
    rng = np.random.default_rng(1)
    batch = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 20)) + batch[:, np.newaxis]
    y = np.digitize(batch + 1.5 * (X[:, 3] - batch) + rng.normal(size=300), [0.3, 1.7])
    table = pd.DataFrame(X).add_prefix("x").assign(batch=batch)
    found = SelectRelevant(covariates="batch").fit(table, y).get_feature_names_out()
    assert "x3" in found
    assert len(found) <= 3


def test_relevance_given_covariates_takes_no_weights_and_needs_a_feature():
    table, ill = genes_and_batch(0)
    with pytest.raises(ParameterError, match="covariates or sample_weight, not both"):
        SelectRelevant(covariates="batch").fit(table, ill, sample_weight=np.arange(150))
    with pytest.raises(ParameterError, match="every column is a covariate"):
        SelectRelevant(covariates="batch").fit(table[["batch"]], ill)


def test_covariates_that_take_more_than_half_of_the_rows_are_refused():
    table, ill = genes_and_batch(0)
    table["patient"] = [f"p{row // 2}" for row in range(150)]
    SelectBestK(2, covariates="patient").fit(table, ill)
    table["patient"] = [f"p{row}" for row in range(150)]
    with pytest.raises(ParameterError, match="more than half of the 150 rows"):
        SelectBestK(2, covariates="patient").fit(table, ill)
    with pytest.raises(ParameterError, match=r"take \d+ parameters, more than half"):
        SelectBestK(2, covariates=[f"g{j}" for j in range(80)]).fit(table, ill)


def test_covariates_that_determine_the_target_are_refused():
    table, ill = genes_and_batch(0)
    with pytest.raises(ParameterError, match="'diagnosis' determine the target"):
        SelectBestK(2, covariates="diagnosis").fit(table.assign(diagnosis=ill), ill)


@pytest.mark.parametrize(
    "method", ["mrmr", "jmi", "exact", Greedy("maxrel"), LogisticRegression, list(range(9))]
)
def test_other_methods_refuse_covariates_and_say_what_to_pass(method):
    table, ill = genes_and_batch(0)
    with pytest.raises(ParameterError, match=r"method='auto' alone.*include= in place"):
        SelectBestK(2, method, covariates="batch").fit(table, ill)
    with pytest.raises(ParameterError, match="method='auto' alone"):
        error_curves(table, ill, {"other": method}, [2], cv=2, covariates="batch")


def test_numbers_of_batches_are_categories():
    table, ill = genes_and_batch(2)
    numbered = table.assign(batch=table["batch"].map({"a": 1, "b": 3, "c": 2}))
    as_text = SelectBestK(4, covariates="batch").fit(table, ill)
    as_numbers = SelectBestK(4, covariates="batch").fit(numbered, ill)
    np.testing.assert_allclose(as_numbers.scores_, as_text.scores_, atol=1e-6)
    assert as_numbers.support_.tolist() == as_text.support_.tolist()


def test_rare_levels_are_adjusted_for():
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(50), 4)
    level = rng.normal(size=50)[site]
    X = level[:, np.newaxis] + 0.3 * rng.normal(size=(200, 20))
    y = (level + 0.3 * rng.normal(size=200) > 0).astype(int)
    table = pd.DataFrame(X).add_prefix("x").assign(site=[f"s{number}" for number in site])
    relevance = SelectBestK(2, covariates="site").fit(table, y).scores_[:20]
    assert SelectBestK(2, exclude="site").fit(table, y).scores_[:20].min() > 0.2
    assert relevance.max() < 0.1


def test_missing_values_of_a_covariate_are_adjusted_for():
    rng = np.random.default_rng(1)
    rows = 200
    unknown = rng.random(rows) < 0.3
    age = np.where(unknown, np.nan, rng.normal(size=rows))
    X = rng.normal(size=(rows, 40)) + np.nan_to_num(age)[:, np.newaxis]
    X += 2.0 * unknown[:, np.newaxis]
    X[:, 5] += rng.normal(size=rows)
    y = 2.0 * np.nan_to_num(age) + 3.0 * unknown + rng.normal(size=rows)
    y += X[:, 5] - np.nan_to_num(age) - 2.0 * unknown
    table = pd.DataFrame(X).add_prefix("x").assign(age=age)
    selector = SelectBestK(1, covariates="age").fit(table, y)
    assert selector.get_feature_names_out().tolist() == ["x5"]
    assert np.delete(selector.scores_[:40], 5).max() < 0.05


def test_a_copy_of_a_covariate_tells_nothing():
    table, ill = genes_and_batch(0)
    table["copy"] = table["batch"]
    table["score"] = 2.0 * table["g9"]
    selector = SelectBestK(4, covariates=["batch", "g9"]).fit(table, ill)
    assert np.abs(selector.scores_[[GENES + 1, GENES + 2]]).max() < 0.05
    assert not {"copy", "score"} & set(selector.get_feature_names_out())


def test_constant_and_repeated_covariates_change_nothing():
    table, ill = genes_and_batch(3)
    plain = SelectBestK(4, covariates="batch").fit(table, ill).solution_
    more = table.assign(again=table["batch"], constant=1.0)
    repeated = SelectBestK(4, covariates=["batch", "again", "constant"]).fit(more, ill).solution_
    assert repeated.support.tolist() == plain.support.tolist()
    np.testing.assert_allclose(repeated.objective, plain.objective, rtol=1e-6)


def test_a_curve_and_a_category_are_found_given_covariates():
    rng = np.random.default_rng(4)
    rows = 600
    age = rng.normal(size=rows)
    X = rng.normal(size=(rows, 30)) + age[:, np.newaxis]
    kind = rng.choice(["red", "green", "blue"], rows)
    y = 3.0 * age + (X[:, 2] - age) ** 2 + np.sin(4.0 * (X[:, 7] - age)) * 2.0
    y += 1.5 * (kind == "red") + rng.normal(size=rows)
    table = pd.DataFrame(X - age[:, np.newaxis]).add_prefix("x").assign(kind=kind, age=age)
    selector = SelectBestK(3, covariates="age").fit(table, y)
    assert set(selector.get_feature_names_out()) == {"x2", "x7", "kind"}


def test_a_pair_that_only_follows_the_batch_is_no_pair():
    rng = np.random.default_rng(0)
    rows = 600
    batch = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 40))
    X[:, 3] = np.abs(X[:, 3]) * np.sign(X[:, 2]) * np.where(batch, 1, -1)
    y = (1.6 * (X[:, 0] * X[:, 1] > 0) + 2 * batch + rng.normal(size=rows) > 1.8).astype(int)
    table = pd.DataFrame(X).add_prefix("x").assign(batch=batch)
    given = SelectBestK(2, covariates="batch").fit(table, y)
    assert set(given.get_feature_names_out()) == {"x0", "x1"}
    assert given.solution_.warnings == ()
    alone = SelectBestK(2, exclude="batch").fit(table, y)
    assert set(alone.get_feature_names_out()) == {"x2", "x3"}


def test_a_column_that_only_follows_the_batch_is_warned_of():
    table, ill = genes_and_batch(0)
    table = table[["g3", "g60", "g5", "batch"]]
    noise = np.random.default_rng(0).normal(size=len(ill))
    table = table.assign(g5=table["batch"].map({"a": -2, "b": 0, "c": 2}) + noise)
    said = SelectBestK(3, covariates="batch").fit(table, ill).solution_.warnings
    assert any("'g5': selected, but no more related to the target" in text for text in said)
    said = SelectBestK(3, exclude="batch").fit(table, ill).solution_.warnings
    assert not any("'g5'" in text for text in said)


def test_the_order_of_rows_changes_nothing():
    table, ill = genes_and_batch(5)
    order = np.random.default_rng(0).permutation(len(ill))
    shuffled = SelectBestK(6, covariates="batch").fit(table.iloc[order], ill[order])
    ordered = SelectBestK(6, covariates="batch").fit(table, ill)
    assert shuffled.solution_.support.tolist() == ordered.solution_.support.tolist()
    np.testing.assert_array_equal(shuffled.scores_, ordered.scores_)


def test_rows_of_weight_0_are_not_adjusted_with():
    table, ill = genes_and_batch(6)
    weights = np.random.default_rng(0).uniform(1, 2, len(ill))
    weights[:20] = 0
    table.loc[:19, "batch"] = "z"
    weighted = SelectBestK(4, covariates="batch").fit(table, ill, sample_weight=weights)
    dropped = SelectBestK(4, covariates="batch").fit(
        table[20:], ill[20:], sample_weight=weights[20:]
    )
    np.testing.assert_array_equal(weighted.scores_, dropped.scores_)
    # a regression on the batch leaves no weighted mean of a batch, and so nothing of its copy
    table["copy"] = table["batch"]
    weighted = SelectBestK(4, covariates="batch").fit(table, ill, sample_weight=weights)
    assert abs(weighted.scores_[-1]) < 0.01


def test_several_classes_and_several_targets_are_adjusted():
    table, ill = genes_and_batch(7, rows=200)
    batch = table["batch"].map({"a": 0, "b": 1, "c": 2}).to_numpy()
    stage = np.where(ill == 0, 0, 1 + (table["g200"] > 0))
    staged = SelectBestK(4, covariates="batch").fit(table, stage)
    assert "g200" in staged.get_feature_names_out()
    assert only_followers(genes_of(staged)).sum() <= 1
    both = np.column_stack([ill, (batch + table["g250"] > 1).astype(int)])
    of_both = SelectBestK(3, covariates="batch").fit(table, both)
    assert "g250" in of_both.get_feature_names_out()
    assert only_followers(genes_of(of_both)).sum() <= 1


def test_a_sparse_matrix_has_covariates_by_index():
    rng = np.random.default_rng(0)
    batch = rng.integers(0, 2, 300)
    X = rng.poisson(1.0 + batch[:, np.newaxis], size=(300, 30)).astype(float)
    y = (X[:, 4] - batch + 3 * batch + rng.normal(size=300) > 2).astype(int)
    X = np.column_stack([X, batch])
    dense = SelectBestK(1, covariates=[30]).fit(X, y)
    assert dense.get_support(indices=True).tolist() == [4]
    for form in (sparse.csr_array, sparse.csc_matrix):
        found = SelectBestK(1, covariates=[30]).fit(form(X), y)
        np.testing.assert_array_equal(found.scores_, dense.scores_)


def test_groups_of_columns_are_selected_given_a_group_of_covariates():
    table, ill = genes_and_batch(8)
    indicators = pd.get_dummies(table.pop("batch"), prefix="batch").astype(float)
    table = pd.concat([table[["g3", "g200", "g5", "g6", "g7"]], indicators], axis=1)
    groups = {"batch": list(indicators), "causes": ["g3", "g200"], "followers": ["g5", "g6"]}
    selector = SelectBestK(1, covariates=list(indicators), column_groups=groups).fit(table, ill)
    assert selector.get_feature_names_out().tolist() == ["g3", "g200"]


def test_more_columns_than_are_considered_together_are_screened_given_covariates():
    rng = np.random.default_rng(0)
    rows, columns = 150, 8_300
    batch = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, columns)).astype(np.float32)
    X[:, :8_250] += 2 * batch[:, np.newaxis]
    y = (2 * batch + X[:, 8_299] + 0.3 * rng.normal(size=rows) > 1).astype(int)
    X = np.column_stack([batch, X])
    # too little time for all pairs, which are no part of this
    selector = SelectBestK(1, covariates=[0], time_limit=0.001).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [8_300]
    assert np.isnan(selector.scores_[0])


def test_the_number_of_features_is_chosen_by_what_they_add_to_the_covariates():
    table, ill = genes_and_batch(0, rows=300)
    table = table[[*(f"g{j}" for j in CAUSES), "g10", "g11", "g12", "g210", "g211", "batch"]]
    selector = SelectBestK("auto", covariates="batch", random_state=0).fit(table, ill)
    assert {3, 200} <= set(genes_of(selector).tolist())
    assert selector.k_ <= 6
    noise = table[["g10", "g11", "g12", "batch"]]
    said = (
        SelectBestK("auto", covariates="batch", random_state=0).fit(noise, ill).solution_.warnings
    )
    assert any("no number of features predicts better than the covariates alone" in text
               for text in said)  # fmt: skip


def test_selectors_with_covariates_are_cloned_pickled_and_put_in_pipelines():
    table, ill = genes_and_batch(9)
    selector = SelectBestK(4, covariates=["batch"])
    assert clone(selector).get_params()["covariates"] == ["batch"]
    assert "covariates=['batch']" in repr(selector)
    fitted = clone(selector).fit(table, ill)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert again.transform(table).shape == (150, 4)
    model = make_pipeline(selector.set_output(transform="pandas"), LogisticRegression())
    assert model.fit(table, ill).score(table, ill) > 0.6
    assert "batch" not in model[0].get_feature_names_out()


def test_the_model_of_a_chosen_k_is_given_the_selected_columns_alone():
    table, ill = genes_and_batch(9)
    chooser = SelectBestKCV(LogisticRegression(), ks=[2, 4], cv=3, covariates=["batch"])
    chooser.fit(table, ill)
    assert chooser.estimator_.n_features_in_ == chooser.best_k_
    assert "batch" not in chooser.get_feature_names_out()
    assert chooser.predict(table).shape == (150,)


def test_folds_and_subsamples_adjust_by_their_own_rows():
    table, ill = genes_and_batch(10, rows=200)
    options = {"covariates": ["batch"], "random_state": 0}
    curves = error_curves(table, ill, ["auto"], [3], cv=4, baseline=True, **options)
    for row in curves.rows:
        assert GENES not in row.support
    frequent = stability_selection(table, ill, 3, n_subsamples=10, **options)
    assert frequent.frequencies[GENES] == 0
    assert np.isin(frequent.selected(0.6), CAUSES).all()
    assert select(table, ill, 3, **options).k == 3


def test_rows_that_come_in_blocks_have_covariates_by_name(tmp_path):
    table, ill = genes_and_batch(11)
    whole = SelectBestK(3, covariates="batch").fit(table, ill)
    with_target = table.assign(ill=ill)
    with_target.to_csv(tmp_path / "genes.csv", index=False)
    for source in ([with_target[:80], with_target[80:]], tmp_path / "genes.csv"):
        read = SelectBestK(3, covariates="batch").fit(source, "ill")
        assert read.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    held = SelectBestK(3, covariates="batch").partial_fit(table[:80], ill[:80])
    held.partial_fit(table[80:], ill[80:])
    assert held.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()


def test_a_selection_given_covariates_is_warned_of_like_any_other():
    table, ill = genes_and_batch(0)
    with pytest.warns(SelectionWarning, match="no more related to the target"):
        SelectBestK(20, covariates="batch").fit(table, ill)
