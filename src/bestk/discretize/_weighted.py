"""Cuts of columns whose rows have weights: the methods of cuts.c in real numbers, in numpy."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log, log1p
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from bestk._typing import Array, Floats, Indices
from bestk.tables.weights import first_with_shares

# Scores closer than this, relative to their scale, are equal, as in cuts.c.
TIE = 1e-12


class WeightedColumn(NamedTuple):
    """The distinct known values of a column, and the weight of each class up to each of them."""

    values: Floats
    """Ascending."""

    below: Floats
    """[c, i]: the weight of class c, in effective rows, in the i least values."""

    @classmethod
    def of(
        cls, column: Array, classes: Indices, n_classes: int, in_rows: Floats
    ) -> "WeightedColumn":
        """Add up a column of numbers, NaN where missing; in_rows: weights in effective rows."""
        known = ~np.isnan(column)
        values, place = np.unique(column[known], return_inverse=True)
        cells = classes[known] * len(values) + place
        weights = np.bincount(cells, in_rows[known], minlength=len(values) * n_classes)
        below = np.zeros((n_classes, len(values) + 1))
        np.cumsum(weights.reshape(n_classes, -1), axis=1, out=below[:, 1:])
        return cls(values, below)

    def midpoints(self, places: Sequence[int]) -> Floats:
        """The cuts that have so many values below them."""
        after = np.asarray(places, np.int64)
        low, high = self.values[after - 1], self.values[after]
        middle = 0.5 * low + 0.5 * high
        return np.where((low <= middle) & (middle < high), middle, low)


class Split(NamedTuple):
    """The best cut of an interval of values, and what it gains; -inf where there is none."""

    place: int
    gain: float


NO_SPLIT = Split(0, -np.inf)


def cut_by_majority(column: WeightedColumn, n_classes: int, max_bins: int) -> Floats:
    """CAIM: add the cut that leads to the largest CAIM, while it pays."""
    below = column.below
    tie = TIE * float(below[:, -1].sum())
    whole = float(_majority(below[:, -1]))

    def is_worth(n_bins: int, total: float, accepted: float) -> bool:
        return n_bins <= n_classes or total / n_bins > accepted + tie / n_bins

    def best_split(start: int, stop: int) -> Split:
        if stop - start < 2:
            return NO_SPLIT
        left = below[:, start + 1 : stop] - below[:, start, np.newaxis]
        right = below[:, stop, np.newaxis] - below[:, start + 1 : stop]
        scores = _majority(left) + _majority(right)
        at = first_largest(scores, tie)
        both = below[:, stop] - below[:, start]
        return Split(start + 1 + at, float(scores[at] - _majority(both)))

    edges, splits = [0, len(column.values)], [best_split(0, len(column.values))]
    total, accepted = whole, 0.0
    while len(splits) < min(max_bins, len(column.values)):
        i = first_largest(np.array([split.gain for split in splits]), tie)
        total += splits[i].gain
        if not is_worth(len(splits) + 1, total, accepted):
            break
        accepted = total / (len(splits) + 1)
        _divide(edges, splits, i, best_split)
    return column.midpoints(edges[1:-1])


def cut_by_entropy(column: WeightedColumn, n_classes: int, max_bins: int) -> Floats:
    """MDLP: make the split that saves most entropy, while one is worth its bits."""
    below = column.below
    size = float(below[:, -1].sum())
    tie = TIE * max(float(xlogy(size, size)), 1.0)
    present = np.diff(below, axis=1) > 0
    one_class = present.sum(axis=0) == 1
    # Values between which no cut is best: both have one and the same class.
    same_classes = (present[:, 1:] == present[:, :-1]).all(axis=0)
    alike = one_class[1:] & one_class[:-1] & same_classes

    def best_split(start: int, stop: int) -> Split:
        both = below[:, stop] - below[:, start]
        if stop - start < 2 or (both > 0).sum() < 2:
            return NO_SPLIT
        left = below[:, start + 1 : stop] - below[:, start, np.newaxis]
        right = below[:, stop, np.newaxis] - below[:, start + 1 : stop]
        scores = np.where(alike[start : stop - 1], -np.inf, -_entropy(left) - _entropy(right))
        if scores.max() == -np.inf:
            return NO_SPLIT
        at = first_largest(scores, tie)
        saved = float(_entropy(both) + scores[at])
        n_present = int((both > 0).sum())
        delta = n_present * log(3.0) + log1p(-2.0 * 3.0**-n_present) - _class_entropies(both)
        delta += _class_entropies(left[:, at]) + _class_entropies(right[:, at])
        rows = max(1.0, float(both.sum()) - 1.0)
        return Split(start + 1 + at, saved) if saved > log(rows) + delta + tie else NO_SPLIT

    edges, splits = [0, len(column.values)], [best_split(0, len(column.values))]
    while len(splits) < max_bins:
        i = first_largest(np.array([split.gain for split in splits]), tie)
        if splits[i].gain == -np.inf:
            break
        _divide(edges, splits, i, best_split)
    return column.midpoints(edges[1:-1])


def cut_by_frequency(column: WeightedColumn, n_bins: int) -> Floats:
    """Equal frequency: cut after the least values with a share i / n_bins of the weight."""
    after = 1 + first_with_shares(column.below[:, 1:].sum(axis=0), n_bins)
    after = np.unique(after)
    return column.midpoints(after[after < len(column.values)].tolist())


def first_largest(scores: Floats, tie: float) -> int:
    """The first place whose score is within ``tie`` of the largest."""
    return int(np.flatnonzero(scores >= scores.max() - tie)[0])


def _divide(
    edges: list[int], splits: list[Split], i: int, best_split: Callable[[int, int], Split]
) -> None:
    """Make the best cut of interval i, and find those of its two parts."""
    edges.insert(i + 1, splits[i].place)
    parts = pairwise(edges[i : i + 3])
    splits[i : i + 1] = [best_split(start, stop) for start, stop in parts]


def _majority(weights: Floats) -> Floats:
    """``max_c q_c^2 / M`` of weights of classes, one row for each class."""
    return np.asarray(weights.max(axis=0) ** 2 / weights.sum(axis=0))


def _entropy(weights: Floats) -> Floats:
    """The entropy of classes times their weight, of weights with one row for each class."""
    sizes = weights.sum(axis=0)
    return np.asarray(xlogy(sizes, sizes) - xlogy(weights, weights).sum(axis=0))


def _class_entropies(weights: Floats) -> float:
    """The number of classes that are present times their entropy."""
    return float((weights > 0).sum() * _entropy(weights) / weights.sum())
