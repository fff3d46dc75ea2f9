"""Leaks, identifiers, copies, constants and thin classes, by hand."""

import numpy as np
import pandas as pd
import pytest

from bestk.data.codes import read_target
from bestk.data.table import read_table
from bestk.report._warnings import class_cautions, column_cautions
from bestk.selection.look import LEAK, is_leak, look_at


def cautions(frame, selected=()):
    table = read_table(frame)
    return column_cautions(table.names, table.n_samples, look_at(table), set(selected))


def kinds(frame, selected=()):
    return [caution.kind for caution in cautions(frame, selected)]


def look(values):
    (seen,) = look_at(read_table(pd.DataFrame({"x": values})))
    return seen


def is_identifier(values, name="x"):
    (seen,) = look_at(read_table(pd.DataFrame({name: values})))
    return seen.identifier


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
    assert is_identifier([f"patient {i}" for i in range(20)])
    assert is_identifier([f"patient {i}" for i in range(11)] + ["nobody"] * 9)
    assert not is_identifier([f"patient {i}" for i in range(9)] + ["nobody"] * 11)
    assert is_identifier(np.arange(20)[::-1])
    assert is_identifier(np.arange(20) ** 3)
    assert not is_identifier([0, 0, *range(18)])
    assert not is_identifier([np.nan, *range(19)])
    assert not is_identifier(np.arange(20) + 0.5)
    assert not is_identifier([True, False] * 10)


def test_whole_numbers_that_differ_by_chance_name_no_rows_unless_they_are_called_so():
    measured = np.random.default_rng(0).permutation(20) * 70
    assert not is_identifier(measured)
    assert not is_identifier(measured, "acid")
    for name in ("id", "patient_id", "Row", "PatientId", "key.1"):
        assert is_identifier(measured, name)
    assert is_identifier(measured // 70 + 5)


def test_a_short_table_has_no_identifiers():
    assert not is_identifier(list("abcdefghi"))


def test_columns_hold_the_same_if_their_values_are_the_same_whatever_their_type():
    assert look([1, 2]).content == look([1.0, 2.0]).content
    assert look([0.0, 1]).content == look([-0.0, 1]).content
    assert look(["a", "b"]).content == look(pd.Categorical(["a", "b"])).content
    assert look(["a", "b"]).content != look(["b", "a"]).content
    assert look(["a", "b"]).content != look(["a", "c"]).content
    assert look(["0", "1"]).content != look([0, 1]).content


def test_each_oddity_is_told_once():
    half = np.tile([1.5, 2.5], 10)
    frame = pd.DataFrame({
        "good": half, "copy": half, "flat": 1.0, "void": np.nan,
        "holes": [*[np.nan] * 11, *range(9)], "id": [f"r{i}" for i in range(20)],
    })  # fmt: skip
    assert kinds(frame) == ["identifier", "missing", "constant", "duplicate"]
    told = {c.kind: c.text for c in cautions(frame, {5})}
    assert told["identifier"].startswith("“id”, which was selected, has a different value")
    assert told["missing"] == "Missing in most of the rows: “holes” (55%)."
    assert told["constant"] == "2 columns hold one value only: “flat”, “void”."
    assert told["duplicate"] == "The same values are in “good”, “copy”."


def test_a_constant_that_was_selected_is_named():
    frame = pd.DataFrame({"flat": [1.0] * 20, "good": np.tile([1.5, 2.5], 10)})
    (caution,) = cautions(frame, {0, 1})
    assert caution.advice == "Selected all the same: “flat”; a smaller k may do."


def test_of_many_odd_columns_some_are_named_and_the_rest_counted():
    numbers = np.random.default_rng(0).normal(size=(20, 11))
    frame = pd.DataFrame({f"id {j}": [f"{j} {i}" for i in range(20)] for j in range(10)})
    for j in range(11):
        frame[f"first {j}"] = frame[f"second {j}"] = numbers[:, j]
        frame[f"holes {j}"] = np.where(np.arange(20) < 15, np.nan, numbers[:, j])
    told = {c.kind: c.text for c in cautions(frame)}
    assert "“id 7” and 2 more have a different value" in told["identifier"]
    assert told["missing"].endswith("“holes 7” (75%) and 3 more.")
    assert told["duplicate"].endswith("“first 7”, “second 7” and 3 more groups of columns.")


def test_a_table_too_large_to_be_looked_at_is_noted():
    (caution,) = column_cautions(["a"], 10, None, set())
    assert caution.kind == "note"


def test_a_plain_table_has_nothing_to_warn_of():
    rng = np.random.default_rng(0)
    assert kinds(pd.DataFrame(rng.normal(size=(30, 3)))) == []


def test_classes_of_fewer_than_ten_rows_are_named_with_their_rows():
    (caution,) = class_cautions(read_target(["a"] * 10 + ["b"] * 9 + ["c"], 20))
    assert "“b” (9), “c” (1)" in caution.text
    assert "“a”" not in caution.text
    assert class_cautions(read_target(["a", "b"] * 10, 20)) == []
