"""What a target explains of numeric columns: the terms that separate total from within.

The sums of products of two columns within y are those of their scores, less, for each term, a
weight times the entries of both columns. For classes there is a term for each: the sums of its
scores, over its size. For a number there are two: the sums of all scores, over the number of
samples, and the products with y about the mean, over those of y with itself.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bestk.codes import Target
from bestk.information._normal_scores import Kind, normal_scores

Floats = NDArray[np.float64]


class Columns(NamedTuple):
    """Scores, one row per column, and 1 where they are known, else 0."""

    z: Floats
    known: Floats


class Terms(NamedTuple):
    """Entries and weights of each term in each column."""

    entries: Floats
    weights: Floats
    groups: Floats  # parameters that y takes, for each column


class Given(Protocol):
    """A target to condition on."""

    entropy: float
    groups: int  # parameters it takes to explain a column
    order: Any  # of the samples
    weights: Floats  # of the terms where nothing is missing

    def terms(self, columns: Columns) -> Terms:
        """Terms of single columns."""

    def shared_terms(self, left: Columns, right: Columns) -> Iterator[tuple[Floats, ...]]:
        """Left entries, right entries, weights and groups of each pair, term by term."""


class GivenClass:
    """Classes; samples are sorted by class."""

    def __init__(self, target: Target) -> None:
        sizes = target.counts
        self.order = np.argsort(target.codes, kind="stable")
        self.groups = target.n_classes
        self.weights = 1.0 / sizes
        self.entropy = float(np.log(sizes.sum()) - (sizes * np.log(sizes)).sum() / sizes.sum())
        self._starts = np.cumsum(sizes) - sizes
        self._slices = [slice(s, s + size) for s, size in zip(self._starts, sizes, strict=True)]

    def terms(self, columns: Columns) -> Terms:
        """Sums of each class, over the samples of it that are known."""
        entries = np.add.reduceat(columns.z, self._starts, axis=1).T.copy()
        counts = np.add.reduceat(columns.known, self._starts, axis=1).T
        weights = np.broadcast_to(inverse(counts), entries.shape)
        return Terms(entries, weights, (counts > 0).sum(axis=0).astype(float))

    def shared_terms(self, left: Columns, right: Columns) -> Iterator[tuple[Floats, ...]]:
        """Sums of each class over the rows that both columns have."""
        for rows in self._slices:
            first, second = left.known[:, rows], right.known[:, rows]
            count = first @ second.T
            entries = left.z[:, rows] @ second.T, first @ right.z[:, rows].T
            yield *entries, inverse(count), (count > 0).astype(float)


class GivenNumber:
    """A number for each sample, as scores like those of the columns."""

    def __init__(self, y: NDArray[Any], kind: Kind) -> None:
        self.order = slice(None)
        self.groups = 2
        self.entropy = float(0.5 * np.log(2 * np.pi * np.e))
        self._y = normal_scores(y[:, np.newaxis], kind).values[0]
        m, total, squares = len(y), self._y.sum(), self._y @ self._y
        if squares == 0.0:
            raise ValueError(f"y is constant, {y[0]}; at least two different values are needed")
        self.weights = np.array([1.0 / m, 1.0 / (squares - total * total * (1.0 / m))])

    def terms(self, columns: Columns) -> Terms:
        """Sums, and products with y about the mean."""
        z, known = columns
        y = self._y
        parts = known.sum(axis=1), z.sum(axis=1), known @ y, known @ (y * y), z @ y
        count, s, s_y, yy, sy = (part + np.zeros(len(z)) for part in parts)
        n_inverse = inverse(count)
        spread = about_mean(yy, s_y, n_inverse)
        entries = np.array([s, sy - s * s_y * n_inverse])
        weights = np.array([n_inverse, inverse(spread)])
        return Terms(entries, weights, np.where(spread > 0, 2.0, 1.0))

    def shared_terms(self, left: Columns, right: Columns) -> Iterator[tuple[Floats, ...]]:
        """Sums and products over the rows that both columns have."""
        y, here = self._y, right.known.T
        n_inverse = inverse(left.known @ here)
        s, s_y, yy = left.z @ here, (left.known * y) @ here, (left.known * (y * y)) @ here
        sy, t, ty = (left.z * y) @ here, left.known @ right.z.T, left.known @ (right.z * y).T
        yield s, t, n_inverse, np.ones_like(s)
        spread = about_mean(yy, s_y, n_inverse)
        entries = sy - s * s_y * n_inverse, ty - t * s_y * n_inverse
        yield *entries, inverse(spread), (spread > 0).astype(float)


def read_given(target: Target | NDArray[Any], scores: Kind, m: int) -> Given:
    """Classes or numbers for m samples."""
    n_labels = len(target.codes) if isinstance(target, Target) else len(target)
    if n_labels != m:
        raise ValueError(f"the target has {n_labels} values but X has {m} rows; give one each")
    return GivenClass(target) if isinstance(target, Target) else GivenNumber(target, scores)


def inverse(values: Floats) -> Floats:
    """1 / values; 0 for those that are not positive."""
    positive = values > 0
    return np.divide(1.0, values, out=np.zeros_like(values), where=positive)


class Shared(NamedTuple):
    """Pairs of columns over the rows that both have."""

    counts: Floats
    groups: Floats  # parameters that y takes
    total: list[Floats]  # sums of products ij, ii and jj about the mean
    within: list[Floats]  # the same within y

    @classmethod
    def of(cls, left: Columns, right: Columns, given: Given) -> "Shared":
        """Sum over shared rows: products with 0 and 1."""
        here, there = left.known, right.known.T
        counts = here @ there
        squares = (left.z * left.z) @ there, here @ (right.z * right.z).T
        total = [left.z @ right.z.T, *squares]
        within = [part.copy() for part in total]
        _subtract(total, left.z @ there, here @ right.z.T, inverse(counts))
        groups = np.zeros_like(counts)
        for first, second, weight, present in given.shared_terms(left, right):
            _subtract(within, first, second, weight)
            groups += present
        return cls(counts, groups, total, within)


def _subtract(sums: list[Floats], left: Floats, right: Floats, weight: Floats) -> None:
    """Take one term off sums of products ij, ii and jj."""
    for part, a, b in zip(sums, (left, left, right), (right, left, right), strict=True):
        part -= a * b * weight


def about_mean(squares: Floats, sums: Floats, n_inverse: Floats) -> Floats:
    """Sums of squares about the mean; 0 for equal values, of which rounding may leave a trace."""
    left = squares - sums * sums * n_inverse
    return np.where(left > 4 * np.finfo(np.float64).eps * squares, left, 0.0)
