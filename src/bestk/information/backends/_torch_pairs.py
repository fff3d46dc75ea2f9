"""Tiles of pairs on a device: count them, sum a formula over their cells, write the results."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._cached import cached_property
from bestk._typing import Floats, Indices
from bestk.information.backends import _torch_kernels as kernels
from bestk.information.backends import _torch_tiles as tiles
from bestk.information.backends._torch_table import WIDTH, DeviceTable
from bestk.information.measures import Formula

MAX_SIDE_PLANES = 2**16  # of a side of a tile
SAMPLE = 2048  # features whose pairs give a first threshold for the best
SUMMED_CELLS = 2**24  # looked up together

Write = Callable[[Floats, Indices, Indices], None]  # fill an array with pairs of features


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

    chosen: Indices
    features: Tensor  # the same on the device, padded with one that has no level
    levels: int  # the most that one of them has
    first_level: Tensor  # samples at level 0, by class
    at: Tensor  # where each feature goes in the output
    places: Indices  # the same on the host
    row_term: Tensor
    column_term: Tensor
    span: slice | None  # of the features, where they follow each other
    first: int | None  # of the places, where they do
    bits: dict[int, Tensor]  # planes of so many levels, once they are made

    @property
    def is_aligned(self) -> bool:
        """Whether the features follow each other from the start of a tile of planes."""
        return self.span is not None and self.span.start % kernels.SIDE == 0

    def moved_to_start(self) -> "TileSide":
        """The same with places 0, 1, ... in the output."""
        return self._replace(at=torch.arange(len(self.at), device=self.at.device), first=0)


@dataclass(frozen=True)
class Plan:
    """A formula and a table on the same device."""

    table: DeviceTable
    formula: Formula
    write_here: Write | None  # on the CPU: pairs of columns with many levels

    @cached_property
    def recipe(self) -> Recipe:
        """The formula on the device."""
        formula, device = self.formula, self.table.device
        tables = np.stack([formula.pair_table, formula.class_table])
        pair_table, class_table = torch.tensor(tables, device=device)
        return Recipe(
            pair_table,
            class_table,
            torch.tensor([formula.scale, formula.lowest], dtype=torch.float64, device=device),
            bool(formula.pair_table.any()),
            bool(formula.class_table.any()),
            len(set((formula.row_term - formula.column_term).tolist())) <= 1,
        )

    @cached_property
    def lookup(self) -> kernels.Lookup | None:
        """The tables of the kernel for features of two levels; None: it does not take them."""
        if not self.table.takes_bits:
            return None
        return kernels.Lookup.of(self.recipe, self.table.sizes.cpu().numpy())

    @property
    def is_fused(self) -> bool:
        """Whether one kernel computes all pairs."""
        return bool(self.table.levels.max() <= 2) and self.lookup is not None

    @cached_property
    def packed_margins(self) -> tuple[Tensor, int]:
        """Samples at the first level of all features, and of the table, for that kernel."""

        def pack(counts: Tensor) -> Tensor:  # four times the counts, those of classes in a word
            words = 4 * self._by_part(counts).long()
            return (words[0] if len(words) == 1 else (words[0] << 16) + words[1]).to(torch.int32)

        return pack(self.table.first_level), int(pack(self.table.sizes))

    @cached_property
    def whole(self) -> TileSide:
        """All features in their order."""
        return self._first(len(self.table.levels))

    @cached_property
    def sample(self) -> TileSide:
        """The first features."""
        return self._first(SAMPLE)

    def in_order(self, features: Indices) -> TileSide:
        """Features of two levels in some order, which are at places 0, 1, ... of a result."""
        return self._side(features, np.arange(len(features)))

    def _first(self, n: int) -> TileSide:
        every = np.arange(len(self.table.levels))
        return self._side(every, every[:n])

    @cached_property
    def _every_feature(self) -> Tensor:
        """The features and one of no level, their terms as rows and as columns."""
        terms = np.stack([self.formula.row_term, self.formula.column_term])
        rows = np.vstack([np.arange(terms.shape[1] + 1), np.pad(terms, ((0, 0), (0, 1)))])
        return torch.tensor(rows, device=self.table.device)

    @property
    def _area(self) -> int:
        return self.table.max_counts // self.table.n_classes

    @cached_property
    def _every(self) -> list[TileSide]:
        """All features, for the columns of many queries."""
        return list(self._sides(np.arange(len(self.table.levels)), self._width))

    @property
    def _width(self) -> int:
        return min(MAX_SIDE_PLANES, max(WIDTH, self._area // WIDTH))

    def tiles(
        self, rows: Indices | None, columns: Indices | None, longest: int = MAX_SIDE_PLANES
    ) -> Iterator[tuple[TileSide, list[TileSide]]]:
        """Rows, at most so many together, and the columns that they are counted against."""
        across = self._every if columns is None else list(self._sides(columns, self._width))
        width = max(len(side.features) * _n_planes(side.levels) for side in across)
        chosen = np.arange(len(self.table.levels)) if rows is None else rows
        for side in self._sides(chosen, min(self._area // width, MAX_SIDE_PLANES), longest):
            yield side, across

    def _sides(
        self, features: Indices, most: int, longest: int = MAX_SIDE_PLANES
    ) -> Iterator[TileSide]:
        levels, bands = self.table.levels[features], (2, self.table.max_levels)
        order = np.argsort(levels, kind="stable")
        for first, last in cut_by_levels(levels[order], most, bands, longest):
            yield self._side(features, order[first:last])

    def _side(self, features: Indices, places: Indices) -> TileSide:
        table, formula, n, chosen = self.table, self.formula, len(places), features[places]
        padding = -n % WIDTH if table.takes_bits else 0
        start, first = first_of_run(chosen), first_of_run(places)
        every = self._every_feature
        known = every.shape[1] - n  # the last start of a run, also of places: features may repeat
        if start is not None and first is not None and max(start + padding, first) <= known:
            some = slice(start, start + n + padding)
            index, at = every[0, some], every[0, first : first + n]
            row_term, column_term = every[1:, start : start + n]
            first_level = table.first_level[:, some]
        else:
            rows = np.full((4, n + padding), len(table.levels))
            rows[:, :n] = chosen, places, formula.row_term[chosen], formula.column_term[chosen]
            index, at, row_term, column_term = torch.tensor(rows, device=table.device)
            at, row_term, column_term = at[:n], row_term[:n], column_term[:n]
            first_level = table.first_level[:, index]
        return TileSide(
            chosen, index, int(table.levels[chosen].max()), first_level, at,
            places, row_term, column_term,
            None if start is None else slice(start, start + n + padding), first, {},
        )  # fmt: skip

    def values(self, rows: TileSide, columns: TileSide, dtype: Any = torch.float64) -> Tensor:
        """The results of a tile."""
        shape = len(rows.at), len(columns.at)
        values = torch.empty(shape, dtype=dtype, device=self.table.device)
        self.write(rows.moved_to_start(), columns.moved_to_start(), values)
        return values

    def write(
        self, rows: TileSide, columns: TileSide, target: Tensor, mirror: bool = False
    ) -> None:
        """Write the results of a tile at its places; ``mirror``: of all pairs, in both halves."""
        table, recipe = self.table, self.recipe
        if max(rows.levels, columns.levels) > table.max_levels and self.write_here is not None:
            values = np.empty((len(rows.at), len(columns.at)))
            self.write_here(values, rows.chosen, columns.chosen)
            target[rows.at[:, None], columns.at] = torch.from_numpy(values).to(target)
            return
        if table.takes_bits:
            tiles.write_tile(self, rows, columns, target, mirror)
            return
        binary = self.is_binary(rows, columns)
        n_i, n_j = (1, 1) if binary else (max(2, rows.levels), max(2, columns.levels))
        counts = table.count(rows, n_i, columns, n_j, table.parts(recipe.by_class))
        margins = self.margins(rows, columns) if binary else None
        total = sum_cells(counts, (len(rows.at), len(columns.at)), margins, recipe)
        scale, lowest = recipe.scale_and_lowest
        value = (total + rows.row_term[:, None] + columns.column_term).to(torch.float64) * scale
        target[rows.at[:, None], columns.at] = torch.maximum(value, lowest).to(target.dtype)

    @staticmethod
    def is_binary(rows: TileSide, columns: TileSide) -> bool:
        """Whether the counts of the first levels give the rest."""
        return max(rows.levels, columns.levels) <= 2

    def margins(self, rows: TileSide, columns: TileSide) -> tuple[Tensor, Tensor, Tensor]:
        """Samples at the first level by part, of rows and of columns, and sizes of the parts."""
        mine, yours = self._by_part(rows.first_level), self._by_part(columns.first_level)
        return mine, yours, self._by_part(self.table.sizes)

    def _by_part(self, counts: Tensor) -> Tensor:
        """Counts by class, or all as one."""
        return counts if self.recipe.by_class else counts.sum(0, keepdim=True).to(torch.int32)


def sum_cells(counts: Tensor, shape: tuple[int, int], margins: Any, recipe: Recipe) -> Tensor:
    """Sum the tables over the cells of each pair; ``margins``: of two-level features."""
    n_levels = 2 if margins else counts.shape[1]
    width = shape[1] * (2 if margins else counts.shape[3])
    sums = []
    for first, last in pairwise([*range(0, shape[0], max(1, SUMMED_CELLS // width)), shape[0]]):
        total = torch.zeros((last - first, shape[1]), dtype=torch.int64, device=counts.device)
        for level in range(n_levels):
            pooled: Any = 0
            for part in range(len(counts)):
                cells = _cells(counts[part], level, slice(first, last), margins, part)
                cells = cells[:, :, : shape[1]].long()
                if recipe.by_class:
                    total += recipe.class_table[cells].sum(1)
                pooled = pooled + cells
            if recipe.by_pair:
                total += recipe.pair_table[pooled].sum(1)
        sums.append(total)
    return torch.cat(sums)


def _cells(counts: Tensor, level: int, rows: slice, margins: Any, part: int) -> Tensor:
    """Counts of a level of some rows, at ``[row, level, column]``."""
    if margins is None:
        return counts[level, rows]
    mine, yours, size = margins[0][part, rows, None], margins[1][part], margins[2][part]
    both = counts[0, rows, 0]
    if level == 0:
        return torch.stack([both, mine - both], dim=1)
    return torch.stack([yours - both, size - mine - yours + both], dim=1)


def cut_by_levels(
    levels: Indices, most: int, bands: tuple[int, ...], longest: int = MAX_SIDE_PLANES
) -> Iterator[tuple[int, int]]:
    """Cut ascending levels where planes, all features having as many as the last, exceed most.

    Levels up to each of the bands are kept apart.
    """
    for first, end in pairwise([0, *np.searchsorted(levels, bands, "right").tolist(), len(levels)]):
        while first < end:
            some = levels[first : min(end, first + most, first + longest)]
            n_planes = _n_planes(some) * np.arange(1, len(some) + 1)
            last = first + max(1, int(np.searchsorted(n_planes, most, "right")))
            yield first, last
            first = last


def _n_planes(levels: Any) -> Any:
    """Planes of features against their like: of two levels, one gives the other."""
    return np.where(levels <= 2, 1, levels)


def first_of_run(places: Indices) -> int | None:
    """The first of places that follow each other; None if they do not."""
    return int(places[0]) if (np.diff(places) == 1).all() else None
