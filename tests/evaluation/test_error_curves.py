"""Error against k: what selects, what is counted, what predicts, and on which rows."""

import pickle
import threading
from functools import partial

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from bestk import Greedy, Quadratic, SelectBestK
from bestk.evaluation import error_curves
from bestk.evaluation._error_curves import Study, default_model, negative_error
from bestk.selectors.folds import make_folds
from bestk.selectors.joint_selector import resolve_options
from bestk.selectors.steps import read_dataset
from bestk.selectors.trial import Trial

CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)
DUMMY = DummyClassifier(strategy="most_frequent")
SVM = make_pipeline(StandardScaler(), LinearSVC(dual="auto", random_state=0))
QUICK = ["maxrel", "mrmr", "jmi", "qpfs", "linear", "spectral", "tpower", "exact", "forward"]
measure = partial(error_curves, estimator=DUMMY, random_state=0)


def chosen(curves, fold=0):
    return {(row.method, row.k): row.support for row in curves.rows if row.fold == fold}


@pytest.mark.parametrize("method", QUICK)
def test_a_nested_fold_selects_as_a_selector_fitted_on_its_training_rows(method):
    X, y = CANCER
    folds = list(StratifiedKFold(3, shuffle=True, random_state=7).split(X, y))
    curves = measure(X, y, method, [4], cv=folds)
    for fold, (train, test) in enumerate(folds):
        selector = SelectBestK(4, method, random_state=0).fit(X[train], y[train])
        assert chosen(curves, fold)[method, 4] == tuple(selector.solution_.support)
        assert {row.n_test for row in curves.rows if row.fold == fold} == {len(test)}


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_what_the_test_rows_hold_changes_nothing_that_is_selected(seed):
    X, y = CANCER
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = order[:150], order[150:200]
    other, labels = X.copy(), y.copy()
    other[test] = rng.normal(size=(len(test), X.shape[1]))
    labels[test] = rng.permutation(labels[test])
    before = measure(X, y, ["jmi", "tpower"], [2, 5], cv=[(train, test)])
    after = measure(other, labels, ["jmi", "tpower"], [2, 5], cv=[(train, test)])
    assert chosen(after) == chosen(before)


@settings(max_examples=10)
@given(st.permutations(range(4)))
def test_the_order_of_folds_changes_nothing_but_their_numbers(order):
    X, y = IRIS
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    shuffled = [folds[i] for i in order]
    first, second = (
        measure(X, y, ["mrmr", "forward"], [1, 2], cv=cv, estimator=GaussianNB())
        for cv in (folds, shuffled)
    )
    for name in first.methods:
        np.testing.assert_array_equal(second.errors(name), first.errors(name)[:, order])
    assert second.stability()["forward"] == pytest.approx(first.stability()["forward"])


def test_errors_are_those_of_scikit_learn_on_the_selected_columns():
    X, y = IRIS
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    fixed = {"best": lambda X, y, k: [2, 3]}
    curves = measure(X, y, fixed, [2], cv=folds, estimator=None, baseline=True)
    for name, columns in (("best", X[:, [2, 3]]), ("all", X)):
        expected = 1 - cross_val_score(SVM, columns, y, cv=folds)
        np.testing.assert_allclose(curves.errors(name)[0], expected)


def test_methods_measured_together_select_what_each_selects_alone():
    X, y = CANCER
    together = chosen(measure(X, y, QUICK, [3, 6], cv=3))
    assert len(set(together.values())) > len(QUICK)  # they do not all agree
    for method in QUICK:
        alone = chosen(measure(X, y, method, [3, 6], cv=3))
        assert alone == {key: together[key] for key in alone}


def test_a_pipeline_of_selector_and_classifier_has_the_nested_error():
    X, y = CANCER
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    pipeline = make_pipeline(SelectBestK(3, "mrmr"), *SVM)
    expected = 1 - cross_val_score(pipeline, X, y, cv=folds)
    curves = error_curves(X, y, "mrmr", [3], cv=3, random_state=0)
    np.testing.assert_allclose(curves.errors("mrmr")[0], expected)


def test_few_rows_are_left_out_one_by_one_and_many_by_tenths():
    X, y = IRIS
    few = measure(X[::2], y[::2], "maxrel", [1])
    assert few.errors("maxrel").shape == (1, 75)
    assert {row.n_test for row in few.rows} == {1}
    assert {row.error for row in few.rows} <= {0.0, 1.0}
    many = measure(X, y, "maxrel", [1])
    assert [row.n_test for row in many.rows] == [15] * 10


@pytest.mark.parametrize(("rows", "folds"), [(100, 100), (101, 10)])
def test_a_hundred_rows_are_the_most_that_are_left_out_one_by_one(rows, folds):
    y = np.arange(rows) % 2
    curves = measure(y[:, np.newaxis], y, "maxrel", [1], estimator=DUMMY)
    assert curves.errors("maxrel").shape == (1, folds)


def test_numbers_beyond_every_whole_number_are_split_or_refused_without_a_warning():
    y = np.arange(40.0) * 1e300
    folds = make_folds(4, (y, y, None), classes=False, shuffle=True, random_state=0)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(40))
    with pytest.raises(ValueError, match="target type"):
        make_folds(4, (y, y, None), classes=True, shuffle=True, random_state=0)


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_the_default_model_fits_any_table(continuous, text, missing):
    X = np.random.default_rng(0).normal(size=(90, 2))
    y = X[:, 0] if continuous else X[:, 0] > 0
    if missing:
        X[::9, 1] = np.nan
    with threadpool_limits(1, "openmp"):
        model = default_model(continuous=continuous, text=text, sparse=False, missing=missing)
        model.fit(X, y)
        assert is_regressor(model) == continuous
        assert model.score(X, y) > 0.9
        assert model.predict(X).tolist() == clone(model).fit(X, y).predict(X).tolist()


def test_text_and_continuous_targets_have_a_default_model():
    X, y = mixed_frame()
    mixed = error_curves(X, y, "mrmr", [1, 2], cv=3, random_state=0, include=["colour"])
    assert {row.support for row in mixed.rows if row.k == 1} == {(1,)}
    assert mixed.mean_error()["mrmr"][0] < 0.2
    X, y = load_diabetes(return_X_y=True)
    for table in (X, coo_array(X)):
        curves = error_curves(table, y, "mrmr", [3], cv=3, random_state=0)
        assert curves.mean_error()["mrmr"][0] < np.var(y)


@pytest.mark.parametrize("text", [False, True])
def test_gradient_boosting_has_one_thread_where_rows_are_few(text, monkeypatch):
    seen = []
    run = Study.run

    def spy(self, *args):
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "openmp"]
        seen.extend(pool["num_threads"] for pool in pools)
        return run(self, *args)

    monkeypatch.setattr(Study, "run", spy)
    X, y = mixed_frame()
    with threadpool_limits(2, "openmp"):
        error_curves(X if text else X[["noise"]], y, "maxrel", [1], cv=2, random_state=0)
    assert set(seen) == {1 if text else 2}


def test_random_state_decides_the_folds():
    X, y = CANCER
    errors = [
        error_curves(X, y, "maxrel", [2], cv=4, random_state=seed).errors("maxrel")
        for seed in (0, 0, 1, np.random.RandomState(5), np.random.RandomState(5))
    ]
    np.testing.assert_array_equal(errors[0], errors[1])
    np.testing.assert_array_equal(errors[3], errors[4])
    assert (errors[0] != errors[2]).any()


def test_the_same_features_are_fitted_once_in_a_fold():
    fits = []

    class Counted(DummyClassifier):
        def fit(self, X, y):
            fits.append(X.shape)
            return super().fit(X, y)

    X, y = IRIS
    measure(X, y, ["maxrel", "mim"], [1, 4], cv=2, baseline=True, estimator=Counted())
    assert fits == [(75, 1), (75, 4)] * 2


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers what it was given."""

    seen = ()

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        type(self).seen = (*self.seen, X)
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (np.asarray, np.ndarray),
        (np.ndarray.tolist, np.ndarray),
        (lambda X: pd.DataFrame(X, columns=list("abcd")), pd.DataFrame),
        (lambda X: pl.DataFrame(X, schema=list("abcd")), pl.DataFrame),
        (coo_array, type(coo_array(np.eye(2)).tocsc())),
    ],
)
def test_the_estimator_is_given_the_kind_of_table_that_came(make, kind):
    X, y = IRIS
    Spy.seen = ()
    curves = measure(make(X), y, "exact", [2], cv=2, estimator=Spy())
    reference = measure(X, y, "exact", [2], cv=2)
    assert chosen(curves) == chosen(reference)
    assert all(type(seen) is kind and seen.shape == (75, 2) for seen in Spy.seen)
    columns = sorted(chosen(curves)["exact", 2])
    if hasattr(Spy.seen[0], "columns"):
        assert list(Spy.seen[0].columns) == ["abcd"[i] for i in columns]


def mixed_frame():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(120) < 0.5, "yes", "no")
    colour = np.where(rng.random(120) < 0.9, np.where(y == "yes", "red", "blue"), "green")
    return pd.DataFrame({"noise": rng.normal(size=120), "colour": colour}), y


def test_a_pipeline_of_ones_own_takes_categories():
    X, y = mixed_frame()
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        remainder="passthrough",
    )
    pipeline = make_pipeline(encode, LogisticRegression())
    curves = measure(X, y, "mrmr", [1, 2], cv=3, estimator=pipeline)
    assert {row.support for row in curves.rows if row.k == 1} == {(1,)}
    assert curves.mean_error()["mrmr"][0] < 0.2


def test_missing_values_and_sparse_tables_are_no_trouble_to_the_default():
    X, y = IRIS
    gaps = X.copy()
    gaps[::7, 2] = np.nan
    for table in (gaps, coo_array(X)):
        curves = error_curves(table, y, "exact", [2], cv=3, random_state=0)
        assert curves.mean_error()["exact"][0] < 0.15


def test_more_columns_than_rows_are_no_trouble_to_the_default():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1500)) + 0.3 * y[:, None]
    curves = error_curves(X, y, "maxrel", [5], cv=3, random_state=0, baseline=True)
    again = error_curves(X, y, "maxrel", [5], cv=3, random_state=0, baseline=True)
    np.testing.assert_array_equal(again.errors("all"), curves.errors("all"))
    assert curves.mean_error()["all"][0] < 0.3


def test_a_regressor_has_mean_squared_errors():
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(3, shuffle=True, random_state=0)
    curves = measure(X, y, "maxrel", [10], cv=3, estimator=LinearRegression(),
                     target="continuous")  # fmt: skip
    expected = -cross_val_score(
        LinearRegression(), X, y, cv=folds, scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(curves.errors("maxrel")[0], expected)


def test_methods_of_ones_own_go_by_their_names():
    X, y = IRIS
    methods = {"ours": Quadratic("mrmr", "exact"), "theirs": Greedy("mrmr"), "known": "mrmr"}
    curves = measure(X, y, methods, range(1, 4), cv=2)
    assert curves.methods == ["ours", "theirs", "known"]
    assert curves.ks == [1, 2, 3]
    np.testing.assert_array_equal(curves.errors("theirs"), curves.errors("known"))


def test_options_are_those_of_the_selector():
    X, y = CANCER
    curves = measure(X, y, "jmi", [2, 3], cv=2, include=[5], exclude=[27, 22], baseline=True)
    for row in curves.rows:
        assert 5 in row.support
        assert not {22, 27} & {*row.support}
    assert {row.k for row in curves.rows if row.method == "all"} == {28}


def test_progress_is_told_fold_by_fold():
    told = []
    measure(*IRIS, "maxrel", [1], cv=3, progress=lambda *step: told.append(step))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_folds_side_by_side_give_the_same_in_the_same_order():
    X, y = IRIS
    one = measure(X, y, ["mrmr", "exact"], [1, 2], cv=4)
    with joblib.parallel_config(backend="threading"):
        two = measure(X, y, ["mrmr", "exact"], [1, 2], cv=4, n_jobs=2)
    assert [(r.method, r.k, r.fold, r.error, r.support) for r in two.rows] == [
        (r.method, r.k, r.fold, r.error, r.support) for r in one.rows
    ]


class Waits(DummyClassifier):
    """Fits when another one fits at the same time."""

    both = threading.Barrier(2, timeout=60)

    def fit(self, X, y):
        self.both.wait()
        return super().fit(X, y)


def test_two_jobs_are_two_folds_at_a_time():
    with joblib.parallel_config(backend="threading"):
        curves = measure(*IRIS, "maxrel", [1], cv=2, n_jobs=2, estimator=Waits())
    assert {row.fold for row in curves.rows} == {0, 1}


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_job_is_one_fold_after_the_other_whatever_joblib_is_set_to(n_jobs):
    places = set()

    class Placed(DummyClassifier):
        def fit(self, X, y):
            places.add(threading.current_thread().name)
            return super().fit(X, y)

    with joblib.parallel_config(backend="threading", n_jobs=2):
        measure(*IRIS, "maxrel", [1], cv=4, n_jobs=n_jobs, estimator=Placed())
    assert places == {threading.current_thread().name}


def test_choosing_all_features_takes_no_time():
    curves = measure(*IRIS, "maxrel", [1], cv=2, baseline=True)
    assert {row.seconds for row in curves.rows if row.method == "all"} == {0.0}


def test_every_method_can_have_its_own_numbers_of_features():
    X, y = IRIS
    both = error_curves(X, y, ["mrmr", "jmi"], {"mrmr": [1, 3], "jmi": [2]}, estimator=DUMMY, cv=3)
    assert both.errors("mrmr").shape == (2, 3)
    assert both.errors("jmi").shape == (1, 3)
    assert [len(each) for each in both.stability().values()] == [2, 1]
    assert str(both).splitlines()[2].split() == ["1", f"{both.mean_error()['mrmr'][0]:.4f}"]
    with pytest.raises(ValueError, match="ks must lie between 1 and 4"):
        error_curves(X, y, ["mrmr", "jmi"], {"mrmr": [1]})


def test_a_study_travels_to_other_processes():
    X, y = IRIS
    trial = Trial(DUMMY, negative_error, X, y)
    options = resolve_options(SelectBestK(method="mrmr"))
    study = Study(
        trial=trial,
        dataset=read_dataset(X, y, options),
        options={"mrmr": options},
        ks={"mrmr": [1, 2]},
        all_features=None,
    )
    train, test = next(LeaveOneOut().split(X))
    copy = pickle.loads(pickle.dumps(study))
    rows, again = study.run(0, (train, test)), copy.run(0, (train, test))
    assert [row.support for row in again] == [row.support for row in rows]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"methods": "mrrm"}, "did you mean 'mrmr'"),
        ({"methods": []}, r"names of methods, or a dict .* got \[\]"),
        ({"methods": [Greedy("mrmr")]}, "a dict of names to methods, none of them"),
        ({"methods": {"all": "mrmr"}}, "none of them 'all'; got"),
        ({"ks": [0, 1]}, r"between 1 and 4, the number of features; got 0..1"),
        ({"ks": [5]}, r"between 1 and 4, the number of features; got 5..5"),
        ({"ks": [1, 4], "exclude": [0]}, r"between 1 and 3"),
        ({"ks": [1], "include": [0, 2]}, r"between 2 and 4"),
        ({"ks": []}, "got empty"),
        ({"ks": [1.5]}, "whole numbers"),
        ({"ks": 3}, "whole numbers, not 3"),
        ({"y": IRIS[1][:-1]}, "inconsistent numbers of samples"),
        ({"discretizer": 3}, "discretizer"),
    ],
)
def test_bad_input_is_refused_with_advice(change, says):
    wanted = {"X": IRIS[0], "y": IRIS[1], "methods": "mrmr", "ks": [1, 2]}
    with pytest.raises(ValueError, match=says):
        error_curves(**{**wanted, **change})


@pytest.mark.parametrize("option", [{"k": 3}, {"method": "mrmr"}])
def test_k_and_method_are_no_options(option):
    with pytest.raises(TypeError, match="multiple values"):
        error_curves(*IRIS, "mrmr", [1], **option)


def test_a_fold_that_has_one_class_to_learn_from_is_told():
    X, y = np.random.default_rng(0).normal(size=(12, 3)), [0] * 11 + [1]
    said = "all training rows of fold 12 of 12 have the class 0; use fewer folds"
    with pytest.raises(ValueError, match=said):
        error_curves(X, y, ["maxrel"], [1])
