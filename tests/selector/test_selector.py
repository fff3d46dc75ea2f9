"""SelectBestK does for a table what people expect of it."""

import pickle
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import MDLP, METHODS, Greedy, Quadratic, SelectBestK, cmi_matrix, select, solve
from bestk.discretize import CAIM
from bestk.tables import frames

TELLING = {"colour", "size", "member", "age", "visits"}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_a_mixed_frame_just_works(mixed):
    X, y = mixed
    selector = SelectBestK(k=5).fit(X, y)
    assert set(selector.get_feature_names_out()) == TELLING
    assert selector.n_features_in_ == 12
    assert list(selector.feature_names_in_) == list(X.columns)


def test_selecting_is_discretising_counting_and_solving(cancer):
    X, y = cancer
    Q = cmi_matrix(CAIM().fit_transform(X, y), y, symmetric=True)
    expected = solve(Q, 6, "tpower")
    solution = SelectBestK(k=6, method="tpower").fit(X, y).solution_
    np.testing.assert_array_equal(solution.support, expected.support)
    assert solution.objective == pytest.approx(expected.objective)
    assert solution.objective <= solution.upper_bound <= expected.upper_bound * (1 + 1e-9)


@pytest.mark.parametrize("make", [
    pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, lambda X: X.to_numpy(),
    lambda X: X.to_numpy().tolist(), lambda X: sp.csr_matrix(X.to_numpy()),
    lambda X: sp.coo_array(X.to_numpy()), lambda X: np.asfortranarray(X.to_numpy()),
])  # fmt: skip
def test_every_container_gives_the_same_selection(cancer, make):
    X, y = cancer
    expected = SelectBestK(k=5).fit(X, y)
    other = SelectBestK(k=5).fit(make(X), y)
    np.testing.assert_array_equal(other.solution_.support, expected.solution_.support)
    np.testing.assert_array_equal(other.scores_, expected.scores_)
    kept = other.transform(make(X))
    kept = kept.toarray() if sp.issparse(kept) else kept
    np.testing.assert_array_equal(kept, X.to_numpy()[:, expected.support_])


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas])
def test_mixed_frames_of_other_libraries_give_the_same_selection(mixed, make):
    X, y = mixed
    np.testing.assert_array_equal(
        SelectBestK(k=6).fit(make(X), y).solution_.support,
        SelectBestK(k=6).fit(X, y).solution_.support,
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_types_where_set_output_asks_for_them(mixed, library):
    X, y = mixed
    X = X if library == "pandas" else pl.from_pandas(X)
    kept = SelectBestK(k=5).set_output(transform=library).fit(X, y).transform(X)
    assert set(kept.columns) == TELLING
    for name in kept.columns:
        assert kept[name].dtype == X[name].dtype


def test_a_single_feature_is_named_in_the_singular(cancer):
    X, y = cancer
    with pytest.warns(UserWarning, match="k=2 is more than the 1 feature to select from"):
        SelectBestK(2).fit(X[X.columns[:1]], y)


def test_columns_of_several_kinds_keep_them_in_a_frame_of_another_library():
    row = np.arange(100)
    frame = pd.DataFrame({"age": row / 3, "n": row % 7, "b": row % 2 > 0, "sex": [*"mf"] * 50})
    frame["day"] = pd.date_range("2020-01-01", periods=100)
    selector = SelectBestK(k=5).fit(frame, row % 2)
    schema = selector.set_output(transform="polars").transform(frame).schema
    assert list(schema.values())[:4] == [pl.Float64, pl.Int64, pl.Boolean, pl.String]
    assert schema["day"].is_temporal()
    back = selector.set_output(transform="pandas").transform(pl.from_pandas(frame))
    assert [dtype.kind for dtype in back.dtypes] == [dtype.kind for dtype in frame.dtypes]
    sparse = frame.assign(n=pd.arrays.SparseArray(frame["n"]))  # polars has no such type
    assert selector.set_output(transform="polars").transform(sparse)["n"].to_list()[:2] == [0, 1]


def test_only_the_selected_columns_of_an_arrow_table_are_converted(cancer):
    X, y = cancer
    table = pa.Table.from_pandas(X.iloc[:, 20:23])
    table = table.append_column("day", pa.array(np.arange(len(y)), pa.int32()).cast(pa.date32()))
    assert SelectBestK(1).fit_transform(table, y).dtype == np.float64
    everything = SelectBestK(4).fit_transform(table, y)
    assert everything[1, 3] == date(1970, 1, 2)
    assert everything[:, 0].tolist() == X.iloc[:, 20].tolist()


@pytest.mark.parametrize("index", ["uint8", "uint32", "int8"])
def test_categories_of_arrow_may_have_any_type_of_codes(index, cancer):
    _, y = cancer
    words = pa.array(np.where(y > 0, "a", "b")).dictionary_encode()
    column = words.cast(pa.dictionary(pa.type_for_alias(index), pa.string()))
    table = pa.table({"noise": np.arange(len(y)) % 7, "word": column})
    assert SelectBestK(1).fit(table, y).get_feature_names_out().tolist() == ["word"]


def test_dates_are_selected_where_they_tell(mixed):
    X, y = mixed
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(
        30 * (y == y[0]) + np.arange(len(y)) % 9, "D"
    )
    selector = SelectBestK(1).fit(X.assign(when=when), y)
    assert selector.get_feature_names_out().tolist() == ["when"]


def test_infinite_values_are_refused_by_the_name_of_their_column(cancer):
    X, y = cancer
    X = X.copy()
    X.loc[3, "mean area"] = np.inf
    with pytest.raises(ValueError, match="column 'mean area' has 1 infinite value"):
        SelectBestK().fit(X, y)


def test_k_may_be_a_share_of_the_features(cancer):
    X, y = cancer
    assert SelectBestK(k=0.2).fit(X, y).solution_.k == 6
    assert SelectBestK(k=1.0).fit(X, y).solution_.k == 30
    assert SelectBestK(k=1e-9).fit(X, y).solution_.k == 1


def test_more_features_than_there_are_select_all_with_a_warning(cancer):
    X, y = cancer
    with pytest.warns(UserWarning, match="k=31 is more than the 30 features"):
        assert SelectBestK(k=31).fit(X, y).support_.all()
    with pytest.warns(UserWarning, match="k=31 is more than the 30 features") as caught:
        assert select(X, y, k=31).k == 30
    assert caught[0].filename == __file__


@pytest.mark.parametrize("k", [0, -1, 1.5, 0.0, "five", None])
def test_other_k_are_refused(cancer, k):
    with pytest.raises(ValueError, match="The 'k' parameter of SelectBestK must be"):
        SelectBestK(k=k).fit(*cancer)


@pytest.mark.parametrize("method", METHODS)
def test_features_can_be_forced_in_and_kept_out(cancer, method):
    X, y = cancer
    free = SelectBestK(k=5, method=method, time_limit=0.2, random_state=0).fit(X, y)
    out = X.columns[free.solution_.support[:2]].tolist()
    first, second = np.flatnonzero(~free.support_)[:2]
    selector = SelectBestK(
        k=5, method=method, include=[X.columns[first], second], exclude=out, time_limit=0.2
    ).fit(X, y)
    chosen = selector.solution_.support
    assert {first, second} <= set(chosen)
    assert not set(out) & set(selector.get_feature_names_out())
    assert len(set(chosen)) == 5
    assert np.isnan(selector.scores_[free.solution_.support[:2]]).all()


def test_what_is_forced_in_and_kept_out_is_checked(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="both included and excluded"):
        SelectBestK(include=["mean area"], exclude=[3]).fit(X, y)
    with pytest.raises(ValueError, match="did you mean 'mean area'"):
        SelectBestK(include=["mean aera"]).fit(X, y)
    with pytest.raises(ValueError, match="less than the 3 features to include"):
        SelectBestK(k=2, include=[0, 1, 2]).fit(X, y)
    with pytest.raises(ValueError, match="every column is excluded"):
        SelectBestK(exclude=np.ones(30, bool)).fit(X, y)


def test_the_order_of_selection_and_what_each_feature_says_are_kept(cancer):
    X, y = cancer
    selector = SelectBestK(k=4, method="tpower").fit(X, y)
    solution = selector.solution_
    np.testing.assert_array_equal(selector.ranking_[solution.support], [1, 2, 3, 4])
    assert (selector.ranking_[~selector.support_] == 5).all()
    frame = solution.to_frame()
    np.testing.assert_allclose(frame.relevance, selector.scores_[solution.support])
    assert frame.contribution.sum() == pytest.approx(solution.objective, rel=1e-12)
    pairs = solution.details["pairs"] + np.diag([np.inf] * 4)
    np.testing.assert_allclose(frame.new_information, pairs.min(axis=0))


@given(
    st.lists(st.integers(0, 3), min_size=60, max_size=60).filter(
        lambda w: sum(w[:30]) * sum(w[30:])
    )
)
def test_information_of_whole_weights_is_that_of_repeated_rows(weights):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 6)), np.repeat([0, 1], 30)
    weighted = SelectBestK(k=3, method="jmi", discretizer=None).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    repeated = SelectBestK(k=3, method="jmi", discretizer=None).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-9)
    np.testing.assert_array_equal(weighted.ranking_, repeated.ranking_)


def test_weights_are_routed_through_a_pipeline(mixed):
    X, y = mixed
    weights = np.arange(len(y)) % 3
    with config_context(enable_metadata_routing=True):
        selector = SelectBestK(k=3).set_fit_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        numbers = X[["age", "visits", "noise 1", "noise 2"]].fillna(0)
        pipe = make_pipeline(selector, model).fit(numbers, y, sample_weight=weights)
    alone = SelectBestK(k=3).fit(numbers, y, sample_weight=weights)
    np.testing.assert_array_equal(pipe[0].scores_, alone.scores_)


def test_a_grid_over_methods_and_k_in_a_pipeline(cancer):
    X, y = cancer
    pipe = Pipeline([("scale", StandardScaler()), ("select", SelectBestK()),
                     ("model", LogisticRegression())])  # fmt: skip
    grid = {
        "select__method": ["tpower", "jmi", Quadratic("mrmr", "forward"), Greedy("cmim")],
        "select__k": [2, 0.3],
    }
    search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9


def test_a_column_transformer_selects_from_some_columns(mixed):
    X, y = mixed
    numbers = make_column_selector(dtype_include="number")
    parts = make_column_transformer((SelectBestK(k=2, method="tpower"), numbers), remainder="drop")
    parts.set_output(transform="pandas")
    kept = parts.fit(X, y).transform(X)
    assert set(kept.columns) == {"selectbestk__age", "selectbestk__visits"}


def test_pickles_clones_and_inverse_transforms(cancer):
    X, y = cancer
    selector = SelectBestK(k=3, method=Quadratic("mrmr", "search"), discretizer=MDLP()).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    assert clone(selector).get_params()["method"] == Quadratic("mrmr", "search")
    back = selector.inverse_transform(selector.transform(X))
    np.testing.assert_array_equal(back[:, selector.support_], X.to_numpy()[:, selector.support_])
    assert not back[:, ~selector.support_].any()


def test_regression_targets_are_cut_for_counting_and_taken_as_they_are_by_other_estimates(mixed):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    for options in ({}, {"information": "discrete"}, {"information": "gaussian"}):
        options |= {"k": 3, "method": "mrmr"} if options else {"k": 3}
        selector = SelectBestK(target="continuous", **options).fit(X, y)
        assert {"bmi", "s5"} & set(selector.get_feature_names_out())
        shifted = SelectBestK(**options).fit(X, y + 0.5)
        np.testing.assert_array_equal(shifted.scores_, selector.scores_)


def test_a_target_that_is_different_in_every_row_is_refused(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match=r"569 different values in 569 rows, such as .row 0., so"):
        SelectBestK().fit(X, [f"row {i}" for i in range(len(y))])


def test_numbers_can_be_named_as_categories(mixed):
    X, y = mixed
    as_number = SelectBestK(k=3).fit(X, y)
    as_category = SelectBestK(k=3, categorical_features=["visits"]).fit(X, y)
    by_hand = SelectBestK(k=3).fit(X.assign(visits=X.visits.astype(str)), y)
    np.testing.assert_array_equal(as_category.scores_, by_hand.scores_)
    assert (as_category.scores_ != as_number.scores_).sum() == 1


def test_the_same_seed_gives_the_same_answer(cancer):
    X, y = cancer
    first, second = (SelectBestK(k=8, method="lowrank", random_state=3).fit(X, y) for _ in "ab")
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    state = [SelectBestK(k=8, method="search", random_state=np.random.RandomState(0)).fit(X, y)
             for _ in "ab"]  # fmt: skip
    np.testing.assert_array_equal(state[0].ranking_, state[1].ranking_)


def test_the_target_is_parsed_once(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    parsed, read = [], frames._read_source
    monkeypatch.setattr(
        frames, "_read_source", lambda source, names: parsed.append(names) or read(source, names)
    )
    SelectBestK(5).fit(X, y)
    assert parsed.count(["y"]) == 1


def test_a_warning_on_k_points_to_the_line_that_called():
    X, y = np.eye(12)[:, :3] + np.arange(12)[:, None] % 5, np.arange(12) % 2
    with pytest.warns(UserWarning, match="all are selected") as found:
        SelectBestK(9).fit(X, y)
    assert {each.filename for each in found if "all are" in str(each.message)} == {__file__}
