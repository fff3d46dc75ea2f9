"""All pairs of features, looked at once and never held: best partners and best pairs."""

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.entropies import Entropies
from bestk.information.measures import INTERACTION

STRIP_ENTRIES = 2**21  # of the matrix of pairs that is in memory


def best_partners(entropies: Entropies, columns: Indices | None = None) -> tuple[Floats, Indices]:
    """The largest interaction of each feature with another of the columns, and that column.

    The interaction is I(xi; y | xj) - I(xi; y). A feature without another column has -inf and -1.
    """
    n = entropies.n_features
    others = np.arange(n) if columns is None else columns
    best, partners = np.full(n, -np.inf), np.full(n, -1)
    for rows in _strips(n, len(others)):
        found = _interactions(entropies, rows, others)
        place = found.argmax(axis=1)
        best[rows] = found[np.arange(len(rows)), place]
        partners[rows] = np.where(np.isfinite(best[rows]), others[place], -1)
    return best, partners


def top_pairs(entropies: Entropies, count: int) -> tuple[Indices, Floats]:
    """The pairs of the largest interaction, largest first, and their values; ties by index."""
    best, _ = best_partners(entropies)
    n, least = entropies.n_features, -np.inf
    if 2 * count < n:  # each pair is the best of at most two rows: so many rows have enough pairs
        least = np.partition(best, n - 2 * count)[n - 2 * count]
    rows = np.flatnonzero(best >= least)
    low, high, values = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
    for strip in _strips(len(rows), n):
        found = _interactions(entropies, rows[strip], np.arange(n))
        i, j = np.nonzero(found >= max(least, np.finfo(np.float32).min))
        first = rows[strip][i]
        once = (first < j) | (best[j] < least)  # else the other row finds it, too
        low = np.append(low, np.minimum(first, j)[once])
        high = np.append(high, np.maximum(first, j)[once])
        values = np.append(values, found[i, j][once])
        chosen = np.lexsort((high, low, -values))[:count]
        low, high, values = low[chosen], high[chosen], values[chosen]
    return np.stack([low, high], axis=1), values.astype(np.float64)


def _strips(n: int, width: int) -> list[Indices]:
    height = max(1, STRIP_ENTRIES // max(1, width))
    return [np.arange(start, min(n, start + height)) for start in range(0, n, height)]


def _interactions(entropies: Entropies, rows: Indices, columns: Indices) -> Array:
    """The interaction of each row feature with each column feature, -inf with itself."""
    found = entropies.measure(INTERACTION, rows, columns, np.float32, signed=True)
    found[rows[:, np.newaxis] == columns] = -np.inf
    return found
