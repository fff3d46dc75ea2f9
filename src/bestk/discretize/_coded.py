"""Codes of a table that are made some columns at a time, and never all held."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.discretize._base import VALUE_COST, Discretizer
from bestk.discretize._columns import encode
from bestk.native._library import TABLE_TYPES
from bestk.native.threads import threads


class CodedColumns:
    """What a fitted discretiser makes of a table, for the columns that are looked at."""

    dtype, ndim = np.dtype(np.int16), 2

    def __init__(self, discretizer: Discretizer, values: Any) -> None:
        self.shape, self._values = values.shape, values
        self._cut_points = discretizer.cut_points_

    def __getitem__(self, key: tuple[slice, slice]) -> NDArray[np.int16]:
        """Columns that lie side by side."""
        rows, columns = key
        values = self._values[:, columns]
        with threads(seconds=VALUE_COST * values.shape[0] * values.shape[1]):
            return encode(values, self._cut_points[columns])[rows]


def codes_of(discretizer: Any, values: Any) -> Any:
    """The codes of a table, made when they are looked at where that gives the same."""
    plain = isinstance(discretizer, Discretizer) and values.dtype in TABLE_TYPES
    if plain and type(discretizer).transform is Discretizer.transform:
        return CodedColumns(discretizer, values)
    return discretizer.transform(values)
