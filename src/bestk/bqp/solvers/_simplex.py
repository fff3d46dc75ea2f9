"""Quadratic programming feature selection: weights on the simplex, and the heaviest k items."""

from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh
from scipy.linalg.lapack import dpotrf

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import BQP, largest_entry
from bestk.bqp.relaxations.eigen import lanczos
from bestk.bqp.solvers._base import Needs, Run
from bestk.native.threads import calm_blas

OPERATIONS_OF_WEIGHTS = 100.0  # operations, see ``Budget``, of the weights, for each entry of Q
MAX_DENSE_EIGEN_ITEMS = 300  # up to this size LAPACK is as fast as Lanczos
MAX_FACTORED_ITEMS = 2500  # above it, a factor of the whole matrix takes longer than all the rest
SECONDS_OF_FACTOR = 1e-10  # times the cube of the number of items, about
MIN_RIDGE = 1e-9  # of the scale of A; copies of an item then share its weight


@dataclass(frozen=True)
class Simplex:
    """The k heaviest items of the best weights: maximise w'Qw over w >= 0, sum w = 1.

    A choice x of k items is the weight x / k on each, so x'Qx = k^2 w'Qw: the relaxation drops
    that weights are equal, and one ranking serves every k. Where w'Qw is not concave on
    sum w = 1, s |w|^2 is taken off with the least s that makes it so; among choices of k items
    this is a constant.

    Items without weight follow those with weight, by how little more worth would bring them in;
    ties go to the lowest index.

    I. Rodriguez-Lujan, R. Huerta, C. Elkan, C. Santa Cruz, "Quadratic programming feature
    selection", Journal of Machine Learning Research 11, 2010.

    Examples
    --------
    >>> Simplex().pick(BQP([[1.0, -2.0, 0.0], [-2.0, 0.9, 0.0], [0.0, 0.0, 0.5]], k=2), Run())
    array([0, 2])
    """

    name: ClassVar[str] = "simplex"
    needs: ClassVar[Needs] = "matrix"
    ranks: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling weight."""
        run.spend(OPERATIONS_OF_WEIGHTS * problem.n**2)
        with calm_blas():
            A = Centred(problem.Q, -2.0, deadline=run.part(0.3))
            w, prices = minimise(A, 2 * A.g, run.deadline)
        run.details.update(weights=w, shift=A.shift)
        return rank_by_weight(w, prices)[: problem.k]


def rank_by_weight(w: Floats, prices: Floats) -> Indices:
    """Items by falling weight, then by rising price; what rounding parts counts as equal."""
    weights = np.round(w / w.max(), 10)
    costs = np.round(prices / (prices.max() or 1.0), 10)
    return np.lexsort((costs, -weights))


@dataclass
class Centred:
    """A = c (M - g e' - e g') + shift I, where g makes all row sums of M - g e' - e g' zero.

    On sum w = 1, w'Mw is w'(M - g e' - e g')w + 2 g'w: only what M does between items counts. The
    shift is 0 where this is convex, and minus the least eigenvalue where it is not.
    """

    M: Floats
    c: float
    shift: float = 0.0
    deadline: float = inf  # of the eigenvalue, which is then as accurate as the time allows

    def __post_init__(self) -> None:
        sums = self.M.mean(axis=1)
        self.g = sums - sums.mean() / 2
        self.scale = abs(self.c) * largest_entry(self.M) or 1.0
        self.shift = MIN_RIDGE * self.scale
        n = len(self.M)  # of many items a factor takes long; of others, it fails if A is not convex
        if n > MAX_FACTORED_ITEMS or dpotrf(self.block(np.arange(n)).T, overwrite_a=1, clean=0)[1]:
            self.shift += max(0.0, self.shift - self._least())

    def __matmul__(self, x: Floats) -> Floats:
        centred = self.M @ x - self.g * x.sum() - float(self.g @ x)
        return self.c * centred + self.shift * x

    def block(self, items: Indices) -> Floats:
        """The rows and columns of those items, as a new array."""
        whole = len(items) == len(self.M)
        block = self.c * (self.M if whole else self.M[np.ix_(items, items)])
        g = self.c * self.g[items]
        block -= g[:, None]
        block -= g
        block.flat[:: len(items) + 1] += self.shift
        return block

    def _least(self) -> float:
        """The least eigenvalue of A."""
        n = len(self.M)
        if n <= MAX_DENSE_EIGEN_ITEMS:
            return float(eigvalsh(self.block(np.arange(n)), subset_by_index=[0, 0])[0])
        start = np.random.default_rng(0).standard_normal(n)
        accuracy = 1e-8 if n <= MAX_FACTORED_ITEMS else 1e-4
        least = float(lanczos(self, start, "SA", tol=accuracy, deadline=self.deadline)[0][0])
        if perf_counter() >= self.deadline:
            accuracy = 1e-3
        return least - 100 * accuracy * abs(least)  # Lanczos stays above it


def minimise(A: Centred, b: Floats, deadline: float = inf) -> tuple[Floats, Floats]:
    """Minimise w'Aw / 2 - b'w over w >= 0, sum w = 1: w, and the price of raising each item.

    An active-set method: blocks of items enter and leave as long as that lowers the objective;
    else one enters and the ratio test decides which leaves, which always lowers it.
    """
    likely = _likely_weights(A, b, deadline)
    w = _settle(A, b, likely > 0, deadline)
    if w is None:
        w = likely
    value = np.inf
    while True:
        slopes = A @ w - b
        now = float(w @ (slopes - b)) / 2
        prices = slopes - float(w @ slopes)
        small = 1e-11 * (float(np.abs(slopes).max()) + float(np.abs(b).max()))
        wanted = prices < -small
        if not wanted.any() or now >= value or perf_counter() >= deadline:
            prices[w > 0] = 0.0
            return w, np.maximum(prices, 0.0)
        value = now
        blocks = _settle(A, b, (w > 0) | wanted, deadline)
        if blocks is None:
            deadline = -inf
        elif float(blocks @ (A @ blocks)) / 2 - float(b @ blocks) < value:
            w = blocks
        else:
            w = _enter(A, b, w, int(np.argmin(prices)))


def _likely_weights(A: Centred, b: Floats, deadline: float) -> Floats:
    """Weights with the likely items of the answer, by projected gradients with momentum."""
    n = len(b)
    w = np.full(n, 1 / n)
    start = np.random.default_rng(0).standard_normal(n)
    for _ in range(8):
        start = A @ (start / np.linalg.norm(start))
    step = 0.8 / float(np.linalg.norm(start)) if start.any() else 1.0
    ahead, momentum = w, 1.0
    for _ in range(40 if n <= MAX_FACTORED_ITEMS else 20):
        if perf_counter() >= deadline:
            break
        moved = _project(ahead - step * (A @ ahead - b))
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / faster * (moved - w)
        w, momentum = moved, faster
    return w


def _settle(A: Centred, b: Floats, used: Mask, deadline: float = inf) -> Floats | None:
    """Solve on those items; drop all that come out negative, and again; None if time is up."""
    items = np.flatnonzero(used)
    while True:
        if perf_counter() + SECONDS_OF_FACTOR * len(items) ** 3 >= deadline:
            return None
        weights = _stationary(A, b, items)
        kept = weights > 0
        if kept.all():
            return _spread(weights, items, len(b))
        items = items[kept]


def _enter(A: Centred, b: Floats, w: Floats, item: int) -> Floats:
    """Let one item in; walk towards the best point of the set until an item comes down to 0."""
    items = np.union1d(np.flatnonzero(w), item)
    while True:
        target = _spread(_stationary(A, b, items), items, len(b))
        falling = items[target[items] <= 0]
        if not len(falling):
            return target
        reach = w[falling] / np.maximum(w[falling] - target[falling], np.finfo(float).tiny)
        w = w + float(reach.min()) * (target - w)
        out = falling[int(np.argmin(reach))]
        items = items[items != out]
        w[out] = 0.0


def _stationary(A: Centred, b: Floats, items: Indices) -> Floats:
    """Minimise over sum w = 1 on those items, of any sign."""
    factor = _factor(A.block(items))
    free, pull = cho_solve(factor, np.column_stack([b[items], np.ones(len(items))])).T
    weights = free + pull * ((1 - free.sum()) / pull.sum())
    return np.asarray(weights / weights.sum())  # rounding of large values apart, this is 1


def _factor(block: Floats) -> Any:
    """Cholesky; a block that rounding has made indefinite gets a larger ridge."""
    ridge = 0.0
    for _ in range(40):
        try:
            return cho_factor(block + ridge * np.eye(len(block)) if ridge else block)
        except LinAlgError:
            ridge = max(8 * ridge, 1e-12 * float(np.abs(block).max()))
    raise LinAlgError("the quadratic is not convex")


def _project(w: Floats) -> Floats:
    """The nearest point of the simplex."""
    falling = np.sort(w)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(w) + 1)
    return np.maximum(w - excess[np.flatnonzero(falling > excess)[-1]], 0.0)


def _spread(weights: Floats, items: Indices, n: int) -> Floats:
    w = np.zeros(n)
    w[items] = weights
    return w
