"""Whole numbers of 2**53 or more, which float64 cannot tell apart, are exact or refused."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bestk import SelectBestK
from bestk.data.codes import encode
from bestk.data.files import load, open_source
from bestk.data.table import read_table
from bestk.data.target import read_continuous_target, read_target
from bestk.data.written import parse_text

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 300)
A = 5 * Y + RNG.integers(0, 7, 300)  # depends on the class
B = RNG.integers(0, 9, 300)  # does not
OFFSETS = [2**53, 2**60 + 1, -(2**62), 2**63]
REFUSED = r"column '(a|x1)' holds whole numbers of 2\*\*53 or more, .*; exclude it"


def shifted(offset):
    return [offset + int(a) for a in A]


def frame_of(offset, dtype=None):
    return pd.DataFrame({"b": B, "a": pd.Series(shifted(offset), dtype=dtype)})


CONTAINERS = {
    "lists": lambda offset: [[int(b), a] for b, a in zip(B, shifted(offset), strict=True)],
    "lists with fractions": lambda offset: [
        [b / 2, a] for b, a in zip(B.tolist(), shifted(offset), strict=True)
    ],
    "numpy": lambda offset: np.column_stack([B.astype(object), shifted(offset)]),
    "pandas": frame_of,
    "nullable": lambda offset: frame_of(offset, "UInt64" if offset >= 2**63 else "Int64"),
    "objects": lambda offset: frame_of(offset, object),
    "polars": lambda offset: pl.from_pandas(frame_of(offset)),
    "arrow": lambda offset: pa.Table.from_pandas(frame_of(offset)),
    "decimals": lambda offset: pl.DataFrame({"b": B, "a": list(map(Decimal, shifted(offset)))}),
}


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_numeric_features_are_refused(container, offset):
    for options in ({}, {"information": "gaussian"}):
        with pytest.raises(ValueError, match=REFUSED):
            SelectBestK(2, "maxrel", **options).fit(CONTAINERS[container](offset), Y)


@pytest.mark.parametrize("offset", [2**53 - 6, 2**60 + 1, 2**63 + 1])
def test_codes_are_exact_whatever_the_offset(offset):
    wanted = encode(frame_of(0)).values
    for X in (frame_of(offset), frame_of(offset, object), CONTAINERS["lists"](offset)):
        np.testing.assert_array_equal(encode(X).values, wanted)


def test_up_to_the_limit_nothing_changes():
    X = np.column_stack([B, 2**53 - 1 - A])
    np.testing.assert_array_equal(read_table(X).numeric()[0], X.astype(float))
    assert SelectBestK(1, "maxrel").fit(X, Y).support_.tolist() == [False, True]


def test_genuine_floats_are_what_they_are():
    X = [[1e300 * a, float(b)] for a, b in zip(A, B, strict=True)]
    assert read_table(X).blocks[0].values.dtype == np.float64
    assert SelectBestK(1, "maxrel").fit(X, Y).support_.tolist() == [True, False]


def test_an_excluded_or_categorical_column_is_not_refused():
    frame = frame_of(2**62)
    assert SelectBestK(1, "maxrel", exclude=["a"]).fit(frame, Y).support_.tolist() == [True, False]
    found = SelectBestK(2, "maxrel", categorical_features=["a"]).fit(frame, Y)
    wanted = SelectBestK(2, "maxrel", categorical_features=["a"]).fit(frame_of(0), Y)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
@pytest.mark.parametrize("offset", OFFSETS)
def test_targets_in_memory_are_exact_classes_but_no_numbers(kind, offset):
    y = kind([offset + int(value) for value in Y])
    assert read_target(y, len(Y)).codes.tolist() == Y.tolist()
    with pytest.raises(ValueError, match="column 'y' holds whole numbers"):
        read_continuous_target(y, len(Y))


# files


def write(tmp_path, offset=0, suffix=".csv", gaps=False, spell=str):
    """A file of the columns b and a, and of a target y."""
    path = tmp_path / f"t{suffix}"
    a = [None if gaps and i % 9 == 0 else v for i, v in enumerate(shifted(offset))]
    if suffix == ".csv":
        rows = zip(B, ["" if v is None else spell(v) for v in a], Y, strict=True)
        path.write_text("b,a,y\n" + "".join(f"{b},{v},{c}\n" for b, v, c in rows))
        return path
    type_ = pa.uint64() if offset >= 2**63 else pa.int64()
    frame = pa.table({"b": B, "a": pa.array(a, type_), "y": Y}).to_pandas(types_mapper=nullable)
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    return path


def nullable(type_):
    return {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}.get(type_)


def column(loaded, name):
    place = list(loaded.table.names).index(name)
    (block,) = [b for b in loaded.table.blocks if place in b.columns]
    return block.values[:, list(block.columns).index(place)]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_files_that_store_integers_are_read_to_the_last_digit(tmp_path, offset, suffix):
    loaded = load(open_source(write(tmp_path, offset, suffix)), "y")
    assert column(loaded, "a").tolist() == shifted(offset)
    assert column(loaded, "b").tolist() == B.tolist()


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_integers_with_gaps_are_refused(tmp_path, suffix):
    large = load(open_source(write(tmp_path, 2**62, suffix, gaps=True)), "y")
    with pytest.raises(ValueError, match=REFUSED):
        large.table.numeric()
    loaded = load(open_source(write(tmp_path, 2**53 - 40, suffix, gaps=True)), "y")
    wanted = [np.nan if i % 9 == 0 else v for i, v in enumerate(shifted(2**53 - 40))]
    np.testing.assert_array_equal(column(loaded, "a"), wanted)


@pytest.mark.parametrize("offset", [2**53, 2**60 + 1, -(2**62)])
def test_integers_in_text_files_are_read_as_text(tmp_path, offset):
    source = open_source(write(tmp_path, offset, gaps=True))
    loaded = load(source, "y")
    table = parse_text(loaded.table)
    assert table.kinds.tolist() == ["numeric", "string"]
    assert loaded.notes[0].startswith("column 'a' is read as text, because it holds '")
    values = [None if i % 9 == 0 else str(v) for i, v in enumerate(shifted(offset))]
    np.testing.assert_array_equal(encode(table).values[1], encode([[v] for v in values]).values[0])
    assert load(source, "a").y.tolist() == [v for v in values if v is not None]


def test_large_floats_in_text_stay_floats_without_a_note(tmp_path):
    loaded = load(open_source(write(tmp_path, spell=lambda v: f"{v}e20")), "y")
    np.testing.assert_array_equal(column(loaded, "a"), [float(f"{v}e20") for v in A.tolist()])
    assert loaded.notes == ()


def test_decimals_in_a_file_are_refused(tmp_path):
    frame = pd.DataFrame({"b": B, "a": list(map(Decimal, shifted(2**60))), "y": Y})
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match=REFUSED):
        load(open_source(tmp_path / "d.parquet"), "y").table.numeric()
    with pytest.raises(ValueError, match=REFUSED):
        load(open_source(tmp_path / "d.parquet"), "a")


# blocks


def test_blocks_of_text_files_are_read_as_text(tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.data.files._text.BLOCK", 900)
    found = SelectBestK(2, "maxrel").fit(write(tmp_path, 2**62), "y")
    text = pd.DataFrame({"b": B, "a": list(map(str, shifted(2**62)))})
    np.testing.assert_allclose(found.scores_, SelectBestK(2, "maxrel").fit(text, Y).scores_)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("gaps", [False, True])
def test_blocks_of_files_are_refused(tmp_path, suffix, gaps):
    path = write(tmp_path, 2**62, suffix, gaps)
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").fit(path, "y")
    found = SelectBestK(1, "maxrel", exclude=["a"]).fit(path, "y")
    assert found.support_.tolist() == [True, False]


def test_blocks_in_memory_are_refused():
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").fit([(frame_of(2**62), Y), (frame_of(0), Y)], None)
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").partial_fit(frame_of(2**62), Y)


def test_parts_of_dask_are_refused():
    array = pytest.importorskip("dask.array")
    X = np.column_stack([B, 2**62 + A])
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").fit(array.from_array(X, chunks=(30, 2)), Y)
