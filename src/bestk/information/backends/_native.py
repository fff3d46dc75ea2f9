"""The default backend: bit-planes or histograms, chosen pair by pair, in integers throughout."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.backends._packed import COSTS, LANES, Packed, order_features, pack
from bestk.information.backends._reductions import sum_rows
from bestk.information.backends._source import PairSource, PickRule
from bestk.information.measures import Correction, ExactEntropies, Formula, Measure, Query, Tables
from bestk.native import Kernel, kernels
from bestk.native.threads import WORTH_A_TEAM, n_threads, run_tiles, spans, threads
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

# Tiles with a feature of more levels get no planes of bits: their pairs are counted by histograms.
MAX_PLANE_LEVELS = 64

# Seconds that it takes, about, to pack a sample and a level of a feature.
PACK_COST = 4e-11

# Cells of single features that are counted together.
MAX_CELLS = 2**20

# Cells of a level and a class for each sample: where there are more, nearly all of them are empty,
# and those with samples are found by sorting. A table of all would take 128 bytes for a sample.
MAX_CELLS_PER_SAMPLE = 16

# Prepared kernels that are kept, the latest: methods ask for few measures in turn.
MAX_KERNELS = 4

# Seconds of work between two checks for an interrupt.
MAX_CALL_SECONDS = 0.1

# Tasks for each thread: enough for all threads to end together.
PIECES_PER_THREAD = 16

# Seconds of a task: long enough for a thread, short enough to balance.
MIN_TASK_SECONDS = 5e-4
MAX_TASK_SECONDS = 0.2


class NativeCounter(PairSource):
    """Entropies of a discrete table and its classes, by compiled kernels on the CPU."""

    is_discrete = True

    def __init__(
        self, codes: Codes, target: ClassTarget, correction: Correction | None = None
    ) -> None:
        self.n_features = codes.n_features
        # Kernels know features by their place in order of levels; some places may be empty.
        self.order = order_features(codes.levels, codes.width)
        used_places = np.flatnonzero(self.order >= 0)
        self.place = np.empty(self.n_features, np.int64)
        self.place[self.order[used_places]] = used_places
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
        for counts in _count_levels(self.packed):
            sums[counts.places] += tables.chance.take(counts.of_levels).sum(axis=0)
        return -sums[self.place] * np.float64(tables.scale)

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        self.write(self.kernel(query.measure, query.lowest), out, query.rows, query.columns)

    def fill_tables(self, measure: Measure, width: int, out: Array) -> None:
        """Write the pairs of each table of so many columns, which stand side by side."""
        tiles_per_table = -(-width // LANES)
        feature_of = self.order.reshape(-1, LANES)
        tiles = np.argsort(feature_of[:, 0] // width, kind="stable")  # table by table
        places = (tiles[:, np.newaxis] * LANES + np.arange(LANES)).ravel()
        rows = places[self.order[places] >= 0]
        # Each task has the rows of a tile, and all tiles of its table.
        last_rows = np.cumsum((feature_of[tiles] >= 0).sum(axis=1))
        first_rows = np.append(0, last_rows[:-1])
        first_tiles = np.arange(len(tiles)) // tiles_per_table * tiles_per_table
        last_tiles = first_tiles + tiles_per_table
        tasks = np.stack([first_rows, last_rows, first_tiles, last_tiles], axis=1)
        request = PairRequest(
            rows=rows,
            row_to=self.order[rows],
            tiles=tiles,
            column_to=np.where(self.order < 0, -1, self.order % width),
            mirror=False,
        )
        seconds = float(self.packed.seconds[rows].sum()) * tiles_per_table
        run_tasks(self.kernel(measure, -np.inf), request, tasks, seconds, out)

    def row_sums(self, query: Query) -> Floats:
        """Row sums without the diagonal, from strips of which none is kept."""
        kernel = self.kernel(query.measure, query.lowest, in_nats=False)
        write = partial(self.write, kernel)
        return sum_rows(write, self.order, self.exact.tables.scale, query.measure.is_symmetric)

    def pick(
        self, query: Query, rule: PickRule, relevance: Floats, k: int, given: Sequence[int]
    ) -> tuple[Indices, Floats] | None:
        """Greedy picks and their scores, a row of pairs at a time, unless rows are for threads."""
        n_tiles = -(-len(self.order) // LANES)
        seconds_of_row = float(self.packed.seconds.mean()) * n_tiles
        is_for_threads = seconds_of_row > WORTH_A_TEAM and n_threads() > 1
        has_empty_places = len(self.order) > self.n_features
        if is_for_threads or has_empty_places:
            return None
        picked = np.empty(k, np.int64)
        picked[: len(given)] = self.place[np.asarray(given, np.int64)]
        scores = np.empty(k)
        formula = self.exact.formula(query.measure, query.lowest)
        run = bind(kernels.pick, self.packed, formula).bind(
            rule.values(),
            self.order,
            relevance[self.order],
            k,
            len(given),
            picked,
            scores,
            np.empty(self.n_features),  # where the kernel gathers what picks say of features
        )
        for span in spans(k, max(1, int(MAX_CALL_SECONDS / seconds_of_row))):
            run(*span)
        return self.order[picked], scores

    def kernel(self, measure: Measure, lowest: float, in_nats: bool = True) -> Kernel:
        """The kernel for a measure, kept for queries that come a row at a time."""
        key = (measure, lowest, in_nats)
        if key not in self._kernels:
            if len(self._kernels) == MAX_KERNELS:
                oldest = next(iter(self._kernels))
                del self._kernels[oldest]
            self._kernels[key] = bind(kernels.fill_pairs, self.packed, self.exact.formula(*key))
        return self._kernels[key]

    def request(self, rows: Indices | None, columns: Indices | None) -> "PairRequest":
        """The places of row and column features, and where their pairs go; None: all features."""
        if columns is None:
            column_to = self.order
            tiles = np.arange(-(-len(self.order) // LANES))
        else:
            places = self.place[columns]
            column_to = np.full(len(self.order), -1)
            column_to[places] = np.arange(len(columns))
            tiles = np.unique(places // LANES)
        row_places = self.place if rows is None else self.place[rows]
        row_to = np.argsort(row_places, kind="stable")
        return PairRequest(
            rows=row_places[row_to],
            row_to=row_to,
            tiles=tiles,
            column_to=column_to,
            mirror=rows is columns,
        )

    def write(
        self, kernel: Kernel, out: Array, rows: Indices | None, columns: Indices | None
    ) -> None:
        """Fill pairs of features by a kernel of this counter."""
        if not out.size:
            return
        request = self.request(rows, columns)
        tasks, seconds = cut_tasks(self.packed, request)
        run_tasks(kernel, request, tasks, seconds, out)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all but the kernels, which hold addresses."""
        return {**self.__dict__, "_kernels": {}}


@dataclass(frozen=True)
class PairRequest:
    """Which pairs to fill, and where they go."""

    rows: Indices
    """Places of the row features, ascending."""

    row_to: Indices
    """The row of the output for each of them."""

    tiles: Indices
    """The tiles of the column features, ascending."""

    column_to: Indices
    """The column of the output for each place, -1 for none."""

    mirror: bool
    """Whether rows and columns are the same features: each pair is counted once, written twice."""


def bind(kernel: Kernel, packed: Packed, formula: Formula) -> Kernel:
    """A kernel on pairs of a table by a formula, prepared for many requests.

    The kernel sums the tables of the formula over the cells of each pair, and gives
    ``max(scale * (sum + row_term + column_term), lowest)``. The differences of a table serve where
    the count of a cell is one more than the count before.
    """
    return kernel.bind(
        packed.bits,
        packed.margins,
        packed.n_planes,
        packed.bits_at,
        packed.margins_at,
        packed.words,
        packed.sizes,
        packed.starts,
        packed.levels,
        packed.codes,
        COSTS,
        packed.n_features,
        len(packed.sizes),
        int(packed.starts[-1]),
        formula.pair_table,
        formula.class_table,
        np.diff(formula.pair_table),
        np.diff(formula.class_table),
        formula.row_term,
        formula.column_term,
        formula.scale,
        formula.lowest,
    )


def run_tasks(
    kernel: Kernel, request: PairRequest, tasks: Indices, seconds: float, out: Array
) -> None:
    """Fill the tasks of a request, in threads where the work is large enough.

    ``tasks``: see :func:`cut_tasks`. ``seconds``: of all tasks on one core.
    """
    is_single = out.dtype == np.float32
    run = kernel.bind(
        request.rows,
        request.row_to,
        request.tiles,
        request.column_to,
        request.mirror,
        None if is_single else out,
        out if is_single else None,
        tasks,
    )
    n_tasks = len(tasks)
    with threads(seconds=seconds) as team:
        if team == 1 and seconds < MAX_CALL_SECONDS:
            run(0, n_tasks)
        else:
            run_tiles(lambda task: run(task, task + 1), range(n_tasks))


def cut_tasks(packed: Packed, request: PairRequest) -> tuple[Indices, float]:
    """Cut a request into tasks, many for each thread; and the seconds of all on one core.

    A task is a row of the result: its first and last row of the request, and the first and last of
    the tiles.
    """
    ends_of_groups = _group_rows(packed, request.rows)
    n_tiles = np.full(len(ends_of_groups) - 1, len(request.tiles))
    if request.mirror:
        # The lower half: fresh pages are first written in order, from the cache.
        last_places = request.rows[ends_of_groups[1:] - 1]
        n_tiles = np.searchsorted(request.tiles, last_places // LANES) + 1
    seconds_of_rows = packed.seconds[request.rows]
    costs = np.add.reduceat(seconds_of_rows, ends_of_groups[:-1]) * n_tiles
    seconds = float(costs.sum())
    task_seconds = seconds / (n_threads() * PIECES_PER_THREAD)
    task_seconds = min(max(task_seconds, MIN_TASK_SECONDS), MAX_TASK_SECONDS)
    tasks = []
    groups = zip(pairwise(ends_of_groups), n_tiles.tolist(), costs.tolist(), strict=True)
    for (first_row, last_row), last_tile, cost in groups:
        n_pieces = min(last_tile, int(cost / task_seconds) + 1)
        ends = [last_tile * piece // n_pieces for piece in range(n_pieces + 1)]
        for first_of_piece, last_of_piece in pairwise(ends):
            tasks.append((first_row, last_row, first_of_piece, last_of_piece))
    return np.array(tasks), seconds


def _group_rows(packed: Packed, places: Indices) -> Indices:
    """The ends, from 0 on, of groups of rows whose planes and counts stay in the cache."""
    n_rows = len(places)
    ends = [0]
    while ends[-1] < n_rows:
        start = ends[-1]
        # Features come in order of levels: the last of a group has the most planes.
        last_place = places[min(start + packed.row_planes, n_rows) - 1]
        planes_of_row = max(1, int(packed.levels[last_place]) - 1)
        height = max(1, packed.row_planes // planes_of_row)
        ends.append(min(n_rows, start + height))
    return np.array(ends)


def _count_singles(packed: Packed, tables: Tables) -> ExactEntropies:
    """Entropies of each feature, by its place."""
    x = np.zeros(packed.n_features, np.int64)
    xy = np.zeros(packed.n_features, np.int64)
    for counts in _count_levels(packed):
        x[counts.places] = tables.plain.take(counts.of_levels).sum(axis=0)
        xy[counts.places] = tables.plain.take(counts.of_cells).sum(axis=0)
        xy[counts.places] += tables.chance.take(counts.of_levels).sum(axis=0)
    return ExactEntropies(tables, x, xy)


@dataclass(frozen=True)
class LevelCounts:
    """The samples of some features by level, and by level and class."""

    places: slice
    """The places of the features."""

    of_levels: Indices
    """``[level, feature]``"""

    of_cells: Indices
    """``[level and class, feature]``; cells without samples may be left out."""


def _count_levels(packed: Packed) -> Iterator[LevelCounts]:
    """The samples of all features by level, and by level and class, some features at a time."""
    for n_planes in np.unique(packed.n_planes):
        tiles = np.flatnonzero(packed.n_planes == n_planes)  # they lie side by side
        first = int(tiles[0]) * LANES
        last = min(packed.n_features, (int(tiles[-1]) + 1) * LANES)
        if n_planes >= 0:
            yield _counts_of_planes(packed, tiles, slice(first, last))
        else:
            yield from _counts_of_codes(packed, first, last)


def _counts_of_planes(packed: Packed, tiles: Indices, places: slice) -> LevelCounts:
    """The samples of the features of some tiles that have as many planes each."""
    n_planes = int(packed.n_planes[tiles[0]])
    n_classes = len(packed.sizes)
    start = packed.margins_at[tiles[0]]
    stop = packed.margins_at[tiles[-1] + 1]
    margins = packed.margins[start:stop].reshape(len(tiles), n_classes, n_planes, LANES)
    counts = np.empty((n_planes + 1, n_classes, len(tiles) * LANES), np.int64)
    counts[:-1] = margins.transpose(2, 1, 0, 3).reshape(counts[:-1].shape)
    # The last level has what the planes of the others leave.
    counts[-1] = packed.sizes[:, np.newaxis] - counts[:-1].sum(axis=0)
    n_features = places.stop - places.start
    of_levels = counts.sum(axis=1)
    of_cells = counts.reshape(-1, counts.shape[2])
    return LevelCounts(places, of_levels[:, :n_features], of_cells[:, :n_features])


def _counts_of_codes(packed: Packed, first: int, last: int) -> Iterator[LevelCounts]:
    """The samples of features without planes, from their codes."""
    assert packed.codes is not None
    n_classes = len(packed.sizes)
    classes = np.repeat(np.arange(n_classes), packed.sizes)
    n_levels = int(packed.levels[first:last].max())  # the last ones may be padding
    n_cells = n_levels * n_classes
    if n_cells > max(MAX_CELLS, MAX_CELLS_PER_SAMPLE * len(classes)):
        for place in range(first, last):
            levels = packed.codes[place].astype(np.int64)
            of_cells = np.unique(levels * n_classes + classes, return_counts=True)[1]
            of_levels = np.bincount(levels)
            yield LevelCounts(
                slice(place, place + 1), of_levels[:, np.newaxis], of_cells[:, np.newaxis]
            )
        return
    for begin, end in spans(last - first, max(1, MAX_CELLS // n_cells)):
        places = slice(first + begin, first + end)
        n_features = end - begin
        cells = packed.codes[places].astype(np.int64) * n_classes
        cells += classes
        cells += n_cells * np.arange(n_features)[:, np.newaxis]
        counts = np.bincount(cells.ravel(), minlength=n_features * n_cells)
        of_levels = counts.reshape(n_features, n_levels, n_classes).sum(axis=2)
        yield LevelCounts(places, of_levels.T, counts.reshape(n_features, n_cells).T)
