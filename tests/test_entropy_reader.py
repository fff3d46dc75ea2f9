"""From any table and target to entropies: the same as from codes made by hand."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import KBinsDiscretizer

from bestk import CAIM, EqualFrequency, select
from bestk.discretize import DISCRETIZERS
from bestk.information import Entropies, GaussianSource, ScoredTable
from bestk.information.entropy_reader import EntropyReader
from bestk.tables.codes import encode
from bestk.tables.frames import read_table
from bestk.tables.table import find_features
from bestk.tables.target import (
    NumericTarget,
    cut_target,
    is_continuous,
    note_on_target,
    parse_target,
    read_classes,
)

nan = float("nan")
COLUMNS = {
    "colour": ["red", "blue", "red", None, "blue", "red", "blue", "blue"],
    "size": ["s", "m", "l", "s", "m", "l", "s", "m"],
    "old": [True, False, True, True, False, False, True, False],
    "rank": [3, 1, 2, 4, 11, 14, 12, 13],
    "weight": [0.1, 0.2, 0.3, None, 0.8, 0.9, None, 0.7],
    "same": [7.5] * 8,
}
Y = ["no"] * 4 + ["yes"] * 4
# each kind of column as a person would number it: CAIM cuts rank and weight once, by class
CODES = np.array(
    [
        [1, 0, 1, 2, 0, 1, 0, 0],
        [2, 1, 0, 2, 1, 0, 2, 1],
        [1, 0, 1, 1, 0, 0, 1, 0],
        [0, 0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 2, 1, 1, 2, 1],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ]
).T
LEVELS = [3, 3, 2, 2, 3, 1]
FRAME = pd.DataFrame(COLUMNS)
ROWS = [list(row) for row in zip(*COLUMNS.values(), strict=True)]


def read(X, y=None, **options):
    return EntropyReader(**options).measure(read_table(X), Y if y is None else y)


def count(codes, y, correction=None):
    return Entropies.count(encode(codes), read_classes(y, len(y)), correction=correction)


def same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.mi(), other.mi())
    np.testing.assert_array_equal(one.joint_mi(), other.joint_mi())


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.astype({"size": "category", "colour": "category"}),
        FRAME.astype({"rank": "int8", "weight": "float32", "colour": object, "old": object}),
        FRAME.convert_dtypes(),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("size").cast(pl.Categorical)),
        pa.table(COLUMNS),
        ROWS,
        np.array(ROWS, dtype=object),
    ],
    ids=["pandas", "categories", "dtypes", "nullable", "polars", "categorical", "arrow", "rows",
         "objects"],
)  # fmt: skip
@pytest.mark.parametrize("y", [Y, pd.Series(Y), pl.Series(Y), np.array(Y), [0] * 4 + [1] * 4])
def test_every_table_has_the_entropies_of_codes_made_by_hand(table, y):
    found = read(table, y)
    same(found.entropies, count(CODES, Y))
    assert found.levels.tolist() == LEVELS
    assert found.discretizer.n_features_in_ == 3


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_a_sparse_table_has_the_entropies_of_the_dense_one(make):
    rng = np.random.default_rng(0)
    X, y = np.maximum(rng.normal(size=(60, 12)), 0), rng.integers(0, 3, 60)
    for information in ("discrete", "gaussian", "blend"):
        dense, sparse = (read(table, y, information=information) for table in (X, make(X)))
        same(sparse.entropies, dense.entropies)


@pytest.mark.parametrize("name", DISCRETIZERS)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_numbers_are_discretised_and_counted_wherever_they_stand(name, seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(12, 60))
    X, y = np.round(4 * rng.normal(size=(m, 4))) / 4, np.arange(m) % 3
    X[:, 1] *= 4
    X[rng.random(m) < 0.2, 2] = nan
    words = rng.integers(0, 3, m)
    codes = DISCRETIZERS[name]().fit_transform(X, y)
    frame = pd.DataFrame(
        {
            "a": X[:, 0].astype("float32"),
            "b": X[:, 1].astype(int),
            "word": np.array(["x", "y", "z"])[words],
            "c": X[:, 2],
            "d": X[:, 3],
        }
    )
    by_hand = np.column_stack([codes[:, :2], words, codes[:, 2:]])
    found = read(frame, y, discretizer=name)
    same(found.entropies, count(by_hand, y))
    assert found.discretizer.n_features_in_ == 4
    assert len(found.discretizer.cut_points_) == 4


@pytest.mark.parametrize("correction", ["chance", "miller-madow"])
def test_corrections_reach_the_entropies(correction):
    found = read(FRAME, correction=correction)
    same(found.entropies, count(CODES, Y, correction))
    assert found.entropies.signed


def test_codes_are_taken_as_they_are_without_a_discretiser():
    found = read(CODES * 3 + 1, discretizer=None)
    same(found.entropies, count(CODES, Y))
    assert found.discretizer is None
    with pytest.raises(ValueError, match=r"column 'weight' is not discrete: it holds 0\.1"):
        read(FRAME, discretizer=None)


def test_a_table_without_numbers_needs_no_discretiser():
    found = read(FRAME[["colour", "old"]])
    assert found.discretizer is None
    same(found.entropies, count(CODES[:, [0, 2]], Y))


def test_a_discretiser_of_ones_own_is_copied_and_fitted():
    own = CAIM(max_bins=2)
    found = read(FRAME, discretizer=own)
    assert not hasattr(own, "cut_points_")
    assert found.discretizer.max_bins == 2
    by_thirds = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    X = np.array(COLUMNS["rank"]).reshape(-1, 1)
    same(read(X, discretizer=by_thirds).entropies, count(by_thirds.fit_transform(X), Y))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_asked_of_all_transformers_change_nothing(kind):
    y = np.linspace(0.1, 0.9, 8)
    before = read(FRAME), read(FRAME, y)
    with sklearn.config_context(transform_output=kind):
        after = read(FRAME), read(FRAME, y)
    for one, other in zip(after, before, strict=True):
        same(one.entropies, other.entropies)


@pytest.mark.parametrize(
    "features",
    [
        "rank",
        ["rank"],
        3,
        np.int64(3),
        -3,
        [3],
        np.array([3]),
        (np.int8(3),),
        [False, False, False, True, False, False],
        np.arange(6) == 3,
        pd.Index(["rank"]),
        pl.Series([False, False, False, True, False, False]),
        ["rank", "colour", 3],
    ],
    ids=repr,
)
def test_numbers_that_are_codes_are_named_by_name_index_or_mask(features):
    found = read(FRAME, categorical_features=features)
    assert found.levels.tolist() == [3, 3, 2, 8, 3, 1]
    assert found.discretizer.n_features_in_ == 2


@pytest.mark.parametrize("features", ["from_dtype", None, [], np.zeros(6, bool)], ids=repr)
def test_naming_none_leaves_the_types_to_say(features):
    assert read(FRAME, categorical_features=features).levels.tolist() == LEVELS


def test_unnamed_columns_have_numbers_for_names():
    assert find_features(["x1", -1], read_table(np.zeros((2, 4)))).tolist() == [1, 3]


def test_gaussian_information_takes_numbers_as_they_are():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[3, 1] = nan
    X[:, 2] = np.round(X[:, 2])
    frame = pd.DataFrame(X, columns=list("abc")).astype({"c": int, "a": "float32"})
    source = GaussianSource(ScoredTable(frame.to_numpy(), read_classes(y, 40)))
    found = read(frame, y, information="gaussian")
    np.testing.assert_allclose(found.entropies.mi(), Entropies(*source.singles, source).mi())
    assert not found.entropies.is_discrete
    assert found.discretizer is found.levels is None


def test_a_continuous_target_is_cut_into_five_classes_of_equal_frequency():
    y = np.array([0.5, 1.25, 2.5, 3.5, 10.5, 4.5, 7.5, 6.5, 9.5, 8.5])
    fifths = [0, 0, 1, 1, 4, 2, 3, 2, 4, 3]
    X = np.random.default_rng(0).integers(0, 3, (10, 4))
    for target in ("auto", "continuous"):
        found = read(X, y, target=target, discretizer=None)
        assert parse_target(y, 10, target).classes.codes.tolist() == fifths
        same(found.entropies, count(X, fifths))
    whole = read(X, (4 * y).astype(int), target="continuous", discretizer=None)
    same(whole.entropies, count(X, fifths))


def test_a_frequent_number_takes_the_classes_that_it_fills():
    rest = np.arange(1, 41)
    for y, counts in (
        (np.append(np.zeros(360), rest), [360, 40]),
        (np.append(np.zeros(360), -rest), [40, 360]),
        (np.append(np.zeros(200), rest), [200, 40]),
        (np.append(np.zeros(80), rest), [80, 16, 24]),
    ):
        target = parse_target(y, len(y), "continuous").classes
        assert target.counts.tolist() == counts
        assert (np.diff(target.codes[np.argsort(y, kind="stable")]) >= 0).all()


@given(st.lists(st.integers(0, 200), min_size=40, max_size=80), st.integers(2, 5))
def test_numbers_without_a_frequent_one_are_cut_at_their_quantiles(numbers, n_bins):
    y = np.array(numbers, np.float64)
    different, counts = np.unique(y, return_counts=True)
    assume(len(different) > n_bins and counts.max() <= len(y) / n_bins)
    ranks = np.ceil(np.arange(1, n_bins) * len(y) / n_bins).astype(int)
    expected = np.searchsorted(np.sort(y)[ranks - 1], y)
    np.testing.assert_array_equal(cut_target(y, n_bins), expected)


def test_gaussian_information_takes_a_continuous_target_as_it_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X[:, 1] + 0.5 * rng.normal(size=50)
    source = GaussianSource(ScoredTable(X, NumericTarget(y)))
    found = read(X, y, information="gaussian")
    same(found.entropies, Entropies(*source.singles, source))
    assert found.entropies.mi().argmax() == 1
    target = parse_target(np.arange(50), 50, "continuous")
    np.testing.assert_array_equal(target.values, np.arange(50.0))


def test_whole_numbers_are_classes_unless_told_otherwise():
    y = np.array([0.0, 2.0, 7.0, 7.0, 0.0, 2.0, 2.0, 2.0])
    assert parse_target(y, 8).classes.labels.tolist() == [0, 2, 7]


LONG = pd.DataFrame(np.arange(40.0).reshape(20, 2), columns=["a", "b"])


@pytest.mark.parametrize("information", ["discrete", "gaussian", "blend"])
@pytest.mark.parametrize(
    ("y", "options", "says"),
    [
        (range(20), {}, r"20 different values in 20 rows, so.*identifier.*'continuous'"),
        ([f"id{i}" for i in range(20)], {}, "in 20 rows, such as 'id0',.*convert it to numbers"),
        ([1] * 20, {}, "y has one class only, 1; at least two are needed"),
        (["a"] * 20, {}, "y has one class only, a"),
        ([0, 1], {}, "y has 2 values but X has 20 rows; give one value for each row"),
        ([0.5, 1.5], {}, "y has 2 values but X has 20 rows"),
        ([0, 1] * 9 + [0, nan], {}, "y has 1 missing value.*drop such rows"),
        ([0.5, 1] * 9 + [0, np.inf], {}, "y has 1 infinite value"),
        ([0.5, 1.5] * 10, {"target": "classes"}, "y is not discrete: it holds 0.5"),
        (["a", "b"] * 10, {"target": "continuous"}, "y holds string values such as 'a'"),
        (["1.5", "b"] * 10, {"target": "continuous"}, "y holds string values such as 'b'"),
        ([0, 1] * 10, {"target": "number"}, "unknown target 'number'; choose one of 'auto'"),
        ([0, 1] * 10, {"correction": "none"}, "unknown correction 'none'; choose one of None"),
        ([0, 1] * 10, {"categorical_features": "c"}, "the table has no column 'c'; choose"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_to_do(information, y, options, says):
    with pytest.raises(ValueError, match=says):
        read(LONG, y, information=information, **options)


@pytest.mark.parametrize("information", ["discrete", "gaussian", "blend"])
def test_a_constant_number_to_predict_is_refused(information):
    with pytest.raises(ValueError, match=r"y is constant, 0\.5; .*at least two different"):
        read(LONG, [0.5] * 20, information=information)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64"])
def test_missing_values_of_a_pandas_array_are_counted_as_those_of_a_series(dtype):
    y = pd.Series([None, 1, 0], dtype=dtype)
    for values in (y, y.array):
        with pytest.raises(ValueError, match="y has 1 missing value "):
            read_classes(values, 3)


@pytest.mark.parametrize("make", [pd.Series, pd.DataFrame, pl.Series, np.asarray])
def test_a_target_of_dates_is_not_called_whole_numbers(make):
    days = pd.date_range("2020-01-01", periods=300)
    assert note_on_target("auto", make(days)).startswith("y holds 300 different dates in 300 rows")
    assert "whole numbers" in note_on_target("auto", np.arange(300))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"discretizer": "camel"}, "unknown discretizer 'camel'; did you mean 'caim'"),
        ({"backend": "abacus"}, "unknown backend 'abacus'"),
        ({"categorical_features": ["wieght"]}, "no column 'wieght'; did you mean 'weight'?"),
        ({"categorical_features": ["zzz"]}, "no column 'zzz'; choose one of 'colour', 'size'"),
        ({"categorical_features": [6]}, "there is no column 6 of 6; choose one from 0 to 5"),
        ({"categorical_features": [-7]}, "there is no column -7 of 6; choose one"),
        ({"categorical_features": [1.5]}, "given by its name or its index, not by 1.5"),
        ({"categorical_features": [True, False]}, "it has 2 values and the table has 6 columns"),
        ({"information": "gaussian"}, "'colour' is string, and information='gaussian' is for num"),
    ],
)
def test_bad_options_are_refused_with_the_choices(options, says):
    with pytest.raises(ValueError, match=says):
        read(FRAME, **options)


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        (["weight", "old"], {}, "column 'old' is boolean.*exclude it, encode it as numbers"),
        (["weight", "rank"], {"categorical_features": [1]}, "column 'rank' is categorical"),
    ],
)
def test_gaussian_information_names_the_column_that_is_no_number(columns, options, says):
    with pytest.raises(ValueError, match=says):
        read(FRAME[columns], information="gaussian", **options)


@pytest.mark.parametrize("correction", ["chance", "miller-madow"])
def test_gaussian_information_has_no_correction(correction):
    with pytest.raises(ValueError, match="corrects counts"):
        read(FRAME[["weight"]], information="gaussian", correction=correction)


def test_a_name_that_several_columns_have_is_refused():
    twins = pd.DataFrame(np.zeros((4, 3)), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="there are several columns 'a'; give the index"):
        find_features(["a"], read_table(twins))
    assert find_features(["b", 2], read_table(twins)).tolist() == [1, 2]


@pytest.mark.parametrize("information", ["discrete", "gaussian"])
@pytest.mark.parametrize(
    "make",
    [
        lambda X: X,
        lambda X: pd.DataFrame({"one": [3, 4, 5, 6], "x1": X[:, 1]}),
        lambda X: pl.DataFrame({"one": [3, 4, 5, 6], "x1": X[:, 1]}),
        lambda X: sp.csr_matrix(X),
        lambda X: X.tolist(),
    ],
    ids=["array", "pandas", "polars", "sparse", "rows"],
)
def test_infinite_values_are_refused_by_the_name_of_their_column(information, make):
    X = np.array([[0.5, 1], [1.5, np.inf], [2.5, -np.inf], [3.5, 2]])
    with pytest.raises(ValueError, match="column 'x1' has 2 infinite values; replace or drop"):
        read(make(X), [0, 0, 1, 1], information=information)


def test_infinite_codes_are_refused_by_the_name_of_their_column():
    X = np.array([[1.0], [np.inf]] * 4)
    with pytest.raises(ValueError, match="column 'x0' has 4 infinite values"):
        read(X, categorical_features=[0])


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.assign(day=pd.date_range("2024-01-01", periods=8)),
        pl.DataFrame(COLUMNS).with_columns(day=pl.lit(datetime.date(2024, 1, 1))),
        pa.table({**COLUMNS, "day": [datetime.date(2024, 1, 1)] * 8}),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_dates_are_numbers_to_be_cut(frame):
    found = read(frame)
    assert found.discretizer.n_features_in_ == 4


def test_few_different_numbers_to_predict_are_a_class_each():
    target = parse_target([0.25] * 3 + [0.5] * 17, 20, "continuous").classes
    assert target.counts.tolist() == [3, 17]


rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("y", "continuous"),
    [
        (np.repeat(np.arange(40), 10), False),  # faces
        (np.repeat(np.arange(1, 41), 2), False),
        (np.repeat(np.arange(40), 10).astype(float), False),
        (np.repeat(np.arange(200), 25), False),
        (np.repeat(np.arange(40), 10).astype(str), False),
        (np.arange(100).astype(str), False),
        (np.repeat(np.arange(5) * 7, 3), False),
        (np.repeat(np.arange(30) * 7, 50), False),
        (np.repeat([True, False], 50), False),
        (rng.integers(18, 90, 500), True),  # ages
        (rng.geometric(0.1, 3000) - 1, True),  # counts, of which the largest are rare
        (np.repeat(np.arange(9), [46, 10, 9, 11, 6, 6, 4, 2, 2]), False),  # by frequency
        (np.repeat(np.arange(31), (2 + 50 * np.hanning(31)).astype(int)), True),  # an exam score
        (np.repeat(np.arange(31), (2 + 50 * np.hanning(31)[::-1] ** 2).astype(int)), True),
        (np.repeat(np.arange(30), np.geomspace(500, 2, 30).astype(int)), False),  # by frequency
        (rng.integers(0, 865, 5000), True),
        (rng.integers(0, 865, 5000).astype(float), True),
        (rng.poisson(400, 2000) * 100, True),  # prices
        (np.arange(100), True),
        (np.arange(-128, 128).astype(np.int8), True),
        (np.arange(9, 9 + 200) + 2**60, True),
    ],
)
def test_whole_numbers_of_many_values_and_few_rows_each_are_a_quantity(y, continuous):
    assert is_continuous(y) is continuous
    assert is_continuous(y, "classes") is False


def test_what_a_target_is_taken_as_is_said_with_the_way_out():
    assert "taken as numbers to predict; pass target='classes'" in note_on_target(
        "auto", rng.integers(18, 90, 500)
    )
    assert "taken as classes; pass target='continuous'" in note_on_target(
        "auto", np.repeat(np.arange(40), 2)
    )
    assert "31 different whole numbers in 3100 rows, taken as classes" in note_on_target(
        "auto", np.repeat(np.arange(31), 100)
    )
    assert "y holds 12 different whole numbers in 133 rows, taken as classes" in note_on_target(
        "auto", np.repeat(np.arange(12), [*range(1, 23, 2), 12])
    )
    quiet = [("auto", [0, 1] * 9), ("auto", np.append(np.arange(10), 0)),
             ("auto", rng.normal(size=99)), ("classes", np.arange(99)),
             ("auto", [str(i % 9) for i in range(99)]), ("auto", [True, False])]  # fmt: skip
    assert [note_on_target(*each) for each in quiet] == [None] * 6


@pytest.mark.parametrize(
    ("counts", "doubted"),
    [
        ([90, 200, 110, 40, 12, 4, 1], True),  # visits
        ([46, 10, 9, 11, 6, 6, 4, 2, 2], True),  # or classes, sorted by frequency
        ([90, 200, 110, 40, 12, 30, 1], False),  # two modes
        ([90, 200, 110, 40, 12, 9, 5], False),  # enough rows of each for five folds
        ([200, 110, 40, 12, 1], False),
        ([9, 6, 3, 2, 1, 1], False),
    ],
)
def test_classes_with_the_frequencies_of_counts_are_doubted(counts, doubted):
    y = np.repeat(np.arange(len(counts)), counts)
    assert not is_continuous(y)
    note = f"y holds {len(counts)} different whole numbers in {len(y)} rows, taken as classes"
    assert (note in (note_on_target("auto", y) or "")) is doubted


def test_a_target_of_many_different_strings_is_doubted():
    prices = [f"${price:,}" for price in range(1000, 1100)]
    says = "y holds 100 different strings in 100 rows, such as '$1,000', taken as classes"
    assert says in note_on_target("auto", prices)
    assert note_on_target("classes", prices) is None
    assert note_on_target("auto", ["a", "b"] * 50) is None


def test_text_of_nearly_as_many_values_as_rows_has_no_classes():
    rng = np.random.default_rng(0)
    prices = [f"{price:.1f}" for price in rng.normal(size=392)] + ["unknown"] * 8
    says = r"different values in 400 rows, such as 'unknown', so it has no classes.*to numbers"
    with pytest.raises(ValueError, match=says):
        read(rng.normal(size=(400, 2)), [f"{i}.5" for i in range(392)] + ["unknown"] * 8)
    assert "such as 'unknown', taken as classes" in note_on_target("auto", prices)


def test_a_column_of_infinite_values_is_refused_like_one_of_some():
    for X in (np.full((20, 2), np.inf), pd.DataFrame({"a": range(20), "x1": -np.inf})):
        with pytest.raises(ValueError, match=r"column 'x[01]' has 20 infinite values"):
            select(X, np.arange(20) % 2, 1)


def test_the_parameters_of_a_discretizer_are_checked():
    with pytest.raises(ValueError, match="n_bins"):
        read(np.arange(40.0).reshape(20, 2), np.arange(20) % 2, discretizer=EqualFrequency(1))


def test_a_discretizer_with_its_own_fit_is_fitted_by_it():
    class Halves(EqualFrequency):
        def fit(self, X, y=None):
            super().fit(X, y)
            self.cut_points_ = [np.array([9.5])] * X.shape[1]
            return self

    found = read(np.arange(40.0).reshape(20, 2), np.arange(20) % 2, discretizer=Halves())
    assert [cuts.tolist() for cuts in found.discretizer.cut_points_] == [[9.5], [9.5]]
