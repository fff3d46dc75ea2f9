"""Discrete data as small integers: the codes of a table, the classes of a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Floats, Indices
from bestk.data.objects import check_exact, check_finite
from bestk.data.table import Block, read_column, read_table
from bestk.errors import DataError
from bestk.native import as_table, kernels
from bestk.native.threads import run_tiles, spans, threads

MAX_LEVELS = 2**15
READ_COST = 2e-9  # seconds for a value
STRIP = 32  # columns a thread encodes at once: whole cache lines of the smallest dtypes
DISCRETISE = "discretise it first, e.g. CAIM().fit_transform(X, y)"


@dataclass(frozen=True)
class Codes:
    """A discrete table: small integers, one row per feature."""

    values: NDArray[np.uint8] | NDArray[np.uint16]  # (n_features, n_samples), C-contiguous
    levels: Indices  # values[i] lies in 0..levels[i]-1, and every level occurs
    names: Sequence[str]

    def __post_init__(self) -> None:
        values, levels = self.values, self.levels
        if values.ndim != 2 or values.dtype not in (np.uint8, np.uint16):
            came = f"{values.dtype} of shape {values.shape}"
            raise DataError(f"values must be a uint8 or uint16 matrix, not {came}; use encode(X)")
        if not values.flags.c_contiguous:
            raise DataError("values must be C-contiguous; use np.ascontiguousarray(values)")
        if levels.dtype != np.int64 or levels.shape != (len(values),):
            came = f"{levels.dtype} of shape {levels.shape}"
            raise DataError(f"levels must be int64 of shape ({len(values)},), not {came}")
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


@dataclass(frozen=True)
class Target:
    """The class of every sample."""

    codes: Indices  # classes[codes] are the labels
    classes: Array  # sorted
    counts: Indices  # how many samples each class has, never 0

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)


def encode(X: Any, *, missing: str = "category") -> Codes:
    """Write a discrete table as dense codes: the levels of each column, in order, are 0, 1, ...

    Parameters
    ----------
    X : array, frame, sparse matrix, list of rows, or Table
        Whole numbers from 0 up, booleans, strings or categories.
    missing : {"category", "error"}
        Whether missing values (NaN, None, NA, null) are the last level of their column or refused.

    Returns
    -------
    Codes
        One row per feature, of at most 2**15 levels.

    Examples
    --------
    >>> codes = encode([[7, "red"], [3, "blue"], [7, None]])
    >>> codes.values
    array([[1, 0, 1],
           [1, 0, 2]], dtype=uint8)
    >>> codes.levels
    array([2, 3])
    """
    table = read_table(X, missing=missing)
    values: Array = np.empty((table.n_features, table.n_samples), dtype=np.uint8)
    levels = np.empty(table.n_features, dtype=np.int64)
    for block in table.blocks:
        write = _encode_numbers if block.categories is None else _encode_categories
        for columns, strip in block.strips():
            levels[columns] = write(strip, columns, table.names, values)
            if values.dtype == np.uint8 and levels[columns].max() > 256:
                values = values.astype(np.uint16)
                write(strip, columns, table.names, values)
    return Codes(values, levels, table.names)


def read_target(y: Any, n_samples: int) -> Target:
    """Read the class of every sample: whole numbers, booleans, strings or categories.

    Examples
    --------
    >>> read_target(["no", "yes", "no"], n_samples=3)
    Target(codes=array([0, 1, 0]), classes=array(['no', 'yes'], dtype='<U3'), counts=array([2, 1]))
    """
    codes, classes = read_labels(y, n_samples)
    if len(classes) == 1:
        raise DataError(f"y has one class only, {classes[0]}; at least two are needed")
    return Target(codes, classes, np.bincount(codes))


def read_labels(y: Any, n_samples: int) -> tuple[Indices, Array]:
    """The class of every sample as a number, and the labels of the classes, sorted."""
    block = read_full_column(y, n_samples)
    values = block.values[:, 0]
    if block.categories is not None:
        labels = np.empty(len(block.categories[0]), dtype=object)
        labels[:] = block.categories[0]
        is_text = isinstance(labels[0], str)
        return values.astype(np.int64), labels.astype(str) if is_text else labels
    fractional = values[values % 1 != 0] if values.dtype.kind == "f" else []
    if len(fractional):
        raise DataError(
            f"y is not discrete: it holds {fractional[0]}; discretise it into classes first, "
            "or use information='gaussian'"
        )
    classes, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), classes


def read_continuous_target(y: Any, n_samples: int) -> Floats:
    """Read a finite number for every sample.

    Examples
    --------
    >>> read_continuous_target([0.5, 1, 2], n_samples=3)
    array([0.5, 1. , 2. ])
    """
    block = read_full_column(y, n_samples)
    if block.categories is not None:
        came = block.categories[0][0]
        raise DataError(f"y holds {block.kind} values such as {came!r}; give it as numbers")
    if block.values.dtype.kind in "iu":
        check_exact(block.values, ["y"])
    with np.errstate(over="ignore"):
        values = np.asarray(block.values[:, 0], dtype=np.float64)
    check_finite("y", values)
    return values


def read_full_column(y: Any, n_samples: int) -> Block:
    """Read a target, which has a finite value for each sample."""
    block = read_column(y)
    if len(block.values) != n_samples:
        came = f"y has {len(block.values)} values but X has {n_samples} rows"
        raise DataError(f"{came}; give one value for each row")
    if n_samples == 0:
        raise DataError("y is empty; give one value for each row of X")
    if gone := block.missing(block.values).sum():
        raise DataError(f"y has {gone} missing values (NaN or None); drop those rows of X and y")
    if block.categories is None:
        check_finite("y", block.values)
    return block


def _encode_categories(
    strip: Array, columns: Indices, names: Sequence[str], values: Array
) -> Indices:
    """Write category codes, dense but for missing (-1), to ``values``; return the levels."""
    known = strip.max(axis=0).astype(np.int64) + 1
    gone = strip < 0
    levels: Indices = known + gone.any(axis=0)
    _refuse_many(levels, columns, names)
    values[columns] = np.where(gone, known, strip).T
    return levels


def _encode_numbers(strip: Array, columns: Indices, names: Sequence[str], values: Array) -> Indices:
    """Write the codes of whole numbers, missing where NaN, to ``values``; return the levels."""
    n_columns, n_rows = len(columns), len(strip)
    levels, odd = np.empty(n_columns, np.int64), np.zeros(n_columns, np.uint8)
    by_width = (None, values) if values.dtype == np.uint16 else (values, None)
    table = as_table(strip)
    with threads(seconds=READ_COST * strip.size) as n_threads:
        width = STRIP if n_threads == 1 else min(STRIP, -(-n_columns // (4 * n_threads)))
        write = kernels.write_codes.bind(table, n_rows, columns, *by_width, levels, odd)
        run_tiles(lambda span: write(*span), spans(n_columns, width))
    for j in np.flatnonzero(odd):
        values[columns[j]], levels[j] = _rank_column(strip[:, j], names[columns[j]])
    _refuse_many(levels, columns, names)
    return levels


def _rank_column(column: Array, name: str) -> tuple[Indices, int]:
    """Codes and levels of a column whose values are too large to look up; or why it has none."""
    where = f"column {name!r}"
    if column.dtype.kind == "f":
        check_finite(where, column)
        if len(fractional := column[column % 1 > 0]):
            raise DataError(
                f"{where} is not discrete: it holds {fractional[0]}; {DISCRETISE}, "
                "or use information='gaussian'"
            )
    if (lowest := np.nanmin(column)) < 0:
        raise DataError(
            f"{where} has negative codes, down to {lowest}; shift them to start at 0, "
            "or pass the column as strings or categories"
        )
    known = column == column
    seen, ranks = np.unique(column[known], return_inverse=True)
    codes = np.full(len(column), len(seen))
    codes[known] = ranks
    return codes, len(seen) + (not known.all())


def _refuse_many(levels: Indices, columns: Indices, names: Sequence[str]) -> None:
    if levels.max() > MAX_LEVELS:
        first = int(np.argmax(levels > MAX_LEVELS))
        raise DataError(
            f"column {names[columns[first]]!r} has {levels[first]} levels, "
            f"more than {MAX_LEVELS}; {DISCRETISE}, or drop it"
        )
