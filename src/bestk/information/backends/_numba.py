"""The default backend: bit-planes or histograms, chosen pair by pair, in integers throughout.

Tables of n log n are held in 64-bit fixed point. Integer sums do not depend on their order, so
results are the same to the last bit whatever the kernel, the blocking or the number of threads,
and equal columns have equal scores.
"""

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bestk._threads import threads
from bestk.codes import Codes, Target
from bestk.information._correction import Correction, tables
from bestk.information._measures import Measure
from bestk.information.backends._costs import SAMPLE_COST, planes_cost
from bestk.information.backends._lanes import LANES
from bestk.information.backends._packed import Packed, pack
from bestk.information.backends._pairs import Formula, Request, fill, fill_singles
from bestk.information.backends._reductions import (
    RowSums,
    Summary,
    TopPairs,
    check_pairs,
    check_symmetric,
    join,
)

Indices = NDArray[np.int64]
MOST_PLANE_LEVELS = 64
ROWS_AT_ONCE = 64  # planes of the row features that are counted together, at most
CACHE_BYTES = 262_144  # for their counts
TASKS_A_THREAD, TASK_SECONDS = 64, 5e-5  # tasks enough to balance, long enough to be worth it
PACK_COST = 1e-9  # seconds for a sample of a feature
CALL_SECONDS = 0.5  # work between two looks at the keyboard
STRIP_ENTRIES = 2**22  # of a matrix of which only sums and best pairs are kept


class NumbaCounter:
    """Entropies of a discrete table and its classes, singles at once and pairs when asked."""

    name, is_discrete = "numba", True

    def __init__(self, codes: Codes, target: Target, correction: Correction | None = None) -> None:
        self.n_features = codes.n_features
        self._order = np.argsort(codes.levels, kind="stable")
        self._place = np.argsort(self._order)
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
        steps = np.diff(self._plain), np.diff(self._with_class)
        fill_singles(self._packed, self._plain, self._with_class, self._chance, *steps, x, xy)
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
        self._write(self._formula(measure, lowest), out, rows, columns)

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
        formula = self._whole_numbers(measure, lowest)
        row_sums, best = RowSums(n), TopPairs(count, n)
        height = max(LANES, STRIP_ENTRIES // n // LANES * LANES)
        for start in range(0, n, height):
            rows = self._order[start : start + height]
            columns = self._order[start:]
            if not symmetric:
                columns = np.concatenate([columns, self._order[:start]])
            values = np.empty((len(rows), len(columns)))
            self._write(formula, values, rows, columns)
            if sums:
                row_sums.take(values, rows, columns, symmetric)
            if count:
                best.take(values, rows, columns)
        sums_of_rows = join(row_sums.high, row_sums.low, self._scale)
        return Summary(sums_of_rows, best.pairs, best.values * self._scale)

    def _write(
        self, formula: Formula, out: NDArray[Any], rows: Indices | None, columns: Indices | None
    ) -> None:
        request = self._request(rows, columns)
        for tasks, seconds in _calls(request, self._packed):
            with threads(seconds=seconds):
                fill(self._packed, formula, request, tasks, out)

    def _whole_numbers(self, measure: Measure, lowest: float) -> Formula:
        """A measure not yet scaled."""
        formula = self._formula(measure, lowest)
        return formula._replace(scale=1.0, lowest=lowest / self._scale)

    def _formula(self, measure: Measure, lowest: float) -> Formula:
        """The measure as tables over counts and terms of single features."""
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
        n = self.n_features
        column_to = self._order.copy()
        tiles = np.arange(-(-n // LANES))
        if columns is not None:
            column_to = np.full(n, -1)
            column_to[self._place[columns]] = np.arange(len(columns))
            tiles = np.unique(self._place[columns] // LANES)
        features = np.arange(n) if rows is None else rows
        row_to = np.argsort(self._place[features], kind="stable")
        places = self._place[features][row_to]
        return Request(places, row_to, self._groups(places), tiles, column_to, mirror)

    def _groups(self, places: Indices) -> Indices:
        """Cut the rows into groups whose planes and counts stay in the cache."""
        packed = self._packed
        counts = len(packed.sizes) * max(1, int(packed.n_planes.max())) * LANES * 4
        most = min(ROWS_AT_ONCE, max(1, CACHE_BYTES // counts))
        planes = np.maximum(packed.levels[places] - 1, 1)
        # features come in order of levels, so that groups of equal length are nearly equal work
        cuts, row = [], 0
        while row < len(places):
            cuts.append(row)
            row += max(1, most // int(planes[min(row + most - 1, len(places) - 1)]))
        return np.array([*cuts, len(places)])


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


def _calls(request: Request, packed: Packed) -> Iterator[tuple[Indices, float]]:
    """Cut a request into tasks, many for each thread, and these into calls of CALL_SECONDS."""
    n_threads = numba.get_num_threads()
    places = request.rows[request.groups[:-1]]
    first = places // LANES if request.mirror else np.zeros(len(places), np.int64)
    n_tiles = len(request.tiles) - first
    cost = 1e-9 * np.diff(request.groups) * n_tiles * tile_cost(packed)[packed.levels[places] - 1]
    smallest = max(TASK_SECONDS, cost.sum() / (n_threads * TASKS_A_THREAD))
    pieces = np.clip(np.ceil(cost / smallest), 1, n_tiles).astype(np.int64)
    group = np.repeat(np.arange(len(pieces)), pieces)
    piece = np.arange(len(group)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begin, end = (
        first[group] + n_tiles[group] * number // pieces[group] for number in (piece, piece + 1)
    )
    each = (cost / pieces)[group]
    call = (np.cumsum(each) / (CALL_SECONDS * n_threads)).astype(np.int64)
    tasks = np.stack([group, begin, end], axis=1)
    for number in np.unique(call):
        yield _fold(tasks[call == number]), float(each[call == number].sum())


def tile_cost(packed: Packed) -> NDArray[np.float64]:
    """Nanoseconds of one feature of L levels against sixteen others, at ``[L - 1]``."""
    most, samples = int(packed.levels.max()) - 1, float(packed.starts[-1])
    by_planes = [planes_cost(n, most, packed.words[-1], len(packed.sizes)) for n in range(most + 1)]
    return np.minimum(by_planes, samples * LANES * SAMPLE_COST)


def _fold(tasks: Indices) -> Indices:
    """Put each long task beside a short one, so that equal shares are equal work."""
    half = -(-len(tasks) // 2)
    folded = np.empty_like(tasks)
    folded[::2], folded[1::2] = tasks[:half], tasks[half:][::-1]
    return folded
