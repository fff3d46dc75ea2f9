"""Triangle inequalities, of which multiples are added to the objective."""

from collections.abc import Callable

import numpy as np

from bestk._typing import Floats, Indices

GRID = 2.0**-24  # weights are multiples of it: their sums are exact
MAX_WEIGHT = 2.0**12
MIN_VIOLATION = 0.005
MAX_NEW = 4  # times the number of items, at a time


class Triangles:
    """x_i - x_i x_j - x_i x_l + x_j x_l >= 0 for every choice: i alone, with j, with l, with both.

    Added to x'Qx with weights >= 0, they lower the value of no choice, so that a bound on the sum
    is a bound on x'Qx; the relaxation, where they can be negative, gets tighter.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.items = np.empty((0, 3), np.int64)  # i, j, l
        self.weights = np.empty(0)

    def find(self, Y: Floats) -> int:
        """Add the triangles that a relaxed Y with border x violates most; return their number."""
        x, pairs = Y[0, 1:], Y[1:, 1:]
        used = self.weights > 0
        self.items, self.weights = self.items[used], self.weights[used]
        found, excess = [np.empty((0, 3), np.int64)], [np.empty(0)]
        for i in np.flatnonzero(x > MIN_VIOLATION):
            near = np.flatnonzero(pairs[i] > MIN_VIOLATION)
            near = near[near != i]
            over = pairs[i, near][:, None] + pairs[i, near] - pairs[np.ix_(near, near)] - x[i]
            j, l = np.nonzero(np.triu(over > MIN_VIOLATION, 1))
            found.append(np.column_stack([np.full(len(j), i), near[j], near[l]]))
            excess.append(over[j, l])
        triples, sizes = np.concatenate(found), np.concatenate(excess)
        new = ~np.isin(self._numbers(triples), self._numbers(self.items))
        order = np.argsort(-sizes[new], kind="stable")[: MAX_NEW * self.n]
        self.items = np.concatenate([self.items, triples[new][order]])
        self.weights = np.concatenate([self.weights, np.zeros(len(order))])
        return len(order)

    def _numbers(self, triples: Indices) -> Indices:
        return np.asarray(triples @ np.array([self.n**2, self.n, 1]))

    def move(self, entries: Callable[[Indices, Indices], Floats], rate: float) -> Floats:
        """Raise the weights of what entries of Y violate, lower the others; return the change."""
        i, j, l = self.items.T + 1
        slack = entries(np.zeros_like(i), i) - entries(i, j) - entries(i, l) + entries(j, l)
        before = self.weights
        self.weights = GRID * np.rint(
            (before - rate / self._sharing() * slack).clip(0.0, MAX_WEIGHT) / GRID
        )
        return self.weights - before

    def _sharing(self) -> Indices:
        """For each triangle, how many have the entry of Y that it shares with most."""
        pairs = [np.sort(self.items[:, two], axis=1) for two in ([0, 0], [0, 1], [0, 2], [1, 2])]
        places = np.stack([pair @ [self.n, 1] for pair in pairs])
        counts = np.bincount(places.ravel(), minlength=1)
        return np.asarray(counts[places].max(axis=0))

    def add_to(self, cost: Floats, weights: Floats) -> None:
        """Add the symmetric matrix whose x'Ex is the weighted sum of all."""
        i, j, l = self.items.T
        for rows, columns, sign in ((i, j, -0.5), (i, l, -0.5), (j, l, 0.5)):
            np.add.at(cost, (rows, columns), sign * weights)
            np.add.at(cost, (columns, rows), sign * weights)
        np.add.at(cost, (i, i), weights)

    def moved(self, places: Indices) -> "Triangles":
        """Those among other items, each of which comes from a place among these or is new."""
        new, known = Triangles(len(places)), places < self.n
        now = np.full(self.n, -1)
        now[places[known]] = np.flatnonzero(known)
        kept = (now[self.items] >= 0).all(axis=1)
        new.items, new.weights = now[self.items[kept]], self.weights[kept]
        return new
