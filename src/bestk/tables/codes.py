"""Discrete tables as small integers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Indices
from bestk.errors import DataError
from bestk.native import as_table, kernels
from bestk.native.threads import run_tiles, spans, threads
from bestk.tables.frames import read_table
from bestk.tables.table import check_finite

# The largest number of different values of a column that is to be counted.
MAX_LEVELS = 2**15

# Seconds to encode a value of floats and of integers, about.
FLOAT_COST = 1.5e-9
INTEGER_COST = 2e-10

# The smallest and the usual number of columns that a thread encodes at once, so that long pieces
# of rows are read.
MIN_STRIP = 64
STRIP = 256

# Where columns are short, a thread encodes at least so many values at once.
STRIP_VALUES = 2**15

DISCRETISE = "discretise it first, e.g. CAIM().fit_transform(X, y)"


@dataclass(frozen=True)
class Codes:
    """A discrete table: small integers, one row per feature."""

    values: NDArray[np.uint8] | NDArray[np.uint16]
    """One row for each feature, one column for each sample; C-contiguous."""

    levels: Indices
    """The number of levels of each feature: its values are all whole numbers from 0 below it."""

    names: Sequence[str]
    """The names of the features."""

    width: int | None = None
    """The number of columns of each table, where several stand side by side."""

    def __post_init__(self) -> None:
        values = self.values
        levels = self.levels
        if values.ndim != 2 or values.dtype not in (np.uint8, np.uint16):
            given = f"{values.dtype} of shape {values.shape}"
            raise DataError(f"values must be a uint8 or uint16 matrix, not {given}; use encode(X)")
        if not values.flags.c_contiguous:
            raise DataError("values must be C-contiguous; use np.ascontiguousarray(values)")
        if levels.dtype != np.int64 or levels.shape != (len(values),):
            given = f"{levels.dtype} of shape {levels.shape}"
            raise DataError(f"levels must be int64 of shape ({len(values)},), not {given}")
        if len(self.names) != len(values):
            raise DataError(f"{len(values)} features need as many names, not {len(self.names)}")

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return int(self.values.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of rows of the table."""
        return int(self.values.shape[1])


def encode(X: Any, order: Indices | None = None) -> Codes:
    """Write a discrete table as dense codes: the levels of each column, in order, are 0, 1, ...

    Parameters
    ----------
    X : array, frame, sparse matrix, list of rows, or Table
        Whole numbers from 0 up, booleans, strings or categories. Missing values (NaN, None, NA,
        null) are the last level of their column, which may have 2**15.
    order : ndarray of int64, default=None
        The rows in the order in which they are written; None for their own.

    Examples
    --------
    >>> codes = encode([[7, "red"], [3, "blue"], [7, None]])
    >>> codes.values
    array([[1, 0, 1],
           [1, 0, 2]], dtype=uint8)
    >>> codes.levels
    array([2, 3])
    """
    table = read_table(X)
    values: Array = np.empty((table.n_features, table.n_samples), dtype=np.uint8)
    levels = np.empty(table.n_features, dtype=np.int64)
    for block in table.blocks:
        write = _encode_numbers if block.categories is None else _encode_categories
        for columns, strip in block.strips():
            levels[columns] = write(strip, order, columns, table.names, values)
            if values.dtype == np.uint8 and levels[columns].max() > 256:
                # One byte does not hold the codes of this strip: they are written again.
                values = values.astype(np.uint16)
                write(strip, order, columns, table.names, values)
    return Codes(values, levels, table.names)


def _encode_categories(
    strip: Array, order: Indices | None, columns: Indices, names: Sequence[str], values: Array
) -> Indices:
    """Write the codes of categories, and after them that of missing values, to ``values``.

    Returns the number of levels of each column.

    Parameters
    ----------
    strip : ndarray of shape (n_samples, n_columns)
        The codes of some columns of the table, -1 where missing.
    order : ndarray or None
        The rows in the order in which they are written; None for their own.
    columns : ndarray
        The places of the columns in the table, which are the rows of ``values`` to write to.
    names : sequence of str
        The names of all columns.
    values : ndarray of shape (n_features, n_samples)
        Where the codes are written to.
    """
    n_categories = strip.max(axis=0).astype(np.int64) + 1
    is_missing = strip < 0
    levels: Indices = n_categories + is_missing.any(axis=0)
    _refuse_many(levels, columns, names)
    codes = np.where(is_missing, n_categories, strip)
    if order is not None:
        codes = codes[order]
    values[columns] = codes.T
    return levels


def _encode_numbers(
    strip: Array, order: Indices | None, columns: Indices, names: Sequence[str], values: Array
) -> Indices:
    """Write the codes of whole numbers, NaN where missing, to ``values``; return the levels.

    See :func:`_encode_categories` for the arguments.
    """
    n_columns = len(columns)
    n_rows = len(strip)
    levels = np.empty(n_columns, np.int64)
    # Columns that the kernel leaves: their values are too large to look up, or no whole numbers.
    is_left = np.zeros(n_columns, np.uint8)
    bytes_of_one = values if values.dtype == np.uint8 else None
    bytes_of_two = values if values.dtype == np.uint16 else None
    table = as_table(strip)
    cost = FLOAT_COST if table.dtype.kind == "f" else INTEGER_COST
    with threads(seconds=cost * strip.size) as n_threads:
        n_for_each_thread = -(-n_columns // n_threads)
        width = min(STRIP, max(MIN_STRIP, n_for_each_thread))
        width = max(width, STRIP_VALUES // n_rows)
        write = kernels.write_codes.bind(
            table, order, n_rows, columns, bytes_of_one, bytes_of_two, levels, is_left
        )
        run_tiles(lambda span: write(*span), spans(n_columns, width))
    for j in np.flatnonzero(is_left):
        place = columns[j]
        column = strip[:, j] if order is None else strip[order, j]
        codes, n_levels = _rank_column(column, names[place])
        values[place] = codes
        levels[j] = n_levels
    _refuse_many(levels, columns, names)
    return levels


def _rank_column(column: Array, name: str) -> tuple[Indices, int]:
    """Codes and levels of a column whose values are too large to look up; or why it has none."""
    where = f"column {name!r}"
    if column.dtype.kind == "f":
        check_finite(where, column)
        fractional = column[column % 1 > 0]
        if len(fractional):
            raise DataError(
                f"{where} is not discrete: it holds {fractional[0]}; {DISCRETISE}, "
                "pass it as strings if these are codes, or use information='gaussian'"
            )
    lowest = np.nanmin(column)
    if lowest < 0:
        raise DataError(
            f"{where} has negative codes, down to {lowest}; shift them to start at 0, "
            "or pass the column as strings or categories"
        )
    # NaN is the last.
    levels, codes = np.unique(column, return_inverse=True)
    return codes, len(levels)


def _refuse_many(levels: Indices, columns: Indices, names: Sequence[str]) -> None:
    """Refuse columns of more levels than can be counted."""
    if levels.max() > MAX_LEVELS:
        first = int(np.argmax(levels > MAX_LEVELS))
        raise DataError(
            f"column {names[columns[first]]!r} has {levels[first]} levels, "
            f"more than {MAX_LEVELS}; {DISCRETISE}, or drop it"
        )


def ends(lengths: Indices) -> Indices:
    """Where pieces laid end to end begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])
