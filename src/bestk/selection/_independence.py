"""Whether a column is related to classes beyond what chance would give."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.selection.look import Values

__all__ = ["Graded", "grade", "p_given", "p_value"]

Codes = NDArray[np.int64]
BINS = 5  # of equal frequency, of numbers
FEWEST_ROWS = 5  # of which the moments of a table of counts are known


@dataclass(frozen=True)
class Graded:
    """A column as levels, and as ranks where it is ordered."""

    codes: Codes
    ranks: NDArray[np.float64] | None  # of the rows that are not missing
    known: NDArray[np.bool_]


def grade(column: Values, rows: Any) -> Graded:
    """Levels and ranks of some rows of a column, found without regard to any target."""
    values, known = column.values[rows], ~column.missing[rows]
    if column.categories is not None or column.kind == "categorical":
        codes = np.asarray(values, np.int64)
        return Graded(np.where(known, codes, codes.max(initial=0) + 1), None, known)
    _, places, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[places]  # the mean rank of ties, from 0 up
    codes = np.full(len(values), BINS, np.int64)
    codes[known] = ranks * BINS // max(1, len(ranks))
    return Graded(codes, ranks, known)


def p_value(column: Graded, classes: Codes) -> float:
    """The probability that classes in random order are as related to a column, at least.

    The least of those of Pearson's chi-square, of Kruskal and Wallis, and of Spearman, times their
    number.

    Examples
    --------
    >>> column = Values("numeric", np.arange(20.0), np.zeros(20, bool), None)
    >>> graded = grade(column, slice(None))
    >>> p_value(graded, np.arange(20) // 10) < 0.001, p_value(graded, np.arange(20) % 2) > 0.5
    (True, True)
    """
    from scipy.special import chdtrc

    found = [_chi_square(column.codes, classes, np.zeros(len(classes), np.int64))]
    if column.ranks is not None and len(column.ranks) > FEWEST_ROWS:
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


def p_given(column: Graded, classes: Codes, other: Graded) -> float:
    """The same by Pearson's chi-square alone, where another column is given."""
    return _chi_square(column.codes, classes, other.codes)


def _chi_square(codes: Codes, classes: Codes, strata: Codes) -> float:
    """The tail of chi-square, summed over strata, by its moments over orders of the classes.

    They are exact however few rows a cell has (Haldane 1940; Mielke and Berry 2001); the tail is
    that of the gamma distribution of the same mean and variance.
    """
    from scipy.special import gammaincc

    total = mean = variance = 0.0
    for stratum in np.unique(strata):
        rows = strata == stratum
        table = _table(codes[rows], classes[rows])
        if min(table.shape) > 1 and table.sum() > FEWEST_ROWS:
            total += _statistic(table)
            more, wider = _moments(table)
            mean, variance = mean + more, variance + wider
    if not variance > 0:
        return 1.0
    return float(gammaincc(mean**2 / variance, total * mean / variance))


def _table(codes: Codes, classes: Codes) -> NDArray[np.float64]:
    """How many rows each level has of each class; empty levels and classes are left out."""
    n_classes = int(classes.max()) + 1
    counts = np.bincount(codes * n_classes + classes, minlength=(int(codes.max()) + 1) * n_classes)
    table = counts.reshape(-1, n_classes).astype(np.float64)
    return table[table.any(axis=1)][:, table.any(axis=0)]


def _statistic(table: NDArray[np.float64]) -> float:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def _moments(table: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and variance of the statistic over all orders of the classes."""
    n = float(table.sum())
    parts = []
    for sizes in (table.sum(axis=1), table.sum(axis=0)):
        k = len(sizes)
        uneven = (n * (1 / sizes).sum() - k * k) / (n - 2)
        parts.append(((k - 1) * (n - k) / (n - 1), uneven))
    (v, w), (v_other, w_other) = parts
    mean = n * (table.shape[0] - 1) * (table.shape[1] - 1) / (n - 1)
    return mean, 2 * n / (n - 3) * (v - w) * (v_other - w_other) + n * n / (n - 1) * w * w_other
