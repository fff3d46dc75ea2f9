"""What a target explains of numeric columns: the terms that separate total from within.

The sums of products of two columns within y are those of their scores, less, for each term, a
weight times the entries of both columns. For classes there is a term for each: the sums of its
scores, over its size. For a number there are two: the sums of all scores, over the number of
samples, and the products with y about the mean, over those of y with itself.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Target
from bestk.information._normal_scores import Kind, normal_scores

Floats = NDArray[np.float64]


class Explained(Protocol):
    """What a target explains of columns."""

    entropy: float
    groups: int  # parameters it takes to explain a column
    weights: Floats  # of the terms


class Given(Explained, Protocol):
    """A target to condition on."""

    order: Any  # of the samples

    def terms(self, z: Floats) -> Floats:
        """Entries of each term in each column, of which ``z`` has the scores, a row each."""


class GivenClass:
    """Classes; samples are sorted by class."""

    def __init__(self, target: Target) -> None:
        sizes = target.counts
        self.order = np.argsort(target.codes, kind="stable")
        self.groups = target.n_classes
        self.weights = 1.0 / sizes
        self.entropy = float(np.log(sizes.sum()) - (sizes * np.log(sizes)).sum() / sizes.sum())
        self._starts = np.cumsum(sizes) - sizes

    def terms(self, z: Floats) -> Floats:
        """Sums of each class."""
        return np.add.reduceat(z, self._starts, axis=1).T.copy()


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

    def terms(self, z: Floats) -> Floats:
        """Sums, and products with y about the mean."""
        sums = z.sum(axis=1)
        return np.array([sums, z @ self._y - sums * self._y.sum() * (1.0 / len(self._y))])


def read_given(target: Target | NDArray[Any], scores: Kind, m: int) -> Given:
    """Classes or numbers for m samples."""
    n_labels = len(target.codes) if isinstance(target, Target) else len(target)
    if n_labels != m:
        raise ValueError(f"the target has {n_labels} values but X has {m} rows; give one each")
    return GivenClass(target) if isinstance(target, Target) else GivenNumber(target, scores)
