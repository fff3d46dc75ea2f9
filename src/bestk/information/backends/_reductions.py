"""Row sums, best partners and best pairs of a matrix that is never held.

Entries that are added up are taken before they are scaled: integers, and as float64 exact or
rounded the same way everywhere. Each is split in two, so that sums have no rounding and do not
depend on their order: the same to the last bit from every backend, and equal for equal columns.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.measures import Query
from bestk.native.threads import n_threads, run_tiles, spans, threads

if TYPE_CHECKING:
    from bestk.information.backends._source import PairSource

# An entry is split into multiples of it, and what is left.
SPLIT = 2.0**28

# Entries of the matrix that are added up together.
STRIP_ENTRIES = 2**22

# Rows of a strip that a thread adds up.
STRIP_STEP = 16

# Rows and columns of the matrix that a thread holds to compare them: they stay in the cache.
TILE_ROWS = 256
TILE_COLUMNS = 4096

# Tiles of fewer rows than this take less time than what starts them.
MIN_TILE_ROWS = 64

# Tiles of each thread, at least, so that threads end together.
TILES_PER_THREAD = 4

# Fills an array ``[row, column]`` with the pairs of row features and column features.
Write = Callable[[Floats, Indices, Indices], None]


class Tile(NamedTuple):
    """Rows and columns of a matrix, each from the first up to the last, which is not in it."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


def sum_rows(write: Write, order: Indices, scale: float, mirror: bool) -> Floats:
    """Row sums of all pairs of features, without the diagonal.

    ``write`` fills arrays with integers in units of ``scale``. ``order``: the features in the order
    in which they are quickly written. ``mirror``: the matrix is symmetric, and each pair is
    written once.
    """
    n = len(order)
    sums = np.zeros((2, n))
    lock = Lock()
    steps = STRIP_ENTRIES // n // STRIP_STEP
    height = max(STRIP_STEP, steps * STRIP_STEP)
    for start in range(0, n, height):
        rows = order[start : start + height]
        columns = order[start:]  # the first of them are the rows
        below = columns[len(rows) :]
        if not mirror:
            columns = np.concatenate([columns, order[:start]])
            below = columns[n:]  # none
        values = np.empty((len(rows), len(columns)))
        write(values, rows, columns)
        np.fill_diagonal(values, 0.0)
        add = partial(_add_sums, sums, lock, values, rows, below)
        run_tiles(add, spans(len(rows), STRIP_STEP))
    return join(sums, scale)


def _add_sums(
    sums: Floats, lock: Lock, values: Floats, rows: Indices, below: Indices, span: tuple[int, int]
) -> None:
    """Add a span of rows to the sums of their features, and of those of the last columns.

    ``sums``: ``[high or low part, feature]``. ``values``: ``[row, column]``, overwritten; ``rows``
    are the features of all rows, and ``below`` those of the last columns.
    """
    first, last = span
    features = rows[first:last]
    low = values[first:last]
    high = np.floor(low / SPLIT)
    low -= high * SPLIT
    first_below = low.shape[1] - len(below)
    sums_of_high = high.sum(axis=1)
    sums_of_low = low.sum(axis=1)
    column_sums_of_high = high[:, first_below:].sum(axis=0)
    column_sums_of_low = low[:, first_below:].sum(axis=0)
    with lock:
        sums[0, features] += sums_of_high
        sums[1, features] += sums_of_low
        sums[0, below] += column_sums_of_high
        sums[1, below] += column_sums_of_low


def join(sums: Floats, scale: float) -> Floats:
    """Sums in nats from those of their two parts, ``[high or low part, feature]``."""
    high, low = sums
    return np.asarray((high * SPLIT + low) * scale)


class Scan(NamedTuple):
    """The best partner of each feature in each group, and the best pairs of all."""

    best: Floats
    """``[group, feature]``: the value of the pair; -inf where there is none."""

    partners: Indices
    """``[group, feature]``: the other feature of the pair; -1 where there is none."""

    pairs: Indices
    """A row for each of the best pairs, the lower feature first; ties go to the lowest features."""

    values: Floats
    """The value of each, largest first."""


def scan_tiles(source: "PairSource", query: Query, groups: Indices, top: int) -> Scan:
    """Fill tiles of a symmetric measure, features in order of groups, and keep the best."""
    order = np.argsort(groups, kind="stable")
    best = _BestPartners(groups)
    pairs = TopPairs(top, len(groups))
    lock = Lock()

    def work(tile: Tile) -> None:
        rows = order[tile.first_row : tile.last_row]
        columns = order[tile.first_column : tile.last_column]
        values = _fill_above_diagonal(source, query._replace(rows=rows, columns=columns), tile)
        largest_of_rows = values.max(axis=1)
        largest_of_columns = values.max(axis=0)
        with lock:
            best.take(values, rows, columns, largest_of_rows)
            best.take(values.T, columns, rows, largest_of_columns)
            pairs.take_rows(values, rows, columns, largest_of_rows)

    _run_tiles(work, groups)
    return Scan(best.values, best.partners, pairs.pairs, pairs.values)


def rank_tiles(
    source: "PairSource", query: Query, features: Indices, count: int
) -> tuple[Indices, Floats]:
    """The pairs of the largest measure at [i, j], i < j, and the measure of each, largest first.

    ``features``: what each column of the source is called in the result, where the lower one
    comes first and ties go to the lowest.
    """
    pairs = TopPairs(count, len(features))
    lock = Lock()

    def work(tile: Tile) -> None:
        rows = np.arange(tile.first_row, tile.last_row)
        columns = np.arange(tile.first_column, tile.last_column)
        values = _fill_above_diagonal(source, query._replace(rows=rows, columns=columns), tile)
        largest_of_rows = values.max(axis=1)
        with lock:
            pairs.take_rows(values, features[rows], features[columns], largest_of_rows)

    _run_tiles(work, groups=np.zeros(len(features), np.int64))
    return pairs.pairs, pairs.values


def _fill_above_diagonal(source: "PairSource", query: Query, tile: Tile) -> Array:
    """The values of a tile; -inf on the diagonal of the matrix and below: each pair comes once."""
    rows = np.arange(tile.first_row, tile.last_row)
    columns = np.arange(tile.first_column, tile.last_column)
    values = np.empty((len(rows), len(columns)), np.float32)
    with threads(1):
        source.fill(query, values)
    if tile.first_column < tile.last_row:
        values[rows[:, np.newaxis] >= columns] = -np.inf
    return values


def _run_tiles(work: Callable[[Tile], None], groups: Indices) -> None:
    """Work on all tiles in threads; the first one alone, as it prepares what threads share."""
    tiles = list(cut_tiles(groups))
    run_tiles(work, tiles[:1])
    run_tiles(work, tiles[1:])


def cut_tiles(groups: Indices) -> Iterator[Tile]:
    """The tiles of the upper half, features in order of groups, each in one group."""
    height = -(-len(groups) // (TILES_PER_THREAD * n_threads()))
    height = min(TILE_ROWS, max(MIN_TILE_ROWS, height))
    sizes_of_groups = np.bincount(groups)
    ends_of_groups = np.cumsum(sizes_of_groups).tolist()
    spans_of_rows = []
    spans_of_columns = []
    for first, last in pairwise([0, *ends_of_groups]):
        for start, stop in spans(last - first, height):
            spans_of_rows.append((first + start, first + stop))
        for start, stop in spans(last - first, TILE_COLUMNS):
            spans_of_columns.append((first + start, first + stop))
    for first_row, last_row in spans_of_rows:
        for first_column, last_column in spans_of_columns:
            if last_column > first_row:
                yield Tile(first_row, last_row, max(first_column, first_row), last_column)


class _BestPartners:
    """The largest value of each feature with those of each group, so far."""

    def __init__(self, groups: Indices) -> None:
        shape = (int(groups.max()) + 1, len(groups))
        self._groups = groups
        self.values = np.full(shape, -np.inf)
        self.partners = np.full(shape, -1)

    def take(self, values: Array, features: Indices, others: Indices, largest: Floats) -> None:
        """Compare the features with others of one group, which ascend.

        ``values``: ``[feature, other]``; ``largest``: of each row.
        """
        group = self._groups[others[0]]
        best_values = self.values[group]
        best_partners = self.partners[group]
        rows = np.flatnonzero(largest >= best_values[features])
        candidates = features[rows]
        value = largest[rows]
        partner = others[values[rows].argmax(axis=1)]
        is_larger = value > best_values[candidates]
        is_lower_partner = partner < best_partners[candidates]  # of as large a value
        is_better = is_larger | is_lower_partner
        improved = candidates[is_better]
        best_values[improved] = value[is_better]
        best_partners[improved] = partner[is_better]


class TopPairs:
    """The ``count`` largest values of pairs of ``n`` features, so far; none if ``count`` is 0.

    Ties go to the pairs of the lowest features.
    """

    def __init__(self, count: int, n: int, threshold: float | None = None) -> None:
        self.count = count
        self._n = n
        # Smaller values are not wanted; -inf stands for pairs that were met before.
        self.threshold = float(np.finfo(np.float32).min) if threshold is None else threshold
        self.values = np.empty(0)
        self._keys = np.empty(0, np.int64)

    @property
    def pairs(self) -> Indices:
        """The features of each, the lower one first."""
        return np.stack(np.divmod(self._keys, self._n), axis=1)

    def take_rows(
        self, values: Array, rows: Indices, columns: Indices, largest_of_rows: Floats
    ) -> None:
        """Keep the largest of some pairs, ``[row, column]``, if a row may have one."""
        if not self.count:
            return
        has_large = np.flatnonzero(largest_of_rows >= self.threshold)
        if len(has_large):
            self.take(values[has_large], rows[has_large], columns)

    def take(self, values: Array, rows: Indices, columns: Indices) -> None:
        """Keep the largest of some pairs, ``[row, column]``; -inf where they are not wanted."""
        if not self.count:
            return
        if not len(self.values) and values.size > self.count:
            largest = np.partition(values, -self.count, axis=None)[-self.count]
            self.threshold = max(self.threshold, float(largest))
        i, j = np.nonzero(values >= self.threshold)
        self.add(values[i, j], rows[i], columns[j])

    def add(self, values: Array, rows: Indices, columns: Indices) -> None:
        """Keep the largest of some pairs: a value, a row and a column for each."""
        if not self.count:
            return
        low = np.minimum(rows, columns)
        high = np.maximum(rows, columns)
        all_values = np.concatenate([self.values, values])
        all_keys = np.concatenate([self._keys, low * self._n + high])
        best = np.lexsort((all_keys, -all_values))[: self.count]
        self.values = all_values[best]
        self._keys = all_keys[best]
        if len(best) == self.count:
            self.threshold = float(self.values[-1])
