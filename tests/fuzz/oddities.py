"""Things that are no table, no target, no number of features: all that people pass by mistake."""

import datetime
import decimal
import fractions
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

NAN, INF = float("nan"), float("inf")
TIME = datetime.datetime(2020, 1, 1)

# made anew each time, so that a call cannot spoil it for the next
TABLES = {
    "none": lambda: None,
    "number": lambda: 3,
    "nan": lambda: NAN,
    "empty list": lambda: [],
    "empty rows": lambda: [[], []],
    "ragged": lambda: [[1, 2], [3]],
    "ragged deep": lambda: [[1, [2]], [3, 4]],
    "vector": lambda: [1, 2, 3, 4],
    "cube": lambda: np.zeros((2, 2, 2)),
    "scalar array": lambda: np.array(1.0),
    "no rows": lambda: np.zeros((0, 3)),
    "no columns": lambda: np.zeros((3, 0)),
    "nothing": lambda: np.zeros((0, 0)),
    "one row": lambda: np.array([[1.0, 2.0]]),
    "dict": lambda: {"a": [1, 2], "b": [3, 4]},
    "set": lambda: {1, 2, 3},
    "frozenset rows": lambda: [frozenset([1]), frozenset([2])],
    "complex": lambda: np.ones((4, 2), complex),
    "dates": lambda: np.zeros((4, 2), "M8[s]"),
    "spans": lambda: np.zeros((4, 2), "m8[s]"),
    "records": lambda: np.zeros((4, 2), [("a", int), ("b", float)]),
    "record array": lambda: np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)]),
    "void": lambda: np.zeros((4, 2), "V4"),
    "bytes": lambda: np.array([[b"a", b"b"], [b"c", b"d"], [b"a", b"d"], [b"c", b"b"]]),
    "strings T": lambda: np.array([["a", "b"]] * 4, np.dtypes.StringDType()),
    "objects": lambda: np.array([[{}, 1]] * 4, object),
    "functions": lambda: np.array([[len, 1]] * 4, object),
    "decimals": lambda: [[decimal.Decimal("1.5")], [decimal.Decimal("2")]] * 2,
    "fractions": lambda: [[fractions.Fraction(1, 3)]] * 4,
    "times": lambda: [[TIME], [TIME], [TIME], [TIME]],
    "arrays inside": lambda: np.array([[np.zeros(2)], [np.zeros(3)]], object),
    "lists inside": lambda: pd.DataFrame({"a": [[1], [2], [3], [4]]}),
    "huge whole": lambda: [[10**400], [1], [2], [3]],
    "large whole": lambda: np.array([[2**64 - 1], [2**63], [0], [1]], np.uint64),
    "both ends": lambda: [[2**63], [-(2**63)], [0], [1]],
    "lowest with gap": lambda: [[-(2**63)], [None], [0], [1]],
    "infinite": lambda: np.array([[INF], [-INF], [0.0], [1.0]]),
    "one infinite": lambda: np.array([[INF], [2.0], [0.0], [1.0]]),
    "all missing": lambda: np.full((4, 2), NAN),
    "missing kinds": lambda: [[None, NAN], [pd.NA, 1.0], [NAN, pd.NA], [1.0, None]],
    "half": lambda: np.array([[65504], [6e-8], [0], [1]], np.float16),
    "long": lambda: np.array([["1e4000"], ["1"], ["2"], ["3"]]).astype(np.longdouble),
    "negative": lambda: np.array([[-1, 0], [-5, 1], [0, 1], [3, 0]]),
    "fractional": lambda: np.array([[0.5, 1.0], [1.5, 2.0], [0.0, 1.0], [2.0, 0.0]]),
    "mixed": lambda: [[1, "a"], ["b", 2], [3, 4], ["c", "d"]],
    "number and truth": lambda: np.array([[1], [True], [0.5], [False]], object),
    "surrogate": lambda: [["\ud800"], ["a"], ["b"], ["a"]],
    "text": lambda: "no-such-file.csv",
    "text without suffix": lambda: "table",
    "path": lambda: Path("no-such-file.parquet"),
    "folder": lambda: Path("."),
    "generator": lambda: (row for row in [[1, 2], [3, 4]]),
    "range": lambda: range(4),
    "function": lambda: lambda: 1,
    "type": lambda: int,
    "series": lambda: pd.Series([1, 2, 3, 4]),
    "polars series": lambda: pl.Series([1, 2, 3, 4]),
    "lazy": lambda: pl.LazyFrame({"a": [1, 2, 3, 4]}),
    "polars list": lambda: pl.DataFrame({"a": [[1], [2], [3], [4]]}),
    "polars struct": lambda: pl.DataFrame({"a": [{"b": 1}] * 4}),
    "polars objects": lambda: pl.DataFrame({"a": pl.Series([{}, 1, 2, 3], dtype=pl.Object)}),
    "polars binary": lambda: pl.DataFrame({"a": [b"a", b"b", b"a", b"b"]}),
    "polars null": lambda: pl.DataFrame({"a": [None] * 4}),
    "polars decimal": lambda: pl.DataFrame({"a": [decimal.Decimal("1.5"), None] * 2}),
    "polars empty": lambda: pl.DataFrame(),
    "polars no rows": lambda: pl.DataFrame(schema={"a": pl.Int8, "b": pl.String}),
    "arrow empty": lambda: pa.table({}),
    "arrow lists": lambda: pa.table({"a": [[1], [2], [3], [4]]}),
    "arrow times": lambda: pa.table({"a": [TIME] * 4}),
    "arrow halves": lambda: pa.table({"a": pa.array(np.arange(4, dtype=np.float16))}),
    "arrow view": lambda: pa.table({"a": pa.array(list("abca"), pa.string_view())}),
    "arrow large": lambda: pa.table({"a": pa.array(list("abca"), pa.large_string())}),
    "arrow null": lambda: pa.table({"a": pa.nulls(4), "b": [1, 2, 3, 4]}),
    "arrow numbers by code": lambda: pa.table({"a": pa.array([3, 1, 3, None]).dictionary_encode()}),
    "arrow array": lambda: pa.array([1, 2, 3, 4]),
    "arrow batch": lambda: pa.record_batch({"a": [1, 2, 3, 4]}),
    "pandas empty": lambda: pd.DataFrame(),
    "pandas no rows": lambda: pd.DataFrame({"a": pd.Series(dtype=float)}),
    "pandas no columns": lambda: pd.DataFrame(index=range(4)),
    "pandas periods": lambda: pd.DataFrame({"a": pd.period_range("2020", periods=4, freq="D")}),
    "pandas intervals": lambda: pd.DataFrame({"a": pd.interval_range(0, 4)}),
    "pandas times": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=4, tz="UTC")}),
    "pandas sparse": lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 0.0, 1.0, NAN])}),
    "pandas sparse truths": lambda: pd.DataFrame({"a": pd.arrays.SparseArray([True, False] * 2)}),
    "pandas complex": lambda: pd.DataFrame({"a": np.ones(4, complex)}),
    "pandas categories of dates": lambda: pd.DataFrame({"a": pd.Categorical([TIME, None] * 2)}),
    "pandas mixed categories": lambda: pd.DataFrame({"a": pd.Categorical([1, "a", 1, "a"])}),
    "pandas no categories": lambda: pd.DataFrame({"a": pd.Categorical([None] * 4)}),
    "pandas nullable": lambda: pd.DataFrame({"a": pd.array([1, None, 3, 2**60], "Int64")}),
    "pandas nan in nullable": lambda: pd.DataFrame(
        {"a": pd.array([1.5, NAN, None, 2.0], "Float64")}
    ),
    "pandas index": lambda: pd.Index([1, 2, 3, 4]),
    "pandas levels": lambda: pd.DataFrame(
        np.eye(4), columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]])
    ),
    "sparse vector": lambda: sparse.coo_array(np.array([1.0, 0, 2, 0])),
    "sparse objects": lambda: _sparse_objects(),
    "sparse complex": lambda: sparse.csr_array(np.ones((4, 2), complex)),
    "sparse truths": lambda: sparse.csr_array(np.eye(4, dtype=bool)),
    "sparse empty": lambda: sparse.csr_array((0, 3)),
    "sparse whole": lambda: sparse.csc_matrix(np.eye(4, dtype=np.uint64)),
    "sparse infinite": lambda: sparse.csr_array(np.array([[INF], [0.0], [0.0], [1.0]])),
    "memory view": lambda: memoryview(np.eye(4)),
    "bytes string": lambda: b"abcd",
}


def _sparse_objects():
    eye = sparse.csr_array(np.eye(4))
    eye.data = eye.data.astype(object)
    return eye


TARGETS = {
    **{name: TABLES[name] for name in (
        "none", "number", "nan", "empty list", "ragged", "dict", "set", "text", "generator",
        "function", "lazy", "polars empty", "pandas empty", "arrow empty", "range", "bytes string",
        "cube", "scalar array", "huge whole", "mixed", "infinite", "all missing", "long",
        "large whole", "both ends", "surrogate", "times", "decimals", "objects", "sparse vector",
        "arrow batch", "polars series", "pandas index",
    )},
    "classes": lambda: [0, 1, 0, 1],
    "floats": lambda: np.array([0.0, 1.0, 0.0, 1.0]),
    "zeros": lambda: np.array([0.0, -0.0, 1.0, 1.0]),
    "fractions": lambda: [0.5, 1.5, 2.25, 3.0],
    "words": lambda: ["a", "b", "a", "b"],
    "truths": lambda: [True, False, True, False],
    "truths and numbers": lambda: [True, 0, 2, False],
    "one class": lambda: [1, 1, 1, 1],
    "all different": lambda: [1, 2, 3, 4],
    "lone": lambda: [0, 0, 0, 1],
    "gap": lambda: [0, 1, None, 1],
    "nan beside": lambda: [0.0, 1.0, NAN, 1.0],
    "na": lambda: pd.array([0, 1, None, 1], "Int64"),
    "short": lambda: [0, 1, 0],
    "long list": lambda: [0, 1, 0, 1, 0],
    "column": lambda: np.array([[0], [1], [0], [1]]),
    "row": lambda: np.array([[0, 1, 0, 1]]),
    "two columns": lambda: np.eye(4)[:, :2],
    "frame": lambda: pd.DataFrame({"y": [0, 1, 0, 1]}),
    "arrow chunks": lambda: pa.chunked_array([[0, 1], [0, 1]]),
    "categories": lambda: pd.Series(["a", "b", "a", "b"], dtype="category"),
    "enum": lambda: pl.Series(["a", "b", "a", "b"], dtype=pl.Enum(["b", "a", "c"])),
    "masked": lambda: np.ma.masked_array([0, 1, 0, 1], [False, False, True, False]),
    "sparse": lambda: sparse.csr_matrix([[0], [1], [0], [1]]),
    "tuples": lambda: [(0, 1), (1, 0), (0, 1), (1, 0)],
    "complex": lambda: np.array([1j, 0, 1j, 0]),
    "bytes": lambda: np.array([b"a", b"b", b"a", b"b"]),
    "halves": lambda: np.array([0, 1, 0, 1], np.float16),
    "big-endian": lambda: np.array([0, 1, 0, 1], ">i4"),
    "huge": lambda: np.array([1e308, -1e308, 1e308, -1e308]),
    "huge fractions": lambda: np.array([1e308, -1e308, 0.5, 5e-324]),
    "tiny": lambda: np.array([5e-324, 0, 5e-324, 0]),
}  # fmt: skip

SCALARS = [
    None, True, False, 0, 1, 2, 3, -1, 10**9, 10**400, 0.0, 0.5, 1.0, 1.5, -0.5, NAN, INF, -INF,
    "", "auto", "two", "5", b"5", 1j, [], [2], (1, 2), {}, {1}, np.int8(2), np.float32(0.5),
    np.bool_(True), np.array(2), np.array([2]), np.array("x"), decimal.Decimal("0.5"),
    fractions.Fraction(1, 2), pd.NaT, TIME, object, len, np.random.RandomState(0),
    np.random.default_rng(0), Ellipsis, slice(None), 2**64, np.uint64(2**63), np.nan,
]  # fmt: skip


def odd_tables():
    return st.sampled_from(sorted(TABLES))


def odd_targets():
    return st.sampled_from(sorted(TARGETS))


def odd_scalars():
    """One of many values that an option might be given, most of them wrong."""
    return st.sampled_from(SCALARS)
