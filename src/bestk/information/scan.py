"""The best partner of every feature, from the matrix of all pairs, which is never held."""

import numpy as np

from bestk._typing import Floats, Indices
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
    height = max(1, STRIP_ENTRIES // max(1, len(others)))
    for start in range(0, n, height):
        rows = np.arange(start, min(n, start + height))
        found = entropies.measure(INTERACTION, rows, others, np.float32, signed=True)
        found[rows[:, np.newaxis] == others] = -np.inf
        place = found.argmax(axis=1)
        best[rows] = found[np.arange(len(rows)), place]
        partners[rows] = np.where(np.isfinite(best[rows]), others[place], -1)
    return best, partners
