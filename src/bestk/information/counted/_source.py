"""Entropies from counts of pairs: what the default backend gives, without the rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information._fixed_point import Correction, ExactEntropies, Formula, Tables
from bestk.information.backends._reductions import Summary, check_pairs, summarize
from bestk.information.counted.cells import PlaneCounts, fill_pairs, list_counts
from bestk.information.measures import Query
from bestk.native.threads import threads

if TYPE_CHECKING:
    from bestk.information.counted.counts import PairCounts

CELL_COST = 2e-9  # seconds for a cell of a pair
LONG, LONG_CHANCE = 2**24, 2**16  # rows from which tables hold only the counts that occur


class CountedPairs:
    """Entropies of a table of which only the counts of pairs are known.

    The tables of fixed point are those of the default backend, and so are the results.
    """

    name, is_discrete = "counts", True

    def __init__(self, counts: PairCounts, correction: Correction | None = None) -> None:
        self.n_features = counts.n_features
        labels = list(counts._classes.places[0])
        seen = [c for c, size in enumerate(counts._sizes) if size]
        if len(seen) < 2:
            came = f"one class only, {labels[seen[0]]}" if seen else "no classes"
            raise ValueError(f"y has {came}; at least two are needed")
        planes = counts._planes(np.arange(self.n_features))
        self._counts = PlaneCounts(*planes, counts._margins(), counts._sizes, counts._cells)
        sizes = counts._sizes[sorted(seen, key=lambda c: labels[c])]
        self._known = np.empty(0, np.int64)  # counts that the tables are over, if not all
        if sizes.sum() >= (LONG_CHANCE if correction == "chance" else LONG):
            found = [list_counts(self._counts, i) for i in range(self.n_features)]
            self._known = np.unique(np.concatenate([[0, sizes.sum()], sizes, *found]))
        tables = Tables.of(sizes, correction, self._known if len(self._known) else None)
        self._exact = self._count_singles(tables)

    def _look_up(self, table: Indices, counts: Indices) -> Any:
        return table[counts if not len(self._known) else np.searchsorted(self._known, counts)]

    def _count_singles(self, tables: Tables) -> ExactEntropies:
        first, planes, margin, sizes, _ = self._counts
        levels = np.diff(first) + 1
        starts = np.cumsum(levels) - levels
        counts = np.empty((int(levels.sum()), len(sizes)), np.int64)
        others = np.setdiff1d(np.arange(len(counts)), starts)
        counts[starts], counts[others] = 0, margin[planes]
        counts[starts] = sizes - np.add.reduceat(counts, starts)
        totals = counts.sum(axis=1)
        x = self._look_up(tables.plain, totals)
        xy = self._look_up(tables.plain, counts).sum(axis=1) + self._look_up(tables.chance, totals)
        return ExactEntropies(tables, np.add.reduceat(x, starts), np.add.reduceat(xy, starts))

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._exact.singles()

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it: H(x)."""
        return self.singles()[0]

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        formula = self._exact.formula(query.measure, query.lowest)
        self._write(formula, out, query.rows, query.columns)

    def summary(self, query: Query, count: int = 0, sums: bool = True) -> Summary:
        """Row sums and the ``count`` best pairs, from strips of which none is kept."""
        check_pairs(query.measure, count)
        formula = self._exact.integer_formula(query.measure, query.lowest)
        order, scale = np.arange(self.n_features), self._exact.tables.scale
        return summarize(partial(self._write, formula), order, scale, query.measure, count, sums)

    def _write(
        self, formula: Formula, out: Array, rows: Indices | None, columns: Indices | None
    ) -> None:
        n_classes = len(self._counts.sizes)
        cells = (1 + len(self._counts.planes) / self.n_features) ** 2 * (1 + n_classes)
        with threads(seconds=CELL_COST * cells * out.size):
            fill_pairs(self._counts, formula, self._known, out, rows, columns)
