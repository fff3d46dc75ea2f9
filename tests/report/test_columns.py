"""How columns were read: bins, and the list of all columns."""

import numpy as np
import pandas as pd

from bestk import SelectBestK
from bestk.data.frames import read_table
from bestk.data.target import read_target
from bestk.report import columns
from bestk.report.columns import describe_column
from bestk.selection.look import column_values


def test_bins_count_every_row_once_and_hold_what_their_cuts_say():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, np.nan, 1.5]})
    goal = read_target([0, 0, 1, 1, 1, 0], 6)
    told = describe_column(
        "x", column_values(read_table(frame), 0), np.array([1.0, 2.0]), goal.codes
    )
    assert [(b.label, b.counts) for b in told.bins] == [
        ("≤ 1", (2, 0)), ("> 1 to 2", (1, 1)), ("> 2", (0, 1)), ("missing", (0, 1)),
    ]  # fmt: skip
    assert (told.missing, told.distinct) == (1, 5)


def test_rare_levels_are_put_together_and_no_row_is_lost():
    words = [f"w{min(i, 60 - i)}" for i in range(60)]
    table = read_table(pd.DataFrame({"x": words}))
    goal = read_target([0, 1] * 30, 60)
    told = describe_column("x", column_values(table, 0), None, goal.codes)
    assert told.bins[-1].label == "8 rarer values"
    assert np.sum([each.counts for each in told.bins]) == 60


def test_the_list_of_columns_has_what_is_there_and_what_is_missing():
    frame = pd.DataFrame({"n": [1.5, np.nan, 2.5] * 4, "w": ["a", "b", None] * 4})
    listed = SelectBestK(1).fit(frame, [0, 1, 1] * 4).report(frame, [0, 1, 1] * 4, errors=False)
    found = [(c.kind, c.missing, c.distinct) for c in listed.facts.table.listed]
    assert found == [("numeric", 4, 2), ("string", 4, 2)]


def test_of_a_tall_table_fewer_columns_are_listed(monkeypatch):
    monkeypatch.setattr(columns, "MAX_LISTED_VALUES", 25)
    frame = pd.DataFrame({"a": np.arange(12) % 3, "b": np.arange(12) % 2, "c": np.arange(12) % 4})
    made = SelectBestK(1).fit(frame, frame["c"]).report(frame, frame["c"], errors=False)
    assert len(made.facts.table.listed) == 2
    assert "The 2 most relevant of 3 columns" in made.html
