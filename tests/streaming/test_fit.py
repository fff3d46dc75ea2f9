"""SelectBestK on blocks of rows gives what it gives on the whole table."""

import pickle
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from bestk import CAIM, SelectBestK, select
from bestk.errors import SelectionWarning
from bestk.plots import read_solution
from bestk.tables import rows
from bestk.tables.frames import read_table
from bestk.tables.rows import Reservoir

from ..selector.conftest import mixed_frame as wide_mixed_frame

mixed_frame = partial(wide_mixed_frame, flips=4, noises=3)


Select = partial(SelectBestK, method="tpower")


def pairs(X, y, cuts):
    rows = X.iloc if hasattr(X, "iloc") else X
    return [(rows[a:b], y[a:b]) for a, b in pairwise(cuts)]


def same(found, expected):
    found.finalize()
    np.testing.assert_array_equal(found.solution_.support, expected.solution_.support)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    assert found.solution_.objective == expected.solution_.objective
    assert found.n_features_in_ == expected.n_features_in_
    assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 99), st.lists(st.integers(0, 120), max_size=4))
def test_blocks_of_a_mixed_frame_are_the_frame(seed, cuts):
    X, y = mixed_frame(seed=seed)
    blocks = pairs(X, y, sorted({0, *cuts, 120}))
    same(Select(k=4).fit(blocks), Select(k=4).fit(X, y))


@pytest.mark.parametrize("options", [
    {"method": "mrmr"}, {"method": "exact", "k": 3}, {"method": "search", "random_state": 0},
    {"correction": "chance"}, {"correction": "miller-madow", "method": "jmi"},
    {"exclude": ["age", 0], "include": "member"}, {"categorical_features": ["visits"]},
    {"discretizer": "equal-frequency", "k": 0.5}, {"discretizer": CAIM()}, {"backend": "numpy"},
])  # fmt: skip
def test_options_mean_the_same(options):
    X, y = mixed_frame()
    selector = SelectBestK(**{"k": 4, "method": "tpower"} | options)
    expected = clone(selector).fit(X, y)
    same(selector.fit(pairs(X, y, [0, 50, 51, 120])), expected)


@pytest.mark.parametrize("wrap", [list, tuple, iter, lambda blocks: lambda: iter(blocks)])
@pytest.mark.parametrize("make", [
    lambda X: X, pl.from_pandas, pa.Table.from_pandas,
    lambda X: pa.Table.from_pandas(X).combine_chunks().to_batches()[0],
])  # fmt: skip
def test_frames_of_any_kind_bring_their_target_along(wrap, make):
    X, y = mixed_frame()
    whole = X.assign(answer=y)
    blocks = [make(whole.iloc[a:b].reset_index(drop=True)) for a, b in ((0, 70), (70, 120))]
    same(Select(k=4).fit(wrap(blocks), "answer"), Select(k=4).fit(X, y))


@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes])
def test_gaussian_information_is_that_of_the_table(load):
    X, y = load(return_X_y=True)
    X[::7, 3] = np.nan
    target = "classes" if load is load_breast_cancer else "continuous"
    selector = Select(k=4, information="gaussian", target=target)
    expected = clone(selector).fit(X, y)
    same(selector.fit(iter(pairs(X, y, [0, 30, 31, len(y)]))), expected)


@pytest.fixture
def few_held(monkeypatch):
    """Hold 200 rows of a table of 30 columns."""
    monkeypatch.setattr(rows, "MIN_LONG_ROWS", 10)
    monkeypatch.setattr(rows, "MAX_VALUES", 200 * 30)


@pytest.mark.parametrize(
    "options", [{}, {"method": "jmi"}, {"method": "mrmr", "information": "gaussian"}]
)
@pytest.mark.parametrize("wrap", [list, iter])
def test_the_sample_of_a_large_table_is_the_same_in_memory_and_in_blocks(few_held, wrap, options):
    X, y = load_breast_cancer(return_X_y=True)
    selector = SelectBestK(4, random_state=3, **options)
    note = "a random sample of 200 of 569 rows is used; tables of more than 6,000 values"
    with pytest.warns(SelectionWarning, match=note):
        expected = clone(selector).fit(X, y)
    with pytest.warns(SelectionWarning, match=note):
        found = clone(selector).fit(wrap(pairs(X, y, [0, 100, 430, 431, 569])))
    same(found, expected)
    in_parts = clone(selector)
    for part in pairs(X, y, [0, 250, 569]):
        in_parts.partial_fit(*part)
    same(in_parts, expected)
    assert found.n_samples_seen_ == in_parts.n_samples_seen_ == 569
    other = clone(selector).set_params(random_state=4).fit(pairs(X, y, [0, 569]))
    assert (other.scores_ != found.scores_).any()


@pytest.mark.parametrize(("rare", "used"), [(0.5, 200), (0.05, 400), (0.001, 569)])
def test_the_default_uses_enough_rows_and_enough_of_rare_classes(monkeypatch, rare, used):
    monkeypatch.setattr(rows, "ENOUGH_ROWS", 200)
    monkeypatch.setattr(rows, "ENOUGH_RARE_ROWS", 20)
    X = load_breast_cancer(return_X_y=True)[0]
    y = (np.argsort(np.argsort(X[:, 0])) >= round(569 * (1 - rare))).astype(int)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = SelectBestK(4, random_state=3).fit(X, y)
    sampled = [text for text in found.solution_.warnings if "a random sample of" in text]
    if used == 569:
        assert not sampled
    else:
        (text,) = sampled
        n = int(text.split()[4])
        assert abs(n - used) <= 10
        assert "method='jmi', which counts, uses all" in text
        assert text in str(caught[0].message)
    in_blocks = SelectBestK(4, random_state=3).fit(pairs(X, y, [0, 100, 400, 430, 569]))
    same(in_blocks, found)
    assert sampled == [text for text in in_blocks.solution_.warnings if "a random sample" in text]
    whole = SelectBestK(4, "jmi", random_state=3).fit(X, y)
    assert not any("sample" in text for text in whole.solution_.warnings)


def test_equal_weights_sample_the_same_rows_as_none(few_held):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(SelectionWarning, match="of 200 of 569 rows"):
        found = Select(k=4).fit(X, y, sample_weight=[2] * 569)
    with pytest.warns(SelectionWarning, match="of 200 of 569 rows"):
        same(found, Select(k=4).fit(X, y))


def test_rows_that_do_not_fit_into_memory_are_sampled(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(rows, "MIN_HELD_ROWS", 50)
    monkeypatch.setattr(rows, "machine_memory", lambda: 8 * 8 * 30 * 100)
    with pytest.warns(SelectionWarning, match=r"of \d+ of 569 rows is used; the others do not fit"):
        found = Select(k=4).fit(pairs(X, y, [0, 100, 430, 569]))
    assert found.n_samples_seen_ == 569
    Select(k=4).fit(X, y)  # which is in memory already, and gives no warning


def test_every_row_is_as_likely_as_any_other_to_be_in_a_sample(monkeypatch):
    monkeypatch.setattr(rows, "most_rows", lambda n: 10)
    monkeypatch.setattr(rows, "MIN_HELD_ROWS", 1)
    values, drawn = np.arange(40.0), np.zeros(40)
    for seed in range(600):
        reservoir = Reservoir(seed)
        for part in np.split(values, [7, 8, 30]):
            reservoir.add_table(read_table(part[:, None]), part)
        sample, y = reservoir.sample()
        found = sample.numeric()[0][:, 0]
        assert len(set(found)) == 10
        np.testing.assert_array_equal(found, y)
        whole = read_table(values[:, None])
        np.testing.assert_array_equal(found, rows.draw_rows(whole, 40, seed)[1])
        drawn[found.astype(int)] += 1
    assert abs(drawn - 150).max() < 50  # five standard deviations are 53


@pytest.mark.parametrize(
    "options", [{}, {"method": "tpower"}, {"method": "mrmr", "information": "gaussian"}]
)
def test_partial_fit_on_blocks_is_fit_on_all_of_them(options):
    X, y = load_breast_cancer(return_X_y=True)
    expected = SelectBestK(k=4, **options).fit(X, y)
    selector = SelectBestK(k=4, **options)
    for block in pairs(X, y, [0, 10, 300, 569]):
        selector.partial_fit(*block)
    same(pickle.loads(pickle.dumps(selector)), expected)
    assert not hasattr(selector, "solution_")
    np.testing.assert_array_equal(selector.transform(X), expected.transform(X))
    same(selector, expected)


USES = {
    "finalize": lambda selector, X: selector.finalize(),
    "transform": lambda selector, X: selector.transform(X),
    "get_support": lambda selector, X: selector.get_support(),
    "get_feature_names_out": lambda selector, X: selector.get_feature_names_out(),
    "inverse_transform": lambda selector, X: selector.inverse_transform(X[:, :31]),
    "a plot": lambda selector, X: read_solution(selector),
}


@pytest.mark.parametrize("use", USES)
def test_the_first_use_after_partial_fit_selects_once_and_warns_as_fit_does(use):
    X, y = load_breast_cancer(return_X_y=True)
    X = np.column_stack([X, np.ones(len(y))])
    with pytest.warns(SelectionWarning) as expected:
        SelectBestK(31, "maxrel").fit(X, y)
    selector = SelectBestK(31, "maxrel").partial_fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    with pytest.warns(SelectionWarning) as told:
        USES[use](selector, X)
    assert str(told[0].message) == str(expected[0].message)
    solution = selector.solution_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ask in USES.values():
            ask(selector, X)
    assert selector.solution_ is solution
    selector.partial_fit(X[:100], y[:100])
    assert not hasattr(selector, "solution_")
    assert selector.finalize().solution_ is not solution


def test_asking_a_selector_that_has_collected_rows_starts_no_work(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    selector = SelectBestK("auto").partial_fit(X, y)
    monkeypatch.setattr(SelectBestK, "_select_rows", lambda *_: pytest.fail("work was started"))
    for name in ("solution_", "support_", "ranking_", "scores_", "discretizer_", "k_", "k_scores_"):
        assert not hasattr(selector, name)
        assert getattr(selector, name, None) is None
        with pytest.raises(NotFittedError, match=rf"call finalize\(\), .* before {name}"):
            getattr(selector, name)
    for ask in (repr, clone, pickle.dumps, estimator_html_repr):
        ask(selector)
    with pytest.raises(NotFittedError):
        check_is_fitted(selector)
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        selector.other  # noqa: B018


def test_a_result_that_a_selection_does_not_have_is_no_attribute():
    X, y = load_breast_cancer(return_X_y=True)
    selector = SelectBestK(3, "maxrel").partial_fit(X, y).finalize()
    with pytest.raises(AttributeError, match="has no attribute 'k_scores_'"):
        selector.k_scores_  # noqa: B018


def test_there_is_nothing_to_finalize_before_rows_and_nothing_to_do_after_fit():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(NotFittedError, match="has no rows to select from; call fit or partial_fit"):
        SelectBestK(3).finalize()
    selector = SelectBestK(3, "maxrel").fit(X, y)
    solution = selector.solution_
    assert selector.finalize().solution_ is solution


def test_k_is_chosen_from_blocks_as_from_the_table():
    X, y = load_breast_cancer(return_X_y=True)
    expected = SelectBestK("auto", "mrmr").fit(X, y)
    found = SelectBestK("auto", "mrmr").fit(pairs(X, y, [0, 300, 569]))
    in_parts = SelectBestK("auto", "mrmr").partial_fit(X[:300], y[:300])
    in_parts.partial_fit(X[300:], y[300:])
    for each in (found, in_parts.finalize()):
        assert (each.k_, each.k_scores_) == (expected.k_, expected.k_scores_)
        same(each, expected)


def test_groups_of_blocks_are_named():
    with pytest.raises(ValueError, match="X comes in blocks, and groups is a list; give the name"):
        SelectBestK("auto").fit([(np.eye(2), [0, 1])], groups=[1, 2])
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame, groups = X.assign(y=y, site=y.index % 20), y.index % 20
    named = SelectBestK("auto").fit([frame[:300], frame[300:]], "y", groups="site")
    given = SelectBestK("auto").fit(X, y, groups=groups)
    assert named.k_scores_ == given.k_scores_
    assert named.k_scores_ != SelectBestK("auto").fit(X, y).k_scores_


def test_a_continuous_target_is_cut_into_the_same_classes():
    X, y = load_diabetes(return_X_y=True)
    selector = Select(k=4, target="continuous")
    same(clone(selector).fit(pairs(X, y, [0, 100, len(y)])), selector.fit(X, y))


def test_other_backends_take_blocks_even_of_a_generator():
    X, y = mixed_frame()
    found = Select(k=4, backend="numpy").fit(iter(pairs(X, y, [0, 70, 120])))
    same(found, Select(k=4, backend="numpy").fit(X, y))


def test_the_function_takes_blocks_as_well():
    X, y = mixed_frame()
    found = select(pairs(X, y, [0, 70, 120]), k=4, method="tpower")
    np.testing.assert_array_equal(found.support, Select(k=4).fit(X, y).solution_.support)


def test_blocks_without_rows_are_passed_over():
    X, y = mixed_frame()
    blocks = pairs(X, y, [0, 0, 60, 60, 120, 120])
    same(Select(k=4).fit(blocks), Select(k=4).fit(X, y))


def test_classes_and_levels_that_come_late_are_counted():
    X = np.array([[0, 0], [1, 0], [2, 1], [3, 1], [4, 5]])
    y = np.array(["a", "b", "c", "c", "a"])
    selector = Select(k=1, discretizer=None)
    same(clone(selector).fit(pairs(X, y, [0, 1, 2, 4, 5])), selector.fit(X, y))


@pytest.mark.parametrize(("X", "y", "message"), [
    ([], "y", "there are no blocks of rows; give pairs"),
    (iter([]), None, "there are no blocks of rows; give pairs"),
    (iter([1, 2]), None, "a block is a int; give pairs"),
    (iter([(np.eye(2), [0, 1])]), [0, 1], "X comes in blocks, and y is a list; give pairs"),
    ("rows.csv", [0, 1], "y is the name of its target; got a list"),
    ([pd.DataFrame({"a": [1]})], "b", "the table has no column 'b'"),
    ([(np.eye(2), [0, 1]), (np.eye(3), [0, 1, 1])], None, "a block has 3 columns, and those"),
    ([(np.eye(2), [0, np.nan])], None, "y has 1 missing value"),
    ([(np.array([[np.inf], [1.0]]), [0, 1])], None, "column 'x0' has 1 infinite value"),
])  # fmt: skip
def test_what_is_no_block_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        Select(k=1).fit(X, y)


def test_weights_are_for_tables_in_memory():
    with pytest.raises(ValueError, match="sample_weight is a list; give the name of a column"):
        Select(k=1).fit([(np.eye(2), [0, 1])], sample_weight=[1, 2])


def test_results_are_those_of_the_blocks_so_far():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 8)), rng.integers(0, 2, 200)
    selector = Select(k=3, discretizer=None, exclude=[2])
    for end in (50, 120, 200):
        begin = 0 if end == 50 else 50 if end == 120 else 120
        selector.partial_fit(X[begin:end], y[begin:end], classes=[0, 1])
        same(selector, Select(k=3, discretizer=None, exclude=[2]).fit(X[:end], y[:end]))


def test_fit_forgets_what_partial_fit_has_held():
    X, y = mixed_frame()
    selector = Select(k=4).partial_fit(X, y).fit(X[::-1], y[::-1])
    same(selector, Select(k=4).fit(X[::-1], y[::-1]))
    assert not hasattr(selector, "_held")


def test_nothing_is_found_before_a_fit():
    assert not hasattr(Select(), "solution_")
    with pytest.raises(NotFittedError):
        Select().transform(np.eye(3))


@pytest.mark.parametrize("options", [{}, {"discretizer": None}])
def test_blocks_may_be_sorted_by_class(options):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = rng.integers(0, 4, (400, 6))
    X[:, 2] = (X[:, 2] + 2 * y) % 5
    found = SelectBestK(2, "jmi", **options)
    for start in range(0, 400, 100):
        block = X[start : start + 100].copy()
        found.partial_fit(block, y[start : start + 100], classes=[0, 1])
        block[:] = 9  # the caller may use its memory again
    assert found.n_samples_seen_ == 400
    wanted = SelectBestK(2, "jmi", **options).fit(X, y)
    same(found, wanted)
    assert found.support_[2]


def test_a_second_class_is_needed_when_results_are_asked_for_and_not_before():
    for options in ({}, {"discretizer": None}):
        selector = SelectBestK(1, "jmi", **options).partial_fit([[0], [1]], [1, 1], classes=[0, 1])
        with pytest.raises(ValueError, match="one class only, 1"):
            selector.get_support()
        assert selector.partial_fit([[0], [0]], [0, 0]).get_support().tolist() == [True]


def test_many_columns_in_blocks_are_selected_without_their_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 40)), np.arange(300) % 2
    X[:, 7] = y ^ (rng.random(300) < 0.2)
    monkeypatch.setattr("bestk.methods.registry.MAX_DENSE_FEATURES", 10)
    found = SelectBestK(5, "tpower", bound=None, discretizer=None).partial_fit(X, y)
    assert found.get_support()[7]


@pytest.mark.parametrize("wrap", [list, iter])
@pytest.mark.parametrize(
    "options", [{}, {"method": "jmi"}, {"method": "mrmr", "information": "gaussian"}]
)
def test_rows_in_blocks_are_read_as_a_table_in_memory(wrap, options):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.assign(copy=X["mean area"], one=1), y.to_numpy()
    with pytest.warns(SelectionWarning) as told:
        found = SelectBestK(31, **options).fit(wrap(pairs(X, y, [0, 100, 101, 569])))
    with pytest.warns(SelectionWarning) as expected:
        same(found, SelectBestK(31, **options).fit(X, y))
    assert str(told[0].message) == str(expected[0].message)
    assert found.n_samples_seen_ == 569


def test_columns_of_blocks_are_warned_of_as_in_memory():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({"leak": y * 2.5, "copy": y * 5.0, "name": [f"p{i}" for i in range(400)]})
    blocks = pairs(X, y, [0, 150, 400])
    with pytest.warns(SelectionWarning, match="identifier") as told:
        Select(k=3).fit(blocks)
    with pytest.warns(SelectionWarning) as expected:
        Select(k=3).fit(X, y)
    assert str(told[0].message) == str(expected[0].message)
    assert "nearly determines the target" in str(told[0].message)


@pytest.mark.parametrize("options", [{}, {"discretizer": None}, {"backend": "numpy"}])
def test_constant_columns_are_selected_last(options):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 6)), rng.integers(0, 2, 300)
    X[:, :3] = 1
    expected = Select(k=4, **options).fit(X, y)
    assert expected.support_.tolist() == [True, False, False, True, True, True]
    same(Select(k=4, **options).fit(pairs(X, y, [0, 100, 300])), expected)
    if "backend" not in options:
        same(Select(k=4, **options).partial_fit(X, y), expected)
    included = {"include": [1], "exclude": [0], **options}
    kept = Select(k=3, **included).fit(pairs(X, y, [0, 100, 300]))
    same(kept, Select(k=3, **included).fit(X, y))


def test_numbers_written_as_text_are_numbers_in_every_block():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    price = 1000 + 900 * y + 300 * rng.normal(size=300)
    X = pd.DataFrame(
        {
            "price": [f"${value:,.2f}" for value in price],
            "share": [f"{value:.2f}".replace(".", ",") for value in price / 1000],
            "day": pd.date_range("2020-01-01", periods=300).strftime("%Y-%m-%d"),
            "word": rng.choice(["red", "blue"], 300),
        }
    )
    X.loc[299, "price"] = "n/a"
    with pytest.warns(SelectionWarning) as expected:
        whole = Select(k=3).fit(X, y)
    blocks = pairs(X, y, [0, 200, 299, 300])
    with pytest.warns(SelectionWarning, match="written as text") as told:
        found = Select(k=3).fit(blocks)
    same(found, whole)
    assert str(told[0].message) == str(expected[0].message)
    assert len(found.discretizer_.cut_points_) == 3
    in_parts = Select(k=3, discretizer="equal-frequency")
    for block in blocks:
        in_parts.partial_fit(*block)
    assert len(in_parts.finalize().discretizer_.cut_points_) == 3
    kept = Select(k=2, categorical_features=["day", "price"]).fit(blocks)
    assert len(kept.discretizer_.cut_points_) == 1


def test_a_column_may_be_empty_in_one_block_and_text_in_another():
    X, y = mixed_frame()
    X.loc[:39, "colour"] = None
    same(Select(k=4).fit(pairs(X, y, [0, 40, 120])), Select(k=4).fit(X, y))


def test_a_column_of_two_types_is_refused():
    blocks = [(pd.DataFrame({"a": [1, 2]}), [0, 1]), (pd.DataFrame({"a": ["x", "y"]}), [0, 1])]
    with pytest.raises(ValueError, match="column 'a' is string in one block and numeric in anoth"):
        Select(k=1).fit(blocks)


def test_integers_that_floats_in_another_block_would_merge_are_refused():
    blocks = [([[2**60], [2**60 + 1]], [0, 1]), ([[0.5], [1.5]], [0, 1])]
    blocks = [(np.array(X), y) for X, y in blocks]
    with pytest.raises(ValueError, match=r"'x0' holds whole numbers of 2\*\*53 or more"):
        Select(k=1).fit(blocks)
