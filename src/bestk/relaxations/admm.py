"""Alternating directions on the doubly non-negative relaxation."""

from contextlib import suppress

import numpy as np
from scipy.linalg import eigh

from bestk._typing import Floats, Mask
from bestk.relaxations.rounding import k_largest, largest_eigenvalue, largest_entry, rounding
from bestk.relaxations.rows import row_values
from bestk.relaxations.subproblem import Subproblem

OVER_RELAXATION = 1.6  # step length of the multipliers
BALANCE = 4.0  # ratio of the residuals beyond which the penalty moves
PARTIAL_SHARE = 0.12  # of the spectrum, below which a part of it is cheaper than the whole
FOLLOW_ITEMS = 600  # above it, a subspace that follows the matrix is cheaper than a decomposition
CHEBYSHEV_DEGREE = 8  # products with the matrix to turn the subspace


class DoublyNonnegative:
    """Upper bounds on a problem from its lifting to Y = (1, x)(1, x)', improved step by step.

    Y is positive semidefinite with trace 1 + k and orthogonal to N = (-k; e), so Y = V R V' with
    V a basis of the complement of N; its entries lie in [0, 1]. The two properties hold in turn,
    and the multipliers Z of their agreement give a bound, whatever they are.

    References
    ----------
    D. E. Oliveira, H. Wolkowicz, Y. Xu, "ADMM for the SDP relaxation of the QAP",
    Math. Prog. Comp. 10, 2018.
    """

    def __init__(self, part: Subproblem, scale: float) -> None:
        n, k = part.n, part.k
        self.k, self.scale = k, scale  # a power of two, so that scaling is exact
        self.cost = np.zeros((n + 1, n + 1))
        self.cost[1:, 1:] = part.Q / scale
        mirror = np.ones(n + 1)
        mirror[0] = -k - np.sqrt(float(n + k**2))
        self.mirror = mirror / np.linalg.norm(mirror)  # I - 2vv' sends N to the first axis
        share = k / n
        self.Y = np.full((n + 1, n + 1), share * (k - 1) / max(n - 1, 1))
        self.Y[0] = self.Y[:, 0] = share
        self.Y.flat[:: n + 2] = share
        self.Y[0, 0] = 1.0
        self.Z = np.zeros((n + 1, n + 1))
        self.Z[1:, 1:] = (self.cost.sum() - self.cost.trace()) / max(n * (n - 1), 1)
        self.penalty = 0.3
        self.steps = 0
        self.leading = LeadingEigenpairs(k + 20)
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
        diagonal = (self.P.diagonal() + (self.cost.diagonal() - self.Z.diagonal()) / b)[1:]
        target = (2 * (self.P[0] + (self.cost[0] - self.Z[0]) / b)[1:] + diagonal) / 3
        x = _capped(target, self.k)
        Y = self.cost - self.Z
        Y /= b
        Y += self.P
        np.clip(Y, 0.0, 1.0, out=Y)
        Y[0, 1:] = Y[1:, 0] = x
        np.fill_diagonal(Y, np.append(1.0, x))
        gap = Y - self.P
        primal, dual = np.linalg.norm(gap), np.linalg.norm(Y - self.Y)
        gap *= OVER_RELAXATION * b
        self.Z += gap
        self.Y = Y
        self.steps += 1
        if self.steps % 10 == 0 and primal > BALANCE * b * dual:
            self.penalty *= 1.5
        elif self.steps % 10 == 0 and b * dual > BALANCE * primal:
            self.penalty /= 1.5

    def restricted(self, part: Subproblem, inside: Mask, outside: Mask) -> "DoublyNonnegative":
        """The relaxation of the part that is left, which starts from where this one stands."""
        new = DoublyNonnegative(part, self.scale)
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


def reflect(A: Floats, v: Floats) -> Floats:
    """V'AV, V the columns of I - 2vv' but the first, for symmetric A."""
    w = 2 * (A @ v)
    w -= (v @ w) * v
    out = A[1:, 1:] - np.outer(v[1:], w[1:])
    out -= np.outer(w[1:], v[1:])
    return np.asarray(out)


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


class LeadingEigenpairs:
    """Projections on {R psd, trace R = t} of a matrix that moves little from call to call."""

    def __init__(self, expected: int) -> None:
        self.expected = expected  # eigenvalues that the next projection may need
        self.basis: Floats | None = None  # leading eigenvectors of the last matrix
        self.exact = True  # whether the last projection was, to rounding

    def project(self, A: Floats, trace: float) -> tuple[Floats, Floats, float]:
        """Weights and vectors with R = vectors diag(weights) vectors', and their level.

        The weights are the eigenvalues above the level, less the level, which is such that they
        add up to the trace.
        """
        while True:
            values, vectors = self._largest(A)
            excess = np.cumsum(values) - trace
            count = int(np.flatnonzero(values * np.arange(1, len(values) + 1) > excess)[-1]) + 1
            if count < len(values) or len(values) == len(A):
                break
            self.expected, self.basis = 2 * self.expected, None
        self.expected = max(count + 10, count * 6 // 5)
        self.basis = vectors[:, : self.expected] if len(A) > FOLLOW_ITEMS else None
        level = float(excess[count - 1] / count)
        return values[:count] - level, vectors[:, :count], level

    def _largest(self, A: Floats) -> tuple[Floats, Floats]:
        """The largest eigenvalues, descending, with their vectors: those expected, or more."""
        n = len(A)
        self.exact = self.basis is None or self.expected >= PARTIAL_SHARE * n
        if self.basis is not None and not self.exact:
            return self._followed(A, self.basis)
        if self.expected < PARTIAL_SHARE * n:
            # LAPACK can fail on a part of a spectrum with many equal values
            with suppress(np.linalg.LinAlgError):
                some = (n - self.expected, n - 1)
                values, vectors = eigh(A, subset_by_index=some, driver="evx", check_finite=False)
                return values[::-1], vectors[:, ::-1]
        values, vectors = eigh(A, driver="evd", check_finite=False)
        return values[::-1], vectors[:, ::-1]

    def _followed(self, A: Floats, basis: Floats) -> tuple[Floats, Floats]:
        """The leading eigenpairs from those of a matrix nearby, by a polynomial that favours them.

        References
        ----------
        Y. Zhou, Y. Saad, "A Chebyshev-Davidson algorithm for large symmetric eigenproblems",
        SIAM J. Matrix Anal. Appl. 29, 2007.
        """
        low = lanczos_minimum(A)
        cut = float(np.einsum("ij,ij->j", basis, A @ basis).min())
        missing = self.expected - basis.shape[1]
        if missing > 0:
            fresh = np.random.default_rng(0).normal(size=(len(A), missing))
            basis = np.hstack([basis, fresh / np.sqrt(len(A))])
        basis = np.linalg.qr(chebyshev_filter(A, basis, low, max(cut, low / 2)))[0]
        values, turn = np.linalg.eigh(basis.T @ (A @ basis))
        return values[::-1], basis @ turn[:, ::-1]


def lanczos_minimum(A: Floats, steps: int = 12) -> float:
    """A little below the smallest eigenvalue, by the Lanczos method."""
    v = np.random.default_rng(0).normal(size=len(A))
    v /= np.linalg.norm(v)
    before, link = np.zeros_like(v), 0.0
    diagonal, beside = [], []
    for _ in range(steps):
        w = A @ v - link * before
        diagonal.append(float(w @ v))
        w -= diagonal[-1] * v
        link = float(np.linalg.norm(w))
        beside.append(link)
        before, v = v, w / (link or 1.0)
    T = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    return float(np.linalg.eigvalsh(T)[0]) - link


def chebyshev_filter(A: Floats, X: Floats, low: float, cut: float) -> Floats:
    """Chebyshev polynomial of A on [low, cut], which is large above the cut, times X."""
    half, centre = (cut - low) / 2, (cut + low) / 2
    before, now = X, (A @ X - centre * X) / half
    for _ in range(CHEBYSHEV_DEGREE - 1):
        before, now = now, (2 / half) * (A @ now - centre * now) - before
        size = float(np.abs(now).max())
        before, now = before / size, now / size
    return now
