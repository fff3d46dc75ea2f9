"""Columns that are copies of each other."""

from collections.abc import Sequence

import numpy as np

from bestk._typing import Array, Floats, Mask
from bestk.diagnosis.column_values import ColumnValues
from bestk.diagnosis.lines import standardized
from bestk.native.threads import calm_blas

# Rows that show most differences between columns; the others are compared where these agree.
FIRST_ROWS = 250

# Correlations are 1 up to this, which is rounding.
TOLERANCE = 1e-12


def find_copies(columns: Sequence[ColumnValues]) -> list[list[int]]:
    """Groups of columns, by their places in the list, that are copies of each other.

    Copies are equal up to scale and shift; categories are equal up to their names.
    """
    if len(columns) < 2:
        return []
    step = max(1, len(columns[0].values) // FIRST_ROWS)
    are_alike = are_copies(columns, slice(0, None, step))
    groups: list[list[int]] = []
    in_a_group: set[int] = set()
    for i in range(len(columns)):
        if i in in_a_group:
            continue
        candidates = [j for j in np.flatnonzero(are_alike[i]).tolist() if j > i]
        copies = [j for j in candidates if are_copies([columns[i], columns[j]], slice(None))[0, 1]]
        if copies:
            in_a_group.update(copies)
            groups.append([i, *copies])
    return groups


def are_copies(columns: Sequence[ColumnValues], rows: slice) -> Mask:
    """Which columns, at [i, j], are copies of each other in some rows."""
    values = [column.values[rows] for column in columns]
    missing = np.array([column.missing[rows] for column in columns])
    are_categories = np.array([column.categories is not None for column in columns])
    alike = _are_proportional(np.array(values, np.float64), missing)
    if are_categories.any():
        renamed = np.array([_number_levels(column) for column in values])
        alike = np.where(
            are_categories | are_categories[:, np.newaxis],
            _are_proportional(renamed, missing),
            alike,
        )
    for i, j in np.argwhere(alike):
        alike[i, j] = (missing[i] == missing[j]).all()
    return alike


def _are_proportional(values: Floats, missing: Mask) -> Mask:
    """Which rows of a matrix, at [i, j], have a correlation of 1 or -1."""
    values = standardized(values, missing)
    with calm_blas(values.size * len(values)):
        return np.asarray(np.abs(values @ values.T) > 1 - TOLERANCE)


def _number_levels(values: Array) -> Floats:
    """The levels of a column, numbered in the order of their first rows; zeros if all differ."""
    levels, first_rows, codes = np.unique(values, return_index=True, return_inverse=True)
    if len(levels) == len(values):
        return np.zeros(len(values))
    rank_of_level = np.argsort(np.argsort(first_rows))
    return np.asarray(rank_of_level[codes], np.float64)
