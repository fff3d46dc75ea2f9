"""Columns of a table: their values, whether they name rows, and lines in them."""

import re
from typing import Any, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Mask
from bestk.information import normal_scores
from bestk.selectors.folds import move_outliers
from bestk.tables.table import Block, Table

MOSTLY = 0.5  # fraction of the rows: different texts, or missing values
FIRST_VALUES = 32  # most columns that are no identifiers show it here
MIN_ROWS = 10  # of a table in which an identifier can be recognized
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
TINY = np.finfo(float).tiny


class Values(NamedTuple):
    """One column of a table."""

    block: Block
    values: Array  # numbers, booleans, or codes of the categories
    categories: list[Any] | None

    @property
    def missing(self) -> Mask:
        """Which values are missing."""
        return self.block.missing(self.values)


def column_values(table: Table, place: int) -> Values:
    """The values of one column, which are copied only if they are sparse."""
    for block in table.blocks:
        j = int(block.columns.searchsorted(place))
        if j < len(block.columns) and block.columns[j] == place:
            break
    strip = block.values[:, j : j + 1]
    values = (strip.toarray() if hasattr(strip, "toarray") else strip)[:, 0]
    return Values(block, values, None if block.categories is None else block.categories[j])


def names_rows(name: str, column: Values) -> bool:
    """Whether a column is an identifier: text that differs in most rows, or integers in all."""
    rows = len(column.values)
    kind = column.block.kind
    if rows < MIN_ROWS or kind == "boolean":
        return False
    if column.categories is not None:
        most = MOSTLY * rows
        known = column.values[~column.missing] if len(column.categories) > most else ()
        return len(np.unique(known)) > most
    first = column.values[:FIRST_VALUES]
    if kind != "numeric" or len(set(first.tolist())) < len(first) or _has_fractions(first):
        return False
    if column.missing.any() or _has_fractions(column.values):
        return False
    spread = np.ptp(column.values)
    if spread < rows - 1 or len(np.unique(column.values)) < rows:
        return False
    steps = np.diff(np.asarray(column.values, np.float64))
    # integers may be quantities, unless they are sorted, without large gaps, or named so
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return in_order or spread < 2 * rows or IDENTIFIER.search(name) is not None


def _has_fractions(values: Array) -> bool:
    return values.dtype.kind == "f" and bool((values != np.floor(values)).any())


def line_shares(table: Table, y: Floats) -> Floats:
    """The share of the variance of y, or of its ranks, that a line in each number explains."""
    both, shares = np.vstack([*table.numeric()[0].T, y]), []
    for values in (both, normal_scores(both.T)):
        near = move_outliers(standardized(values, np.isnan(values)).T, np.arange(len(y)))
        lines = standardized(near.T)
        shares.append((lines[:-1] @ lines[-1]) ** 2)
    return np.maximum(*shares)


def standardized(values: Floats, missing: Any = False) -> Floats:
    """The rows of a matrix, of mean 0 and length 1; 0 where they are missing or constant."""
    known = ~np.broadcast_to(missing, values.shape)
    values = np.where(known, values, 0.0)
    values /= np.maximum(np.abs(values).max(axis=1, keepdims=True), TINY)  # no overflow
    values -= values.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1), 1)[:, np.newaxis]
    values *= known
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), TINY)
