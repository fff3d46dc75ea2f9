"""Properties of single columns: bins, identifier, determines a target."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.table import Block, Table
from bestk.data.target import Target

MOSTLY = 0.5  # fraction of the rows: different texts, or missing values
FIRST_VALUES = 32  # most columns that are no identifiers show it here
MIN_ROWS = 10  # of a table in which an identifier can be recognized
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
LEAK = 0.99  # accuracy of one column, and fraction of the errors of guessing that it avoids
MAX_DISTINCT = 24  # numbers of a column that are bins of their own
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


def bin_codes(
    column: Values, cuts: NDArray[np.float64] | None, most: int
) -> NDArray[np.int64] | None:
    """The bin of each row, the last one for missing values.

    Without ``cuts`` every different number is a bin; None if there are more than ``most``.
    """
    if cuts is not None:
        codes, n = np.searchsorted(cuts, column.values, side="left"), len(cuts) + 1
    elif column.categories is not None:
        codes, n = np.asarray(column.values, np.int64), len(column.categories)
    else:
        levels = np.unique(column.values[~column.missing])
        codes, n = np.searchsorted(levels, column.values), len(levels)
        if n > most and column.kind != "boolean":
            return None
    return np.where(column.missing, n, codes).astype(np.int64)


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

    Examples
    --------
    >>> from bestk.data.target import read_target
    >>> y = read_target([0, 1] * 10, 20)
    >>> is_leak(np.array([0, 1] * 10), y), is_leak(np.array([0, 1] * 9 + [1, 1]), y)
    (True, False)
    """
    n, n_bins = len(codes), len(np.unique(codes))
    if n < MIN_ROWS_PER_BIN * n_bins:
        return False
    counts = np.bincount(codes * target.n_classes + target.codes)
    counts = np.append(counts, np.zeros(-len(counts) % target.n_classes, np.int64))
    right = int(counts.reshape(-1, target.n_classes).max(axis=1).sum())
    wrong, guessed = n - right, n - int(target.counts.max())
    return wrong <= (1 - LEAK) * n and wrong <= (1 - LEAK) * guessed


def which_determine(columns: list[Values], target: Target) -> list[bool]:
    """Which columns alone nearly determine the class; numbers of many values are cut by MDLP."""
    codes = [bin_codes(column, None, MAX_DISTINCT) for column in columns]
    many = [i for i, found in enumerate(codes) if found is None]
    if many:
        from bestk.discretize import MDLP

        values = np.column_stack([columns[i].values for i in many])
        for i, cuts in zip(many, MDLP().fit(values, target.codes).cut_points_, strict=True):
            codes[i] = bin_codes(columns[i], cuts, 0)
    return [found is not None and is_leak(found, target) for found in codes]
