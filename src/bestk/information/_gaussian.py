"""Information between numeric columns and a target, from covariances: nothing is discretised."""

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk.codes import Target
from bestk.information._gaussian_chance import Chance
from bestk.information._gaussian_kernels import Side, correlate, write, write_mirrored
from bestk.information._gaussian_target import Columns, Shared, inverse, read_given
from bestk.information._measures import Measure
from bestk.information._normal_scores import Kind, normal_scores
from bestk.information._tiles import Part, Tile, cut, in_threads, part_of

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
SMALLEST_NOISE = 1e-10  # keeps rounding out of the determinants
COMPLETE_TILE, SHARED_TILE = (384, 384), (128, 128)
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
        Finite numbers; NaN = missing.
    target : Target or array of shape (n_samples,)
        Classes, or a finite number for each sample, which is turned into scores as well.
    scores : {"rank", "standard"}
        Normal quantiles of (rank - 1/2) / m, or plain standardisation.
    noise : "auto" or float
        Variance of the noise, where that of a column is 1; ``"auto"`` is 1 / m, which vanishes
        faster than the error of the estimate. At least 1e-10.
    shrinkage : float
        Part of each covariance that is taken away, in T and in W, from 0 to 1. Copies then look
        as if they were not: noise does the same work without that.
    missing : {"impute", "pairwise"}
        ``"impute"``: missing scores are 0, the mean. A column counts for what it tells where it
        is known, all laws of information hold, and it costs nothing. ``"pairwise"``: each
        column from its known values and each correlation from the rows both columns have:
        right on average if values are missing by chance, but erratic where little is known, and
        about ten times the work.
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
        shrinkage: float = 0.0,
        missing: Literal["impute", "pairwise"] = "impute",
        correction: str | None = None,
    ) -> None:
        _check_options(noise, shrinkage, missing, correction)
        m, self.n_features = values.shape
        self._given = given = read_given(target, scores, m)
        self._scores = normal_scores(values, scores, order=given.order, impute=missing == "impute")
        known, unit = self._scores.known, self._scores.one**2
        self._complete = np.ones(self.n_features, dtype=bool)
        if known is not None:
            known.all(axis=1, out=self._complete)
        self._noise = (0.0, unit) if noise == "auto" else (max(noise, SMALLEST_NOISE) * unit, 0.0)
        self._keep = float(np.sqrt(1.0 - shrinkage))
        self._chance = Chance(m, given.groups) if correction == "chance" else None
        self._single = self._estimate_singles()

    @property
    def scores(self) -> Floats:
        """The columns as scores, one row each, in the order of the target's classes."""
        return self._scores.values

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._single.x, self._single.xy, self._given.entropy

    def copies(self) -> Floats:
        """I(x; x') of each feature and a copy of it, whose noise is its own."""
        rows = np.maximum(self._scores.counts, 1.0)
        noise = (self._noise[0] * rows + self._noise[1]) / (rows * self._scores.one**2)
        total = np.exp(2 * (self._single.x - HALF_LOG))
        r = self._keep**2 * self._single.varies * (1.0 - noise / total)
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

        size = COMPLETE_TILE if self._scores.known is None else SHARED_TILE
        in_threads(work, list(cut(out.shape, size, mirror)))

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
        if self._complete[rows].all() and self._complete[columns].all():
            shares, chance = self._correlate(a, b, rows, columns, left, right)
        else:
            shares, chance = self._correlate_shared(a, b, rows, columns)
        part, scale = _weighted_logs(a, b, *shares)
        if self._chance is None:
            return part, scale
        part *= scale
        part += measure.xxy * chance * np.outer(left.varies, right.varies)
        return part, 1.0

    def _correlate(
        self, a: float, b: float, rows: Part, columns: Part, left: Side, right: Side
    ) -> tuple[tuple[Floats, Floats], Any]:
        """Shares of variance to take logarithms of, and what chance adds, from all rows."""
        z, given = self._scores.values, self._given
        m = z.shape[1]
        shares = z[rows] @ z[columns].T
        parts = correlate(shares, left, right, 1.0 / m, given.weights, a, b)
        return parts, self._chance and self._chance.excess(m, given.groups)

    def _correlate_shared(
        self, a: float, b: float, rows: Part, columns: Part
    ) -> tuple[tuple[Floats, Floats], Any]:
        """The same from the rows that both columns have."""
        shared = Shared.of(self._columns(rows), self._columns(columns), self._given)
        noise = self._noise[0] * np.maximum(shared.counts, 1.0) + self._noise[1]
        total, within = (_free(sums, noise, self._keep) for sums in (shared.total, shared.within))
        shares = total / within if a == -b else total if a else within
        chance = self._chance and self._chance.excess(shared.counts, shared.groups)
        return (shares, within), chance

    def _side(self, features: Part, terms: tuple[Floats, ...]) -> Side:
        single, everyone = self._single, np.arange(self.n_features)
        entries = np.ascontiguousarray(single.terms[:, features])
        vectors = (single.scale, single.scale_within, single.varies, *terms)
        chosen = (vector[features] for vector in vectors)
        return Side(everyone[features], single.sums[features], entries, *chosen)

    def _columns(self, features: Part) -> Columns:
        z, known = self._scores.values[features], self._scores.known
        if known is None:
            return Columns(z, np.ones((1, z.shape[1])))
        return Columns(z, known[features].astype(np.float64))

    def _estimate_singles(self) -> Singles:
        columns, counts = self._columns(slice(None)), self._scores.counts
        entries, weights, groups = self._given.terms(columns)
        sums, squares = columns.z.sum(axis=1), np.einsum("ij,ij->i", columns.z, columns.z)
        total, within = squares - sums * sums * inverse(counts), squares.copy()
        for entry, weight in zip(entries, weights, strict=True):
            within -= entry * entry * weight
        rows = np.maximum(counts, 1.0)
        for spread in (total, within):
            spread += self._noise[0] * rows + self._noise[1]
        unit, varies = rows * self._scores.one**2, (squares > 0) * 1.0
        x = HALF_LOG + 0.5 * np.log(total / unit)
        xy = HALF_LOG + 0.5 * np.log(within / unit) + self._given.entropy
        if self._chance is not None:
            xy += varies * self._chance.information(counts, groups)
        scales = self._keep / np.sqrt(total), self._keep / np.sqrt(within)
        return Singles(sums, entries, *scales, varies, x, xy)


def _free(sums: list[Floats], noise: Floats, keep: float) -> Floats:
    """1 - r^2 from sums of products ij, ii and jj."""
    both, first, second = sums
    r = keep / np.sqrt(first + noise) * (keep / np.sqrt(second + noise)) * both
    return 1.0 - r * r


def _weighted_logs(a: float, b: float, shares: Floats, rest: Floats) -> tuple[Floats, float]:
    """``a log(1 - r^2) + b log(1 - s^2)``, but for a factor; see ``correlate``."""
    np.log(shares, out=shares)
    if a == -b or a == 0.0 or b == 0.0:
        return shares, a or b
    return a * shares + b * np.log(rest), 1.0


def _check_options(noise: Any, shrinkage: float, missing: str, correction: str | None) -> None:
    if missing not in ("impute", "pairwise"):
        raise ValueError(f"unknown missing={missing!r}; choose 'impute' or 'pairwise'")
    if noise != "auto" and not (isinstance(noise, Real) and 0 <= float(noise) < np.inf):
        raise ValueError(f"noise must be 'auto' or a number from 0 up, not {noise!r}")
    if not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must lie between 0 and 1, not {shrinkage}")
    if correction == "miller-madow":
        raise ValueError("correction='miller-madow' is meant for counts; use None or 'chance'")
    if correction not in (None, "chance"):
        raise ValueError(f"unknown correction {correction!r}; choose None or 'chance'")
