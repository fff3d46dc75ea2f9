"""Covariances of all columns with one of them, in total and within the target."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.data.codes import Target
from bestk.information._scores import (
    ClassTarget,
    NumberTarget,
    normal_scores,
    read_given,
    unit_score,
)

PRIOR_ROWS = 10.0  # rows of the mean target that are added to those of each category


class Covariances:
    """``T = cov(x)`` and ``W = cov(x | y)`` of standardised columns, a column at a time.

    Parameters
    ----------
    parts : sequence of (places, scores)
        Columns of mean 0 and variance 1, a row of ``scores`` each, in whole multiples of
        ``1 / one``: their products add up exactly, in any order.
    given : ClassTarget or NumberTarget
        The target.
    one : float
        The score of one standard deviation.
    """

    def __init__(
        self,
        parts: Sequence[tuple[Indices, Floats]],
        given: ClassTarget | NumberTarget,
        one: float,
    ) -> None:
        self._parts = list(parts)
        self.n_features = sum(len(places) for places, _ in parts)
        self.n_samples = parts[0][1].shape[1]
        self._unit = self.n_samples * one * one
        explained = [given.explain(z) for _, z in self._parts]
        self.n_groups, self._weights = explained[0].groups, explained[0].weights
        self._sums = np.empty(self.n_features)
        self._entries = np.empty((len(self._weights), self.n_features))
        squares = np.empty(self.n_features)
        for (places, z), own in zip(self._parts, explained, strict=True):
            self._sums[places] = z.sum(axis=1)
            self._entries[:, places] = own.entries
            squares[places] = np.einsum("ij,ij->i", z, z)
        self.total = (squares - self._sums**2 / self.n_samples) / self._unit
        self.within = squares.copy()
        for weight, entry in zip(self._weights, self._entries, strict=True):
            self.within -= weight * entry**2
        self.within /= self._unit
        self._kept: dict[int, tuple[Floats, Floats]] = {}

    def column(self, j: int) -> tuple[Floats, Floats]:
        """``T[:, j]`` and ``W[:, j]``."""
        if j not in self._kept:
            own, products = self._row(j), np.empty(self.n_features)
            for places, z in self._parts:
                products[places] = z @ own
            total = products - self._sums * (self._sums[j] / self.n_samples)
            within = products.copy()  # term by term: the same bits on any number of threads
            for weight, entry in zip(self._weights, self._entries, strict=True):
                within -= weight * entry[j] * entry
            self._kept[j] = total / self._unit, within / self._unit
        return self._kept[j]

    def _row(self, j: int) -> Floats:
        for places, z in self._parts:
            place = np.searchsorted(places, j)
            if place < len(places) and places[place] == j:
                return z[place]
        raise IndexError(j)


def measure_covariances(
    numbers: tuple[Indices, Floats], categories: tuple[Indices, Any], target: Any
) -> Covariances:
    """Covariances of numeric columns, given as scores, and of categories, by their mean target."""
    m = numbers[1].shape[1]
    given = read_given(target, "standard", m)
    parts = [numbers] if len(numbers[0]) else []
    places, codes = categories
    if len(places):
        means = np.array([_mean_target(row.astype(np.int64), target) for row in codes]).T
        scored = normal_scores(means, "standard", order=given.order)
        parts.append((places, scored.values))
    return Covariances(parts, given, unit_score(m))


def _mean_target(codes: Array, target: Target | Floats) -> Floats:
    """The mean target of each row's category, shrunk to the mean of all rows.

    With several classes it is the direction of class shares in which categories differ most.
    """
    counts = np.bincount(codes).astype(np.float64)
    if not isinstance(target, Target):
        sums = np.bincount(codes, target - target.mean())
        return np.asarray((sums / (counts + PRIOR_ROWS))[codes])
    shares = target.counts / target.counts.sum()
    joint = np.bincount(codes * target.n_classes + target.codes,
                        minlength=len(counts) * target.n_classes)  # fmt: skip
    weights = (counts + PRIOR_ROWS)[:, np.newaxis] * np.sqrt(shares)
    excess = (joint.reshape(len(counts), -1) - np.outer(counts, shares)) / weights
    _, _, directions = np.linalg.svd(np.sqrt(counts)[:, np.newaxis] * excess, full_matrices=False)
    direction = directions[0] * np.sign(directions[0][np.argmax(np.abs(directions[0]))])
    return np.asarray((excess @ direction)[codes])
