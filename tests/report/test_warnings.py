"""Leaks, identifiers, copies, constants and thin classes, by hand."""

import numpy as np
import pandas as pd
import pytest

from bestk.codes import read_target
from bestk.report._columns import column_values
from bestk.report._warnings import (
    LEAK,
    class_cautions,
    column_cautions,
    content_of,
    is_identifier,
    is_leak,
)
from bestk.table import read_table


def kinds(frame, selected=()):
    return [caution.kind for caution in column_cautions(read_table(frame), set(selected))]


def column(values):
    return column_values(read_table(pd.DataFrame({"x": values})), 0)


def test_a_column_that_tells_the_class_of_every_row_is_a_leak():
    y = read_target([0, 1, 2] * 20, 60)
    assert is_leak(y.codes, y)
    assert is_leak(2 - y.codes, y)
    assert not is_leak(y.codes // 2, y)


@pytest.mark.parametrize(("wrong", "leaks"), [(1, True), (2, True), (3, False)])
def test_a_leak_may_be_wrong_for_one_row_in_a_hundred_of_those_that_a_guess_gets_wrong(
    wrong, leaks
):
    y = read_target([0, 1] * 200, 400)  # a guess gets 200 wrong, and a hundredth of them is 2
    codes = y.codes.copy()
    codes[:wrong] = 1 - codes[:wrong]
    assert LEAK == 0.99
    assert is_leak(codes, y) is leaks


def test_a_rare_class_is_not_told_by_a_column_that_says_nothing():
    y = read_target([1] + [0] * 399, 400)  # a guess is right for more than 99 % of the rows
    assert not is_leak(np.zeros(400, np.int64), y)


def test_bins_of_few_rows_tell_classes_by_chance_and_leak_nothing():
    y = read_target([0, 1] * 10, 20)
    assert not is_leak(np.arange(20), y)


def test_the_last_class_may_be_absent_from_the_last_bin():
    y = read_target([2, 2, 2, 2, 2, 0, 0, 1, 0, 0], 10)
    assert not is_leak(np.array([0] * 5 + [1] * 5), y)


def test_identifiers_are_texts_of_most_rows_or_whole_numbers_of_all():
    assert is_identifier(column([f"patient {i}" for i in range(20)]))
    assert is_identifier(column([f"patient {i}" for i in range(11)] + ["nobody"] * 9))
    assert not is_identifier(column([f"patient {i}" for i in range(9)] + ["nobody"] * 11))
    assert is_identifier(column(np.arange(20)[::-1]))
    assert not is_identifier(column([0, 0, *range(18)]))
    assert not is_identifier(column(np.arange(20) + 0.5))
    assert not is_identifier(column([True, False] * 10))


def test_a_short_table_has_no_identifiers():
    assert not is_identifier(column(list("abcdefghi")))


def test_columns_hold_the_same_if_their_values_are_the_same_whatever_their_type():
    assert content_of(column([1, 2])) == content_of(column([1.0, 2.0]))
    assert content_of(column([0.0, 1])) == content_of(column([-0.0, 1]))
    assert content_of(column(["a", "b"])) == content_of(column(pd.Categorical(["a", "b"])))
    assert content_of(column(["a", "b"])) != content_of(column(["b", "a"]))
    assert content_of(column(["a", "b"])) != content_of(column(["a", "c"]))
    assert content_of(column(["0", "1"])) != content_of(column([0, 1]))


def test_each_oddity_is_told_once():
    half = np.tile([1.5, 2.5], 10)
    frame = pd.DataFrame({
        "good": half, "copy": half, "flat": 1.0, "void": np.nan,
        "holes": [*[np.nan] * 11, *range(9)], "id": [f"r{i}" for i in range(20)],
    })  # fmt: skip
    assert kinds(frame) == ["identifier", "missing", "constant", "duplicate"]
    told = {c.kind: c.text for c in column_cautions(read_table(frame), {5})}
    assert told["identifier"].startswith("“id” was selected")
    assert told["missing"] == "“holes” is missing in 55% of the rows."
    assert told["constant"] == "2 columns hold one value only: “flat”, “void”."
    assert told["duplicate"] == "“good”, “copy” hold the same values."


def test_a_plain_table_has_nothing_to_warn_of():
    rng = np.random.default_rng(0)
    assert kinds(pd.DataFrame(rng.normal(size=(30, 3)))) == []


def test_classes_of_fewer_than_ten_rows_are_named_with_their_rows():
    (caution,) = class_cautions(read_target(["a"] * 10 + ["b"] * 9 + ["c"], 20))
    assert "“b” (9), “c” (1)" in caution.text
    assert "“a”" not in caution.text
    assert class_cautions(read_target(["a", "b"] * 10, 20)) == []
