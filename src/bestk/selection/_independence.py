"""Tests whether columns are related to the classes, several columns at a time."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaincc
from scipy.stats import rankdata

from bestk._typing import Floats
from bestk.selection.look import Values

Codes = NDArray[np.int64]
N_BINS = 5  # of equal frequency, for numbers
MIN_ROWS = 5  # of a contingency table
MAX_CELLS = 2**20  # of contingency tables that are held together


class Graded(NamedTuple):
    """Columns as levels, and as ranks where they are ordered: a row for each."""

    codes: Codes
    ranks: Floats  # of the rows that are not missing, from 0; ties have their mean rank
    known: NDArray[np.bool_]
    ordered: NDArray[np.bool_]

    def take(self, places: Any) -> "Graded":
        """Some of the columns."""
        return Graded(*(each[places] for each in self))


def grade(columns: list[Values], rows: Any) -> Graded:
    """Levels and ranks of some rows of columns."""
    known = ~np.array([column.missing[rows] for column in columns])
    ordered = np.array([c.categories is None and c.kind != "categorical" for c in columns])
    codes, ranks = np.zeros(known.shape, np.int64), np.zeros(known.shape)
    for i in np.flatnonzero(~ordered):
        codes[i] = columns[i].values[rows]
        codes[i, ~known[i]] = codes[i].max(initial=0) + 1
    if ordered.any():
        here = known[ordered]
        values = np.array([columns[i].values[rows] for i in np.flatnonzero(ordered)], np.float64)
        ranks[ordered] = own = rankdata(np.where(here, values, np.inf), axis=1) - 1
        bins = own * N_BINS // np.maximum(1, here.sum(axis=1, keepdims=True))
        codes[ordered] = np.where(here, bins, N_BINS)
    return Graded(codes, ranks, known, ordered)


def p_values(columns: Graded, classes: Codes) -> Floats:
    """The smallest p-value of chi-square, Kruskal-Wallis and Spearman tests, times their number."""
    codes, ranks, known, ordered = columns
    n, n_classes = len(codes), int(classes.max()) + 1
    groups = np.arange(n)[:, np.newaxis] * n_classes + classes
    shape, labels, m = (n, n_classes), np.arange(n_classes), known.sum(axis=1)
    sizes = np.bincount(groups[known], minlength=n * n_classes).reshape(shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (ranks * known).sum(axis=1, keepdims=True) / m[:, np.newaxis]
        spread = np.where(known, ranks - middle, 0.0)
        sums = np.bincount(groups.ravel(), spread.ravel(), n * n_classes).reshape(shape)
        total, freedom = (spread**2).sum(axis=1), (sizes > 0).sum(axis=1) - 1
        within = (sums**2 / np.maximum(sizes, 1)).sum(axis=1)
        order = labels - (sizes @ labels / m)[:, np.newaxis]
        rising = (sums * order).sum(axis=1) ** 2 / (sizes * order**2).sum(axis=1)
        tests = chdtrc(freedom, (m - 1) / total * within), chdtrc(1, (m - 1) / total * rising)
    by_levels = chi_square(codes, classes)
    by_ranks = ordered & (m > MIN_ROWS) & (freedom > 0) & (total > 0)
    least = np.where(by_ranks, 3 * np.minimum(by_levels, np.minimum(*tests)), by_levels)
    return np.minimum(1.0, least)


def chi_square(codes: Codes, classes: Codes, strata: Codes | None = None) -> Floats:
    """The p-value of Pearson's chi-square of each row of codes, summed over its strata.

    The statistic has the tail of a gamma distribution with its exact mean and variance over
    permutations of the classes (Haldane 1940; Mielke and Berry 2001), so cells may have few rows.
    """
    strata = np.zeros_like(codes) if strata is None else strata
    if len(codes) > 1 and max(codes.max(), strata.max()) > N_BINS:  # tables of different sizes
        each = [chi_square(codes[[i]], classes, strata[[i]]) for i in range(len(codes))]
        return np.concatenate(each)
    n, n_strata = len(codes), int(strata.max()) + 1
    groups = (np.arange(n)[:, np.newaxis] * n_strata + strata).ravel()
    large = np.bincount(groups, minlength=n * n_strata) > MIN_ROWS
    n_levels, n_classes = int(codes.max()) + 1, int(classes.max()) + 1
    cells = (codes * n_classes + classes).ravel()[large[groups]]
    groups, column = (
        (np.cumsum(large) - 1)[groups[large[groups]]],
        np.flatnonzero(large) // n_strata,
    )
    total, mean, variance = np.zeros((3, n))
    at_once = max(1, MAX_CELLS // (n_levels * n_classes))
    for first in range(0, len(column), at_once):
        some = slice(first, first + at_once)
        here = (groups >= first) & (groups < first + at_once)
        keys = (groups[here] - first) * (n_levels * n_classes) + cells[here]
        shape = len(column[some]), n_levels, n_classes
        tables = np.bincount(keys, minlength=int(np.prod(shape))).reshape(shape)
        for sums, found in zip((total, mean, variance), _moments(tables), strict=True):
            np.add.at(sums, column[some], found)
    tested = variance > 0
    variance[~tested] = 1.0
    return np.where(tested, gammaincc(mean**2 / variance, total * mean / variance), 1.0)


def _moments(tables: Codes) -> tuple[Floats, Floats, Floats]:
    """Chi-square of each table, and its mean and variance over all permutations of the classes."""
    sides = tables.sum(axis=2).astype(np.float64), tables.sum(axis=1).astype(np.float64)
    n = sides[0].sum(axis=1)
    expected = sides[0][:, :, np.newaxis] * sides[1][:, np.newaxis] / n[:, np.newaxis, np.newaxis]
    excess = (tables - expected) ** 2
    value = np.divide(excess, expected, where=expected > 0, out=excess).sum(axis=(1, 2))
    counts = [(side > 0).sum(axis=1) for side in sides]
    parts = []
    for side, k in zip(sides, counts, strict=True):
        inverse = np.divide(1.0, side, where=side > 0, out=np.zeros_like(side)).sum(axis=1)
        parts.append(((k - 1) * (n - k) / (n - 1), (n * inverse - k * k) / (n - 2)))
    (v, w), (v_other, w_other) = parts
    mean = n * (counts[0] - 1) * (counts[1] - 1) / (n - 1)
    variance = 2 * n / (n - 3) * (v - w) * (v_other - w_other) + n * n / (n - 1) * w * w_other
    tested = np.minimum(*counts) > 1
    return value * tested, mean * tested, variance * tested
