"""Information between numeric columns and a target, from covariances: nothing is discretised.

Operations have the same order for both members of a pair, so that results do not depend on
how pairs are cut into tiles.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import digamma

from bestk._checks import choice
from bestk._typing import Array, Floats, Indices
from bestk.information._scores import HALF_LOG, Explained, Part
from bestk.information._tiles import Tile, cut, in_threads, part_of
from bestk.information.measures import Measure, Query
from bestk.native import kernels

MIN_NOISE = 1e-10  # keeps rounding out of the determinants
TILE = 384, 384


class Scored(Protocol):
    """Numeric columns as normal scores, summed over all rows."""

    n_rows: int
    one: float  # the score of one standard deviation
    sums: Floats
    squares: Floats
    explained: Explained

    def products(self, rows: Part, columns: Part) -> Floats:
        """Sums of products of the scores of some columns with those of others."""


class Side(NamedTuple):
    """Vectors over the features along one side of a tile."""

    features: Indices
    sums: Floats  # of the scores
    entries: Floats  # (term, feature): what y explains
    scale: Floats  # 1 / standard deviation, noise included
    scale_within: Floats  # the same within y
    varies: Floats  # 0 for a constant column, else 1
    row_term: Floats  # what the measure adds for the feature as xi
    column_term: Floats  # as xj
    diagonal: Floats  # the measure of the feature with itself

    def part(self, features: Part) -> "Side":
        """Some of the features."""
        vectors: Any = (np.ascontiguousarray(vector[..., features]) for vector in self)
        return Side(*vectors)


class GaussianSource:
    """Entropies of numeric columns under a Gaussian model, pairs when asked.

    With T the covariance of normal scores of variance 1 and W that within y,
    ``H(xi, xj) = 1/2 log((2 pi e)^2 det T_ij)`` and ``H(xi, xj | y)`` is the same of W, so
    ``I(xi, xj; y) = 1/2 log(det T_ij / det W_ij)``. Each column is taken to be measured with a
    little independent noise, whose variance is added to the diagonals of T and of W: all of them
    stay definite, copies add hardly anything to each other, and the estimates obey the laws of
    information exactly.

    Parameters
    ----------
    columns : Scored
        The columns, e.g. a ScoredTable. A missing value has the mean score.
    noise : float or None
        Variance of the noise, where that of a column is 1; None is 1 / m, which vanishes
        faster than the error of the estimate. At least 1e-10.
    correction : None or "chance"
        Subtract from I(x; y), of columns and of pairs, what random labels would give on
        average: for Gaussian columns W/T is beta-distributed and det W / det T is Wilks' lambda.

    Examples
    --------
    >>> from bestk.data.target import Target
    >>> from bestk.information import ScoredTable
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
    >>> target = Target(np.array([0, 0, 1, 1]), np.array([0, 1]), np.array([2, 2]))
    >>> x, xy, y = GaussianSource(ScoredTable(X, target)).singles()
    >>> np.round(x + y - xy, 3)
    array([0.465, 0.465])
    """

    is_discrete = False

    def __init__(
        self, columns: Scored, *, noise: float | None = None, correction: str | None = None
    ) -> None:
        if correction == "miller-madow":
            raise ValueError("correction='miller-madow' is meant for counts; use None or 'chance'")
        choice(correction, "correction", (None, "chance"))
        self._columns, self._explained = columns, columns.explained
        self.n_features = len(columns.sums)
        m, unit, explained = columns.n_rows, columns.one**2, columns.explained
        self._noise = unit if noise is None else max(noise, MIN_NOISE) * unit * m
        self._unit = m * unit
        self._chance = GaussianChance.of(m, explained.groups) if correction else None
        total = columns.squares - columns.sums * columns.sums * (1.0 / m) + self._noise
        within = columns.squares.copy()
        for entry, weight in zip(explained.entries, explained.weights, strict=True):
            within -= entry * entry * weight
        within += self._noise
        self._varies = np.where(columns.squares > 0, 1.0, 0.0)
        self._scales = 1.0 / np.sqrt(total), 1.0 / np.sqrt(within)
        self._x = HALF_LOG + 0.5 * np.log(total / self._unit)
        self._xy = HALF_LOG + 0.5 * np.log(within / self._unit) + explained.entropy
        if self._chance is not None:
            self._xy += self._varies * self._chance.single

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._x, self._xy, self._explained.entropy

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it with its own noise."""
        noise = self._noise / self._unit
        total = np.exp(2 * (self._x - HALF_LOG))
        r = self._varies * (1.0 - noise / total)
        return np.asarray(-0.5 * np.log1p(-r * r))

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        every, mirror = self._side(query.measure), query.is_whole

        def work(tile: Tile) -> None:
            top, bottom, first, last = tile
            chosen = part_of(query.rows, top, bottom), part_of(query.columns, first, last)
            left, right = every.part(chosen[0]), every.part(chosen[1])
            part = self._pair_part(query.measure, chosen, left, right)
            write(part, left, right, query.lowest, out[top:bottom, first:last])
            if mirror:
                done = max(bottom - first, 0)  # tiles on the diagonal hold both halves
                turned = out[first:last, top:bottom]
                write_mirrored(part, left, right, query.lowest, done, turned)

        in_threads(work, list(cut(out.shape, TILE, mirror)))

    def _side(self, measure: Measure) -> Side:
        """All features, with what each adds to the measure of a pair."""
        x, xy, y = self.singles()
        half = 0.5 * (measure.y - measure.xxy) * y
        row = (measure.xi + measure.xx) * x + (measure.xiy + measure.xxy) * xy + half
        column = (measure.xj + measure.xx) * x + (measure.xjy + measure.xxy) * xy + half
        both = measure.xi + measure.xj + measure.xx, measure.xiy + measure.xjy + measure.xxy
        diagonal = both[0] * x + measure.y * y + both[1] * xy
        sums, entries = self._columns.sums, self._explained.entries
        return Side(
            np.arange(self.n_features), sums, entries, *self._scales, self._varies,
            row, column, diagonal,
        )  # fmt: skip

    def _pair_part(
        self, measure: Measure, chosen: tuple[Part, Part], left: Side, right: Side
    ) -> "PairPart":
        """What a pair adds to the measure: correlations r, and s within y.

        ``H(xi,xj) = H(xi) + H(xj) + log(1 - r^2) / 2`` and
        ``H(xi,xj,y) = H(xi,y) + H(xj,y) - H(y) + log(1 - s^2) / 2``.
        """
        a, b = 0.5 * measure.xx, 0.5 * measure.xxy
        n_inverse, weights = 1.0 / self._columns.n_rows, self._explained.weights
        products = self._columns.products(*chosen)
        shares, rest = correlate(products, (left, right), n_inverse, weights, a, b)
        np.log(shares, out=shares)
        if a == -b or a == 0.0 or b == 0.0:
            part, scale = shares, a or b
        else:
            part, scale = a * shares + b * np.log(rest), 1.0
        if self._chance is not None:
            part *= scale
            part += measure.xxy * self._chance.pair * np.outer(left.varies, right.varies)
            scale = 1.0
        return PairPart(part, scale)


class PairPart(NamedTuple):
    """What the pairs of a tile add to a measure: ``scale * values``."""

    values: Floats
    scale: float


class GaussianChance(NamedTuple):
    """Expected information of Gaussian columns about random labels.

    For m samples and c classes W/T is distributed as beta((m - c) / 2, (c - 1) / 2), and
    det W_ij / det T_ij as Wilks' lambda, a product of two such: means of their logarithms are
    differences of digammas. A continuous y counts as two classes.
    """

    single: float  # E[I(x; y)]
    pair: float  # E[I(xi, xj; y) - I(xi; y) - I(xj; y)]

    @classmethod
    def of(cls, m: int, groups: int) -> "GaussianChance":
        """The expectations for m samples."""
        if m < groups + 2:
            raise ValueError(
                f"correction='chance' needs two samples more than classes, {groups + 2} in all, "
                f"not {m}; use correction=None"
            )
        single = 0.5 * (digamma((m - 1) / 2) - digamma((m - groups) / 2))
        return cls(float(single), _dependence(m - groups) - _dependence(m - 1))


def _dependence(degrees: int) -> float:
    """E[-1/2 log(1 - r^2)] of independent columns."""
    return float(0.5 * (digamma(degrees / 2) - digamma((degrees - 1) / 2)))


def correlate(
    products: Floats,
    sides: tuple[Side, Side],
    n_inverse: float,
    weights: Floats,
    a: float,
    b: float,
) -> tuple[Floats, Floats]:
    """Put in place of products the arguments of ``a log(1 - r^2) + b log(1 - s^2)``.

    That is one of them, or their ratio, where one logarithm is enough; else the second of them
    comes in an array of its own.
    """
    rest = np.empty(products.shape if a and b and a != -b else (0, 0))
    vectors = (vector for side in sides for vector in side[1:5])
    kernels.correlate(
        products, *products.shape, *vectors, n_inverse, weights, len(weights), a, b,
        rest if rest.size else None,
    )  # fmt: skip
    return products, rest


def write(part: PairPart, left: Side, right: Side, lowest: float, out: Array) -> None:
    """Write a tile: the part of each pair, and those of its features."""
    mine = left.features, left.row_term, left.diagonal
    others = right.features, right.column_term
    values, scale = part
    kernels.write_pairs(values, *values.shape, scale, *mine, *others, lowest, *by_precision(out))


def write_mirrored(
    part: PairPart, left: Side, right: Side, lowest: float, first: int, out: Array
) -> None:
    """Write a tile, from column ``first`` on, across the diagonal."""
    terms, (values, scale) = (right.row_term, left.column_term), part
    kernels.write_mirrored(values, *values.shape, scale, *terms, lowest, first, *by_precision(out))


def by_precision(out: Array) -> tuple[Array | None, Array | None]:
    """An array of floats as kernels take it: of 64 bits, or of 32."""
    return (out, None) if out.dtype == np.float64 else (None, out)
