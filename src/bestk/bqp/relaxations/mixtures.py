"""Items outside the core of a relaxation, each represented by a mixture of those in it."""

from dataclasses import dataclass
from math import inf, sqrt
from time import perf_counter

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import largest_entry
from bestk.bqp.relaxations.eigen import TILE_ROWS, product
from bestk.bqp.relaxations.rows import row_tops
from bestk.bqp.relaxations.subproblem import rounding
from bestk.native.threads import run_tiles, spans

# Steps to improve the mixture of an item, at most.
MAX_STEPS = 40
# The length of step s is divided by 1 + DAMPING s.
DAMPING = 0.1
# The squared slope of a row counts at least as this, so that nothing is divided by 0.
MIN_SQUARED_SLOPE = 1e-30
# The rows outside the core are to be below those of the core by this share of the mean row.
ROOM = 0.05


@dataclass(frozen=True, eq=False)
class RelaxedRows:
    """The rows C = Q - Z of a relaxation of all items, in any order."""

    items: Indices
    """The item of each row."""

    rows: Floats
    """C, with one row and column for each item in that order."""

    linear: Floats
    """C_ii + 2 C_0i of each item in that order."""

    margin: float = 0.0
    """What the bound must be raised by for rounding, where rows come from those of a core."""


@dataclass(frozen=True, eq=False)
class Core:
    """Some items, and a relaxation of them: C = Q - Z, with top at least lambda_max(V'ZV).

    V is an orthonormal basis of the complement of N = (-k; e).
    """

    items: Indices
    """The m items of the core, as the problem numbers them."""

    k: int
    """How many items a choice has."""

    Z: Floats
    """The multipliers: m + 1 rows and columns, of which the first belong to the border."""

    top: float
    """At least the largest eigenvalue of V'ZV."""

    rows: Floats
    """C: m rows and columns."""

    linear: Floats
    """C_ii + 2 C_0i of each item."""

    unit: float
    """The size of entries, by which they are divided in single precision."""

    def extended(
        self,
        Q: Floats,
        mean_row: float,
        deadline: float = inf,
    ) -> RelaxedRows:
        """The relaxation of all items of a problem.

        S = top I - Z is positive semidefinite on the complement of N. If N'w = 1 for each row w of
        W, then WSW' is so for more items, and Z may be extended by top I - WSW'. An item i outside
        is worth

            r_i = Q_ii - top + w'Sw + 2 (Sw)_0 + the k - 1 largest of Q_ij + (Sw)_j,

        which is convex in w. Where a pair exceeds what the row of its item in the core can bear,
        the row outside counts the excess, too.

        Q: the matrix of the problem.
        mean_row: the bound divided by k, the size of a row.
        """
        m = len(self.items)
        n = len(Q)
        k = self.k
        outside = np.delete(np.arange(n), self.items)
        S = -self.Z
        S.flat[:: m + 2] += self.top
        _, lowest_tops, sums = row_tops(self.rows, np.arange(m), k)
        values = self.linear + sums
        kth_value = float(np.partition(values, m - k)[m - k])
        # An entry up to this changes no row of the core, or not beyond the k-th largest value.
        bearable = lowest_tops + np.maximum(kth_value - values, 0.0) / (k - 1)
        aim = kth_value - ROOM * abs(mean_row)
        search = _MixtureSearch(self, Q, S, bearable, aim)
        W = search.mixtures(deadline)
        SW = product(W, S)
        rows = np.empty((n, n))
        rows[:m, :m] = self.rows
        rows[m:, m:] = product(SW, np.ascontiguousarray(W.T))
        squares = rows.diagonal()[m:]  # w'Sw of each mixture
        linear = squares - self.top + Q.diagonal()[outside] + 2 * SW[:, 0]
        for first, last in spans(n - m, TILE_ROWS):
            items = outside[first:last]
            places = slice(m + first, m + last)
            rows[places, m:] += Q[items][:, outside]
            pairs = Q[items][:, self.items] + SW[first:last, 1:]
            excess = np.maximum(pairs - bearable, 0.0)
            rows[places, :m] = pairs + excess
            rows[:m, places] = (pairs - excess).T
        # N'w is not quite 1, and WSW' not quite what was computed.
        sizes_of_mixtures = np.abs(W).sum(axis=1)
        spread = float(sizes_of_mixtures.max())
        size = 2 * (k + 1) ** 3 * sqrt(m) * spread**2 * largest_entry(S)
        margin = rounding(2 * m, size)
        return RelaxedRows(
            items=np.concatenate([self.items, outside]),
            rows=rows,
            linear=np.concatenate([self.linear, linear]),
            margin=margin,
        )


class _MixtureSearch:
    """Subgradient steps that lower the row of each item outside a core until it is below an aim.

    The steps are in single precision, in units of ``core.unit``: any mixture w with N'w = 1 gives
    a valid bound.
    """

    def __init__(
        self,
        core: Core,
        Q: Floats,
        S: Floats,
        bearable: Floats,
        aim: float,
    ) -> None:
        m = len(core.items)
        outside = np.delete(np.arange(len(Q)), core.items)
        self.Q = Q
        self.core = core
        self.outside = outside
        self.normal = np.ones(m + 1)
        self.normal[0] = -core.k
        self.S = (S / core.unit).astype(np.float32)
        self.bearable = (bearable / core.unit).astype(np.float32)
        self.aim = aim / core.unit
        # One mixture in each row; each starts as the mean of the core.
        shape = (len(outside), m + 1)
        self.W = np.full(shape, 1 / m, np.float32)
        self.W[:, 0] = 0.0

    def mixtures(self, deadline: float) -> Floats:
        """The mixtures in double precision, a row for each item outside, with N'w = 1."""

        def lower(span: tuple[int, int]) -> None:
            self._lower(np.arange(*span), deadline)

        run_tiles(lower, spans(len(self.outside), TILE_ROWS))
        W = self.W.astype(np.float64)
        missing = 1 - W @ self.normal
        for_each_item = missing / len(self.core.items)
        W[:, 1:] += for_each_item[:, None]
        return W

    def _lower(self, active: Indices, deadline: float) -> None:
        """Improve the mixtures of some items, by their places among those outside."""
        m = len(self.core.items)
        k = self.core.k
        unit = self.core.unit
        lowest = np.full(len(self.W), inf)  # the values of the mixtures in W
        items = self.outside[active]
        w = self.W[active]
        own_terms = (self.Q.diagonal()[items] - self.core.top) / unit
        pairs_with_core = self.Q[items][:, self.core.items]
        pairs = (pairs_with_core / unit).astype(np.float32)
        for step in range(MAX_STEPS):
            if perf_counter() > deadline or not len(active):
                return
            Sw = w @ self.S
            rows = pairs + Sw[:, 1:]
            excess = np.maximum(rows - self.bearable, 0.0)
            rows += excess
            by_size = np.argpartition(rows, m - k, axis=1)
            tops = by_size[:, 1 - k :]
            squares = np.einsum("ij,ij->i", Sw, w)
            values = own_terms + squares + 2 * Sw[:, 0]
            values += np.take_along_axis(rows, tops, 1).sum(axis=1)
            is_better = values < lowest[active]
            self.W[active[is_better]] = w[is_better]
            lowest[active[is_better]] = values[is_better]
            # Entries with an excess count twice in the value, and so in its slope.
            counts = 1 + (np.take_along_axis(excess, tops, 1) > 0)
            # Items that are below the aim are done.
            is_high = values > self.aim
            active = active[is_high]
            w = w[is_high]
            own_terms = own_terms[is_high]
            pairs = pairs[is_high]
            slopes = self._slopes(w, tops[is_high], counts[is_high])
            squared_slopes = np.maximum((slopes * slopes).sum(axis=1), MIN_SQUARED_SLOPE)
            lengths = (values[is_high] - self.aim) / squared_slopes
            damped = lengths / (1 + DAMPING * step)
            w -= damped[:, None].astype(np.float32) * slopes

    def _slopes(self, w: Floats, tops: Indices, counts: Indices) -> Floats:
        """Subgradients of r_i at the mixtures w, made orthogonal to N.

        The value is w'Sw + 2 (Sw)_0 + the sum of count_j (Sw)_j over the largest entries j, so its
        slope is S (2w + 2 e_0 + the sum of count_j e_j).

        tops: where the largest entries are, among the items of the core; counts: of each, 1 or 2.
        """
        direction = 2 * w
        direction[:, 0] += 2
        numbers = np.arange(len(w))[:, None]
        direction[numbers, tops + 1] += counts
        slopes = direction @ self.S
        along_normal = slopes @ self.normal
        scaled_normal = self.normal / (self.normal @ self.normal)
        slopes -= np.outer(along_normal, scaled_normal).astype(np.float32)
        return slopes
