"""How much of a target straight lines in single columns explain."""

import numpy as np

from bestk._typing import Floats, Mask
from bestk.information import normal_scores
from bestk.tables.outliers import move_outliers
from bestk.tables.table import Table

# The smallest positive number, which divides in place of 0.
TINY = np.finfo(float).tiny


def line_shares(table: Table, y: Floats) -> Floats:
    """The part of the variance of y, or of its ranks, that a line in each number explains.

    Parameters
    ----------
    table : Table
        Numeric columns, which may have missing values.
    y : array of shape (n_samples,)
        The numbers of the target.
    """
    numbers = table.numeric()[0]
    rows_of_numbers = np.vstack([*numbers.T, y])
    rows_of_ranks = normal_scores(rows_of_numbers.T)
    by_numbers = _explained_by_lines(rows_of_numbers)
    by_ranks = _explained_by_lines(rows_of_ranks)
    return np.maximum(by_numbers, by_ranks)


def _explained_by_lines(values: Floats) -> Floats:
    """R2 of the last row of a matrix by each of the others, after outliers are moved.

    ``values``: of shape (columns of the table and then the target, samples), NaN where missing.
    """
    n_samples = values.shape[1]
    centered = standardized(values, np.isnan(values))
    without_outliers = move_outliers(centered.T, np.arange(n_samples)).T
    nothing_missing = np.zeros(values.shape, bool)
    lines = standardized(without_outliers, nothing_missing)
    correlation = lines[:-1] @ lines[-1]
    return np.asarray(correlation**2)


def standardized(values: Floats, missing: Mask) -> Floats:
    """The rows of a matrix, of mean 0 and length 1; 0 where they are missing or constant.

    ``values`` and ``missing``: of shape (columns of a table, samples).
    """
    present = ~missing
    values = np.where(present, values, 0.0)
    # Rows are divided by their largest number first, so that sums of squares do not overflow.
    largest = np.abs(values).max(axis=1, keepdims=True)
    values /= np.maximum(largest, TINY)
    n_present = np.maximum(present.sum(axis=1), 1)
    sums = values.sum(axis=1, keepdims=True)
    values -= sums / n_present[:, np.newaxis]
    values *= present
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.maximum(lengths, TINY)
