"""Features as numbers, such as a linear model takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices, Mask
from bestk.selectors.folds import FOLDS
from bestk.tables.outliers import move_outliers
from bestk.tables.table import Table, as_matrix

# A category of more levels than this has the mean target at each, in place of indicators.
MAX_INDICATORS = 20

# Numbers are limited to so many standard deviations before they are squared.
MAX_SCORE = 2.5

# Squares with a smaller standard deviation are a straight line, but for rounding.
TINY = 1e-9

# The least absolute value by which columns are divided.
SMALLEST = 1e-300


@dataclass(frozen=True)
class ModelColumns:
    """Features of a table as numeric columns.

    A number is one column, and another one says where it is missing; a category has an indicator of
    each level, or, of many levels, the mean target at the level of each row, for each target.
    """

    values: Floats
    """Numbers, NaN where they are missing, and indicators: ``[row, column]``."""

    levels: Floats
    """Codes of categories of many levels: ``[row, category]``."""

    targets: Sequence[NDArray[Any]]
    """Numbers, or indicators of classes, whose means at these levels are columns."""

    features: Indices
    """The feature of each column: those of ``values``, of means, and of squares of numbers."""

    is_number: Mask
    """Which columns are numbers, and no indicators; not of squares, which come behind them."""

    optional: Mask
    """Which columns are indicators of missing numbers, or squares."""

    @classmethod
    def of(
        cls,
        table: Table,
        features: Indices,
        nominal: Indices,
        targets: Sequence[NDArray[Any]] = (),
    ) -> "ModelColumns":
        """The columns of some features, given by their places in rising order.

        ``nominal``: places of numbers that are codes of categories.
        """
        matrix, text = as_matrix(table.keep(features))
        matrix = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)
        is_category = np.isin(features, nominal)
        is_category[text] = True
        columns_of_feature = [
            indicators(column) if category else _with_missing(column)
            for column, category in zip(matrix.T, is_category, strict=True)
        ]
        widths = np.array([columns.shape[1] for columns in columns_of_feature])
        first_column = np.cumsum(widths) - widths
        has_many_levels = widths == 0
        if not has_many_levels.any():
            targets = ()
        of_values = np.repeat(features, widths)
        of_means = np.tile(features[has_many_levels], len(targets))
        owners = np.concatenate([of_values, of_means])
        is_number = np.isin(np.arange(len(owners)), first_column[~is_category])
        shows_missing = ~is_number & np.isin(owners, features[~is_category])
        are_squares = np.full(is_number.sum(), True)
        return cls(
            values=np.hstack(columns_of_feature),
            levels=matrix[:, has_many_levels],
            targets=targets,
            features=np.concatenate([owners, owners[is_number]]),
            is_number=is_number,
            optional=np.concatenate([shows_missing, are_squares]),
        )

    def standardized(self, train: Indices) -> Floats:
        """All rows, scaled by the training rows; then squares, less what lines explain."""
        from sklearn.preprocessing import StandardScaler

        largest = np.nanmax(np.abs(self.values), axis=0, initial=SMALLEST)
        scaled = self.values / largest  # squares of large numbers would overflow
        means = [mean_targets(self.levels, y, train) for y in self.targets]
        Z = np.hstack([scaled, *means])
        # Some columns may have no value in the training rows.
        with np.errstate(invalid="ignore", divide="ignore"), catch_warnings(action="ignore"):
            if self.is_number.any():
                Z[:, self.is_number] = move_outliers(Z[:, self.is_number], train)
            Z = np.nan_to_num(StandardScaler().fit(Z[train]).transform(Z))
            return np.hstack([Z, _squares_beside_lines(Z[:, self.is_number], train)])


def _squares_beside_lines(scores: Floats, train: Indices) -> Floats:
    """Squares of scores less their regression on these, of variance 1 in the training rows."""
    squares = np.clip(scores, -MAX_SCORE, MAX_SCORE) ** 2
    squares -= scores * np.mean(scores[train] * squares[train], axis=0)
    squares -= squares[train].mean(axis=0)
    spread = squares[train].std(axis=0)
    return np.where(spread > TINY, squares / spread, 0.0)


def _with_missing(column: Floats) -> Floats:
    """A column of numbers and, if some are missing, an indicator of those."""
    missing = np.isnan(column)
    if not missing.any():
        return column[:, np.newaxis]
    return np.column_stack([column, missing])


def indicators(column: NDArray[Any]) -> Floats:
    """An indicator for each level, the most frequent first; none for more than the limit."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    if len(counts) > MAX_INDICATORS:
        return np.empty((len(column), 0))
    most_frequent_first = np.argsort(-counts, kind="stable")
    return np.equal.outer(codes, most_frequent_first).astype(np.float64)


def mean_targets(levels: Floats, y: NDArray[Any], train: Indices) -> Floats:
    """The mean target at each level in the training rows; for these, in other training rows.

    ``levels``: codes of categories, ``[row, category]``; ``y``: the target of each row.
    """
    from sklearn.preprocessing import TargetEncoder

    encoder = TargetEncoder(target_type="continuous")
    y = y.astype(np.float64)
    # Each row once, so that no copy of a row predicts it; in an order in which each fifth row has
    # nearly the same mean target.
    rows = np.random.default_rng(0).permutation(np.unique(train))
    rows = rows[np.argsort(y[rows], kind="stable")]
    means = np.asarray(encoder.fit(levels[rows], y[rows]).transform(levels))
    n_folds = min(FOLDS, len(rows))
    fold_of_row = np.arange(len(rows)) % n_folds
    for fold in range(n_folds):
        inside = rows[fold_of_row == fold]
        others = rows[fold_of_row != fold]
        encoder.fit(levels[others], y[others])
        means[inside] = encoder.transform(levels[inside])
    return means
