"""Information between numeric columns and a target, from covariances: nothing is discretised."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from bestk.codes import Target
from bestk.information._gaussian_kernels import Formula, Side, fill_complete, fill_shared
from bestk.information._gaussian_target import (
    Columns,
    Given,
    GivenClass,
    GivenNumber,
    inverse,
    share_rows,
)
from bestk.information._measures import Measure
from bestk.information._normal_scores import Kind, normal_scores

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Part = Indices | slice
SMALLEST_NOISE = 1e-10  # keeps rounding out of the determinants
TILE = 2**21  # pairs whose products are held at once
TILE_OF_SHARED = 2**18  # the same where each pair has rows of its own
WIDTH = 8192
HALF_LOG = 0.5 * np.log(2 * np.pi * np.e)


class Singles(NamedTuple):
    """What is known of each column by itself."""

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
        about six times the work.
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
        self.n_features = values.shape[1]
        self._given = _read_given(target, scores, len(values))
        order, impute = self._given.order, missing == "impute"
        self._scores = normal_scores(values, scores, order=order, impute=impute)
        unit = self._scores.one**2
        self._noise = (0.0, unit) if noise == "auto" else (max(noise, SMALLEST_NOISE) * unit, 0.0)
        self._keep = float(np.sqrt(1.0 - shrinkage))
        self._chance = None
        if correction == "chance":
            self._chance = _expected_dependence(len(values), self._given.groups)
        self._single = self._estimate_singles()

    def singles(self) -> tuple[Floats, Floats, float]:
        """H(x) and H(x, y) of each feature, and H(y)."""
        return self._single.x, self._single.xy, self._given.entropy

    def fill(
        self,
        measure: Measure,
        out: NDArray[Any],
        rows: Indices | None = None,
        columns: Indices | None = None,
        lowest: float = -np.inf,
    ) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        formula, terms = self._formula(measure, lowest)
        area = TILE if self._scores.known is None else TILE_OF_SHARED
        room = np.empty(min(out.size, area))
        mirror = rows is None and columns is None
        for top, bottom, first, last in _tiles(out.shape, area, mirror):
            left, right = _part(rows, top, bottom), _part(columns, first, last)
            to = (out, top, first, bottom if mirror else out.shape[1])
            sides = self._side(left, terms), self._side(right, terms)
            if self._complete(left) and self._complete(right):
                z = self._scores.values
                products = room[: (bottom - top) * (last - first)].reshape(bottom - top, -1)
                np.matmul(z[left], z[right].T, out=products)
                fill_complete(products, *sides, formula, *to)
            else:
                shared = share_rows(self._columns(left), self._columns(right), self._given)
                chance = np.zeros(1) if self._chance is None else self._chance
                fill_shared(shared, *sides, formula, self._noise, self._keep, chance, *to)

    def _formula(self, measure: Measure, lowest: float) -> tuple[Formula, tuple[Floats, ...]]:
        """What belongs to pairs; to features as rows, as columns, and on the diagonal."""
        x, xy, y = self.singles()
        row = (measure.xi + measure.xx) * x + (measure.xiy + measure.xxy) * xy
        column = (measure.xj + measure.xx) * x + (measure.xjy + measure.xxy) * xy
        alone = measure.xi + measure.xj + measure.xx, measure.xiy + measure.xjy + measure.xxy
        diagonal = alone[0] * x + measure.y * y + alone[1] * xy
        m, chance = self._scores.values.shape[1], 0.0
        if self._chance is not None:
            excess = self._chance[m - self._given.groups] - self._chance[m - 1]
            chance = 2.0 * (0.5 * measure.xxy) * float(excess)
        constant = (measure.y - measure.xxy) * y
        weights = (0.5 * measure.xx, 0.5 * measure.xxy, constant, chance, lowest)
        return Formula(*weights, 1.0 / m, self._given.weights), (row, column, diagonal)

    def _side(self, features: Part, terms: tuple[Floats, ...]) -> Side:
        single, everyone = self._single, np.arange(self.n_features)
        entries = np.ascontiguousarray(single.terms[:, features])
        vectors = (single.scale, single.scale_within, single.varies, *terms)
        chosen = (vector[features] for vector in vectors)
        return Side(everyone[features], single.sums[features], entries, *chosen)

    def _complete(self, features: Part) -> bool:
        known = self._scores.known
        return known is None or bool(known[features].all())

    def _columns(self, features: Part) -> Columns:
        z, known = self._scores.values[features], self._scores.known
        if known is None:
            return Columns(z, np.ones((1, z.shape[1])))
        return Columns(z, known[features].astype(np.float64))

    def _estimate_singles(self) -> Singles:
        scores, columns = self._scores, self._columns(slice(None))
        entries, weights, groups = self._given.terms(columns)
        sums, counts = columns.z.sum(axis=1), scores.counts
        squares = np.einsum("ij,ij->i", columns.z, columns.z)
        total, within = squares - sums * sums * inverse(counts), squares.copy()
        for entry, weight in zip(entries, weights, strict=True):
            within -= entry * entry * weight
        rows = np.maximum(counts, 1.0)
        noise = self._noise[0] * rows + self._noise[1]
        unit, varies = rows * scores.one**2, (squares > 0) * 1.0
        x = HALF_LOG + 0.5 * np.log((total + noise) / unit)
        xy = HALF_LOG + 0.5 * np.log((within + noise) / unit) + self._given.entropy
        if self._chance is not None:
            xy += varies * _expected_information(counts, groups)
        scales = self._keep / np.sqrt(total + noise), self._keep / np.sqrt(within + noise)
        return Singles(sums, entries, *scales, varies, x, xy)


def _expected_information(counts: Floats, groups: Floats) -> Floats:
    """E[I(x; y)] for a Gaussian x and random labels: W/T is beta((m - c) / 2, (c - 1) / 2)."""
    inner = np.maximum(counts - groups, 1.0)
    return np.asarray(0.5 * (digamma(np.maximum(counts - 1, inner) / 2) - digamma(inner / 2)))


def _expected_dependence(m: int, groups: int) -> Floats:
    """E[-1/2 log(1 - r^2)] of independent Gaussians, for 0..m degrees of freedom.

    It is infinite for one degree of freedom or none, which take the value for two.
    """
    if m < groups + 2:
        raise ValueError(
            f"correction='chance' needs at least {groups + 2} samples, two more than classes, "
            f"not {m}; use correction=None"
        )
    degrees = np.maximum(np.arange(m + 1), 2)
    return np.asarray(0.5 * (digamma(degrees / 2) - digamma((degrees - 1) / 2)))


def _read_given(target: Target | NDArray[Any], scores: Kind, m: int) -> Given:
    n_labels = len(target.codes) if isinstance(target, Target) else len(target)
    if n_labels != m:
        raise ValueError(f"the target has {n_labels} values but X has {m} rows; give one each")
    return GivenClass(target) if isinstance(target, Target) else GivenNumber(target, scores)


def _part(features: Indices | None, start: int, stop: int) -> Part:
    return slice(start, stop) if features is None else features[start:stop]


def _tiles(shape: tuple[int, ...], area: int, mirror: bool) -> Iterator[tuple[int, int, int, int]]:
    """First and last row and column of each tile; above the diagonal only if the rest mirrors."""
    n_rows, n_columns = shape
    width = max(min(WIDTH, n_columns), min(n_columns, area // max(1, n_rows)), 1)
    height = max(1, area // width)
    for top in range(0, n_rows, height):
        bottom = min(top + height, n_rows)
        for first in range(top if mirror else 0, n_columns, width):
            yield top, bottom, first, min(first + width, n_columns)


def _check_options(noise: Any, shrinkage: float, missing: str, correction: str | None) -> None:
    if missing not in ("impute", "pairwise"):
        raise ValueError(f"unknown missing={missing!r}; choose 'impute' or 'pairwise'")
    if noise != "auto" and not (isinstance(noise, float | int) and 0 <= noise < np.inf):
        raise ValueError(f"noise must be 'auto' or a number from 0 up, not {noise!r}")
    if not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must lie between 0 and 1, not {shrinkage}")
    if correction == "miller-madow":
        raise ValueError("correction='miller-madow' is meant for counts; use None or 'chance'")
    if correction not in (None, "chance"):
        raise ValueError(f"unknown correction {correction!r}; choose None or 'chance'")
