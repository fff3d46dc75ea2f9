"""A symmetric matrix known by its columns, computed on demand and kept while there is room."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from copy import copy
from typing import Self

import numpy as np

from bestk._typing import Floats, Indices

MEMORY = 2**32  # bytes for a matrix, before it is made by the column
MAX_BLOCK = 2**25  # entries that are held together: 256 MiB
STRIP_ROWS = 512  # added up together: they stay in the cache


def blocks(items: Indices, n: int) -> list[Indices]:
    """Blocks of items, so few at a time that their columns of n entries need little memory."""
    width = max(1, MAX_BLOCK // n)
    return [items[start : start + width] for start in range(0, len(items), width)]


class CachedColumns:
    """Columns of a symmetric matrix, computed once and kept within ``memory`` bytes.

    ``make`` takes indices and returns those columns side by side, a new array (n, len(indices)),
    over which the diagonal is written. ``row_sums`` gives the row sums without it, if that is
    faster than through the columns.
    """

    def __init__(
        self,
        make: Callable[[Indices], Floats],
        diagonal: Floats,
        memory: int = 2**30,
        row_sums: Callable[[], Floats | None] | None = None,
    ) -> None:
        self._row_sums = row_sums
        self._sums: Floats | None = None
        self.shape = (len(diagonal), len(diagonal))
        self.made = 0  # columns computed so far
        self._make, self._diagonal = make, np.asarray(diagonal, np.float64)
        self._kept: OrderedDict[int, Floats] = OrderedDict()
        self._room = max(1, memory // (8 * len(diagonal)))

    def with_diagonal(self, diagonal: Floats) -> Self:
        """The same matrix with another diagonal; both share the columns that are kept."""
        other = copy(self)
        other._diagonal, other._sums = diagonal, None
        return other

    def diagonal(self) -> Floats:
        """The diagonal."""
        return self._diagonal

    def columns(self, items: Indices) -> Floats:
        """The columns of those items, side by side."""
        items = np.asarray(items, np.int64)
        if len(items) == 1 and (known := self._kept.get(int(items[0]))) is not None:
            self._kept.move_to_end(int(items[0]))
            column = known[:, np.newaxis].copy()
            column[items[0]] = self._diagonal[items[0]]
            return column
        places: dict[int, list[int]] = {}
        for place, item in enumerate(items.tolist()):
            places.setdefault(item, []).append(place)
        new = np.array([item for item in places if item not in self._kept], np.int64)
        if 0 < len(items) == len(new) <= MAX_BLOCK // self.shape[0]:
            _, made = next(self.stream(new))
            self._keep(dict(zip(places, made.T, strict=True)))
            return made
        out = np.empty((len(items), self.shape[0]))  # a row each: they lie together in memory
        for item in places.keys() & self._kept.keys():
            out[places[item]] = self._kept[item]
        for some, made in self.stream(new):
            for item, column in zip(some.tolist(), made.T, strict=True):
                out[places[item]] = column
        self._keep({item: out[where[0]] for item, where in places.items()})
        out[np.arange(len(items)), items] = self._diagonal[items]
        return out.T

    def stream(self, items: Indices) -> Iterator[tuple[Indices, Floats]]:
        """Yield items and their columns, some at a time; none is kept."""
        for some in blocks(items, self.shape[0]):
            self.made += len(some)
            columns = np.array(self._make(some), np.float64, copy=None)
            columns[some, np.arange(len(some))] = self._diagonal[some]
            yield some, columns

    def row_sums(self) -> Floats:
        """Row sums, added up once; none of the columns is kept."""
        if self._sums is None:
            sums = None if self._row_sums is None else self._row_sums()
            self._sums = self._add_up() if sums is None else sums + self._diagonal
        return self._sums

    def _add_up(self) -> Floats:
        sums = np.zeros(len(self._diagonal))
        for _, columns in self.stream(np.arange(len(sums))):
            for start in range(0, len(sums), STRIP_ROWS):
                # rows side by side are summed like those of a whole matrix: ties stay ties
                rows = np.ascontiguousarray(columns[start : start + STRIP_ROWS])
                sums[start : start + STRIP_ROWS] += rows.sum(axis=1)
        return sums

    def _keep(self, found: dict[int, Floats]) -> None:
        for item, column in found.items():
            if item in self._kept:
                self._kept.move_to_end(item)
            else:
                self._kept[item] = column.copy()
            if len(self._kept) > self._room:
                self._kept.popitem(last=False)
