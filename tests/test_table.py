"""What a table is, whatever it came in."""

import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from bestk.tables.frames import named_frame, read_column, read_table
from bestk.tables.table import find_constant

ROWS = [[1.5, "red", True], [None, "blue", False], [2.0, None, True]]


def test_a_list_of_rows_has_a_kind_and_a_name_for_each_column():
    table = read_table(ROWS)
    assert (table.n_samples, table.n_features) == (3, 3)
    assert list(table.kinds) == ["numeric", "string", "boolean"]
    assert list(table.names) == ["x0", "x1", "x2"]
    assert list(table.count_missing()) == [1, 1, 0]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(ROWS, columns=["a", "b", "c"]),
        pd.DataFrame(ROWS, columns=["a", "b", "c"]).astype({"b": object, "c": object}),
        pd.DataFrame(ROWS, columns=["a", "b", "c"]).convert_dtypes(),
        pl.DataFrame(ROWS, schema=["a", "b", "c"], orient="row"),
        pa.table({"a": [1.5, None, 2.0], "b": ["red", "blue", None], "c": [True, False, True]}),
    ],
)
def test_every_frame_gives_the_same_kinds_names_and_missing_values(frame):
    table = read_table(frame)
    assert list(table.kinds) == ["numeric", "string", "boolean"]
    assert list(table.names) == ["a", "b", "c"]
    assert list(table.count_missing()) == [1, 1, 0]


def test_integers_and_booleans_with_gaps_keep_their_kind():
    columns = {"i": [1, None, 3], "b": [True, None, False], "f": [0.5, None, 1.0]}
    nullable = pd.DataFrame(columns).convert_dtypes()
    arrow = nullable.astype({"i": "int64[pyarrow]", "b": "bool[pyarrow]", "f": "float[pyarrow]"})
    for frame in (nullable, arrow, pl.DataFrame(columns), pa.table(columns)):
        table = read_table(frame)
        assert list(table.kinds) == ["numeric", "boolean", "numeric"]
        values, places = table.numeric()
        assert list(places) == [0, 1, 2]
        np.testing.assert_array_equal(values, [[1, 1, 0.5], [np.nan] * 3, [3, 0, 1]])


def test_categories_are_sorted_and_only_those_that_occur():
    column = pd.Categorical(["b", None, "a"], categories=["c", "b", "z", "a"], ordered=True)
    (block,) = read_table(pd.DataFrame({"a": column})).blocks
    assert block.kind == "categorical"
    assert block.categories == [["a", "b"]]
    np.testing.assert_array_equal(block.values[:, 0], [1, -1, 0])


def test_categories_may_be_numbers_or_intervals():
    frame = pd.DataFrame({"n": pd.Categorical([3, -1, 3]), "i": pd.cut([1.0, 5.0, 9.0], 3)})
    table = read_table(frame)
    assert list(table.kinds) == ["categorical", "categorical"]
    np.testing.assert_array_equal(table.blocks[0].values, [[1, 0], [0, 1], [1, 2]])


def test_enums_dictionaries_decimals_and_empty_columns_are_read():
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
            "decimal": pl.Series(["1.5", "2"]).cast(pl.Decimal(10, 2)),
            "long": pl.Series([1, 2], dtype=pl.Int128),
            "null": [None, None],
        }
    )
    table = read_table(frame)
    assert list(table.kinds) == ["categorical", "numeric", "numeric", "numeric"]
    assert list(table.count_missing()) == [0, 0, 0, 2]
    dictionary = pa.table({"d": pa.array(["b", None, "a"]).dictionary_encode()})
    assert read_table(dictionary).blocks[0].categories == [["a", "b"]]


def test_column_names_may_be_repeated_or_no_strings():
    frame = pd.DataFrame([[1, "a", 2.5]], columns=["same", "same", 3])
    table = read_table(frame)
    assert table.names == ["same", "same", "3"]
    assert list(table.kinds) == ["numeric", "string", "numeric"]
    assert list(frame.columns) == ["same", "same", 3]
    arrow = pa.Table.from_arrays([pa.array([1]), pa.array(["a"])], names=["same", "same"])
    assert list(read_table(arrow).kinds) == ["numeric", "string"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", ">i4", "i8", "f2", "f4", ">f8"])
def test_an_array_is_never_copied_even_if_read_only(dtype, order):
    X = np.ones((4, 3), dtype=dtype, order=order)
    X.flags.writeable = False
    (block,) = read_table(X).blocks
    assert np.shares_memory(block.values, X)


def test_a_memory_map_is_read_in_place(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((4, 3)))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(read_table(X).numeric()[0], X)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix])
def test_a_sparse_table_stays_sparse(make):
    X = np.array([[0, 2.0], [0, 0], [1, np.nan]])
    table = read_table(make(X))
    assert sp.issparse(table.blocks[0].values)
    assert list(table.count_missing()) == [0, 1]
    np.testing.assert_array_equal(table.numeric()[0], X)


def test_numeric_leaves_strings_out_and_keeps_float32():
    frame = pd.DataFrame({"s": ["a", "b"], "f": np.float32([0.5, 1]), "b": [True, False]})
    values, places = read_table(frame).numeric()
    assert values.dtype == np.float32
    assert list(places) == [1, 2]
    np.testing.assert_array_equal(values, [[0.5, 1], [1, 0]])


def test_numeric_refuses_infinite_values():
    with pytest.raises(ValueError, match=r"column 'x1' has 2 infinite values; replace"):
        read_table([[1.0, np.inf], [2.0, -np.inf]]).numeric()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", None, float("nan"), pd.NA], "string"),
        ([b"a", b"b", None, None], "string"),
        ([True, None, False, np.True_], "boolean"),
        ([1, 2.5, None, np.int8(3)], "numeric"),
        ([None, None, float("nan"), pd.NA], "numeric"),
    ],
)
def test_a_column_of_objects_is_what_its_values_are(values, kind):
    X = np.array(values, dtype=object).reshape(-1, 1)
    table = read_table(X)
    assert list(table.kinds) == [kind]
    assert table.count_missing()[0] == sum(bool(pd.isna(value)) for value in values)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([1, 2, 3], r"shape \(3,\).*X.reshape\(-1, 1\) .*one column"),
        (pd.Series([1, 2]), r"shape \(2,\).*X.reshape\(-1, 1\)"),
        ({"a": [1, 2]}, "got a dict; give an array, a frame or a list of rows"),
        (None, "got a NoneType; give an array"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.zeros((0, 3)), "empty: it has 0 rows and 3 columns"),
        (np.zeros((3, 0)), "empty: it has 3 rows and 0 columns"),
        (pd.DataFrame({"a": []}), "empty: it has 0 rows and 1 columns"),
        ([[1, 2], [3]], "rows have different lengths"),
        ([[1, "a"], ["b", "c"]], "column 'x0' mixes int and str values"),
        ([[1, "a"], [True, "c"]], "column 'x0' mixes bool and int values"),
        (pd.DataFrame({"odd": [1, "a"]}), "column 'odd' mixes int and str values"),
        (pd.DataFrame({"odd": pd.Categorical([1, "a"])}), "column 'odd' mixes int and str"),
        (np.array([[{}, 1]], dtype=object), "column 'x0' holds dict values.*convert it or drop"),
        (np.array([[2**70], [1]], dtype=object), r"column 'x0' holds whole numbers of 2\*\*53"),
        (pl.DataFrame({"id": [2**60, None]}), r"column 'id' holds whole numbers of 2\*\*53"),
        ([[2**60], [None]], r"column 'x0' holds whole numbers of 2\*\*53.*as strings"),
        (np.zeros((2, 2), dtype=complex), "holds complex128"),
        (np.zeros((2, 2), dtype=[("a", int)]), "convert it or drop"),
        (pl.DataFrame({"many": [[1], [2]]}), "column 'many' holds List"),
        (pl.DataFrame({"deep": [{"a": 1}]}), "column 'deep' holds Struct"),
        (pl.LazyFrame({"a": [1]}), r"lazy frame.*X.collect\(\)"),
    ],
)
def test_a_bad_table_is_refused_with_what_came_and_what_to_do(X, says):
    with pytest.raises(ValueError, match=says):
        read_table(X)


def test_a_table_is_read_once():
    table = read_table([[1]])
    assert read_table(table) is table


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array([["b"], ["a"], ["b"]]),
        pd.Series(["b", "a", "b"], index=[5, 5, 7], name=("odd", "name")),
        pd.DataFrame({"class": ["b", "a", "b"]}),
        pl.Series(["b", "a", "b"]),
        pa.chunked_array([["b"], ["a", "b"]]),
        pa.array(["b", "a", "b"]),
    ],
)
def test_a_column_comes_in_any_container(y):
    block = read_column(y)
    assert block.categories == [["a", "b"]]
    assert block.values[:, 0].tolist() == [1, 0, 1]


def test_a_sparse_column_is_read_as_a_dense_one():
    assert read_column(sp.csr_matrix([[1], [0], [2]])).values.tolist() == [[1], [0], [2]]


def test_importing_the_table_imports_no_frame_library():
    heavy = ["narwhals", "pandas", "polars", "pyarrow", "scipy", "sklearn"]
    program = f"import sys, bestk.tables.codes; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


MOMENTS = [datetime(1970, 1, 2, 12), None, datetime(2024, 2, 29)]
DAYS = [1.5, np.nan, 19782.0]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"when": pd.to_datetime(MOMENTS)}),
        pd.DataFrame({"when": pd.to_datetime(MOMENTS).tz_localize("UTC").tz_convert("Asia/Tokyo")}),
        pd.DataFrame({"when": pd.Series(MOMENTS, dtype=object)}),
        pl.DataFrame({"when": MOMENTS}),
        pa.table({"when": MOMENTS}),
        np.array(MOMENTS, "M8[s]")[:, None],
        [[moment] for moment in MOMENTS],
        [[moment and moment.replace(tzinfo=UTC)] for moment in MOMENTS],
    ],
    ids=["pandas", "zones", "objects", "polars", "arrow", "numpy", "rows", "aware"],
)
def test_dates_are_days_since_1970_and_may_be_missing(X):
    table = read_table(X)
    assert table.kinds.tolist() == ["numeric"]
    np.testing.assert_array_equal(table.numeric()[0][:, 0], DAYS)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_days_durations_and_times_of_day_are_numbers_of_days(make):
    columns = {
        "day": [date(1970, 1, 3), None],
        "took": [timedelta(hours=36), None],
        "at": [time(6), None],
    }
    values, places = read_table(make(columns)).numeric()
    np.testing.assert_array_equal(values[:, np.argsort(places)][0], [2.0, 1.5, 0.25])
    assert np.isnan(values[1]).all()


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csc_array, pd.DataFrame])
def test_constant_columns_are_found_wherever_they_vary_last(make):
    X = np.zeros((100, 6))
    X[-1, 0], X[:, 1], X[:, 2], X[:50, 3], X[:, 5] = 1, 7, np.nan, np.nan, np.arange(100)
    assert find_constant(read_table(make(X))).tolist() == [1, 2, 4]


def test_columns_may_have_the_names_of_attributes_of_other_frames():
    names = ["num_rows", "column_names", "columns", "collect", "num_rows2"]
    frame = pd.DataFrame(np.arange(10.0).reshape(2, 5), columns=names)
    assert list(read_table(frame).names) == names
    assert named_frame(frame) is frame
    assert read_column(pd.Series([1, 2], index=["columns", "b"])).values.tolist() == [[1], [2]]


def test_pandas_columns_of_each_kind_are_read_in_their_places():
    frame = pd.DataFrame({
        "text": ["b", None, "a"], "x": [1.5, 2.5, np.nan], "mixed": [True, False, None],
        "when": pd.to_datetime(["1970-01-02", None, "1970-01-03"]), "n": [1, 2, 3],
        "level": pd.Categorical(["u", "v", "u"]), "gap": pd.array([1, None, 3], "Int64"),
        "word": pd.array(["q", None, "p"], "string"),
    })  # fmt: skip
    table = read_table(frame)
    assert table.kinds.tolist() == ["string", "numeric", "boolean", "numeric", "numeric",
                                    "categorical", "numeric", "string"]  # fmt: skip
    assert table.count_missing().tolist() == [1, 1, 1, 1, 0, 0, 1, 1]
    by_place = {int(j): block.values[:, i].tolist()
                for block in table.blocks for i, j in enumerate(block.columns)}  # fmt: skip
    assert (by_place[0], by_place[4], by_place[5]) == ([1, -1, 0], [1, 2, 3], [0, 1, 0])
    assert (by_place[7], by_place[3][0], by_place[6][2]) == ([1, -1, 0], 1.0, 3.0)
