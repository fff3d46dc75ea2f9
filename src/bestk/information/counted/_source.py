"""Entropies from counts of pairs: what the default backend gives, with the rows long gone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestk.information._chance import expected_cells
from bestk.information._correction import Correction
from bestk.information._measures import Measure
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._pairs import Formula
from bestk.information.counted.cells import PlaneCounts, fill_pairs, list_counts
from bestk.native.threads import threads

if TYPE_CHECKING:
    from bestk.information.counted.counts import PairCounts

Indices = NDArray[np.int64]
CELL_COST = 2e-9  # seconds for a cell of a pair
LONG, LONG_CHANCE = 2**24, 2**16  # rows from which tables hold only the counts that occur


class CountedPairs(NativeCounter):
    """Entropies of a table of which only the counts of pairs are known.

    The tables of fixed point are those of the default backend, and so are the results.
    """

    name = "counts"

    def __init__(self, counts: PairCounts, correction: Correction | None = None) -> None:
        self.n_features = counts.n_features
        self._order = self._place = np.arange(self.n_features)
        labels = list(counts._classes.places[0])
        seen = [c for c, size in enumerate(counts._sizes) if size]
        if len(seen) < 2:
            came = f"one class only, {labels[seen[0]]}" if seen else "no classes"
            raise ValueError(f"y has {came}; at least two are needed")
        planes = counts._planes(self._order)
        self._counts = PlaneCounts(*planes, counts._margins(), counts._sizes, counts._cells)
        self._known = np.empty(0, np.int64)  # counts that the tables are over, if not all
        sizes = counts._sizes[sorted(seen, key=lambda c: labels[c])]
        if sizes.sum() < (LONG_CHANCE if correction == "chance" else LONG):
            self._set_tables(sizes, correction)
        else:
            self._set_long_tables(sizes, correction)
        self._count_singles()

    def _set_long_tables(self, sizes: Indices, correction: Correction | None) -> None:
        """The same tables, only where there are counts to look up."""
        found = [list_counts(self._counts, i) for i in range(self.n_features)]
        m = int(sizes.sum())
        self._known = np.unique(np.concatenate([[0, m], sizes, *found]))
        one = 2.0 ** (57 - int(np.ceil(np.log2(m * np.log(m) + m + 1.0))))
        half = 0.5 if correction == "miller-madow" else 0.0
        count = self._known.astype(np.float64)
        plain = count * np.log(np.maximum(count, 1.0)) - half * (count > 0)
        self._scale, self._offset = 1.0 / (one * m), 0
        self._total = round(float(plain[-1]) * one)
        self._plain = self._with_class = np.rint(plain * one).astype(np.int64)
        self._chance = np.zeros(len(plain), np.int64)
        if correction == "chance":
            excess = plain - expected_cells(self._known, sizes)
            self._chance = np.rint(excess * one).astype(np.int64)
            self._offset = round(float(self._look_up(plain, sizes).sum() - plain[-1]) * one)
        self._y = self._total - int(self._look_up(self._plain, sizes).sum())

    def _look_up(self, table: Any, counts: Indices) -> Any:
        return table[counts if not len(self._known) else np.searchsorted(self._known, counts)]

    def _count_singles(self) -> None:
        first, planes, margin, sizes, _ = self._counts
        levels = np.diff(first) + 1
        starts = np.cumsum(levels) - levels
        counts = np.empty((int(levels.sum()), len(sizes)), np.int64)
        others = np.setdiff1d(np.arange(len(counts)), starts)
        counts[starts], counts[others] = 0, margin[planes]
        counts[starts] = sizes - np.add.reduceat(counts, starts)
        both = self._look_up(self._with_class, counts).sum(axis=1)
        totals = counts.sum(axis=1)
        both += self._look_up(self._chance, totals)
        x, xy = np.add.reduceat(self._look_up(self._plain, totals), starts), both
        self._x = self._total - x
        self._xy = self._total - self._offset - np.add.reduceat(xy, starts)

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        self._fill_formula(self._formula(measure, lowest), out, rows, columns)

    def _writer(self, formula: Formula) -> Callable[[NDArray[Any], Indices, Indices], None]:
        """What writes a formula of chosen pairs into an array."""
        return partial(self._fill_formula, formula)

    def _fill_formula(
        self, formula: Formula, out: NDArray[Any], rows: Indices | None, columns: Indices | None
    ) -> None:
        n_classes = len(self._counts.sizes)
        cells = (1 + len(self._counts.planes) / self.n_features) ** 2 * (1 + n_classes)
        with threads(seconds=CELL_COST * cells * out.size):
            fill_pairs(self._counts, formula, self._known, out, rows, columns)
