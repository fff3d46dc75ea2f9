"""Quadratic programming feature selection: weights on the simplex, and the heaviest k items."""

from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh
from scipy.linalg.lapack import dpotrf

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import BQP, largest_entry
from bestk.bqp.relaxations.eigen import lanczos
from bestk.bqp.solvers._base import Run, Solver
from bestk.native.threads import calm_blas

# Operations, see ``Budget``, of the weights, for each entry of Q.
OPERATIONS_OF_WEIGHTS = 100.0
# Up to so many items LAPACK finds the least eigenvalue as fast as the Lanczos method.
MAX_DENSE_EIGEN_ITEMS = 300
# With more items, a factor of the whole matrix takes longer than all the rest.
MAX_FACTORED_ITEMS = 2500
# Seconds of a Cholesky factor, times the cube of the number of items, about.
SECONDS_OF_FACTOR = 1e-10
# Added to the diagonal of A, relative to its entries; copies of an item then share its weight.
MIN_RIDGE = 1e-9
# A ridge for a block that is indefinite by rounding: the first one, relative to the largest entry
# of the block, how it grows, and how often it is tried.
FIRST_RIDGE = 1e-12
RIDGE_GROWTH = 8
MAX_RIDGES = 40
# A slope below this, relative to the sizes of its terms, is rounding.
MIN_SLOPE = 1e-11
# The smallest normal number: a descent below it counts as this, so that nothing is divided by 0.
TINY = np.finfo(np.float64).tiny
# Digits of weights and prices; beyond them, items are equal.
DIGITS = 10
# Steps to guess which items have weight: of few items, and of many.
STEPS_OF_FEW = 40
STEPS_OF_MANY = 20
# Products with A that estimate its largest eigenvalue.
POWER_STEPS = 8

# What scipy's cho_factor returns: a triangular factor, and whether it is the lower one.
CholeskyFactor: TypeAlias = tuple[Floats, bool]


@dataclass(frozen=True)
class Simplex(Solver):
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
    ranks: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling weight."""
        run.spend(OPERATIONS_OF_WEIGHTS * problem.n**2)
        with calm_blas():
            A = Centred(problem.matrix, -2.0, deadline=run.deadline_after(0.3))
            w, prices = minimise(A, 2 * A.g, run.deadline)
        run.details["weights"] = w
        run.details["shift"] = A.shift
        return rank_by_weight(w, prices)[: problem.k]


def rank_by_weight(w: Floats, prices: Floats) -> Indices:
    """Items by falling weight, then by rising price; what differs by rounding counts as equal."""
    weights = np.round(w / w.max(), DIGITS)
    costs = np.round(prices / (prices.max() or 1.0), DIGITS)
    return np.lexsort((costs, -weights))


class Centred:
    """A = c (M - g e' - e g') + shift I, where g makes all row sums of M - g e' - e g' zero.

    On sum w = 1, w'Mw is w'(M - g e' - e g')w + 2 g'w: only what M does between items counts. The
    shift is 0 where this is convex, and minus the least eigenvalue where it is not.
    """

    def __init__(self, M: Floats, c: float, deadline: float = inf) -> None:
        n = len(M)
        self.M = M
        self.c = c
        self.deadline = deadline
        """Until when the least eigenvalue is made more accurate."""
        means = M.mean(axis=1)
        self.g = means - means.mean() / 2
        scale = abs(c) * largest_entry(M) or 1.0
        self.shift = MIN_RIDGE * scale
        # Of many items, a factor takes long; of others, it tells whether A is convex as it is.
        if n > MAX_FACTORED_ITEMS or not self._has_factor():
            self.shift += max(0.0, self.shift - self._least_eigenvalue())

    def __matmul__(self, x: Floats) -> Floats:
        along = float(self.g @ x)
        centred = self.M @ x - self.g * x.sum() - along
        return self.c * centred + self.shift * x

    def block(self, items: Indices) -> Floats:
        """The rows and columns of those items, as a new array."""
        is_all = len(items) == len(self.M)
        entries = self.M if is_all else self.M[np.ix_(items, items)]
        block = self.c * entries
        g = self.c * self.g[items]
        block -= g[:, None]
        block -= g
        block.flat[:: len(items) + 1] += self.shift
        return block

    def _has_factor(self) -> bool:
        """Whether A has a Cholesky factor, and so is positive definite."""
        whole = self.block(np.arange(len(self.M)))
        _, failed = dpotrf(whole.T, overwrite_a=1, clean=0)
        return not failed

    def _least_eigenvalue(self) -> float:
        """The least eigenvalue of A, or a little below it."""
        n = len(self.M)
        if n <= MAX_DENSE_EIGEN_ITEMS:
            whole = self.block(np.arange(n))
            return float(eigvalsh(whole, subset_by_index=[0, 0])[0])
        start = np.random.default_rng(0).standard_normal(n)
        accuracy = 1e-8 if n <= MAX_FACTORED_ITEMS else 1e-4
        values, _ = lanczos(
            self,
            start,
            "SA",
            tol=accuracy,
            deadline=self.deadline,
        )
        least = float(values[0])
        if perf_counter() >= self.deadline:
            accuracy = 1e-3
        # The Lanczos method stays above the least eigenvalue.
        return least - 100 * accuracy * abs(least)


def minimise(A: Centred, b: Floats, deadline: float = inf) -> tuple[Floats, Floats]:
    """Minimise w'Aw / 2 - b'w over w >= 0, sum w = 1.

    An active-set method: blocks of items enter and leave as long as that lowers the objective;
    else one enters and the ratio test decides which leaves, which always lowers it.

    Returns w, and the price of each item: by how much the objective would rise with its weight.
    """
    likely = _likely_weights(A, b, deadline)
    w = _solve_on(A, b, likely > 0, deadline)
    if w is None:
        w = likely
    last_value = np.inf
    while True:
        slopes = A @ w - b
        value = float(w @ (slopes - b)) / 2
        prices = slopes - float(w @ slopes)
        size = float(np.abs(slopes).max()) + float(np.abs(b).max())
        rounding = MIN_SLOPE * size
        is_wanted = prices < -rounding
        if not is_wanted.any() or value >= last_value or perf_counter() >= deadline:
            prices[w > 0] = 0.0
            return w, np.maximum(prices, 0.0)
        last_value = value
        with_all = _solve_on(A, b, (w > 0) | is_wanted, deadline)
        if with_all is None:
            deadline = -inf
        elif _objective(A, b, with_all) < value:
            w = with_all
        else:
            w = _enter(A, b, w, int(np.argmin(prices)))


def _likely_weights(A: Centred, b: Floats, deadline: float) -> Floats:
    """Weights with the likely items of the answer, by projected gradients with momentum."""
    n = len(b)
    # A few products turn a random vector towards the largest eigenvalue, which limits the step.
    vector = np.random.default_rng(0).standard_normal(n)
    for _ in range(POWER_STEPS):
        vector = A @ (vector / np.linalg.norm(vector))
    step = 0.8 / float(np.linalg.norm(vector)) if vector.any() else 1.0
    w = np.full(n, 1 / n)
    ahead = w
    momentum = 1.0
    for _ in range(STEPS_OF_FEW if n <= MAX_FACTORED_ITEMS else STEPS_OF_MANY):
        if perf_counter() >= deadline:
            break
        moved = _project(ahead - step * (A @ ahead - b))
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / next_momentum * (moved - w)
        w = moved
        momentum = next_momentum
    return w


def _objective(A: Centred, b: Floats, w: Floats) -> float:
    """The objective of the minimisation: w'Aw / 2 - b'w."""
    square = float(w @ (A @ w))
    return square / 2 - float(b @ w)


def _solve_on(
    A: Centred,
    b: Floats,
    is_used: Mask,
    deadline: float = inf,
) -> Floats | None:
    """Solve on those items; drop all that come out negative, and again; None if time is up."""
    items = np.flatnonzero(is_used)
    while True:
        if perf_counter() + SECONDS_OF_FACTOR * len(items) ** 3 >= deadline:
            return None
        weights = _stationary(A, b, items)
        is_positive = weights > 0
        if is_positive.all():
            return _spread(weights, items, len(b))
        items = items[is_positive]


def _enter(A: Centred, b: Floats, w: Floats, item: int) -> Floats:
    """Let one item in; walk towards the best point of the set until an item comes down to 0."""
    items = np.union1d(np.flatnonzero(w), item)
    while True:
        target = _spread(_stationary(A, b, items), items, len(b))
        falling = items[target[items] <= 0]
        if not len(falling):
            return target
        descent = w[falling] - target[falling]
        reach = w[falling] / np.maximum(descent, TINY)
        w = w + float(reach.min()) * (target - w)
        dropped = falling[int(np.argmin(reach))]
        items = items[items != dropped]
        w[dropped] = 0.0


def _stationary(A: Centred, b: Floats, items: Indices) -> Floats:
    """The weights of those items, of any sign and sum 1, that minimise the objective."""
    factor = _factor(A.block(items))
    right_sides = np.column_stack([b[items], np.ones(len(items))])
    free, pull = cho_solve(factor, right_sides).T
    missing = 1 - free.sum()
    weights = free + pull * (missing / pull.sum())
    return np.asarray(weights / weights.sum())  # rounding of large values apart, the sum is 1


def _factor(block: Floats) -> CholeskyFactor:
    """Cholesky; a block that rounding has made indefinite gets a larger ridge."""
    first_ridge = FIRST_RIDGE * float(np.abs(block).max())
    ridge = 0.0
    for _ in range(MAX_RIDGES):
        with_ridge = block + ridge * np.eye(len(block)) if ridge else block
        try:
            factor: CholeskyFactor = cho_factor(with_ridge)
        except LinAlgError:
            ridge = max(RIDGE_GROWTH * ridge, first_ridge)
        else:
            return factor
    raise LinAlgError("the quadratic is not convex")


def _project(w: Floats) -> Floats:
    """The nearest point of the simplex."""
    falling = np.sort(w)[::-1]
    counts = np.arange(1, len(w) + 1)
    # With the first c weights above 0, all of them are shifted by shifts[c - 1].
    shifts = (np.cumsum(falling) - 1) / counts
    last = np.flatnonzero(falling > shifts)[-1]
    shift = shifts[last]
    return np.maximum(w - shift, 0.0)


def _spread(weights: Floats, items: Indices, n: int) -> Floats:
    """The weights of some of n items, and 0 for the others."""
    w = np.zeros(n)
    w[items] = weights
    return w
