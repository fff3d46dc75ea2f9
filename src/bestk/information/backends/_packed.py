"""A discrete table prepared for counting: sorted, cut into planes of bits, tiled.

Samples are sorted by class and each class is padded to whole 32-bit words; features are sorted
by their number of levels. For each feature and each level but the last there is one plane of
bits. Sixteen features make a tile, their words side by side.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import Codes, Target
from bestk.information.backends._costs import LANES, SAMPLE_COST, planes_cost, prefers_planes
from bestk.native import kernels
from bestk.native.threads import n_threads, run_tiles, spans

WORD = 32
MAX_ROW_PLANES = 32  # planes of row features that are counted together
CACHE_BYTES = 262_144  # for their counts


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
    codes: NDArray[np.uint16]  # samples sorted by class; no rows where planes serve every pair

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.levels)

    @property
    def codes_or_none(self) -> NDArray[np.uint16] | None:
        """The codes as kernels take them."""
        return self.codes if len(self.codes) else None

    @cached_property
    def seconds(self) -> Floats:
        """About the seconds that one core needs to count each feature against a tile."""
        most, samples = int(self.levels.max()) - 1, float(self.starts[-1])
        n_words, n_classes = int(self.words[-1]), len(self.sizes)
        by_planes: Any = planes_cost(np.arange(most + 1.0), most, n_words, n_classes)
        cost = np.minimum(by_planes, samples * LANES * SAMPLE_COST)
        return np.asarray(1e-9 * cost[self.levels - 1])

    @cached_property
    def row_planes(self) -> int:
        """How many planes of rows have counts that stay in the cache."""
        counts = len(self.sizes) * max(1, int(self.n_planes.max())) * LANES * 4
        return min(MAX_ROW_PLANES, max(1, CACHE_BYTES // counts))


def pack(codes: Codes, target: Target, order: Indices, max_levels: int) -> Packed:
    """Pack the features in that order; tiles of more than ``max_levels`` get no planes."""
    levels, sizes = codes.levels[order], target.counts
    samples = np.argsort(target.codes, kind="stable").astype(np.uint32)
    words = _ends(-(-sizes // WORD))
    highest = np.maximum.reduceat(levels, np.arange(0, len(order), LANES))
    n_planes = np.where(highest <= max_levels, highest - 1, -1)
    stored = np.maximum(n_planes, 0)
    bits_at, margins_at = _ends(stored * words[-1] * LANES), _ends(stored * len(sizes) * LANES)
    most = int(levels.max())
    kept = np.empty((0, codes.n_samples), np.uint16)
    if most > max_levels or not prefers_planes(
        most - 1, most - 1, int(words[-1]), len(sizes), codes.n_samples
    ):
        kept = np.empty(codes.values.shape, np.uint16)
        sort = kernels.sort_codes.bind(*_by_width(codes), order, samples, len(samples), kept)
        run_tiles(lambda span: sort(*span), _shares(len(order)))
    bits, margins = np.zeros(bits_at[-1], np.uint32), np.zeros(margins_at[-1], np.uint32)
    write = kernels.pack_planes.bind(
        *_by_width(codes), order, samples, n_planes, bits_at, margins_at, words, sizes, levels,
        len(order), len(sizes), bits, margins,
    )  # fmt: skip
    run_tiles(lambda span: write(*span), _shares(len(n_planes)))
    return Packed(
        bits, margins, n_planes, bits_at, margins_at, words, sizes, _ends(sizes), levels, kept
    )


def _by_width(codes: Codes) -> tuple[Array | None, Array | None]:
    """The values as an array of 8 bits or one of 16; None for the other."""
    wide = codes.values.dtype == np.uint16
    return (None, codes.values) if wide else (codes.values, None)


def _shares(length: int) -> list[tuple[int, int]]:
    """A few runs for each thread."""
    team = n_threads()
    return spans(length, max(1, length if team == 1 else -(-length // (4 * team))))


def _ends(lengths: Indices) -> Indices:
    """Where pieces laid end to end begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])
