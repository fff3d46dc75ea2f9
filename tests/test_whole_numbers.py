"""Whole numbers beyond 2**53 are told apart to the last digit, or refused: never merged."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk import SelectBestK
from bestk.data.codes import encode, read_continuous_target, read_target
from bestk.data.files import load
from bestk.data.files._open import open_source
from bestk.data.table import read_table
from bestk.data.whole import exact_numbers, refuse_merged
from bestk.selection.reading import Reading

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 300)
A = 5 * Y + RNG.integers(0, 7, 300)  # tells of the class
B = RNG.integers(0, 9, 300)  # does not
OFFSETS = [2**53, 2**60 + 1, 2**62, -(2**62), 2**63]
MERGED = r"column '(a|x1)' holds -?\d+ and -?\d+, which are one number in float64; subtract"


def shifted(offset):
    return [offset + int(a) for a in A]


def frame_of(offset, dtype=None):
    return pd.DataFrame({"b": B, "a": pd.Series(shifted(offset), dtype=dtype)})


def refused(X, says=MERGED, **options):
    with pytest.raises(ValueError, match=says):
        SelectBestK(k=2, method="exact", **options).fit(X, Y)


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
def test_features_that_float64_merges_are_refused(container, offset):
    refused(CONTAINERS[container](offset))
    refused(CONTAINERS[container](offset), information="gaussian")


@pytest.mark.parametrize("discretizer", ["caim", "mdlp", "equal-frequency"])
def test_those_that_it_does_not_merge_are_read_as_without_their_offset(discretizer):
    near = SelectBestK(2, "exact", discretizer=discretizer).fit(frame_of(0) * 2**11, Y)
    far = np.column_stack([B * 2**11, 2**62 + A * 2**11])
    found = SelectBestK(2, "exact", discretizer=discretizer).fit(far, Y)
    np.testing.assert_array_equal(found.scores_, near.scores_)
    assert found.scores_[1] > 0.1


@pytest.mark.parametrize("offset", [2**53 - 6, 2**60 + 1, 2**63 - 6, 2**63 + 1])
def test_codes_are_exact_whatever_the_offset(offset):
    wanted = encode(frame_of(0)).values
    for X in (frame_of(offset), frame_of(offset, object), CONTAINERS["lists"](offset)):
        np.testing.assert_array_equal(encode(X).values, wanted)
    floats = [[float(b), a] for b, a in zip(B, shifted(offset), strict=True)]
    np.testing.assert_array_equal(encode(floats).values, wanted)


def test_up_to_the_limit_nothing_changes():
    X = np.column_stack([B, 2**53 - A])
    np.testing.assert_array_equal(read_table(X).numeric()[0], X.astype(float))
    assert SelectBestK(1, "exact").fit(X, Y).support_.tolist() == [False, True]


def test_genuine_floats_are_what_they_are():
    X = [[1e300 * a, float(b)] for a, b in zip(A, B, strict=True)]
    assert read_table(X).blocks[0].values.dtype == np.float64
    assert SelectBestK(1, "exact").fit(X, Y).support_.tolist() == [True, False]
    assert SelectBestK(1, "exact").fit(np.array(X), Y).support_.tolist() == [True, False]


def test_an_excluded_or_categorical_column_is_not_refused():
    frame = frame_of(2**62)
    assert SelectBestK(1, "exact", exclude=["a"]).fit(frame, Y).support_.tolist() == [True, False]
    found = SelectBestK(2, "exact", categorical_features=["a"]).fit(frame, Y)
    wanted = SelectBestK(2, "exact", categorical_features=["a"]).fit(frame_of(0), Y)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)


@given(st.lists(st.integers(-(2**63), 2**64 - 1), min_size=1), st.booleans())
def test_numbers_of_python_are_exact_or_refused(values, fraction):
    known = [*values, 0.5] if fraction else values
    try:
        found = exact_numbers(known, "a").tolist()
    except ValueError:
        assert len(set(map(float, known))) < len(set(known))
        return
    assert len(set(found)) == len(set(known))
    assert list(map(float, found)) == list(map(float, known))


@given(st.lists(st.one_of(st.integers(2**60, 2**60 + 999), st.integers(-(2**63), 2**63 - 1))))
def test_just_what_float64_merges_is_refused(values):
    merged = len(set(map(float, values))) < len(set(values))
    for some in (values, np.array(values, np.int64)):
        if merged:
            with pytest.raises(ValueError, match="one number in float64"):
                refuse_merged(some, "column 'a'")
        else:
            refuse_merged(some, "column 'a'")


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
@pytest.mark.parametrize("offset", OFFSETS)
def test_targets_in_memory_are_exact(kind, offset):
    y = kind([offset + int(value) for value in Y])
    assert read_target(y, len(Y)).codes.tolist() == Y.tolist()
    with pytest.raises(ValueError, match=r"y holds .* one number in float64; subtract"):
        read_continuous_target(y, len(Y))


# files


def write(tmp_path, offset=0, target=0, suffix=".csv", gaps=False, spell=str):
    """A file of the columns b and a, and of a target y."""
    path = tmp_path / f"t{suffix}"
    a = [None if gaps and i % 9 == 0 else v for i, v in enumerate(shifted(offset))]
    y = [target + int(value) for value in Y]
    if suffix == ".csv":
        rows = zip(B, ["" if v is None else spell(v) for v in a], y, strict=True)
        path.write_text("b,a,y\n" + "".join(f"{b},{v},{c}\n" for b, v, c in rows))
        return path
    type_ = pa.uint64() if offset >= 2**63 else pa.int64()
    target_type = pa.uint64() if target >= 2**63 else pa.int64()
    table = pa.table({"b": B, "a": pa.array(a, type_), "y": pa.array(y, target_type)})
    if suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path, row_group_size=70)
    else:
        import pyarrow.feather

        pyarrow.feather.write_feather(table, path, chunksize=70)
    return path


def column(loaded, name):
    place = list(loaded.table.names).index(name)
    (block,) = [b for b in loaded.table.blocks if place in b.columns]
    return block.values[:, list(block.columns).index(place)]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_files_are_read_to_the_last_digit(tmp_path, offset, suffix):
    loaded = load(open_source(write(tmp_path, offset, offset, suffix)), "y")
    assert column(loaded, "a").tolist() == shifted(offset)
    assert column(loaded, "b").tolist() == B.tolist()
    assert loaded.y.tolist() == [offset + int(value) for value in Y]
    assert loaded.y.dtype.kind in "iu"
    with pytest.raises(ValueError, match=MERGED):
        Reading().measure(loaded.table, loaded.y)
    if offset > 0:
        found = Reading(discretizer=None).measure(loaded.table, loaded.y)
        wanted = Reading(discretizer=None).measure(read_table(frame_of(0)), Y)
        np.testing.assert_array_equal(found.entropies.mi(), wanted.entropies.mi())


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_large_numbers_late_in_a_file_are_exact_as_well(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("bestk.data.files._text.BLOCK", 500)
    a = [*range(400), *range(2**62, 2**62 + 400), *range(400)]
    frame = pd.DataFrame({"a": a, "b": range(1200), "y": ["u", "v"] * 600})
    path = tmp_path / f"late{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(
        path, row_group_size=100
    )
    loaded = load(open_source(path), "y")
    assert column(loaded, "a").tolist() == a
    assert column(loaded, "b").tolist() == list(range(1200))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_gaps_leave_floats_unless_they_merge(tmp_path, suffix):
    with pytest.raises(ValueError, match=MERGED):
        load(open_source(write(tmp_path, 2**62, 0, suffix, gaps=True)), "y")
    loaded = load(open_source(write(tmp_path, 2**53 - 40, 0, suffix, gaps=True)), "y")
    wanted = [np.nan if i % 9 == 0 else v for i, v in enumerate(shifted(2**53 - 40))]
    np.testing.assert_array_equal(column(loaded, "a"), wanted)


def test_texts_of_2_to_the_64_are_classes(tmp_path):
    loaded = load(open_source(write(tmp_path, 2**70, 2**70)), "y")
    assert loaded.y.tolist() == [str(2**70 + int(value)) for value in Y]
    assert loaded.notes[0].startswith(
        f"column 'a' is read as text, because it holds '{2**70 + 11}'"
    )
    assert loaded.table.kinds.tolist() == ["numeric", "string"]


def test_fractions_beside_them_are_told_of(tmp_path):
    path = write(tmp_path, 2**62, spell=lambda v: "0.5" if v % 7 == 0 else str(v))
    loaded = load(open_source(path), "y")
    assert column(loaded, "a").dtype.kind == "f"
    (note,) = loaded.notes
    assert note.startswith("column 'a' is rounded: it holds fractions beside 46116860184273")


def test_large_floats_in_text_stay_floats_without_a_word(tmp_path):
    path = write(tmp_path, spell=lambda v: f"{v}e20")
    loaded = load(open_source(path), "y")
    np.testing.assert_array_equal(column(loaded, "a"), [float(f"{v}e20") for v in A.tolist()])
    assert loaded.notes == ()


def test_decimals_in_a_file_are_whole_numbers(tmp_path):
    frame = pd.DataFrame({"b": B, "a": list(map(Decimal, shifted(2**60))), "y": Y})
    frame["y"] = [Decimal(2**60 + int(value)) for value in Y]
    frame.to_parquet(tmp_path / "d.parquet")
    loaded = load(open_source(tmp_path / "d.parquet"), "y")
    assert column(loaded, "a").tolist() == shifted(2**60)
    assert loaded.y.tolist() == [2**60 + int(value) for value in Y]
    frame["a"] = [Decimal(2**64 + int(a)) for a in A]
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match=r"column 'a' has decimals of 2\*\*63 or more; exclude"):
        load(open_source(tmp_path / "d.parquet"), "y")


# blocks


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_streams_of_files_are_exact_or_refused(tmp_path, offset, suffix, monkeypatch):
    monkeypatch.setattr("bestk.data.files._text.BLOCK", 900)
    path = write(tmp_path, offset, offset, suffix)
    for options in ({}, {"information": "gaussian"}):
        with pytest.raises(ValueError, match=MERGED):
            SelectBestK(2, "exact", **options).fit(path, "y")
    near = write(tmp_path, 0, 0, ".parquet") if suffix == ".csv" else write(tmp_path)
    for options in ({"discretizer": None}, {"exclude": ["a"]}):
        if options.get("discretizer", 0) is None and offset < 0:
            continue  # codes are not negative
        k = 1 if "exclude" in options else 2
        found = SelectBestK(k, "exact", **options).fit(path, "y")
        wanted = SelectBestK(k, "exact", **options).fit(near, "y")
        np.testing.assert_array_equal(found.scores_, wanted.scores_)


def test_blocks_that_only_together_merge_are_refused():
    blocks = [(frame_of(2**62)[level == A].assign(c=1.5), Y[level == A]) for level in np.unique(A)]
    with pytest.raises(ValueError, match=MERGED):
        SelectBestK(2, "exact").fit(blocks, None)
    with pytest.raises(ValueError, match=MERGED):
        SelectBestK(2, "exact").partial_fit(frame_of(2**62), Y)


def test_blocks_of_far_values_give_what_near_ones_do():
    def blocks(offset):
        X = np.column_stack([B * 2**11, offset + A * 2**11])
        return [(X[i : i + 50], Y[i : i + 50]) for i in range(0, 300, 50)]

    found = SelectBestK(2, "exact").fit(blocks(2**62), None)
    wanted = SelectBestK(2, "exact").fit(blocks(0), None)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)


def test_streams_with_gaps_beside_large_numbers_are_refused(tmp_path):
    path = write(tmp_path, 2**62, 0, ".parquet", gaps=True)
    with pytest.raises(ValueError, match=r"column 'a' has missing values beside integers"):
        SelectBestK(2, "exact").fit(path, "y")


def test_parts_of_dask_are_looked_at_together():
    array = pytest.importorskip("dask.array")
    order = np.argsort(A, kind="stable")
    X = np.column_stack([B, 2**62 + A])[order]
    with pytest.raises(ValueError, match=MERGED):
        SelectBestK(2, "exact").fit(array.from_array(X, chunks=(30, 2)), Y[order])
