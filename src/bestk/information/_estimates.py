"""Estimates that are not counts: from covariances of numbers, and the mean of several estimates."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma

from bestk._checks import choice
from bestk._typing import Array, Floats, Indices
from bestk.information._scores import HALF_LOG, Explained, ScoredTable
from bestk.information.backends import PairSource
from bestk.information.measures import Measure, Query
from bestk.native import kernels
from bestk.native.threads import run_blas_tiles, spans

MIN_NOISE = 1e-10  # keeps rounding out of the determinants
TILE_SIDE = 384  # of a tile whose products take most of the time
MIN_TILE_SIDE, MIN_TILE_ROWS = 192, 512  # with fewer rows, other arrays should stay in the cache
MAX_WHOLE_BYTES = 2**29  # of a blended matrix that is filled at once, each pair once
BLEND_STRIP_BYTES = 2**24  # of a larger one that are filled together

Tile = tuple[int, int, int, int]  # first row, last row, first column, last column


def unexplained(products: Floats, left: Any, right: Any, weights: Floats) -> Floats:
    """``1 - r^2``, for entries and scales of the features of both sides.

    Each term takes its weight times the entries of both features off a product.
    """
    out = np.empty(products.shape)
    sides = (np.ascontiguousarray(vector) for vector in (*left, *right))
    kernels.unexplained(products, *products.shape, *sides, weights, len(weights), out)
    return out


class Side(NamedTuple):
    """Vectors over the features along one side of a tile."""

    features: Indices
    sums: Floats  # (1, feature), of the scores
    scale: Floats  # 1 / standard deviation, noise included
    entries: Floats  # (term, feature): what y explains
    scale_within: Floats  # 1 / standard deviation within y
    varies: Floats  # 0 for a constant column, else 1
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

    def __init__(
        self, columns: ScoredTable, *, noise: float | None = None, correction: str | None = None
    ) -> None:
        if correction == "miller-madow":
            raise ValueError("correction='miller-madow' is meant for counts; use None or 'chance'")
        choice(correction, "correction", (None, "chance"))
        m, unit, explained = columns.n_rows, columns.one**2, columns.explained
        added = unit if noise is None else max(noise, MIN_NOISE) * unit * m
        self._columns, self.n_features = columns, len(columns.sums)
        self._models = Explained.by_mean(columns.sums, m), explained
        total, within = (model.subtract(columns.squares) + added for model in self._models)
        self._scales = 1.0 / np.sqrt(total), 1.0 / np.sqrt(within)
        self._varies = np.where(columns.squares > 0, 1.0, 0.0)
        x, xy = (HALF_LOG + 0.5 * np.log(each / (m * unit)) for each in (total, within))
        xy += explained.entropy
        self._pair_chance = 0.0  # E[I(xi, xj; y) - I(xi; y) - I(xj; y)] of random labels
        if correction:
            single, self._pair_chance = expected_by_chance(m, explained.groups)
            xy += self._varies * single
        self.singles = x, xy, explained.entropy
        r = self._varies * (1.0 - added / total)  # of a column and a copy with noise of its own
        self.copies = -0.5 * np.log1p(-r * r)

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        every, mirror, z = self.side(query.measure), query.is_whole, self._columns.values

        def work(tile: Tile) -> None:
            top, bottom, first, last = tile
            chosen = part_of(query.rows, top, bottom), part_of(query.columns, first, last)
            left = right = every.part(chosen[0])
            if query.rows is not query.columns or (top, bottom) != (first, last):
                right = every.part(chosen[1])
            products = z[chosen[0]] @ z[chosen[1]].T
            part = self.pair_part(query.measure, products, left, right)
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

        side = TILE_SIDE if self._columns.n_rows >= MIN_TILE_ROWS else MIN_TILE_SIDE
        run_blas_tiles(work, list(cut(out.shape, side, mirror)))

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
            self._varies, row, column, diagonal,
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
            part = a * log(total / within)
        else:
            part = 0.0 * products
            for weight, share in ((a, total), (b, within)):
                part += weight * log(share) if weight else 0.0
        if self._pair_chance:
            part += measure.xxy * self._pair_chance * np.outer(left.varies, right.varies)
        return part


def expected_by_chance(m: int, groups: int) -> tuple[float, float]:
    """E[I(x; y)] and E[I(xi, xj; y) - I(xi; y) - I(xj; y)] of random labels.

    W/T is distributed as beta((m - c) / 2, (c - 1) / 2), det W_ij / det T_ij as Wilks' lambda.
    """
    if m < groups + 2:
        raise ValueError(
            f"correction='chance' needs two samples more than classes, {groups + 2} in all, "
            f"not {m}; use correction=None"
        )

    def dependence(degrees: int) -> float:
        """E[-1/2 log(1 - r^2)] of independent columns."""
        return float(0.5 * (digamma(degrees / 2) - digamma((degrees - 1) / 2)))

    single = 0.5 * (digamma((m - 1) / 2) - digamma((m - groups) / 2))
    return float(single), dependence(m - groups) - dependence(m - 1)


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


class BlendedSource:
    """The mean of several estimates; for each pair, of those that have both of its columns.

    The chain rule ``I(xi, xj; y) = I(xi; y) + I(xj; y | xi)`` holds for every pair. ``partial`` is
    for the ``known`` columns, in that order.
    """

    is_discrete = False

    def __init__(
        self,
        counted: Sequence[PairSource],
        partial: PairSource | None = None,
        known: Indices | None = None,
    ) -> None:
        self._sources, self._partial = list(counted), partial
        self.n_features = len(counted[0].copies)
        self._known = np.arange(0) if known is None else known
        if partial is not None and np.array_equal(self._known, np.arange(self.n_features)):
            self._sources, self._partial = [*counted, partial], None
        self._place = np.full(self.n_features, -1)
        self._place[self._known] = np.arange(len(self._known))
        y = counted[0].singles[2]
        x = self._mean(lambda source: source.singles[0])
        self.singles = x, self._mean(_entropy_within) + y, y
        self.copies = self._mean(lambda source: source.copies)

    def _mean(self, each: Callable[[PairSource], Floats]) -> Floats:
        """The mean over the estimates that have a column."""
        total = np.sum([each(source) for source in self._sources], axis=0)
        share = np.full(self.n_features, float(len(self._sources)))
        if self._partial is not None:
            total[self._known] += each(self._partial)
            share[self._known] += 1
        return np.asarray(total / share)

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        if query.rows is query.columns and 8 * out.size <= MAX_WHOLE_BYTES:
            self._fill(query, out)
            return
        rows, _ = query.features(self.n_features)
        height = max(1, BLEND_STRIP_BYTES // max(1, 8 * out.shape[1]))
        for strip in starmap(slice, spans(len(out), height)):
            self._fill(query._replace(rows=rows[strip]), out[strip])

    def _fill(self, query: Query, out: Array) -> None:
        total = out if out.dtype == np.float64 else np.empty(out.shape)
        other = np.empty(out.shape)
        every = query._replace(lowest=-np.inf)
        self._sources[0].fill(every, total)
        for source in self._sources[1:]:
            source.fill(every, other)
            total += other
        share: Any = len(self._sources)
        if self._partial is not None:
            share = self._add_known(self._partial, query, total)
        total /= share
        if self._partial is not None:
            total += (share == len(self._sources)) * self._single_terms(query)
        np.maximum(total, query.lowest, out=out)

    @cached_property
    def _excess(self) -> tuple[Floats, Floats]:
        """H(x) and H(x | y) of each column over all estimates, less those of counts."""
        x, xy, y = self.singles
        x = x - np.mean([source.singles[0] for source in self._sources], axis=0)
        return x, xy - y - np.mean([_entropy_within(source) for source in self._sources], axis=0)

    def _single_terms(self, query: Query) -> Floats:
        """What each pair of the query adds to the measure by the means of its columns."""
        row, column = query.measure.single_terms(*self._excess)
        rows, columns = query.features(self.n_features)
        return np.asarray(np.add.outer(row[rows], column[columns]))

    def _add_known(self, partial: PairSource, query: Query, total: Floats) -> Floats:
        """Add the estimate for some columns; how many estimates each pair has."""
        places = [self._place[some] for some in query.features(self.n_features)]
        here = [np.flatnonzero(place >= 0) for place in places]
        share = np.full(total.shape, float(len(self._sources)))
        own = np.empty((len(here[0]), len(here[1])))
        if own.size:
            left, right = (place[some] for place, some in zip(places, here, strict=True))
            partial.fill(Query(query.measure, left, right), own)
            total[np.ix_(*here)] += own
            share[np.ix_(*here)] += 1
        return share


def _entropy_within(source: PairSource) -> Floats:
    """H(x | y) of each feature."""
    _, xy, y = source.singles
    return xy - y
