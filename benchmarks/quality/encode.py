"""A table as numbers, the same for the other packages and for the models.

Numbers: the median in place of missing cells and, where there are any, an indicator of them.
Categories of at most 20 levels: an indicator of each level; missing is a level. Categories of
more: cross-fitted target encoding. Dates: the day, and the sine and cosine of the time of year.
All are standardised. Everything is learnt from the training rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder

from benchmarks.quality.problem import Kind

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
MAX_INDICATORS = 20  # levels of a category
DAYS_PER_YEAR = 365.25
RELATIVE_ROUNDING = 1e-12  # a spread below this share of the mean is rounding


@dataclass(frozen=True)
class Matrix:
    """Training and test rows as standardised numbers."""

    train: Floats
    test: Floats

    owner: Indices
    """The place of the column of the table that each number belongs to."""

    def keep(self, columns: Sequence[int]) -> "Matrix":
        """The numbers of some columns of the table."""
        kept = np.isin(self.owner, columns)
        return Matrix(self.train[:, kept], self.test[:, kept], self.owner[kept])


@dataclass(frozen=True)
class Split:
    """Training and test rows of a table."""

    X: pd.DataFrame
    """The training rows."""

    y: NDArray[Any]

    X_test: pd.DataFrame

    y_test: NDArray[Any]

    kind: Kind

    @cached_property
    def matrix(self) -> Matrix:
        """All columns as numbers: those that were numbers first, then the others in order."""
        numeric = [i for i, kind in enumerate(self.X.dtypes) if pd.api.types.is_float_dtype(kind)]
        others = sorted(set(range(self.X.shape[1])) - set(numeric))
        encoded = [_numbers(self.X.iloc[:, numeric], self.X_test.iloc[:, numeric], numeric)]
        encoded += [self._encode_other(place) for place in others]
        train = np.concatenate([matrix.train for matrix in encoded], axis=1)
        test = np.concatenate([matrix.test for matrix in encoded], axis=1)
        owner = np.concatenate([matrix.owner for matrix in encoded])
        mean = train.mean(axis=0)
        scale = train.std(axis=0)
        is_constant = scale < RELATIVE_ROUNDING * np.maximum(1.0, np.abs(mean))
        scale[is_constant] = 1.0
        return Matrix((train - mean) / scale, (test - mean) / scale, owner)

    def _encode_other(self, place: int) -> Matrix:
        """A date or a category as numbers."""
        train = self.X.iloc[:, place]
        test = self.X_test.iloc[:, place]
        if pd.api.types.is_datetime64_any_dtype(train):
            numbers = _date_parts(train)
            unseen = _date_parts(test)
        elif train.nunique() <= MAX_INDICATORS:
            levels = [*train.dropna().unique(), None]
            numbers = _indicators(train, levels)
            unseen = _indicators(test, levels)
        else:
            numbers, unseen = self._encode_by_target(train, test)
        return Matrix(numbers, unseen, np.full(numbers.shape[1], place))

    def _encode_by_target(self, train: pd.Series, test: pd.Series) -> tuple[Floats, Floats]:
        """Means of the target by level; those of training rows come from other training rows."""
        if self.kind == "numbers":
            folds = KFold(5, shuffle=True, random_state=0)
            encoder = TargetEncoder(target_type="continuous", cv=folds)
        else:
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            encoder = TargetEncoder(target_type="auto", cv=folds)
        return encoder.fit_transform(_texts(train), self.y), encoder.transform(_texts(test))


def days(X: pd.DataFrame) -> pd.DataFrame:
    """The table with dates as numbers of days."""
    dates = X.select_dtypes("datetime").columns
    return X.assign(**{name: (X[name] - pd.Timestamp(0)) / pd.Timedelta(days=1) for name in dates})


def _numbers(train: pd.DataFrame, test: pd.DataFrame, places: list[int]) -> Matrix:
    """Numbers with the median in missing cells, and indicators of them where there are any."""
    values = train.to_numpy(float)
    is_missing = np.isnan(values)
    without_values = is_missing.all(axis=0)
    has_gaps = is_missing.any(axis=0)
    median = np.zeros(values.shape[1])
    if values.size:
        median = np.nanmedian(np.where(without_values, 0.0, values), axis=0)
    owner = np.array(places, np.int64)
    return Matrix(
        _fill(values, median, has_gaps),
        _fill(test.to_numpy(float), median, has_gaps),
        np.concatenate([owner, owner[has_gaps]]),
    )


def _fill(values: Floats, median: Floats, has_gaps: NDArray[np.bool_]) -> Floats:
    filled = np.where(np.isnan(values), median, values)
    return np.hstack([filled, np.isnan(values[:, has_gaps])])


def _texts(values: pd.Series) -> NDArray[Any]:
    """A column of texts; missing cells are one more level."""
    return values.astype(object).fillna("missing").to_numpy(str)[:, np.newaxis]


def _indicators(values: pd.Series, levels: list[Any]) -> Floats:
    """A column for each level; None stands for missing cells."""
    columns = [values.isna() if level is None else values == level for level in levels]
    return np.column_stack(columns).astype(float)


def _date_parts(values: pd.Series) -> Floats:
    """The day, and the sine and cosine of the time of year."""
    day = ((values - pd.Timestamp(0)) / pd.Timedelta(days=1)).to_numpy(float)
    angle = 2 * np.pi * day / DAYS_PER_YEAR
    return np.column_stack([day, np.sin(angle), np.cos(angle)])
