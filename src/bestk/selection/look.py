"""Single columns: bins, identifiers, those that determine a target, tests of independence."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaincc
from scipy.stats import rankdata

from bestk._typing import Floats, Indices
from bestk.data.table import Block, Table
from bestk.data.target import Target

MOSTLY = 0.5  # fraction of the rows: different texts, or missing values
FIRST_VALUES = 32  # most columns that are no identifiers show it here
MIN_ROWS = 10  # of a table in which an identifier can be recognized
IDENTIFIER = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
LEAK = 0.99  # accuracy of one column, and fraction of the errors of guessing that it avoids
MAX_DISTINCT = 24  # numbers of a column that are bins of their own
N_BINS = 5  # of equal frequency, for numbers that are tested
MIN_TESTED_ROWS = 5  # of a contingency table
MAX_TESTED_LEVELS = 100  # rarer ones are one
MIN_ROWS_PER_BIN = 5  # with fewer on average, a column determines classes by chance


@dataclass(frozen=True)
class Values:
    """One column of a table."""

    kind: str
    values: NDArray[Any]  # numbers, booleans, or codes of the categories
    missing: NDArray[np.bool_]
    categories: list[Any] | None

    def take(self, rows: Any) -> "Values":
        """Some of the rows."""
        return replace(self, values=self.values[rows], missing=self.missing[rows])


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


def which_determine(columns: list[Values], target: Target) -> list[bool]:
    """Which columns alone nearly determine the class; numbers of many values are cut by MDLP."""
    codes = [bin_codes(column, None, MAX_DISTINCT) for column in columns]
    many = [i for i, found in enumerate(codes) if found is None]
    if many:
        from bestk.discretize import MDLP

        values = np.column_stack([columns[i].values for i in many])
        for i, cuts in zip(many, MDLP().fit(values, target.codes).cut_points_, strict=True):
            codes[i] = bin_codes(columns[i], cuts, 0)
    return [found is not None and is_leak(found, target) for found in codes]


def levels_of(column: Values) -> Indices:
    """The categories of a column, rare ones in one, or five bins of equal frequency.

    Missing values are a level of their own.
    """
    if column.categories is not None:
        codes = column.values.astype(np.int64)
        return merge_rare(np.where(column.missing, len(column.categories), codes))
    levels, known = np.full(len(column.values), N_BINS), ~column.missing
    levels[known] = (rankdata(column.values[known]) - 1) * N_BINS // max(1, known.sum())
    return levels


def merge_rare(codes: Indices) -> Indices:
    """Codes in which all levels but the most frequent ones are one."""
    counts = np.bincount(codes)
    if len(counts) <= MAX_TESTED_LEVELS:
        return codes
    rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
    return np.minimum(rank, MAX_TESTED_LEVELS - 1)[codes]


def p_value(column: Values, classes: Indices, numbers: Floats | None) -> float:
    """The smaller p-value of two tests, times two: levels, and ranks if values are ordered.

    Levels are tested by chi-square, ranks by Kruskal and Wallis, or by Spearman for ``numbers``.
    """
    by_levels, known = chi_square(levels_of(column), classes), ~column.missing
    if column.categories is not None or known.sum() <= MIN_TESTED_ROWS:
        return by_levels
    ranks = rankdata(column.values[known])
    ranks -= ranks.mean()
    if numbers is None:
        sums, sizes = (np.bincount(classes[known], weights) for weights in (ranks, None))
        explained, freedom = (sums**2 / np.maximum(sizes, 1)).sum(), (sizes > 0).sum() - 1
    else:
        others = rankdata(numbers[known])
        others -= others.mean()
        explained, freedom = (ranks @ others) ** 2 / max(1.0, others @ others), 1
    total = ranks @ ranks
    if not total or not freedom:
        return by_levels
    by_ranks = chdtrc(freedom, (len(ranks) - 1) / total * explained)
    return min(1.0, 2 * min(by_levels, float(by_ranks)))


def chi_square(codes: Indices, classes: Indices, strata: Indices | None = None) -> float:
    """The p-value of Pearson's chi-square of codes and classes, summed over strata.

    The statistic has the tail of a gamma distribution with its exact mean and variance over
    permutations of the classes (Haldane 1940; Mielke and Berry 2001), so cells may have few rows.
    """
    keys = np.zeros_like(codes) if strata is None else strata, codes, classes
    shape = [int(key.max()) + 1 for key in keys]
    cells = np.ravel_multi_index(keys, shape)
    tables = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
    tables = tables[tables.sum(axis=(1, 2)) > MIN_TESTED_ROWS]
    total, mean, variance = (each.sum() for each in _moments(tables))
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
