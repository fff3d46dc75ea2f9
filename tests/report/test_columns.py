"""How columns are read: bins, and a look at each of them."""

import numpy as np
import pandas as pd

from bestk.data.codes import read_target
from bestk.data.table import read_table
from bestk.report._columns import read_column
from bestk.selection import look as _look
from bestk.selection.look import column_values, look_at


def test_bins_count_every_row_once_and_hold_what_their_cuts_say():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, np.nan, 1.5]})
    goal = read_target([0, 0, 1, 1, 1, 0], 6)
    told = read_column("x", column_values(read_table(frame), 0), np.array([1.0, 2.0]), goal)
    assert [(b.label, b.counts) for b in told.bins] == [
        ("≤ 1", (2, 0)), ("> 1 to 2", (1, 1)), ("> 2", (0, 1)), ("missing", (0, 1)),
    ]  # fmt: skip
    assert (told.missing, told.distinct) == (1, 5)


def test_rare_levels_are_put_together_and_no_row_is_lost():
    words = [f"w{min(i, 60 - i)}" for i in range(60)]
    table = read_table(pd.DataFrame({"x": words}))
    goal = read_target([0, 1] * 30, 60)
    told = read_column("x", column_values(table, 0), None, goal)
    assert told.bins[-1].label == "8 rarer values"
    assert np.sum([each.counts for each in told.bins]) == 60


def test_a_look_counts_what_is_there_and_what_is_missing():
    frame = pd.DataFrame({"n": [1.0, np.nan, 1.0], "w": ["a", "b", None], "b": [True, True, True]})
    seen = [(look.kind, look.missing, look.distinct) for look in look_at(read_table(frame))]
    assert seen == [("numeric", 1, 1), ("string", 1, 2), ("boolean", 0, 1)]


def test_a_column_is_constant_if_it_has_one_value_or_none_but_not_one_and_none():
    frame = pd.DataFrame({"one": [2.0] * 3, "none": [np.nan] * 3, "both": [2.0, np.nan, 2.0]})
    assert [look.constant for look in look_at(read_table(frame))] == [True, True, False]


def test_a_table_that_is_too_large_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(_look, "MAX_VALUES", 5)
    assert look_at(read_table(np.zeros((3, 2)))) is None
    assert look_at(read_table(np.zeros((5, 1)))) is not None
