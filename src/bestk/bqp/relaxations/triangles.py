"""Triangle inequalities, multiples of which are added to the objective."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bestk._typing import Floats, Indices

# Takes rows and columns of the lifted matrix Y, numbered from 0 to n; returns its entries there.
Entries: TypeAlias = Callable[[Indices, Indices], Floats]

# Weights are multiples of this, so that sums of weights are exact.
GRID = 2.0**-24
# No weight grows beyond this, in units of the scaled matrix Q, so that sums on the grid stay exact.
MAX_WEIGHT = 2.0**12
# An inequality is looked at only where it fails by more than this; entries of Y lie in [0, 1].
MIN_VIOLATION = 0.005
# At most so many inequalities are added at a time, times the number of items.
MAX_NEW = 4


class Triangles:
    """Inequalities x_i - x_i x_j - x_i x_l + x_j x_l >= 0 with weights of at least 0.

    They hold for every choice: if i is chosen alone, with j, with l, or with both. So adding them
    to x'Qx lowers the value of no choice, and a bound on the sum is a bound on x'Qx. The
    relaxation may violate them, and is made tighter by them.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        """Number of items of the problem."""
        self.items = np.empty((0, 3), np.int64)
        """One row for each inequality: i, j, l."""
        self.weights = np.empty(0)
        """The weight of each inequality."""

    def find(self, Y: Floats) -> int:
        """Add the inequalities that Y violates most, and return their number.

        Y has n + 1 rows and columns: row 0 is (1, x), and the others stand for x_i x_j.
        Inequalities whose weight is 0 are dropped first.
        """
        in_use = self.weights > 0
        self.items = self.items[in_use]
        self.weights = self.weights[in_use]
        x = Y[0, 1:]
        pairs = Y[1:, 1:]
        violated = _violated_triangles(x, pairs)
        numbers = self._numbers(violated.items)
        is_new = ~np.isin(numbers, self._numbers(self.items))
        triples = violated.items[is_new]
        most_violated_first = np.argsort(-violated.excess[is_new], kind="stable")
        added = most_violated_first[: MAX_NEW * self.n]
        weights = np.zeros(len(added))
        self.items = np.concatenate([self.items, triples[added]])
        self.weights = np.concatenate([self.weights, weights])
        return len(added)

    def _numbers(self, triples: Indices) -> Indices:
        """One number for each triple, by which triples are compared."""
        digits = np.array([self.n**2, self.n, 1])
        return np.asarray(triples @ digits)

    def update_weights(self, entries: Entries, rate: float) -> Floats:
        """Raise the weights of inequalities that Y violates, lower the others; return the change.

        entries: returns the entries of Y in some rows and columns, numbered from 0 to n.
        rate: length of the step; an entry that many inequalities share takes a shorter one.
        """
        i, j, l = self.items.T + 1
        border = np.zeros_like(i)
        slack = entries(border, i) - entries(i, j) - entries(i, l) + entries(j, l)
        stepped = self.weights - rate / self._sharing() * slack
        allowed = stepped.clip(0.0, MAX_WEIGHT)
        new_weights = GRID * np.rint(allowed / GRID)
        change = new_weights - self.weights
        self.weights = new_weights
        return change

    def _sharing(self) -> Indices:
        """For each inequality, how many others, with itself, have the entry it shares with most."""
        entry_numbers = []
        for places in ([0, 0], [0, 1], [0, 2], [1, 2]):  # of i, j, l; x_i stands at [i, i]
            pair = np.sort(self.items[:, places], axis=1)
            entry_numbers.append(pair @ [self.n, 1])
        numbers = np.stack(entry_numbers)
        counts = np.bincount(numbers.ravel(), minlength=1)
        return np.asarray(counts[numbers].max(axis=0))

    def add_to(self, matrix: Floats, weights: Floats) -> None:
        """Add to a matrix the symmetric E for which x'Ex is the sum of weighted inequalities.

        matrix: n rows and columns; it is changed.
        weights: one for each inequality.
        """
        i, j, l = self.items.T
        np.add.at(matrix, (i, j), -0.5 * weights)
        np.add.at(matrix, (j, i), -0.5 * weights)
        np.add.at(matrix, (i, l), -0.5 * weights)
        np.add.at(matrix, (l, i), -0.5 * weights)
        np.add.at(matrix, (j, l), 0.5 * weights)
        np.add.at(matrix, (l, j), 0.5 * weights)
        np.add.at(matrix, (i, i), weights)

    def for_items(self, places: Indices) -> "Triangles":
        """The inequalities of a problem of other items, with their weights.

        places: for each item of that problem, its place among the n of this one; n or more for an
        item that is new. Inequalities of an item that is gone are dropped.
        """
        selected = Triangles(len(places))
        is_known = places < self.n
        new_place = np.full(self.n, -1)
        new_place[places[is_known]] = np.flatnonzero(is_known)
        is_kept = (new_place[self.items] >= 0).all(axis=1)
        selected.items = new_place[self.items[is_kept]]
        selected.weights = self.weights[is_kept]
        return selected


@dataclass(frozen=True, eq=False)
class _Violated:
    """Inequalities that fail."""

    items: Indices
    """One row for each: i, j, l."""

    excess: Floats
    """By how much each fails."""


def _violated_triangles(x: Floats, pairs: Floats) -> _Violated:
    """The inequalities that fail by more than MIN_VIOLATION.

    x: the share of each item in the relaxed choice; pairs: what stands for x_i x_j.
    """
    triples = [np.empty((0, 3), np.int64)]
    excesses = [np.empty(0)]
    for i in np.flatnonzero(x > MIN_VIOLATION):
        # No Y_il is above x_i and no Y_jl below 0, so the inequality fails only where Y_ij > 0.
        near = np.flatnonzero(pairs[i] > MIN_VIOLATION)
        near = near[near != i]
        with_i = pairs[i, near]
        between = pairs[np.ix_(near, near)]
        excess = with_i[:, None] + with_i - between - x[i]
        j, l = np.nonzero(np.triu(excess > MIN_VIOLATION, 1))
        same_i = np.full(len(j), i)
        triples.append(np.column_stack([same_i, near[j], near[l]]))
        excesses.append(excess[j, l])
    return _Violated(np.concatenate(triples), np.concatenate(excesses))
