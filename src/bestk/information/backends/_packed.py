"""A discrete table made ready for counting: sorted, cut into planes of bits, tiled.

Samples are sorted by class and each class is padded to whole 32-bit words; features are sorted
by their number of levels. For each feature and each level but the last there is one plane of
bits. Sixteen features make a tile, their words side by side.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel, parallel_kernel
from bestk.codes import Codes, Target
from bestk.information.backends._costs import prefers_planes
from bestk.information.backends._lanes import (
    LANES,
    common_bits,
    equal_bits,
    load,
    no_counts,
    store,
)

WORD = 32


class Packed(NamedTuple):
    """A discrete table as bits; features are known by their place in order of levels."""

    bits: NDArray[np.uint32]  # tile after tile, each [plane, word, lane]
    margins: NDArray[np.uint32]  # tile after tile, each [class, plane, lane]: bits set
    n_planes: NDArray[np.int64]  # of each tile; -1 where the tile has too many levels for planes
    bits_at: NDArray[np.int64]  # where each tile begins in `bits`
    margins_at: NDArray[np.int64]  # and in `margins`
    words: NDArray[np.int64]  # words[c]:words[c + 1] are the words of class c
    sizes: NDArray[np.int64]  # samples of each class
    starts: NDArray[np.int64]  # samples starts[c]:starts[c + 1] are class c, once sorted
    levels: NDArray[np.int64]
    codes: NDArray[np.uint16]  # samples sorted by class; no rows where planes serve every pair


def pack(codes: Codes, target: Target, order: NDArray[np.int64], most_levels: int) -> Packed:
    """Pack the features in that order; tiles of more than ``most_levels`` get no packed."""
    levels, sizes = codes.levels[order], target.counts
    samples = np.argsort(target.codes, kind="stable").astype(np.uint32)
    words = _ends(-(-sizes // WORD))
    highest = np.maximum.reduceat(levels, np.arange(0, len(order), LANES))
    n_planes = np.where(highest <= most_levels, highest - 1, -1)
    stored = np.maximum(n_planes, 0)
    bits_at, margins_at = _ends(stored * words[-1] * LANES), _ends(stored * len(sizes) * LANES)
    most = int(levels.max())
    kept = np.empty((0, codes.n_samples), np.uint16)
    if most > most_levels or not prefers_planes(
        most - 1, most - 1, int(words[-1]), len(sizes), codes.n_samples
    ):
        kept = _sort_codes(codes.values, order, samples)
    bits, margins = np.zeros(bits_at[-1], np.uint32), np.zeros(margins_at[-1], np.uint32)
    packed = Packed(
        bits, margins, n_planes, bits_at, margins_at, words, sizes, _ends(sizes), levels, kept
    )
    _pack(codes.values, order, samples, packed)
    return packed


def _ends(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where pieces laid end to end begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


@parallel_kernel
def _sort_codes(values: Any, order: Any, samples: Any) -> Any:
    out = np.empty(values.shape, np.uint16)
    for place in numba.prange(len(order)):
        for sample in range(len(samples)):
            out[place, sample] = values[order[place], samples[sample]]
    return out


@parallel_kernel
def _pack(values: Any, order: Any, samples: Any, packed: Any) -> None:
    for tile in numba.prange(len(packed.n_planes)):
        if packed.n_planes[tile] > 0:
            padded = np.empty(packed.words[-1] * WORD, values.dtype)
            for lane in range(min(LANES, len(order) - tile * LANES)):
                place = tile * LANES + lane
                last = packed.levels[place] - 1
                _sort_by_class(values[order[place]], samples, last, packed, padded)
                for plane in range(last):
                    _pack_plane(padded, plane, tile, lane, packed)
            for plane in range(packed.n_planes[tile]):
                _count_plane(tile, plane, packed)


@kernel
def _sort_by_class(row: Any, samples: Any, last: int, packed: Any, padded: Any) -> None:
    """Put the samples of each class at its words; the last level, which has no plane, pads."""
    sample = 0
    for c in range(len(packed.sizes)):
        at = packed.words[c] * WORD
        for _ in range(packed.sizes[c]):
            padded[at] = row[samples[sample]]
            at += 1
            sample += 1
        padded[at : packed.words[c + 1] * WORD] = last


@kernel
def _pack_plane(padded: Any, plane: int, tile: int, lane: int, packed: Any) -> None:
    n_words = packed.words[-1]
    start = packed.bits_at[tile] + plane * n_words * LANES + lane
    for word in range(n_words):
        packed.bits[start + word * LANES] = equal_bits(padded, word * WORD, plane)


@kernel
def _count_plane(tile: int, plane: int, packed: Any) -> None:
    """Count the bits of sixteen planes at once, class by class."""
    n_planes, n_words = packed.n_planes[tile], packed.words[-1]
    start = packed.bits_at[tile] + plane * n_words * LANES
    everyone = np.full(1, 0xFFFFFFFF, np.uint32)
    for c in range(len(packed.sizes)):
        total = no_counts()
        for word in range(packed.words[c], packed.words[c + 1]):
            total = total + common_bits(load(packed.bits, start + word * LANES), everyone, 0)
        store(packed.margins, packed.margins_at[tile] + (c * n_planes + plane) * LANES, total)
