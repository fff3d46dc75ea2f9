"""SelectBestK(k="auto") chooses how many features, on any table, and without test rows."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import SelectBestK, SelectBestKCV, select
from bestk.cli import main
from bestk.errors import ParameterError, SelectionWarning
from bestk.selectors.choose_k import (
    GRID,
    FoldSelections,
    Goal,
    negative_log_loss,
    numbers_below,
    numbers_to_try,
    split_rows,
)
from bestk.selectors.chosen_k import choose
from bestk.selectors.joint_selector import resolve_options
from bestk.selectors.model_columns import ModelColumns, mean_targets
from bestk.selectors.steps import read_dataset
from bestk.selectors.trial import Trial
from bestk.tables.frames import read_table
from bestk.tables.target import parse_targets


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def chosen(cancer):
    return SelectBestK("auto").fit(*cancer)


@pytest.fixture(scope="module")
def small(cancer):
    """Eight columns, for tests that compare several choices."""
    X, y = cancer
    return X.iloc[:, 20:28], y


def planted(m, n, useful, seed=0):
    """A class that depends on the first columns, all to the same degree, and on nothing else."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, (X[:, :useful].sum(axis=1) + rng.normal(0, 0.3, m) > 0).astype(int)


@pytest.mark.parametrize("useful", [1, 7, 8])
def test_as_many_features_are_selected_as_the_class_depends_on(useful):
    X, y = planted(600, 30, useful, seed=1)
    selector = SelectBestK("auto").fit(X, y)
    assert selector.support_.nonzero()[0].tolist() == list(range(useful))
    assert selector.k_ == useful


def test_one_feature_is_enough_where_none_predicts():
    rng = np.random.default_rng(1)
    with pytest.warns(SelectionWarning, match="no number of features predicts better"):
        selector = SelectBestK("auto").fit(rng.normal(size=(60, 7)), np.arange(60) % 2)
    assert selector.k_ == 1
    assert not any("or k='auto'" in text for text in selector.solution_.warnings)


@pytest.mark.parametrize("spoiled", ["missing", "sentinel", "outliers"])
def test_missing_values_and_outliers_do_not_hide_features_from_the_model(spoiled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    z = X[:, :5] @ [0.9, 0.8, 0.7, 0.6, 0.6]
    if spoiled == "missing":  # whether a value is missing is all that matters
        missing = rng.random((1500, 5)) < 0.4
        z = 2 * (missing @ [0.9, 0.8, 0.7, 0.6, 0.6] - 1)
        X[:, :5][missing] = np.nan
    elif spoiled == "sentinel":
        X[rng.random(X.shape) < 0.05] = -999
    else:
        X[rng.random(X.shape) < 0.01] *= 1e4
    y = rng.random(1500) < 1 / (1 + np.exp(-z))
    selector = SelectBestK("auto").fit(X, y)
    assert set(range(5)) <= set(selector.support_.nonzero()[0])
    assert selector.k_ <= 8


def test_the_selected_features_are_those_of_the_chosen_number(cancer, chosen):
    X, y = cancer
    same = SelectBestK(chosen.k_).fit(X, y)
    assert chosen.k_ == chosen.solution_.k == chosen.support_.sum() == same.k_
    np.testing.assert_array_equal(chosen.ranking_, same.ranking_)
    assert set(chosen.k_errors_) > set(numbers_to_try(30))
    assert list(chosen.k_errors_) == sorted(chosen.k_errors_)
    least = min(chosen.k_errors_.values())
    assert least <= chosen.k_errors_[chosen.k_] < 2 * least < chosen.k_errors_[1]
    assert chosen.transform(X).shape == (569, chosen.k_)
    assert not hasattr(same, "k_errors_")


def test_a_refit_with_a_number_forgets_the_errors_and_select_has_the_same(small):
    chosen = SelectBestK("auto", "jmi", cv=3).fit(*small)
    assert select(*small, "auto", "jmi", cv=3).details["k_errors"] == chosen.k_errors_
    assert not hasattr(chosen.set_params(k=3).fit(*small), "k_errors_")


class Clipped(TransformerMixin, BaseEstimator):
    """Outliers at three interquartile ranges from the quartiles."""

    def fit(self, X, y=None):
        low, high = np.quantile(X, (0.25, 0.75), axis=0)
        self.low_, self.high_ = low - 3 * (high - low), high + 3 * (high - low)
        return self

    def transform(self, X):
        return np.clip(X, self.low_, self.high_)


class Squared(TransformerMixin, BaseEstimator):
    """Squares beside standardized columns: what no line explains, where it is related to y."""

    def fit(self, X, y):
        limited = np.clip(X, -2.5, 2.5) ** 2
        self.slope_, self.level_ = np.mean(X * limited, axis=0), np.mean(limited, axis=0)
        self.used_ = f_classif(self.squares(X), y)[1] < 0.01
        self.scale_ = self.squares(X).std(axis=0)
        return self

    def squares(self, X):
        return np.clip(X, -2.5, 2.5) ** 2 - self.slope_ * X - self.level_

    def transform(self, X):
        return np.hstack([X, (self.squares(X) / self.scale_)[:, self.used_]])


def test_every_score_is_that_of_a_pipeline_that_selects_in_its_training_rows(cancer):
    X, y = cancer[0].to_numpy(), cancer[1].to_numpy()
    ks, selector = [1, 4, 9], SelectBestK("auto", method="jmi", random_state=5)
    options = resolve_options(selector)
    dataset = read_dataset(X, y, options)
    scores, guess = FoldSelections.of(dataset, options, None).select(ks).score(ks)
    folds = split_rows([Goal.of(dataset.targets[0], None)], None, None, 5)
    for row, chance, (train, test) in zip(scores, guess, folds, strict=True):
        assert not np.intersect1d(train, test).size
        share = y[train].mean()
        expected = np.log(np.where(y[test] == 1, share, 1 - share)).mean()
        assert chance == pytest.approx(expected)
        for score, k in zip(row, ks, strict=True):
            chosen = SelectBestK(k, method="jmi")
            steps = chosen, Clipped(), StandardScaler(), Squared(), LogisticRegression(C=10)
            model = make_pipeline(*steps)
            model.fit(X[train], y[train])
            expected = negative_log_loss(model, X[test], y[test])
            assert score == pytest.approx(expected, abs=1e-3)
            own = -log_loss(y[test], model.predict_proba(X[test]))
            assert expected == pytest.approx(own, abs=0.01)
    tested = np.concatenate([test for _, test in folds])
    np.testing.assert_array_equal(np.sort(tested), np.arange(len(y)))


class Given:
    """A model of given probabilities."""

    def __init__(self, classes, probabilities):
        self.classes_, self.p = np.array(classes), np.array(probabilities)

    def predict_proba(self, Z):
        return self.p


def test_the_log_loss_of_one_row_is_bounded_and_that_of_a_class_without_training_rows_too():
    model = Given(["a", "c"], [[0.5, 0.5], [1.0, 0.0], [0.9, 0.1]])
    found = -negative_log_loss(model, np.empty((3, 1)), np.array(["a", "c", "b"]))
    assert found == pytest.approx((np.log(2) + 2 * np.log(1e4)) / 3)


def rare(seed, m=4000, n=40, useful=10):
    """3.5% positives: the log odds are half the sum of the first columns, and a constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + 20_000, n))
    y = rng.random(len(X)) < 1 / (1 + np.exp(4.35 - 0.5 * X[:, :useful].sum(axis=1)))
    return X[:m], y[:m].astype(int), X[m:], y[m:].astype(int)


def test_with_few_positives_the_chosen_number_is_about_as_good_as_the_best():
    X, y, unseen, truth = rare(seed=0)
    assert 0.025 < y.mean() < 0.045

    def auc(support):
        model = LogisticRegression().fit(X[:, support], y)
        return roc_auc_score(truth, model.predict_proba(unseen[:, support])[:, 1])

    chosen = SelectBestK("auto").fit(X, y)
    best = max(auc(SelectBestK(k).fit(X, y).support_) for k in (8, 10, 12, 16, 24))
    assert auc(chosen.support_) > best - 0.01


def test_folds_that_are_hard_for_all_numbers_do_not_hide_that_one_is_better():
    hard = np.array([[0.1], [0.5], [0.3], [0.2], [0.4]])
    scores = -hard - np.array([0.03, 0.02, 0.0, 0.0])
    assert choose([1, 2, 3, 5], scores, "one-se") == 3
    noisy = scores.copy()
    noisy[:, 1] += [0.04, 0.0, 0.04, -0.02, 0.0]  # a mean difference of 0.008, within its error
    assert choose([1, 2, 3, 5], noisy, "one-se") == 2
    assert choose([1, 2, 3, 5], noisy, "best") == 3


@pytest.mark.parametrize("rule", ["best", "one-se"])
def test_a_score_that_is_not_a_number_is_refused(rule):
    with pytest.raises(ValueError, match="score in fold 2 of 2 is not finite; pass another"):
        choose([1, 2], np.array([[0.1, 0.2], [np.nan, 0.3]]), rule)


def test_noise_is_warned_of_and_information_is_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    for y in (rng.integers(0, 2, 300), rng.normal(size=300)):
        with pytest.warns(SelectionWarning, match="no number of features predicts better than g"):
            selector = SelectBestK("auto").fit(X, y)
        assert "better than guessing" in " ".join(selector.solution_.warnings)
    clear = SelectBestK("auto").fit(X, (X[:, 0] > 0).astype(int)).solution_
    assert "better than guessing" not in " ".join(clear.warnings)


def test_any_scorer_of_scikit_learn_can_choose(small):
    X, y = small[0], np.where(small[1], "benign", "malignant")
    selector = SelectBestK("auto", scoring="roc_auc", cv=3).fit(X, y)
    assert set(selector.k_scores_) >= set(numbers_to_try(8))
    assert 0.9 < selector.k_scores_[1] < selector.k_scores_[8] <= 1
    assert not hasattr(selector, "k_errors_")

    def by_width(model, Z, y):
        return -Z.shape[1]

    assert SelectBestK("auto", scoring=by_width, cv=3).fit(X, y).k_ == 1
    plain = SelectBestK("auto", cv=3).fit(X, y)
    assert plain.k_scores_ == {k: -error for k, error in plain.k_errors_.items()}
    with pytest.raises(ValueError, match="scoring"):
        SelectBestK("auto", scoring="nonsense").fit(X, y)


def test_scores_of_numbers_are_in_their_own_units():
    X, y = load_diabetes(return_X_y=True)
    selector = SelectBestK("auto", scoring="neg_mean_absolute_error").fit(X, y + 0.5)
    assert -70 < selector.k_scores_[1] < max(selector.k_scores_.values()) < -40


@pytest.mark.parametrize(("cv", "n_folds"), [
    (None, 10), (3, 3), (KFold(4), 4), (ShuffleSplit(7, random_state=0), 7),
    ([(np.arange(400), np.arange(400, 569)), (np.arange(100, 569), np.arange(100))], 2),
])  # fmt: skip
def test_the_folds_are_those_asked_for(small, cv, n_folds):
    solution = SelectBestK("auto", "jmi", cv=cv).fit(*small).solution_
    assert solution.details["k_folds"] == n_folds


@pytest.mark.parametrize("cv", [None, 3, GroupKFold(3)])
@pytest.mark.parametrize("continuous", [False, True])
def test_no_fold_separates_a_group(cv, continuous, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), np.arange(120) % 3
    y = y + 0.5 * rng.random(120) if continuous else y
    groups, seen = np.repeat(np.arange(12), 10).astype(str), []
    monkeypatch.setattr(Trial, "score", lambda trial, columns, fold: seen.append(fold) or 0.0)
    SelectBestK("auto", cv=cv).fit(X, y, groups=groups)
    select(X, y, "auto", cv=cv, groups=groups)
    n_scores = len(numbers_to_try(4)) + 1  # and the dummy model
    assert len(seen) == 2 * (3 if cv else 5) * n_scores
    for train, test in seen:
        assert not np.intersect1d(groups[train], groups[test]).size


def test_groups_make_rows_of_one_person_useless_to_predict_the_others():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(40), 10)
    y = rng.integers(0, 2, 40)[person]  # the same for all rows of a person
    X = rng.normal(size=(40, 8))[person] + 0.01 * rng.normal(size=(400, 8))
    alone = SelectBestK("auto").fit(X, y)
    with pytest.warns(SelectionWarning, match="better than guessing"):
        together = SelectBestK("auto").fit(X, y, groups=person)
    assert max(together.k_scores_.values()) < max(alone.k_scores_.values()) - 0.05
    counts = np.arange(400) % 3
    weighted = SelectBestK("auto").fit(X, y, sample_weight=counts, groups=person)
    assert weighted.k_scores_ != together.k_scores_
    model = LogisticRegression()
    own = SelectBestKCV(model, [1, 4, 8]).fit(X, y, groups=person).cv_results_
    mixed = SelectBestKCV(model, [1, 4, 8], cv=KFold(5, shuffle=True, random_state=0)).fit(X, y)
    assert own["mean_test_score"][2] < mixed.cv_results_["mean_test_score"][2]


@pytest.mark.parametrize("cv", [None, 5])
def test_a_single_group_cannot_be_split(cv, cancer):
    with pytest.raises(ParameterError, match="groups has one group only; folds by group need at"):
        SelectBestK("auto", cv=cv).fit(*cancer, groups=np.zeros(len(cancer[1])))


def test_groups_and_weights_are_routed(cancer):
    assert {"groups", "sample_weight"} <= set(SelectBestK().get_metadata_routing().fit.requests)
    X, y = cancer
    model = make_pipeline(SelectBestK("auto", "jmi"), LinearDiscriminantAnalysis())
    model.fit(X, y, selectbestk__groups=np.arange(len(y)) // 10)
    assert model[0].solution_.details["k_folds"] == 5


def test_numbers_are_predicted_by_regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X.assign(**{f"noise {j}": np.random.default_rng(j).normal(size=len(y)) for j in range(20)})
    selector = SelectBestK("auto").fit(X, y + 0.5)
    assert {"bmi", "s5"} <= set(selector.get_feature_names_out())
    assert selector.k_ < 12
    assert 0.4 < min(selector.k_errors_.values()) < 0.6  # shares of the variance: 1 - R^2
    scaled = SelectBestK("auto", target="continuous").fit(X, 1e6 * (y + 0.5) + 0.25)
    assert scaled.k_errors_ == pytest.approx(selector.k_errors_)


@pytest.mark.parametrize("make", [
    pl.from_pandas, pa.Table.from_pandas, lambda X: X.to_numpy(), lambda X: X.to_numpy().tolist(),
    lambda X: sp.csr_matrix(X.to_numpy()),
])  # fmt: skip
def test_every_container_gives_the_same_errors(make, small):
    X, y = small
    selector = SelectBestK("auto", "jmi", cv=3)
    assert selector.fit(make(X), y).k_errors_ == clone(selector).fit(X, y).k_errors_


def test_strings_categories_booleans_and_gaps_just_work(mixed):
    X, y = mixed
    selector = SelectBestK("auto").fit(X, y)
    assert set(selector.get_feature_names_out()) <= {"colour", "size", "member", "age", "visits"}
    assert min(selector.k_errors_.values()) < 0.3
    words = SelectBestK("auto").fit(X[["colour", "size", "member"]], y)
    assert words.k_errors_[3] < words.k_errors_[1]


def test_levels_of_a_category_are_no_quantity():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 7, 400)
    X = np.column_stack([level, rng.normal(size=(400, 3))])
    y = np.isin(level, [0, 4, 5]).astype(int)  # neither a line nor a parabola
    numbers = SelectBestK("auto").fit(X, y)
    codes = SelectBestK("auto", categorical_features=[0]).fit(X, y)
    assert codes.k_errors_[1] < 0.1 < 0.5 < numbers.k_errors_[1]
    strings = pd.DataFrame(X).astype({0: int}).astype({0: str}).rename(columns=str)
    assert SelectBestK("auto").fit(strings, y).k_errors_ == codes.k_errors_
    coded = SelectBestK("auto", "jmi", discretizer=None).fit(X[:, :1], y)
    assert coded.k_errors_ == {1: pytest.approx(codes.k_errors_[1])}


@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers"])
def test_a_category_of_many_levels_predicts_by_the_mean_target_at_each(kind):
    rng = np.random.default_rng(0)
    zips = rng.integers(0, 200, 1500)
    X = pd.DataFrame(rng.normal(size=(1500, 3)), columns=list("abc"))
    X["zip"] = pd.Categorical(zips.astype(str))
    y = rng.normal(size=200)[zips] + rng.logistic(size=1500)
    y = y if kind == "numbers" else np.digitize(y, [0] if kind == "two classes" else [-1, 1])
    selector = SelectBestK("auto").fit(X, y)
    # Only the most frequent levels have a column of their own, which others may come before.
    assert "zip" in selector.get_feature_names_out()
    if kind != "three classes":
        assert selector.k_ == 1
    assert not any("guessing" in sentence for sentence in selector.solution_.warnings)
    alone = SelectBestK("auto").fit(X[["zip"]], y)
    error = selector.k_errors_[selector.k_]
    assert alone.k_errors_[1] == pytest.approx(error, rel=0.02)


def test_categories_of_many_levels_without_relation_to_the_target_are_not_selected():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
        X["zip"] = pd.Categorical(rng.integers(0, 200, 600).astype(str))
        y = X["a"] + rng.normal(size=600)
        for target in (y, y > 0):
            assert "zip" not in SelectBestK("auto").fit(X, target).get_feature_names_out()


def test_a_copy_of_a_training_row_does_not_predict_it():
    rng = np.random.default_rng(0)
    levels, y = rng.integers(0, 30, (200, 1)).astype(float), rng.normal(size=200)
    once, twice = np.arange(150), np.repeat(np.arange(150), 2)
    np.testing.assert_array_equal(*(mean_targets(levels, y, rows) for rows in (once, twice)))


def test_levels_that_no_training_row_has_are_ignored():
    table = read_table([["a"], ["b"], ["a"], ["b"], ["new"]])
    design = ModelColumns.of(table, np.array([0]), np.array([], dtype=int))
    train, test = np.arange(4), np.array([4])
    Z = design.standardized(train)
    model = LogisticRegression().fit(Z[train], ["no", "yes", "no", "yes"])
    assert model.predict_proba(Z[test])[0] == pytest.approx([0.5, 0.5])


def test_columns_that_are_constant_empty_copied_or_huge_do_no_harm(cancer):
    X, y = cancer
    rng = np.random.default_rng(0)
    holes = X.mask(rng.random(X.shape) < 0.1)
    odd = holes.assign(constant=1.0, empty=np.nan, huge=X["worst area"] * 1e304)
    odd = odd.assign(copy=odd["worst area"], truth=np.where(y, "benign", "malignant"))
    selector = SelectBestK("auto", "jmi", cv=3).fit(odd, y)
    assert "truth" in selector.get_feature_names_out()
    assert selector.k_errors_[selector.k_] < 0.005
    assert np.isfinite(list(selector.k_errors_.values())).all()
    everything = SelectBestK("auto", "jmi", cv=3, exclude=["truth"]).fit(odd, y).k_errors_
    assert everything[32] < 0.2  # all but the constant and the empty one


def test_infinite_values_are_refused_as_before(cancer):
    X, y = cancer
    X = X.copy()
    X.loc[3, "mean area"] = np.inf
    with pytest.raises(ValueError, match="column 'mean area' has 1 infinite value"):
        SelectBestK("auto").fit(X, y)


@pytest.mark.parametrize("sizes", [(30, 1), (30, 2, 1), (4, 4, 4), (3, 3, 2, 1, 1), (8, 2)])
def test_small_classes_are_no_obstacle(sizes):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(y), 6)) + y[:, None]
    assert 1 <= SelectBestK("auto").fit(X, y).k_ <= 6
    goal = Goal.of(parse_targets(y, len(y), "auto")[0], None)
    for train, _ in split_rows([goal], None, None, 0):
        assert set(y[train]) == set(y)


def test_classes_of_two_rows_are_too_small():
    X = np.random.default_rng(0).normal(size=(12, 4))
    with pytest.raises(ValueError, match=r"class of at least 3 rows.* more than 2; pass k as a"):
        SelectBestK("auto").fit(X, np.arange(12) // 2)


def test_nine_rows_are_too_few_and_ten_are_not():
    X = np.random.default_rng(0).normal(size=(10, 4))
    y = np.arange(10) % 2
    assert SelectBestK("auto").fit(X, y).k_ <= 4
    with pytest.raises(ValueError, match="at least 10 rows, and there are 9; pass k as a number"):
        SelectBestK("auto").fit(X[:9], y[:9])
    with pytest.raises(ValueError, match="at least 10 rows, and there are 9; pass k as a number"):
        SelectBestK("auto").fit(X, y, sample_weight=[0] + [5] * 9)


def test_included_features_count_and_excluded_ones_do_not(cancer):
    X, y = cancer
    include, exclude = list(X.columns[:6]), list(X.columns[20:])
    selector = SelectBestK("auto", "jmi", cv=3, include=include, exclude=exclude).fit(X, y)
    assert {6, 8, 12, 16, 20} <= set(selector.k_errors_) <= set(range(6, 21))
    assert set(include) <= set(selector.get_feature_names_out())


@given(st.integers(1, 300), st.integers(0, 300))
def test_the_numbers_tried_rise_from_the_included_to_a_hundred_or_all(most, least):
    least = min(least, most)
    ks = numbers_to_try(most, least)
    assert ks == sorted(set(ks))
    assert ks[0] == max(1, least)
    assert ks[-1] == max(ks[0], min(most, 100))
    assert set(ks) - {ks[0], ks[-1]} == {k for k in GRID if ks[0] < k < ks[-1]}


def test_the_same_seed_gives_the_same_choice_on_any_number_of_threads():
    X, y = load_wine(return_X_y=True)

    def errors(seed, n_jobs=None):
        selector = SelectBestK("auto", "search", random_state=seed, n_jobs=n_jobs)
        return selector.fit(X[:, 8:], y).k_errors_

    assert errors(3, n_jobs=1) == errors(3, n_jobs=2) != errors(4)
    assert errors(np.random.RandomState(0)) == errors(np.random.RandomState(0))


def test_rows_of_weight_zero_are_in_no_fold_and_others_in_each_once(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    seen = []
    monkeypatch.setattr(Trial, "score", lambda trial, columns, fold: seen.append(fold) or 0.0)
    weights = np.arange(40) % 3
    SelectBestK("auto").fit(X, y, sample_weight=weights)
    for train, test in seen:
        assert not np.intersect1d(train, test).size
        assert len(train) + len(test) == (weights > 0).sum()


def test_weights_of_one_change_nothing(small):
    X, y = small
    weighted = SelectBestK("auto", cv=3).fit(X, y, sample_weight=np.ones(len(y)))
    assert weighted.k_errors_ == SelectBestK("auto", cv=3).fit(X, y).k_errors_


def test_the_selector_can_be_cloned_stored_and_put_in_a_pipeline(small, chosen):
    X, y = small
    assert clone(chosen).get_params()["k"] == "auto"
    assert pickle.loads(pickle.dumps(chosen)).k_ == chosen.k_
    selector = SelectBestK("auto", "jmi", cv=3)
    model = make_pipeline(StandardScaler(), selector, LinearDiscriminantAnalysis())
    assert model.fit(X, y).score(X, y) > 0.9
    with pytest.raises(AttributeError, match="k_"):
        _ = SelectBestK("auto").k_


def test_the_command_chooses_too(tmp_path, small):
    X, y = small
    X.assign(diagnosis=y).to_csv(tmp_path / "t.csv", index=False)
    chosen = SelectBestK("auto").fit(X, y)

    def bestk(*options):
        arguments = ["select", str(tmp_path / "t.csv"), "-t", "diagnosis", "-k", "auto", *options]
        return CliRunner().invoke(main, arguments)

    told = json.loads(bestk("--json").stdout)
    assert told["k"] == chosen.k_
    assert [f["name"] for f in told["features"]] == X.columns[chosen.solution_.support].tolist()
    assert told["k_errors"] == {str(k): error for k, error in chosen.k_errors_.items()}
    assert f"{chosen.k_}: {chosen.k_errors_[chosen.k_]:.3f}" in bestk().stdout
    included = json.loads(bestk("--json", "--include", "worst smoothness").stdout)
    assert "worst smoothness" in [f["name"] for f in included["features"]]
    compared = CliRunner().invoke(main, ["compare", str(tmp_path / "t.csv"), "-t", "diagnosis",
                                         "-k", "auto"])  # fmt: skip
    assert "-k auto is not supported by compare" in compared.stderr


@pytest.mark.parametrize("regression", [False, True])
def test_columns_that_matter_at_both_ends_are_counted(regression):
    numbers = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 30))
        y = (X[:, :6] ** 2).sum(axis=1) / 3 + rng.normal(size=2000)
        selector = SelectBestK("auto").fit(X, y if regression else y > np.median(y))
        assert set(range(6)) == set(selector.solution_.support[:6])
        numbers.append(selector.k_)
    assert np.median(numbers) <= 8


def test_a_few_large_targets_do_not_hide_columns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 30))
    y = np.exp(2 * (X[:, :5].sum(axis=1) / 2 + rng.normal(size=2000)))
    assert set(range(5)) <= set(SelectBestK("auto").fit(X, y).solution_.support)


def test_numbers_between_the_chosen_one_and_the_one_before_are_tried():
    tried = [([3, 5, 8, 12], 8), ([16, 24], 24), ([1, 2], 1)]
    assert [numbers_below(k, ks) for ks, k in tried] == [[6, 7], [18, 20, 22], []]


@pytest.mark.parametrize("scoring", ["r2", "f1"])
def test_a_scoring_that_does_not_suit_the_target_is_answered_with_one_that_does(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    words = np.where(y, "ja", "nein")
    with pytest.raises(ValueError, match=r"cannot be scored: .* such as 'roc_auc'"):
        SelectBestK("auto", scoring=scoring, cv=2).fit(X[:, :3], words)
    with pytest.raises(ValueError, match="'nonsense' is not a valid scoring"):
        SelectBestK(1, scoring="nonsense").fit(X[:, :3], words)
