"""How often features are selected from subsamples of the rows."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from bestk import SelectBestK, stability_selection
from bestk.selectors.stability import StabilitySelection

X, Y = load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize("method", ["auto", "mrmr", "tpower", SelectKBest()], ids=str)
def test_selections_are_those_of_selectors_fitted_on_the_same_subsamples(method):
    n = 20 if method == "auto" else 4
    found = stability_selection(X, Y, 4, method, n_subsamples=n, random_state=3)
    splits = StratifiedShuffleSplit(n, train_size=0.5, random_state=3).split(X, Y)
    expected = [
        SelectBestK(4, method, random_state=3).fit(X[rows], Y[rows]).solution_.support
        for rows, _ in splits
    ]
    assert [sorted(support) for support in found.supports] == [sorted(e) for e in expected]
    counts = np.bincount(np.concatenate(expected), minlength=30)
    np.testing.assert_array_equal(found.frequencies, counts / n)


def test_small_subsamples_of_mixed_columns_and_several_classes_are_those_of_selectors():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    frame = pd.DataFrame(rng.normal(size=(500, 6)) + y[:, np.newaxis] * [1, 1, 0.5, 0, 0, 0])
    frame.columns = frame.columns.map(str)
    frame.loc[::5, "1"] = np.nan
    frame["word"] = pd.Categorical(np.where(rng.random(500) < 0.7, y, 0).astype(str))
    frame["rare"] = (np.arange(500) == 7).astype(int)  # constant in some subsamples
    splits = list(StratifiedShuffleSplit(4, train_size=0.5, random_state=0).split(frame, y))
    for method, X in product(
        ("auto", "jmim", "qpfs", "tpower"), (frame, frame.drop(columns="rare"))
    ):
        found = stability_selection(X, y, 4, method, n_subsamples=4)
        selector = SelectBestK(4, method, random_state=0, bound=None)
        for (rows, _), support in zip(splits, found.supports, strict=True):
            alone = selector.fit(X.iloc[rows], y[rows]).solution_.support
            assert support == tuple(alone.tolist())


def test_a_column_of_different_texts_is_measured_beside_others():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(400)], "x": rng.normal(size=400)})
    y = (frame["x"] + rng.normal(size=400) > 0).to_numpy()
    found = stability_selection(frame, y, 1, "jmi", n_subsamples=3)
    splits = StratifiedShuffleSplit(3, train_size=0.5, random_state=0).split(y, y)
    selector = SelectBestK(1, "jmi", bound=None)
    expected = [selector.fit(frame.iloc[rows], y[rows]).solution_.support for rows, _ in splits]
    np.testing.assert_array_equal(found.supports, expected)


def test_subsamples_in_which_a_column_is_constant_do_not_disturb_the_others():
    rare = np.zeros(len(Y))
    rare[::200] = 1.0  # 3 ones: constant in about one subsample of 8
    table = np.column_stack([X, rare])
    found = stability_selection(table, Y, 4, n_subsamples=40)
    splits = StratifiedShuffleSplit(40, train_size=0.5, random_state=0).split(X, Y)
    rows = [rows for rows, _ in splits]
    assert 0 < sum(not rare[some].any() for some in rows) < 40
    for some, support in zip(rows, found.supports, strict=True):
        alone = SelectBestK(4, random_state=0).fit(table[some], Y[some]).solution_.support
        assert support == tuple(alone.tolist())


def test_numbers_are_split_without_classes_and_groups_as_wholes():
    X, y = load_diabetes(return_X_y=True)
    found = stability_selection(X, y, 2, "mrmr", n_subsamples=3, random_state=0)
    rows, _ = next(ShuffleSplit(3, train_size=0.5, random_state=0).split(X))
    alone = SelectBestK(2, "mrmr").fit(X[rows], y[rows]).solution_.support
    assert sorted(found.supports[0]) == sorted(alone)
    groups = np.arange(len(y)) // 10
    grouped = stability_selection(X, y, 2, "mrmr", n_subsamples=3, groups=groups)
    assert len(grouped.supports) == 3


def test_threads_change_nothing_and_progress_is_printed(capsys):
    one = stability_selection(X, Y, 3, "jmi", n_subsamples=5)
    two = stability_selection(X, Y, 3, "jmi", n_subsamples=5, n_jobs=2, verbose=True)
    assert one.supports == two.supports
    assert capsys.readouterr().out.count("[stability_selection]") == 5


def test_the_bound_is_that_of_meinshausen_and_buehlmann():
    found = StabilitySelection(np.array([1.0, 0.8, 0.2, 0.0]), ((0, 1),) * 5, "abcd", 4)
    assert found.false_selections(0.75) == pytest.approx(2**2 / (0.5 * 4))
    assert found.selected(0.75).tolist() == [0, 1]
    assert "100%  a" in str(found)
    assert found.to_frame().name.tolist() == ["a", "b", "c"]
    for threshold in (0.5, 1.1):
        with pytest.raises(ValueError, match=r"needs a threshold above 0\.5"):
            found.false_selections(threshold)


def test_the_bound_holds_where_all_features_are_noise():
    rng = np.random.default_rng(0)
    p, k, false = 60, 4, []
    for seed in range(8):
        X, y = rng.normal(size=(80, p)), rng.integers(0, 2, 80)
        found = stability_selection(X, y, k, "maxrel", n_subsamples=20, random_state=seed)
        false.append(len(found.selected(0.6)))
        bound = found.false_selections(0.6)
    assert bound == pytest.approx(k * k / (0.2 * p))
    assert np.mean(false) <= bound


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": "auto"}, "k as a number or a fraction, not 'auto'"),
        ({"n_subsamples": 0}, "n_subsamples"),
    ],
)
def test_odd_options_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        stability_selection(X, Y, **options)


def test_only_the_most_relevant_features_and_the_included_are_looked_at():
    options = {"n_subsamples": 3, "random_state": 0, "include": [9]}
    few = stability_selection(X, Y, 3, "mrmr", screen=8, **options)
    assert all(9 in support for support in few.supports)
    rows, _ = next(StratifiedShuffleSplit(3, train_size=0.5, random_state=0).split(X, Y))
    scores = SelectBestK(3, "mrmr").fit(X[rows], Y[rows]).scores_
    best = {9, *np.argsort(-scores, kind="stable")[:7]}
    assert set(few.supports[0]) <= best
    assert few.n_candidates == 30
    every = stability_selection(X, Y, 3, "mrmr", screen=None, **options)
    assert every.supports == stability_selection(X, Y, 3, "mrmr", **options).supports


def test_frequencies_agree_with_independent_refits_within_sampling_error():
    n, rng = 20, np.random.default_rng(0)
    wide = np.column_stack([X, rng.normal(size=(len(Y), 270))])
    found = stability_selection(wide, Y, 5, n_subsamples=n, random_state=1)
    splits = StratifiedShuffleSplit(n, train_size=0.5, random_state=2).split(wide, Y)
    refits = [SelectBestK(5).fit(wide[rows], Y[rows]).support_ for rows, _ in splits]
    expected = np.mean(refits, axis=0)
    p = (found.frequencies + expected) / 2
    error = np.sqrt(np.maximum(p * (1 - p), 1 / n) * 2 / n)
    assert np.abs((found.frequencies - expected) / error).max() < 4


def wide(n_samples=60, n_features=400):
    rng = np.random.default_rng(5)
    y = np.arange(n_samples) % 2
    X = rng.normal(size=(n_samples, n_features))
    X[:, ::40] += y[:, np.newaxis] * rng.uniform(0.5, 2.0, 10)
    X[:, 1::3] = X[:, 1::3] > 2.0  # constant in some subsamples
    return X, y


@pytest.mark.parametrize("include", [None, [7, 399]])
def test_features_of_few_rows_are_those_of_a_selector_on_the_most_relevant(include):
    X, y = wide()
    found = stability_selection(X, y, 5, n_subsamples=6, screen=100, include=include)
    splits = StratifiedShuffleSplit(6, train_size=0.5, random_state=0).split(X, y)
    for (rows, _), support in zip(splits, found.supports, strict=True):
        scores = SelectBestK(5).fit(X[rows], y[rows]).scores_
        scores[include or []] = np.inf
        best = np.argsort(-scores, kind="stable")[:100]
        others = np.setdiff1d(np.arange(400), best)
        alone = SelectBestK(5, include=include, exclude=others, bound=None).fit(X[rows], y[rows])
        assert support == tuple(alone.solution_.support.tolist())


def test_several_targets_are_screened_by_all_of_them():
    X, y = wide()
    other = (X[:, 200] > 0).astype(int)
    found = stability_selection(X, np.column_stack([y, other]), 3, n_subsamples=4, screen=100)
    assert found.frequencies[200] == 1.0
    assert found.frequencies[::40].sum() > 1.0


@pytest.mark.parametrize("shape", [(60, 400), (500, 6)])
def test_threads_of_the_default_change_nothing(shape, monkeypatch):
    X, y = wide(*shape) if shape[1] > 100 else (wide(shape[0], 400)[0][:, :6], np.arange(500) % 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = [stability_selection(X, y, 4, n_subsamples=7, n_jobs=n) for n in (None, 1, 2)]
    assert found[0].supports == found[1].supports == found[2].supports


def test_threads_have_the_configuration_of_the_caller():
    seen = []

    def first(X, y, k):
        seen.append(sklearn.get_config()["assume_finite"])
        return np.arange(k)

    with sklearn.config_context(assume_finite=True):
        stability_selection(X, Y, 3, first, n_subsamples=4, n_jobs=2)
    assert len(seen) == 4
    assert all(seen)


def test_an_error_in_a_thread_is_raised():
    def refuse(X, y, k):
        raise RuntimeError("no ranking")

    with pytest.raises(RuntimeError, match="no ranking"):
        stability_selection(X, Y, 3, refuse, n_subsamples=4, n_jobs=2)
