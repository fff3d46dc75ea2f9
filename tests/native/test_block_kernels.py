"""Counts of pairs that add up, against counting in numpy."""

import numpy as np
import pytest

from bestk import PairCounts
from bestk.data.codes import first_rows
from bestk.information._cells import fill_pairs, list_counts
from bestk.information._fixed_point import Formula

rng = np.random.default_rng(0)


def counted(n_samples=150, n_features=20, n_classes=3, most=4):
    """A table, its classes, and counts of its planes, each from two blocks."""
    X = rng.integers(0, rng.integers(2, most + 1, n_features), (n_samples, n_features))
    X[0], X[1:most] = 0, np.minimum(np.arange(1, most)[:, None], X.max(axis=0))
    y = np.arange(n_samples) % n_classes
    counts = PairCounts().add(X[:70], y[:70]).add(X[70:], y[70:])
    counts.source()
    return X, y, counts._snapshot()


def table_of(X, y, counts, i, j):
    """Counts (class, level of i, level of j)."""
    shape = len(counts.sizes), *np.diff(counts.first)[[i, j]] + 1
    out = np.zeros(shape, int)
    np.add.at(out, (y, X[:, i], X[:, j]), 1)
    return out


def test_cells_are_the_rows_that_two_planes_share(cpu):
    X, y, counts = counted()
    features = np.repeat(np.arange(X.shape[1]), np.diff(counts.first))
    levels = np.arange(len(features)) - counts.first[features] + 1
    has = np.empty((len(features), len(X)), int)
    has[counts.planes] = levels[:, None] == X[:, features].T
    for p in range(len(has)):
        for q in range(p + 1):
            at = (p * (p + 1) // 2 + q) * len(counts.sizes)
            shared = np.bincount(y, weights=has[p] & has[q], minlength=len(counts.sizes))
            np.testing.assert_array_equal(counts.cells[at : at + len(counts.sizes)], shared)
    np.testing.assert_array_equal(
        counts.margin, [np.bincount(y, weights=row, minlength=3) for row in has]
    )


# tables over counts and terms of features, in whole numbers
FORMULA = Formula(
    *rng.integers(-(2**40), 2**40, (2, 1000)), *rng.integers(-(2**40), 2**40, (2, 50)),
    2.0**-30, -500.0,
)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_formula_is_summed_over_the_cells_of_each_pair(dtype, some, sparse):
    X, y, counts = counted()
    n, known, formula = X.shape[1], np.empty(0, np.int64), FORMULA
    if sparse:  # tables over the counts that occur
        known = np.unique(np.concatenate([list_counts(counts, i) for i in range(n)]))
        formula = FORMULA._replace(
            pair_table=FORMULA.pair_table[known], class_table=FORMULA.class_table[known]
        )
    rows, columns = (np.array([3, 17, 4]), np.array([4, 0])) if some else (None, None)
    out = np.empty((3, 2) if some else (n, n), dtype)
    fill_pairs(counts, formula, known, out, rows, columns)
    for r, i in enumerate(range(n) if rows is None else rows):
        for s, j in enumerate(range(n) if columns is None else columns):
            by_class = table_of(X, y, counts, i, j)
            total = FORMULA.pair_table[by_class.sum(axis=0)].sum()
            total += FORMULA.class_table[by_class].sum()
            value = (total + formula.row_term[i] + formula.column_term[j]) * formula.scale
            assert out[r, s] == dtype(max(value, formula.lowest))


def test_the_counts_listed_are_those_of_all_cells():
    X, y, counts = counted()
    tables = [table_of(X, y, counts, 5, j) for j in range(6)]
    found = [0, *(n for t in tables for n in (*t.ravel(), *t.sum(axis=0).ravel()))]
    np.testing.assert_array_equal(list_counts(counts, 5), np.unique(found))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_the_first_row_of_each_level_is_found(dtype):
    for n_levels in (1, 4, 7, 200):
        column = np.append(np.zeros(500), rng.permutation(np.arange(900) % n_levels)).astype(dtype)
        column %= n_levels
        known = np.unique(column)
        expected = [np.flatnonzero(column == level)[0] for level in known]
        dense = np.searchsorted(known, column)
        np.testing.assert_array_equal(first_rows(dense, len(known)), expected)
