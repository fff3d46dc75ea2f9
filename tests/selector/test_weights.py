"""Weights are importance weights: only their ratios count, and chance follows effective rows."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import (
    METHODS,
    SelectBestK,
    SelectBestKCV,
    error_curves,
    select,
    stability_selection,
)
from bestk.cli import main
from bestk.errors import DataError, ParameterError
from bestk.information.constants import BlockConstants
from bestk.methods.forward import BlockForward

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200, ::3], Y[:200]
WEIGHTS = np.random.default_rng(0).exponential(1.0, 200)
COUNTS = np.arange(200) % 3
ROWS = np.repeat(np.arange(200), COUNTS)
CODES = (np.median(X, axis=0) < X).astype(int) + (np.quantile(X, 0.8, axis=0) < X)
OPTIONS = {"random_state": 0, "bound": None}


def assert_same(one, other):
    """The same features, in the same order, with the same numbers to the last bit."""
    assert one.support.tolist() == other.support.tolist()
    np.testing.assert_array_equal(one.objective, other.objective)
    np.testing.assert_array_equal(one.upper_bound, other.upper_bound)
    assert one.warnings == other.warnings
    for name in ("relevance", "contribution", "new_information", "pairs"):
        np.testing.assert_array_equal(one.details[name], other.details[name])


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_factor_changes_no_bit_of_any_method(method):
    once, often = (
        select(X, Y, 4, method, sample_weight=factor * WEIGHTS, **OPTIONS) for factor in (1, 5)
    )
    assert_same(once, often)


@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_are_no_weights_and_rows_of_weight_zero_are_not_there(method):
    plain = select(X, Y, 4, method, **OPTIONS)
    assert_same(select(X, Y, 4, method, sample_weight=np.full(200, 5.0), **OPTIONS), plain)
    weights = np.where(COUNTS > 0, WEIGHTS, 0.0)
    kept = COUNTS > 0
    found = select(X, Y, 4, method, sample_weight=weights, **OPTIONS)
    assert_same(found, select(X[kept], Y[kept], 4, method, sample_weight=WEIGHTS[kept], **OPTIONS))


@pytest.mark.parametrize("kind", [int, float, np.float32, object])
@pytest.mark.parametrize("method", ["maxrel", "mrmr", "jmi", "cmim", "disr", "tpower", "qpfs"])
def test_whole_weights_of_any_type_select_as_repeated_rows_do_by_plain_counts(method, kind):
    weighted = select(CODES, Y, 4, method, sample_weight=COUNTS.astype(kind), **OPTIONS)
    repeated = select(CODES[ROWS], Y[ROWS], 4, method, **OPTIONS)
    assert weighted.support.tolist() == repeated.support.tolist()
    for name in ("relevance", "contribution", "new_information", "pairs"):
        np.testing.assert_allclose(weighted.details[name], repeated.details[name], atol=1e-9)


@pytest.mark.parametrize("discretizer", ["caim", "equal-frequency"])
def test_whole_weights_cut_numbers_as_repeated_rows_do(discretizer):
    options = {"discretizer": discretizer, **OPTIONS}
    weighted = select(X, Y, 4, "jmi", sample_weight=COUNTS, **options)
    repeated = select(X[ROWS], Y[ROWS], 4, "jmi", **options)
    assert weighted.support.tolist() == repeated.support.tolist()
    np.testing.assert_allclose(
        weighted.details["relevance"], repeated.details["relevance"], atol=1e-9
    )


@pytest.mark.parametrize("method", ["auto", "jmi"])
def test_sparse_numbers_are_cut_by_weights_as_dense_ones_are(method):
    table = np.where(np.median(X, axis=0) < X, X, 0.0)
    found = select(sparse.csc_array(table), Y, 4, method, sample_weight=WEIGHTS, **OPTIONS)
    assert_same(found, select(table, Y, 4, method, sample_weight=WEIGHTS, **OPTIONS))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"column_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]},
        {"include": [7], "exclude": [0]},
        {"method": "jmi", "correction": "miller-madow"},
        {"method": "jmi", "correction": "chance"},
        {"method": "mrmr", "information": "gaussian"},
        {"method": "exact", "bound": "fast"},
        {"method": "jmi", "column_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]},
        {"method": "mrmr", "threshold": 0.05, "k": 8},
        {"method": "mrmr", "include": [7], "exclude": [0]},
        {"method": "jmi", "categorical_features": [0], "discretizer": "mdlp", "exclude": [0]},
        {"method": "jmi", "discretizer": "sigma"},
    ],
    ids=str,
)
def test_weights_have_an_effect_and_a_factor_has_none_with_every_option(options):
    options = {"k": 4, "random_state": 0, **options}
    found = select(X, Y, sample_weight=WEIGHTS, **options)
    assert_same(found, select(X, Y, sample_weight=0.01 * WEIGHTS, **options))
    plain = select(X, Y, **options)
    assert found.objective != plain.objective


def noisy_table(seed, strength):
    """4,000 rows, 5% of them positive, 6 related columns and 26 of noise."""
    rng = np.random.default_rng(seed)
    y = (rng.random(4000) < 0.05).astype(int)
    X = rng.normal(size=(4000, 32))
    X[:, :6] += strength * y[:, np.newaxis] * np.array([1.2, 1.1, 1.0, 0.9, 0.85, 0.8])
    return X, y, rng


@pytest.mark.parametrize("method", ["auto", "mrmr", "jmi"])
@pytest.mark.parametrize("kind", ["balancing", "uniform", "constant", "none"])
def test_weights_make_no_noise_significant(method, kind):
    noise = []
    for seed in range(4):
        X, y, rng = noisy_table(seed, 0.45)
        weights = {
            "balancing": np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean())),
            "uniform": rng.uniform(0.5, 1.5, 4000),
            "constant": np.full(4000, 5.0),
            "none": None,
        }[kind]
        options = {} if method == "auto" else {"discretizer": "mdlp"}
        found = SelectBestK(6, method, **options).fit(X, y, sample_weight=weights)
        noise.append((found.get_support(indices=True) >= 6).sum())
    assert np.mean(noise) <= 0.5


def test_balancing_weights_cut_for_the_rare_class():
    # Counts of rows alone hardly let CAIM see 5% of positives.
    found = []
    for seed in range(4):
        X, y, _ = noisy_table(seed, 0.35)
        weights = np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
        selector = SelectBestK(6, "mrmr", discretizer="caim").fit(X, y, sample_weight=weights)
        found.append((selector.get_support(indices=True) < 6).sum())
    assert np.mean(found) >= 5


@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_noise_is_warned_of_whatever_the_factor_of_the_weights(factor):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 12)), rng.integers(0, 2, 400)
    X[:, 0] += 2 * y
    weights = factor * rng.uniform(0.5, 1.5, 400)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SelectBestK(5).fit(X, y, sample_weight=weights)
    (text,) = [str(w.message) for w in caught if "chance would give" in str(w.message)]
    named = text.split(":")[0]
    assert "'x0'" not in named
    assert named.count("'x") == 4


def test_a_relation_that_only_the_weights_make_is_found_and_not_warned_of():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (2, 2000))
    X = np.column_stack([x, rng.integers(0, 2, (2000, 5))])
    weights = np.where(x == y, 2.0, 1.0)
    found = select(X, y, 1, sample_weight=weights)
    assert found.support.tolist() == [0]
    assert not found.warnings


def test_regression_uses_weighted_covariances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    late = np.arange(1000) >= 500
    y = np.where(late, X[:, 1], X[:, 0]) + 0.1 * rng.normal(size=1000)
    for first, weights in ((0, np.where(late, 0.05, 1.0)), (1, np.where(late, 1.0, 0.05))):
        assert select(X, y, 1, sample_weight=weights).support[0] == first
        for information in ("gaussian", "discrete"):
            options = {"method": "mrmr", "information": information, "sample_weight": weights}
            assert select(X, y, 1, **options).support[0] == first


def test_survey_weights_give_the_weighted_estimate():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (2, 2000))
    weights = np.where(x == y, 1.7, 0.6) * rng.uniform(0.8, 1.2, 2000)
    joint = np.zeros((2, 2))
    np.add.at(joint, (x, y), weights / weights.sum())
    exact = (joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))).sum()
    table = np.column_stack([x, rng.integers(0, 2, 2000)])
    found = SelectBestK(1, "maxrel", discretizer=None).fit(table, y, sample_weight=weights)
    assert found.scores_[0] == pytest.approx(exact, abs=1e-9)


def test_weights_count_for_several_targets():
    goals = np.column_stack([Y, X[:, 0] > np.median(X[:, 0])])
    for how in ("sum", "min", "union"):
        options = {"multioutput": how, "exclude": [0]}
        weighted = select(CODES, goals, 3, "mrmr", sample_weight=COUNTS, **options)
        repeated = select(CODES[ROWS], goals[ROWS], 3, "mrmr", **options)
        assert weighted.support.tolist() == repeated.support.tolist()
        assert weighted.objective == pytest.approx(repeated.objective)


def test_a_column_of_weights_counts_in_files_and_blocks_as_in_memory(tmp_path):
    frame = pd.DataFrame(X).add_prefix("c").assign(w=WEIGHTS, y=Y)
    frame.to_csv(tmp_path / "table.csv", index=False)
    for k, method in ((4, "auto"), (4, "mrmr"), (3, "tpower")):
        expected = SelectBestK(k, method).fit(X, Y, sample_weight=WEIGHTS)
        blocks = [frame.iloc[i : i + 70] for i in range(0, 200, 70)]
        for source in (tmp_path / "table.csv", blocks):
            found = SelectBestK(k, method).fit(source, "y", sample_weight="w")
            assert found.n_samples_seen_ == len(frame)
            assert "w" not in found.feature_names_in_
            np.testing.assert_array_equal(found.scores_, expected.scores_)
            np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    with pytest.raises(ValueError, match="no column 'v'"):
        SelectBestK(2).fit(blocks, "y", sample_weight="v")


def test_weights_of_blocks_travel_with_their_rows():
    in_blocks = SelectBestK(3, "jmi", discretizer=None)
    for rows in np.array_split(np.arange(200), 4):
        weights = WEIGHTS[rows] if rows[0] else WEIGHTS[rows].tolist()
        in_blocks.partial_fit(CODES[rows], Y[rows], sample_weight=weights)
    in_blocks.partial_fit(CODES[:2], 1 - Y[:2], sample_weight=[0, 0])
    whole = SelectBestK(3, "jmi", discretizer=None).fit(CODES, Y, sample_weight=WEIGHTS)
    assert in_blocks.n_samples_seen_ == 202
    assert in_blocks.n_features_in_ == 10
    assert_same(in_blocks.finalize().solution_, whole.solution_)
    with pytest.raises(ValueError, match="this block has no sample_weight, and those before had"):
        in_blocks.partial_fit(CODES[:2], Y[:2])


def test_a_sample_of_very_many_rows_keeps_their_weights(monkeypatch):
    from bestk.tables import rows

    monkeypatch.setattr(rows, "most_rows", lambda n: 100)
    monkeypatch.setattr(rows, "MIN_HELD_ROWS", 1)
    monkeypatch.setattr(rows, "MIN_LONG_ROWS", 100)
    y = np.arange(4000) % 2
    x = np.where(np.arange(4000) < 2000, y, 0)
    table = np.column_stack([x, np.random.default_rng(0).integers(0, 2, 4000)])
    weights = np.where(np.arange(4000) < 2000, 1e6, 1.0)
    in_blocks = SelectBestK(1, "jmi", discretizer=None, random_state=0)
    in_blocks.partial_fit(table, y, sample_weight=weights)
    whole = SelectBestK(1, "jmi", discretizer=None, random_state=0)
    with pytest.warns(UserWarning, match="a random sample of 100 of 4,000 rows"):
        whole.fit(table, y, sample_weight=weights)
    with pytest.warns(UserWarning, match="a random sample of 100 of 4,000 rows"):
        in_blocks.finalize()
    for found in (whole, in_blocks):
        assert found.scores_[0] == pytest.approx(np.log(2), abs=0.05)


def test_the_command_takes_weights_of_any_scale(tmp_path):
    frame = pd.DataFrame(X).add_prefix("c").assign(w=WEIGHTS, often=7 * WEIGHTS, y=Y)
    frame.drop(columns="often").to_csv(tmp_path / "once.csv", index=False)
    frame.drop(columns="w").to_csv(tmp_path / "often.csv", index=False)
    plain = frame.drop(columns=["w", "often"])
    plain.to_csv(tmp_path / "plain.csv", index=False)
    for args in (["-k", "3"], ["-k", "2", "-m", "exact"]):
        results = []
        for name, more in (("once", ["--weights", "w"]), ("often", ["--weights", "often"])):
            words = ["select", str(tmp_path / f"{name}.csv"), "-t", "y", "--json", *args, *more]
            results.append(json.loads(CliRunner().invoke(main, words).stdout))
        assert results[0]["features"] == results[1]["features"]
        assert results[0]["objective"] == results[1]["objective"]
        words = ["select", str(tmp_path / "plain.csv"), "-t", "y", "--json", *args]
        unweighted = json.loads(CliRunner().invoke(main, words).stdout)
        assert results[0]["objective"] != unweighted["objective"]


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_k_is_chosen_with_weighted_scores(scoring):
    options = {"k": "auto", "method": "mrmr", "scoring": scoring, "cv": 3}
    found = SelectBestK(**options).fit(X, Y, sample_weight=WEIGHTS)
    scaled = SelectBestK(**options).fit(X, Y, sample_weight=5 * WEIGHTS)
    assert found.k_scores_ == scaled.k_scores_
    assert_same(found.solution_, scaled.solution_)
    assert found.k_scores_ != SelectBestK(**options).fit(X, Y).k_scores_


def test_k_is_chosen_as_if_rows_of_weight_zero_were_not_there():
    kept = COUNTS > 0
    weights = np.where(kept, WEIGHTS, 0.0)
    for cv, alone in ((3, 3), (list(StratifiedKFold(3).split(X, Y)), None)):
        found = SelectBestK("auto", "mrmr", cv=cv).fit(X, Y, sample_weight=weights)
        if alone is None:
            place = np.cumsum(kept) - 1
            alone = [tuple(place[part[kept[part]]] for part in fold) for fold in cv]
        other = SelectBestK("auto", "mrmr", cv=alone)
        other.fit(X[kept], Y[kept], sample_weight=WEIGHTS[kept])
        assert found.k_scores_ == other.k_scores_


def test_cross_validated_selection_fits_and_scores_with_weights():
    options = {"ks": [1, 3], "method": "mrmr", "cv": 3}
    for model in (GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())):
        found = SelectBestKCV(model, **options).fit(X, Y, sample_weight=WEIGHTS)
        scaled = SelectBestKCV(model, **options).fit(X, Y, sample_weight=5 * WEIGHTS)
        for name, values in found.cv_results_.items():
            np.testing.assert_array_equal(scaled.cv_results_[name], values)
        np.testing.assert_array_equal(found.predict_proba(X), scaled.predict_proba(X))
        plain = SelectBestKCV(model, **options).fit(X, Y)
        assert (found.cv_results_["mean_test_score"] != plain.cv_results_["mean_test_score"]).any()
        assert (found.predict_proba(X) != plain.predict_proba(X)).any()


def test_error_curves_fit_and_score_with_weights():
    options = {"methods": ["auto", "jmi"], "ks": [1, 3], "cv": 3, "random_state": 0}
    for model in (GaussianNB(), None):
        curves = [
            error_curves(X, Y, estimator=model, sample_weight=weights, **options)
            for weights in (WEIGHTS, 5 * WEIGHTS, None)
        ]
        errors = [[row.error for row in each.rows] for each in curves]
        assert errors[0] == errors[1] != errors[2]
    y = X[:, 0] + np.random.default_rng(0).normal(size=200)
    options = {"methods": "mrmr", "ks": [2], "cv": 3, "estimator": Ridge(), "random_state": 0}
    found = error_curves(X[:, 1:], y, sample_weight=WEIGHTS, **options)
    plain = error_curves(X[:, 1:], y, **options)
    assert found.rows[0].error != plain.rows[0].error


def test_estimators_and_selectors_that_take_no_weights_are_refused():
    model = KNeighborsClassifier()
    with pytest.raises(ParameterError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        SelectBestKCV(model, [1, 2]).fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(ParameterError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        error_curves(X, Y, "mrmr", [1], estimator=model, sample_weight=WEIGHTS)
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        SelectBestK(2, SelectKBest()).fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(ParameterError, match="the scorer takes no sample_weight"):
        SelectBestKCV(GaussianNB(), [1], scoring=lambda model, X, y: 0.0).fit(
            X, Y, sample_weight=WEIGHTS
        )


def test_selectors_of_other_libraries_that_take_weights_are_given_them():
    options = {"method": SelectFromModel(Ridge()), "k": 3}
    given = []

    def ranked(X, y, k, sample_weight=None):
        given.append(sample_weight)
        return np.arange(k)

    SelectBestK(3, ranked).fit(X, Y, sample_weight=5 * WEIGHTS)
    np.testing.assert_allclose(given[0], WEIGHTS / WEIGHTS.mean(), rtol=1e-6)
    assert SelectBestK(**options).fit(X, Y, sample_weight=WEIGHTS).k_ == 3


@pytest.mark.parametrize("method", ["auto", "mrmr", "tpower"])
def test_the_rows_of_a_subsample_keep_their_weights(method):
    options = {"n_subsamples": 6}
    found = stability_selection(X, Y, 3, method, sample_weight=WEIGHTS, **options)
    scaled = stability_selection(X, Y, 3, method, sample_weight=5 * WEIGHTS, **options)
    assert found.supports == scaled.supports
    plain = stability_selection(X, Y, 3, method, **options)
    ones = stability_selection(X, Y, 3, method, sample_weight=np.ones(200), **options)
    assert ones.supports == plain.supports


def test_more_columns_than_are_considered_together_are_chosen_by_their_weights():
    few = BlockForward(BlockConstants(max_measured=10))
    rng = np.random.default_rng(0)
    late = np.arange(600) >= 300
    table = rng.normal(size=(600, 40))
    table[rng.random((600, 40)) < 0.05] = np.nan
    filled = np.nan_to_num(table)
    y = np.where(late, filled[:, 1], filled[:, 0]) + 0.3 * rng.normal(size=600)
    for goal in (y, (y > 0).astype(int)):
        for first in (0, 1):
            weights = np.where(late == first, 1.0, 0.02)
            found = SelectBestK(1, few).fit(table, goal, sample_weight=weights)
            assert found.get_support(indices=True).tolist() == [first]
            assert found.scores_.argmax() == first


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.full(200, -1.0), "finite numbers from 0 up"),
        (np.full(200, np.nan), "finite numbers from 0 up"),
        (np.full(200, np.inf), "finite numbers from 0 up"),
        (np.zeros(200), "zero in all rows"),
        (np.ones(3), "give a weight for each row"),
        (np.full(200, "a"), "give numbers"),
    ],
)
def test_other_weights_are_refused_with_advice(weights, says):
    with pytest.raises(DataError, match=says):
        SelectBestK(2).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("scale", [1e-300, 1 / 200, 1e9, 1e300])
def test_weights_of_any_scale_are_taken(scale):
    found = select(X, Y, 3, sample_weight=scale * WEIGHTS)
    assert_same(found, select(X, Y, 3, sample_weight=WEIGHTS))
