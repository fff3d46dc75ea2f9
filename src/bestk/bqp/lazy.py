"""A symmetric matrix known by its columns, computed on demand and kept while there is room."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Self

import numpy as np

from bestk._typing import Floats, Indices

# Bytes that a matrix of pairs may take; a larger one is computed column by column.
MEMORY = 2**32
# Entries of columns that are computed and held at a time: 256 MiB.
MAX_BLOCK = 2**25
# Rows that are added up at a time, so few that they stay in the cache.
STRIP_ROWS = 512


def blocks(items: Indices, n: int) -> list[Indices]:
    """Items in blocks, so few at a time that their columns of n entries need little memory."""
    width = max(1, MAX_BLOCK // n)
    starts = range(0, len(items), width)
    return [items[start : start + width] for start in starts]


class CachedColumns:
    """A symmetric matrix whose columns are computed when they are first asked for.

    Parameters
    ----------
    make : function
        Takes indices and returns those columns side by side: a new array of shape
        (n, number of indices). Its diagonal entries are overwritten.
    diagonal : array of shape (n,)
        The diagonal of the matrix.
    memory : int
        Bytes for columns that are kept; those that were used last stay.
    row_sums : function, optional
        Returns the sums of the rows without their diagonal entries, where that is faster than
        through the columns, or None.
    """

    def __init__(
        self,
        make: Callable[[Indices], Floats],
        diagonal: Floats,
        memory: int = 2**30,
        row_sums: Callable[[], Floats | None] | None = None,
    ) -> None:
        n = len(diagonal)
        self.shape = (n, n)
        self.made = 0
        """Number of columns computed so far."""
        self._make = make
        self._diagonal = np.asarray(diagonal, np.float64)
        self._sum_rows = row_sums
        self._row_sums: Floats | None = None
        self._kept: OrderedDict[int, Floats] = OrderedDict()
        self._max_kept = max(1, memory // (8 * n))

    def with_diagonal(self, diagonal: Floats) -> Self:
        """The same matrix with another diagonal; both share the columns that are kept."""
        other = copy(self)
        other._diagonal = diagonal
        other._row_sums = None
        return other

    def diagonal(self) -> Floats:
        """The diagonal."""
        return self._diagonal

    def columns(self, items: Indices) -> Floats:
        """The columns of those items, side by side, as a new array; items may repeat."""
        items = np.asarray(items, np.int64)
        if len(items) == 1 and int(items[0]) in self._kept:
            return self._copy_of_kept(int(items[0]))
        places_of: dict[int, list[int]] = {}
        for place, item in enumerate(items.tolist()):
            places_of.setdefault(item, []).append(place)
        missing = [item for item in places_of if item not in self._kept]
        all_are_missing = 0 < len(items) == len(missing)
        if all_are_missing and len(items) <= MAX_BLOCK // self.shape[0]:
            _, made = next(self.stream(items))
            self._keep(dict(zip(places_of, made.T, strict=True)))
            return made
        return self._gather(items, places_of, missing)

    def _gather(
        self, items: Indices, places_of: Mapping[int, list[int]], missing: list[int]
    ) -> Floats:
        """The columns of items, some of which are kept and some of which are made now.

        places_of: where each item stands among them; missing: those that are not kept.
        """
        # The columns are gathered as rows, each of which lies together in memory.
        rows = np.empty((len(items), self.shape[0]))
        for item in places_of.keys() & self._kept.keys():
            rows[places_of[item]] = self._kept[item]
        for block, made in self.stream(np.array(missing, np.int64)):
            for item, column in zip(block.tolist(), made.T, strict=True):
                rows[places_of[item]] = column
        first_rows = {item: rows[places[0]] for item, places in places_of.items()}
        self._keep(first_rows)
        rows[np.arange(len(items)), items] = self._diagonal[items]
        return rows.T

    def _copy_of_kept(self, item: int) -> Floats:
        """A column that is kept, of shape (n, 1), with the diagonal of this matrix."""
        self._kept.move_to_end(item)
        column = self._kept[item][:, np.newaxis].copy()
        column[item] = self._diagonal[item]
        return column

    def stream(self, items: Indices) -> Iterator[tuple[Indices, Floats]]:
        """Yield blocks of items with their columns side by side; none of them is kept."""
        for block in blocks(items, self.shape[0]):
            self.made += len(block)
            places = np.arange(len(block))
            columns = np.array(self._make(block), np.float64, copy=None)
            columns[block, places] = self._diagonal[block]
            yield block, columns

    def row_sums(self) -> Floats:
        """Sums of the rows, added up once; none of the columns is kept."""
        if self._row_sums is None:
            sums = None if self._sum_rows is None else self._sum_rows()
            self._row_sums = self._add_up() if sums is None else sums + self._diagonal
        return self._row_sums

    def _add_up(self) -> Floats:
        """Sums of the rows, through all columns."""
        n = len(self._diagonal)
        sums = np.zeros(n)
        for _, columns in self.stream(np.arange(n)):
            for start in range(0, n, STRIP_ROWS):
                # Contiguous rows are summed in the order of those of a whole matrix, so that
                # equal sums stay equal to the last bit.
                rows = np.ascontiguousarray(columns[start : start + STRIP_ROWS])
                sums[start : start + STRIP_ROWS] += rows.sum(axis=1)
        return sums

    def _keep(self, columns: Mapping[int, Floats]) -> None:
        """Keep columns by item, and drop those that were used longest ago."""
        for item, column in columns.items():
            if item in self._kept:
                self._kept.move_to_end(item)
            else:
                self._kept[item] = column.copy()
            if len(self._kept) > self._max_kept:
                self._kept.popitem(last=False)
