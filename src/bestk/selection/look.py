"""Single columns: bins, identifiers, those that determine a target, tests of independence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaincc

from bestk._typing import Floats, Indices
from bestk.data.table import Block, Table
from bestk.data.target import Target
from bestk.native import kernels

MOSTLY = 0.5  # fraction of the rows: different texts, or missing values
FIRST_VALUES = 32  # most columns that are no identifiers show it here
MIN_ROWS = 10  # of a table in which an identifier can be recognized
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
LEAK = 0.99  # accuracy of one column, and fraction of the errors of guessing that it avoids
MAX_DISTINCT = 24  # numbers of a column that are bins of their own
N_BINS = 5  # of equal frequency, for numbers that are tested
MIN_TESTED_ROWS = 5  # of a contingency table
MAX_CELLS = 2**20  # of contingency tables that are held together
SMALL_TABLES = 2**14  # cells of tables that may all have the size of the largest
MIN_ROWS_PER_BIN = 5  # with fewer on average, a column determines classes by chance


@dataclass(frozen=True)
class Values:
    """One column of a table."""

    kind: str
    values: NDArray[Any]  # numbers, booleans, or codes of the categories
    missing: NDArray[np.bool_]
    categories: list[Any] | None


def column_values(table: Table, place: int) -> Values:
    """The values of one column."""
    for block in table.blocks:
        j = int(np.searchsorted(block.columns, place))
        if j < len(block.columns) and block.columns[j] == place:
            return _of_block(block, j)
    raise IndexError(f"the table has no column {place}; it has {table.n_features}")


def _of_block(block: Block, j: int) -> Values:
    strip = block.values[:, j : j + 1]
    strip = strip.toarray() if hasattr(strip, "toarray") else np.asarray(strip)
    categories = None if block.categories is None else block.categories[j]
    values = strip[:, 0]
    return Values(block.kind, values, block.missing(values), categories)


def bin_codes(
    column: Values, cuts: NDArray[np.float64] | None, most: int
) -> NDArray[np.int64] | None:
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
    if column.kind != "numeric" or len(set(first.tolist())) < len(first) or _has_fractions(first):
        return False
    if column.missing.any() or _has_fractions(column.values):
        return False
    spread = np.ptp(column.values)
    if spread < rows - 1 or len(np.unique(column.values)) < rows:
        return False
    steps = np.diff(np.asarray(column.values, np.float64))
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return in_order or spread < 2 * rows or IDENTIFIER.search(name) is not None


def _has_fractions(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f":
        return False
    return bool((values != np.floor(values)).any())


def is_leak(codes: NDArray[np.int64], target: Target) -> bool:
    """Whether the bins of one column nearly determine the class.

    That is: predicting the most frequent class of each bin is right for 99% of the rows, and for
    99% of those for which the most frequent class of all is wrong; bins have five rows on average.
    """
    n, n_bins = len(codes), len(np.unique(codes))
    if n < MIN_ROWS_PER_BIN * n_bins:
        return False
    counts = np.bincount(codes * target.n_classes + target.codes)
    counts = np.append(counts, np.zeros(-len(counts) % target.n_classes, np.int64))
    right = int(counts.reshape(-1, target.n_classes).max(axis=1).sum())
    wrong, guessed = n - right, n - int(target.counts.max())
    return wrong <= (1 - LEAK) * n and wrong <= (1 - LEAK) * guessed


def which_determine(
    columns: list[Values], target: Target, known: Sequence[Floats | None]
) -> list[bool]:
    """Which columns alone nearly determine the class; numbers of many values are cut by MDLP.

    ``known``: cut points of MDLP where they are known.
    """
    codes = [bin_codes(column, None, MAX_DISTINCT) for column in columns]
    for i, cuts in enumerate(known):
        if codes[i] is None and cuts is not None:
            codes[i] = bin_codes(columns[i], cuts, 0)
    many = [i for i, found in enumerate(codes) if found is None]
    if many:
        from bestk.discretize import MDLP

        values = np.column_stack([columns[i].values for i in many])
        for i, cuts in zip(many, MDLP().fit(values, target.codes).cut_points_, strict=True):
            codes[i] = bin_codes(columns[i], cuts, 0)
    return [found is not None and is_leak(found, target) for found in codes]


class Graded(NamedTuple):
    """Columns as levels, and as ranks where they are ordered: a row for each."""

    codes: Indices
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
        if not here.all():  # missing values come last
            highest = np.max(values, axis=1, where=here, initial=-np.inf, keepdims=True)
            values = np.where(here, values, np.nextafter(highest, np.inf))
        kernels.rank_rows(values, *values.shape, 0.5 * np.arange(2 * values.shape[1]))
        ranks[ordered] = values
        bins = values * N_BINS // np.maximum(1, here.sum(axis=1, keepdims=True))
        codes[ordered] = np.where(here, bins, N_BINS)
    return Graded(codes, ranks, known, ordered)


def p_values(columns: Graded, classes: Indices) -> Floats:
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
    by_ranks = ordered & (m > MIN_TESTED_ROWS) & (freedom > 0) & (total > 0)
    least = np.where(by_ranks, 3 * np.minimum(by_levels, np.minimum(*tests)), by_levels)
    return np.minimum(1.0, least)


def chi_square(codes: Indices, classes: Indices, strata: Indices | None = None) -> Floats:
    """The p-value of Pearson's chi-square of each row of codes, summed over its strata.

    The statistic has the tail of a gamma distribution with its exact mean and variance over
    permutations of the classes (Haldane 1940; Mielke and Berry 2001), so cells may have few rows.
    """
    strata = np.zeros_like(codes) if strata is None else strata
    n, n_strata = len(codes), int(strata.max()) + 1
    if n > 1 and n * n_strata * (int(codes.max()) + 1) * (int(classes.max()) + 1) > SMALL_TABLES:
        each = [chi_square(codes[[i]], classes, strata[[i]]) for i in range(n)]  # of own sizes
        return np.concatenate(each)
    groups = (np.arange(n)[:, np.newaxis] * n_strata + strata).ravel()
    large = np.bincount(groups, minlength=n * n_strata) > MIN_TESTED_ROWS
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
