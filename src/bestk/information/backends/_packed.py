"""A discrete table as planes of bits.

Samples are sorted by class and each class is padded to whole 32-bit words; features are sorted
by their number of levels. For each feature and each level but the last there is one plane of
bits. Sixteen features make a tile, their words side by side.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.native import kernels
from bestk.native.threads import n_threads, run_tiles, spans
from bestk.tables.codes import Codes, ends
from bestk.tables.target import ClassTarget

WORD, LANES = 32, 16  # bits of a word, features of a tile
MAX_ROW_PLANES = 32  # planes of row features that are counted together; 64 by joint counts
CACHE_BYTES = 262_144  # for their counts
# Nanoseconds of one core, from fits by ``python -m benchmarks.counting costs``: a word of a plane
# against a word of sixteen others; a cell of sixteen pairs; a sample of one pair in a histogram.
WORD_COST, CELL_COST, SAMPLE_COST = 1.8, 13.0, 3.8
COSTS = np.array([WORD_COST, CELL_COST, SAMPLE_COST])
MAX_JOINT = 8192  # counts by class of a cell, as in pairs.c: up to so many are looked up at once


@dataclass(frozen=True)
class Packed:
    """A discrete table as bits; features are known by their place in order of levels."""

    bits: NDArray[np.uint32]  # tile after tile, each [plane, word, lane]
    margins: NDArray[np.uint32]  # tile after tile, each [class, plane, lane]: bits set
    n_planes: Indices  # of each tile; -1 where the tile has too many levels for planes
    bits_at: Indices  # where each tile begins in `bits`
    margins_at: Indices  # and in `margins`
    words: Indices  # words[c]:words[c + 1] are the words of class c
    sizes: Indices  # samples of each class
    starts: Indices  # samples starts[c]:starts[c + 1] are class c, once sorted
    levels: Indices
    codes: NDArray[np.uint16] | None  # samples sorted by class; None: planes serve every pair

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.levels)

    @cached_property
    def seconds(self) -> Floats:
        """About the seconds that one core needs to count each feature against a tile."""
        most, samples = int(self.levels.max()) - 1, float(self.starts[-1])
        by_planes: Any = planes_cost(np.arange(most + 1.0), most, int(self.words[-1]), self.sizes)
        cost = np.minimum(by_planes, samples * LANES * SAMPLE_COST)
        return np.asarray(1e-9 * cost[self.levels - 1])

    @cached_property
    def row_planes(self) -> int:
        """How many planes of rows have counts that stay in the cache."""
        if _counts_jointly(self.sizes):  # cell by cell
            return 2 * MAX_ROW_PLANES
        counts = len(self.sizes) * max(1, int(self.n_planes.max())) * LANES * 4
        return min(MAX_ROW_PLANES, max(1, CACHE_BYTES // counts))


def _counts_jointly(sizes: Indices) -> bool:
    """Whether the counts of a cell in all classes are one index, as in pairs.c."""
    return prod((sizes + 1).tolist()) <= MAX_JOINT


def planes_cost(n_i: Any, n_j: int, n_words: int, sizes: Indices) -> Any:
    """Nanoseconds of sixteen pairs by AND and popcount, ``n_i`` planes against ``n_j``."""
    n_tables = 1 if _counts_jointly(sizes) else len(sizes) + 1
    cells = (n_i + 1) * (n_j + 1) * n_tables
    return n_i * n_j * n_words * WORD_COST + cells * CELL_COST


def order_features(levels: Indices, width: int | None = None) -> Indices:
    """The features by their number of levels; of tables of some width, none in another's tile.

    A place that a table leaves empty in its last tile has -1; tiles are in order of levels too.
    """
    if width is None:
        return np.argsort(levels, kind="stable")
    n_tables, n_tiles = len(levels) // width, -(-width // LANES)
    within = np.argsort(levels.reshape(n_tables, width), axis=1, kind="stable")
    order = np.full((n_tables, n_tiles * LANES), -1)
    order[:, :width] = within + width * np.arange(n_tables)[:, np.newaxis]
    tiles = order.reshape(-1, LANES)
    highest = np.where(tiles < 0, 0, levels[tiles]).max(axis=1)
    return tiles[np.argsort(highest, kind="stable")].ravel()


def pack(codes: Codes, target: ClassTarget, order: Indices, max_levels: int) -> Packed:
    """Pack the features in that order; tiles of more than ``max_levels`` get no planes."""
    levels, sizes = np.where(order < 0, 1, codes.levels[order]), target.counts
    samples = target.order.astype(np.uint32)
    words = ends(-(-sizes // WORD))
    highest = np.maximum.reduceat(levels, np.arange(0, len(order), LANES))
    n_planes = np.where(highest <= max_levels, highest - 1, -1)
    stored = np.maximum(n_planes, 0)
    bits_at, margins_at = ends(stored * words[-1] * LANES), ends(stored * len(sizes) * LANES)
    wide = codes.values.dtype == np.uint16
    values: tuple[Array | None, ...] = (None, codes.values) if wide else (codes.values, None)
    most, kept = int(levels.max()), None
    by_planes = planes_cost(most - 1, most - 1, int(words[-1]), sizes)
    if most > max_levels or by_planes >= codes.n_samples * LANES * SAMPLE_COST:
        kept = codes.values.take(samples, axis=1)[order].astype(np.uint16, copy=False)
    bits, margins = _aligned_zeros(int(bits_at[-1])), np.zeros(margins_at[-1], np.uint32)
    write = kernels.pack_planes.bind(
        *values, np.maximum(order, 0), samples, n_planes, bits_at, margins_at, words, sizes, levels,
        len(order), len(sizes), bits, margins,
    )  # fmt: skip
    size = len(n_planes) if n_threads() == 1 else -(-len(n_planes) // (4 * n_threads()))
    run_tiles(lambda span: write(*span), spans(len(n_planes), size))  # a few for each thread
    return Packed(
        bits, margins, n_planes, bits_at, margins_at, words, sizes, ends(sizes), levels, kept
    )


def _aligned_zeros(count: int) -> NDArray[np.uint32]:
    """Zeros from the start of a cache line on: no vector is read from two of them."""
    zeros = np.zeros(count + LANES, np.uint32)
    start = -(zeros.__array_interface__["data"][0] // zeros.itemsize) % LANES
    return zeros[start : start + count]
