"""Tiles of pairs on a device: count them, sum a formula over their cells, write the results."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bestk._cached import cached_property
from bestk._typing import Floats, Indices
from bestk.information.backends import _torch_kernels as kernels
from bestk.information.backends import _torch_tiles as tiles
from bestk.information.backends._torch_kernels import Recipe
from bestk.information.backends._torch_sides import (
    MAX_SIDE_PLANES,
    Margins,
    TileSide,
    cut_by_levels,
    first_of_run,
    n_planes,
)
from bestk.information.backends._torch_table import WIDTH, DeviceTable
from bestk.information.measures import Formula

# Features whose pairs are all measured first, for a threshold that the best pairs exceed.
SAMPLE = 2048

# Cells that are looked up together where PyTorch does it.
SUMMED_CELLS = 2**24

# Fills an array with the pairs of row features and column features, on the host.
WriteHere = Callable[[Floats, Indices, Indices], None]


@dataclass(frozen=True)
class PackedMargins:
    """Four times the samples at the first level, those of two classes in one word of 32 bits."""

    of_features: Tensor
    """Of every feature of the table."""

    of_table: int
    """Of all samples."""


@dataclass(frozen=True)
class Plan:
    """A formula and a table on the same device: it writes any tile of pairs."""

    table: DeviceTable

    formula: Formula

    write_here: WriteHere | None
    """For pairs of columns with too many levels for the device."""

    @cached_property
    def recipe(self) -> Recipe:
        """The formula on the device."""
        formula = self.formula
        device = self.table.device
        differences = formula.row_term - formula.column_term
        return Recipe(
            pair_table=torch.tensor(formula.pair_table, device=device),
            class_table=torch.tensor(formula.class_table, device=device),
            scale_and_lowest=torch.tensor(
                [formula.scale, formula.lowest], dtype=torch.float64, device=device
            ),
            by_pair=bool(formula.pair_table.any()),
            by_class=bool(formula.class_table.any()),
            symmetric=len(set(differences.tolist())) <= 1,
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
    def packed_margins(self) -> PackedMargins:
        """Samples at the first level of all features, and of the table, for that kernel."""
        of_features = self._pack_counts(self.table.first_level)
        return PackedMargins(of_features, int(self._pack_counts(self.table.sizes)))

    def _pack_counts(self, counts: Tensor) -> Tensor:
        """Four times the counts by class, ``[class, ...]``, in words of 32 bits, ``[...]``."""
        by_part = 4 * self._by_part(counts).long()
        first = by_part[0]
        words = first if len(by_part) == 1 else (first << 16) + by_part[1]
        return words.to(torch.int32)

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
        all_features = np.arange(len(self.table.levels))
        return self._side(all_features, all_features[:n])

    @cached_property
    def _places_and_terms(self) -> Tensor:
        """The place of every feature, its terms as xi and as xj; the last one has no levels."""
        n_features = len(self.table.levels)
        places = np.arange(n_features + 1)
        row_term = np.append(self.formula.row_term, 0)
        column_term = np.append(self.formula.column_term, 0)
        return torch.tensor(np.stack([places, row_term, column_term]), device=self.table.device)

    @property
    def _area(self) -> int:
        """Counts of a class in a tile, at most."""
        return self.table.max_counts // self.table.n_classes

    @property
    def _width(self) -> int:
        """Planes of the columns of a tile, at most."""
        return min(MAX_SIDE_PLANES, max(WIDTH, self._area // WIDTH))

    @cached_property
    def _all_columns(self) -> list[TileSide]:
        """All features, for the columns of many queries."""
        return self._column_sides(np.arange(len(self.table.levels)))

    def _column_sides(self, features: Indices) -> list[TileSide]:
        """The sides of the columns of a query."""
        return list(self._sides(features, self._width))

    def tiles(
        self, rows: Indices | None, columns: Indices | None, longest: int = MAX_SIDE_PLANES
    ) -> Iterator[tuple[TileSide, list[TileSide]]]:
        """Sides of rows, of at most ``longest`` features, and the sides of columns for each.

        ``rows`` and ``columns``: features of a query; None: all of them.
        """
        across = self._all_columns if columns is None else self._column_sides(columns)
        widest = max(len(side.features) * n_planes(side.levels) for side in across)
        row_features = np.arange(len(self.table.levels)) if rows is None else rows
        height = min(self._area // widest, MAX_SIDE_PLANES)
        for side in self._sides(row_features, height, longest):
            yield side, across

    def _sides(
        self, features: Indices, max_planes: int, longest: int = MAX_SIDE_PLANES
    ) -> Iterator[TileSide]:
        """The features of a query as sides, in order of their levels: see ``cut_by_levels``."""
        levels = self.table.levels[features]
        bands = (2, self.table.max_levels)
        order = np.argsort(levels, kind="stable")
        for first, last in cut_by_levels(levels[order], max_planes, bands, longest):
            yield self._side(features, order[first:last])

    def _side(self, features: Indices, places: Indices) -> TileSide:
        """The features at some places of a query, as a side whose values go to these places."""
        table = self.table
        n = len(places)
        chosen = features[places]
        padding = -n % WIDTH if table.takes_bits else 0
        start = first_of_run(chosen)
        first = first_of_run(places)
        all_features = self._places_and_terms
        # Features of a query may repeat, so that places can go beyond the features of the table.
        last_start = all_features.shape[1] - n
        if start is not None and first is not None and max(start + padding, first) <= last_start:
            # Features and places that follow each other are parts of what is on the device.
            index = all_features[0, start : start + n + padding]
            at = all_features[0, first : first + n]
            row_term = all_features[1, start : start + n]
            column_term = all_features[2, start : start + n]
            first_level = table.first_level[:, start : start + n + padding]
        else:
            on_host = np.full((4, n + padding), len(table.levels))
            on_host[0, :n] = chosen
            on_host[1, :n] = places
            on_host[2, :n] = self.formula.row_term[chosen]
            on_host[3, :n] = self.formula.column_term[chosen]
            on_device = torch.tensor(on_host, device=table.device)  # one copy instead of four
            index = on_device[0]
            at = on_device[1, :n]
            row_term = on_device[2, :n]
            column_term = on_device[3, :n]
            first_level = table.first_level[:, index]
        return TileSide(
            chosen=chosen,
            features=index,
            levels=int(table.levels[chosen].max()),
            first_level=first_level,
            places=places,
            at=at,
            row_term=row_term,
            column_term=column_term,
            start=start,
            first=first,
        )

    def values(
        self, rows: TileSide, columns: TileSide, dtype: torch.dtype = torch.float64
    ) -> Tensor:
        """The values of a tile, ``[row, column]``."""
        shape = (len(rows.at), len(columns.at))
        values = torch.empty(shape, dtype=dtype, device=self.table.device)
        self.write(rows.moved_to_start(), columns.moved_to_start(), values)
        return values

    def write(
        self, rows: TileSide, columns: TileSide, target: Tensor, mirror: bool = False
    ) -> None:
        """Write the values of a tile at its places of ``target``.

        ``mirror``: the tile has all pairs, and each is counted once and written in both halves.
        """
        if max(rows.levels, columns.levels) > self.table.max_levels and self.write_here is not None:
            values = np.empty((len(rows.at), len(columns.at)))
            self.write_here(values, rows.chosen, columns.chosen)
            target[rows.at[:, None], columns.at] = torch.from_numpy(values).to(target)
        elif self.table.takes_bits:
            tiles.write_tile(self, rows, columns, target, mirror)
        else:
            self._write_by_products(rows, columns, target)

    def _write_by_products(self, rows: TileSide, columns: TileSide, target: Tensor) -> None:
        """Write the values of a tile, counted and looked up by PyTorch."""
        recipe = self.recipe
        if self.is_binary(rows, columns):
            margins = self.margins(rows, columns)
            row_levels = 1
            column_levels = 1
        else:
            margins = None
            row_levels = max(2, rows.levels)
            column_levels = max(2, columns.levels)
        windows = self.table.windows(recipe.by_class)
        counts = self.table.count(rows, row_levels, columns, column_levels, windows)
        total = sum_cells(counts, (len(rows.at), len(columns.at)), margins, recipe)
        total = total + rows.row_term[:, None] + columns.column_term
        scale, lowest = recipe.scale_and_lowest
        values = torch.maximum(total.to(torch.float64) * scale, lowest)
        target[rows.at[:, None], columns.at] = values.to(target.dtype)

    @staticmethod
    def is_binary(rows: TileSide, columns: TileSide) -> bool:
        """Whether the counts of the first levels give those of the others."""
        return max(rows.levels, columns.levels) <= 2

    def margins(self, rows: TileSide, columns: TileSide) -> Margins:
        """Samples at the first level in each part, of rows and of columns."""
        return Margins(
            of_rows=self._by_part(rows.first_level),
            of_columns=self._by_part(columns.first_level),
            sizes=self._by_part(self.table.sizes),
        )

    def _by_part(self, counts: Tensor) -> Tensor:
        """Counts by class, ``[class, ...]``, or of all samples as one part, ``[1, ...]``."""
        if self.recipe.by_class:
            return counts
        return counts.sum(0, keepdim=True).to(torch.int32)


def sum_cells(
    counts: Tensor, shape: tuple[int, int], margins: Margins | None, recipe: Recipe
) -> Tensor:
    """Sum the tables of a recipe over the cells of each pair: integers, ``[row, column]``.

    ``counts``: ``[part, level, row, level, column]``; with ``margins``, of features of two levels,
    those of the first levels alone. ``shape``: rows and columns, without padding.
    """
    n_rows, n_columns = shape
    if margins is None:
        n_levels = counts.shape[1]
        cells_of_row = n_columns * counts.shape[3]
    else:
        n_levels = 2
        cells_of_row = n_columns * 2
    height = max(1, SUMMED_CELLS // cells_of_row)
    sums = []
    for first in range(0, n_rows, height):
        rows = slice(first, min(first + height, n_rows))
        total = torch.zeros(
            (rows.stop - rows.start, n_columns), dtype=torch.int64, device=counts.device
        )
        for level in range(n_levels):
            all_parts = None
            for part in range(len(counts)):
                cells = _cells_of_level(counts[part], level, rows, margins, part)
                cells = cells[:, :, :n_columns].long()
                if recipe.by_class:
                    total += recipe.class_table[cells].sum(1)
                all_parts = cells if all_parts is None else all_parts + cells
            if recipe.by_pair:
                total += recipe.pair_table[all_parts].sum(1)
        sums.append(total)
    return torch.cat(sums)


def _cells_of_level(
    counts: Tensor, level: int, rows: slice, margins: Margins | None, part: int
) -> Tensor:
    """Samples of a part with a level of some row features, ``[row, level of column, column]``.

    ``counts``: of the part, ``[level, row, level, column]``; see :func:`sum_cells`.
    """
    if margins is None:
        return counts[level, rows]
    in_row = margins.of_rows[part, rows, None]
    in_column = margins.of_columns[part]
    in_both = counts[0, rows, 0]
    if level == 0:
        return torch.stack([in_both, in_row - in_both], dim=1)
    in_neither = margins.sizes[part] - in_row - in_column + in_both
    return torch.stack([in_column - in_both, in_neither], dim=1)
