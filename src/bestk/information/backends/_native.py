"""The default backend: bit-planes or histograms, chosen pair by pair, in integers throughout."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.backends._packed import COSTS, LANES, Packed, order_features, pack
from bestk.information.backends._reductions import sum_rows
from bestk.information.backends._source import PairSource
from bestk.information.measures import Correction, ExactEntropies, Formula, Measure, Query, Tables
from bestk.native import Kernel, kernels
from bestk.native.threads import WORTH_A_TEAM, n_threads, run_tiles, spans, threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

MAX_PLANE_LEVELS = 64
PACK_COST = 4e-11  # seconds for a sample and a level of a feature
MAX_CELLS = 2**20  # of single features that are counted together
# Cells of a level and a class for each sample: where there are more, nearly all of them are empty,
# and those with samples are found by sorting. A table of all would take 128 bytes for a sample.
MAX_CELLS_PER_SAMPLE = 16
MAX_KERNELS = 4  # kept ready, the latest
MAX_CALL_SECONDS = 0.1  # work between two checks for an interrupt
PIECES_PER_THREAD = 16  # enough to balance,
MIN_TASK_SECONDS, MAX_TASK_SECONDS = 5e-4, 0.2  # long enough for a thread, short enough to balance


class NativeCounter(PairSource):
    """Entropies of a discrete table and its classes, by compiled kernels on the CPU."""

    is_discrete = True

    def __init__(
        self, codes: Codes, target: ClassTarget, correction: Correction | None = None
    ) -> None:
        self.n_features = codes.n_features
        self.order = order_features(codes.levels, codes.width)
        used = np.flatnonzero(self.order >= 0)
        self.place = np.empty(self.n_features, np.int64)
        self.place[self.order[used]] = used
        self._kernels: dict[tuple[Measure, float, bool], Kernel] = {}
        with threads(seconds=PACK_COST * codes.n_samples * int(codes.levels.sum())):
            self.packed = pack(codes, target, self.order, MAX_PLANE_LEVELS)
            self.exact = _count_singles(self.packed, Tables.of(target.counts, correction))
        self.singles = self.exact.singles(self.place)
        self.copies = self.singles[0]

    def mi_by_chance(self) -> Floats:
        """The mean of I(xi; y) over all permutations of y."""
        tables = Tables.of(self.packed.sizes, "chance")
        sums = np.full(self.packed.n_features, tables.offset)
        for places, of_levels, _ in _count_levels(self.packed):
            sums[places] += tables.chance.take(of_levels).sum(axis=0)
        return -sums[self.place] * np.float64(tables.scale)

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        self.write(self.kernel(query.measure, query.lowest), out, query.rows, query.columns)

    def fill_tables(self, measure: Measure, width: int, out: Array) -> None:
        """Write the pairs of each table of so many columns, which stand side by side."""
        per_table, every = -(-width // LANES), self.order.reshape(-1, LANES)
        tiles = np.argsort(every[:, 0] // width, kind="stable")  # table by table
        rows = (tiles[:, np.newaxis] * LANES + np.arange(LANES)).ravel()
        rows = rows[self.order[rows] >= 0]
        ends = np.cumsum((every[tiles] >= 0).sum(axis=1))
        first = np.arange(len(tiles)) // per_table * per_table
        # a tile of rows against all tiles of its table
        tasks = np.stack([np.append(0, ends[:-1]), ends, first, first + per_table], axis=1)
        column_to = np.where(self.order < 0, -1, self.order % width)
        request = PairRequest(rows, self.order[rows], tiles, column_to, False)
        seconds = float(self.packed.seconds[rows].sum()) * per_table
        run_tasks(self.kernel(measure, -np.inf), request, tasks, seconds, out)

    def row_sums(self, query: Query) -> Floats:
        """Row sums without the diagonal, from strips of which none is kept."""
        write = partial(self.write, self.kernel(query.measure, query.lowest, in_nats=False))
        return sum_rows(write, self.order, self.exact.tables.scale, query.measure.is_symmetric)

    def pick(
        self, query: Query, weights: Floats, relevance: Floats, k: int, given: Sequence[int]
    ) -> tuple[Indices, Floats] | None:
        """Greedy picks and their scores, a row of pairs at a time, unless rows are for threads."""
        seconds = float(self.packed.seconds.mean()) * -(-len(self.order) // LANES)
        if (seconds > WORTH_A_TEAM and n_threads() > 1) or len(self.order) > self.n_features:
            return None
        picked, scores, gathered = np.empty(k, np.int64), np.empty(k), np.empty(self.n_features)
        picked[: len(given)] = self.place[np.asarray(given, np.int64)]
        kernel = bind(kernels.pick, self.packed, self.exact.formula(query.measure, query.lowest))
        run = kernel.bind(
            weights, self.order, relevance[self.order], k, len(given), picked, scores, gathered
        )
        for span in spans(k, max(1, int(MAX_CALL_SECONDS / seconds))):
            run(*span)
        return self.order[picked], scores

    def kernel(self, measure: Measure, lowest: float, in_nats: bool = True) -> Kernel:
        """The kernel for a measure, kept for queries that come a row at a time."""
        key = measure, lowest, in_nats
        if key not in self._kernels:
            if len(self._kernels) == MAX_KERNELS:
                del self._kernels[next(iter(self._kernels))]
            self._kernels[key] = bind(kernels.fill_pairs, self.packed, self.exact.formula(*key))
        return self._kernels[key]

    def request(self, rows: Indices | None, columns: Indices | None) -> "PairRequest":
        """The places of features, and where their pairs go."""
        mirror = rows is columns
        if columns is None:
            column_to, tiles = self.order, np.arange(-(-len(self.order) // LANES))
        else:
            column_to = np.full(len(self.order), -1)
            column_to[self.place[columns]] = np.arange(len(columns))
            tiles = np.unique(self.place[columns] // LANES)
        if rows is None:
            rows = np.arange(self.n_features)
        row_to = np.argsort(self.place[rows], kind="stable")
        return PairRequest(self.place[rows][row_to], row_to, tiles, column_to, mirror)

    def write(
        self, kernel: Kernel, out: Array, rows: Indices | None, columns: Indices | None
    ) -> None:
        """Fill pairs of features by a kernel of this counter."""
        if out.size:
            request = self.request(rows, columns)
            run_tasks(kernel, request, *cut_tasks(self.packed, request), out)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all but the kernels, which hold addresses."""
        return {**self.__dict__, "_kernels": {}}


class PairRequest(NamedTuple):
    """Which pairs to fill, and where they go."""

    rows: Indices  # places of the row features
    row_to: Indices  # row of the output for each of them
    tiles: Indices  # ascending
    column_to: Indices  # column of the output for each place, -1 for none
    mirror: bool  # the output is symmetric in its features: fill one half, write both


def bind(kernel: Kernel, packed: Packed, formula: Formula) -> Kernel:
    """A kernel on pairs of a table by a formula, prepared for many requests."""
    steps = np.diff(formula.pair_table), np.diff(formula.class_table)
    return kernel.bind(
        packed.bits, packed.margins, packed.n_planes, packed.bits_at, packed.margins_at,
        packed.words, packed.sizes, packed.starts, packed.levels, packed.codes, COSTS,
        packed.n_features, len(packed.sizes), int(packed.starts[-1]),
        formula.pair_table, formula.class_table, *steps, *formula[2:],
    )  # fmt: skip


def run_tasks(
    kernel: Kernel, request: PairRequest, tasks: Indices, seconds: float, out: Array
) -> None:
    """Fill the tasks of a request, in threads where the work is large enough."""
    outputs = (None, out) if out.dtype == np.float32 else (out, None)
    run, n = kernel.bind(*request, *outputs, tasks), len(tasks)
    with threads(seconds=seconds) as team:
        if team == 1 and seconds < MAX_CALL_SECONDS:
            run(0, n)
        else:
            run_tiles(lambda task: run(task, task + 1), range(n))


def cut_tasks(packed: Packed, request: PairRequest) -> tuple[Indices, float]:
    """Cut a request into tasks, many for each thread; and the seconds of all on one core.

    A task has its first and last row, and the first and last of the tiles.
    """
    groups, n_tiles = _group_rows(packed, request.rows), len(request.tiles)
    last = np.full_like(groups[1:], n_tiles)
    if request.mirror:  # the lower half: fresh pages are first written in order, from the cache
        last = np.searchsorted(request.tiles, request.rows[groups[1:] - 1] // LANES) + 1
    cost = np.add.reduceat(packed.seconds[request.rows], groups[:-1]) * last
    seconds = float(cost.sum())
    best = seconds / (n_threads() * PIECES_PER_THREAD)
    best = min(max(best, MIN_TASK_SECONDS), MAX_TASK_SECONDS)
    tasks = []
    for rows, stop, each in zip(pairwise(groups), last.tolist(), cost.tolist(), strict=True):
        pieces = min(stop, int(each / best) + 1)
        ends = [stop * piece // pieces for piece in range(pieces + 1)]
        tasks += [(*rows, *tiles) for tiles in pairwise(ends)]
    return np.array(tasks), seconds


def _group_rows(packed: Packed, places: Indices) -> Indices:
    """Cut the rows into groups whose planes and counts stay in the cache."""
    most, n, levels = packed.row_planes, len(places), packed.levels
    cuts = [0]
    while cuts[-1] < n:
        # features come in order of levels: the last of a group has the most planes
        last = places[min(cuts[-1] + most, n) - 1]
        cuts.append(min(n, cuts[-1] + max(1, most // max(1, int(levels[last]) - 1))))
    return np.array(cuts)


def _count_singles(packed: Packed, tables: Tables) -> ExactEntropies:
    """Entropies of each feature, by its place."""
    x, xy = np.zeros((2, packed.n_features), np.int64)
    for places, of_levels, of_cells in _count_levels(packed):
        x[places] = tables.plain.take(of_levels).sum(axis=0)
        xy[places] = tables.plain.take(of_cells).sum(axis=0)
        xy[places] += tables.chance.take(of_levels).sum(axis=0)
    return ExactEntropies(tables, x, xy)


def _count_levels(packed: Packed) -> Iterator[tuple[slice, Indices, Indices]]:
    """Places of features, and how many samples each has by (level, feature) and (cell, feature).

    A cell is a level and a class. Cells without samples may be left out.
    """
    sizes, n_classes = packed.sizes, len(packed.sizes)
    n_samples = int(packed.starts[-1])
    classes = np.repeat(np.arange(n_classes), sizes)
    for n_planes in np.unique(packed.n_planes):
        tiles = np.flatnonzero(packed.n_planes == n_planes)  # they lie side by side
        first, last = int(tiles[0]) * LANES, min(packed.n_features, (int(tiles[-1]) + 1) * LANES)
        if n_planes >= 0:
            margins = packed.margins[slice(*packed.margins_at[[tiles[0], tiles[-1] + 1]])]
            margins = margins.reshape(len(tiles), n_classes, n_planes, LANES).transpose(2, 1, 0, 3)
            counts = np.empty((n_planes + 1, n_classes, len(tiles) * LANES), np.int64)
            counts[:-1] = margins.reshape(counts[:-1].shape)
            counts[-1] = sizes[:, np.newaxis] - counts[:-1].sum(axis=0)
            n_places = last - first
            of_cells = counts.reshape(-1, counts.shape[2])[:, :n_places]
            yield slice(first, last), counts.sum(axis=1)[:, :n_places], of_cells
            continue
        assert packed.codes is not None
        most = int(packed.levels[first:last].max())  # the last ones may be padding
        n_cells = most * n_classes
        if n_cells > max(MAX_CELLS, MAX_CELLS_PER_SAMPLE * n_samples):
            for place in range(first, last):
                levels = packed.codes[place].astype(np.int64)
                of_cells = np.unique(levels * n_classes + classes, return_counts=True)[1]
                of_levels = np.bincount(levels)
                yield slice(place, place + 1), of_levels[:, np.newaxis], of_cells[:, np.newaxis]
            continue
        for begin, end in spans(last - first, max(1, MAX_CELLS // n_cells)):
            places, shape = slice(first + begin, first + end), (end - begin, most, n_classes)
            cells = packed.codes[places].astype(np.int64) * n_classes
            cells += classes
            cells += n_cells * np.arange(end - begin)[:, np.newaxis]
            counts = np.bincount(cells.ravel(), minlength=prod(shape)).reshape(shape)
            yield places, counts.sum(axis=2).T, counts.reshape(end - begin, n_cells).T
