"""Cuts of columns whose rows have weights: the methods of cuts.c in real numbers, in numpy."""

from collections.abc import Callable, Sequence
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
    """The weight of class c, in effective rows, in the i smallest values, at [c, i]."""

    @classmethod
    def of(
        cls, column: Array, classes: Indices, n_classes: int, in_rows: Floats
    ) -> "WeightedColumn":
        """Add up the weights of the rows of a column.

        Parameters
        ----------
        column : array of shape (n_samples,)
            Numbers, NaN where they are missing.
        classes : array of shape (n_samples,)
            The class of each row, from 0.
        n_classes : int
            The number of classes.
        in_rows : array of shape (n_samples,)
            The weight of each row, in effective rows.
        """
        has_value = ~np.isnan(column)
        values, value_of_sample = np.unique(column[has_value], return_inverse=True)
        n_values = len(values)
        cells = classes[has_value] * n_values + value_of_sample
        weights = np.bincount(cells, in_rows[has_value], minlength=n_values * n_classes)
        below = np.zeros((n_classes, n_values + 1))
        np.cumsum(weights.reshape(n_classes, -1), axis=1, out=below[:, 1:])
        return cls(values, below)

    def classes_between(self, start: int, stop: int) -> Floats:
        """The weight of each class in the values from the first place up to the last."""
        return self.below[:, stop] - self.below[:, start]

    def sides_of_cuts(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """The weight of each class before and after each cut of an interval of values.

        Both are ``[class, cut]``; the first cut comes after the first value.
        """
        below_cuts = self.below[:, start + 1 : stop]
        before = below_cuts - self.below[:, start, np.newaxis]
        after = self.below[:, stop, np.newaxis] - below_cuts
        return before, after

    def midpoints(self, places: Sequence[int]) -> Floats:
        """The cuts that have so many values below them."""
        place = np.asarray(places, np.int64)
        low = self.values[place - 1]
        high = self.values[place]
        middle = 0.5 * low + 0.5 * high
        is_between = (low <= middle) & (middle < high)
        return np.where(is_between, middle, low)


class Split(NamedTuple):
    """The best cut of an interval of values, and what it gains."""

    place: int
    """The number of values of the column below the cut."""

    gain: float
    """What the score of all intervals gains by the cut; -inf where there is none."""


NO_SPLIT = Split(0, -np.inf)


def cut_by_majority(column: WeightedColumn, n_classes: int, max_bins: int) -> Floats:
    """CAIM: add the cut that leads to the largest CAIM, while it grows or bins are too few."""
    n_values = len(column.values)
    weights_of_classes = column.below[:, -1]
    tie = TIE * float(weights_of_classes.sum())

    def best_split(start: int, stop: int) -> Split:
        """The cut of an interval of values that adds most to the sum over intervals."""
        if stop - start < 2:
            return NO_SPLIT
        before, after = column.sides_of_cuts(start, stop)
        scores = _majority(before) + _majority(after)
        cut = first_largest(scores, tie)
        uncut = _majority(column.classes_between(start, stop))
        return Split(place=start + 1 + cut, gain=float(scores[cut] - uncut))

    edges = [0, n_values]
    splits = [best_split(0, n_values)]
    total = float(_majority(weights_of_classes))
    caim = 0.0
    while len(splits) < min(max_bins, n_values):
        n_bins = len(splits) + 1
        i = first_largest(np.array([split.gain for split in splits]), tie)
        total += splits[i].gain
        grows = total / n_bins > caim + tie / n_bins
        if n_bins > n_classes and not grows:
            break
        caim = total / n_bins
        _divide(edges, splits, i, best_split)
    return column.midpoints(edges[1:-1])


def cut_by_entropy(column: WeightedColumn, n_classes: int, max_bins: int) -> Floats:
    """MDLP: make the split that saves most entropy, while one is worth its bits."""
    n_values = len(column.values)
    size = float(column.below[:, -1].sum())
    tie = TIE * max(float(xlogy(size, size)), 1.0)
    # Whether a value has rows of a class, at [class, value].
    has_class = np.diff(column.below, axis=1) > 0
    has_one_class = has_class.sum(axis=0) == 1
    # Values between which no cut is best: both have one and the same class.
    have_same_classes = (has_class[:, 1:] == has_class[:, :-1]).all(axis=0)
    are_alike = has_one_class[1:] & has_one_class[:-1] & have_same_classes

    def best_split(start: int, stop: int) -> Split:
        """The cut of an interval of values that saves most entropy, if it is worth its bits."""
        both = column.classes_between(start, stop)
        n_present = int((both > 0).sum())
        if stop - start < 2 or n_present < 2:
            return NO_SPLIT
        before, after = column.sides_of_cuts(start, stop)
        minus_entropies = -_entropy(before) - _entropy(after)
        scores = np.where(are_alike[start : stop - 1], -np.inf, minus_entropies)
        if scores.max() == -np.inf:
            return NO_SPLIT
        cut = first_largest(scores, tie)
        saved = float(_entropy(both) + scores[cut])
        # log(3^k - 2), for k classes.
        log_codings = n_present * log(3.0) + log1p(-2.0 * 3.0**-n_present)
        delta = log_codings - _class_entropies(both)
        delta += _class_entropies(before[:, cut]) + _class_entropies(after[:, cut])
        other_rows = max(1.0, float(both.sum()) - 1.0)
        cost = log(other_rows) + delta
        if saved > cost + tie:
            return Split(place=start + 1 + cut, gain=saved)
        return NO_SPLIT

    edges = [0, n_values]
    splits = [best_split(0, n_values)]
    while len(splits) < max_bins:
        i = first_largest(np.array([split.gain for split in splits]), tie)
        if splits[i].gain == -np.inf:
            break
        _divide(edges, splits, i, best_split)
    return column.midpoints(edges[1:-1])


def cut_by_frequency(column: WeightedColumn, n_bins: int) -> Floats:
    """Equal frequency: cut after the least values with a share i / n_bins of the weight."""
    weight_up_to = column.below[:, 1:].sum(axis=0)
    values_below = np.unique(1 + first_with_shares(weight_up_to, n_bins))
    # There is no cut above the largest value.
    is_inside = values_below < len(column.values)
    return column.midpoints(values_below[is_inside].tolist())


def first_largest(scores: Floats, tie: float) -> int:
    """The first place whose score is within ``tie`` of the largest."""
    return int(np.flatnonzero(scores >= scores.max() - tie)[0])


def _divide(
    edges: list[int], splits: list[Split], i: int, best_split: Callable[[int, int], Split]
) -> None:
    """Make the best cut of interval i, and find those of its two parts.

    ``edges``: the number of values below each interval, and the number of all; ``splits``: the
    best cut of each interval. Both are changed.
    """
    start = edges[i]
    cut = splits[i].place
    stop = edges[i + 1]
    edges.insert(i + 1, cut)
    splits[i : i + 1] = [best_split(start, cut), best_split(cut, stop)]


def _majority(weights: Floats) -> Floats:
    """``max_c q_c^2 / M`` of weights of classes, one row for each class."""
    return np.asarray(weights.max(axis=0) ** 2 / weights.sum(axis=0))


def _entropy(weights: Floats) -> Floats:
    """The entropy of classes times their weight, of weights with one row for each class."""
    sizes = weights.sum(axis=0)
    of_classes = xlogy(weights, weights).sum(axis=0)
    return np.asarray(xlogy(sizes, sizes) - of_classes)


def _class_entropies(weights: Floats) -> float:
    """The number of classes that are present times their entropy."""
    n_present = (weights > 0).sum()
    return float(n_present * _entropy(weights) / weights.sum())
