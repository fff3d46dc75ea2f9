"""Whole numbers of 2**53 or more, which float64 cannot tell apart, are exact or refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bestk import SelectBestK
from bestk.tables.codes import encode
from bestk.tables.files import load
from bestk.tables.frames import read_features, read_table
from bestk.tables.sources import open_source
from bestk.tables.target import read_classes, read_numbers

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 300)
A = 5 * Y + RNG.integers(0, 7, 300)  # depends on the class
B = RNG.integers(0, 9, 300)  # does not
OFFSETS = [2**53, 2**60 + 1, -(2**62)]
REFUSED = r"column '(a|x1)' holds whole numbers of 2\*\*53 or more, .*; exclude it"


def shifted(offset):
    return [offset + int(a) for a in A]


def frame_of(offset, dtype=None):
    return pd.DataFrame({"b": B, "a": pd.Series(shifted(offset), dtype=dtype)})


CONTAINERS = {
    "lists": lambda offset: [[int(b), a] for b, a in zip(B, shifted(offset), strict=True)],
    "numpy": lambda offset: np.column_stack([B.astype(object), shifted(offset)]),
    "pandas": frame_of,
    "nullable": lambda offset: frame_of(offset, "UInt64" if offset >= 2**63 else "Int64"),
    "objects": lambda offset: frame_of(offset, object),
    "polars": lambda offset: pl.from_pandas(frame_of(offset)),
    "arrow": lambda offset: pa.Table.from_pandas(frame_of(offset)),
}


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_numeric_features_are_refused(container, offset):
    for options in ({}, {"information": "gaussian"}):
        with pytest.raises(ValueError, match=REFUSED):
            SelectBestK(2, "maxrel", **options).fit(CONTAINERS[container](offset), Y)


@pytest.mark.parametrize("offset", [2**53 - 6, 2**60 + 1])
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
    assert read_classes(y, len(Y)).codes.tolist() == Y.tolist()
    with pytest.raises(ValueError, match="column 'y' holds whole numbers"):
        read_numbers(y, len(Y))


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("offset", [2**53, 2**60 + 1, 2**63])
def test_files_that_store_integers_are_read_to_the_last_digit(tmp_path, offset, suffix):
    path = tmp_path / f"t{suffix}"
    frame = frame_of(offset).assign(y=Y)
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    table = load(open_source(path), "y").table
    np.testing.assert_array_equal(encode(table).values, encode(frame_of(offset)).values)
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").fit(path, "y")
    found = SelectBestK(1, "maxrel", exclude=["a"]).fit(path, "y")
    assert found.support_.tolist() == [True, False]


TEXT_FILES = [".csv", ".csv.gz", ".tsv"]


def write_text(frame, path):
    frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("suffix", TEXT_FILES)
@pytest.mark.parametrize("offset", [*OFFSETS, 2**63])
def test_text_files_are_read_to_the_last_digit(tmp_path, offset, suffix):
    path = write_text(frame_of(offset).assign(y=Y), tmp_path / f"t{suffix}")
    found, wanted = (
        load(open_source(written), "y").table
        for written in (path, write_text(frame_of(0).assign(y=Y), tmp_path / "small.csv"))
    )
    differences = np.subtract(found.keep(np.array([1])).blocks[0].values[:, 0].tolist(), offset)
    np.testing.assert_array_equal(differences, wanted.numeric()[0][:, 1])
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").fit(path, "y")
    chosen = SelectBestK(1, "maxrel", exclude=["a"]).fit(path, "y")
    assert chosen.support_.tolist() == [True, False]


@pytest.mark.parametrize("offset", [*OFFSETS, 2**63, 10**30])
def test_classes_in_text_files_are_told_apart_to_the_last_digit(tmp_path, offset):
    classes = RNG.permutation(np.arange(300) % 4)
    frame = pd.DataFrame({"b": B, "a": 3 * classes + RNG.integers(0, 2, 300)})
    path = write_text(frame.assign(y=[offset + int(each) for each in classes]), tmp_path / "t.csv")
    found = SelectBestK(1, "maxrel").fit(path, "y")
    np.testing.assert_array_equal(
        found.scores_, SelectBestK(1, "maxrel").fit(frame, classes).scores_
    )


def test_digits_that_no_integer_holds_are_text_in_text_files(tmp_path):
    path = write_text(frame_of(10**30).assign(y=Y), tmp_path / "t.csv")
    found = SelectBestK(1, "maxrel").fit(path, "y")
    assert found.solution_.support.tolist() == [1]
    wanted = SelectBestK(1, "maxrel", categorical_features=["a"]).fit(frame_of(0), Y)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)


@pytest.mark.parametrize("written", ["{:,}", "{} kg", "{:,d} €"])
def test_numbers_written_as_text_that_would_be_rounded_stay_text(written):
    texts = {f"to {n}": [written.format(n + i) for i in range(200)] for n in (900, 2**60)}
    assert read_features(pd.DataFrame(texts)).kinds.tolist() == ["numeric", "string"]


def test_large_numbers_with_fractions_or_exponents_are_floats_in_text_files(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{b},{a}e300,{a}9007199254740993.5,{y}" for b, a, y in zip(B, A, Y, strict=True)]
    path.write_text("\n".join(["b,a,c,y", *rows]))
    table = load(open_source(path), "y").table
    assert table.kinds.tolist() == ["numeric"] * 3
    np.testing.assert_array_equal(table.numeric()[0][:, 1], [float(f"{a}e300") for a in A])


def test_large_whole_numbers_far_down_a_text_file_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{row % 7},{row % 2}" for row in range(2**20)]
    path.write_text("\n".join(["a,y", *rows, f",0\n{2**53 + 1},1\n"]))
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(1, "maxrel").fit(path, "y")


def test_blocks_in_memory_are_refused():
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").fit([(frame_of(2**62), Y), (frame_of(0), Y)], None)
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").partial_fit(frame_of(2**62), Y).get_support()


def test_parts_of_dask_are_refused():
    array = pytest.importorskip("dask.array")
    X = np.column_stack([B, 2**62 + A])
    with pytest.raises(ValueError, match=REFUSED):
        SelectBestK(2, "maxrel").fit(array.from_array(X, chunks=(30, 2)), Y)
