"""Numbers and dates written as text: what is read as such, and what stays text."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bestk import SelectBestK, SelectionWarning, encode, select
from bestk.tables.frames import read_table
from bestk.tables.text import parse_levels, parse_text

nan = np.nan


def parse(*texts, rows=None):
    return parse_levels(texts, np.ones(len(texts), np.int64) if rows is None else np.array(rows))


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("12.3", "-4", "+.5"), (12.3, -4, 0.5)),
        (("$1,234", "$ 5.25", "-$3"), (1234, 5.25, -3)),
        (("45%", "3.5 %"), (45, 3.5)),
        (("1 234", "12 345 678.9"), (1234, 12345678.9)),
        (("1\u202f234 €", "99 €"), (1234, 99)),
        (("1e5", "-2.5E-3"), (1e5, -0.0025)),
        (("1,5", "20,25", "3"), (1.5, 20.25, 3)),
        (("1.234,50 €", "12,00 €"), (1234.5, 12)),
        (("1.5", "", "NA", "n/a", "?", "-", "null"), (1.5, nan, nan, nan, nan, nan, nan)),
        (tuple(map(str, range(30))), tuple(range(30))),
        (("2024-03-01", "1970-01-01 06:00", "?"), (19783, 0.25, nan)),
        (("12:00", "6:00:36", "?"), (0.5, 0.25 + 0.01 / 24, nan)),
        (("<0.7", "> 120", "<=.5", "1.5", "2", "3"), (0.7, 120, 0.5, 1.5, 2, 3)),
        (("<5 mg", "10 mg", "12.5 mg"), (5, 10, 12.5)),
        (("1970-01-02T00:00:00Z", "1970-01-02T02:00:00+02:00"), (1, 1)),
    ],
)
def test_numbers_and_dates_are_read_as_people_write_them(texts, values):
    np.testing.assert_allclose(parse(*texts).values, values, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "texts",
    [
        ("01", "02", "10"),
        tuple(f"{code:05d}" for code in range(500, 90_000, 100)),  # zip codes
        tuple(map(str, range(10_000, 10_500))),  # all of one length, as codes are
        ("1", "2", "3"),
        ("red", "1.5", "2.5"),
        ("1.2.3", "1.2.4"),
        ("2024-02-30", "2024-01-01"),
        ("12:30", "13:75"),
        ("12:30", "24:00"),
        ("12:30", "noon"),
        ("3:1", "2:0"),
        ("<0.7", "<0.5", "1.5"),
        ("<LOD", "<0.5", "1.5"),
        ("<18", "18-65", ">65"),
        ("<2024-02-01", "2024-02-01", "2024-03-01"),
        ("", "?"),
        ("inf", "1.5", "2.5"),
        ("1_000", "2.5"),
        ("٣", "1.5"),
        (b"1.5", b"2.5"),
    ],
)
def test_codes_and_words_stay_text(texts):
    assert parse(*texts) is None


def test_one_odd_value_in_a_hundred_rows_is_taken_as_missing():
    found = parse("1.5", "2.5", "unknown", rows=[60, 39, 1])
    assert found.odd == ("unknown",)
    np.testing.assert_array_equal(found.values, [1.5, 2.5, nan])
    assert parse("1.5", "2.5", "unknown", rows=[60, 29, 11]) is None


@pytest.mark.parametrize("number", ["{:.3f}", "2024-01-{0:02.0f}"], ids=["numbers", "dates"])
def test_a_column_that_a_few_words_make_text_is_named(number):
    texts = [number.format(1 + j % 28) for j in range(200)]
    frame = pd.DataFrame({"a": ["<LOD"] * 5 + texts[5:], "b": range(200), "c": texts})
    table = parse_text(read_table(frame.assign(d=["<LOD"] * 101 + texts[101:])))
    assert table.kinds.tolist() == ["string", "numeric", "numeric", "string"]
    kind = "numbers" if number.startswith("{") else "dates"
    assert table.notes[0] == (
        f"'a' (98%): most values are {kind}, but others, such as '<LOD', make it text; replace "
        f"them, for example by missing values, to use it as {kind}"
    )
    assert table.notes[1].startswith(f"'c': {kind} written as text")
    said = select(frame, np.arange(200) % 2, 1, "maxrel").warnings
    assert table.notes[0] in said


@pytest.mark.parametrize(("n_odd", "is_named"), [(22, True), (98, True), (102, False)])
def test_a_column_that_many_words_make_text_is_named_while_most_values_are_numbers(n_odd, is_named):
    texts = [f"x{j}" if j < n_odd else f"{j}.5" for j in range(200)]
    table = parse_text(read_table(pd.DataFrame({"a": texts})))
    assert table.kinds.tolist() == ["string"]
    assert [note.split(":")[0] for note in table.notes] == [
        f"'a' ({1 - n_odd / 200:.0%})"
    ] * is_named


def test_categories_with_a_few_numbers_among_them_are_not_named():
    sizes = [f"{j % 20}" if j % 4 else "20 or more" for j in range(200)]
    assert not parse_text(read_table(pd.DataFrame({"size": sizes}))).notes


def test_times_and_limits_of_detection_are_read_as_numbers_and_named():
    hours = [f"{j % 24:02}:{j % 60:02}" for j in range(200)]
    values = ["<0.7" if j % 3 == 0 else str(j / 10) for j in range(200)]
    table = parse_text(read_table(pd.DataFrame({"crp": values, "at": hours})))
    assert table.kinds.tolist() == ["numeric", "numeric"]
    assert table.notes == (
        "'crp': numbers written as text, such as '0.1'; read as numbers, '<0.7' as 0.7; transform "
        "returns the text",
        "'at': times written as text, such as '00:00'; read as fractions of a day; transform "
        "returns the text",
    )


def rows(m=200):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, m)
    size = y + rng.normal(size=m)
    return {
        "price": [f"${np.exp(5 + value):,.2f}" for value in size],
        "word": rng.choice(["a", "b"], m).tolist(),
        "day": [f"2024-01-{1 + int(value) % 28:02d}" for value in 10 + 5 * size],
        "size": size.tolist(),
    }, y


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns).astype(object),
        pl.DataFrame,
        pa.table,
        lambda columns: np.array(list(zip(*columns.values(), strict=True)), dtype=object),
    ],
    ids=["pandas", "objects", "polars", "arrow", "array"],
)
def test_every_table_with_text_numbers_is_read_and_warned_of_once(make):
    columns, y = rows()
    with pytest.warns(SelectionWarning) as caught:
        selector = SelectBestK(2, "maxrel").fit(make(columns), y)
    assert len(caught) == 1
    first, second = selector.solution_.warnings[:2]
    assert "numbers written as text, such as '$" in first
    assert "dates written as text, such as '2024-01-01'; read as days since 1970-01-01" in second
    relevance = dict(zip(columns, selector.scores_, strict=True))
    assert relevance["price"] == pytest.approx(relevance["size"], abs=1e-9)
    assert caught[0].filename == __file__


def test_text_among_categorical_features_and_categories_stay_text():
    columns, y = rows()
    X = pd.DataFrame(columns)[["price", "word"]]
    named = select(X, y, 1, "maxrel", categorical_features=["price"])
    typed = select(X.astype("category"), y, 1, "maxrel")
    assert not any("written as text" in each for each in (*named.warnings, *typed.warnings))
    assert named.details["relevance"] == pytest.approx(np.log(2), abs=0.01)


def test_levels_are_encoded_as_they_are_written():
    assert encode([["1.5"], ["2.5"], ["1.50"]]).levels.tolist() == [3]


def test_parsing_keeps_other_columns_and_their_order():
    table = read_table(pd.DataFrame({"a": ["x", "y"], "b": ["1.5", None], "c": ["u", "v"]}))
    parsed = parse_text(table)
    assert parsed.kinds.tolist() == ["string", "numeric", "string"]
    np.testing.assert_array_equal(parsed.numeric()[0][:, 0], [1.5, nan])
    assert parse_text(parsed).notes == parsed.notes


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1.5 kg", "12 kg", "n/a"], "numbers in kg", [1.5, 12, nan]),
        (["USD 1.20", "USD 1,300.00"], "numbers in USD", [1.2, 1300]),
        (["10.5mg", "250mg", "7"], "numbers in mg", [10.5, 250, 7]),
        (["1,5 kg", "12 kg", "-"], "decimal commas", [1.5, 12, nan]),
        (["1.250 EUR", "3,50 EUR"], "decimal commas", [1250, 3.5]),
        (["31/12/1970", "01/02/1970"], "dates, the day first", [364, 31]),
        (["31/12/1970 6:00", "1/2/1970 18:00"], "dates, the day first", [364.25, 31.75]),
        (["12/31/1970 12:00 AM", "2/1/1970 6:00PM"], "dates, the month first", [364, 31.75]),
        (["12/31/1970", "2/1/1970"], "dates, the month first", [364, 31]),
        (["01.02.1970", "02.02.1970 12:00"], "dates, the day first", [31, 32.5]),
    ],
)
def test_units_and_dates_as_people_write_them(texts, kind, values):
    parsed = parse_levels(texts, np.ones(len(texts), int))
    assert parsed.form == kind
    np.testing.assert_allclose(parsed.values, values)
    assert parsed.example in texts
    frame = pd.DataFrame({"a": texts * 10, "b": range(10 * len(texts))})
    assert parse_text(read_table(frame)).kinds.tolist() == ["numeric", "numeric"]


@pytest.mark.parametrize(
    "texts",
    [
        ["5 kg", "500 g"],  # which are the same
        ["01/02/2020", "03/04/2020"],  # day or month first
        ["12A", "7B", "9C"],
        ["type 1", "type 2"],
        ["10-20 kg", "20-30 kg"],
        ["12:30", "13:45", "25:15"],
        [">2024-01-01", "<1:30"],
        ["1 day", "2 days", "30 days"],
    ],
)
def test_what_cannot_be_read_for_certain_stays_text(texts):
    assert parse_levels(texts, np.ones(len(texts), int)) is None


def test_decimals_are_numbers_and_periods_are_their_first_days():
    months = pd.period_range("1970-01", periods=3, freq="M")
    frame = pd.DataFrame({"price": [Decimal("1.25"), None, Decimal(3)], "month": months})
    table = read_table(frame)
    assert table.kinds.tolist() == ["numeric", "numeric"]
    np.testing.assert_allclose(table.numeric()[0], [[1.25, 0], [nan, 31], [3, 59]])
