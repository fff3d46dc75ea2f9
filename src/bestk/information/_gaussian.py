"""Information between numeric columns and a target, from covariances: nothing is discretised."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information._scores import HALF_LOG, Explained, ScoredTable
from bestk.information.measures import Measure, Query
from bestk.native import kernels
from bestk.native.threads import MAX_CALM_WORK, run_blas_tiles

MIN_NOISE = 1e-10  # keeps rounding out of the determinants
TILE_SIDE = 384  # of a tile whose products take most of the time
MIN_SIDE = 48  # of any tile
MIN_TILE_SIDE, MIN_TILE_ROWS = 192, 512  # with fewer rows, other arrays should stay in the cache

Tile = tuple[int, int, int, int]  # first row, last row, first column, last column


def unexplained(products: Floats, left: Any, right: Any, weights: Floats) -> Floats:
    """``1 - r^2``, for entries and scales of the features of both sides.

    Each term takes its weight times the entries of both features off a product. Products may be
    those of several tables, one below the other.
    """
    out = np.empty(products.shape)
    sides = (np.ascontiguousarray(vector) for vector in (*left, *right))
    shape = *products.shape, len(right[1])
    kernels.unexplained(products, *shape, *sides, weights, len(weights), out)
    return out


class Side(NamedTuple):
    """Vectors over the features along one side of a tile."""

    features: Indices
    sums: Floats  # (1, feature), of the scores
    scale: Floats  # 1 / standard deviation, noise included
    entries: Floats  # (term, feature): what y explains
    scale_within: Floats  # 1 / standard deviation within y
    row_term: Floats  # what the measure adds for the feature as xi
    column_term: Floats  # as xj
    diagonal: Floats  # the measure of the feature with itself

    @property
    def terms(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Entries and scales: of what the mean explains, and of what y explains."""
        return (self.sums, self.scale), (self.entries, self.scale_within)

    def part(self, features: Any) -> "Side":
        """Some of the features."""
        vectors: Any = (vector[..., features] for vector in self)
        return Side(*vectors)


class GaussianSource:
    """Entropies of numeric columns under a Gaussian model, pairs when asked.

    With T the covariance of normal scores of variance 1 and W that within y,
    ``H(xi, xj) = 1/2 log((2 pi e)^2 det T_ij)`` and ``H(xi, xj | y)`` is the same of W, so
    ``I(xi, xj; y) = 1/2 log(det T_ij / det W_ij)``. Independent noise of variance ``noise`` (None:
    1 / m) is added to the diagonals of T and of W, so that they are definite.
    """

    is_discrete = False

    def __init__(self, columns: ScoredTable, *, noise: float | None = None) -> None:
        m, unit, explained = columns.n_rows, columns.one**2, columns.explained
        added = unit if noise is None else max(noise, MIN_NOISE) * unit * m
        self.columns, self.n_features, self._unit = columns, len(columns.sums), m * unit
        self._models = Explained.by_mean(columns.sums, m), explained
        total, within = (model.subtract(columns.squares) + added for model in self._models)
        self._scales = 1.0 / np.sqrt(total), 1.0 / np.sqrt(within)
        x, xy = (HALF_LOG + 0.5 * np.log(each / self._unit) for each in (total, within))
        xy += explained.entropy
        self.singles = x, xy, explained.entropy
        # the correlation of a column and a copy with noise of its own
        r = np.where(columns.squares > 0, 1.0 - added / total, 0.0)
        self.copies = -0.5 * np.log1p(-r * r)

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        every, mirror = self.side(query.measure), query.is_whole

        def work(tile: Tile) -> None:
            top, bottom, first, last = tile
            chosen = part_of(query.rows, top, bottom), part_of(query.columns, first, last)
            left = right = every.part(chosen[0])
            if query.rows is not query.columns or (top, bottom) != (first, last):
                right = every.part(chosen[1])
            part = self.pair_part(query.measure, self.columns.products(*chosen), left, right)
            values = np.add.outer(left.row_term, right.column_term)
            values += part
            place = np.full(self.n_features, -1)
            place[right.features] = np.arange(len(right.features))
            j = place[left.features]
            i = np.flatnonzero(j >= 0)
            values[i, j[i]] = left.diagonal[i]
            out[top:bottom, first:last] = np.maximum(values, query.lowest, out=values)
            if mirror and bottom < last:
                done = max(bottom - first, 0)  # tiles on the diagonal hold both halves
                if not query.measure.is_symmetric:
                    terms = np.add.outer(left.column_term, right.row_term[done:])
                    terms += part[:, done:]
                    np.maximum(terms, query.lowest, out=values[:, done:])
                out[first + done : last, top:bottom] = values[:, done:].T

        if len(out) == 1:  # in this thread: BLAS may start its own
            work((0, 1, 0, out.shape[1]))
            return
        side = TILE_SIDE if self.columns.n_samples >= MIN_TILE_ROWS else MIN_TILE_SIDE
        if out.size * self.columns.n_samples > MAX_CALM_WORK:  # then there should be some tiles
            side = min(side, max(MIN_SIDE, int(out.size**0.5) // 3))
        run_blas_tiles(work, list(cut(out.shape, side, mirror)))

    def fill_tables(self, measure: Measure, width: int, out: Array) -> None:
        """Write the pairs of each table of so many columns, which stand side by side."""
        every, tables = self.side(measure), out.reshape(-1, width, width)
        part = self.pair_part(measure, self.columns.table_products(width), every, every)
        rows, columns = every.row_term, every.column_term
        np.add(rows.reshape(-1, width, 1), columns.reshape(-1, 1, width), out=tables)
        out += part
        np.einsum("tii->ti", tables)[:] = every.diagonal.reshape(-1, width)

    def side(self, measure: Measure) -> Side:
        """All features, with what each adds to the measure of a pair."""
        x, xy, y = self.singles
        half = 0.5 * (measure.y - measure.xxy) * y
        row, column = (term + half for term in measure.single_terms(x, xy))
        both = measure.xi + measure.xj + measure.xx, measure.xiy + measure.xjy + measure.xxy
        diagonal = both[0] * x + measure.y * y + both[1] * xy
        by_mean, by_target = (model.entries for model in self._models)
        return Side(
            np.arange(self.n_features), by_mean, self._scales[0], by_target, self._scales[1],
            row, column, diagonal,
        )  # fmt: skip

    def pair_part(
        self, measure: Measure, products: Any, left: Side, right: Side,
        subtract: Callable[..., Any] = unexplained, log: Callable[[Any], Any] = np.log,
    ) -> Any:  # fmt: skip
        """What a pair adds to the measure: correlations r, and s within y.

        ``H(xi,xj) = H(xi) + H(xj) + log(1 - r^2) / 2`` and
        ``H(xi,xj,y) = H(xi,y) + H(xj,y) - H(y) + log(1 - s^2) / 2``. Arrays may be on a device,
        where other functions subtract what is explained and take logarithms.
        """
        a, b = 0.5 * measure.xx, 0.5 * measure.xxy
        total, within = (
            subtract(products, left.terms[k], right.terms[k], self._models[k].weights) if weight
            else products
            for k, weight in enumerate((a, b))
        )  # fmt: skip
        if a and a == -b:  # one logarithm is enough
            return a * log(total / within)
        part = 0.0 * products
        for weight, share in ((a, total), (b, within)):
            part += weight * log(share) if weight else 0.0
        return part


def cut(shape: tuple[int, ...], side: int, mirror: bool) -> Iterator[Tile]:
    """Cut a matrix, or its upper half if it mirrors itself, into tiles of ``side ** 2`` entries."""
    n_rows, n_columns = shape
    width = max(1, min(n_columns, max(side, side**2 // max(1, n_rows))))
    height = side**2 // width
    for top in range(0, n_rows, height):
        bottom = min(top + height, n_rows)
        for first in range(top if mirror else 0, n_columns, width):
            yield top, bottom, first, min(first + width, n_columns)


def part_of(features: Indices | None, start: int, stop: int) -> Indices | slice:
    """Some of the features; None means all of them."""
    return slice(start, stop) if features is None else features[start:stop]
