"""Tables in plain form, and the same tables in every container that is read."""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

from bestk.tables.frames import read_table

NUMBERS, DISCRETE = ("codes", "numbers"), ("codes", "truths", "words")
WORDS = ["a", "b", "", " ", "A", "ä", "nan", "None", "0", "1.5", "日本", "a\x00", "x" * 40]
EXTREMES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 5e-324, 1e-300, 2.0**53, 1 / 3]


@dataclass(frozen=True)
class Plain:
    """Columns of Python values, ``None`` where one is missing."""

    columns: tuple[tuple[Any, ...], ...]
    kinds: tuple[str, ...]

    @property
    def m(self):
        return len(self.columns[0])

    @property
    def n(self):
        return len(self.columns)

    @property
    def gaps(self):
        return any(value is None for column in self.columns for value in column)

    def has_only(self, *kinds):
        return set(self.kinds) <= set(kinds)

    @property
    def rows(self):
        return [list(row) for row in zip(*self.columns, strict=True)]

    @property
    def objects(self):
        """The form that all others are compared with."""
        array = np.empty((self.m, self.n), dtype=object)
        for j, column in enumerate(self.columns):
            array[:, j] = column
        return array

    @property
    def named(self):
        return {f"c{j}": list(column) for j, column in enumerate(self.columns)}

    def numbers(self, dtype=float):
        filled = [[np.nan if v is None else v for v in column] for column in self.columns]
        return np.array(filled, dtype=dtype).T


@st.composite
def column(draw, kind, m, gaps):
    """Values of one kind, few of them different so that they tell something."""
    values = {
        "codes": st.sampled_from(range(draw(st.sampled_from([1, 2, 3, 300])))),
        "numbers": st.sampled_from(EXTREMES) | st.floats(-10, 10, width=32),
        "truths": st.booleans(),
        "words": st.sampled_from(WORDS),
    }[kind]
    values = st.none() | values if gaps else values
    return tuple(draw(st.lists(values, min_size=m, max_size=m)))


@st.composite
def plains(draw, kinds=("codes", "numbers", "truths", "words"), min_rows=1, max_rows=12, max_n=4):
    """A table of one to four columns of any of some kinds, with or without gaps."""
    m, n = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, max_n))
    chosen = tuple(draw(st.sampled_from(kinds)) for _ in range(n))
    return Plain(tuple(draw(column(kind, m, draw(st.booleans()))) for kind in chosen), chosen)


@st.composite
def classes(draw, m):
    """Two classes or more, where there are rows for them."""
    most = draw(st.integers(2, 3))
    y = [*range(min(m, most)), *draw(st.lists(st.integers(0, most - 1), min_size=m, max_size=m))]
    return np.array(draw(st.permutations(y[:m])))


def _strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _mapped(X):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, X)
        file.flush()
        return np.load(file.name, mmap_mode="r")


def _duplicated(X):
    """A COO matrix in which every value comes in two parts."""
    rows, columns = np.indices(X.shape).reshape(2, -1)
    values = np.concatenate([X.ravel(), np.zeros_like(X).ravel()])
    places = (np.tile(rows, 2), np.tile(columns, 2))
    return sparse.coo_array((values, places), shape=X.shape)


LAYOUTS: dict[str, Callable] = {
    "F order": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _read_only,
    "mapped": _mapped,
    "matrix": lambda X: _matrix(X),
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "unaligned": lambda X: _unaligned(X),
    "masked, nothing": np.ma.masked_array,
}
SPARSE: dict[str, Callable] = {
    f"{kind}_{form}": getattr(sparse, f"{kind}_{form}")
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    for form in ("array", "matrix")
} | {"duplicates": _duplicated, "explicit zeros": lambda X: _full(X)}


def _matrix(X):
    with warnings.catch_warnings(action="ignore"):
        return np.asmatrix(X)


def _unaligned(X):
    raw = np.zeros(X.nbytes + 1, np.uint8)
    view = raw[1:].view(X.dtype).reshape(X.shape)
    view[...] = X
    return view


def _full(X):
    rows, columns = np.indices(X.shape).reshape(2, -1)
    return sparse.csr_array((X.ravel(), (rows, columns)), shape=X.shape)


TYPES = {"codes": pl.Int64, "numbers": pl.Float64, "truths": pl.Boolean, "words": pl.String}


def to_polars(plain, words=pl.String):
    schema = {f"c{j}": words if kind == "words" else TYPES[kind]
              for j, kind in enumerate(plain.kinds)}  # fmt: skip
    return pl.DataFrame(plain.named, schema=schema)


def to_arrow(plain):
    types = {"codes": pa.int64(), "numbers": pa.float64(), "truths": pa.bool_(),
             "words": pa.string()}  # fmt: skip
    arrays = [
        pa.array(column, types[k]) for column, k in zip(plain.columns, plain.kinds, strict=True)
    ]
    return pa.table(arrays, names=list(plain.named))


def _dictionaries(table):
    for j, field in enumerate(table.schema):
        if field.type == pa.string():
            table = table.set_column(j, field.name, table.column(j).dictionary_encode())
    return table


def _chunked(plain):
    table = to_arrow(plain)
    half = table.num_rows // 2
    return pa.concat_tables([table.slice(0, half), table.slice(half)])


def to_pandas(plain, name=lambda j: f"c{j}", index=None):
    pairs = enumerate(zip(plain.columns, plain.kinds, strict=True))
    data = {j: pd.Series(column, dtype=PANDAS[kind]) for j, (column, kind) in pairs}
    frame = pd.DataFrame(data)
    frame.columns = [name(j) for j in range(plain.n)]
    return frame if index is None else frame.set_axis(index(plain.m), axis=0)


PANDAS = {"codes": "Int64", "numbers": "Float64", "truths": "boolean", "words": "string"}


def _categories(plain, ordered=False):
    frame = to_pandas(plain)
    for name, kind in zip(frame.columns, plain.kinds, strict=True):
        if kind == "words":
            type_ = pd.CategoricalDtype([*WORDS[::-1], "unused"], ordered=ordered)
            frame[name] = frame[name].astype(object).astype(type_)
    return frame


def _enums(plain):
    return to_polars(plain, pl.Enum([*WORDS[::-1], "unused"]))


FRAMES: dict[str, Callable] = {
    "table": lambda p: read_table(p.objects),
    "objects, F order": lambda p: np.asfortranarray(p.objects),
    "objects, strided": lambda p: _strided(p.objects),
    "pandas nullable": to_pandas,
    "pandas objects": lambda p: pd.DataFrame(p.objects),
    "pandas arrow": lambda p: to_pandas(p).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categories": _categories,
    "pandas ordered": lambda p: _categories(p, ordered=True),
    "pandas twins": lambda p: to_pandas(p, name=lambda j: "same"),
    "pandas numbered": lambda p: to_pandas(p, name=lambda j: j),
    "pandas tuples": lambda p: to_pandas(p, name=lambda j: ("top", j)),
    "pandas index": lambda p: to_pandas(p, index=lambda m: [7] * m),
    "polars": to_polars,
    "polars categories": lambda p: to_polars(p, pl.Categorical),
    "polars enums": _enums,
    "arrow": to_arrow,
    "arrow dictionaries": lambda p: _dictionaries(to_arrow(p)),
    "arrow chunked": _chunked,
}
