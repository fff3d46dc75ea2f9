"""How columns were read: bins, the target in them, and the list of all columns."""

import numpy as np
import pandas as pd
import pytest

from bestk import SelectBestK
from bestk.report import columns, make_report
from bestk.report.columns import ShownTarget, describe_column
from bestk.tables.frames import read_table
from bestk.tables.target import parse_target


def described(values, y, nominal=False):
    """The description of a column of a table that has no other."""
    table = read_table(pd.DataFrame({"x": values}))
    goal = ShownTarget.of(parse_target(y, table.n_samples))
    return describe_column(table, 0, goal, nominal=nominal)


def test_bins_count_every_row_once_and_missing_values_last():
    told = described([0.0, 1.0, 2.0, 3.0, np.nan, 1.0], [0, 0, 1, 1, 1, 0])
    assert [(b.label, b.counts) for b in told.bins] == [
        ("0", (1, 0)), ("1", (2, 0)), ("2", (0, 1)), ("3", (0, 1)), ("missing", (0, 1)),
    ]  # fmt: skip
    assert (told.missing, told.distinct) == (1, 4)


def test_many_numbers_are_in_bins_of_equal_frequency():
    told = described(np.arange(80.0), np.arange(80) % 2)
    assert [each.rows for each in told.bins] == [10] * 8
    assert told.bins[0].label == "≤ 9.875"
    assert told.bins[-1].label == "> 69.12"


def test_rare_levels_are_put_together_and_no_row_is_lost():
    told = described([f"w{min(i, 60 - i)}" for i in range(60)], np.arange(60) % 2)
    assert told.bins[-1].label == "24 rarer values"
    assert sum(each.rows for each in told.bins) == 60
    assert told.bins[-1].value == pytest.approx(told.bins[-1].counts[1] / told.bins[-1].rows)


x = np.arange(100)


@pytest.mark.parametrize(
    ("values", "y", "trend"),
    [(x, x >= 50, "↑ 0% to 100%"), (x, x < 50, "↓ 100% to 0%"),
     (x, np.abs(x - 49.5) > 25, "↕ 0% to 100%"), (x % 4, x % 4 / 1.5 + 2.5, "↑ 2.5 to 4.5"),
     (x, x // 34, "0 → 2"), (x, np.maximum(x - 40, 0) // 20, "↑ 0% to 100%"),
     (np.where(x < 50, "a", "b"), x < 25, "0% (b) to 50% (a)"),
     (np.where(x < 50, "a", "b"), x // 34, "")],
)  # fmt: skip
def test_the_trend_is_that_of_the_target_from_the_lowest_values_to_the_highest(values, y, trend):
    assert described(values, y).trend == trend


def test_codes_of_categories_have_no_direction():
    assert described(x % 3, x % 3 == 2, nominal=True).trend == "0% (0) to 100% (2)"


def test_bins_of_few_rows_decide_on_no_trend():
    values = np.where(x == 99, 5, x // 50)
    assert described(values, np.where(x == 99, 0, x // 50)).trend == "↑ 0% to 100%"


def test_the_rate_is_that_of_all_classes_but_the_most_frequent():
    for y in (x < 20, x >= 20, np.where(x < 20, x % 2, 2)):
        assert [each.value for each in described(x // 20, y).bins] == [1, 0, 0, 0, 0]


def test_the_rarest_of_many_classes_are_counted_as_one():
    y = np.minimum(x // 4, 11)
    table = read_table(pd.DataFrame({"x": x}))
    goal = ShownTarget.of(parse_target(y.astype(str), table.n_samples))
    assert len(goal.names) == 8
    assert goal.names[0] == "11"  # the most frequent
    assert goal.names[-1] == "5 other classes"
    assert np.bincount(goal.codes).tolist() == [56, 4, 4, 4, 4, 4, 4, 20]


def test_the_list_of_columns_has_what_is_there_and_what_is_missing():
    frame = pd.DataFrame({"n": [1.5, np.nan, 2.5] * 4, "w": ["a", "b", None] * 4})
    goal = [0, 1, 1] * 4
    listed = make_report(SelectBestK(1).fit(frame, goal), frame, goal, errors=False)
    cells = '<td class="n" data-value="4">4</td><td class="n" data-value="2">2</td>'
    for kind in ("numeric", "string"):
        assert f"<td><bdi>{kind}</bdi></td>{cells}" in listed.html


def test_of_a_tall_table_fewer_columns_are_listed(monkeypatch):
    monkeypatch.setattr(columns, "MAX_LISTED_VALUES", 25)
    frame = pd.DataFrame({"a": np.arange(12) % 3, "b": np.arange(12) % 2, "c": np.arange(12) % 4})
    made = make_report(SelectBestK(1).fit(frame, frame["c"]), frame, frame["c"], errors=False)
    assert len(made.facts.listed) == 2
    assert "2 of 3 columns: selected and most" in made.html
