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

MAX_STEPS = 40  # of the mixture of an item
DAMPING = 0.1  # of the steps, from one to the next
ROOM = 0.05  # of the mean row, by which the rows outside are to be below those of the core


@dataclass(frozen=True, eq=False)
class Core:
    """Some items, and a relaxation of them: C = Q - Z, with top at least lambda_max(V'ZV)."""

    items: Indices
    k: int
    Z: Floats
    top: float
    rows: Floats  # C
    linear: Floats  # C_ii + 2 C_0i
    unit: float  # a size of entries: single precision has no room for 1e60

    def extended(
        self, Q: Floats, mean: float, deadline: float = inf
    ) -> tuple[Indices, Floats, Floats, float]:
        """All items, C and the linear terms of a relaxation of them, and a margin for rounding.

        S = top I - Z is positive semidefinite on the complement of N = (-k; e). If N'w = 1 for
        each row w of W, then WSW' is so for more items, and Z may be extended by top I - WSW'. An
        item i outside is worth

            r_i = Q_ii - top + w'Sw + 2 (Sw)_0 + the k - 1 largest of Q_ij + (Sw)_j,

        which is convex in w. Where a pair exceeds what the row of its item in the core can bear,
        the row outside counts the excess, too. ``mean`` is the size of a row.
        """
        m, n, k = len(self.items), len(Q), self.k
        others = np.delete(np.arange(n), self.items)
        S = -self.Z
        S.flat[:: m + 2] += self.top
        _, least, sums = row_tops(self.rows, np.arange(m), k)
        values = self.linear + sums
        aim = float(np.partition(values, m - k)[m - k])
        bearable = least + np.maximum(aim - values, 0.0) / (k - 1)
        W = self._mixtures(Q, S, bearable, aim - ROOM * abs(mean), deadline)
        SW = product(W, S)
        rows = np.empty((n, n))
        rows[:m, :m] = self.rows
        rows[m:, m:] = product(SW, np.ascontiguousarray(W.T))
        linear = rows.diagonal()[m:] - self.top + Q.diagonal()[others] + 2 * SW[:, 0]
        for first, last in spans(n - m, TILE_ROWS):
            tile, own = others[first:last], slice(m + first, m + last)
            rows[own, m:] += Q[tile][:, others]
            pairs = Q[tile][:, self.items] + SW[first:last, 1:]
            excess = np.maximum(pairs - bearable, 0.0)
            rows[own, :m] = pairs + excess
            rows[:m, own] = (pairs - excess).T
        # N'w is not quite 1, and WSW' not quite what was computed
        spread = float(np.abs(W).sum(axis=1).max())
        margin = rounding(2 * m, 2 * (k + 1) ** 3 * sqrt(m) * spread**2 * largest_entry(S))
        order = np.concatenate([self.items, others])
        return order, rows, np.concatenate([self.linear, linear]), margin

    def _mixtures(
        self, Q: Floats, S: Floats, bearable: Floats, aim: float, deadline: float
    ) -> Floats:
        """W by subgradient steps from the mean of the core, until each r_i is below the aim."""
        m, k = len(self.items), self.k
        others = np.delete(np.arange(len(Q)), self.items)
        normal = np.ones(m + 1)
        normal[0] = -k
        single, limits = ((part / self.unit).astype(np.float32) for part in (S, bearable))
        aim /= self.unit
        W = np.full((len(others), m + 1), 1 / m, np.float32)
        W[:, 0] = 0.0

        def lower(span: tuple[int, int]) -> None:
            """Lower the rows of some items."""
            live, best = np.arange(*span), np.full(len(W), inf)
            w, alone = W[live], (Q.diagonal()[others[live]] - self.top) / self.unit
            pairs = (Q[others[live]][:, self.items] / self.unit).astype(np.float32)
            for number in range(MAX_STEPS):
                if perf_counter() > deadline or not len(live):
                    return
                Sw = w @ single
                rows = pairs + Sw[:, 1:]
                over = np.maximum(rows - limits, 0.0)
                rows += over
                tops = np.argpartition(rows, m - k, axis=1)[:, 1 - k :]
                values = alone + np.einsum("ij,ij->i", Sw, w) + 2 * Sw[:, 0]
                values += np.take_along_axis(rows, tops, 1).sum(axis=1)
                better = values < best[live]
                W[live[better]], best[live[better]] = w[better], values[better]
                counted = 1 + (np.take_along_axis(over, tops, 1) > 0)
                high = values > aim
                live, w, alone, pairs, tops, counted, values = (
                    part[high] for part in (live, w, alone, pairs, tops, counted, values)
                )
                slope = 2 * w
                slope[:, 0] += 2
                slope[np.arange(len(live))[:, None], tops + 1] += counted
                slope = slope @ single
                slope -= np.outer(slope @ normal, normal / (normal @ normal)).astype(np.float32)
                step = (values - aim) / np.maximum((slope * slope).sum(axis=1), 1e-30)
                w -= (step / (1 + DAMPING * number))[:, None].astype(np.float32) * slope

        run_tiles(lower, spans(len(others), TILE_ROWS))
        exact = W.astype(np.float64)
        exact[:, 1:] += ((1 - exact @ normal) / m)[:, None]
        return exact
