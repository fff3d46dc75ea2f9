"""Constant columns come last; what to know before trusting a selection is warned of, once."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from bestk import METHODS, SelectBestK, SelectBestKCV, SelectionWarning, error_curves, select
from bestk.information.constants import BlockConstants
from bestk.methods.forward import BlockForward

M = 400
rng = np.random.default_rng(0)
Y = rng.integers(0, 2, M)
TELLS = Y + rng.normal(size=M)
NOISE = rng.normal(size=(M, 6))


def said(X, y=Y, k=None, **options):
    """The sentences on columns of a selection."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sentences = select(X, y, k or X.shape[1], **options).warnings
    return tuple(text for text in sentences if "nothing is added above chance" not in text)


def is_said(words, X, y=Y, **options):
    return any(words in sentence for sentence in said(X, y, **options))


@pytest.mark.parametrize("method", METHODS)
def test_no_method_selects_a_constant_or_empty_column_while_others_remain(method):
    frame = pd.DataFrame({"flat": 1.0, "void": np.nan, "word": "a", "truth": True, "tells": TELLS})
    frame = frame.join(pd.DataFrame(NOISE[:, :3]).rename(columns=str))
    solution = select(frame, Y, 4, method)
    assert sorted(solution.support.tolist()) == [4, 5, 6, 7]
    more = select(frame, Y, 6, method)
    assert sorted(more.support[:4].tolist()) == [4, 5, 6, 7]
    assert more.support[4:].tolist() == [0, 1]
    assert more.details["relevance"][4:].tolist() == [0.0, 0.0]
    assert more.details["pairs"].shape == (6, 6)
    assert more.to_frame().shape[0] == 6


def test_a_constant_column_is_selected_where_it_is_asked_for():
    X = np.column_stack([np.ones(M), TELLS, NOISE[:, 0]])
    assert 0 in select(X, Y, 2, include=[0]).support
    assert select(np.ones((M, 3)), Y, 2).support.tolist() == [0, 1]


@pytest.mark.parametrize("information", ["auto", "discrete", "gaussian", "blend"])
def test_scores_of_constant_columns_are_zero_and_of_others_as_without_them(information):
    X = np.column_stack([np.ones(M), TELLS, np.full(M, np.nan), NOISE[:, 0]])
    method = "auto" if information == "auto" else "mrmr"
    both = SelectBestK(1, method, information=information).fit(X, Y)
    alone = SelectBestK(1, method, information=information).fit(X[:, [1, 3]], Y)
    np.testing.assert_array_equal(both.scores_, [0, alone.scores_[0], 0, alone.scores_[1]])
    assert both.transform(X).shape == (M, 1)


def test_constants_of_sparse_tables_come_last():
    X = np.column_stack([np.zeros(M), Y, np.full(M, 2), rng.integers(0, 2, M)])
    assert select(csr_array(X), Y, 4, "maxrel", discretizer=None).support.tolist() == [1, 3, 0, 2]


def test_a_column_that_is_constant_in_a_fold_only_is_no_obstacle():
    X = np.column_stack([TELLS, NOISE[:, 0], np.arange(M) == 7, np.zeros(M)])
    assert SelectBestK("auto", random_state=0).fit(X, Y).k_ <= 3
    curves = error_curves(X, Y, ["maxrel"], [1, 4], cv=3, random_state=0)
    assert curves.errors("maxrel").shape == (2, 3)
    found = SelectBestKCV(LogisticRegression(), ks=[1, 4], cv=3).fit(X, Y)
    assert found.support_[0]
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_ordinary_selections_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for load, k in ((load_breast_cancer, 9), (load_iris, 3)):
            for method in ("auto", "mrmr", "tpower"):
                SelectBestK(k, method).fit(*load(return_X_y=True))


def test_fit_and_select_warn_once_and_the_sentences_stay_in_the_solution():
    X = np.column_stack([TELLS, NOISE])
    with pytest.warns(SelectionWarning, match="no more related to the target") as caught:
        selector = SelectBestK(5).fit(X, Y)
    assert [each.filename for each in caught] == [__file__]
    assert str(caught[0].message) == "\n".join(selector.solution_.warnings)
    with pytest.warns(SelectionWarning) as caught:
        assert select(X, Y, 5).warnings == selector.solution_.warnings
    assert [each.filename for each in caught] == [__file__]


@pytest.mark.parametrize("fit", [
    lambda X, y: SelectBestK("auto", include=[2, 3]).fit(X, y),
    lambda X, y: SelectBestKCV(LogisticRegression(), ks=[5], cv=3).fit(X, y),
])  # fmt: skip
def test_folds_say_nothing_and_the_whole_table_once(fit):
    X = np.column_stack([TELLS, NOISE])
    with pytest.warns(SelectionWarning) as caught:
        fit(X, Y)
    assert len(caught) == 1


def test_error_curves_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error_curves(np.column_stack([TELLS, NOISE]), Y, ["maxrel"], [5], cv=3, random_state=0)


def test_noise_is_named_and_what_tells_is_not():
    (sentence,) = said(pd.DataFrame({"tells": TELLS, "a": NOISE[:, 1], "b": NOISE[:, 2]}))
    assert sentence.startswith("'a', 'b': selected, but no more") or sentence.startswith("'b', 'a'")


def test_the_best_of_very_many_columns_of_noise_are_named():
    n_named = []
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(100, 2000))
        (sentence,) = said(X, np.arange(100) % 2, k=10)
        assert ": selected, but no more related to the target than chance" in sentence
        more = re.search(r"and (\d) more:", sentence)
        n_named.append(sentence.count("'x") + (int(more[1]) if more else 0))
    assert min(n_named) >= 8


def test_the_best_of_very_many_columns_of_noise_are_named_if_most_were_screened_out():
    X = np.random.default_rng(0).normal(size=(300, 20_000))
    few = BlockForward(BlockConstants(max_measured=50))
    (sentence,) = (text for text in said(X, np.arange(300) % 2, k=5, method=few) if "'x" in text)
    assert sentence.count("'x") == 5
    assert "than chance would give" in sentence


def test_noise_is_named_for_a_target_of_more_classes_than_the_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 30))
    y = np.column_stack([rng.integers(0, 2, 1000), rng.integers(0, 10, 1000)])
    (sentence,) = said(X, y, k=5, method="mrmr")
    assert "than chance would give" in sentence
    assert sentence.count("'x") == 5


class ManyCuts(TransformerMixin, BaseEstimator):
    """Cuts each column into as many bins as a tree that is fitted to y has leaves."""

    def fit(self, X, y):
        """Fit a tree to each column."""
        tree = DecisionTreeClassifier(max_leaf_nodes=20, random_state=0)
        self.trees_ = [clone(tree).fit(column[:, np.newaxis], y) for column in X.T]
        return self

    def transform(self, X):
        """The number of the leaf of each value."""
        leaves = (tree.apply(X[:, [j]]) for j, tree in enumerate(self.trees_))
        return np.column_stack([np.unique(each, return_inverse=True)[1] for each in leaves])


def test_noise_that_is_cut_often_to_fit_the_target_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 10)), rng.integers(0, 2, 1000)
    (sentence,) = said(X, y, k=5, method="jmi", discretizer=ManyCuts())
    assert "than chance would give" in sentence
    assert sentence.count("'x") == 5


def test_noise_beside_a_number_to_predict_is_named():
    X = pd.DataFrame({"tells": TELLS, "noise": NOISE[:, 0]})
    (sentence,) = said(X, TELLS + NOISE[:, 1])
    assert sentence.startswith("'noise': selected, but no more related")


def test_columns_behind_the_size_of_rare_claims_are_not_called_noise():
    own = np.random.default_rng(0)
    X = own.normal(size=(1000, 20))
    claim = own.random(1000) < 1 / (1 + np.exp(np.log(9) - X[:, 0]))
    size = np.exp(0.7 * X[:, 1] + 0.5 * X[:, 2] + 0.5 * own.normal(size=1000))
    (sentence,) = said(X, np.where(claim, size, 0.0), k=4)
    named, _, what = sentence.partition(": ")
    assert what.startswith("selected, but no more")
    assert named not in ("'x0'", "'x1'", "'x2'")


def test_columns_that_tell_only_together_are_not_called_noise():
    a, b, c = NOISE[:, :3].T
    y = ((a > 0) ^ (b > 0)).astype(int)
    assert said(np.column_stack([a, b]), y) == ()
    (sentence,) = said(np.column_stack([a, b, c]), y, method="search")
    assert sentence.startswith("'x2': selected")


def test_a_relation_without_a_trend_is_no_noise():
    x = NOISE[:, 0]
    assert said(x[:, None], (np.abs(x) > 0.7).astype(int) ^ (rng.random(M) < 0.3)) == ()


@pytest.mark.parametrize("seed", range(4))
def test_a_weak_curve_that_the_default_selects_is_not_called_noise(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 20))
    squares = (X[:, 0] ** 2 - 1) / 2**0.5
    risk = 0.25 * squares + rng.logistic(size=3000)
    y = (risk > np.quantile(risk, 0.9)).astype(int)
    assert SelectBestK(5).fit(X, y).support_[0]
    (sentence,) = said(X, y, k=5)
    assert "than chance would give" in sentence
    assert "'x0'" not in sentence


def test_a_column_that_determines_the_target_is_a_leak():
    assert is_said(
        "'leak': nearly determines the target", pd.DataFrame({"leak": Y * 3.5, "x": TELLS})
    )
    words = pd.DataFrame({"leak": np.where(Y, "yes", "no"), "x": TELLS})
    assert is_said("'leak': nearly determines the target alone", words)
    assert not is_said("determines", pd.DataFrame({"x": TELLS}))
    assert is_said("'twice': nearly determines", pd.DataFrame({"twice": 2 * TELLS}), TELLS)


@pytest.mark.parametrize("method", ["auto", "mrmr", "cmim"])
@pytest.mark.parametrize("noise", [0.02, 0.05])  # R2 of 0.9996 and 0.9975
def test_a_number_with_little_noise_is_a_leak_of_a_number(noise, method):
    for y in (TELLS, np.exp(TELLS)):
        leak = y + noise * y.std() * NOISE[:, 0]
        frame = pd.DataFrame({"leak": leak, "rank": np.exp(TELLS + noise * NOISE[:, 1]), "x": Y})
        assert is_said("'leak', 'rank': each nearly determines the target", frame, y, method=method)
        gaps = np.where(np.arange(M) % 20, leak, np.nan)
        assert not is_said("nearly determines", pd.DataFrame({"x": gaps, "z": Y}), y)


def test_words_and_very_large_numbers_are_leaks_of_a_number_without_other_warnings():
    words = pd.DataFrame({"x": np.where(Y, "yes", "no"), "z": np.where(TELLS > 0, "a", "b")})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        select(words, Y + 0.5, 2)
        y = TELLS / np.abs(TELLS).max() * 1e308
        select(pd.DataFrame({"x": y * (1 + 1e-3 * NOISE[:, 0]) / 2, "z": NOISE[:, 1]}), y, 2)
    assert [each.category for each in caught] == [SelectionWarning] * 2
    assert all("'x': nearly determines" in str(each.message) for each in caught)


@pytest.mark.parametrize("outlier", [0.0, 1e3])
@pytest.mark.parametrize("noise", [0.20, 0.23, 9])  # R2 of 0.96, 0.95 and 0.01
def test_a_strong_predictor_of_a_number_is_no_leak_nor_is_a_common_outlier(outlier, noise):
    far = outlier * (np.arange(M) == 7)
    X = pd.DataFrame({"x": TELLS + noise * TELLS.std() * NOISE[:, 0] + far, "z": NOISE[:, 1]})
    assert not is_said("nearly determines", X, TELLS + far)


def test_row_numbers_of_sorted_rows_are_a_leak_and_an_identifier():
    X = pd.DataFrame({"x": NOISE[:, 0], "row": np.arange(M)})
    words = said(X, np.sort(Y))
    assert any(each.startswith("'row': nearly determines the target") for each in words)
    assert any(each.startswith("'row': a different value in most rows") for each in words)
    assert not is_said("determines", X)


def test_identifiers_are_named_whether_text_or_whole_numbers():
    X = pd.DataFrame({"id": np.arange(M), "name": [f"row {i}" for i in range(M)], "x": TELLS})
    assert is_said("'id', 'name': a different value in most rows", X) or is_said(
        "'name', 'id': ", X
    )
    assert not is_said("identifier", pd.DataFrame({"x": TELLS, "n": NOISE[:, 0]}))


def test_copies_are_named_be_they_scaled_shifted_or_renamed():
    X = pd.DataFrame({"x": TELLS, "y": 7 - 2.54 * TELLS, "n": TELLS + 1e-3 * NOISE[:, 0]})
    copies = [each for each in said(X) if "copies of each other" in each]
    assert len(copies) == 1
    assert "'n'" not in copies[0]
    colour = rng.integers(0, 3, M)
    words = pd.DataFrame({"en": np.array(["red", "blue", "grey"])[colour],
                          "de": np.array(["rot", "blau", "grau"])[colour]})  # fmt: skip
    assert is_said("copies of each other", words)
    gaps = pd.DataFrame({"x": TELLS, "y": np.where(np.arange(M) < 9, np.nan, TELLS)})
    assert not is_said("copies", gaps)
    assert not is_said("copies", pd.DataFrame({"x": TELLS * 1e300, "y": NOISE[:, 0] * 1e300}))


@pytest.mark.parametrize("method", ["auto", "mrmr"])
def test_codes_and_the_names_of_the_same_categories_are_copies(method):
    country = np.random.default_rng(2).integers(0, 5, M)
    names, codes = np.array([*"abcde"])[country], np.array([7, 3, 9, 1, 5])[country]
    y, moved = (country > 2) ^ (np.arange(M) % 9 == 0), np.append(codes[1:], codes[0])
    words = "'id', 'country': copies of each other, up to scale and shift, or the names of categ"
    for known in (codes, codes.astype(str), np.where(country, codes, np.nan)):
        label = np.where(pd.isna(known), None, names)
        frame = pd.DataFrame({"id": known, "x": NOISE[:, 0], "country": label})
        assert is_said(words, frame, y, method=method)
    assert not is_said("copies", pd.DataFrame({"id": moved, "country": names}), y, method=method)


def test_a_group_is_at_chance_level_only_with_all_of_its_columns():
    X, words = np.column_stack([TELLS, NOISE[:, :3]]), "than chance would give"
    (sentence,) = (each for each in said(X) if words in each)
    assert sentence.startswith("'x1', 'x2', 'x3': ")
    (sentence,) = (each for each in said(X, k=2, column_groups=[0, 0, 1, 1]) if words in each)
    assert sentence.startswith("'x2', 'x3': ")


def test_copies_may_be_constant_in_the_first_rows_and_agree_there_by_chance():
    late = np.where(np.arange(M) < 100, 0.0, TELLS)
    assert is_said("copies of each other", pd.DataFrame({"x": late, "y": 1 - 3 * late}))
    other = np.where(np.arange(M) < 100, TELLS, NOISE[:, 0])
    assert not is_said("copies", pd.DataFrame({"x": TELLS, "y": other, "z": late}))


def test_categories_of_many_levels_are_named():
    level = rng.integers(0, 60, M)
    X = pd.DataFrame({"city": [f"city {i}" for i in level], "x": TELLS})
    assert is_said("'city': more than 50 categories", X)
    assert not is_said("categories", X.assign(city=[f"city {i % 9}" for i in level]))


def test_a_selector_follows_its_estimator():
    counts = np.round(np.exp(TELLS)).astype(int)  # so few values that they could be classes
    X = np.column_stack([TELLS, NOISE])
    as_number = SelectBestKCV(Ridge(), ks=[1], cv=3).fit(X, counts)
    asked = SelectBestK(1, target="continuous").fit(X, counts)
    np.testing.assert_array_equal(as_number.scores_, asked.scores_)
    many = np.repeat(np.arange(25) * 7, 16)  # so many that they could be a quantity
    as_classes = SelectBestKCV(LogisticRegression(max_iter=5000), ks=[1], cv=3).fit(X, many)
    asked = SelectBestK(1, target="classes").fit(X, many)
    np.testing.assert_array_equal(as_classes.scores_, asked.scores_)


def test_counts_with_very_many_values_are_a_number_to_predict():
    counts = np.round(np.exp(5 + TELLS)).astype(int)
    X = np.column_stack([NOISE, TELLS])
    with pytest.warns(SelectionWarning, match="taken as numbers to predict; pass target="):
        selector = SelectBestK(1).fit(X, counts)
    assert selector.get_support(indices=True).tolist() == [6]


def test_copies_among_codes_are_found_and_other_columns_of_equal_relevance_are_not():
    column = rng.integers(0, 4, M)
    codes = np.column_stack([column, 2 * column + 1, Y[rng.permutation(M)], rng.integers(0, 3, M)])
    (sentence,) = [s for s in said(codes, discretizer=None, method="jmi") if "copies" in s]
    assert sentence.startswith("'x0', 'x1': ") or sentence.startswith("'x1', 'x0': ")
    swapped = np.column_stack([column, np.array([1, 0, 2, 3])[column]])  # the same levels, renamed
    assert not is_said("copies", swapped, discretizer=None, method="jmi")
