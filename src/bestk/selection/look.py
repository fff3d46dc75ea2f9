"""Single columns: bins, identifiers, those that determine a target, tests of independence."""

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaincc

from bestk._typing import Floats, Indices
from bestk.data.table import Table
from bestk.data.target import Target
from bestk.discretize import MDLP

MOSTLY = 0.5  # fraction of the rows: different texts, or missing values
FIRST_VALUES = 32  # most columns that are no identifiers show it here
MIN_ROWS = 10  # of a table in which an identifier can be recognized
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
LEAK = 0.99  # accuracy of one column, and fraction of the errors of guessing that it avoids
MAX_DISTINCT = 24  # numbers of a column that are bins of their own
N_BINS = 5  # of equal frequency, for numbers that are tested
MIN_TESTED_ROWS = 5  # of a contingency table
MIN_ROWS_PER_BIN = 5  # with fewer on average, a column determines classes by chance


class Values(NamedTuple):
    """One column of a table."""

    kind: str
    values: NDArray[Any]  # numbers, booleans, or codes of the categories
    missing: NDArray[np.bool_]
    categories: list[Any] | None


def column_values(table: Table, place: int) -> Values:
    """The values of one column."""
    (block,) = table.keep(np.array([place])).blocks
    ((_, values),) = block.strips()
    categories = None if block.categories is None else block.categories[0]
    return Values(block.kind, values[:, 0], block.missing(values[:, 0]), categories)


def bin_codes(column: Values, cuts: Floats | None, most: int) -> Indices | None:
    """The bin of each row, the last one for missing values.

    Without ``cuts`` every different number is a bin; None if there are more than ``most``.
    """
    if cuts is not None:
        codes, n = np.searchsorted(cuts, column.values, side="left"), len(cuts) + 1
    elif column.categories is not None:
        codes, n = np.asarray(column.values, np.int64), len(column.categories)
    else:
        levels = np.unique(column.values[~column.missing])
        codes, n = np.searchsorted(levels, column.values), len(levels)
        if n > most and column.kind != "boolean":
            return None
    return np.where(column.missing, n, codes).astype(np.int64)


def names_rows(name: str, column: Values) -> bool:
    """Whether a column is an identifier: text that differs in most rows, or integers in all.

    Integers must also rise or fall with the rows, have a range of about the number of rows, or
    have a name such as ``id``.
    """
    rows = len(column.values)
    if rows < MIN_ROWS or column.kind == "boolean":
        return False
    if column.categories is not None:
        return len(np.unique(column.values[~column.missing])) > MOSTLY * rows
    first = column.values[:FIRST_VALUES]
    if column.kind != "numeric" or len(set(first.tolist())) < len(first):
        return False
    if (first % 1 != 0).any() or column.missing.any() or (column.values % 1 != 0).any():
        return False
    spread = np.ptp(column.values)
    if spread < rows - 1 or len(np.unique(column.values)) < rows:
        return False
    steps = np.diff(np.asarray(column.values, np.float64))
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return in_order or spread < 2 * rows or IDENTIFIER.search(name) is not None


def is_leak(codes: Indices, target: Target) -> bool:
    """Whether the bins of one column nearly determine the class.

    That is: predicting the most frequent class of each bin is right for 99% of the rows, and for
    99% of those for which the most frequent class of all is wrong; bins have five rows on average.
    """
    n, few = len(codes), len(codes) < MIN_ROWS_PER_BIN * len(np.unique(codes))
    cells = int(codes.max() + 1) * target.n_classes
    counts = np.bincount(codes * target.n_classes + target.codes, minlength=cells)
    right = int(counts.reshape(-1, target.n_classes).max(axis=1).sum())
    wrong, guessed = n - right, n - int(target.counts.max())
    return not few and wrong <= (1 - LEAK) * n and wrong <= (1 - LEAK) * guessed


def which_determine(columns: list[Values], target: Target) -> list[bool]:
    """Which columns alone nearly determine the class; numbers of many values are cut by MDLP."""
    codes = [bin_codes(column, None, MAX_DISTINCT) for column in columns]
    many = [i for i, found in enumerate(codes) if found is None]
    if many:
        values = np.column_stack([columns[i].values for i in many])
        for i, cuts in zip(many, MDLP().fit(values, target.codes).cut_points_, strict=True):
            codes[i] = bin_codes(columns[i], cuts, 0)
    return [found is not None and is_leak(found, target) for found in codes]


def _ranks(values: NDArray[Any]) -> Floats:
    """Ranks from 0; ties have their mean rank."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts + 1) / 2)[codes])


def binned(column: Values) -> Indices:
    """The levels of a column as they are tested: numbers in bins of equal frequency."""
    if column.categories is not None:
        return np.where(column.missing, len(column.categories), column.values).astype(np.int64)
    codes, known = np.full(len(column.values), N_BINS), ~column.missing
    codes[known] = _ranks(column.values[known]) * N_BINS // max(1, known.sum())
    return codes


def p_value(column: Values, levels: Indices, classes: Indices) -> float:
    """The p-value of a chi-square test; of numbers the smaller of it and Kruskal-Wallis, twice."""
    by_levels, known = chi_square(levels, classes), ~column.missing
    m = int(known.sum())
    if column.categories is not None or m <= MIN_TESTED_ROWS:
        return by_levels
    ranks = _ranks(column.values[known]) - (m - 1) / 2
    sums, sizes = np.bincount(classes[known], ranks), np.bincount(classes[known])
    between = float((sums**2 / np.maximum(sizes, 1)).sum())
    by_ranks = chdtrc((sizes > 0).sum() - 1, (m - 1) * between / (float((ranks**2).sum()) or 1.0))
    return float(np.fmin(1.0, 2 * np.fmin(by_levels, by_ranks)))  # NaN where there is one class


def chi_square(codes: Indices, classes: Indices, strata: Indices | None = None) -> float:
    """The p-value of Pearson's chi-square, summed over strata.

    The statistic has the tail of a gamma distribution with its exact mean and variance over
    permutations of the classes (Haldane 1940; Mielke and Berry 2001), so cells may have few rows.
    """
    n_levels, n_classes = int(codes.max()) + 1, int(classes.max()) + 1
    strata = np.zeros_like(codes) if strata is None else strata
    cells = (strata * n_levels + codes) * n_classes + classes
    shape = int(strata.max()) + 1, n_levels, n_classes
    tables = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
    tables = tables[tables.sum(axis=(1, 2)) > MIN_TESTED_ROWS]
    total, mean, variance = (float(each.sum()) for each in _moments(tables))
    if not variance > 0:
        return 1.0
    return float(gammaincc(mean**2 / variance, total * mean / variance))


def _moments(tables: Indices) -> tuple[Floats, Floats, Floats]:
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
