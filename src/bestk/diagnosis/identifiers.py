"""Columns that name rows, such as numbers of customers."""

import re

import numpy as np

from bestk._typing import Array
from bestk.diagnosis.column_values import ColumnValues

# Text with a different value in more than this part of the rows is an identifier.
MOST_ROWS = 0.5

# Most columns of numbers that are no identifiers repeat, or have fractions, among so many rows.
FIRST_VALUES = 32

# Rows of a table in which an identifier can be recognized.
MIN_ROWS = 10

# Names that identifiers have, such as "id", "customer_id" and "customerId".
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")


def names_rows(name: str, column: ColumnValues) -> bool:
    """Whether a column is an identifier: text that differs in most rows, or integers in all."""
    n_rows = len(column.values)
    if n_rows < MIN_ROWS or column.kind == "boolean":
        return False
    if column.categories is not None:
        return _differs_in_most_rows(column)
    if column.kind != "numeric":
        return False
    # The first values decide for most columns, in less time than all of them take.
    if not _may_be_numbered(column.values[:FIRST_VALUES]):
        return False
    if column.missing.any() or _has_fractions(column.values):
        return False
    spread = np.ptp(column.values)
    if spread < n_rows - 1:
        return False
    if len(np.unique(column.values)) < n_rows:
        return False
    # Different integers may be quantities, unless they are sorted, without large gaps, or named so.
    steps = np.diff(np.asarray(column.values, np.float64))
    is_sorted = bool((steps > 0).all() or (steps < 0).all())
    has_small_gaps = spread < 2 * n_rows
    is_named_so = IDENTIFIER.search(name) is not None
    return is_sorted or has_small_gaps or is_named_so


def _differs_in_most_rows(column: ColumnValues) -> bool:
    """Whether text has more different values than half of the rows."""
    assert column.categories is not None
    n_needed = MOST_ROWS * len(column.values)
    if len(column.categories) <= n_needed:
        return False
    present = column.values[~column.missing]
    return len(np.unique(present)) > n_needed


def _may_be_numbered(first: Array) -> bool:
    """Whether the first values are different whole numbers."""
    are_different = len(set(first.tolist())) == len(first)
    return are_different and not _has_fractions(first)


def _has_fractions(values: Array) -> bool:
    """Whether any of some numbers is not whole."""
    if values.dtype.kind != "f":
        return False
    return bool((values != np.floor(values)).any())
