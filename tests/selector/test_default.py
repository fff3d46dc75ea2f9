"""Without any option: block forward selection."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.naive_bayes import GaussianNB

from bestk import SelectBestK, SelectBestKCV, select
from bestk.discretize import EqualFrequency
from bestk.errors import ParameterError
from bestk.evaluation import error_curves
from bestk.information.constants import BlockConstants
from bestk.methods.forward import BlockForward
from bestk.selectors.steps import measure


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def told(X, y, k, **options):
    """What a selector says of its choice."""
    selector = SelectBestK(k, **options).fit(X, y)
    return selector.solution_.support.tolist(), selector.scores_.tolist()


def test_the_default_is_forward_selection_of_blocks(cancer):
    X, y = cancer
    selector = SelectBestK(6).fit(X, y)
    assert selector.solution_.solver == "forward"
    parts = selector.solution_.details["contribution"]
    assert parts.sum() == pytest.approx(selector.solution_.objective)
    assert (np.diff(parts) <= 0).all()


def test_the_default_can_be_spelled_out(cancer):
    X, y = cancer
    default = told(X, y, 5)
    assert told(X, y, 5, method="auto") == default
    assert told(X, y, 5, method=BlockForward(BlockConstants())) == default
    assert select(X, y, 5).support.tolist() == default[0]


def test_strong_columns_come_before_noise_in_tables_of_few_rows():
    found = 0
    for seed in range(10):
        X, y = np.random.default_rng(seed).normal(size=(100, 2000)), np.arange(100) % 2
        X[:, :3] += 2 * y[:, np.newaxis]
        found += np.sum(select(X, y, 3).support < 3)
    assert found >= 25  # 21 if all that three columns share is subtracted for each pair


def test_a_mixed_frame_needs_no_option(mixed):
    X, y = mixed
    support, scores = told(X, y, 5)
    assert set(support) == {0, 1, 2, 3, 4}
    assert min(scores[:5]) > max(scores[5:])


def test_booleans_and_strings_alone_need_no_option(mixed):
    X, y = mixed
    X = X[["colour", "size", "member"]].assign(coin=np.arange(len(y)) % 2 == 0)
    selector = SelectBestK(3).fit(X, y)
    assert set(selector.get_feature_names_out()) == {"colour", "size", "member"}
    # Of a category, the blocks tell about as much as its counts do.
    counted = SelectBestK(3, "jmi", correction="chance").fit(X, y)
    np.testing.assert_allclose(selector.scores_, counted.scores_, rtol=0.25, atol=1e-3)
    assert selector.discretizer_ is None


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_a_sparse_table_gives_the_choice_of_the_dense_one(make):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    X = np.maximum(rng.normal(size=(90, 12)) + np.linspace(0, 1, 12) * y[:, None], 0)
    assert told(make(X), y, 4) == told(X, y, 4)


def test_gaps_and_constant_and_empty_columns_are_no_obstacle(cancer):
    X, y = cancer
    rng = np.random.default_rng(0)
    holes = X.mask(rng.random(X.shape) < 0.1).assign(constant=1.0, empty=np.nan)
    selector = SelectBestK(4).fit(holes, y)
    assert np.isfinite(selector.scores_).all()
    np.testing.assert_allclose(selector.scores_[-2:], 0, atol=1e-12)
    assert not selector.support_[-2:].any()


@pytest.mark.parametrize("target", ["auto", "continuous"])
def test_a_number_to_predict_needs_no_option(target):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = SelectBestK(3, target=target).fit(X, y + 0.5)
    assert {"bmi", "s5"} <= set(selector.get_feature_names_out())


def test_one_feature_and_all_features_are_chosen_as_they_must(cancer):
    X, y = cancer
    assert SelectBestK(1).fit(X.iloc[:, :1], y).support_.tolist() == [True]
    everything = SelectBestK(30).fit(X, y)
    assert everything.support_.all()
    assert everything.solution_.gap == pytest.approx(0, abs=1e-9)
    best = SelectBestK(1).fit(X, y)
    # The noise that is added to columns leaves less of some relations than of others.
    assert best.scores_[best.solution_.support[0]] > 0.9 * best.scores_.max()
    assert best.solution_.objective == best.solution_.details["contribution"][0] > 0


def test_what_is_included_is_chosen_and_what_is_excluded_is_not(cancer):
    X, y = cancer
    first = SelectBestK(4).fit(X, y).get_feature_names_out()[0]
    other = SelectBestK(4, include=["mean symmetry"], exclude=[first]).fit(X, y)
    names = set(other.get_feature_names_out())
    assert len(names) == 4
    assert "mean symmetry" in names
    assert first not in names


def test_the_order_of_rows_and_columns_changes_nothing_but_places(mixed):
    X, y = mixed
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    before = SelectBestK(4).fit(X, y)
    after = SelectBestK(4).fit(X.iloc[rows, columns], y[rows])
    assert set(after.get_feature_names_out()) == set(before.get_feature_names_out())
    np.testing.assert_allclose(after.scores_, before.scores_[columns], atol=1e-12)


def test_the_number_of_features_is_chosen_with_the_same_default():
    X, y = load_wine(return_X_y=True, as_frame=True)
    chosen = SelectBestKCV(GaussianNB(), ks=[1, 2, 4, 6], cv=3).fit(X, y)
    same = SelectBestK(chosen.best_k_).fit(X, y)
    np.testing.assert_array_equal(chosen.support_, same.support_)
    np.testing.assert_array_equal(chosen.scores_, same.scores_)


class Thirds(EqualFrequency):
    """A discretiser that cannot be the key of a dictionary."""

    __hash__ = None


@pytest.mark.parametrize("discretizer", ["auto", Thirds(n_bins=3)], ids=str)
def test_methods_side_by_side_read_what_belongs_to_each_and_the_same_once(discretizer, monkeypatch):
    X, y = load_wine(return_X_y=True)
    names = ["jmi", "tpower", "mrmr"]
    names = ["auto", *names] if discretizer == "auto" else names  # which takes no other
    measured = []

    def measure_and_note(dataset, options):
        measured.append(options)
        return measure(dataset, options)

    monkeypatch.setattr("bestk.selectors.resampling.measure", measure_and_note)
    train, test = np.arange(150), np.arange(150, 178)
    options = {"cv": [(train, test)], "discretizer": discretizer}
    curves = error_curves(X, y, names, [3], estimator=GaussianNB(), **options)
    assert len(measured) == (2 if discretizer == "auto" else 1)
    for name in names:
        alone = SelectBestK(3, name, discretizer=discretizer).fit(X[train], y[train])
        (row,) = [row for row in curves.rows if row.method == name]
        assert row.support == tuple(alone.solution_.support)


def test_classes_that_are_nearly_as_many_as_rows_take_little_memory_and_time():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(10_000), 3))
    X = rng.normal(size=(30_000, 5))
    X[:, 0] += y / 2500
    tracemalloc.start()
    selector = SelectBestK(1, target="classes").fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert selector.support_[0]
    assert peak < 2**29


def test_settings_of_counts_are_refused_with_what_to_pass_instead():
    codes = np.random.default_rng(0).integers(0, 3, (100, 4))
    y = codes[:, 0] > 0
    with pytest.raises(ParameterError, match="name such columns in categorical_features"):
        SelectBestK(2, discretizer=None).fit(codes, y)
    with pytest.raises(ParameterError, match="'caim' cuts numbers into bins"):
        SelectBestK(2, discretizer="caim").fit(codes, y)
    assert SelectBestK(2, categorical_features=[0, 1, 2, 3]).fit(codes, y).support_[0]
