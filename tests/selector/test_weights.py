"""A weight is how often a row counts: whole ones exactly, others in expectation."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB

from bestk import (
    METHODS,
    SelectBestK,
    SelectBestKCV,
    error_curves,
    select,
    stability_selection,
)
from bestk.cli import main
from bestk.data.target import weighted_rows

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200, ::3], Y[:200]
WEIGHTS = np.arange(200) % 3
ROWS = np.repeat(np.arange(200), WEIGHTS)
FOLDS = list(StratifiedKFold(3).split(X, Y))


def repeated(folds):
    """The same folds of the repeated rows."""
    return [tuple(np.flatnonzero(np.isin(ROWS, part)) for part in fold) for fold in folds]


def assert_same(weighted, expected):
    """The same features, in the same order, with the same numbers to the last bit."""
    assert weighted.support.tolist() == expected.support.tolist()
    np.testing.assert_array_equal(weighted.objective, expected.objective)
    np.testing.assert_array_equal(weighted.upper_bound, expected.upper_bound)
    for name in ("relevance", "contribution", "new_information", "pairs"):
        np.testing.assert_array_equal(weighted.details[name], expected.details[name])


@pytest.mark.parametrize("method", [*METHODS, SelectKBest()], ids=str)
def test_whole_weights_are_repeated_rows_to_the_last_bit_for_every_method(method):
    options = {"random_state": 0, "bound": None}
    weighted = select(X, Y, 4, method, sample_weight=WEIGHTS, **options)
    assert_same(weighted, select(X[ROWS], Y[ROWS], 4, method, **options))


@pytest.mark.parametrize("kind", [int, float, np.float32, object])
@pytest.mark.parametrize(
    "options",
    [
        {"information": "discrete", "correction": "miller-madow"},
        {"information": "gaussian"},
        {"method": "exact", "bound": "fast"},
        {"method": "jmi", "column_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]},
        {"method": "mrmr", "threshold": 0.05, "k": 8},
        {"method": "mrmr", "include": [7], "exclude": [0]},
    ],
    ids=str,
)
def test_whole_weights_of_any_type_are_repeated_rows_with_every_option(kind, options):
    options = {"k": 4, "random_state": 0, **options}
    weighted = select(X, Y, sample_weight=WEIGHTS.astype(kind), **options)
    assert_same(weighted, select(X[ROWS], Y[ROWS], **options))


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_whole_weights_are_repeated_rows_where_k_is_chosen(scoring):
    options = {"k": "auto", "method": "mrmr", "scoring": scoring}
    weighted = SelectBestK(cv=FOLDS, **options).fit(X, Y, sample_weight=WEIGHTS)
    expected = SelectBestK(cv=repeated(FOLDS), **options).fit(X[ROWS], Y[ROWS])
    assert weighted.k_scores_ == expected.k_scores_
    assert_same(weighted.solution_, expected.solution_)


def test_a_column_of_weights_is_repeated_rows_in_files_and_blocks(tmp_path):
    frame = pd.DataFrame(X).add_prefix("c").assign(w=WEIGHTS, y=Y)
    frame.to_csv(tmp_path / "weighted.csv", index=False)
    repeated = frame.iloc[ROWS].drop(columns="w")
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    for k, method in ((4, "auto"), (4, "mrmr"), (3, "tpower")):
        expected = SelectBestK(k, method).fit(tmp_path / "repeated.csv", "y")
        blocks = [frame.iloc[i : i + 70] for i in range(0, 200, 70)]
        for source in (tmp_path / "weighted.csv", blocks):
            found = SelectBestK(k, method).fit(source, "y", sample_weight="w")
            assert found.n_samples_seen_ == len(frame)
            assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
            assert_same(found.solution_, expected.solution_)
    with pytest.raises(ValueError, match="no column 'v'"):
        SelectBestK(2).fit(blocks, "y", sample_weight="v")


def test_whole_weights_are_repeated_rows_in_partial_fit():
    codes = (np.median(X, axis=0) < X).astype(int)
    weighted, expected = (SelectBestK(3, "jmi", discretizer=None) for _ in range(2))
    for part in np.array_split(np.arange(200), 4):
        own = np.repeat(part, WEIGHTS[part])
        weighted.partial_fit(codes[part], Y[part], sample_weight=WEIGHTS[part])
        expected.partial_fit(codes[own], Y[own])
    weighted.partial_fit(codes[:2], Y[:2], sample_weight=[0, 0])
    assert weighted.n_samples_seen_ == expected.n_samples_seen_ == len(ROWS)
    assert_same(weighted.finalize().solution_, expected.finalize().solution_)


def test_whole_weights_are_repeated_rows_for_the_command(tmp_path):
    frame = pd.DataFrame(X).add_prefix("c").assign(w=WEIGHTS, y=Y)
    files = tmp_path / "weighted.csv", tmp_path / "repeated.csv"
    frame.to_csv(files[0], index=False)
    frame.iloc[ROWS].drop(columns="w").to_csv(files[1], index=False)
    for args in (["select", "-k", "3"], ["select", "-k", "2", "-m", "exact"]):
        told = [
            CliRunner().invoke(main, [args[0], str(file), "-t", "y", "--json", *args[1:], *more])
            for file, more in zip(files, (["--weights", "w"], []), strict=True)
        ]
        weighted, expected = (json.loads(one.stdout) for one in told)
        assert weighted["features"] == expected["features"]
        assert weighted["objective"] == expected["objective"]


def test_whole_weights_are_repeated_rows_in_regression():
    X, y = load_diabetes(return_X_y=True)
    weights = np.arange(len(y)) % 4
    rows = np.repeat(np.arange(len(y)), weights)
    weighted, expected = (
        SelectBestK(4).fit(X, y, sample_weight=weights), SelectBestK(4).fit(X[rows], y[rows]),
    )  # fmt: skip
    np.testing.assert_array_equal(weighted.scores_, expected.scores_)
    np.testing.assert_array_equal(weighted.ranking_, expected.ranking_)


def test_whole_weights_are_repeated_rows_in_the_same_folds_of_cross_validation():
    options = {"ks": [1, 3], "method": "mrmr"}
    weighted = SelectBestKCV(GaussianNB(), cv=FOLDS, **options).fit(X, Y, sample_weight=WEIGHTS)
    expected = SelectBestKCV(GaussianNB(), cv=repeated(FOLDS), **options).fit(X[ROWS], Y[ROWS])
    for name, values in expected.cv_results_.items():
        np.testing.assert_array_equal(weighted.cv_results_[name], values)
    np.testing.assert_array_equal(weighted.predict_proba(X), expected.predict_proba(X))
    options = {"methods": ["auto", "jmi"], "ks": [1, 3], "estimator": GaussianNB()}
    weighted = error_curves(X, Y, cv=FOLDS, sample_weight=WEIGHTS, **options)
    expected = error_curves(X[ROWS], Y[ROWS], cv=repeated(FOLDS), **options)
    assert [(r.error, r.n_test, r.support) for r in weighted.rows] == [
        (r.error, r.n_test, r.support) for r in expected.rows
    ]


@pytest.mark.parametrize("method", ["auto", "mrmr", "tpower", SelectKBest()], ids=str)
def test_whole_weights_are_repeated_rows_in_every_subsample(method):
    found = stability_selection(X, Y, 3, method, n_subsamples=6, sample_weight=WEIGHTS)
    splits = StratifiedShuffleSplit(6, train_size=0.5, random_state=0).split(X, Y)
    for (rows, _), support in zip(splits, found.supports, strict=True):
        own = np.repeat(rows, WEIGHTS[rows])
        alone = select(X[own], Y[own], 3, method, random_state=0, bound=None)
        assert sorted(support) == sorted(alone.support)
    plain = stability_selection(X, Y, 3, method, n_subsamples=6)
    ones = stability_selection(X, Y, 3, method, n_subsamples=6, sample_weight=np.ones(200))
    assert ones.supports == plain.supports


@settings(max_examples=30)
@given(st.lists(st.floats(0, 5), min_size=20, max_size=20).filter(lambda w: sum(w) > 2))
def test_fractional_weights_are_rounded_and_add_up_within_each_class(weights):
    y, weights = np.arange(20) % 2, np.array(weights)
    counts = np.bincount(weighted_rows(weights, y, 20), minlength=20)
    assert (np.abs(counts - weights) < 1 + 1e-9).all()
    for label in (0, 1):
        assert abs(counts[y == label].sum() - weights[y == label].sum()) < 1 + 1e-9
    assert abs(counts.sum() - weights.sum()) <= 0.5 + 1e-9


def test_survey_weights_give_the_weighted_estimate_in_expectation():
    rng = np.random.default_rng(0)
    n = 2000
    x, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
    weights = np.where(x == y, 1.7, 0.6) * rng.uniform(0.8, 1.2, n)
    joint = np.zeros((2, 2))
    np.add.at(joint, (x, y), weights / weights.sum())
    exact = (joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))).sum()
    many = np.repeat(np.arange(n), np.rint(20 * weights).astype(int))  # 20 times as many rows
    replicated = SelectBestK(1, "maxrel", discretizer=None)
    replicated.fit(np.column_stack([x, rng.integers(0, 2, n)])[many], y[many])
    assert replicated.scores_[0] == pytest.approx(exact, rel=0.02)
    found = []
    for _ in range(20):
        order = rng.permutation(n)
        table = np.column_stack([x, rng.integers(0, 2, n)])[order]
        selector = SelectBestK(1, "maxrel", discretizer=None)
        found.append(selector.fit(table, y[order], sample_weight=weights[order]).scores_[0])
    assert np.mean(found) == pytest.approx(exact, abs=3 * np.std(found) / np.sqrt(20) + 1e-4)
    assert np.std(found) < 0.1 * exact
    assert abs(select(table, y, 1, "maxrel", discretizer=None).details["relevance"][0]) < exact / 5


def test_k_is_chosen_with_fractional_weights():
    weights = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    assert SelectBestK("auto", cv=3).fit(X, Y, sample_weight=weights).k_ >= 1
    chosen = SelectBestKCV(LogisticRegression(max_iter=9999), [1, 2], "mrmr", cv=3)
    assert chosen.fit(X, Y, sample_weight=weights).best_k_ in (1, 2)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.full(200, -1.0), "numbers from 0 up"),
        (np.full(200, np.nan), "numbers from 0 up"),
        (np.zeros(200), "adds up to 0 rows"),
        (np.full(200, 1 / 200), "adds up to 1 rows"),
        (np.full(200, 1e9), "for example of mean 1"),
        (np.ones(3), "give a weight for each row"),
        (np.full(200, "a"), "give numbers"),
    ],
)
def test_other_weights_are_refused_with_advice(weights, says):
    with pytest.raises(ValueError, match=says):
        SelectBestK(2).fit(X, Y, sample_weight=weights)
