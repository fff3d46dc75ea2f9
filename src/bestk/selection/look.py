"""Columns that may mislead: identifiers, those that determine a target, copies."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats
from bestk.data.table import Block, Table
from bestk.data.target import Target
from bestk.native.threads import calm_blas

MOSTLY = 0.5  # fraction of the rows: different texts, or missing values
FIRST_VALUES = 32  # most columns that are no identifiers show it here
MIN_ROWS = 10  # of a table in which an identifier can be recognized
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
LEAK = 0.99  # accuracy of one column, and fraction of the errors of guessing that it avoids
COPY_ROWS = 1_000  # rows that show most differences between columns
COPY_TOLERANCE = 1e-12  # of 1 - |correlation|
TINY = np.finfo(float).tiny
MIN_ROWS_PER_BIN = 5  # with fewer on average, a column determines classes by chance


@dataclass(frozen=True)
class Values:
    """One column of a table."""

    kind: str
    values: NDArray[Any]  # numbers, booleans, or codes of the categories
    missing: NDArray[np.bool_]
    categories: list[Any] | None


def column_values(table: Table, place: int) -> Values:
    """The values of one column."""
    for block in table.blocks:
        j = int(np.searchsorted(block.columns, place))
        if j < len(block.columns) and block.columns[j] == place:
            return _of_block(block, j)
    raise IndexError(f"the table has no column {place}; it has {table.n_features}")


def _of_block(block: Block, j: int) -> Values:
    strip = block.values[:, j : j + 1]
    strip = strip.toarray() if hasattr(strip, "toarray") else np.asarray(strip)
    categories = None if block.categories is None else block.categories[j]
    values = strip[:, 0]
    return Values(block.kind, values, block.missing(values), categories)


def names_rows(name: str, column: Values) -> bool:
    """Whether a column is an identifier: text that differs in most rows, or integers in all.

    Integers must also rise or fall with the rows, have a range of about the number of rows, or
    have a name such as ``id``.
    """
    rows = len(column.values)
    if rows < MIN_ROWS or column.kind == "boolean":
        return False
    if column.categories is not None:
        return len(np.unique(column.values[~column.missing])) > MOSTLY * rows
    first = column.values[:FIRST_VALUES]
    if column.kind != "numeric" or len(set(first.tolist())) < len(first) or _has_fractions(first):
        return False
    if column.missing.any() or _has_fractions(column.values):
        return False
    spread = np.ptp(column.values)
    if spread < rows - 1 or len(np.unique(column.values)) < rows:
        return False
    steps = np.diff(np.asarray(column.values, np.float64))
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return in_order or spread < 2 * rows or IDENTIFIER.search(name) is not None


def _has_fractions(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f":
        return False
    return bool((values != np.floor(values)).any())


def is_leak(codes: NDArray[np.int64], target: Target) -> bool:
    """Whether the bins of one column nearly determine the class.

    That is: predicting the most frequent class of each bin is right for 99% of the rows, and for
    99% of those for which the most frequent class of all is wrong; bins have five rows on average.
    """
    n, n_bins = len(codes), np.count_nonzero(np.bincount(codes))
    if n < MIN_ROWS_PER_BIN * n_bins:
        return False
    counts = np.bincount(codes * target.n_classes + target.codes)
    counts = np.append(counts, np.zeros(-len(counts) % target.n_classes, np.int64))
    right = int(counts.reshape(-1, target.n_classes).max(axis=1).sum())
    wrong, guessed = n - right, n - int(target.counts.max())
    return wrong <= (1 - LEAK) * n and wrong <= (1 - LEAK) * guessed


def find_copies(columns: list[Values]) -> list[list[int]]:
    """Groups of equal columns, up to scale and shift, or to the names of categories."""
    if len(columns) < 2:
        return []
    some = slice(0, None, max(1, len(columns[0].values) // COPY_ROWS))
    groups, known = list[list[int]](), set[int]()
    for i, row in enumerate(np.triu(are_copies(columns, some), 1)):
        others = [] if i in known else np.flatnonzero(row).tolist()
        same = [j for j in others if are_copies([columns[i], columns[j]], slice(None))[0, 1]]
        known.update(same)
        groups += [[i, *same]] if same else []
    return groups


def are_copies(columns: list[Values], rows: slice) -> NDArray[np.bool_]:
    """Which columns have a correlation of 1 or -1, and the same missing rows, among some rows."""
    missing = np.array([column.missing[rows] for column in columns])
    values = np.array([_as_numbers(column, rows) for column in columns])
    values[missing] = 0.0
    values /= np.maximum(np.abs(values).max(axis=1, keepdims=True), TINY)  # no overflow
    values -= values.sum(axis=1, keepdims=True) / np.maximum((~missing).sum(axis=1), 1)[:, None]
    values[missing] = 0.0
    values /= np.maximum(np.linalg.norm(values, axis=1, keepdims=True), TINY)
    with calm_blas(values.size * len(values)):
        alike = np.abs(values @ values.T) > 1 - COPY_TOLERANCE
    for a, b in np.argwhere(alike):
        alike[a, b] = (missing[a] == missing[b]).all()
    return alike


def _as_numbers(column: Values, rows: slice) -> Floats:
    """Some values; categories are numbered in the order of their first rows."""
    values = column.values[rows]
    if column.categories is not None:
        _, first, codes = np.unique(values, return_index=True, return_inverse=True)
        values = np.argsort(np.argsort(first))[codes]
    return values.astype(np.float64)
