"""Columns that are copies of each other."""

from collections.abc import Sequence

import numpy as np

from bestk._typing import Array, Floats, Mask
from bestk.diagnosis.column_values import ColumnValues
from bestk.diagnosis.lines import standardized
from bestk.native.threads import calm_blas

# About so many rows are compared first, which show most differences between columns. All rows are
# compared only for columns that agree in these.
FIRST_ROWS = 250

# Correlations that differ from 1 by less than this are 1, but for rounding.
TOLERANCE = 1e-12


def find_copies(columns: Sequence[ColumnValues]) -> list[list[int]]:
    """Groups of columns, by their places in the list, that are copies of each other.

    Copies are equal up to scale and shift; categories are equal up to their names.
    """
    if len(columns) < 2:
        return []
    n_rows = len(columns[0].values)
    step = max(1, n_rows // FIRST_ROWS)
    may_be_copies = are_copies(columns, slice(0, None, step))
    all_rows = slice(None)
    groups: list[list[int]] = []
    in_a_group: set[int] = set()
    for i, column in enumerate(columns):
        if i in in_a_group:
            continue
        later = [j for j in np.flatnonzero(may_be_copies[i]).tolist() if j > i]
        copies = [j for j in later if are_copies([column, columns[j]], all_rows)[0, 1]]
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
        # Of categories, and of numbers beside categories, only the order of first rows counts.
        numbered = np.array([_number_levels(column) for column in values])
        alike_but_for_names = _are_proportional(numbered, missing)
        has_categories = are_categories | are_categories[:, np.newaxis]
        alike = np.where(has_categories, alike_but_for_names, alike)
    for i, j in np.argwhere(alike):
        alike[i, j] = (missing[i] == missing[j]).all()
    return alike


def _are_proportional(values: Floats, missing: Mask) -> Mask:
    """Which rows of a matrix, at [i, j], have a correlation of 1 or -1.

    ``values`` and ``missing``: of shape (columns of the table, samples).
    """
    values = standardized(values, missing)
    n_products = values.size * len(values)
    with calm_blas(n_products):
        correlation = values @ values.T
    return np.asarray(np.abs(correlation) > 1 - TOLERANCE)


def _number_levels(values: Array) -> Floats:
    """The levels of a column, numbered in the order of their first rows; zeros if all differ."""
    levels, first_rows, codes = np.unique(values, return_index=True, return_inverse=True)
    if len(levels) == len(values):
        return np.zeros(len(values))
    rank_of_level = np.argsort(np.argsort(first_rows))
    return np.asarray(rank_of_level[codes], np.float64)
