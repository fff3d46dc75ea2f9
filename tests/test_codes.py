"""Codes are dense, ordered, and the same whatever the table came in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bestk.native.threads import threads
from bestk.tables.codes import Codes, encode
from bestk.tables.target import read_classes, read_numbers

nan = np.nan


def slow_codes(X):
    """Codes and levels of each column by np.unique, missing last."""
    rows, levels = [], []
    for column in np.asarray(X, dtype=float).T:
        seen, ranks = np.unique(column, return_inverse=True, equal_nan=True)
        rows.append(ranks)
        levels.append(len(seen))
    return np.array(rows), np.array(levels)


def same(one, other):
    assert one.values.dtype == other.values.dtype
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.levels, other.levels)


def whole_tables(largest=300):
    shapes = st.tuples(st.integers(1, 150), st.integers(1, 40))
    numbers = st.integers(0, largest) | st.sampled_from([70_000, 10**12])
    values = numbers.map(float) | st.just(nan)
    return hnp.arrays(np.float64, shapes, elements=values, fill=st.sampled_from([0.0, 1.0]))


def test_levels_are_numbered_in_order_and_missing_comes_last():
    codes = encode([[7, "red", True, nan], [3, "blue", False, nan], [7, None, True, nan]])
    assert codes.values.dtype == np.uint8
    assert codes.values.tolist() == [[1, 0, 1], [1, 0, 2], [1, 0, 1], [0, 0, 0]]
    assert codes.levels.tolist() == [2, 3, 2, 1]
    assert list(codes.names) == ["x0", "x1", "x2", "x3"]
    assert (codes.n_features, codes.n_samples) == (4, 3)


@given(whole_tables())
def test_encode_equals_its_slow_twin(X):
    codes = encode(X)
    values, levels = slow_codes(X)
    np.testing.assert_array_equal(codes.values, values)
    np.testing.assert_array_equal(codes.levels, levels)
    assert codes.values.flags.c_contiguous


@given(whole_tables(largest=100), st.randoms())
def test_permuting_rows_and_columns_permutes_the_codes(X, random):
    rows = np.array(random.sample(range(X.shape[0]), X.shape[0]))
    columns = np.array(random.sample(range(X.shape[1]), X.shape[1]))
    codes, permuted = encode(X), encode(X[rows][:, columns])
    np.testing.assert_array_equal(permuted.values, codes.values[columns][:, rows])
    np.testing.assert_array_equal(permuted.levels, codes.levels[columns])


@given(whole_tables(), st.integers(1, 4))
def test_a_discrete_table_encodes_to_itself_on_any_number_of_threads(X, n_threads):
    codes = encode(X)
    with threads(n_threads):
        same(encode(codes.values.T), codes)


DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">i2", ">f8"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_layout_gives_the_same_codes(dtype):
    X = np.random.default_rng(0).integers(0, 2 if dtype == "?" else 100, (200, 150))
    codes = encode(X)
    wide = np.zeros((400, 300), dtype)
    wide[::2, ::2] = X
    packed = np.zeros(200, dtype=[("pad", "u1"), ("row", dtype, 150)])
    packed["row"] = X
    C, F = np.array(X, dtype, order="C"), np.array(X, dtype, order="F")
    for table in (C, F, C[::-1][::-1], wide[::2, ::2], packed["row"]):
        table.flags.writeable = False
        same(encode(table), codes)
    same(encode(C[::-1, ::-1]), encode(X[::-1, ::-1]))


def texts():
    return st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3)


@st.composite
def named_columns(draw):
    m = draw(st.integers(1, 20))
    column = (
        st.lists(st.none() | st.integers(0, 10**6), min_size=m, max_size=m)
        | st.lists(st.none() | st.booleans(), min_size=m, max_size=m)
        | st.lists(texts(), min_size=m, max_size=m)
    )
    columns = draw(st.lists(column, min_size=1, max_size=5))
    return {f"c{i}": values for i, values in enumerate(columns)}


@given(named_columns())
def test_every_container_gives_the_same_codes(columns):
    names = list(columns)
    objects = np.array(list(columns.values()), dtype=object).T
    codes = encode(objects)
    polars = pl.DataFrame(columns)
    tables = [
        objects.tolist(),
        pd.DataFrame(columns),
        pd.DataFrame(columns, dtype=object),
        pd.DataFrame(columns).convert_dtypes(),
        pd.DataFrame(columns, dtype=object).astype("category"),
        polars,
        polars.to_arrow(),
        pa.table(columns),
    ]
    for table in tables:
        same(encode(table), codes)
    assert list(encode(polars).names) == names


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.dok_array])
def test_a_sparse_table_has_the_codes_of_the_dense_one(make):
    X = np.random.default_rng(0).integers(0, 4, (50, 90)) % 3
    for dtype in (bool, np.int8, np.int64, np.float32):
        same(encode(make(X.astype(dtype))), encode(X.astype(dtype)))


def test_a_sparse_table_is_encoded_in_strips(monkeypatch):
    shape = (2**16, 200)
    places = np.random.default_rng(0).integers(0, np.c_[list(shape)], (2, 13_000))
    X = sp.csc_array((np.ones(13_000), tuple(places)), shape)
    X.data[:] = 3
    widths = []
    toarray = type(X).toarray
    monkeypatch.setattr(
        type(X), "toarray", lambda s, **kw: widths.append(s.shape[1]) or toarray(s, **kw)
    )
    codes = encode(X)
    assert max(widths) < 200
    np.testing.assert_array_equal(codes.values.sum(axis=1), np.diff(X.indptr))


def test_two_hundred_and_fifty_six_levels_fit_a_byte_and_one_more_does_not():
    X = np.column_stack([np.arange(257) % 3, np.minimum(np.arange(257), 255)])
    assert encode(X).values.dtype == np.uint8
    X[-1, 1] = 256
    codes = encode(X)
    assert codes.values.dtype == np.uint16
    np.testing.assert_array_equal(codes.values, X.T)
    strings = encode(np.char.zfill(X.astype(str), 3))
    same(strings, codes)


def test_a_missing_value_is_a_level_that_counts():
    X = np.arange(257.0).reshape(-1, 1)
    X[256] = nan
    codes = encode(X)
    assert codes.values.dtype == np.uint16
    assert codes.values[0, 256] == 256


@pytest.mark.parametrize("spread", [1, 2, 10**6])
def test_thirty_two_thousand_levels_are_the_most(spread):
    X = (np.arange(2**15) * spread).reshape(-1, 1)
    np.testing.assert_array_equal(encode(X).values[0], np.arange(2**15))
    X = (np.arange(2**15 + 1) * spread).reshape(-1, 1)
    with pytest.raises(ValueError, match=r"'x0' has 32769 levels, more than 32768;.*CAIM\(\)"):
        encode(X)
    with pytest.raises(ValueError, match="'x0' has 32769 levels"):
        encode(X.astype(str))


def test_unsigned_integers_beyond_int64_are_codes_too():
    X = np.array([[2**64 - 1], [2**63], [2**64 - 1]], dtype=np.uint64)
    assert encode(X).values.tolist() == [[1, 0, 1]]


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([[0, 0.5], [1, 2.0]], r"'x1' is not discrete: it holds 0.5;.*CAIM\(\).fit_transform"),
        ([[0, 0.5], [1, 2.0]], "or use information='gaussian'"),
        ([[-0.5], [nan]], "'x0' is not discrete: it holds -0.5"),
        ([[1, nan], [2, np.inf]], "'x1' has 1 infinite value; replace"),
        (np.array([[1], [np.inf]], "f2"), "'x0' has 1 infinite value"),
        ([[0, 3], [1, -2]], "'x1' has negative codes, down to -2; shift them to start at 0"),
        ([[0.0, -1.0], [1.0, nan]], "'x1' has negative codes, down to -1.0;.*as strings"),
        (np.array([[-1]], "i1"), "'x0' has negative codes"),
        (sp.csr_matrix([[0, -1]]), "'x1' has negative codes"),
        (pd.DataFrame({"odd": ["a", 1]}), "'odd' mixes int and str values"),
        (np.zeros((0, 2)), "empty: it has 0 rows and 2 columns"),
        (np.zeros((2, 0)), "empty: it has 2 rows and 0 columns"),
    ],
)
def test_a_table_that_is_not_discrete_is_refused_with_what_to_do(X, says):
    with pytest.raises(ValueError, match=says):
        encode(X)


@pytest.mark.parametrize(
    ("values", "levels", "names", "says"),
    [
        (np.zeros((1, 2), int), np.ones(1, int), ["a"], "not int64 of shape"),
        (np.zeros(2, np.uint8), np.ones(1, int), ["a"], r"shape \(2,\)"),
        (np.zeros((2, 1), np.uint8, order="F").repeat(2, 1).T, np.ones(2, int), "ab", "ascont"),
        (np.zeros((1, 2), np.uint8), np.ones(2, int), ["a"], r"levels must be.*\(1,\)"),
        (np.zeros((1, 2), np.uint8), np.ones(1, int), ["a", "b"], "as many names"),
    ],
)
def test_codes_check_their_shape(values, levels, names, says):
    with pytest.raises(ValueError, match=says):
        Codes(values, levels, names)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3, 1, 3], [1, 3]),
        ([1, -1, 1], [-1, 1]),
        ([2.0, 1.0, 2.0], [1.0, 2.0]),
        ([True, False, True], [False, True]),
        (["yes", "no", "yes"], ["no", "yes"]),
        (np.array([["yes"], ["no"], ["yes"]]), ["no", "yes"]),
        (pd.Series(["yes", "no", "yes"], dtype="category"), ["no", "yes"]),
        (pd.Series([3, 1, 3], dtype="Int64"), [1, 3]),
        (pd.Series(pd.Categorical([3, 1, 3], categories=[7, 3, 1])), [1, 3]),
        (pl.Series(["yes", "no", "yes"], dtype=pl.Categorical), ["no", "yes"]),
        (pa.chunked_array([[True, False, True]]), [False, True]),
    ],
)
def test_a_target_is_codes_classes_and_counts(y, classes):
    target = read_classes(y, 3)
    assert target.codes.dtype == np.int64
    assert target.codes.tolist() == [1, 0, 1]
    assert target.labels.tolist() == classes
    assert target.counts.tolist() == [1, 2]
    assert target.n_classes == 2


def test_as_many_classes_as_samples_are_allowed():
    assert read_classes(np.arange(5), 5).n_classes == 5


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([0, 1], "y has 2 values but X has 4 rows"),
        ([0, 1, nan, nan], r"y has 2 missing values \(NaN or None\); drop such rows"),
        (["a", None, "b", "b"], "y has 1 missing value"),
        (pl.Series([1, None, 2, 2]), "y has 1 missing value"),
        ([1, 1, 1, 1], "y has one class only, 1; at least two"),
        (["a"] * 4, "y has one class only, a"),
        ([0.5, 1, 2, 3], "y is not discrete: it holds 0.5.*target='continuous' or a regr"),
        ([1, np.inf, 2, 2], "y has 1 infinite value"),
        (["a", 1, 2, 3], "column 'y' mixes int and str"),
        (np.zeros((4, 2)), r"y should be a 1d array.*got shape \(4, 2\)"),
        (None, "y should be a 1d array.*got None"),
        ("diagnosis", "y should be a 1d array.*got 'diagnosis'"),
    ],
)
def test_a_bad_target_is_refused_with_what_to_do(y, says):
    with pytest.raises(ValueError, match=says):
        read_classes(y, 4)


def test_an_empty_target_is_refused():
    with pytest.raises(ValueError, match="y is empty"):
        read_classes([], 0)


def test_a_continuous_target_is_float64():
    for y in ([1, 2.5, 3], np.float32([[1], [2.5], [3]]), pd.Series([1, 2.5, 3], dtype="Float64")):
        values = read_numbers(y, 3)
        assert values.dtype == np.float64
        assert values.tolist() == [1, 2.5, 3]


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([0.5, 1], "y has 2 values but X has 3 rows"),
        ([0.5, nan, 1], "y has 1 missing value"),
        ([0.5, -np.inf, 1], "y has 1 infinite value"),
        (["a", "b", "c"], "y holds string values such as 'a'; give it as numbers"),
    ],
)
def test_a_bad_continuous_target_is_refused(y, says):
    with pytest.raises(ValueError, match=says):
        read_numbers(y, 3)
