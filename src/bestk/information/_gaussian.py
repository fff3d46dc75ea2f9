"""Information between numeric columns and a target, from covariances: nothing is discretised."""

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Target
from bestk.information._gaussian_chance import Chance
from bestk.information._gaussian_kernels import Side, correlate, write, write_mirrored
from bestk.information._gaussian_target import Explained, read_given
from bestk.information._measures import Measure
from bestk.information._normal_scores import Kind, normal_scores
from bestk.information._tiles import Part, Tile, cut, in_threads, part_of

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
SMALLEST_NOISE = 1e-10  # keeps rounding out of the determinants
TILE = 384, 384
HALF_LOG = 0.5 * np.log(2 * np.pi * np.e)


class Singles(NamedTuple):
    """What is known of each column by itself; see Side."""

    sums: Floats
    terms: Floats
    scale: Floats
    scale_within: Floats
    varies: Floats
    x: Floats
    xy: Floats


class Sums(NamedTuple):
    """Scores of all rows, summed."""

    n_rows: int
    one: float  # the score of one standard deviation
    scores: Floats
    squares: Floats
    entries: Floats  # (term, feature): what y explains


class GaussianSource:
    """Entropies of numeric columns under a Gaussian model, pairs when asked.

    Columns are turned into normal scores of variance 1. With T their covariance and W that
    within y, ``H(xi, xj) = 1/2 log((2 pi e)^2 det T_ij)`` and ``H(xi, xj | y)`` is the same of
    W, so ``I(xi, xj; y) = 1/2 log(det T_ij / det W_ij)``. Each column is taken to be measured
    with a little independent noise, whose variance is added to the diagonals of T and of W: all
    of them stay definite, copies tell hardly more than one of them, and the estimates obey the
    laws of information exactly.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        Finite numbers. NaN = missing: its score is 0, the mean, so that a column counts for what it
        tells where it is known and all laws of information hold.
    target : Target or array of shape (n_samples,)
        Classes, or a finite number for each sample, which is turned into scores as well.
    scores : {"rank", "standard"}
        Normal quantiles of (rank - 1/2) / m, or plain standardisation.
    noise : "auto" or float
        Variance of the noise, where that of a column is 1; ``"auto"`` is 1 / m, which vanishes
        faster than the error of the estimate. At least 1e-10.
    correction : None or "chance"
        Subtract from I(x; y), of columns and of pairs, what random labels would give on
        average: for Gaussian columns W/T is beta-distributed and det W / det T is Wilks' lambda.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
    >>> target = Target(np.array([0, 0, 1, 1]), np.array([0, 1]), np.array([2, 2]))
    >>> x, xy, y = GaussianSource(X, target).singles()
    >>> np.round(x + y - xy, 3)
    array([0.465, 0.465])
    """

    is_discrete = False

    def __init__(
        self,
        values: NDArray[Any],
        target: Target | NDArray[Any],
        *,
        scores: Kind = "rank",
        noise: Literal["auto"] | float = "auto",
        correction: str | None = None,
    ) -> None:
        _check_options(noise, correction)
        given = read_given(target, scores, len(values))
        columns = normal_scores(values, scores, order=given.order)
        self._z = z = columns.values
        sums, squares = z.sum(axis=1), np.einsum("ij,ij->i", z, z)
        self._estimate(
            Sums(len(values), columns.one, sums, squares, given.terms(z)), given, noise, correction
        )

    def _estimate(
        self, sums: "Sums", given: Explained, noise: Literal["auto"] | float, correction: str | None
    ) -> None:
        """Estimate what is known of each column by itself."""
        m, unit = sums.n_rows, sums.one**2
        self.n_features, self._n_rows, self._given = len(sums.scores), m, given
        self._noise = unit if noise == "auto" else max(noise, SMALLEST_NOISE) * unit * m
        self._unit = m * unit
        self._chance = Chance.of(m, given.groups) if correction == "chance" else None
        total = sums.squares - sums.scores * sums.scores * (1.0 / m) + self._noise
        within = sums.squares.copy()
        for entry, weight in zip(sums.entries, given.weights, strict=True):
            within -= entry * entry * weight
        within += self._noise
        varies = np.where(sums.squares > 0, 1.0, 0.0)
        x = HALF_LOG + 0.5 * np.log(total / self._unit)
        xy = HALF_LOG + 0.5 * np.log(within / self._unit) + given.entropy
        if self._chance is not None:
            xy += varies * self._chance.single
        scales = 1.0 / np.sqrt(total), 1.0 / np.sqrt(within)
        self._single = Singles(sums.scores, sums.entries, *scales, varies, x, xy)

    @property
    def scores(self) -> Floats:
        """The columns as scores, one row each, in the order of the target's classes."""
        return self._z

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._single.x, self._single.xy, self._given.entropy

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it, whose noise is its own."""
        noise = self._noise / self._unit
        total = np.exp(2 * (self._single.x - HALF_LOG))
        r = self._single.varies * (1.0 - noise / total)
        return np.asarray(-0.5 * np.log1p(-r * r))

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        terms = self._terms(measure)
        mirror = rows is None and columns is None

        def work(tile: Tile) -> None:
            top, bottom, first, last = tile
            chosen = part_of(rows, top, bottom), part_of(columns, first, last)
            left, right = self._side(chosen[0], terms), self._side(chosen[1], terms)
            part, scale = self._pair_part(measure, *chosen, left, right)
            write(part, scale, left, right, lowest, out[top:bottom, first:last])
            if mirror:
                done = max(bottom - first, 0)  # tiles on the diagonal hold both halves
                turned = out[first:last, top:bottom]
                write_mirrored(part, scale, left, right, lowest, done, turned)

        in_threads(work, list(cut(out.shape, TILE, mirror)))

    def _terms(self, measure: Measure) -> tuple[Floats, ...]:
        """What a feature adds to the measure of a pair: as xi, as xj, and if it is both."""
        x, xy, y = self.singles()
        half = 0.5 * (measure.y - measure.xxy) * y
        row = (measure.xi + measure.xx) * x + (measure.xiy + measure.xxy) * xy + half
        column = (measure.xj + measure.xx) * x + (measure.xjy + measure.xxy) * xy + half
        both = measure.xi + measure.xj + measure.xx, measure.xiy + measure.xjy + measure.xxy
        return row, column, both[0] * x + measure.y * y + both[1] * xy

    def _pair_part(
        self, measure: Measure, rows: Part, columns: Part, left: Side, right: Side
    ) -> tuple[Floats, float]:
        """What a pair adds to the measure, but for a factor: correlations r, and s within y.

        ``H(xi,xj) = H(xi) + H(xj) + log(1 - r^2) / 2`` and
        ``H(xi,xj,y) = H(xi,y) + H(xj,y) - H(y) + log(1 - s^2) / 2``.
        """
        a, b = 0.5 * measure.xx, 0.5 * measure.xxy
        products = self._products(rows, columns)
        shares = correlate(products, left, right, 1.0 / self._n_rows, self._given.weights, a, b)
        part, scale = _weighted_logs(a, b, *shares)
        if self._chance is None:
            return part, scale
        part *= scale
        part += measure.xxy * self._chance.pair * np.outer(left.varies, right.varies)
        return part, 1.0

    def _products(self, rows: Part, columns: Part) -> Floats:
        """Sums of products of scores."""
        return np.asarray(self._z[rows] @ self._z[columns].T)

    def _side(self, features: Part, terms: tuple[Floats, ...]) -> Side:
        single, everyone = self._single, np.arange(self.n_features)
        entries = np.ascontiguousarray(single.terms[:, features])
        vectors = (single.scale, single.scale_within, single.varies, *terms)
        chosen = (vector[features] for vector in vectors)
        return Side(everyone[features], single.sums[features], entries, *chosen)


def _weighted_logs(a: float, b: float, shares: Floats, rest: Floats) -> tuple[Floats, float]:
    """``a log(1 - r^2) + b log(1 - s^2)``, but for a factor; see ``correlate``."""
    np.log(shares, out=shares)
    if a == -b or a == 0.0 or b == 0.0:
        return shares, a or b
    return a * shares + b * np.log(rest), 1.0


def _check_options(noise: Any, correction: str | None) -> None:
    if noise != "auto" and not (isinstance(noise, Real) and 0 <= float(noise) < np.inf):
        raise ValueError(f"noise must be 'auto' or a number from 0 up, not {noise!r}")
    if correction == "miller-madow":
        raise ValueError("correction='miller-madow' is meant for counts; use None or 'chance'")
    if correction not in (None, "chance"):
        raise ValueError(f"unknown correction {correction!r}; choose None or 'chance'")
