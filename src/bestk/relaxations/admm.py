"""Alternating directions on the doubly non-negative relaxation."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from bestk._typing import Floats, Mask
from bestk.native.threads import run_tiles, spans
from bestk.relaxations.leading import LeadingEigenpairs, as_numpy
from bestk.relaxations.rounding import Bound, largest_eigenvalue, largest_entry, rounding
from bestk.relaxations.rows import lower_rows
from bestk.relaxations.subproblem import Subproblem

OVER_RELAXATION = 1.6  # step length of the multipliers
BALANCE = 4.0  # ratio of the residuals beyond which the penalty moves
FOLLOW_ITEMS = 600  # above it, a subspace that follows the matrix is cheaper than a decomposition
TILE_ROWS = 256  # of a large matrix, that one thread multiplies at once
DEVICE = "cuda"
MIN_GPU_ITEMS = 2000  # below it, a GPU is not worth the start of its library


class DoublyNonnegative:
    """Upper bounds on a problem from its lifting to Y = (1, x)(1, x)', improved step by step.

    Y is positive semidefinite with trace 1 + k and orthogonal to N = (-k; e), so Y = V R V' with
    V a basis of the complement of N; its entries lie in [0, 1]. The two properties hold in turn,
    and the multipliers Z of their agreement give a bound, whatever they are. Large problems are
    in single precision, or on a GPU, except for the proof.

    References
    ----------
    D. E. Oliveira, H. Wolkowicz, Y. Xu, "ADMM for the SDP relaxation of the QAP",
    Math. Prog. Comp. 10, 2018.
    """

    def __init__(self, part: Subproblem, scale: float) -> None:
        n, k = part.n, part.k
        self.Q, self.k, self.scale = part.Q, k, scale  # a power of two: scaling is exact
        self.large = n > FOLLOW_ITEMS
        self.torch = _torch(n)
        self.dtype = np.float32 if self.large and self.torch is None else np.float64
        cost = np.zeros((n + 1, n + 1), self.dtype)
        cost[1:, 1:] = part.Q / scale
        self.cost = self._array(cost)
        self.mirror = mirror(n, k)
        self.penalty = 0.3
        self.steps = 0
        self.leading = LeadingEigenpairs(k + 20)
        share = k / n
        Y = np.full((n + 1, n + 1), share * (k - 1) / max(n - 1, 1), self.dtype)
        Y[0] = Y[:, 0] = share
        Y.flat[:: n + 2] = share
        Y[0, 0] = 1.0
        Z = np.zeros((n + 1, n + 1), self.dtype)
        Z[1:, 1:] = (float(part.Q.sum()) - float(part.Q.trace())) / scale / max(n * (n - 1), 1)
        self._start(Y, Z)

    def _start(self, Y: Floats, Z: Floats) -> None:
        self.Z = self._array(Z)
        self.M = self._array(Y) + self.Z / self.penalty
        self.level = 0.0

    def _array(self, values: Any) -> Any:
        """An array of numpy, or on the GPU."""
        if self.torch is None:
            return np.asarray(values, self.dtype)
        return self.torch.as_tensor(values, dtype=self.torch.float64, device=DEVICE)

    @property
    def Y(self) -> Any:  # noqa: N802, as in the formulas
        """The matrix with entries in [0, 1]."""
        return self.M - self.Z / self.penalty

    @property
    def x(self) -> Floats:
        """The border of Y: the share of each item in the choice."""
        return as_numpy((self.M[0] - self.Z[0] / self.penalty)[1:])

    def project(self, exact: bool = True) -> None:
        """Move R to the nearest psd matrix of trace 1 + k, or close to it; P = V R V'."""
        inner = Inner(self) if self.large else reflect(self.M, self.mirror)
        weights, vectors, self.level = self.leading.project(inner, 1.0 + self.k, exact)
        self.lifted = lift(vectors, self._array(self.mirror), self.torch or np)
        self.weighted = self.lifted * self._array(weights)

    def multipliers(self) -> Floats:
        """Z after the projection; the largest eigenvalue of V'ZV is then penalty * level."""
        return as_numpy(self.penalty * (self.M - self.weighted @ self.lifted.T))

    def bound(self, Z: Floats, top: float | None = None, steps: int = 0) -> Bound:
        """C_00 + the k largest r_i + (1 + k) top, and the r_i, for C = cost - Z.

        r_i = C_ii + 2 C_0i + the k - 1 largest C_ij. It bounds x'Qx for any symmetric Z if top is
        at least the largest eigenvalue of V'ZV, because <Z, Y> <= (1 + k) top; without ``top``,
        that is proved. So many steps of antisymmetric multipliers lower the r_i.
        """
        n, k = len(Z) - 1, self.k
        if top is None:
            Z = (Z + Z.T) / 2
            slack = rounding(n, 4 * float(np.linalg.norm(Z)))
            top = slack + largest_eigenvalue(reflect(Z, self.mirror))
        C = self.Q / self.scale - Z[1:, 1:]
        linear = C.diagonal() + 2 * -Z[0, 1:]
        rows = lower_rows(C, linear, k, -np.inf, steps=steps)
        assert rows.row_values is not None
        margin = rounding(2 * k, (k + 1) ** 2 * (largest_entry(Z) + largest_entry(self.cost)))
        total = rows.value - Z[0, 0] + (1 + k) * top + margin
        return Bound(float(self.scale * total), "dnn", row_values=self.scale * rows.row_values)

    def update(self) -> None:
        """Move Y to the nearest matrix with entries in [0, 1] and the right border, then Z."""
        b = self.penalty
        diagonal = self.cost.diagonal() - self.Z.diagonal()
        diagonal = (self.weighted * self.lifted).sum(1) + diagonal / b
        border = self.lifted @ self.weighted[0] - self.Z[0] / b
        capped = _capped(as_numpy((2 * border + diagonal) / 3)[1:], self.k)
        x = self._array(np.append(1.0, capped))
        whole = not self.large or self.torch is not None
        tiles = spans(len(self.M), len(self.M) if whole else TILE_ROWS)
        distances = np.empty((len(tiles), 2))

        def work(number: int) -> None:
            distances[number] = self._sweep(x, *tiles[number])

        run_tiles(work, range(len(tiles)))
        primal, dual = np.sqrt(distances.sum(axis=0))
        self.steps += 1
        if self.steps % 10 == 0 and primal > BALANCE * b * dual:
            self._set_penalty(1.5 * b)
        elif self.steps % 10 == 0 and b * dual > BALANCE * primal:
            self._set_penalty(b / 1.5)

    def _sweep(self, x: Any, first: int, last: int) -> tuple[float, float]:
        """Set rows of Y, Z and M for a border x; the squared distances of Y from P and before."""
        rows, b = slice(first, last), self.penalty
        P, Z, M = self.weighted[rows] @ self.lifted.T, self.Z[rows], self.M[rows]
        before = M - Z / b
        Y = (P + (self.cost[rows] - Z) / b).clip(0.0, 1.0)
        Y[:, 0] = x[rows]
        if first == 0:
            Y[0] = x
        own = (self.torch or np).arange(first, last)
        Y[own - first, own] = x[rows]
        gap = Y - P
        Z += OVER_RELAXATION * b * gap
        M[:] = Y + Z / b
        return float((gap * gap).sum()), float(((Y - before) ** 2).sum())

    def _set_penalty(self, penalty: float) -> None:
        self.M += self.Z * (1 / penalty - 1 / self.penalty)
        self.penalty = penalty

    def restricted(self, part: Subproblem, inside: Mask, outside: Mask) -> "DoublyNonnegative":
        """The relaxation of the part that is left, which starts from where this one stands."""
        new = DoublyNonnegative(part, self.scale)
        keep = np.concatenate([[True], ~(inside | outside)])
        fixed = np.concatenate([[True], inside])
        old, Y = as_numpy(self.Z), as_numpy(self.Y)
        Z = old[np.ix_(keep, keep)]
        Z[0] = Z[:, 0] = old[np.ix_(fixed, keep)].sum(axis=0)
        # the border now stands for 1 + f entries of (1, x), which the trace no longer counts
        spare = self.penalty * self.level * int(inside.sum())
        Z[0, 0] = float(old[np.ix_(fixed, fixed)].sum()) - spare
        new.penalty, new.steps = self.penalty, self.steps
        new._start(Y[np.ix_(keep, keep)], Z)
        return new


def _torch(n: int) -> Any:
    """The module, if it is installed, there is a GPU, and the problem is large enough for it."""
    if n < MIN_GPU_ITEMS or find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def mirror(n: int, k: int) -> Floats:
    """The v for which I - 2vv' sends (-k; e) to the first axis."""
    v = np.ones(n + 1)
    v[0] = -k - np.sqrt(float(n + k**2))
    return v / np.linalg.norm(v)


def lift(X: Any, v: Any, xp: Any = np) -> Any:
    """VX, V the columns of I - 2vv' but the first."""
    along = -2.0 * (v[1:] @ X)
    return xp.concatenate([(v[0] * along)[None], X + v[1:, None] * along])


def reflect(A: Floats, v: Floats) -> Floats:
    """V'AV, V the columns of I - 2vv' but the first, for symmetric A."""
    w = 2 * (A @ v)
    w -= (v @ w) * v
    out = A[1:, 1:] - np.outer(v[1:], w[1:])
    out -= np.outer(w[1:], v[1:])
    return np.asarray(out)


class Inner:
    """V'MV of a large relaxation, known by its products."""

    def __init__(self, relaxation: DoublyNonnegative) -> None:
        self.M, self.xp = relaxation.M, relaxation.torch or np
        self.array = relaxation._array
        self.v = self.array(relaxation.mirror)

    def __len__(self) -> int:
        return len(self.M) - 1

    def __matmul__(self, X: Any) -> Any:
        lifted = lift(X, self.v, self.xp)
        product = self.M @ lifted if self.xp is not np else _product(self.M, lifted)
        return (product - (2.0 * self.v)[:, None] * (self.v @ product))[1:]


def _product(M: Any, X: Any) -> Any:
    """MX by all threads."""
    product = np.empty_like(X)

    def work(span: tuple[int, int]) -> None:
        np.matmul(M[slice(*span)], X, out=product[slice(*span)])

    run_tiles(work, spans(len(X), TILE_ROWS))
    return product


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
