"""Leaks and identifiers, by hand."""

import numpy as np
import pandas as pd
import pytest

from bestk.data.frames import read_table
from bestk.data.target import read_target
from bestk.selection.look import LEAK, column_values, is_leak, names_rows


def is_identifier(values, name="x"):
    return names_rows(name, column_values(read_table(pd.DataFrame({name: values})), 0))


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
