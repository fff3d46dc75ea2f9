"""Columns of any kind as numbers for a linear model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.table import Table

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
TEXT_KINDS = ("categorical", "string")
MAX_INDICATORS = 20  # for the most frequent levels of a column


@dataclass(frozen=True)
class Design:
    """Features as numbers, NaN where missing; categories as one indicator per level."""

    values: Floats
    features: Indices  # of each column

    @classmethod
    def of(cls, table: Table, features: Indices, nominal: Indices) -> "Design":
        """Some features of a table, in rising order; numbers among ``nominal`` are categories.

        Examples
        --------
        >>> from bestk.data.table import read_table
        >>> table = read_table([[1.5, "red"], [None, "blue"], [2.0, "red"]])
        >>> design = Design.of(table, np.array([0, 1]), nominal=np.array([], dtype=int))
        >>> design.values
        array([[1.5, 1. , 0. ],
               [nan, 0. , 1. ],
               [2. , 1. , 0. ]])
        >>> design.features
        array([0, 1, 1])
        """
        parts: dict[int, Floats] = {}
        for block in table.keep(features).blocks:
            for places, strip in block.strips():
                for place, column in zip(places.tolist(), strip.T, strict=True):
                    words = block.kind in TEXT_KINDS or features[place] in nominal
                    parts[place] = indicators(column) if words else column[:, None]
        widths = [parts[place].shape[1] for place in range(len(features))]
        values = np.empty((table.n_samples, sum(widths)), order="F")
        for place, start in enumerate(np.cumsum([0, *widths[:-1]])):
            values[:, start : start + widths[place]] = parts[place]
        return cls(values, np.repeat(features, widths))

    def standardized(self, train: Indices) -> Floats:
        """All rows, scaled by the training rows, whose mean replaces missing values."""
        largest = np.nanmax(np.abs(self.values), axis=0, initial=1e-300)
        Z = self.values / largest  # squares of the largest numbers would overflow
        known = ~np.isnan(Z[train])
        count = np.maximum(known.sum(axis=0), 1)
        Z -= np.nansum(Z[train], axis=0) / count
        scale = np.sqrt(np.nansum(Z[train] ** 2, axis=0) / count)
        Z /= np.where(scale > 0, scale, 1.0)
        np.nan_to_num(Z, copy=False, nan=0.0)
        return Z


def indicators(column: NDArray[Any]) -> Floats:
    """An indicator for each level, the most frequent first; missing values are a level."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:MAX_INDICATORS]
    return np.equal.outer(codes, frequent).astype(np.float64)
