"""Alternating directions on the doubly non-negative relaxation."""

import numpy as np

from bestk.native import kernels
from bestk.relaxations._leading import Leading
from bestk.relaxations.eigen import largest_eigenvalue
from bestk.relaxations.part import Part
from bestk.relaxations.rounding import Floats, Mask, k_largest, largest_entry, rounding
from bestk.relaxations.rows import row_values

STEP = 1.6  # over-relaxation of the multipliers
BALANCE = 4.0  # ratio of the residuals beyond which the penalty moves


class Relaxation:
    """Upper bounds on a problem from its lifting to Y = (1, x)(1, x)', improved step by step.

    Y is positive semidefinite with trace 1 + k and orthogonal to N = (-k; e), so Y = V R V' with
    V a basis of the complement of N; its entries lie in [0, 1]. The two properties hold in turn,
    and the multipliers Z of their agreement give a bound, whatever they are.

    References
    ----------
    D. E. Oliveira, H. Wolkowicz, Y. Xu, "ADMM for the SDP relaxation of the QAP",
    Math. Prog. Comp. 10, 2018.
    """

    def __init__(self, part: Part, scale: float) -> None:
        n, k = part.n, part.k
        self.k, self.scale = k, scale  # a power of two, so that scaling is exact
        self.cost = _bordered(part.Q / scale)
        self.mirror = _mirror(n, k)
        share = k / n
        self.Y = np.full((n + 1, n + 1), share * (k - 1) / max(n - 1, 1))
        self.Y[0] = self.Y[:, 0] = share
        self.Y.flat[:: n + 2] = share
        self.Y[0, 0] = 1.0
        self.Z = np.zeros((n + 1, n + 1))
        self.Z[1:, 1:] = (self.cost.sum() - self.cost.trace()) / max(n * (n - 1), 1)
        self.penalty = 0.3
        self.steps = 0
        self.leading = Leading(k + 20)
        self.P = self.Y
        self.level = 0.0

    def project(self, exact: bool = True) -> None:
        """Move R to the nearest psd matrix of trace 1 + k, or close to it; P = V R V'."""
        if exact:
            self.leading.basis = None
        inner = reflect(self.Y + self.Z / self.penalty, self.mirror)
        weights, vectors, self.level = self.leading.project(inner, 1.0 + self.k)
        lifted = np.zeros((len(self.Y), len(weights)))
        lifted[1:] = vectors
        lifted -= np.outer(2 * self.mirror, self.mirror @ lifted)
        self.P = (lifted * weights) @ lifted.T

    def multipliers(self) -> Floats:
        """Z after the projection; the largest eigenvalue of V'ZV is then penalty * level."""
        return np.asarray(self.Z + self.penalty * (self.Y - self.P))

    def value(self, Z: Floats, top: float) -> tuple[float, Floats]:
        """C_00 + the k largest r_i + (1 + k) top, and the r_i, for C = cost - Z.

        r_i = C_ii + 2 C_0i + the k - 1 largest C_ij. It bounds x'Qx for any symmetric Z if top is
        at least the largest eigenvalue of V'ZV, because <Z, Y> <= (1 + k) top.
        """
        C = self.cost - Z
        rows = row_values(C[1:, 1:], C.diagonal()[1:] + 2 * C[0, 1:], self.k)
        total = C[0, 0] + k_largest(rows, self.k) + (1 + self.k) * top
        return float(self.scale * total), self.scale * rows

    def proved(self, Z: Floats) -> tuple[float, Floats]:
        """The bound that Z gives, rounding included."""
        n, k = len(Z) - 1, self.k
        Z = (Z + Z.T) / 2
        top = largest_eigenvalue(reflect(Z, self.mirror))
        value, rows = self.value(Z, top + rounding(n, 4 * float(np.linalg.norm(Z))))
        size = largest_entry(Z) + largest_entry(self.cost)
        return value + self.scale * rounding(2 * k, (k + 1) ** 2 * size), rows

    def update(self) -> None:
        """Move Y to the nearest matrix with entries in [0, 1] and the right border, then Z."""
        b = self.penalty
        target = (2 * (self.P[0] + (self.cost[0] - self.Z[0]) / b)[1:] + self._diagonal(b)) / 3
        x = _capped(target, self.k)
        distances = np.empty(2)
        kernels.admm_sweep(self.P, self.cost, x, len(x), b, STEP, self.Y, self.Z, distances)
        primal, dual = distances
        self.steps += 1
        if self.steps % 10 == 0 and primal > BALANCE * b * dual:
            self.penalty *= 1.5
        elif self.steps % 10 == 0 and b * dual > BALANCE * primal:
            self.penalty /= 1.5

    def _diagonal(self, b: float) -> Floats:
        own = self.P.diagonal() + (self.cost.diagonal() - self.Z.diagonal()) / b
        return np.asarray(own[1:])

    def restricted(self, part: Part, inside: Mask, outside: Mask) -> "Relaxation":
        """The same for the part that is left, which starts from where this one stands."""
        new = Relaxation(part, self.scale)
        keep = np.concatenate([[True], ~(inside | outside)])
        fixed = np.concatenate([[True], inside])
        new.Y = self.Y[np.ix_(keep, keep)]
        new.Z = self.Z[np.ix_(keep, keep)]
        new.Z[0] = new.Z[:, 0] = self.Z[np.ix_(fixed, keep)].sum(axis=0)
        # the border now stands for 1 + f entries of (1, x), which the trace no longer counts
        spare = self.penalty * self.level * int(inside.sum())
        new.Z[0, 0] = float(self.Z[np.ix_(fixed, fixed)].sum()) - spare
        new.penalty, new.steps = self.penalty, self.steps
        return new


def _bordered(Q: Floats) -> Floats:
    out = np.zeros((len(Q) + 1, len(Q) + 1))
    out[1:, 1:] = Q
    return out


def _mirror(n: int, k: int) -> Floats:
    """Unit vector v such that I - 2vv' sends N = (-k; e) to the first axis."""
    v = np.ones(n + 1)
    v[0] = -k - np.sqrt(float(n + k**2))
    return np.asarray(v / np.linalg.norm(v))


def reflect(A: Floats, v: Floats) -> Floats:
    """V'AV, V the columns of I - 2vv' but the first, for symmetric A."""
    w = 2 * (A @ v)
    w -= (v @ w) * v
    out = np.empty((len(A) - 1, len(A) - 1))
    kernels.minus_outer(np.ascontiguousarray(A), v, w, len(out), out)
    return out


def _capped(target: Floats, k: int) -> Floats:
    """The nearest point with entries in [0, 1] that add up to k."""
    low, high = float(target.min()) - 1, float(target.max())
    for _ in range(50):
        middle = (low + high) / 2
        if np.clip(target - middle, 0, 1).sum() > k:
            low = middle
        else:
            high = middle
    return np.clip(target - (low + high) / 2, 0, 1)
