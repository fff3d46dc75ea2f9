"""Row sums, best partners and best pairs of a matrix that is never held.

Entries that are added up are taken before they are scaled: integers, and as float64 exact or
rounded the same way everywhere. Each is split in two, so that sums have no rounding and do not
depend on their order: the same to the last bit from every backend, and equal for equal columns.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.measures import Query
from bestk.native.threads import n_threads, run_tiles, spans, threads

SPLIT = 2.0**28
STRIP_ENTRIES = 2**22  # of the matrix, reduced together
STRIP_STEP = 16  # rows that a thread adds up
TILE_ROWS, TILE_COLUMNS = 256, 4096  # of the matrix that a thread holds: they stay in the cache
TILES_PER_THREAD = 4  # at least, so that threads end together
Tile = tuple[int, int, int, int]  # first row, last row, first column, last column


def sum_rows(
    write: Callable[[Floats, Indices, Indices], None], order: Indices, scale: float, mirror: bool
) -> Floats:
    """Row sums without the diagonal; ``write`` fills strips with integers in units of ``scale``."""
    n, parts, lock = len(order), np.zeros((2, len(order))), Lock()
    height = max(STRIP_STEP, STRIP_ENTRIES // n // STRIP_STEP * STRIP_STEP)
    for start in range(0, n, height):
        rows, columns = order[start : start + height], order[start:]
        if not mirror:
            columns = np.concatenate([columns, order[:start]])
        values = np.empty((len(rows), len(columns)))
        write(values, rows, columns)
        np.fill_diagonal(values, 0.0)  # the first columns are the rows
        below = columns[len(rows) if mirror else n :]
        add = partial(_add_sums, parts, lock, values, rows, below)
        run_tiles(add, spans(len(rows), STRIP_STEP))
    return join(parts, scale)


def _add_sums(
    parts: Floats, lock: Any, values: Floats, rows: Indices, below: Indices, span: tuple[int, int]
) -> None:
    """Add some rows to the sums of theirs, and of the last columns; they are overwritten."""
    low, own = values[slice(*span)], rows[slice(*span)]
    high = np.floor(low / SPLIT)
    low -= high * SPLIT
    first = low.shape[1] - len(below)
    sums = [(each.sum(axis=1), each[:, first:].sum(axis=0)) for each in (high, low)]
    with lock:
        for total, (across, down) in zip(parts, sums, strict=True):
            total[own] += across
            total[below] += down


def join(parts: Floats, scale: float) -> Floats:
    """Sums from those of their two parts."""
    high, low = parts
    return np.asarray((high * SPLIT + low) * scale)


class Scan(NamedTuple):
    """The best partner of each feature in each group, and the best pairs of all."""

    best: Floats  # (group, feature): the value of the pair; -inf where there is none
    partners: Indices  # (group, feature): the other feature of the pair; -1
    pairs: Indices  # a row for each, the lower feature first; ties by the lowest index
    values: Floats  # of those, descending


def scan_tiles(source: Any, query: Query, groups: Indices, top: int) -> Scan:
    """Fill tiles of a symmetric measure, features in order of groups, and keep the best."""
    order, tiles, lock = np.argsort(groups, kind="stable"), list(cut_tiles(groups)), Lock()
    best, pairs = _BestPartners(groups), TopPairs(top, len(groups))

    def work(tile: Tile) -> None:
        rows, columns = order[tile[0] : tile[1]], order[tile[2] : tile[3]]
        found = np.empty((len(rows), len(columns)), np.float32)
        with threads(1):
            source.fill(query._replace(rows=rows, columns=columns), found)
        if tile[2] < tile[1]:  # each pair once
            found[np.arange(*tile[:2])[:, np.newaxis] >= np.arange(*tile[2:])] = -np.inf
        most = found.max(axis=1), found.max(axis=0)
        with lock:
            best.take(found, rows, columns, most[0])
            best.take(found.T, columns, rows, most[1])
            if top and len(some := np.flatnonzero(most[0] >= pairs.least)):
                pairs.take(found[some], rows[some], columns)

    run_tiles(work, tiles[:1])  # prepares what the threads share
    run_tiles(work, tiles[1:])
    return Scan(best.values, best.partners, pairs.pairs, pairs.values)


def rank_tiles(source: Any, query: Query, features: Indices, count: int) -> tuple[Indices, Floats]:
    """The pairs of the largest measure at [i, j], i < j, and the measure of each, largest first.

    ``features``: what each column of the source is called in the result, where the lower one
    comes first and ties go to the lowest.
    """
    best = TopPairs(count, len(features))
    lock = Lock()

    def work(tile: Tile) -> None:
        rows = np.arange(*tile[:2])
        columns = np.arange(*tile[2:])
        values = np.empty((len(rows), len(columns)), np.float32)
        with threads(1):
            source.fill(query._replace(rows=rows, columns=columns), values)
        if columns[0] <= rows[-1]:
            values[rows[:, np.newaxis] >= columns] = -np.inf
        most = values.max(axis=1)
        with lock:
            large = np.flatnonzero(most >= best.least)
            if len(large):
                best.take(values[large], features[rows[large]], features[columns])

    tiles = list(cut_tiles(np.zeros(len(features), np.int64)))
    # The first tile prepares what the threads share.
    run_tiles(work, tiles[:1])
    run_tiles(work, tiles[1:])
    return best.pairs, best.values


def cut_tiles(groups: Indices) -> Iterator[Tile]:
    """The tiles of the upper half, features in order of groups, each in one group."""
    height = min(TILE_ROWS, -(-len(groups) // (TILES_PER_THREAD * n_threads())))
    ends = np.concatenate([[0], np.cumsum(np.bincount(groups))]).tolist()
    cut = {
        size: [(a + first, b + first) for first, last in pairwise(ends)
               for a, b in spans(last - first, size)]
        for size in (height, TILE_COLUMNS)
    }  # fmt: skip
    for rows in cut[height]:
        for first, last in cut[TILE_COLUMNS]:
            if last > rows[0]:
                yield (*rows, max(first, rows[0]), last)


class _BestPartners:
    """The largest interaction of each feature with those of each group, so far."""

    def __init__(self, groups: Indices) -> None:
        self._groups, shape = groups, (int(groups.max()) + 1, len(groups))
        self.values, self.partners = np.full(shape, -np.inf), np.full(shape, -1)

    def take(self, found: Array, features: Indices, others: Indices, most: Floats) -> None:
        """Compare with a row for each of the features; the others, ascending, are of one group."""
        group = self._groups[others[0]]
        values, partners = self.values[group], self.partners[group]
        some = np.flatnonzero(most >= values[features])
        own, value = features[some], most[some]
        partner = others[found[some].argmax(axis=1)]
        better = (value > values[own]) | (partner < partners[own])
        values[own[better]], partners[own[better]] = value[better], partner[better]


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
        if not self.count:
            return
        if not len(self.values) and values.size > self.count:
            least = np.partition(values, -self.count, axis=None)[-self.count]
            self.least = max(self.least, float(least))
        i, j = np.nonzero(values >= self.least)
        self.add(values[i, j], rows[i], columns[j])

    def add(self, values: Array, rows: Indices, columns: Indices) -> None:
        """Keep the largest of some entries; none where no pairs are asked for."""
        if not self.count:
            return
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        found = np.concatenate([self.values, values])
        keys = np.concatenate([self._keys, low * self._n + high])
        best = np.lexsort((keys, -found))[: self.count]
        self.values, self._keys = found[best], keys[best]
        if len(best) == self.count:
            self.least = float(self.values[-1])
