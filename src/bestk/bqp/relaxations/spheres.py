"""The semidefinite relaxation by a low-rank factor: a point on many spheres, moved uphill."""

from collections import deque
from dataclasses import dataclass
from math import ceil, inf, sqrt
from time import perf_counter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from bestk._typing import Floats
from bestk.bqp.problem import BQP

# Up to so many items all products are in double precision.
MAX_DOUBLE_ITEMS = 500
# Rows that are copied to single precision at a time.
COPIED_ROWS = 256
MAX_ITERATIONS = 3000
# Steps that the quasi-Newton method remembers.
MAX_PAIRS = 8
# Tries of a shorter step in one iteration, and by what factor each is shorter than the one before.
MAX_TRIES = 10
SHORTENING = 0.4
# A step must gain at least this share of what the slope promises.
MIN_RISE = 1e-4
# A direction climbs if its product with the gradient is above this, times both lengths.
MIN_COSINE = 1e-12
# A step is learnt from if its curvature is above this, times the lengths of step and change.
MIN_CURVATURE = 1e-10
# A variance of Q below this, relative to the square of its mean, is rounding.
MIN_VARIANCE = 1e-16
# The value of the relaxation counts at least as this, times k and the size of entries.
MIN_SIZE = 1e-6
# Without a step to learn from, the first one has this length, times the root of the number of rows.
FIRST_LENGTH = 0.5
# Steps of Newton's method that lead back to the spheres, at most.
MAX_RETRACTIONS = 16
# A step of Newton's method must bring the error below this, times the error before.
CONVERGENCE = 0.9
# The matrix of Newton's method changes little, and is factorised anew after so many steps.
STEPS_TO_FACTOR = 4
# The sum of the rows may differ from the wanted one by this, times the number of rows.
RETRACTED = 1e-11
# Added to the diagonal of a matrix that is singular where all rows are parallel, relative to it.
PARALLEL_RIDGE = 1e-9

# What scipy's cho_factor returns: a triangular factor, and whether it is the lower one.
CholeskyFactor: TypeAlias = tuple[Floats, bool]


@dataclass(frozen=True, eq=False)
class SplitField:
    """A field at a point V of the spheres: tangent + Diag(along) V + e common'."""

    tangent: Floats
    """Rows orthogonal to those of V, with sum 0."""

    along: Floats
    """How much of the normal part lies along each row of V."""

    common: Floats
    """The part of the normal part that all rows share."""


@dataclass(frozen=True)
class Spheres:
    """Unit rows v_1..v_n of r columns whose sum is (2k - n) v_0, where v_0 is the first axis.

    Tangent to them are the fields with rows orthogonal to v_i and with sum 0; normal to them are
    Diag(a) V + e b'.
    """

    n: int
    k: int
    r: int

    def start(self, rng: np.random.Generator) -> Floats:
        """A random point: every row at the same height, opposite in pairs (and one triple)."""
        n_pairs = self.n // 2
        height = (2 * self.k - self.n) / self.n  # the first coordinate
        directions = _unit(rng.standard_normal((n_pairs, self.r - 1)))
        around = np.vstack([directions, -directions])
        if self.n % 2:
            # Three unit vectors of sum 0 take the place of the last pair.
            plane, _ = np.linalg.qr(rng.standard_normal((self.r - 1, 2)))
            p, q = plane.T
            triple = [p, (sqrt(3) * q - p) / 2, (-sqrt(3) * q - p) / 2]
            without_pair = np.delete(around, [n_pairs - 1, -1], axis=0)
            around = np.vstack([without_pair, triple])
        V = np.full((self.n, self.r), height)
        V[:, 1:] = sqrt(1 - height**2) * around
        return V

    def normals(self, V: Floats) -> CholeskyFactor:
        """Factorised sum of I - v_i v_i', by which b moves the sum of the rows."""
        pull = -(V.T @ V)
        pull.flat[:: self.r + 1] += self.n * (1 + PARALLEL_RIDGE)
        factor: CholeskyFactor = cho_factor(pull, check_finite=False)
        return factor

    def split(
        self,
        V: Floats,
        field: Floats,
        normals: CholeskyFactor,
        anchor: Floats | float = 0.0,
    ) -> SplitField:
        """The tangent and the normal part of a field, one row for each of V.

        normals: ``self.normals(V)``.
        anchor: where all rows are nearly parallel, ``common`` is not unique, and the one nearest
        the anchor is taken.
        """
        along = np.einsum("ij,ij->i", field, V)
        tangent = field - along[:, None] * V
        moved = tangent.sum(axis=0) + PARALLEL_RIDGE * self.n * anchor
        common = cho_solve(normals, moved, check_finite=False)
        common_along = V @ common
        tangent -= common
        tangent += common_along[:, None] * V
        return SplitField(tangent, along - common_along, common)

    def retract(self, V: Floats) -> Floats | None:
        """A point of the set near V by Newton steps along e b', or None if V is too far."""
        V = _unit(V)
        last_error = inf
        for step in range(MAX_RETRACTIONS):
            excess = V.sum(axis=0)
            excess[0] -= 2 * self.k - self.n
            error = float(np.abs(excess).max())
            if error <= RETRACTED * self.n:
                return V
            if error > CONVERGENCE * last_error:
                return None
            if step % STEPS_TO_FACTOR == 0:
                normals = self.normals(V)
            V = _unit(V - cho_solve(normals, excess, check_finite=False))
            last_error = error
        return None


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """The objective at a point: centred and scaled."""

    value: float
    gradient: Floats


@dataclass(frozen=True, eq=False)
class _Step:
    """A step of the past, from which the quasi-Newton method learns the curvature."""

    moved: Floats
    """The point after the step less that before."""

    bent: Floats
    """The gradient before the step less that after."""

    inverse: float
    """1 / <moved, bent>."""


class LowRankFactor:
    """Maximise <W, Z> over psd Z with unit diagonal and Z (n - 2k; e) = 0, as Z = VV'.

    As a function of V, x'Qx is <Q, GG'> with g_i = (v_0 + v_i) / 2. Q is centred by its mean and
    scaled by its spread first: sum x = k makes the mean a constant, and it would hide everything
    else. Large matrices are multiplied in single precision, by a copy of half the size of Q, until
    its digits run out.

    A quasi-Newton method on ``Spheres``: since the linear constraint is kept exactly, there is no
    penalty to drive up, and the multipliers come with every gradient. r = ceil(sqrt(2n)) + 1
    columns leave no local optimum in general (Burer, Monteiro, Mathematical Programming 95, 2003).
    """

    def __init__(self, problem: BQP, rng: np.random.Generator) -> None:
        Q = problem.matrix
        n = problem.n
        self.problem = problem
        self.iterations = 0
        self.product_seconds = 0.0
        """Seconds of the last product with Q."""
        self.stalled = False
        """Whether no step climbs any more, at the limit of double precision."""
        self.mean = float(Q.mean())
        mean_square = float(np.vdot(Q, Q)) / n**2
        variance = mean_square - self.mean**2
        self.spread = sqrt(max(variance, MIN_VARIANCE * self.mean**2)) or 1.0
        n_columns = min(n + 1, ceil(sqrt(2 * n)) + 1)
        self.spheres = Spheres(n, problem.k, r=max(3, n_columns))
        self._single: NDArray[np.float32] | None = None
        """Q, centred and scaled, in single precision, while that suffices."""
        if n > MAX_DOUBLE_ITEMS:
            self._single = self._centred_copy()
        self._steps: deque[_Step] = deque(maxlen=MAX_PAIRS)
        self._reach = 0.0
        """Length of a good step for each unit of length of the gradient; 0 if unknown."""
        self.V = self.spheres.start(rng)
        """The point: one unit row for each item."""
        self._evaluation = self.evaluate(self.V)
        self._normals = self.spheres.normals(self.V)
        gradient = self._evaluation.gradient
        self._gradient = self.spheres.split(self.V, gradient, self._normals)

    def _centred_copy(self) -> NDArray[np.float32]:
        """Q, centred and scaled, in single precision."""
        Q = self.problem.matrix
        n = self.problem.n
        copied = np.empty((n, n), np.float32)
        for start in range(0, n, COPIED_ROWS):
            rows = slice(start, start + COPIED_ROWS)
            copied[rows] = (Q[rows] - self.mean) / self.spread
        return copied

    @property
    def value(self) -> float:
        """The objective of the relaxation at V, a feasible point of it."""
        return self._evaluation.value * self.spread + self.mean * self.problem.k**2

    @property
    def size(self) -> float:
        """What to measure distances by: the value, kept away from 0."""
        size_of_entries = abs(self.mean) + self.spread
        return abs(self.value) + MIN_SIZE * self.problem.k * size_of_entries

    @property
    def multipliers(self) -> Floats:
        """The dual guess t that goes with V: n + 1 numbers, whose sum is the value."""
        of_items = self._gradient.along * self.spread / 2
        t = np.concatenate([[0.0], of_items])
        # On sum x = k, the mean of Q is a multiple of the square of z_0.
        t[0] = self.value - t.sum()
        return t

    @property
    def slope(self) -> float:
        """About the distance to the bound: the length of the gradient, in the units of Q."""
        n = self.problem.n
        length = float(np.linalg.norm(self._gradient.tangent))
        return length * self.spread * min(4 * self.problem.k, n) / sqrt(n)

    def climb(
        self,
        ratio: float,
        deadline: float = inf,
        iterations: int = MAX_ITERATIONS,
    ) -> None:
        """Move uphill until the slope is at most ``ratio`` times the size.

        It ends before if the iterations since the start are as many, if time is up, or if no step
        climbs.
        """
        while self.slope > ratio * self.size and not self.stalled:
            if self.iterations >= iterations or perf_counter() >= deadline:
                return
            self.iterations += 1
            if self._make_step():
                continue
            if self._steps:
                self._steps.clear()
            elif self._single is not None:
                self._single = None  # in double precision from now on
                self._arrive(self.V, self.evaluate(self.V))
            else:
                self.stalled = True

    def _arrive(self, V: Floats, evaluation: _Evaluation) -> None:
        """Take a point with its objective as the present one."""
        anchor = self._gradient.common
        self.V = V
        self._evaluation = evaluation
        self._normals = self.spheres.normals(V)
        self._gradient = self.spheres.split(V, evaluation.gradient, self._normals, anchor)

    def evaluate(self, V: Floats) -> _Evaluation:
        """The objective at a point."""
        start = perf_counter()
        G = V / 2
        G[:, 0] += 0.5
        if self._single is not None:
            in_single = self._single @ G.astype(np.float32)
            H = in_single.astype(np.float64)
        else:
            product = self.problem.matrix @ G
            H = (product - self.mean * G.sum(axis=0)) / self.spread
        value = float(np.vdot(G, H))
        self.product_seconds = perf_counter() - start
        return _Evaluation(value, H)

    def _make_step(self) -> bool:
        """One quasi-Newton step with backtracking; False if no step climbs."""
        V = self.V
        value = self._evaluation.value
        gradient = self._gradient.tangent
        direction = self._direction()
        rise = float(np.vdot(gradient, direction))
        length = float(np.linalg.norm(direction))
        if not rise > MIN_COSINE * length * float(np.linalg.norm(gradient)):
            return False
        step = min(1.0, sqrt(self.problem.n) / length)
        for _ in range(MAX_TRIES):
            moved = self.spheres.retract(V + step * direction)
            if moved is not None:
                evaluation = self.evaluate(moved)
                if evaluation.value >= value + MIN_RISE * step * rise:
                    self._arrive(moved, evaluation)
                    self._remember(moved - V, gradient - self._gradient.tangent)
                    return True
            step *= SHORTENING
        return False

    def _remember(self, moved: Floats, bent: Floats) -> None:
        """Learn from a step, unless its curvature is rounding or has the wrong sign."""
        curvature = float(np.vdot(moved, bent))
        lengths = float(np.linalg.norm(moved) * np.linalg.norm(bent))
        if curvature > MIN_CURVATURE * lengths:
            self._steps.append(_Step(moved, bent, 1 / curvature))
            self._reach = curvature / float(np.vdot(bent, bent))

    def _direction(self) -> Floats:
        """Where to go: the two-loop recursion of L-BFGS (Nocedal 1980), made tangent."""
        direction = self._gradient.tangent.copy()
        if not self._steps:
            length = float(np.linalg.norm(direction))
            first_reach = FIRST_LENGTH * sqrt(self.problem.n) / length
            return direction * (self._reach or first_reach)
        weights = []
        for step in reversed(self._steps):
            weight = step.inverse * float(np.vdot(step.moved, direction))
            weights.append(weight)
            direction -= weight * step.bent
        direction *= self._reach
        for step, weight in zip(self._steps, reversed(weights), strict=True):
            correction = step.inverse * float(np.vdot(step.bent, direction))
            direction += (weight - correction) * step.moved
        return self.spheres.split(self.V, direction, self._normals).tangent


def _unit(V: Floats) -> Floats:
    """The rows of V, each of length 1."""
    lengths = np.sqrt(np.einsum("ij,ij->i", V, V))
    return V / lengths[:, None]
