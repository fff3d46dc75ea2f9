"""The semidefinite relaxation by a low-rank factor: a point on many spheres, moved uphill."""

from collections import deque
from dataclasses import dataclass
from math import ceil, inf, sqrt
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from bestk._typing import Floats
from bestk.bqp.problem import BQP

MAX_DOUBLE_ITEMS = 500  # up to this size all products are in double precision
MAX_ITERATIONS = 3000
MAX_PAIRS = 8  # of steps that the quasi-Newton method remembers
PARALLEL_RIDGE = 1e-9  # for rows that are all parallel


@dataclass
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

    problem: BQP
    rng: np.random.Generator
    iterations: int = 0
    product_seconds: float = 0.0  # of the last product with Q
    reach: float = 0.0  # length of a step per length of the gradient
    stalled: bool = False  # at the limit of double precision

    def __post_init__(self) -> None:
        Q, n = self.problem.Q, self.problem.n
        self.spheres = Spheres(n, self.problem.k, max(3, min(n + 1, ceil(sqrt(2 * n)) + 1)))
        self.mean = float(Q.mean())
        variance = float(np.vdot(Q, Q)) / n**2 - self.mean**2
        self.spread = sqrt(max(variance, 1e-16 * self.mean**2)) or 1.0
        self.single: NDArray[np.float32] | None = None
        if n > MAX_DOUBLE_ITEMS:
            self.single = np.empty((n, n), np.float32)
            for i in range(0, n, 256):
                self.single[i : i + 256] = (Q[i : i + 256] - self.mean) / self.spread
        self.pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MAX_PAIRS)
        self._common: Floats | float = 0.0  # b of the normal part of the gradient
        self._arrive(self.spheres.start(self.rng))

    @property
    def value(self) -> float:
        """The objective of the relaxation at V, a feasible point of it."""
        return self._value * self.spread + self.mean * self.problem.k**2

    @property
    def size(self) -> float:
        """What to measure distances by: the value, kept away from 0."""
        return abs(self.value) + 1e-6 * self.problem.k * (abs(self.mean) + self.spread)

    @property
    def multipliers(self) -> Floats:
        """The dual guess t that goes with V, whose sum is the value."""
        t = np.concatenate([[0.0], self._normal * self.spread / 2])
        # on sum x = k, the mean of Q is a multiple of the square of z_0
        t[0] = self.value - t.sum()
        return t

    @property
    def slope(self) -> float:
        """About the distance to the bound: the length of the gradient, in the units of Q."""
        n, k = self.problem.n, self.problem.k
        length = float(np.linalg.norm(self._gradient))
        return length * self.spread * min(4 * k, n) / sqrt(n)

    def climb(self, ratio: float, deadline: float = inf, iterations: int = MAX_ITERATIONS) -> None:
        """Move uphill until the slope is small beside the size, or time or digits run out."""
        while self.slope > ratio * self.size and not self.stalled:
            if self.iterations >= iterations or perf_counter() >= deadline:
                return
            self.iterations += 1
            if self._step():
                continue
            if self.pairs:
                self.pairs.clear()
            elif self.single is not None:
                self.single = None  # in double precision from now on
                self._arrive(self.V)
            else:
                self.stalled = True

    def _arrive(self, V: Floats, computed: tuple[float, Floats] | None = None) -> None:
        self.V = V
        self._value, gradient = computed or self.evaluate(V)
        self._normals = self.spheres.normals(V)
        self._gradient, self._normal, self._common = self.spheres.split(
            V, gradient, self._normals, self._common
        )

    def evaluate(self, V: Floats) -> tuple[float, Floats]:
        """The value, centred and scaled, and its gradient."""
        start, G = perf_counter(), V / 2
        G[:, 0] += 0.5
        if self.single is not None:
            H = (self.single @ G.astype(np.float32)).astype(np.float64)
        else:
            H = (self.problem.Q @ G - self.mean * G.sum(axis=0)) / self.spread
        value = float(np.vdot(G, H))
        self.product_seconds = perf_counter() - start
        return value, H

    def _step(self) -> bool:
        """One quasi-Newton step with backtracking; False if no step climbs."""
        V, value, gradient = self.V, self._value, self._gradient
        direction = self._direction()
        rise = float(np.vdot(gradient, direction))
        length = float(np.linalg.norm(direction))
        if not rise > 1e-12 * length * float(np.linalg.norm(gradient)):
            return False
        step = min(1.0, sqrt(self.problem.n) / length)
        for _ in range(10):
            moved = self.spheres.retract(V + step * direction)
            computed = None if moved is None else self.evaluate(moved)
            if moved is not None and computed and computed[0] >= value + 1e-4 * step * rise:
                self._arrive(moved, computed)
                self._remember(moved - V, gradient - self._gradient)
                return True
            step *= 0.4
        return False

    def _remember(self, moved: Floats, bent: Floats) -> None:
        curvature = float(np.vdot(moved, bent))
        if curvature > 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(bent)):
            self.pairs.append((moved, bent, 1 / curvature))
            self.reach = curvature / float(np.vdot(bent, bent))

    def _direction(self) -> Floats:
        """The two-loop recursion of L-BFGS, made tangent."""
        q = self._gradient.copy()
        if not self.pairs:
            return q * (self.reach or 0.5 * sqrt(self.problem.n) / float(np.linalg.norm(q)))
        weights = []
        for moved, bent, inverse in reversed(self.pairs):
            weights.append(inverse * float(np.vdot(moved, q)))
            q -= weights[-1] * bent
        q *= self.reach
        for (moved, bent, inverse), weight in zip(self.pairs, reversed(weights), strict=True):
            q += (weight - inverse * float(np.vdot(bent, q))) * moved
        return self.spheres.split(self.V, q, self._normals)[0]


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
        half, height = self.n // 2, (2 * self.k - self.n) / self.n
        around = _unit(rng.standard_normal((half, self.r - 1)))
        around = np.vstack([around, -around])
        if self.n % 2:
            p, q = np.linalg.qr(rng.standard_normal((self.r - 1, 2)))[0].T
            triple = [p, (sqrt(3) * q - p) / 2, (-sqrt(3) * q - p) / 2]
            around = np.vstack([np.delete(around, [half - 1, -1], axis=0), triple])
        V = np.full((self.n, self.r), height)
        V[:, 1:] = sqrt(1 - height**2) * around
        return V

    def normals(self, V: Floats) -> Any:
        """Factorised sum of I - v_i v_i', by which b moves the sum of the rows."""
        pull = -(V.T @ V)
        pull.flat[:: self.r + 1] += self.n * (1 + PARALLEL_RIDGE)
        return cho_factor(pull, check_finite=False)

    def split(
        self, V: Floats, field: Floats, normals: Any, anchor: Floats | float = 0.0
    ) -> tuple[Floats, Floats, Floats]:
        """The tangent part of a field, and a, b of its normal part Diag(a) V + e b'.

        Where all rows are nearly parallel, b is not unique: the one nearest the anchor is taken.
        """
        along = np.einsum("ij,ij->i", field, V)
        tangent = field - along[:, None] * V
        moved = tangent.sum(axis=0) + PARALLEL_RIDGE * self.n * anchor
        b = cho_solve(normals, moved, check_finite=False)
        Vb = V @ b
        tangent -= b
        tangent += Vb[:, None] * V
        return tangent, along - Vb, b

    def retract(self, V: Floats) -> Floats | None:
        """A point of the set near V by Newton steps along e b', or None if V is too far."""
        V, last = _unit(V), inf
        for step in range(16):
            excess = V.sum(axis=0)
            excess[0] -= 2 * self.k - self.n
            off = float(np.abs(excess).max())
            if off <= 1e-11 * self.n:
                return V
            if off > 0.9 * last:
                return None
            if step % 4 == 0:
                normals = self.normals(V)
            V, last = _unit(V - cho_solve(normals, excess, check_finite=False)), off
        return None


def _unit(V: Floats) -> Floats:
    """The rows of V, each of length 1."""
    return V / np.sqrt(np.einsum("ij,ij->i", V, V))[:, None]
