"""Tables in files: every format in and out, types that hold, nothing half written."""

import gzip
import sys
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pyarrow import parquet
from pyarrow.feather import write_feather

from bestk import SelectBestK, SelectionWarning
from bestk.tables.columns import read_dictionary
from bestk.tables.files import _first_limit, copy_columns, load, replacing
from bestk.tables.frames import read_table
from bestk.tables.rows import narrowed
from bestk.tables.sources import (
    FORMATS,
    check_names,
    find_delimiter,
    open_dataset,
    open_source,
    suffix_of,
)
from bestk.tables.table import Block
from bestk.tables.text import parse_text

ROWS = 400
FRAMES = list(FORMATS)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=ROWS),
            "small": rng.integers(0, 200, ROWS),
            "large": rng.integers(-(10**12), 10**12, ROWS),
            "gaps": np.where(rng.random(ROWS) < 0.1, np.nan, rng.integers(0, 3, ROWS)),
            "truth": rng.random(ROWS) < 0.5,
            "colour": rng.choice(["red", "blue, dark", 'so-called "green"'], ROWS),
            "day": pd.date_range("2020-01-01", periods=ROWS).date,
            "y": rng.choice(["yes", "no"], ROWS),
        }
    )
    frame.loc[3, "colour"] = None
    return frame


def write(frame, path):
    """The frame in a file, written by pandas."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.name.endswith((".feather", ".arrow", ".ipc")):
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


def read(path, target="y", **options):
    return load(open_source(path), target, **options)


def column(table, name):
    """The values of a column, None where missing."""
    place = list(table.names).index(name)
    block = next(block for block in table.blocks if place in block.columns)
    j = block.columns.tolist().index(place)
    values = block.values[:, j]
    if block.categories is not None:
        return [None if code < 0 else block.categories[j][code] for code in values]
    return [None if value != value else value for value in values.tolist()]


def assert_same(table, frame):
    table = parse_text(table)  # text files hold dates as text
    for name in table.names:
        wanted = [None if pd.isna(value) else value for value in frame[name].tolist()]
        if name == "day":
            wanted = [(value - date(1970, 1, 1)).days for value in wanted]
        assert column(table, name) == wanted, name


@pytest.mark.parametrize("suffix", FRAMES)
def test_every_format_is_read_as_what_was_written(suffix, frame, tmp_path):
    loaded = read(write(frame, tmp_path / f"table{suffix}"))
    assert_same(loaded.table, frame)
    assert loaded.y.tolist() == frame["y"].tolist()
    kinds = dict(zip(loaded.table.names, loaded.table.kinds, strict=True))
    assert kinds["truth"] == "boolean"
    assert kinds["colour"] == "string"
    assert kinds["gaps"] == "numeric"


@pytest.mark.parametrize("suffix", FRAMES)
@pytest.mark.parametrize("origin", [".csv", ".parquet", ".feather"])
def test_a_cut_table_keeps_the_values_in_every_format(origin, suffix, frame, tmp_path):
    source = open_source(write(frame, tmp_path / f"table{origin}"))
    columns = ["colour", "gaps", "large", "real", "day", "truth", "y"]
    copy_columns(source, columns, tmp_path / f"cut{suffix}", suffix)
    cut = read(tmp_path / f"cut{suffix}")
    assert [*cut.table.names, cut.target] == columns
    assert_same(cut.table, frame)


def test_a_text_file_keeps_its_spelling(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a;b;y\n1.50;007;NA\n"2;5";+8;?\n')
    copy_columns(open_source(path), ["y", "b", "a"], tmp_path / "cut.csv", ".csv")
    assert (tmp_path / "cut.csv").read_text() == 'y;b;a\nNA;007;1.50\n?;+8;"2;5"\n'


def test_decimal_commas_are_written_between_semicolons(tmp_path):
    wanted = pd.DataFrame({"a": [1.5, -0.25], "b": [3.5, 4.0], "y": ["ja", "nein"]})
    wanted.to_csv(tmp_path / "de.csv", sep=";", decimal=",", index=False)
    copy_columns(open_source(tmp_path / "de.csv"), ["a", "y"], tmp_path / "cut.csv", ".csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "cut.csv", sep=";", decimal=","), wanted[["a", "y"]]
    )


def test_integers_and_dates_of_a_text_file_are_such_in_parquet(frame, tmp_path):
    source = open_source(write(frame, tmp_path / "table.csv"))
    copy_columns(source, ["large", "day", "real"], tmp_path / "cut.parquet", ".parquet")
    types = open_source(tmp_path / "cut.parquet").types
    assert types == {"large": pa.int64(), "day": pa.date32(), "real": pa.float64()}


def test_categories_stay_categories(frame, tmp_path):
    coded = frame.astype({"colour": "category", "small": "category"})
    coded["colour"] = coded["colour"].cat.add_categories("never seen")
    source = open_source(write(coded, tmp_path / "table.feather"))
    table = load(source, "y").table
    assert_same(table, frame)
    assert table.kinds[list(table.names).index("small")] == "categorical"
    assert all("never seen" not in levels for b in table.blocks for levels in b.categories or [])
    for suffix in (".parquet", ".feather"):
        copy_columns(source, ["colour"], tmp_path / f"cut{suffix}", suffix)
        assert pa.types.is_dictionary(open_source(tmp_path / f"cut{suffix}").types["colour"])


def test_polars_files_are_read(frame, tmp_path):
    pl.from_pandas(frame).write_ipc(tmp_path / "table.arrow")
    assert_same(read(tmp_path / "table.arrow").table, frame)


def test_a_table_from_a_file_reads_like_the_frame_it_came_from(frame, tmp_path):
    loaded = read(write(frame, tmp_path / "table.csv"), exclude=["day"]).table
    direct = read_table(frame.drop(columns=["day", "y"]))
    assert loaded.kinds.tolist() == direct.kinds.tolist()
    np.testing.assert_array_equal(loaded.count_missing(), direct.count_missing())
    for got, wanted in zip(loaded.numeric(), direct.numeric(), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_numbers_take_the_smallest_type_that_holds_them_exactly(tmp_path):
    frame = pd.DataFrame({"bits": [0, 1], "signed": [-1, 300], "half": [0.5, None],
                          "tenth": [0.1, 2.0], "huge": [2**40 + 1, 1], "y": [0, 1]})  # fmt: skip
    blocks = read(write(frame, tmp_path / "table.csv")).table.blocks
    types = {frame.columns[j]: block.values.dtype for block in blocks for j in block.columns}
    assert types == {
        "bits": np.uint8,
        "signed": np.int16,
        "half": np.float32,
        "tenth": np.float64,
        "huge": np.float64,
    }


@given(arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 4))))
def test_numbers_in_smaller_types_are_the_same(values):
    blocks = list(narrowed(Block(np.arange(values.shape[1]), "numeric", values)))
    assert sorted(j for block in blocks for j in block.columns) == list(range(values.shape[1]))
    for block in blocks:
        np.testing.assert_array_equal(block.values, values[:, block.columns])


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", None])), min_size=1).filter(any))
def test_pieces_of_words_join_to_the_whole(pieces):
    codes, levels = read_dictionary(pa.chunked_array(pieces, pa.string()), "word")
    everything = [word for piece in pieces for word in piece]
    assert [None if code < 0 else levels[code] for code in codes] == everything
    assert levels == sorted({word for word in everything if word is not None})


def test_pieces_of_a_file_join_to_the_whole(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.tables.sources.PIECE", 300)
    assert_same(read(write(frame, tmp_path / "table.parquet")).table, frame)


@pytest.mark.parametrize("rare", [0.3, 0.02])
def test_a_long_parquet_file_gives_the_sample_of_its_rows_that_memory_gives(
    rare, tmp_path, monkeypatch
):
    for module in ("rows", "files"):
        monkeypatch.setattr(f"bestk.tables.{module}.ENOUGH_ROWS", 2_000)
    monkeypatch.setattr("bestk.tables.rows.ENOUGH_RARE_ROWS", 200)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40_000, 4)), columns=list("abcd"))
    y = (rng.random(40_000) < rare).astype(int)
    X["b"] += y
    X.assign(y=y).to_parquet(tmp_path / "t.parquet", row_group_size=4_000)
    limit = _first_limit(open_source(tmp_path / "t.parquet"), "y")
    assert (limit < 0.1) == (rare > 0.1)  # more rows are needed where a class is rare
    there, here = SelectBestK(2).fit(tmp_path / "t.parquet", "y"), SelectBestK(2).fit(X, y)
    assert there.solution_.support.tolist() == here.solution_.support.tolist()
    assert rare < 0.1 or there.solution_.objective == here.solution_.objective


@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_parquet_file_is_never_held_in_memory_as_a_whole(place, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.random(200_000) for j in range(10)})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=10_000)
    monkeypatch.setattr("bestk.tables.sources.PIECE", 2**14)
    source = open_source(tmp_path / "t.parquet") if place == "file" else open_dataset(tmp_path)
    size, before = table.nbytes, pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in source.batches(list(source.types))]
    assert len(held) >= 100
    assert max(held) < size / 2


def test_a_type_that_holds_only_at_first_is_corrected_by_a_second_look(tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.tables.sources.BLOCK", 2000)
    body = "1,true,,a\n2,false,,b\n" * 200
    (tmp_path / "t.csv").write_text("n,t,late,y\n" + body + "1,maybe,3.5,a\nmany,true,4,b\n")
    loaded = read(tmp_path / "t.csv")
    assert loaded.table.kinds.tolist() == ["string", "string", "numeric"]
    assert column(loaded.table, "late")[-2:] == [3.5, 4.0]
    assert column(loaded.table, "n")[-1] == "many"
    copy_columns(loaded.source, ["n", "y"], tmp_path / "cut.parquet", ".parquet")
    assert column(read(tmp_path / "cut.parquet").table, "n")[-2:] == ["1", "many"]


def test_rows_without_a_target_and_columns_without_a_name_are_left_out(tmp_path):
    (tmp_path / "t.csv").write_text(",a,y\n0,1.5,x\n1,2.5,\n2,3.5,z\n")
    loaded = read(tmp_path / "t.csv")
    assert list(loaded.table.names) == ["a"]
    assert column(loaded.table, "a") == [1.5, 3.5]
    assert loaded.y.tolist() == ["x", "z"]
    assert len(loaded.notes) == 2
    (tmp_path / "n.csv").write_text("a,y\n1,1\n2,\n3,2\n")
    assert read(tmp_path / "n.csv").y.tolist() == [1, 2]


def test_an_index_of_pandas_is_no_feature(frame, tmp_path):
    frame[frame["truth"]].to_parquet(tmp_path / "t.parquet")
    assert list(open_source(tmp_path / "t.parquet").types) == list(frame.columns)
    note = "left out '__index_level_0__', which pandas has stored as an index"
    assert read(tmp_path / "t.parquet").notes == (note,)
    frame.set_index("small").to_feather(tmp_path / "t.feather")
    loaded = read(tmp_path / "t.feather")
    assert "small" not in loaded.table.names
    assert loaded.notes == ("left out 'small', which pandas has stored as an index",)
    with pytest.warns(SelectionWarning, match="left out 'small', which pandas"):
        SelectBestK(2, "maxrel").fit(tmp_path / "t.feather", "y")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize(
    "metadata",
    [b"[1,2]", b"5", b"null", b'"a"', b"", b"{", b"\xff\xfe", b"[" * 100_000, b"{}",
     b'{"index_columns": "ab"}', b'{"index_columns": 5}', b'{"index_columns": null}',
     b'{"index_columns": [["a"], {"kind": "range"}, 1, null, "gone"]}'],
)  # fmt: skip
def test_metadata_that_pandas_has_not_written_hides_no_column(metadata, suffix, tmp_path):
    table = pa.table({"a": [1, 2, 3], "b": [0, 1, 1], "y": [0, 1, 1]})
    table = table.replace_schema_metadata({"pandas": metadata})
    write_table = parquet.write_table if suffix == ".parquet" else write_feather
    write_table(table, tmp_path / f"t{suffix}")
    loaded = read(tmp_path / f"t{suffix}")
    assert list(loaded.table.names) == ["a", "b"]
    assert loaded.notes == ()


def test_text_of_very_many_values_is_left_out(tmp_path):
    n = 2**15 + 1
    frame = pd.DataFrame(
        {"id": [f"r{i}" for i in range(n)], "a": range(n), "y": [0, 1] * (n // 2) + [0]}
    )
    write(frame, tmp_path / "t.parquet")
    loaded = read(tmp_path / "t.parquet")
    assert list(loaded.table.names) == ["a"]
    assert "'id'" in loaded.notes[0]
    with pytest.raises(ValueError, match="holds no classes; is it an identifier"):
        read(tmp_path / "t.parquet", target="id")


def test_quoted_lines_byte_order_marks_and_other_delimiters_are_read(tmp_path):
    (tmp_path / "t.csv").write_bytes('\ufeffa|y\n"two\nlines"|1\nno|2\n'.encode())
    loaded = read(tmp_path / "t.csv")
    assert column(loaded.table, "a") == ["two\nlines", "no"]
    assert find_delimiter("one name only") == ","
    assert suffix_of(tmp_path / "Data.CSV.gz") == ".csv.gz"


def test_a_line_longer_than_a_block_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.tables.sources.BLOCK", 2**16)
    names = [f"{'long' * 400}{j}" for j in range(2**16 // 1500)]
    row = ",".join(["0.125"] * len(names))
    (tmp_path / "t.csv").write_text(f"{','.join(names)},y\n{row},a\n{row},b\n")
    batches = list(open_source(tmp_path / "t.csv").batches([names[0], names[-1], "y"]))
    assert sum(batch.num_rows for batch in batches) == 2


BAD = {
    "folder": (None, "is a folder"),
    "t.xls": (b"x", "has the suffix '.xls'; a table is one of .csv, .csv.gz"),
    "t": (b"x", "has no suffix"),
    "empty.csv": (b"", "is empty"),
    "latin.csv": ("a,y\nä,1\n".encode("latin1"), "is not UTF-8 text"),
    "latin.tsv": ("ä\ty\n1\t1\n".encode("latin1"), "is not UTF-8 text"),
    "junk.csv": (b"\x00\x01\x02", "is not a table of text: it holds binary data"),
    "junk.csv.gz": (b"\x00\x01\x02", "is not a table of text"),
    "short.csv.gz": (gzip.compress(b"a,y\n1,2\n" * 99)[:30], "is not a table of text"),
    "torn.csv.gz": (gzip.compress(b"a,y\n")[:10] + b"\xff" * 99, "is not a table of text"),
    "junk.parquet": (b"\x00\x01\x02" * 99, "is not a Parquet table"),
    "junk.feather": (b"\x00\x01\x02" * 99, "is not an Arrow table"),
    "ragged.csv": (b"a,y\n1,2,3\n", "has rows of different lengths: .*Expected 2 columns, got 3"),
    "title.csv": (b"My table\na,y\n1,2\n", "Expected 1 columns, got 2: a,y; the first line must"),
    "excel.csv": ("a\ty\n1\t2\n".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
    "head.csv": (b"a,y\n", "has no rows"),
    "blank.csv": (b"a,y\n1,\n2,\n", "has no row with a target"),
    "twins.csv": (b"a,a,y\n1,2,3\n", "has two columns named 'a'; rename one"),
    "alone.csv": (b"y\n1\n", "has no column to select from beside 'y'"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_table_is_refused_in_one_line(name, tmp_path):
    content, message = BAD[name]
    if content is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_with_damaged_rows_is_refused_in_one_line(frame, tmp_path):
    path = write(frame[["real", "y"]], tmp_path / "t.parquet")
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56  # the header of the first page
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a Parquet table"):
        read(path)


def test_a_column_of_lists_is_refused_unless_it_is_excluded(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "lists": [[1], [2]], "y": [0, 1]})
    path = write(frame, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'lists' holds List.*drop it"):
        read(path)
    assert list(read(path, exclude=["lists"]).table.names) == ["a"]


def test_a_wrong_name_is_answered_with_the_nearest(frame, tmp_path):
    source = open_source(write(frame, tmp_path / "t.csv"))
    with pytest.raises(ValueError, match="no column 'color'; did you mean 'colour'"):
        check_names(source, ["real", "color"])


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_without_pyarrow_the_extra_is_named_before_anything_is_read(suffix, monkeypatch, tmp_path):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'bestk\[cli\]'"):
        open_source(path)


def test_a_file_takes_its_place_only_when_it_is_whole(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def give_up(part):
        part.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), replacing(path) as part:
        give_up(part)
    assert path.read_text() == "old"
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with (
        pytest.raises(ValueError, match=r"cannot write to .*missing"),
        replacing(tmp_path / "missing" / "t.csv"),
    ):
        pass
    with pytest.raises(ValueError, match="is a folder"), replacing(tmp_path):
        pass


@pytest.mark.parametrize("place", ["header", "row", "quote"])
def test_a_line_that_is_too_long_is_refused_in_our_words(place, tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.tables.sources.MAX_HEADER_BYTES", 3 * 2**16)
    monkeypatch.setattr("bestk.tables.sources.BLOCK", 2**16)
    long = b"x" * (3 * 2**16)
    text = {"header": long, "row": b"a,y\n1,2\n" + long, "quote": b'a,y\n1,2\n"' + long}[place]
    (tmp_path / "t.csv").write_bytes(text + b",3\n1,2\n")
    with pytest.raises(ValueError, match="has a line that is too long to read"):
        read(tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text + b",3\n1,2\n", 1))
    with pytest.raises(ValueError, match="has a line that is too long to read"):
        read(tmp_path / "t.csv.gz")


def test_a_column_that_is_not_read_may_hold_anything(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,odd,y\n1,\xe4,0\n2,b,1\n".encode("latin1"))
    assert list(read(path, exclude=["odd"]).table.names) == ["a"]
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        read(path)
