"""Identifiers, by hand."""

import numpy as np
import pandas as pd

from bestk.diagnosis.column_values import column_values
from bestk.diagnosis.identifiers import names_rows
from bestk.tables.frames import read_table


def is_identifier(values, name="x"):
    return names_rows(name, column_values(read_table(pd.DataFrame({name: values})), 0))


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
