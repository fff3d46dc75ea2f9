"""A discrete table as planes of bits, and the kernel that sums a formula over its pairs.

Samples are sorted by class and each class is padded to whole 32-bit words; features are sorted
by their number of levels. For each feature and each level but the last there is one plane of
bits. Sixteen features make a tile, their words side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import Codes
from bestk.data.target import Target
from bestk.information._fixed_point import Formula
from bestk.information.backends._costs import (
    CELL_COST,
    LANES,
    SAMPLE_COST,
    WORD_COST,
    planes_cost,
    prefers_planes,
)
from bestk.native import Kernel, kernels
from bestk.native.threads import n_threads, run_tiles, spans, threads

WORD = 32
MAX_ROW_PLANES = 32  # planes of row features that are counted together
CACHE_BYTES = 262_144  # for their counts
MAX_CALL_SECONDS = 0.1  # work between two checks for an interrupt
PIECES_PER_THREAD = 16  # enough to balance,
MIN_TASK_SECONDS, MAX_TASK_SECONDS = 5e-4, 0.2  # long enough for a thread, short enough to balance
COSTS = np.array([WORD_COST, CELL_COST, SAMPLE_COST])


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


class PairRequest(NamedTuple):
    """Which pairs to fill, and where they go."""

    rows: Indices  # places of the row features
    row_to: Indices  # row of the output for each of them
    tiles: Indices  # ascending
    column_to: Indices  # column of the output for each place, -1 for none
    mirror: bool  # the output is symmetric in its features: fill one half, write both


class Tasks(NamedTuple):
    """Pieces of a request that threads work on."""

    parts: Indices  # for each: first and last row, first and last of the tiles
    seconds: float  # for all of them, on one core


def bind(packed: Packed, formula: Formula) -> Kernel:
    """The kernel that fills pairs of a table by a formula, prepared for many requests."""
    steps = np.diff(formula.pair_table), np.diff(formula.class_table)
    return kernels.fill_pairs.bind(
        packed.bits, packed.margins, packed.n_planes, packed.bits_at, packed.margins_at,
        packed.words, packed.sizes, packed.starts, packed.levels, packed.codes_or_none, COSTS,
        packed.n_features, len(packed.sizes), int(packed.starts[-1]),
        formula.pair_table, formula.class_table, *steps, *formula[2:],
    )  # fmt: skip


def run_tasks(kernel: Kernel, request: PairRequest, tasks: Tasks, out: Array) -> None:
    """Fill the pieces of a request, in threads where the work is large enough."""
    outputs = (None, out) if out.dtype == np.float32 else (out, None)
    run, n = kernel.bind(*request, *outputs, tasks.parts), len(tasks.parts)
    with threads(seconds=tasks.seconds) as team:
        if team == 1 and tasks.seconds < MAX_CALL_SECONDS:
            run(0, n)
        else:
            run_tiles(lambda task: run(task, task + 1), range(n))


def cut_tasks(
    packed: Packed, request: PairRequest, from_tile: Callable[[int], int] | None = None
) -> Tasks:
    """Cut a request into tasks, many for each thread.

    ``from_tile`` gives the first of the tiles that a row is counted against, by its place.
    """
    if from_tile is None:
        from_tile = (lambda place: place // LANES) if request.mirror else (lambda place: 0)
    groups, n_tiles = _group_rows(packed, request.rows), len(request.tiles)
    first = [from_tile(int(request.rows[begin])) for begin in groups[:-1]]
    cost = np.add.reduceat(packed.seconds[request.rows], groups[:-1])
    cost *= n_tiles - np.array(first)
    seconds = float(cost.sum())
    best = seconds / (n_threads() * PIECES_PER_THREAD)
    best = min(max(best, MIN_TASK_SECONDS), MAX_TASK_SECONDS)
    parts = []
    for (begin, end), tile, each in zip(pairwise(groups), first, cost.tolist(), strict=True):
        pieces = min(n_tiles - tile, int(each / best) + 1)
        ends = [tile + (n_tiles - tile) * piece // pieces for piece in range(pieces + 1)]
        parts += [(begin, end, *some) for some in pairwise(ends)]
    return Tasks(np.array(parts), seconds)


def _group_rows(packed: Packed, places: Indices) -> list[int]:
    """Cut the rows into groups whose planes and counts stay in the cache."""
    most, n, levels = packed.row_planes, len(places), packed.levels
    cuts = [0]
    while cuts[-1] < n:
        # features come in order of levels: the last of a group has the most planes
        last = places[min(cuts[-1] + most, n) - 1]
        cuts.append(min(n, cuts[-1] + max(1, most // max(1, int(levels[last]) - 1))))
    return cuts
