"""Counts of pairs that add up: blocks of rows into them, cells and entropies out of them.

Planes are the levels of all features but the first of each; ``cells`` holds, for planes q <= p
and class c, the rows that have both, at ``(p * (p + 1) / 2 + q) * n_classes + c``. New planes go
to its end.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices, Mask
from bestk.information._fixed_point import Correction, ExactEntropies, Formula, Tables
from bestk.information.backends._reductions import sum_rows
from bestk.information.measures import Query
from bestk.native.threads import run_tiles, threads

CELL_COST = 1e-8  # seconds for a cell of a pair
# rows up to which tables have an entry for every count; above, for those that occur
MAX_FULL_ROWS, MAX_FULL_ROWS_CHANCE = 2**24, 2**16
MAX_PLANES_PER_TASK = 64  # that a thread counts together


class PlaneCounts(NamedTuple):
    """Counts of pairs of planes; ``planes[first[i]:first[i + 1]]`` are those of feature i."""

    first: Indices
    planes: Indices
    margin: Indices  # (plane, class)
    sizes: Indices  # of the classes
    cells: Array


def group_features(first: Indices, n_threads: int) -> Indices:
    """Cut features into groups of about as many planes as a thread counts together."""
    size = max(4, min(MAX_PLANES_PER_TASK, first[-1] // (8 * n_threads)))
    cuts = np.searchsorted(first, np.arange(0, first[-1], size))
    return np.unique(np.concatenate([[0], cuts, [len(first) - 1]]))


class Others(NamedTuple):
    """The levels of several features, end to end: the first of each, and the planes of the rest."""

    starts: Indices
    is_plane: Mask
    planes: Indices

    @classmethod
    def of(cls, counts: PlaneCounts, features: Indices) -> Others:
        """Look up some features."""
        levels = counts.first[features + 1] - counts.first[features] + 1
        starts = np.cumsum(levels) - levels
        is_plane = np.ones(int(levels.sum()), bool)
        is_plane[starts] = False
        shift = np.repeat(counts.first[features] - starts - 1, levels) + np.arange(len(is_plane))
        return cls(starts, is_plane, counts.planes[shift[is_plane]])

    def upto(self, i: int) -> Others:
        """The first features, i included."""
        if i + 1 == len(self.starts):
            return self
        end = int(self.starts[i + 1])
        return Others(self.starts[: i + 1], self.is_plane[:end], self.planes[: end - i - 1])


def cells_of(counts: PlaneCounts, i: int, others: Others) -> Indices:
    """Rows by level of feature i, level of another feature, and class.

    Cells of first levels are what the margins leave.
    """
    _, planes, margin, sizes, cells = counts
    mine = planes[counts.first[i] : counts.first[i + 1]]
    out = np.zeros((len(mine) + 1, len(others.is_plane), len(sizes)), np.int64)
    shared = cells.reshape(-1, len(sizes))[place_of(mine[:, np.newaxis], others.planes)]
    out[0, others.is_plane] = margin[others.planes] - shared.sum(axis=0)
    out[1:, others.is_plane] = shared
    totals = np.vstack([sizes - margin[mine].sum(axis=0), margin[mine]])
    out[:, others.starts] = totals[:, np.newaxis] - np.add.reduceat(out, others.starts, axis=1)
    return out


def fill_pairs(
    counts: PlaneCounts, formula: Formula, known: Indices, out: Array,
    rows: Indices | None, columns: Indices | None,
) -> None:  # fmt: skip
    """Sum a formula over the cells of each pair; its tables are over ``known`` counts, or all."""
    every = np.arange(len(counts.first) - 1)
    chosen = [every if some is None else some for some in (rows, columns)]
    mirror, others = rows is None and columns is None, Others.of(counts, chosen[1])
    pair_table, class_table, row_term, column_term, scale, lowest = formula

    def work(r: int) -> None:
        i, some = int(chosen[0][r]), others.upto(r) if mirror else others
        cells = cells_of(counts, i, some)
        sums = look_up(class_table, cells, known).sum(axis=(0, 2))
        sums += look_up(pair_table, cells.sum(axis=2), known).sum(axis=0)
        totals, j = np.add.reduceat(sums, some.starts), chosen[1][: len(some.starts)]
        out[r, : len(j)] = np.maximum(lowest, (totals + row_term[i] + column_term[j]) * scale)
        if mirror:
            out[: len(j), r] = np.maximum(lowest, (totals + row_term[j] + column_term[i]) * scale)

    # rows grow longer where the matrix mirrors itself: the longest come first
    run_tiles(work, range(len(out))[::-1])


def look_up(table: Indices, counts: Indices, known: Indices) -> Any:
    """The entries of counts in a table over the ``known`` ones, or over all."""
    return table[np.searchsorted(known, counts) if len(known) else counts]


def list_counts(counts: PlaneCounts, i: int) -> Indices:
    """All counts of the cells of one feature with those up to it."""
    cells = cells_of(counts, i, Others.of(counts, np.arange(i + 1)))
    return np.unique(np.concatenate([[0], cells.ravel(), cells.sum(axis=2).ravel()]))


def place_of(p: Any, q: Any) -> Any:
    """Where the counts of two planes are."""
    high, low = np.maximum(p, q), np.minimum(p, q)
    return high * (high + 1) // 2 + low


class CountedPairs:
    """Entropies of a table of which only the counts of pairs are known.

    ``sizes`` are those of the classes in order. The tables of fixed point are those of the default
    backend, and so are the results.
    """

    is_discrete, sums_quickly = True, False

    def __init__(self, counts: PlaneCounts, sizes: Indices, correction: Correction | None) -> None:
        self.n_features, self._counts = len(counts.first) - 1, counts
        self._known = np.empty(0, np.int64)  # counts that the tables are over, if not all
        if sizes.sum() >= (MAX_FULL_ROWS_CHANCE if correction == "chance" else MAX_FULL_ROWS):
            found = [list_counts(counts, i) for i in range(self.n_features)]
            self._known = np.unique(np.concatenate([[0, sizes.sum()], sizes, *found]))
        tables = Tables.of(sizes, correction, self._known if len(self._known) else None)
        self._exact = self._count_singles(tables)
        self.singles = self._exact.singles()
        self.copies = self.singles[0]

    def _count_singles(self, tables: Tables) -> ExactEntropies:
        first, planes, margin, sizes, _ = self._counts
        levels = np.diff(first) + 1
        starts = np.cumsum(levels) - levels
        counts = np.empty((int(levels.sum()), len(sizes)), np.int64)
        others = np.setdiff1d(np.arange(len(counts)), starts)
        counts[starts], counts[others] = 0, margin[planes]
        counts[starts] = sizes - np.add.reduceat(counts, starts)
        totals, known = counts.sum(axis=1), self._known
        x = look_up(tables.plain, totals, known)
        xy = look_up(tables.plain, counts, known).sum(axis=1)
        xy += look_up(tables.chance, totals, known)
        return ExactEntropies(tables, np.add.reduceat(x, starts), np.add.reduceat(xy, starts))

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        formula = self._exact.formula(query.measure, query.lowest)
        self._write(formula, out, query.rows, query.columns)

    def row_sums(self, query: Query) -> Floats:
        """Row sums without the diagonal, from strips of which none is kept."""
        formula = self._exact.formula(query.measure, query.lowest, in_nats=False)
        order, scale = np.arange(self.n_features), self._exact.tables.scale
        return sum_rows(partial(self._write, formula), order, scale, query.measure.is_symmetric)

    def _write(
        self, formula: Formula, out: Array, rows: Indices | None, columns: Indices | None
    ) -> None:
        n_classes = len(self._counts.sizes)
        cells = (1 + len(self._counts.planes) / self.n_features) ** 2 * (1 + n_classes)
        with threads(seconds=CELL_COST * cells * out.size):
            fill_pairs(self._counts, formula, self._known, out, rows, columns)
