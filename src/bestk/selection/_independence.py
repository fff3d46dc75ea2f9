"""Tests whether a column is related to the classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.selection.look import Values

Codes = NDArray[np.int64]
N_BINS = 5  # of equal frequency, for numbers
MIN_ROWS = 5  # of a contingency table


@dataclass(frozen=True)
class Graded:
    """A column as levels, and as ranks if it is ordered."""

    codes: Codes
    ranks: NDArray[np.float64] | None  # of the rows that are not missing
    known: NDArray[np.bool_]


def grade(column: Values, rows: Any) -> Graded:
    """Levels and ranks of some rows of a column."""
    values, known = column.values[rows], ~column.missing[rows]
    if column.categories is not None or column.kind == "categorical":
        codes = np.asarray(values, np.int64)
        return Graded(np.where(known, codes, codes.max(initial=0) + 1), None, known)
    _, places, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[places]  # ties have their mean rank, from 0
    codes = np.full(len(values), N_BINS, np.int64)
    codes[known] = ranks * N_BINS // max(1, len(ranks))
    return Graded(codes, ranks, known)


def p_value(column: Graded, classes: Codes) -> float:
    """The p-value of independence of a column and the classes.

    The smallest of the p-values of Pearson's chi-square, Kruskal-Wallis and Spearman tests, times
    their number (Bonferroni).

    Examples
    --------
    >>> column = Values("numeric", np.arange(20.0), np.zeros(20, bool), None)
    >>> graded = grade(column, slice(None))
    >>> p_value(graded, np.arange(20) // 10) < 0.001, p_value(graded, np.arange(20) % 2) > 0.5
    (True, True)
    """
    from scipy.special import chdtrc

    found = [chi_square(column.codes, classes)]
    if column.ranks is not None and len(column.ranks) > MIN_ROWS:
        given = classes[column.known]
        freedom, total = len(np.unique(given)) - 1, column.ranks.var() * len(given)
        if freedom and total:
            spread = column.ranks - column.ranks.mean()
            within = np.bincount(given, spread) ** 2 / np.maximum(np.bincount(given), 1)
            order = given - given.mean()
            rising = (spread @ order) ** 2 / (order @ order)
            scale = (len(given) - 1) / total
            found += [chdtrc(freedom, scale * within.sum()), chdtrc(1, scale * rising)]
    return min(1.0, len(found) * float(min(found)))


def chi_square(codes: Codes, classes: Codes, strata: Codes | None = None) -> float:
    """The p-value of Pearson's chi-square, summed over strata.

    The statistic has the tail of a gamma distribution with its exact mean and variance over
    permutations of the classes (Haldane 1940; Mielke and Berry 2001), so cells may have few rows.
    """
    from scipy.special import gammaincc

    total = mean = variance = 0.0
    strata = np.zeros(len(codes), np.int64) if strata is None else strata
    for stratum in np.unique(strata):
        rows = strata == stratum
        table = _contingency(codes[rows], classes[rows])
        if min(table.shape) > 1 and table.sum() > MIN_ROWS:
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            total += float(((table - expected) ** 2 / expected).sum())
            more, wider = _moments(table)
            mean, variance = mean + more, variance + wider
    if not variance > 0:
        return 1.0
    return float(gammaincc(mean**2 / variance, total * mean / variance))


def _contingency(codes: Codes, classes: Codes) -> NDArray[np.float64]:
    """Rows by level and class, without empty levels and classes."""
    n_classes = int(classes.max()) + 1
    counts = np.bincount(codes * n_classes + classes, minlength=(int(codes.max()) + 1) * n_classes)
    table = counts.reshape(-1, n_classes).astype(np.float64)
    return table[table.any(axis=1)][:, table.any(axis=0)]


def _moments(table: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and variance of chi-square over all permutations of the classes."""
    n = float(table.sum())
    parts = []
    for sizes in (table.sum(axis=1), table.sum(axis=0)):
        k = len(sizes)
        uneven = (n * (1 / sizes).sum() - k * k) / (n - 2)
        parts.append(((k - 1) * (n - k) / (n - 1), uneven))
    (v, w), (v_other, w_other) = parts
    mean = n * (table.shape[0] - 1) * (table.shape[1] - 1) / (n - 1)
    return mean, 2 * n / (n - 3) * (v - w) * (v_other - w_other) + n * n / (n - 1) * w * w_other
