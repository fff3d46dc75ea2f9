"""Text is read without pyarrow as it is with it: the same table, the same refusals."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import SelectBestK
from bestk.files import copy_columns, load
from bestk.files._plain_text import SLOW, PlainText, to_numbers, type_of
from bestk.files._text import FALSE, MISSING, TRUE, ArrowText

words = st.text(st.sampled_from('ab ,;"\n\r\t_é\u0661\u00a0'), max_size=5)
spellings = st.sampled_from(
    ["+8", " 1 ", "\t2", "1_0", "1.", ".5", "-.5", "1e5", "1E+05", "1e999", "-1e999", "1e-999",
     "inf", "-Infinity", "NAN", "-NAN", "Nan", "5e-324", "007", "99999999999999999999", "1 2",
     "--1", "1d5", "0b1", "1.0e", "-", ".", "\u0661", "\u00a01", "1\n", "1\v", "2020-01-01",
     "12:30:00", "2020-01-01 10:00:00", "true ", "tRue", "yes", " NA", "nan ", "infin"]
)  # fmt: skip
missing, truths = st.sampled_from(MISSING), st.sampled_from([*TRUE, *FALSE])
numbers = st.one_of(
    st.floats().map(repr), st.integers().map(str), st.floats(width=16).map("{:g}".format)
)
cells = (
    st.one_of(numbers, missing),
    st.one_of(truths, missing),
    st.one_of(numbers, truths),
    st.one_of(spellings, numbers),
    st.one_of(words, missing),
    st.one_of(words, spellings, truths, numbers, missing),
)


@st.composite
def tables(draw):
    """Columns of values of a few sorts, as the text of a table; the last column is the target."""
    n, columns = (
        draw(st.integers(1, 12)),
        draw(st.lists(st.sampled_from(cells), min_size=2, max_size=4)),
    )
    rows = zip(*(draw(st.lists(some, min_size=n, max_size=n)) for some in columns), strict=True)
    out, style = io.StringIO(), draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    writer = csv.writer(
        out, delimiter=draw(st.sampled_from(",;\t|")), quoting=style, lineterminator=end
    )
    writer.writerow([f"c{j}" for j in range(len(columns))])
    writer.writerows(rows)
    return out.getvalue()


def read(reader, path, target, **options):
    """What a reader makes of a file: names, kinds, values and target, or that it refuses."""
    try:
        source = reader.open(path, tabs=False, zipped=path.suffix == ".gz")
        loaded = load(source, target, **options)
    except ValueError as error:
        return "refused", str(error).split(": ")[0]
    blocks = [
        (b.columns.tolist(), b.kind, b.values.dtype, _rows(b.values), b.categories)
        for b in loaded.table.blocks
    ]
    return list(loaded.table.names), blocks, loaded.y.dtype, loaded.y.tolist(), loaded.notes


def _rows(values):
    return [[None if value != value else value for value in row] for row in values.tolist()]


def assert_both_read_alike(path, target, **options):
    wanted = read(ArrowText, path, target, **options)
    assert read(PlainText, path, target, **options) == wanted
    return wanted


@given(text=tables())
def test_the_values_of_a_table_are_the_same(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "same.csv"
    path.write_bytes(text.encode())
    assert_both_read_alike(path, "c1")


@settings(max_examples=300)
@given(body=st.text(st.sampled_from('"",,,\n\n\r a1'), max_size=25))
def test_quotes_and_line_ends_are_understood_alike(body, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "odd.csv"
    path.write_bytes(f"c0,c1\n{body}".encode())
    assert_both_read_alike(path, "c1")


@given(text=tables(), piece=st.integers(1, 20))
def test_types_are_those_of_the_whole_file_however_little_is_read_at_once(
    text, piece, tmp_path_factory
):
    path = tmp_path_factory.getbasetemp() / "pieces.csv"
    path.write_bytes(text.encode())
    *wanted, _ = read(ArrowText, path, "c1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bestk.files._plain_text.PIECE", piece)
        *found, _ = read(PlainText, path, "c1")
    assert found == wanted  # but for the notes, which tell of a second look


def test_a_boolean_that_begins_with_gaps_and_digits_is_a_boolean(tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.files._text.BLOCK", 100)
    monkeypatch.setattr("bestk.files._plain_text.PIECE", 30)
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "1,,x\n0,,z\n" * 99 + "true,false,x\n")
    _, blocks, *_, notes = assert_both_read_alike(path, "y")
    assert [kind for _, kind, *_ in blocks] == ["boolean", "boolean"]
    assert notes == ()


def test_what_a_second_look_finds_is_told_alike(tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.files._text.BLOCK", 100)
    monkeypatch.setattr("bestk.files._plain_text.PIECE", 30)
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "1,true,x\n2,false,z\n" * 99 + '"1\n",tRue,x\n')
    *_, notes = assert_both_read_alike(path, "y")
    assert notes == (
        "column 'a' is read as text, because it holds '1\\n'",
        "column 'b' is read as text, because it holds 'tRue'",
    )


def test_files_of_every_kind_are_read_alike(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(500, 3)).round(3) * [1, 1e-9, 1e300], columns=list("abc")
    ).assign(
        d=rng.integers(-5, 5, 500), e=rng.choice(["x", "y", None], 500), y=rng.random(500) < 0.5
    )
    frame.loc[::7, "a"] = np.nan
    for name in ("t.csv", "t.csv.gz"):
        frame.to_csv(tmp_path / name, index=False)
        names, *_ = assert_both_read_alike(tmp_path / name, "y")
        assert names == list("abcde")
    (tmp_path / "mark.csv").write_bytes("\ufeffa,y\n1,2\n".encode())
    assert assert_both_read_alike(tmp_path / "mark.csv", "y")[0] == ["a"]


def test_a_column_that_is_not_read_may_hold_anything(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,odd,y\n1,\xe4,0\n2,b,1\n".encode("latin1"))
    assert assert_both_read_alike(path, "y", exclude=["odd"])[0] == ["a"]
    assert assert_both_read_alike(path, "y")[0] == "refused"


def test_a_value_may_be_longer_than_the_csv_module_likes(tmp_path):
    path, before = tmp_path / "t.csv", csv.field_size_limit()
    path.write_text(f"a,y\n{'long' * before},0\nb,1\n")
    assert_both_read_alike(path, "y")
    assert csv.field_size_limit() == before


def test_columns_are_copied_in_their_spelling(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a;b;y\n1.50;"two\nlines";NA\n"2;5";+8;"quoted ""so"""\n')
    for reader, name in ((ArrowText, "arrow.csv"), (PlainText, "plain.csv")):
        source = reader.open(path, tabs=False, zipped=False)
        copy_columns(source, ["y", "b", "a"], tmp_path / name, ".csv")
    assert (tmp_path / "plain.csv").read_bytes() == (tmp_path / "arrow.csv").read_bytes()


def test_rows_in_blocks_are_the_same_rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    frame = pd.DataFrame(
        rng.normal(size=(400, 5)) + y[:, None] * [0, 1, 2, 0, 0], columns=list("abcde")
    )
    frame.assign(word=np.where(y, "p", "q"), y=y).to_csv(tmp_path / "t.csv", index=False)
    wanted = SelectBestK(k=3, method="tpower").fit(tmp_path / "t.csv", "y")
    monkeypatch.setattr("bestk.files._open.has_arrow", lambda: False)
    monkeypatch.setattr("bestk.files._plain_text.PIECE", 500)
    found = SelectBestK(k=3, method="tpower").fit(tmp_path / "t.csv", "y")
    np.testing.assert_array_equal(found.ranking_, wanted.ranking_)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)


def test_a_large_file_is_read_with_advice(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2\n")
    assert PlainText.open(path, tabs=False, zipped=False).notes == ()
    monkeypatch.setattr("bestk.files._plain_text.LARGE", 5)
    assert PlainText.open(path, tabs=False, zipped=False).notes == (SLOW,)


@pytest.mark.parametrize("value", ["1_000", "\u0661", "1\v", "\u00a01", "0x1F", "1 2", "", "1e"])
def test_what_only_python_takes_for_a_number_is_none(value):
    assert type_of([value, "2"]).kind == ("f" if value == "" else "U")


def test_gaps_are_no_numbers_and_numbers_are_exact():
    np.testing.assert_array_equal(
        to_numbers(["NA", "0.1", " 1e23", "-0", "?"]), [np.nan, 0.1, 1e23, -0.0, np.nan]
    )
