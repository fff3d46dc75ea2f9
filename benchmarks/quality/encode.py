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
MAX_INDICATORS = 20
DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Matrix:
    """Standardised numbers, and the column of the table that each belongs to."""

    train: Floats
    test: Floats
    owner: Indices

    def keep(self, columns: Sequence[int]) -> "Matrix":
        """The numbers of some columns."""
        kept = np.isin(self.owner, columns)
        return Matrix(self.train[:, kept], self.test[:, kept], self.owner[kept])


@dataclass(frozen=True)
class Split:
    """Training and test rows of a table."""

    X: pd.DataFrame  # training rows
    y: NDArray[Any]
    X_test: pd.DataFrame
    y_test: NDArray[Any]
    kind: Kind

    @cached_property
    def matrix(self) -> Matrix:
        """All columns as numbers."""
        numeric = [i for i, kind in enumerate(self.X.dtypes) if pd.api.types.is_float_dtype(kind)]
        parts = [_numbers(self.X.iloc[:, numeric], self.X_test.iloc[:, numeric], numeric)]
        parts += [self._other(i) for i in range(self.X.shape[1]) if i not in set(numeric)]
        train, test, owner = (np.concatenate([getattr(part, name) for part in parts], axis=-1)
                              for name in ("train", "test", "owner"))  # fmt: skip
        mean, scale = train.mean(axis=0), train.std(axis=0)
        scale[scale < 1e-12 * np.maximum(1.0, np.abs(mean))] = 1.0
        return Matrix((train - mean) / scale, (test - mean) / scale, owner)

    def _other(self, place: int) -> Matrix:
        train, test = self.X.iloc[:, place], self.X_test.iloc[:, place]
        if pd.api.types.is_datetime64_any_dtype(train):
            found = [_date_parts(values) for values in (train, test)]
        elif train.nunique() <= MAX_INDICATORS:
            levels = [*train.dropna().unique(), None]
            found = [_indicators(values, levels) for values in (train, test)]
        else:
            found = self._target_encoded(train, test)
        return Matrix(found[0], found[1], np.full(found[0].shape[1], place))

    def _target_encoded(self, train: pd.Series, test: pd.Series) -> list[Floats]:
        target = "continuous" if self.kind == "numbers" else "auto"
        folds = (KFold if self.kind == "numbers" else StratifiedKFold)(5, shuffle=True,
                                                                       random_state=0)  # fmt: skip
        encoder = TargetEncoder(target_type=target, cv=folds)
        text = [values.astype(object).fillna("missing").to_numpy(str)[:, None]
                for values in (train, test)]  # fmt: skip
        return [encoder.fit_transform(text[0], self.y), encoder.transform(text[1])]


def days(X: pd.DataFrame) -> pd.DataFrame:
    """The table with dates as numbers of days."""
    dates = X.select_dtypes("datetime").columns
    return X.assign(**{name: (X[name] - pd.Timestamp(0)) / pd.Timedelta(days=1) for name in dates})


def _numbers(train: pd.DataFrame, test: pd.DataFrame, owner: list[int]) -> Matrix:
    values, unseen = train.to_numpy(float), test.to_numpy(float)
    absent = np.isnan(values).any(axis=0)
    known = np.where(np.isnan(values).all(axis=0), 0.0, values)
    median = np.nanmedian(known, axis=0) if known.size else np.zeros(values.shape[1])
    filled = [np.hstack([np.where(np.isnan(part), median, part), np.isnan(part[:, absent])])
              for part in (values, unseen)]  # fmt: skip
    places = np.array(owner, np.int64)
    return Matrix(filled[0], filled[1], np.concatenate([places, places[absent]]))


def _indicators(values: pd.Series, levels: list[Any]) -> Floats:
    columns = [values.isna() if level is None else values == level for level in levels]
    return np.column_stack(columns).astype(float)


def _date_parts(values: pd.Series) -> Floats:
    day = ((values - pd.Timestamp(0)) / pd.Timedelta(days=1)).to_numpy(float)
    angle = 2 * np.pi * day / DAYS_PER_YEAR
    return np.column_stack([day, np.sin(angle), np.cos(angle)])
