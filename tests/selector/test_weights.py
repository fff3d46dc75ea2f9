"""A weight is how often a row counts: whole ones exactly, others in expectation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from bestk import (
    SelectBestK,
    SelectBestKCV,
    SelectRelevant,
    error_curves,
    select,
    stability_selection,
)
from bestk.data.target import weighted_rows

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200, ::3], Y[:200]
WEIGHTS = np.arange(200) % 3
ROWS = np.repeat(np.arange(200), WEIGHTS)
FOLDS = list(StratifiedKFold(3).split(X, Y))


def repeated(folds):
    """The same folds of the repeated rows."""
    return [tuple(np.flatnonzero(np.isin(ROWS, part)) for part in fold) for fold in folds]


@pytest.mark.parametrize("method", ["auto", "exact", "mrmr"])
@pytest.mark.parametrize("kind", [int, float, str, object])
def test_whole_weights_are_repeated_rows_to_the_last_bit(method, kind):
    weights = WEIGHTS.astype(float if kind is str else kind)
    weighted = select(X, Y, 4, method, sample_weight=weights)
    expected = select(X[ROWS], Y[ROWS], 4, method)
    assert weighted.support.tolist() == expected.support.tolist()
    assert weighted.objective == expected.objective
    for name in ("relevance", "contribution", "new_information"):
        np.testing.assert_array_equal(weighted.details[name], expected.details[name])


def test_whole_weights_are_repeated_rows_in_regression_and_for_relevance():
    X, y = load_diabetes(return_X_y=True)
    weights = np.arange(len(y)) % 4
    rows = np.repeat(np.arange(len(y)), weights)
    weighted, expected = (
        SelectBestK(4).fit(X, y, sample_weight=weights), SelectBestK(4).fit(X[rows], y[rows]),
    )  # fmt: skip
    np.testing.assert_array_equal(weighted.scores_, expected.scores_)
    np.testing.assert_array_equal(weighted.ranking_, expected.ranking_)
    found = SelectRelevant(random_state=0).fit(X, y, sample_weight=weights)
    again = SelectRelevant(random_state=0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(found.pvalues_, again.pvalues_)


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


def test_whole_weights_count_in_the_subsamples_too():
    found = stability_selection(X, Y, 3, "mrmr", n_subsamples=4, sample_weight=WEIGHTS)
    plain = stability_selection(X, Y, 3, "mrmr", n_subsamples=4)
    ones = stability_selection(X, Y, 3, "mrmr", n_subsamples=4, sample_weight=np.ones(200))
    assert ones.supports == plain.supports
    assert len(found.supports) == 4


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
