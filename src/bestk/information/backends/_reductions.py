"""Row sums and largest entries of a matrix that is never held.

Entries are taken before they are scaled: integers, and as float64 exact or rounded the same way
everywhere. Each is split in two, so that sums have no rounding and do not depend on their order:
the same to the last bit from every backend, and equal for equal columns.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.backends._costs import LANES
from bestk.information.measures import Measure
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans

SPLIT = 2.0**28
STRIP_ENTRIES = 2**22  # of the matrix, reduced together
SUMS_AT_ONCE = 256  # rows or columns that a thread adds up


class Summary(NamedTuple):
    """Row sums without the diagonal, and the best pairs of different features."""

    row_sums: Floats
    pairs: Indices  # a row for each, the lower feature first; ties by the lowest index
    values: Floats  # of those, descending


def check_pairs(measure: Measure, count: int) -> None:
    """Refuse best pairs where ``[i, j]`` and ``[j, i]`` differ."""
    if count and not measure.is_symmetric:
        raise ValueError(
            f"best pairs need a symmetric measure, not {measure}; use SYMMETRIC_CMI for CMI"
        )


def summarize(
    write: Callable[[Floats, Indices, Indices], None],
    order: Indices,
    scale: float,
    measure: Measure,
    count: int,
    sums: bool,
) -> Summary:
    """Reduce the matrix of a measure strip by strip, features in the given order.

    ``write(out, rows, columns)`` fills a strip with integers, in units of ``scale``.
    """
    n, row_sums, best = len(order), RowSums(len(order)), TopPairs(count, len(order))
    height = max(LANES, STRIP_ENTRIES // n // LANES * LANES)
    for start in range(0, n, height):
        rows, columns = order[start : start + height], order[start:]
        if not measure.is_symmetric:
            columns = np.concatenate([columns, order[:start]])
        values = np.empty((len(rows), len(columns)))
        write(values, rows, columns)
        if sums:
            row_sums.take(values, rows, columns, measure.is_symmetric)
        if count:
            values[np.tri(len(rows), dtype=bool).nonzero()] = -np.inf
            best.take(values, rows, columns)
    return Summary(join(row_sums.high, row_sums.low, scale), best.pairs, best.values * scale)


def join(high: Floats, low: Floats, scale: float) -> Floats:
    """Sums from those of their two parts."""
    return (high * SPLIT + low) * scale


class RowSums:
    """Row sums in the host's memory."""

    def __init__(self, n: int) -> None:
        self.high, self.low = np.zeros((2, n))

    def take(self, values: Floats, rows: Indices, columns: Indices, mirror: bool) -> None:
        """Add a strip whose first columns are its rows; ``mirror`` the others to their rows."""
        n = len(rows)
        values[np.arange(n), np.arange(n)] = 0.0
        high, low = np.zeros((2, n))
        add_sums(values, high, low, by_row=True)
        self.high[rows] += high
        self.low[rows] += low
        if mirror and n < len(columns):
            high, low = np.zeros((2, len(columns) - n))
            add_sums(values[:, n:], high, low, by_row=False)
            self.high[columns[n:]] += high
            self.low[columns[n:]] += low


class TopPairs:
    """The largest entries above the diagonal, in the host's memory."""

    def __init__(self, count: int, n: int) -> None:
        self.count, self._n, self.least = count, n, float(np.finfo(np.float32).min)
        self.values, self._keys = np.empty(0), np.empty(0, np.int64)

    @property
    def pairs(self) -> Indices:
        """The features of each."""
        return np.stack(np.divmod(self._keys, self._n), axis=1)

    def take(self, values: Array, rows: Indices, columns: Indices) -> None:
        """Keep the largest entries of some pairs, -inf where they are not wanted."""
        if not len(self.values) and values.size > self.count:
            least = np.partition(values, -self.count, axis=None)[-self.count]
            self.least = max(self.least, float(least))
        i, j = np.nonzero(values >= self.least)
        low, high = np.minimum(rows[i], columns[j]), np.maximum(rows[i], columns[j])
        found = np.concatenate([self.values, values[i, j]])
        keys = np.concatenate([self._keys, low * self._n + high])
        best = np.lexsort((keys, -found))[: self.count]
        self.values, self._keys = found[best], keys[best]
        if len(best) == self.count:
            self.least = float(self.values[-1])


def add_sums(values: Floats, high: Floats, low: Floats, by_row: bool) -> None:
    """Add the sums of each row, or of each column, in two parts."""

    def work(span: tuple[int, int]) -> None:
        some = values[slice(*span)] if by_row else values[:, slice(*span)]
        parts = high[slice(*span)], low[slice(*span)]
        kernels.add_sums(some, *some.shape, by_row, *parts)

    run_tiles(work, spans(len(high), SUMS_AT_ONCE))
