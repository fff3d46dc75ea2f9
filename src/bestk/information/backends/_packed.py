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
from bestk._typing import Floats, Indices
from bestk.native import kernels
from bestk.native.threads import n_threads, run_tiles, spans
from bestk.tables.codes import Codes, ends
from bestk.tables.target import ClassTarget

# Bits of a word.
WORD = 32

# Features of a tile.
LANES = 16

# Planes of row features that are counted together; twice as many where counts are joint.
MAX_ROW_PLANES = 32

# Bytes of the cache that their counts may take.
CACHE_BYTES = 262_144

# Nanoseconds of one core, from fits by ``python -m benchmarks.counting costs``: a word of a plane
# against a word of sixteen others; a cell of sixteen pairs; a sample of one pair in a histogram.
WORD_COST = 1.8
CELL_COST = 13.0
SAMPLE_COST = 3.8
COSTS = np.array([WORD_COST, CELL_COST, SAMPLE_COST])

# Up to so many different counts of a cell in all classes are one index, as in pairs.c: they are
# looked up at once.
MAX_JOINT = 8192


@dataclass(frozen=True)
class Packed:
    """A discrete table as bits; features are known by their place in order of levels."""

    bits: NDArray[np.uint32]
    """Tile after tile, each ``[plane, word, lane]``."""

    margins: NDArray[np.uint32]
    """The bits that are set: tile after tile, each ``[class, plane, lane]``."""

    n_planes: Indices
    """Planes of each tile; -1 where the tile has too many levels for planes."""

    bits_at: Indices
    """Where each tile begins in ``bits``, and the end."""

    margins_at: Indices
    """Where each tile begins in ``margins``, and the end."""

    words: Indices
    """The words of class c are words[c] up to words[c + 1]."""

    sizes: Indices
    """Samples of each class."""

    starts: Indices
    """Once sorted, the samples of class c are starts[c] up to starts[c + 1]."""

    levels: Indices
    """Of each place; 1 where it is empty."""

    codes: NDArray[np.uint16] | None
    """``[place, sample]``, samples sorted by class; None where planes serve every pair."""

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.levels)

    @cached_property
    def seconds(self) -> Floats:
        """About the seconds that one core needs to count each feature against a tile."""
        most_planes = int(self.levels.max()) - 1
        n_samples = float(self.starts[-1])
        n_words = int(self.words[-1])
        by_planes = planes_cost(np.arange(most_planes + 1.0), most_planes, n_words, self.sizes)
        nanoseconds = np.minimum(by_planes, n_samples * LANES * SAMPLE_COST)
        return np.asarray(1e-9 * nanoseconds[self.levels - 1])

    @cached_property
    def row_planes(self) -> int:
        """How many planes of rows have counts that stay in the cache."""
        if _counts_jointly(self.sizes):  # cell by cell
            return 2 * MAX_ROW_PLANES
        bytes_of_plane = len(self.sizes) * max(1, int(self.n_planes.max())) * LANES * 4
        return min(MAX_ROW_PLANES, max(1, CACHE_BYTES // bytes_of_plane))


def _counts_jointly(sizes: Indices) -> bool:
    """Whether the counts of a cell in all classes are one index, as in pairs.c."""
    return prod((sizes + 1).tolist()) <= MAX_JOINT


def planes_cost(n_row_planes: Any, n_tile_planes: int, n_words: int, sizes: Indices) -> Any:
    """Nanoseconds of a row feature against a tile of sixteen, by AND and popcount."""
    n_tables = 1 if _counts_jointly(sizes) else len(sizes) + 1
    n_cells = (n_row_planes + 1) * (n_tile_planes + 1) * n_tables
    return n_row_planes * n_tile_planes * n_words * WORD_COST + n_cells * CELL_COST


def order_features(levels: Indices, width: int | None = None) -> Indices:
    """The feature at each place: in order of their number of levels.

    ``width``: the columns of each of several tables that stand side by side, of which no tile has
    columns of two. A place that a table leaves empty in its last tile has -1; tiles are in order of
    levels, too.
    """
    if width is None:
        return np.argsort(levels, kind="stable")
    n_tables = len(levels) // width
    tiles_per_table = -(-width // LANES)
    within_table = np.argsort(levels.reshape(n_tables, width), axis=1, kind="stable")
    order = np.full((n_tables, tiles_per_table * LANES), -1)
    order[:, :width] = within_table + width * np.arange(n_tables)[:, np.newaxis]
    tiles = order.reshape(-1, LANES)
    most_levels = np.where(tiles < 0, 0, levels[tiles]).max(axis=1)
    return tiles[np.argsort(most_levels, kind="stable")].ravel()


def pack(codes: Codes, target: ClassTarget, order: Indices, max_levels: int) -> Packed:
    """Pack the features in an order; tiles of features of more than ``max_levels`` get no planes.

    ``codes``: ``[feature, sample]``, samples in the order of the target. ``order``: the feature at
    each place; see :func:`order_features`.
    """
    sizes = target.counts
    levels = np.where(order < 0, 1, codes.levels[order])
    samples = target.order.astype(np.uint32)
    words = ends(-(-sizes // WORD))
    most_levels = np.maximum.reduceat(levels, np.arange(0, len(order), LANES))
    n_planes = np.where(most_levels <= max_levels, most_levels - 1, -1)
    n_stored = np.maximum(n_planes, 0)
    bits_at = ends(n_stored * words[-1] * LANES)
    margins_at = ends(n_stored * len(sizes) * LANES)
    bits = _aligned_zeros(int(bits_at[-1]))
    margins = np.zeros(margins_at[-1], np.uint32)
    is_wide = codes.values.dtype == np.uint16
    write = kernels.pack_planes.bind(
        None if is_wide else codes.values,
        codes.values if is_wide else None,
        np.maximum(order, 0),
        samples,
        n_planes,
        bits_at,
        margins_at,
        words,
        sizes,
        levels,
        len(order),
        len(sizes),
        bits,
        margins,
    )
    n_tiles = len(n_planes)
    size = n_tiles if n_threads() == 1 else -(-n_tiles // (4 * n_threads()))  # a few for a thread
    run_tiles(lambda span: write(*span), spans(n_tiles, size))
    codes_in_order = None
    if _needs_codes(int(levels.max()), max_levels, int(words[-1]), sizes):
        codes_in_order = codes.values.take(samples, axis=1)[order].astype(np.uint16, copy=False)
    return Packed(
        bits=bits,
        margins=margins,
        n_planes=n_planes,
        bits_at=bits_at,
        margins_at=margins_at,
        words=words,
        sizes=sizes,
        starts=ends(sizes),
        levels=levels,
        codes=codes_in_order,
    )


def _needs_codes(most_levels: int, max_levels: int, n_words: int, sizes: Indices) -> bool:
    """Whether some pairs are counted by histograms: they have no planes, or planes take longer."""
    by_planes = planes_cost(most_levels - 1, most_levels - 1, n_words, sizes)
    by_histogram = int(sizes.sum()) * LANES * SAMPLE_COST
    return bool(most_levels > max_levels or by_planes >= by_histogram)


def _aligned_zeros(count: int) -> NDArray[np.uint32]:
    """Zeros from the start of a cache line on: no vector is read from two of them."""
    zeros = np.zeros(count + LANES, np.uint32)
    start = -(zeros.__array_interface__["data"][0] // zeros.itemsize) % LANES
    return zeros[start : start + count]
