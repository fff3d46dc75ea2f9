"""Row sums and largest entries of a matrix that is never held.

Entries are taken before they are scaled: integers, and as float64 exact or rounded the same way
everywhere. Each is split in two, so that sums have no rounding and do not depend on their order:
the same to the last bit from every backend, and equal for equal columns.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.measures import Measure
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans

SPLIT = 2.0**28
STRIP_ENTRIES = 2**22  # of the matrix, reduced together
STRIP_STEP = 16  # rows of a strip are a multiple of this
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
    check_pairs(measure, count)
    n, best, mirror = len(order), TopPairs(count, len(order)), measure.is_symmetric
    parts = np.zeros((2, n))
    height = max(STRIP_STEP, STRIP_ENTRIES // n // STRIP_STEP * STRIP_STEP)
    for start in range(0, n, height):
        rows, columns = order[start : start + height], order[start:]
        if not mirror:
            columns = np.concatenate([columns, order[:start]])
        values = np.empty((len(rows), len(columns)))
        write(values, rows, columns)
        if sums:
            np.fill_diagonal(values, 0.0)  # the first columns are the rows
            parts[:, rows] += add_sums(values, by_row=True)
            if mirror:
                parts[:, columns[len(rows) :]] += add_sums(values[:, len(rows) :], by_row=False)
        if count:
            values[np.tri(len(rows), dtype=bool).nonzero()] = -np.inf
            best.take(values, rows, columns)
    return Summary(join(parts, scale), best.pairs, best.values * scale)


def join(parts: Floats, scale: float) -> Floats:
    """Sums from those of their two parts."""
    high, low = parts
    return np.asarray((high * SPLIT + low) * scale)


def add_sums(values: Floats, by_row: bool) -> Floats:
    """The sums of each row, or of each column, in two parts."""
    parts = np.zeros((2, values.shape[0 if by_row else 1]))

    def work(span: tuple[int, int]) -> None:
        some = values[slice(*span)] if by_row else values[:, slice(*span)]
        high, low = parts[:, slice(*span)]
        kernels.add_sums(some, *some.shape, by_row, high, low)

    run_tiles(work, spans(parts.shape[1], SUMS_AT_ONCE))
    return parts


class TopPairs:
    """The largest entries above the diagonal so far."""

    def __init__(self, count: int, n: int) -> None:
        self.count, self._n = count, n
        self.least = float(np.finfo(np.float32).min)  # smaller entries are not wanted
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
        self.add(values[i, j], rows[i], columns[j])

    def add(self, values: Array, rows: Indices, columns: Indices) -> None:
        """Keep the largest of some entries."""
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        found = np.concatenate([self.values, values])
        keys = np.concatenate([self._keys, low * self._n + high])
        best = np.lexsort((keys, -found))[: self.count]
        self.values, self._keys = found[best], keys[best]
        if len(best) == self.count:
            self.least = float(self.values[-1])
