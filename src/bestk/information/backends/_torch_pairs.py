"""Tiles of pairs on a device: count them, sum a formula over their cells, write the results."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Indices
from bestk.information._fixed_point import Formula
from bestk.information._tiles import as_slice
from bestk.information.backends._torch_table import (
    MAX_BYTE_LEVELS,
    WIDTH,
    DeviceTable,
    count_planes,
    triton_kernels,
)

MAX_SIDE_PLANES = 2**16  # of a side of a tile
STRIP_ROWS = 2048  # rows of two-level features that are counted against all others at once


class Recipe(NamedTuple):
    """A formula on a device: ``max((sum over cells + terms) * scale, lowest)``."""

    pair_table: Tensor
    class_table: Tensor
    scale_and_lowest: Tensor
    by_pair: bool  # whether cells (xi, xj) count
    by_class: bool  # and cells (xi, xj, y)
    symmetric: bool  # whether [i, j] and [j, i] are equal


class TileSide(NamedTuple):
    """The features of one side of a tile."""

    features: Tensor  # padded with one that has no level
    levels: int  # the most that one of them has
    first_level: Tensor  # samples at level 0, by class
    at: Tensor  # where each feature goes in the output
    places: Indices  # the same on the host
    row_term: Tensor
    column_term: Tensor
    span: slice | None  # of the features, where they follow each other
    first: int | None  # of the places, where they do

    def part(self, start: int, stop: int) -> "TileSide":
        """Some of the features; ``start`` is a multiple of the padding's width."""
        stop = min(stop, len(self.at))
        end = min(len(self.features), start - (start - stop) // WIDTH * WIDTH)
        padded = slice(start, stop if len(self.features) == len(self.at) else end)
        some = slice(start, stop)
        span = self.span and slice(self.span.start + start, self.span.start + padded.stop)
        return TileSide(
            self.features[padded], self.levels, self.first_level[:, padded], self.at[some],
            self.places[some], self.row_term[some], self.column_term[some], span,
            None if self.first is None else self.first + start,
        )  # fmt: skip


class Plan(NamedTuple):
    """A formula and a table on the same device."""

    table: DeviceTable
    formula: Formula
    recipe: Recipe
    known: dict[tuple[int, ...], list[TileSide]]  # all features, by the largest size of a side

    def sides(
        self, features: Indices | None, others: Indices | None, longest: int = MAX_SIDE_PLANES
    ) -> list[TileSide]:
        """Cut features, None for all, by their number of levels; fewer others, longer sides."""
        area = self.table.most_counts // self.table.n_classes
        levels = self.table.levels
        n_others = self.table.n_planes if others is None else count_planes(levels[others]).sum()
        most = min(MAX_SIDE_PLANES, max(int(area**0.5), area // max(WIDTH, int(n_others))))
        if features is not None:
            return self._cut_sides(features, most, longest)
        if (most, longest) not in self.known:
            every = np.arange(self.table.n_features)
            self.known[most, longest] = self._cut_sides(every, most, longest)
        return self.known[most, longest]

    def upper(self) -> Iterator[tuple[TileSide, list[TileSide]]]:
        """Every pair once: rows, and columns of which the first begin with those rows."""
        area = self.table.most_counts // self.table.n_classes
        most = max(1, int(area**0.5))
        height = max(WIDTH, min(STRIP_ROWS, most) // WIDTH * WIDTH)
        width = max(height, min(MAX_SIDE_PLANES, area // height) // WIDTH * WIDTH)
        binary, others = self._bands(most)
        n = 0 if binary is None else len(binary.at)
        for first in range(0, n, height):
            side = binary.part(first, first + height)
            columns = [binary.part(start, start + width) for start in range(first, n, width)]
            yield side, [*columns, *others]
        for number, side in enumerate(others):
            yield side, others[number:]

    def _bands(self, most: int) -> tuple[Any, list[TileSide]]:
        """Features of two levels as one side, and sides of the others."""
        every, binary = np.arange(self.table.n_features), self.table.levels[:-1] <= 2
        if (most,) not in self.known:
            first = [self._side(every, np.flatnonzero(binary))] if binary.any() else []
            rest = np.flatnonzero(~binary)
            pieces = _cut_by_levels(self.table.levels[rest], most, MAX_SIDE_PLANES)
            self.known[most,] = [*first, *(self._side(every, rest[some]) for some in pieces)]
        sides = self.known[most,]
        return (sides[0], sides[1:]) if binary.any() else (None, sides)

    def _cut_sides(self, features: Indices, most: int, longest: int) -> list[TileSide]:
        pieces = _cut_by_levels(self.table.levels[features], most, longest)
        return [self._side(features, places) for places in pieces]

    def _side(self, features: Indices, places: Indices) -> TileSide:
        table, formula, n = self.table, self.formula, len(places)
        chosen = features[places]
        padding = 0 if table.dtype == torch.float32 else -n % WIDTH
        rows = np.full((4, n + padding), len(table.levels))
        rows[:, :n] = chosen, places, formula.row_term[chosen], formula.column_term[chosen]
        index, at, row_term, column_term = torch.tensor(rows, device=table.device)
        highest, first = int(table.levels[chosen].max()), table.first_level[:, index]
        run, to = as_slice(chosen), as_slice(places)
        span = slice(run.start, run.start + n + padding) if isinstance(run, slice) else None
        place = to.start if isinstance(to, slice) else None
        return TileSide(
            index, highest, first, at[:n], places, row_term[:n], column_term[:n], span, place
        )


def plan(table: DeviceTable, formula: Formula) -> Plan:
    """Put a formula on the device."""
    tables = formula.pair_table, formula.class_table
    pair_table, class_table = torch.tensor(np.stack(tables), device=table.device)
    ends = [formula.scale, formula.lowest]
    recipe = Recipe(
        pair_table,
        class_table,
        torch.tensor(ends, dtype=torch.float64, device=table.device),
        bool(formula.pair_table.any()),
        bool(formula.class_table.any()),
        len(set((formula.row_term - formula.column_term).tolist())) <= 1,
    )
    return Plan(table, formula, recipe, {})


def _cut_by_levels(levels: Indices, most: int, longest: int) -> Iterator[Indices]:
    """Sort by levels and cut where planes, all features having as many as the last, exceed most.

    Examples
    --------
    >>> levels = np.array([3, 2, 3, 1, 300])
    >>> [places.tolist() for places in _cut_by_levels(levels, most=5, longest=9)]
    [[3, 1], [0], [2], [4]]
    """
    order = np.argsort(levels, kind="stable")
    bands = np.searchsorted(levels[order], [0, 3, MAX_BYTE_LEVELS + 1, levels.max(initial=0) + 1])
    for first, end in pairwise(bands):
        while first < end:
            some = order[first : min(end, first + most, first + longest)]
            n_planes = count_planes(levels[some]) * np.arange(1, len(some) + 1)
            last = first + max(1, int(np.searchsorted(n_planes, most, "right")))
            yield order[first:last]
            first = last


def write_pairs(
    plan: Plan, rows: TileSide, columns: TileSide, target: Tensor, mirror: bool
) -> None:
    """Write the results of a tile at its places, and across the diagonal if ``mirror``."""
    table, recipe = plan.table, plan.recipe
    if not table.has_planes(rows.levels, columns.levels):
        total = _sum_sorted(table, recipe, rows, columns)
        _write_values(total, recipe, rows, columns, target, mirror)
        return
    binary = max(rows.levels, columns.levels) <= 2  # the first level's counts give the rest
    n_i, n_j = (1, 1) if binary else (max(2, rows.levels), max(2, columns.levels))
    counts = table.count(rows, n_i, columns, n_j, table.parts(recipe.by_class))
    margins = _margins(table, recipe, rows, columns) if binary else None
    own = triton_kernels(table.device)
    if own is not None:
        own.write_from_counts(counts, rows, columns, margins, recipe, target, mirror)
    else:
        total = _sum_cell_tables(counts, rows, columns, margins, recipe)
        _write_values(total, recipe, rows, columns, target, mirror)


def _margins(
    table: DeviceTable, recipe: Recipe, rows: TileSide, columns: TileSide
) -> tuple[Tensor, Tensor, Tensor]:
    """Samples at the first level by part, of rows and of columns, and sizes of the parts."""
    margins = rows.first_level, columns.first_level, table.sizes
    if recipe.by_class:
        return margins
    mine, yours, sizes = (by_class.sum(0, keepdim=True).to(torch.int32) for by_class in margins)
    return mine, yours, sizes


def _sum_cell_tables(
    counts: Tensor,
    rows: TileSide,
    columns: TileSide,
    margins: tuple[Tensor, Tensor, Tensor] | None,
    recipe: Recipe,
) -> Tensor:
    """Sum the tables over the cells of each pair, as the fused kernel does."""
    total: Any = 0
    pooled: Any = 0
    for part, count in enumerate(counts):
        if margins is None:
            cells = count.permute(0, 2, 1, 3).flatten(0, 1)
        else:
            mine, yours, size = margins[0][part][:, None], margins[1][part], margins[2][part]
            both = count[0, :, 0]
            neither = size - mine - yours + both
            cells = torch.stack([both, mine - both, yours - both, neither])
        cells = cells[:, : len(rows.at), : len(columns.at)].long()
        if recipe.by_class:
            total = total + recipe.class_table[cells].sum(0)
        pooled = pooled + cells
    return total + recipe.pair_table[pooled].sum(0)


def _sum_sorted(table: DeviceTable, recipe: Recipe, rows: TileSide, columns: TileSide) -> Tensor:
    """The same for columns of many levels, one row at a time."""
    mine, others = rows.features[: len(rows.at)], columns.features[: len(columns.at)]
    steps = recipe.pair_table.diff(), recipe.class_table.diff()
    return torch.stack([table.sum_sorted(feature, others, *steps) for feature in mine])


def _write_values(
    total: Tensor, recipe: Recipe, rows: TileSide, columns: TileSide, target: Tensor, mirror: bool
) -> None:
    """Add terms, scale, clip and put in place; sums go to a target of integers as they are."""
    if target.dtype == torch.int64:
        target[rows.at[:, None], columns.at] = total
        return
    scale, lowest = recipe.scale_and_lowest
    ways = [(total, rows, columns), (total.T, columns, rows)]
    for sums, i, j in ways if mirror else ways[:1]:
        value = (sums + i.row_term[:, None] + j.column_term).to(torch.float64) * scale
        target[i.at[:, None], j.at] = torch.maximum(value, lowest).to(target.dtype)
