"""Alternating directions on the doubly non-negative relaxation."""

import sys
from importlib.util import find_spec
from math import inf
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import largest_entry
from bestk.bqp.relaxations import eigen
from bestk.bqp.relaxations.budget import Budget
from bestk.bqp.relaxations.mixtures import Core
from bestk.bqp.relaxations.rows import lower_rows, row_values
from bestk.bqp.relaxations.subproblem import Bound, Subproblem, k_largest, rounding
from bestk.bqp.relaxations.triangles import Triangles
from bestk.native.threads import run_tiles, spans, threads

OVER_RELAXATION = 1.6  # step length of the multipliers
BALANCE = 4.0  # ratio of the residuals beyond which the penalty moves
STEPS_TO_BALANCE = 10  # from one look at them to the next
FOLLOW_ITEMS = 500  # above it, a subspace that follows the matrix is cheaper than a decomposition
TRIANGLE_RATE = 0.4  # step length of the weights of triangles, times the penalty
MIN_TRIANGLE_ITEMS = 150  # below it, splitting is cheaper
SWEEP_COST = 1.9e-9  # seconds, about, to update an entry
DEVICE = "cuda"
MIN_GPU_ITEMS = 2000  # below it, a GPU is not worth the start of its library
MIN_GPU_SECONDS = 10.0  # the same: that start takes some seconds


class DoublyNonnegative:
    """Upper bounds on a problem from its lifting to Y = (1, x)(1, x)', improved step by step.

    Y is positive semidefinite with trace 1 + k and orthogonal to N = (-k; e), so Y = V R V' with
    V a basis of the complement of N; its entries lie in [0, 1]. The two properties hold in turn,
    and the multipliers Z of their agreement give a bound, whatever they are. Large problems are
    in single precision, or on a GPU, except for the proof. As in Oliveira, Wolkowicz, Xu, "ADMM for
    the SDP relaxation of the QAP", Math. Prog. Comp. 10, 2018.
    """

    def __init__(self, part: Subproblem, scale: float, core: Indices | None = None) -> None:
        self.core = np.arange(part.n) if core is None else core
        n, k = len(self.core), part.k
        self.Q, self.k, self.scale = part.Q, k, scale  # a power of two: scaling is exact
        self.large, self.is_whole = n > FOLLOW_ITEMS, n == part.n
        self.torch = gpu_module(n)
        self.dtype = np.float32 if self.large and self.torch is None else np.float64
        self.triangles: Triangles | None = None
        cost = np.zeros((n + 1, n + 1), self.dtype)
        cost[1:, 1:] = self._inner() / scale
        self.cost = self._array(cost)
        self.mirror = eigen.mirror(n, k)
        self.penalty = 0.3
        self.steps = 0
        self.leading = eigen.LeadingEigenpairs(k + 20)
        share = k / n
        Y = np.full((n + 1, n + 1), share * (k - 1) / max(n - 1, 1), self.dtype)
        Y[0] = Y[:, 0] = share
        Y.flat[:: n + 2] = share
        Y[0, 0] = 1.0
        Z = np.zeros((n + 1, n + 1), self.dtype)
        Z[1:, 1:] = (cost.sum(dtype=float) - cost.trace(dtype=float)) / max(n * (n - 1), 1)
        self._start(Y, Z)

    def _inner(self) -> Floats:
        """A copy of Q on the core, with the triangles added."""
        whole = np.array_equal(self.core, np.arange(len(self.Q)))
        inner = self.Q.copy() if whole else self.Q[np.ix_(self.core, self.core)]
        if self.triangles is not None:
            extra = np.zeros_like(inner)
            self.triangles.add_to(extra, self.scale * self.triangles.weights)  # exact
            inner += extra
        return np.asarray(inner)

    def add_triangles(self) -> bool:
        """Look for triangle inequalities that do not hold; whether there are any."""
        if self.torch is not None or len(self.core) < MIN_TRIANGLE_ITEMS:
            return False
        self.triangles = self.triangles or Triangles(len(self.core))
        return self.triangles.find(eigen.as_numpy(self.Y)) > 0

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
        return eigen.as_numpy((self.M[0] - self.Z[0] / self.penalty)[1:])

    def project(self, exact: bool = True) -> None:
        """Move R to the nearest psd matrix of trace 1 + k, or close to it; P = V R V'."""
        if self.triangles is not None:
            b = self.penalty
            change = self.triangles.move(lambda *at: self.M[at] - self.Z[at] / b, TRIANGLE_RATE * b)
            self.triangles.add_to(self.cost[1:, 1:], change)
        xp = self.torch or np
        v = self._array(self.mirror)
        inner = eigen.Inner(self.M, v, self._array, xp) if self.large else eigen.reflect(self.M, v)
        weights, vectors, self.level = self.leading.project(inner, 1.0 + self.k, exact)
        self.lifted = eigen.lift(vectors, v, xp)
        self.weighted = self.lifted * self._array(weights)

    def multipliers(self) -> Floats:
        """Z after the projection; the largest eigenvalue of V'ZV is then penalty * level."""
        return eigen.as_numpy(self.penalty * (self.M - self.weighted @ self.lifted.T))

    def bound(
        self, Z: Floats, steps: int = 0, budget: Budget | None = None, level: float | None = None
    ) -> Bound:
        """The bound of ``dnn_bound`` for Z, and its r_i, which so many steps of multipliers lower.

        Items outside the core count, too. ``level``: lambda_max(V'ZV), if it is known.
        """
        budget = budget or Budget()
        m, k = len(Z) - 1, self.k
        Z = (Z + Z.T) / 2
        slack = rounding(m, 4 * float(np.linalg.norm(Z)))
        inner = eigen.reflect(Z, self.mirror)
        top = slack + eigen.largest_eigenvalue(inner, budget.deadline, level)
        if top == inf:
            return Bound(inf, "dnn")
        Z, top = self.scale * Z, self.scale * top  # exact
        inner = self._inner()
        size = largest_entry(Z) + largest_entry(self.Q) + largest_entry(inner)
        rows = inner - Z[1:, 1:]
        linear, lost, order = rows.diagonal() - 2 * Z[0, 1:], -inf, self.core
        constant = (1 + k) * top - Z[0, 0]
        margin = rounding(2 * k + m, (k + 1) ** 2 * size + (k + 1) * abs(top))
        if not self.is_whole:
            lost = -k_largest(row_values(rows, linear, k), k)
            core = Core(self.core, k, Z, top, rows, linear, self.scale)
            mean = (constant - lost) / k
            order, rows, linear, more = core.extended(self.Q, mean, budget.deadline)
            margin += more
        lowered = lower_rows(rows, linear, k, -inf, budget, steps)
        total = lowered.value + constant + margin
        values = lowered.row_values
        assert values is not None
        values = values[np.argsort(order)]
        details = {"lost": lost + lowered.value}  # by items outside the core
        return Bound(float(total), "dnn", row_values=values, details=details)

    def update(self) -> None:
        """Move Y to the nearest matrix with entries in [0, 1] and the right border, then Z."""
        b = self.penalty
        diagonal = self.cost.diagonal() - self.Z.diagonal()
        diagonal = (self.weighted * self.lifted).sum(1) + diagonal / b
        border = self.lifted @ self.weighted[0] - self.Z[0] / b
        nearest = capped(eigen.as_numpy((2 * border + diagonal) / 3)[1:], self.k)
        x = self._array(np.append(1.0, nearest))
        n = len(self.M)
        tiles = eigen.cached_tiles(n)
        if self.large:
            height = n if self.torch is not None else eigen.TILE_ROWS
            tiles = [slice(*span) for span in spans(n, height)]
        distances = np.empty((len(tiles), 2))
        self.steps += 1

        def work(number: int) -> None:
            distances[number] = self._sweep(x, tiles[number])

        with threads(seconds=SWEEP_COST * n**2):
            run_tiles(work, range(len(tiles)))
        primal, dual = np.sqrt(distances.sum(axis=0))
        if primal > BALANCE * b * dual:
            self._set_penalty(1.5 * b)
        elif b * dual > BALANCE * primal:
            self._set_penalty(b / 1.5)

    def _sweep(self, x: Any, rows: slice) -> tuple[float, float]:
        """Set rows of Y, Z and M for a border x; squared distances of Y from P and before, or 0."""
        b, xp, primal, dual = self.penalty, self.torch or np, 0.0, 0.0
        P, Z, M = self.weighted[rows] @ self.lifted.T, self.Z[rows], self.M[rows]
        measured = self.steps % STEPS_TO_BALANCE == 0
        before = M - Z / b if measured else M
        Y = self.cost[rows] - Z  # in place from here on: memory takes longer than arithmetic
        Y /= b
        Y += P
        xp.clip(Y, 0.0, 1.0, out=Y)
        Y[:, 0] = x[rows]
        if rows.start == 0:
            Y[0] = x
        own = xp.arange(rows.start, rows.stop)
        Y[own - rows.start, own] = x[rows]
        P -= Y
        if measured:
            primal, dual = float(xp.linalg.norm(P)), float(xp.linalg.norm(Y - before))
        P *= OVER_RELAXATION * b
        Z -= P
        xp.divide(Z, b, out=M)
        M += Y
        return primal**2, dual**2

    def _set_penalty(self, penalty: float) -> None:
        self.M += self.Z * (1 / penalty - 1 / self.penalty)
        self.penalty = penalty

    def restricted(self, part: Subproblem, inside: Mask, outside: Mask) -> "DoublyNonnegative":
        """The relaxation of the part that is left, which starts from where this one stands."""
        left, chosen = ~(inside | outside), inside[self.core].astype(float)
        # (1, x) of the items inside, those outside the core as its mean
        fixed = np.append(1.0, chosen + (inside.sum() - chosen.sum()) / len(self.core))
        Z = np.array(eigen.as_numpy(self.Z))
        border = fixed @ Z
        # the border now stands for 1 + f entries of (1, x), which the trace no longer counts
        Z[0] = Z[:, 0] = border
        Z[0, 0] = border @ fixed - self.penalty * self.level * inside.sum()
        places = np.flatnonzero(left[self.core])
        return self._moved(part, (np.cumsum(left) - 1)[self.core[places]], places, Z)

    def widened(self, part: Subproblem, items: Indices) -> "DoublyNonnegative":
        """The same with more items in the core, which start as the mean of those in it."""
        places = np.minimum(np.arange(len(self.core) + len(items)), len(self.core))
        return self._moved(part, np.append(self.core, items), places, eigen.as_numpy(self.Z))

    def _moved(
        self, part: Subproblem, core: Indices, places: Indices, Z: Floats
    ) -> "DoublyNonnegative":
        """The relaxation of another core, which starts from Z and the other state of this one.

        ``places`` has for each item its place in this core, or the size of this core if it is new.
        """
        new = DoublyNonnegative(part, self.scale, core)
        new.penalty, new.steps = self.penalty, self.steps
        rows = np.append(0, places + 1)
        both = np.ix_(rows, rows)
        Z = np.vstack([Z, Z[1:].mean(axis=0)])
        Z = np.column_stack([Z, Z[:, 1:].mean(axis=1)])
        new._start(np.pad(eigen.as_numpy(self.Y), (0, 1))[both], Z[both])
        if self.triangles is not None:
            new.triangles = self.triangles.moved(places)
            new.cost[1:, 1:] = new._inner() / self.scale
        return new


def gpu_module(n: int, seconds: float = 0.0) -> Any:
    """The module, if there is a GPU and the problem is large enough; loaded only if time is."""
    late = seconds < MIN_GPU_SECONDS and "torch" not in sys.modules
    if n < MIN_GPU_ITEMS or late or find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def capped(target: Floats, k: int) -> Floats:
    """The nearest point with entries in [0, 1] that add up to k."""
    # clip(target - shift, 0, 1) has a sum that is linear in the shift between these corners
    corners = np.concatenate([target - 1.0, target])
    order = np.argsort(corners, kind="stable")
    corners, steps = corners[order], np.where(order < len(target), 1, -1)
    sums = len(target) - np.append(0.0, np.cumsum(np.cumsum(steps)[:-1] * np.diff(corners)))
    return np.clip(target - np.interp(-k, -sums, corners), 0.0, 1.0)
