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
    numbers = np.vstack([*table.numeric()[0].T, y])
    ranks = normal_scores(numbers.T)
    return np.maximum(_explained_by_lines(numbers), _explained_by_lines(ranks))


def _explained_by_lines(values: Floats) -> Floats:
    """R2 of the last row of a matrix by each of the others."""
    centered = standardized(values, np.isnan(values))
    without_outliers = move_outliers(centered.T, np.arange(values.shape[1])).T
    lines = standardized(without_outliers, np.zeros(values.shape, bool))
    return np.asarray((lines[:-1] @ lines[-1]) ** 2)


def standardized(values: Floats, missing: Mask) -> Floats:
    """The rows of a matrix, of mean 0 and length 1; 0 where they are missing or constant."""
    present = ~missing
    values = np.where(present, values, 0.0)
    values /= np.maximum(np.abs(values).max(axis=1, keepdims=True), TINY)  # no overflow
    n_present = np.maximum(present.sum(axis=1), 1)
    values -= values.sum(axis=1, keepdims=True) / n_present[:, np.newaxis]
    values *= present
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), TINY)
