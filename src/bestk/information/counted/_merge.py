"""Counts of other rows of the same features, whose levels may come in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bestk.information.counted.cells import add_rows, gram_rows

if TYPE_CHECKING:
    from bestk.information.counted.counts import PairCounts

Indices = NDArray[np.int64]
STRIP = 256  # planes that are translated at once


def add_counts(mine: PairCounts, other: PairCounts) -> None:
    """Add the counts of another table to ours; neither has rows waiting."""
    numbers = mine._known().learn([list(place) for place in other._known().places])
    classes = np.array(mine._classes.learn([list(other._classes.places[0])])[0], np.int64)
    mine.n_samples += other.n_samples
    mine._grow()
    if _is_same(mine, other, numbers, classes):
        mine._cells += other._cells.astype(mine._cells.dtype, copy=False)
    elif len(other._sizes):
        _translate(mine, other, numbers, classes)
    mine._sizes[classes[: len(other._sizes)]] += other._sizes


def _is_same(
    mine: PairCounts, other: PairCounts, numbers: list[list[int]], classes: Indices
) -> bool:
    """Whether levels and classes are numbered alike."""
    return (
        np.array_equal(mine._feature, other._feature)
        and len(mine._sizes) == len(other._sizes)
        and np.array_equal(classes, np.arange(len(classes)))
        and all(some == list(range(len(some))) for some in numbers)
    )


def _translate(
    mine: PairCounts, other: PairCounts, numbers: list[list[int]], classes: Indices
) -> None:
    """With t our planes in terms of theirs, the products of ours are ``t (theirs) t'``."""
    t = _in_their_terms(mine, other, numbers)
    n_planes, n_theirs = len(mine._feature), len(other._feature)
    for begin in range(0, n_planes, STRIP):
        some = t[begin : begin + STRIP]
        needed = np.unique(some.indices).astype(np.int64)
        upto = t[: begin + some.shape[0]]
        for c in range(len(other._sizes)):
            theirs = gram_rows(needed, n_theirs, other._sizes, other._cells, c)
            rows = upto @ (some[:, needed] @ theirs).T
            add_rows(rows.T.copy(), begin, classes[c], len(mine._sizes), mine._cells)


def _in_their_terms(
    mine: PairCounts, other: PairCounts, numbers: list[list[int]]
) -> sparse.csr_array:
    """Our planes as sums of theirs and the constant, which is column 0.

    A level of ours is one of theirs, or their first: that is where none of their planes is.
    """
    n = len(numbers)
    my_first, my_planes = mine._planes(np.arange(n))
    their_first, their_planes = other._planes(np.arange(n))
    rows, columns, signs = [], [], []
    for i, some in enumerate(numbers):
        theirs = (their_planes[their_first[i] : their_first[i + 1]] + 1).tolist()
        for level, number in enumerate(some):
            if number == 0:
                continue
            plane = int(my_planes[my_first[i] + number - 1])
            terms = [(theirs[level - 1], 1)] if level else [(0, 1), *((p, -1) for p in theirs)]
            rows += [plane] * len(terms)
            columns += [column for column, _ in terms]
            signs += [sign for _, sign in terms]
    shape = len(mine._feature), len(other._feature) + 1
    return sparse.csr_array((np.array(signs, np.int64), (rows, columns)), shape=shape)
