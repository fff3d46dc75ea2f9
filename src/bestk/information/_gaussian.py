"""Information between numeric columns and a target, from covariances: nothing is discretised."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Protocol

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information._scores import HALF_LOG, Explained, ScoredTable
from bestk.information.backends import PairSource
from bestk.information.backends._reductions import Tile
from bestk.information.measures import Measure, Query
from bestk.native import kernels
from bestk.native.threads import MAX_CALM_WORK, run_blas_tiles

# The least variance that is added to each column, in its own variances: it keeps rounding out of
# the determinants.
MIN_NOISE = 1e-10

# Entries on a side of a square tile, where its products take most of the time.
TILE_SIDE = 384

# The same where columns have fewer rows than MIN_TILE_ROWS: the other arrays of a tile take more of
# the time then, and should stay in the cache.
MIN_TILE_SIDE = 192
MIN_TILE_ROWS = 512

# The least side of any tile.
MIN_SIDE = 48


class ColumnScores(Protocol):
    """What a Gaussian model takes from scores of columns, here or on a device: see ScoredTable."""

    n_rows: int
    one: float
    sums: Floats
    squares: Floats
    explained: Explained


@dataclass(frozen=True)
class Residuals:
    """What scales the products of some columns that the mean, or y, leaves unexplained."""

    entries: Any
    """``[term, feature]``: see :class:`Explained`."""

    scale: Any
    """1 / standard deviation of each feature, with its noise."""


def unexplained(
    products: Floats, row_side: Residuals, column_side: Residuals, weights: Floats
) -> Floats:
    """``1 - r^2`` of pairs, r the correlation of what is left of two columns.

    ``r = (product - sum over terms of weight * entry_i * entry_j) * scale_i * scale_j``.
    ``products``: sums of products of scores, ``[row, column]``; they may be those of several
    tables, one below the other.
    """
    out = np.empty(products.shape)
    n_rows, width = products.shape
    n_columns = len(column_side.scale)
    kernels.unexplained(
        products,
        n_rows,
        width,
        n_columns,
        np.ascontiguousarray(row_side.entries),
        np.ascontiguousarray(row_side.scale),
        np.ascontiguousarray(column_side.entries),
        np.ascontiguousarray(column_side.scale),
        weights,
        len(weights),
        out,
    )
    return out


@dataclass(frozen=True)
class Side:
    """Vectors over the features along one side of a tile, all here or all on a device."""

    features: Any

    entries: Any
    """``[term, feature]``: what the mean explains."""

    scale: Any
    """1 / standard deviation, noise included."""

    entries_within: Any
    """``[term, feature]``: what y explains."""

    scale_within: Any
    """1 / standard deviation within y."""

    row_term: Any
    """What the measure adds for the feature as xi."""

    column_term: Any
    """What it adds for the feature as xj."""

    diagonal: Any
    """The measure of the feature with itself."""

    @property
    def total(self) -> Residuals:
        """What the mean leaves."""
        return Residuals(self.entries, self.scale)

    @property
    def within(self) -> Residuals:
        """What y leaves."""
        return Residuals(self.entries_within, self.scale_within)

    def part(self, features: Any) -> "Side":
        """Some of the features: an index, or a slice."""
        return self.map(lambda vector: vector[..., features])

    def map(self, change: Callable[[Any], Any]) -> "Side":
        """The same side, each of its vectors changed by a function."""
        return Side(*(change(getattr(self, vector.name)) for vector in fields(self)))


class GaussianModel:
    """Entropies of numeric columns under a Gaussian model, and what a pair adds to a measure.

    With T the covariance of normal scores of variance 1 and W that within y,
    ``H(xi, xj) = 1/2 log((2 pi e)^2 det T_ij)`` and ``H(xi, xj | y)`` is the same of W, so
    ``I(xi, xj; y) = 1/2 log(det T_ij / det W_ij)``. Independent noise of variance ``noise`` (None:
    1 / m) is added to the diagonals of T and of W, so that they are definite.
    """

    is_discrete = False

    def __init__(self, columns: ColumnScores, *, noise: float | None = None) -> None:
        n_rows = columns.n_rows
        unit = columns.one**2  # the square of a score of 1
        added = unit if noise is None else max(noise, MIN_NOISE) * unit * n_rows
        self.n_features = len(columns.sums)
        self._by_mean = Explained.by_mean(columns.sums, n_rows)
        self._by_target: Explained = columns.explained
        total = self._by_mean.subtract(columns.squares) + added
        within = self._by_target.subtract(columns.squares) + added
        self._scale = 1.0 / np.sqrt(total)
        self._scale_within = 1.0 / np.sqrt(within)
        y = self._by_target.entropy
        x = HALF_LOG + 0.5 * np.log(total / (n_rows * unit))
        xy = HALF_LOG + 0.5 * np.log(within / (n_rows * unit))
        xy += y
        self.singles = x, xy, y
        # The correlation of a column and a copy that has noise of its own.
        r = np.where(columns.squares > 0, 1.0 - added / total, 0.0)
        self.copies = -0.5 * np.log1p(-r * r)

    def side(self, measure: Measure) -> Side:
        """All features, with what each adds to the measure of a pair."""
        x, xy, y = self.singles
        half = 0.5 * (measure.y - measure.xxy) * y
        row_term, column_term = measure.single_terms(x, xy)
        weight_of_x = measure.xi + measure.xj + measure.xx
        weight_of_xy = measure.xiy + measure.xjy + measure.xxy
        return Side(
            features=np.arange(self.n_features),
            entries=self._by_mean.entries,
            scale=self._scale,
            entries_within=self._by_target.entries,
            scale_within=self._scale_within,
            row_term=row_term + half,
            column_term=column_term + half,
            diagonal=weight_of_x * x + measure.y * y + weight_of_xy * xy,
        )

    def pair_part(
        self,
        measure: Measure,
        products: Any,
        row_side: Side,
        column_side: Side,
        *,
        subtract: Callable[..., Any] = unexplained,
        log: Callable[[Any], Any] = np.log,
    ) -> Any:
        """What a pair adds to the measure beyond the terms of its features, ``[row, column]``.

        With correlations r, and s within y, ``H(xi,xj) = H(xi) + H(xj) + log(1 - r^2) / 2`` and
        ``H(xi,xj,y) = H(xi,y) + H(xj,y) - H(y) + log(1 - s^2) / 2``. ``products``: sums of products
        of scores. Arrays may be on a device, where other functions subtract what is explained and
        take logarithms.
        """
        weight = 0.5 * measure.xx
        weight_within = 0.5 * measure.xxy
        total = products
        within = products
        if weight:
            total = subtract(products, row_side.total, column_side.total, self._by_mean.weights)
        if weight_within:
            within = subtract(
                products, row_side.within, column_side.within, self._by_target.weights
            )
        if weight and weight == -weight_within:  # one logarithm is enough
            return weight * log(total / within)
        pair_part = 0.0 * products
        if weight:
            pair_part += weight * log(total)
        if weight_within:
            pair_part += weight_within * log(within)
        return pair_part


class GaussianSource(GaussianModel, PairSource):
    """The pairs of columns whose scores are in the memory of the host."""

    def __init__(self, columns: ScoredTable, *, noise: float | None = None) -> None:
        super().__init__(columns, noise=noise)
        self.columns = columns

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        fill_tile = partial(self._fill_tile, query, self.side(query.measure), out)
        if len(out) == 1:  # in this thread: BLAS may start its own
            fill_tile(Tile(0, 1, 0, out.shape[1]))
            return
        n_samples = self.columns.n_samples
        side = TILE_SIDE if n_samples >= MIN_TILE_ROWS else MIN_TILE_SIDE
        if out.size * n_samples > MAX_CALM_WORK:  # then there should be some tiles
            side = min(side, max(MIN_SIDE, int(out.size**0.5) // 3))
        run_blas_tiles(fill_tile, list(cut(out.shape, side, query.is_whole)))

    def _fill_tile(self, query: Query, side: Side, out: Array, tile: Tile) -> None:
        """Fill a tile of ``out``; of a whole matrix, also its mirror image across the diagonal."""
        rows = part_of(query.rows, tile.first_row, tile.last_row)
        columns = part_of(query.columns, tile.first_column, tile.last_column)
        row_side = side.part(rows)
        has_same_features = (
            query.rows is query.columns
            and tile.first_row == tile.first_column
            and tile.last_row == tile.last_column
        )
        column_side = row_side if has_same_features else side.part(columns)
        products = self.columns.products(rows, columns)
        pair_part = self.pair_part(query.measure, products, row_side, column_side)
        values = np.add.outer(row_side.row_term, column_side.column_term)
        values += pair_part
        self._put_diagonal(values, row_side, column_side)
        np.maximum(values, query.lowest, out=values)
        out[tile.first_row : tile.last_row, tile.first_column : tile.last_column] = values
        if query.is_whole and tile.last_row < tile.last_column:
            # Tiles on the diagonal hold both halves of their first columns.
            done = max(tile.last_row - tile.first_column, 0)
            if not query.measure.is_symmetric:
                mirrored = np.add.outer(row_side.column_term, column_side.row_term[done:])
                mirrored += pair_part[:, done:]
                np.maximum(mirrored, query.lowest, out=values[:, done:])
            out[tile.first_column + done : tile.last_column, tile.first_row : tile.last_row] = (
                values[:, done:].T
            )

    def _put_diagonal(self, values: Floats, row_side: Side, column_side: Side) -> None:
        """Put the measure of a feature with itself where a tile has the feature on both sides."""
        column_of = np.full(self.n_features, -1)
        column_of[column_side.features] = np.arange(len(column_side.features))
        columns = column_of[row_side.features]
        rows = np.flatnonzero(columns >= 0)
        values[rows, columns[rows]] = row_side.diagonal[rows]

    def fill_tables(self, measure: Measure, width: int, out: Array) -> None:
        """Write the pairs of each table of so many columns, which stand side by side."""
        side = self.side(measure)
        products = self.columns.table_products(width)
        pair_part = self.pair_part(measure, products, side, side)
        tables = out.reshape(-1, width, width)
        row_term = side.row_term.reshape(-1, width, 1)
        column_term = side.column_term.reshape(-1, 1, width)
        np.add(row_term, column_term, out=tables)
        out += pair_part
        np.einsum("tii->ti", tables)[:] = side.diagonal.reshape(-1, width)


def cut(shape: tuple[int, ...], side: int, mirror: bool) -> Iterator[Tile]:
    """Cut a matrix, or its upper half if it mirrors itself, into tiles of ``side ** 2`` entries."""
    n_rows, n_columns = shape
    width = max(1, min(n_columns, max(side, side**2 // max(1, n_rows))))
    height = side**2 // width
    for top in range(0, n_rows, height):
        bottom = min(top + height, n_rows)
        for first in range(top if mirror else 0, n_columns, width):
            yield Tile(top, bottom, first, min(first + width, n_columns))


def part_of(features: Indices | None, start: int, stop: int) -> Indices | slice:
    """Some of the features; None means all of them."""
    return slice(start, stop) if features is None else features[start:stop]
