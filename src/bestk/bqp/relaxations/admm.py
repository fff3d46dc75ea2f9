"""Alternating directions on the doubly non-negative relaxation."""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from types import ModuleType

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import largest_entry
from bestk.bqp.relaxations import eigen
from bestk.bqp.relaxations.arrays import AnyArray, ArrayLibrary, as_numpy
from bestk.bqp.relaxations.budget import Budget
from bestk.bqp.relaxations.mixtures import Core, RelaxedRows
from bestk.bqp.relaxations.rows import lower_rows, row_values
from bestk.bqp.relaxations.subproblem import Bound, Subproblem, k_largest, rounding
from bestk.bqp.relaxations.triangles import Triangles
from bestk.native.threads import run_tiles, spans, threads

# The penalty at the start, for a matrix Q whose entries are scaled to at most 1.
FIRST_PENALTY = 0.3
# Eigenpairs that the first projection is expected to need, beyond k.
FIRST_SPARE_PAIRS = 20
# Length of the step of the multipliers; 1 would be the step of the plain method.
OVER_RELAXATION = 1.6
# The penalty changes where one residual is more than this times the other.
BALANCE = 4.0
# By how much the penalty changes.
PENALTY_FACTOR = 1.5
# The residuals are measured at every so many steps.
STEPS_TO_BALANCE = 10
# With more items than this, following a subspace costs less than decomposing the matrix.
FOLLOW_ITEMS = 500
# Length of the step of the weights of triangles, times the penalty.
TRIANGLE_RATE = 0.4
# With fewer items than this, splitting the problem costs less than triangles.
MIN_TRIANGLE_ITEMS = 150
# Seconds to update an entry, about, by which it is decided whether threads are worth it.
SWEEP_COST = 1.9e-9
DEVICE = "cuda"
# With fewer items than this, a GPU is not worth the start of its library.
MIN_GPU_ITEMS = 2000
# With fewer seconds than this, the library of the GPU, whose start takes some, is not loaded.
MIN_GPU_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class CoreBound(Bound):
    """A bound by the relaxation of some items, and how much the others weigh in it."""

    lost: float = -inf
    """By how much the items outside the core raise the bound; -inf if there are none."""


class DoublyNonnegative:
    """Upper bounds on a problem from its lifting to Y = (1, x)(1, x)', improved step by step.

    Such a Y is positive semidefinite with trace 1 + k and orthogonal to N = (-k; e), and its
    entries lie in [0, 1]. The relaxation keeps one matrix for each of the two properties, P and Y,
    and multipliers Z, which bring them together; whatever they are, they give a bound. With V an
    orthonormal basis of the complement of N, an iteration has two halves:

    - ``project`` sets P = V R V' to the nearest matrix to M = Y + Z / penalty with R psd of trace
      1 + k;
    - ``update`` sets Y to the nearest matrix to P + (cost - Z) / penalty with entries in [0, 1] and
      a border and a diagonal that are those of a choice, and adds 1.6 penalty (Y - P) to Z.

    Large problems are in single precision, or on a GPU, except for the proof. As in Oliveira,
    Wolkowicz, Xu, "ADMM for the SDP relaxation of the QAP", Math. Prog. Comp. 10, 2018.

    Parameters
    ----------
    subproblem : Subproblem
        Two or more of its items are to be chosen.
    scale : float
        A power of two, above the entries of Q: dividing by it is exact.
    core : array of indices, optional
        The open items of the subproblem that are relaxed; all by default. The others are
        represented by mixtures of them in the proof.
    """

    def __init__(self, subproblem: Subproblem, scale: float, core: Indices | None = None) -> None:
        self.core = np.arange(subproblem.n) if core is None else core
        n = len(self.core)
        k = subproblem.k
        self.Q = subproblem.Q
        self.k = k
        self.scale = scale
        self.is_large = n > FOLLOW_ITEMS
        self.is_whole = n == subproblem.n
        """Whether all items are in the core."""
        self.library = _choose_library(n, self.is_large)
        dtype = np.float32 if self.is_large and self.library.is_numpy else np.float64
        self.triangles: Triangles | None = None
        cost = np.zeros((n + 1, n + 1), dtype)
        cost[1:, 1:] = self._core_matrix() / scale
        self.cost = self.library.array(cost)
        """The scaled matrix of the core, with a border of zeros."""
        self.mirror = eigen.mirror(n, k)
        self.penalty = FIRST_PENALTY
        self.steps = 0
        self._dense_eigenpairs = eigen.DenseEigenpairs(k + FIRST_SPARE_PAIRS)
        self._followed_eigenpairs = eigen.FollowedEigenpairs(k + FIRST_SPARE_PAIRS)
        Y = _mean_of_choices(n, k).astype(dtype)
        Z = np.zeros((n + 1, n + 1), dtype)
        Z[1:, 1:] = _mean_of_pairs(cost)
        self._start(Y, Z)

    def _core_matrix(self) -> Floats:
        """A copy of Q on the core, with the weighted triangles added."""
        if np.array_equal(self.core, np.arange(len(self.Q))):
            matrix = self.Q.copy()
        else:
            matrix = self.Q[np.ix_(self.core, self.core)]
        if self.triangles is not None:
            weighted = np.zeros_like(matrix)
            self.triangles.add_to(weighted, self.scale * self.triangles.weights)  # exact
            matrix += weighted
        return np.asarray(matrix)

    def add_triangles(self) -> bool:
        """Look for triangle inequalities that do not hold; whether there are any."""
        if not self.library.is_numpy or len(self.core) < MIN_TRIANGLE_ITEMS:
            return False
        if self.triangles is None:
            self.triangles = Triangles(len(self.core))
        return self.triangles.find(as_numpy(self.Y)) > 0

    def _start(self, Y: AnyArray, Z: AnyArray) -> None:
        """Set out from a matrix with entries in [0, 1] and multipliers."""
        self.Z = self.library.array(Z)
        self.M = self.library.array(Y) + self.Z / self.penalty
        """Y + Z / penalty, which is what the projection takes."""
        self.level = 0.0
        """What the last projection took off the leading eigenvalues."""

    @property
    def Y(self) -> AnyArray:  # noqa: N802, as in the formulas
        """The matrix with entries in [0, 1]."""
        return self.M - self.Z / self.penalty

    @property
    def x(self) -> Floats:
        """The border of Y: the share of each item in the choice."""
        border = self.M[0] - self.Z[0] / self.penalty
        return as_numpy(border[1:])

    def project(self, exact: bool = True) -> None:
        """Move R to the nearest psd matrix of trace 1 + k, or close to it; P = V R V'."""
        if self.triangles is not None:
            self._move_triangles(self.triangles)
        v = self.library.array(self.mirror)
        trace = 1.0 + self.k
        if self.is_large:
            operator = eigen.ReflectedOperator(self.M, v, self.library)
            projection = self._followed_eigenpairs.project(operator, trace, exact)
        else:
            reflected = eigen.reflect(self.M, v)
            projection = self._dense_eigenpairs.project(reflected, trace)
        self.level = projection.level
        self.lifted = eigen.lift(projection.vectors, v, self.library)
        """The vectors of P, one in each column."""
        self.weighted = self.lifted * self.library.array(projection.weights)
        """The same, each times its eigenvalue, so that P = weighted lifted'."""

    def _move_triangles(self, triangles: Triangles) -> None:
        """Move the weights of triangles, and add the change to the cost."""

        def entries_of_Y(rows: Indices, columns: Indices) -> Floats:  # noqa: N802
            return self.M[rows, columns] - self.Z[rows, columns] / self.penalty

        change = triangles.update_weights(entries_of_Y, TRIANGLE_RATE * self.penalty)
        triangles.add_to(self.cost[1:, 1:], change)

    def multipliers(self) -> Floats:
        """Z after the projection; the largest eigenvalue of V'ZV is then penalty * level."""
        P = self.weighted @ self.lifted.T
        return as_numpy(self.penalty * (self.M - P))

    def bound(
        self,
        Z: Floats,
        steps: int = 0,
        budget: Budget | None = None,
        level: float | None = None,
    ) -> CoreBound:
        """The bound of ``dnn_bound`` for any multipliers Z, with its r_i.

        steps: of further multipliers, which lower the r_i.
        level: lambda_max(V'ZV), if it is known.
        """
        budget = budget or Budget()
        m = len(Z) - 1
        k = self.k
        Z = (Z + Z.T) / 2
        slack = rounding(m, 4 * float(np.linalg.norm(Z)))
        reflected = eigen.reflect(Z, self.mirror)
        top = slack + eigen.largest_eigenvalue(reflected, budget.deadline, level)
        if top == inf:
            return CoreBound(inf, "dnn")
        Z = self.scale * Z  # exact
        top = self.scale * top
        matrix = self._core_matrix()
        size = largest_entry(Z) + largest_entry(self.Q) + largest_entry(matrix)
        C = matrix - Z[1:, 1:]
        linear = C.diagonal() - 2 * Z[0, 1:]
        constant = (1 + k) * top - Z[0, 0]
        size_of_terms = (k + 1) ** 2 * size + (k + 1) * abs(top)
        margin = rounding(2 * k + m, size_of_terms)
        if self.is_whole:
            relaxed = RelaxedRows(self.core, C, linear)
            lowered = lower_rows(relaxed.rows, relaxed.linear, k, -inf, budget, steps)
            lost = -inf
        else:
            value_of_core = k_largest(row_values(C, linear, k), k)
            mean_row = (constant + value_of_core) / k
            core = Core(items=self.core, k=k, Z=Z, top=top, rows=C, linear=linear, unit=self.scale)
            relaxed = core.extended(self.Q, mean_row, budget.deadline)
            lowered = lower_rows(relaxed.rows, relaxed.linear, k, -inf, budget, steps)
            lost = lowered.value - value_of_core
        assert lowered.row_values is not None
        in_order = np.argsort(relaxed.items)
        return CoreBound(
            float(lowered.value + constant + (margin + relaxed.margin)),
            "dnn",
            row_values=lowered.row_values[in_order],
            lost=lost,
        )

    def update(self) -> None:
        """Move Y to the nearest matrix with entries in [0, 1] and the right border, then Z."""
        self.steps += 1
        n = len(self.M)
        x = self._nearest_choice()
        border = self.library.array(np.append(1.0, x))
        if self.is_large:
            height = eigen.TILE_ROWS if self.library.is_numpy else n
            tiles = [slice(*span) for span in spans(n, height)]
        else:
            tiles = eigen.cached_tiles(n)
        squared_residuals = np.empty((len(tiles), 2))  # primal and dual

        def sweep(number: int) -> None:
            residuals = self._sweep(border, tiles[number])
            squared_residuals[number, 0] = residuals.primal**2
            squared_residuals[number, 1] = residuals.dual**2

        with threads(seconds=SWEEP_COST * n**2):
            run_tiles(sweep, range(len(tiles)))
        primal, dual = np.sqrt(squared_residuals.sum(axis=0))
        if primal > BALANCE * self.penalty * dual:
            self._set_penalty(self.penalty * PENALTY_FACTOR)
        elif self.penalty * dual > BALANCE * primal:
            self._set_penalty(self.penalty / PENALTY_FACTOR)

    def _nearest_choice(self) -> Floats:
        """The x with entries in [0, 1] and sum k to which the border and the diagonal are nearest.

        Where Y is a lifted choice, its first row, its first column and its diagonal are (1, x).
        """
        penalty = self.penalty
        shift = self.cost.diagonal() - self.Z.diagonal()
        diagonal = (self.weighted * self.lifted).sum(1) + shift / penalty
        border = self.lifted @ self.weighted[0] - self.Z[0] / penalty
        mean = (2 * border + diagonal) / 3
        return capped(as_numpy(mean)[1:], self.k)

    def _sweep(self, border: AnyArray, rows: slice) -> "_Residuals":
        """Set some rows of Z and M, in place, and measure the residuals at some steps.

        border: (1, x), which Y gets as its first row, its first column and its diagonal.
        """
        penalty = self.penalty
        functions = self.library.functions
        P = self.weighted[rows] @ self.lifted.T
        Z = self.Z[rows]
        M = self.M[rows]
        is_measured = self.steps % STEPS_TO_BALANCE == 0
        Y_before = M - Z / penalty if is_measured else M
        # Y = clip(P + (cost - Z) / penalty), in place: memory takes longer than arithmetic.
        Y = self.cost[rows] - Z
        Y /= penalty
        Y += P
        functions.clip(Y, 0.0, 1.0, out=Y)
        Y[:, 0] = border[rows]
        if rows.start == 0:
            Y[0] = border
        places = functions.arange(rows.start, rows.stop)
        Y[places - rows.start, places] = border[rows]
        # Z moves by OVER_RELAXATION penalty (Y - P), and M = Y + Z / penalty.
        P -= Y
        residuals = _Residuals()
        if is_measured:
            norm = functions.linalg.norm
            primal = float(norm(P))
            dual = float(norm(Y - Y_before))
            residuals = _Residuals(primal, dual)
        P *= OVER_RELAXATION * penalty
        Z -= P
        functions.divide(Z, penalty, out=M)
        M += Y
        return residuals

    def _set_penalty(self, penalty: float) -> None:
        """Change the penalty; Y and Z stay as they are."""
        self.M += self.Z * (1 / penalty - 1 / self.penalty)
        self.penalty = penalty

    def restricted(
        self, subproblem: Subproblem, inside: Mask, outside: Mask
    ) -> "DoublyNonnegative":
        """The relaxation of a subproblem with more items decided, which starts from this one.

        inside, outside: one entry for each open item so far.
        """
        is_open = ~(inside | outside)
        n_inside = inside.sum()
        chosen = inside[self.core].astype(float)
        # (1, x) of the items inside; those outside the core count as the mean of the core.
        n_outside_core = n_inside - chosen.sum()
        fixed = np.append(1.0, chosen + n_outside_core / len(self.core))
        Z = np.array(as_numpy(self.Z))
        border = fixed @ Z
        Z[0] = border
        Z[:, 0] = border
        # The border now stands for 1 + n_inside entries of (1, x), which the trace counts no more.
        Z[0, 0] = border @ fixed - self.penalty * self.level * n_inside
        places = np.flatnonzero(is_open[self.core])
        new_numbers = np.cumsum(is_open) - 1
        core = new_numbers[self.core[places]]
        return self._moved(subproblem, core, places, Z)

    def widened(self, subproblem: Subproblem, items: Indices) -> "DoublyNonnegative":
        """The same with more items in the core, which start as the mean of those in it."""
        m = len(self.core)
        core = np.append(self.core, items)
        places = np.minimum(np.arange(len(core)), m)
        return self._moved(subproblem, core, places, as_numpy(self.Z))

    def _moved(
        self, subproblem: Subproblem, core: Indices, places: Indices, Z: Floats
    ) -> "DoublyNonnegative":
        """The relaxation of another core, which starts from Z and the other state of this one.

        places: for each item of the new core, its place in this one, or the size of this core if
        it is new.
        """
        moved = DoublyNonnegative(subproblem, self.scale, core)
        moved.penalty = self.penalty
        moved.steps = self.steps
        rows = np.append(0, places + 1)
        both = np.ix_(rows, rows)
        # A new item has the mean of the other rows of Z, and zeros in Y.
        mean_row = Z[1:].mean(axis=0)
        Z = np.vstack([Z, mean_row])
        mean_column = Z[:, 1:].mean(axis=1)
        Z = np.column_stack([Z, mean_column])
        Y = np.pad(as_numpy(self.Y), (0, 1))
        moved._start(Y[both], Z[both])
        if self.triangles is not None:
            moved.triangles = self.triangles.for_items(places)
            moved.cost[1:, 1:] = moved._core_matrix() / self.scale
        return moved


@dataclass(frozen=True)
class _Residuals:
    """How far Y is from P and from the Y before, in some rows; 0 if that was not measured."""

    primal: float = 0.0
    dual: float = 0.0


def _mean_of_choices(n: int, k: int) -> Floats:
    """The mean of (1, x)(1, x)' over all choices of k of n items."""
    share = k / n
    share_of_pair = share * (k - 1) / max(n - 1, 1)
    Y = np.full((n + 1, n + 1), share_of_pair)
    np.fill_diagonal(Y, share)
    Y[0] = share
    Y[:, 0] = share
    Y[0, 0] = 1.0
    return Y


def _mean_of_pairs(cost: Floats) -> float:
    """The mean entry off the diagonal of a matrix with a border of zeros, which do not count."""
    n = len(cost) - 1
    total = cost.sum(dtype=float) - cost.trace(dtype=float)
    return float(total / max(n * (n - 1), 1))


def _choose_library(n: int, is_large: bool) -> ArrayLibrary:
    """PyTorch on a GPU for many items, if there is one; else numpy, for large cores in float32."""
    torch = gpu_module(n)
    if torch is not None:
        return ArrayLibrary(torch, torch.float64, DEVICE)
    return ArrayLibrary(np, np.float32 if is_large else np.float64)


def gpu_module(n: int, seconds: float = 0.0) -> ModuleType | None:
    """PyTorch, if there is a GPU and the problem is large enough; loaded only if there is time.

    n: number of items; seconds: how long the work may take.
    """
    is_short = seconds < MIN_GPU_SECONDS and "torch" not in sys.modules
    if n < MIN_GPU_ITEMS or is_short or find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def capped(target: Floats, k: int) -> Floats:
    """The nearest point with entries in [0, 1] that add up to k.

    It is clip(target - shift, 0, 1), whose sum falls linearly in the shift from one corner to the
    next: at target - 1 an entry leaves 1, and at target it comes down to 0.
    """
    n = len(target)
    corners = np.concatenate([target - 1.0, target])
    order = np.argsort(corners, kind="stable")
    corners = corners[order]
    # How many entries fall from each corner on: one more, or one less.
    n_falling = np.cumsum(np.where(order < n, 1, -1))
    falls = n_falling[:-1] * np.diff(corners)
    sums = n - np.append(0.0, np.cumsum(falls))
    shift = np.interp(-k, -sums, corners)
    return np.clip(target - shift, 0.0, 1.0)
