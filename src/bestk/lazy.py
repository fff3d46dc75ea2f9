"""A symmetric matrix known by its columns, made when asked for and kept while there is room."""

from collections import OrderedDict
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class CachedColumns:
    """Columns of a symmetric matrix, computed once and kept within a memory budget.

    Parameters
    ----------
    make : function
        Takes indices and returns those columns side by side, shape (n, len(indices)).
    diagonal : array of shape (n,)
        The diagonal.
    memory : int, default=2**30
        Bytes for kept columns; those unused for longest go first.

    Examples
    --------
    >>> Q = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> lazy = CachedColumns(lambda items: Q[:, items], Q.diagonal())
    >>> lazy.columns(np.array([1]))
    array([[1.], [3.]])
    >>> lazy.made, lazy.columns(np.array([1])).sum(), lazy.made
    (1, np.float64(4.0), 1)
    """

    def __init__(
        self, make: Callable[[Indices], Floats], diagonal: Floats, memory: int = 2**30
    ) -> None:
        self.shape = (len(diagonal), len(diagonal))
        self.made = 0  # columns computed so far
        self._make, self._diagonal = make, np.asarray(diagonal, np.float64)
        self._kept: OrderedDict[int, Floats] = OrderedDict()
        self._room = max(1, memory // (8 * len(diagonal)))

    def diagonal(self) -> Floats:
        """The diagonal."""
        return self._diagonal

    def columns(self, items: Indices) -> Floats:
        """The columns of those items, side by side."""
        wanted = [int(item) for item in items]
        new = np.array([i for i in dict.fromkeys(wanted) if i not in self._kept], np.int64)
        fresh: dict[int, Floats] = {}
        if len(new):
            made = np.asarray(self._make(new), np.float64)
            fresh = {int(item): made[:, c] for c, item in enumerate(new)}
            self.made += len(new)
        found = {i: fresh[i] if i in fresh else self._kept[i] for i in wanted}
        out = np.empty((self.shape[0], len(wanted)))
        for c, item in enumerate(wanted):
            out[:, c] = found[item]
        self._keep(found)
        return out

    def _keep(self, found: dict[int, Floats]) -> None:
        for item, column in found.items():
            if item in self._kept:
                self._kept.move_to_end(item)
            else:
                self._kept[item] = column.copy()
        while len(self._kept) > self._room:
            self._kept.popitem(last=False)


class WithDiagonal:
    """A matrix known by its columns, with a diagonal of its own."""

    def __init__(self, matrix: CachedColumns, diagonal: Floats) -> None:
        self.shape, self._matrix, self._diagonal = matrix.shape, matrix, diagonal

    def diagonal(self) -> Floats:
        """The diagonal."""
        return self._diagonal

    def columns(self, items: Indices) -> Floats:
        """The columns of those items, side by side."""
        out = self._matrix.columns(items)
        out[items, np.arange(len(items))] = self._diagonal[items]
        return out
