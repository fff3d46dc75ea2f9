"""The default backend: bit-planes or histograms, chosen pair by pair, in integers throughout.

Tables of n log n are held in 64-bit fixed point. Integer sums do not depend on their order, so
results are the same to the last bit whatever the kernel, the blocking or the number of threads,
and equal columns have equal scores.
"""

from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Codes, Target
from bestk.information._correction import Correction, tables
from bestk.information._measures import MOST_WEIGHT, Measure
from bestk.information.backends._costs import LANES, SAMPLE_COST, planes_cost
from bestk.information.backends._packed import Packed, pack
from bestk.information.backends._pairs import Formula, Request, Tasks, bind, fill
from bestk.information.backends._reductions import (
    RowSums,
    Summary,
    TopPairs,
    check_pairs,
    check_symmetric,
    join,
)
from bestk.native import Kernel, kernels
from bestk.native.threads import n_threads, threads

Indices = NDArray[np.int64]
MOST_PLANE_LEVELS = 64
ROWS_AT_ONCE = 32  # planes of the row features that are counted together, at most
CACHE_BYTES = 262_144  # for their counts
TASKS_A_THREAD = 16  # enough to balance,
SHORTEST_TASK, LONGEST_TASK = 5e-4, 0.2  # seconds: worth a thread, and worth waiting for
PACK_COST = 1e-9  # seconds for a sample of a feature
MOST_KERNELS = 4  # kept ready, the latest
STRIP_ENTRIES = 2**22  # of a matrix of which only sums and best pairs are kept


class NativeCounter:
    """Entropies of a discrete table and its classes, singles at once and pairs when asked."""

    name, is_discrete = "native", True

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        self.n_features = codes.n_features
        self._order = np.argsort(codes.levels, kind="stable")
        self._place = np.argsort(self._order)
        self._kernels: dict[tuple[Measure, float], Kernel] = {}
        with threads(seconds=PACK_COST * codes.values.size):
            self._packed = pack(codes, target, self._order, MOST_PLANE_LEVELS)
            self._set_tables(target.counts, correction)
            self._count_singles()

    def _set_tables(self, sizes: Indices, correction: Correction | None) -> None:
        """Round the tables to fixed point, the finest that no sum can overflow."""
        floats = tables(sizes, correction)
        m = int(sizes.sum())
        one = 2.0 ** (57 - int(np.ceil(np.log2(m * np.log(m) + m + 1.0))))
        self._scale = 1.0 / (one * m)
        self._total, self._offset = round(floats.total * one), round(floats.offset * one)
        self._plain = np.rint(floats.plain * one).astype(np.int64)
        self._with_class = np.rint(floats.with_class * one).astype(np.int64)
        chance = np.zeros(m + 1) if floats.chance is None else floats.chance
        self._chance = np.rint(chance * one).astype(np.int64)
        self._y = self._total - int(self._plain[sizes].sum())

    def _count_singles(self) -> None:
        x, xy = np.zeros((2, self.n_features), np.int64)
        packed = self._packed
        kernels.fill_singles(
            packed.margins, packed.n_planes, packed.margins_at, packed.sizes, packed.starts,
            packed.levels, packed.codes if len(packed.codes) else None, self.n_features,
            len(packed.sizes), self._plain, self._with_class, self._chance, x, xy,
        )  # fmt: skip
        self._x, self._xy = self._total - x, self._total - self._offset - xy

    def singles(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        x, xy = np.stack([self._x, self._xy])[:, self._place] * np.float64(self._scale)
        return x, xy, self._y * self._scale

    def copies(self) -> NDArray[np.float64]:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self.singles()[0]

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        self._write(self._kernel(measure, lowest), out, rows, columns)

    def row_sums(self, measure: Measure, lowest: float = -np.inf) -> NDArray[np.float64]:
        """The sum of each feature's measure with every other one; no matrix is held."""
        return self.summary(measure, 0, lowest).row_sums

    def top_pairs(self, measure: Measure, count: int) -> tuple[Indices, NDArray[np.float64]]:
        """The ``count`` pairs of the largest measure, which is symmetric, and their values."""
        return self.summary(measure, count, sums=False)[1:]

    def summary(
        self, measure: Measure, count: int = 0, lowest: float = -np.inf, sums: bool = True
    ) -> Summary:
        """Row sums and the ``count`` best pairs, from strips of which none is kept."""
        check_pairs(measure, count)
        n, symmetric = self.n_features, check_symmetric(measure)
        write = self._writer(self._whole_numbers(measure, lowest))
        row_sums, best = RowSums(n), TopPairs(count, n)
        height = max(LANES, STRIP_ENTRIES // n // LANES * LANES)
        for start in range(0, n, height):
            rows = self._order[start : start + height]
            columns = self._order[start:]
            if not symmetric:
                columns = np.concatenate([columns, self._order[:start]])
            values = np.empty((len(rows), len(columns)))
            write(values, rows, columns)
            if sums:
                row_sums.take(values, rows, columns, symmetric)
            if count:
                best.take(values, rows, columns)
        sums_of_rows = join(row_sums.high, row_sums.low, self._scale)
        return Summary(sums_of_rows, best.pairs, best.values * self._scale)

    def _writer(self, formula: Formula) -> Callable[[NDArray[Any], Indices, Indices], None]:
        """What writes a formula of chosen pairs into an array."""
        return partial(self._write, bind(self._packed, formula))

    def _write(
        self, kernel: Kernel, out: NDArray[Any], rows: Indices | None, columns: Indices | None
    ) -> None:
        if not out.size:
            return
        request = self._request(rows, columns)
        fill(kernel, request, self._tasks(request), out)

    def _kernel(self, measure: Measure, lowest: float) -> Kernel:
        """The kernel for a measure, kept for requests that come a row at a time."""
        key = measure, lowest
        if key not in self._kernels:
            if len(self._kernels) == MOST_KERNELS:
                del self._kernels[next(iter(self._kernels))]
            self._kernels[key] = bind(self._packed, self._formula(*key))
        return self._kernels[key]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all but the kernels, which hold addresses."""
        return {**self.__dict__, "_kernels": {}}

    def _whole_numbers(self, measure: Measure, lowest: float) -> Formula:
        """A measure not yet scaled."""
        formula = self._formula(measure, lowest)
        return formula._replace(scale=1.0, lowest=lowest / self._scale)

    def _formula(self, measure: Measure, lowest: float) -> Formula:
        """The measure as tables over counts and terms of single features."""
        check_weights(measure)
        pair_table = -_weigh((measure.xx, self._plain), (measure.xxy, self._chance))
        class_table = -_weigh((measure.xxy, self._with_class))
        once = _weigh(
            (measure.xx, self._total),
            (measure.xxy, self._total - self._offset),
            (measure.y, self._y),
        )
        row = _weigh((measure.xi, self._x), (measure.xiy, self._xy)) + once
        column = _weigh((measure.xj, self._x), (measure.xjy, self._xy))
        steps = np.diff(pair_table), np.diff(class_table)
        return Formula(pair_table, class_table, *steps, row, column, self._scale, lowest)

    def _request(self, rows: Indices | None, columns: Indices | None) -> Request:
        mirror = rows is None and columns is None
        column_to, tiles = self._order, self._all_tiles
        if columns is not None:
            column_to = np.full(self.n_features, -1)
            column_to[self._place[columns]] = np.arange(len(columns))
            tiles = np.unique(self._place[columns] // LANES)
        if rows is None:
            return Request(np.arange(self.n_features), self._order, tiles, column_to, mirror)
        row_to = np.argsort(self._place[rows], kind="stable")
        return Request(self._place[rows][row_to], row_to, tiles, column_to, mirror)

    @cached_property
    def _all_tiles(self) -> Indices:
        return np.arange(-(-self.n_features // LANES))

    @cached_property
    def _seconds(self) -> NDArray[np.float64]:
        """Seconds of one core for each feature, by its place, against a tile."""
        return 1e-9 * tile_cost(self._packed)[self._packed.levels - 1]

    @cached_property
    def _rows_at_once(self) -> int:
        """How many planes of rows have counts that stay in the cache."""
        packed = self._packed
        counts = len(packed.sizes) * max(1, int(packed.n_planes.max())) * LANES * 4
        return min(ROWS_AT_ONCE, max(1, CACHE_BYTES // counts))

    def _groups(self, places: Indices) -> list[int]:
        """Cut the rows into groups whose planes and counts stay in the cache."""
        most, n, levels = self._rows_at_once, len(places), self._packed.levels
        cuts = [0]
        while cuts[-1] < n:
            # features come in order of levels: the last of a group has the most planes
            last = places[min(cuts[-1] + most, n) - 1]
            cuts.append(min(n, cuts[-1] + max(1, most // max(1, int(levels[last]) - 1))))
        return cuts

    def _tasks(self, request: Request, from_tile: Callable[[int], int] | None = None) -> Tasks:
        """Cut a request into tasks, many for each thread.

        ``from_tile`` gives the first of the tiles that a row is counted against, by its place.
        """
        if from_tile is None:
            from_tile = (lambda place: place // LANES) if request.mirror else (lambda place: 0)
        groups, n_tiles = self._groups(request.rows), len(request.tiles)
        first = [from_tile(int(request.rows[begin])) for begin in groups[:-1]]
        cost = np.add.reduceat(self._seconds[request.rows], groups[:-1])
        cost *= n_tiles - np.array(first)
        seconds = float(cost.sum())
        best = seconds / (n_threads() * TASKS_A_THREAD)
        best = min(max(best, SHORTEST_TASK), LONGEST_TASK)
        parts = []
        for begin, end, tile, each in zip(groups, groups[1:], first, cost.tolist(), strict=False):
            pieces = min(n_tiles - tile, int(each / best) + 1)
            ends = [tile + (n_tiles - tile) * piece // pieces for piece in range(pieces + 1)]
            parts += [(begin, end, *some) for some in pairwise(ends)]
        return Tasks(np.array(parts), seconds)


def check_weights(measure: Measure) -> None:
    """Refuse weights whose sums may not fit 64 bits."""
    total = sum(map(abs, vars(measure).values()))
    if not total < MOST_WEIGHT:
        raise OverflowError(
            f"the weights of {measure} add up to {total:g}, and exact sums have room for less than "
            f"{MOST_WEIGHT:g}; divide them all by the same power of two"
        )


def _weigh(*terms: tuple[float, Any]) -> Any:
    """Weighted sum in integers, exact for weights that are whole or a half."""
    total: Any = np.int64(0)
    for weight, value in terms:
        value = np.asarray(value, np.int64)
        halves = round(2 * weight)
        exact = halves == 2 * weight
        total = total + (
            (halves * value) >> 1 if exact else np.rint(weight * value).astype(np.int64)
        )
    return total


def tile_cost(packed: Packed) -> NDArray[np.float64]:
    """Nanoseconds of one feature of L levels against sixteen others, at ``[L - 1]``."""
    most, samples = int(packed.levels.max()) - 1, float(packed.starts[-1])
    n_words, n_classes = int(packed.words[-1]), len(packed.sizes)
    by_planes: Any = planes_cost(np.arange(most + 1.0), most, n_words, n_classes)
    return np.minimum(by_planes, samples * LANES * SAMPLE_COST)
