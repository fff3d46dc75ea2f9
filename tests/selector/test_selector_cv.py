"""SelectBestKCV chooses k without looking at test rows."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFECV, SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from bestk import METHODS, SelectBestK, SelectBestKCV
from bestk.selectors.chosen_k import choose


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
    assert Remembers.seen[:-1] == [(60, 2), (60, 4)] * 3
    assert Remembers.seen[-1][0] == 90


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


def test_it_predicts_with_the_selected_columns(cancer):
    X, y = cancer
    chosen = SelectBestKCV(GaussianNB(), [2, 4], "mrmr", cv=3, scoring="roc_auc").fit(X, y)
    model = GaussianNB().fit(X[:, chosen.support_], y)
    kept = X[:, chosen.support_]
    np.testing.assert_array_equal(chosen.predict(X), model.predict(kept))
    np.testing.assert_array_equal(chosen.predict_proba(X), model.predict_proba(kept))
    assert chosen.score(X, y) == get_scorer("roc_auc")(model, kept, y)
    assert chosen.classes_.tolist() == [0, 1]
    assert is_classifier(chosen)
    assert not hasattr(chosen, "decision_function")
    assert not hasattr(SelectBestKCV(Ridge()), "predict_proba")
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    named = SelectBestKCV(LogisticRegression(max_iter=9999), [2], "mrmr", cv=2).fit(frame, y)
    assert accuracy_score(y, named.predict(frame)) == named.score(frame, y) > 0.8
    assert named.decision_function(frame).shape == y.shape
    assert named.estimator_.feature_names_in_.tolist() == named.get_feature_names_out().tolist()


def test_it_stands_inside_cross_validation_as_a_classifier(cancer):
    X, y = cancer
    scores = cross_val_score(SelectBestKCV(GaussianNB(), [2, 3], "maxrel", cv=2), X, y, cv=3)
    assert scores.min() > 0.8


def test_other_selectors_take_the_place_of_the_method(cancer):
    X, y = cancer
    chosen = SelectBestKCV(GaussianNB(), [1, 3], SelectKBest(), cv=StratifiedKFold(3)).fit(X, y)
    for k, score in zip([1, 3], chosen.cv_results_["mean_test_score"], strict=True):
        pipe = make_pipeline(SelectKBest(k=k), GaussianNB())
        assert score == pytest.approx(cross_val_score(pipe, X, y, cv=StratifiedKFold(3)).mean())
    assert np.isfinite(chosen.scores_).all()


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("cv", [3, GroupKFold(3)])
def test_groups_are_routed_as_by_rfecv(cancer, routing, cv):
    X, y = cancer
    X, groups = X[:, :5], np.arange(len(y)) // 9
    with sklearn.config_context(enable_metadata_routing=routing):
        ours = SelectBestKCV(GaussianNB(), [2, 3], "maxrel", cv=cv).fit(X, y, groups=groups)
        if cv != 3:
            RFECV(LogisticRegression(max_iter=9999), cv=cv).fit(X, y, groups=groups)
    expected = SelectBestKCV(GaussianNB(), [2, 3], "maxrel", cv=cv).fit(X, y, groups)
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    with pytest.raises((TypeError, ValueError), match="colour"):
        SelectBestKCV(GaussianNB(), [2], cv=cv).fit(X, y, colour=3)


def test_weights_are_routed_to_the_estimator_and_the_scorer_that_request_them(cancer):
    X, y = cancer
    weights = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression(max_iter=9999).set_fit_request(sample_weight=True)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        chosen = SelectBestKCV(model, [2], "maxrel", cv=2, scoring=scorer)
        chosen.fit(X, y, sample_weight=weights)
    kept = X[:, chosen.support_]
    half = LogisticRegression(max_iter=9999).fit(kept[1::2], y[1::2])
    np.testing.assert_allclose(chosen.estimator_.coef_, half.coef_, rtol=0.01)


def test_a_classifier_of_fractions_is_answered_with_what_to_do():
    y = np.random.default_rng(0).normal(size=60)
    with pytest.raises(ValueError, match=r"predict it as numbers, .* or a regressor"):
        SelectBestKCV(LogisticRegression(), ks=[1], cv=3).fit(y[:, None], y)
