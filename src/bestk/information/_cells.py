"""Counts of pairs that add up: blocks of rows into them, cells and entropies out of them.

Planes are the levels of all features but the first of each; ``cells`` holds, for planes q <= p
and class c, the rows that have both, at ``(p * (p + 1) / 2 + q) * n_classes + c``. New planes go
to its end.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from bestk._typing import Array, Floats, Indices
from bestk.information._fixed_point import Correction, ExactEntropies, Formula, Tables
from bestk.information.backends._reductions import Summary, summarize
from bestk.information.measures import Query
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans, threads

if TYPE_CHECKING:
    from bestk.information.counts import PairCounts

CELL_COST = 2e-9  # seconds for a cell of a pair
# rows up to which tables have an entry for every count; above, for those that occur
MAX_FULL_ROWS, MAX_FULL_ROWS_CHANCE = 2**24, 2**16
FEATURES_PER_TASK = 16  # that a thread fills at once
MAX_PLANES_PER_TASK = 64  # that a thread counts together
PLANES_PER_STRIP = 256  # that are translated at once


class PlaneCounts(NamedTuple):
    """Counts of pairs of planes; ``planes[first[i]:first[i + 1]]`` are those of feature i."""

    first: Indices
    planes: Indices
    margin: Indices  # (plane, class)
    sizes: Indices  # of the classes
    cells: Array

    @property
    def most_levels(self) -> int:
        """The most levels that a feature has."""
        return int(np.diff(self.first).max()) + 1

    def arguments(self) -> tuple[Any, ...]:
        """What kernels take."""
        first, planes, margin, sizes, cells = self
        return first, planes, margin, sizes, len(sizes), cells


def group_features(first: Indices, n_threads: int) -> Indices:
    """Cut features into groups of about as many planes as a thread counts together."""
    size = max(4, min(MAX_PLANES_PER_TASK, first[-1] // (8 * n_threads)))
    cuts = np.searchsorted(first, np.arange(0, first[-1], size))
    return np.unique(np.concatenate([[0], cuts, [len(first) - 1]]))


def fill_pairs(
    counts: PlaneCounts, formula: Formula, known: Indices, out: Array,
    rows: Indices | None, columns: Indices | None,
) -> None:  # fmt: skip
    """Sum a formula over the cells of each pair; its tables are over ``known`` counts, or all."""
    everyone = np.arange(len(counts.first) - 1)
    chosen = [everyone if some is None else some for some in (rows, columns)]
    mirror = rows is None and columns is None
    values = out if out.dtype == np.float64 else np.empty(out.shape)
    fill = kernels.fill_counted.bind(
        *chosen, len(chosen[1]), mirror, *counts.arguments(), counts.most_levels,
        known, len(known), *formula, values,
    )  # fmt: skip
    # rows grow longer where the matrix mirrors itself: the longest come first
    run_tiles(lambda span: fill(*span), spans(len(out), FEATURES_PER_TASK)[::-1])
    if values is not out:
        out[:] = values


def list_counts(counts: PlaneCounts, i: int) -> Indices:
    """All counts of the cells of one feature with those up to it."""
    levels = int(counts.first[i + 1] - counts.first[i]) + 1
    width = levels * counts.most_levels
    found = np.zeros((i + 1, width * (len(counts.sizes) + 1)), np.int64)
    kernels.list_counts(i, *counts.arguments(), width, found)
    return np.unique(found)


def in_their_terms(
    ours: tuple[Indices, Indices], theirs: tuple[Indices, Indices], numbers: list[list[int]]
) -> sparse.csr_array:
    """Our planes as sums of theirs and the constant, which is column 0.

    ``numbers[i][level]`` is what their level of feature i is called here. A level of ours is one
    of theirs, or their first: that is where none of their planes is.
    """
    rows, columns, signs = [], [], []
    for i, some in enumerate(numbers):
        mine = ours[1][ours[0][i] : ours[0][i + 1]]
        others = (theirs[1][theirs[0][i] : theirs[0][i + 1]] + 1).tolist()
        for level, number in enumerate(some):
            if number == 0:
                continue
            terms = [(others[level - 1], 1)] if level else [(0, 1), *((p, -1) for p in others)]
            rows += [int(mine[number - 1])] * len(terms)
            columns += [column for column, _ in terms]
            signs += [sign for _, sign in terms]
    shape = int(ours[0][-1]), int(theirs[0][-1]) + 1
    return sparse.csr_array((np.array(signs, np.int64), (rows, columns)), shape=shape)


def add_translated(
    terms: sparse.csr_array, theirs: tuple[Indices, Array], classes: Indices,
    cells: Array, n_classes: int,
) -> None:  # fmt: skip
    """Add counts (class sizes and cells) of other planes: with t our terms, ``t (theirs) t'``."""
    sizes, their_cells = theirs
    for begin in range(0, terms.shape[0], PLANES_PER_STRIP):
        some = terms[begin : begin + PLANES_PER_STRIP]
        needed = np.unique(some.indices).astype(np.int64)
        upto = terms[: begin + some.shape[0]]
        for c in range(len(sizes)):
            gram = gram_rows(needed, terms.shape[1] - 1, sizes, their_cells, c)
            add_rows((upto @ (some[:, needed] @ gram).T).T, begin, classes[c], n_classes, cells)


def gram_rows(
    rows: Indices, n_planes: int, sizes: Indices, cells: Array, c: int
) -> Indices:  # fmt: skip
    """Rows of class c that two planes share; plane 0 is the constant, plane p + 1 our plane p."""
    out = np.empty((len(rows), n_planes + 1), np.int64)
    of_class, each = cells.reshape(-1, len(sizes))[:, c], np.arange(n_planes)
    for row, p in zip(out, rows.tolist(), strict=True):
        row[0] = of_class[place_of(p - 1, p - 1)] if p else sizes[c]
        row[1:] = of_class[place_of(p - 1, each) if p else place_of(each, each)]
    return out


def add_rows(some: Indices, begin: int, c: int, n_classes: int, cells: Array) -> None:
    """Add full rows of class c, of planes from ``begin`` on, up to the diagonal."""
    of_class = cells.reshape(-1, n_classes)[:, c]
    for p, row in enumerate(some, begin):
        start = place_of(p, 0)
        of_class[start : start + p + 1] += row[: p + 1].astype(np.int32)


def place_of(p: Any, q: Any) -> Any:
    """Where the counts of two planes are."""
    high, low = np.maximum(p, q), np.minimum(p, q)
    return high * (high + 1) // 2 + low


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
        if sizes.sum() >= (MAX_FULL_ROWS_CHANCE if correction == "chance" else MAX_FULL_ROWS):
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
        formula = self._exact.formula(query.measure, query.lowest, in_nats=False)
        order, scale = np.arange(self.n_features), self._exact.tables.scale
        return summarize(partial(self._write, formula), order, scale, query.measure, count, sums)

    def _write(
        self, formula: Formula, out: Array, rows: Indices | None, columns: Indices | None
    ) -> None:
        n_classes = len(self._counts.sizes)
        cells = (1 + len(self._counts.planes) / self.n_features) ** 2 * (1 + n_classes)
        with threads(seconds=CELL_COST * cells * out.size):
            fill_pairs(self._counts, formula, self._known, out, rows, columns)
