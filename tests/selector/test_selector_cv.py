"""SelectBestKCV chooses k without looking at test rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from bestk import METHODS, SelectBestK, SelectBestKCV
from bestk.selection.folds import choose


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize("method", ["jmi", "spectral", "linear", "cmim"])
def test_scores_are_those_of_a_pipeline_for_each_k(cancer, method):
    X, y = cancer
    cv = StratifiedKFold(3)
    chosen = SelectBestKCV(GaussianNB(), [1, 3, 7], method, cv=cv, random_state=0).fit(X, y)
    for k, score in zip(
        chosen.cv_results_["k"], chosen.cv_results_["mean_test_score"], strict=True
    ):
        pipe = make_pipeline(SelectBestK(k, method, random_state=0), GaussianNB())
        alone = cross_val_score(pipe, X, y, cv=cv).mean()
        assert score == pytest.approx(alone)
    best = chosen.cv_results_["k"][np.argmax(chosen.cv_results_["mean_test_score"])]
    assert chosen.best_k_ == best == chosen.solution_.k


class Remembers(ClassifierMixin, BaseEstimator):
    """A classifier that notes how many rows and columns it has seen."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Remembers.seen.append(X.shape)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_the_model_is_fitted_on_training_rows_and_selected_columns_only(cancer):
    X, y = cancer
    Remembers.seen.clear()
    SelectBestKCV(Remembers(), [2, 4], cv=KFold(3)).fit(X[:90], y[:90])
    assert Remembers.seen == [(60, 2), (60, 4)] * 3


def test_labels_of_test_rows_play_no_part_in_the_selection(cancer):
    X, y = cancer
    X, y = X[:120], y[:120]
    folds = [(np.arange(80), np.arange(80, 120))]
    scorer_sees = []

    def scorer(model, X_test, y_test):
        scorer_sees.append(X_test.copy())
        return 0.0

    for flipped in (y, np.concatenate([y[:80], 1 - y[80:]])):
        SelectBestKCV(GaussianNB(), [3], cv=folds, scoring=scorer).fit(X, flipped)
    np.testing.assert_array_equal(*scorer_sees)


def test_by_default_k_runs_to_a_hundred_or_to_all_features(cancer):
    X, y = cancer
    chosen = SelectBestKCV(GaussianNB(), method="maxrel", cv=2).fit(X, y)
    np.testing.assert_array_equal(chosen.cv_results_["k"], np.arange(1, 31))


def test_mixed_frames_reach_the_model_as_frames(mixed):
    X, y = mixed
    seen = []

    class Model(DecisionTreeClassifier):
        def fit(self, X, y, check_input=True):
            seen.append(list(X.columns))
            return super().fit(X[[]].assign(one=1.0), y)

        def score(self, X, y):
            return 1.0

    SelectBestKCV(Model(), [2], cv=2, include=["member"]).fit(X, y)
    assert all("member" in names and len(names) == 2 for names in seen)


def test_one_standard_error_takes_the_smallest_k_near_the_best():
    scores = np.array([[0.7, 0.88, 0.9], [0.7, 0.9, 0.92], [0.7, 0.86, 0.88]])
    assert choose([1, 5, 9], scores, "best") == 9
    assert choose([1, 5, 9], scores, "one-se") == 9
    scores[:, 2] += [0.05, -0.05, 0.0]
    assert choose([1, 5, 9], scores, "one-se") == 5
    assert choose([1, 5], np.array([[0.9, 0.9]]), "best") == 1


@pytest.mark.parametrize("ks", [[0], [31], [], [2.5]])
def test_odd_ks_are_refused(cancer, ks):
    with pytest.raises(ValueError, match="ks must"):
        SelectBestKCV(GaussianNB(), ks, cv=2).fit(*cancer)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"lowrank", "sdp"}))
def test_every_method_has_a_path(cancer, method):
    X, y = cancer
    ks = [1, 2, 5]
    chosen = SelectBestKCV(GaussianNB(), ks, method, cv=2, time_limit=0.2).fit(X[:, 20:], y)
    assert chosen.best_k_ == ks[np.argmax(chosen.cv_results_["mean_test_score"])]
    assert chosen.support_.sum() == chosen.best_k_
