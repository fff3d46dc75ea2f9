"""The set on which the semidefinite relaxation moves: unit rows with a given sum."""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Floats = NDArray[np.float64]
RIDGE = 1e-9  # for rows that are all parallel


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
        """Factorised sum of I - v_i v_i', which says how far b moves the sum of the rows."""
        pull = -(V.T @ V)
        pull.flat[:: self.r + 1] += self.n * (1 + RIDGE)
        return cho_factor(pull, check_finite=False)

    def split(
        self, V: Floats, field: Floats, normals: Any, anchor: Floats | float = 0.0
    ) -> tuple[Floats, Floats, Floats]:
        """The tangent part of a field, and a, b of its normal part Diag(a) V + e b'.

        Where all rows are nearly parallel, b is not unique: the one nearest the anchor is taken.
        """
        along = np.einsum("ij,ij->i", field, V)
        tangent = field - along[:, None] * V
        moved = tangent.sum(axis=0) + RIDGE * self.n * anchor
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
