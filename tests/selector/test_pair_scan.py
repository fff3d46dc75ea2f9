"""pair_scan: the pairs of features that both add most to what the better one tells."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bestk import Entropies, encode, pair_scan
from bestk.information import measures
from bestk.information.backends import _reductions
from bestk.information.scan import informative_pairs
from bestk.tables.target import read_classes

BACKENDS = ["native", "numpy", "torch:cpu"]


def scan_codes(X, y, top, backend="native"):
    """The scan of a table of levels, as they are."""
    if backend.startswith("torch"):
        pytest.importorskip("torch")
    codes = encode(X)
    classes = read_classes(y, len(y))
    return informative_pairs(Entropies.count(codes, classes, backend), codes, classes, top)


def entropy(*columns):
    """The joint entropy of columns, in nats."""
    shares = np.unique(np.stack(columns), axis=1, return_counts=True)[1] / len(columns[0])
    return -(shares * np.log(shares)).sum()


def given_other(x, y, z):
    """I(x; y | z) by its definition."""
    return entropy(x, z) + entropy(y, z) - entropy(x, y, z) - entropy(z)


def both_add(X, y, i, j):
    """min(I(xi; y | xj), I(xj; y | xi)) by its definition."""
    xi, xj = X[:, i], X[:, j]
    return min(given_other(xi, y, xj), given_other(xj, y, xi))


def synergy(X, y, i, j):
    """I(xi; y | xj) - I(xi; y) by its definition."""
    nothing = np.zeros(len(y), int)
    return given_other(X[:, i], y, X[:, j]) - given_other(X[:, i], y, nothing)


def test_two_columns_that_tell_half_of_the_target_each_are_the_best_pair():
    first, second, noise = np.array(np.meshgrid([0, 1], [0, 1], range(6))).reshape(3, -1)
    X = np.column_stack([first, first, noise, second])
    scan = pair_scan(X, 2 * first + second)
    assert scan.pairs[:2].tolist() == [[0, 3], [1, 3]]
    assert scan.information == pytest.approx([np.log(2)] * 2 + [0] * 4)
    # a copy tells what its column tells again, all others nothing but what they tell alone
    assert scan.synergy == pytest.approx([0, 0, -np.log(2), 0, 0, 0], abs=1e-7)


def test_pairs_whose_columns_add_up_are_found_beside_those_that_interact():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (1000, 200))
    either_or = (X[:, 30] > 0) != (X[:, 40] > 0)
    y = X[:, 7] + X[:, 9] + either_or + rng.normal(size=1000) > 3
    scan = pair_scan(X, y, top=20)
    assert [7, 9] in scan.pairs.tolist()
    assert [30, 40] in scan.pairs.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9), n_classes=st.integers(2, 3))
def test_the_best_pairs_are_those_of_a_slow_count(backend, seed, n, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(2, 5, n), (40, n))
    y = (X[:, 0] + rng.integers(0, 3, 40)) % n_classes
    scan = scan_codes(X, y, 5, backend)
    slow = {(i, j): both_add(X, y, i, j) for i, j in combinations(range(n), 2)}
    assert scan.information == pytest.approx(sorted(slow.values())[::-1][:5], abs=1e-6)
    pairs = [tuple(pair) for pair in scan.pairs.tolist()]
    assert len(set(pairs)) == len(pairs) == min(5, len(slow))
    assert scan.information == pytest.approx([slow[pair] for pair in pairs], abs=1e-6)
    assert scan.synergy == pytest.approx([synergy(X, y, i, j) for i, j in pairs], abs=1e-6)


@pytest.mark.parametrize("backend", ["native", "torch:cpu"])
@pytest.mark.parametrize("levels", [[2], [2, 3]])
def test_ties_go_to_the_lowest_columns_however_pairs_are_cut(backend, levels, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, np.resize(levels, 60), (12, 60))  # of few rows: many values are equal
    y = np.arange(12) % 2
    given = Entropies.count(encode(X), read_classes(y, 12)).measure(measures.CMI, dtype=np.float32)
    i, j = np.triu_indices(60, 1)
    smaller = np.minimum(given, given.T)[i, j]
    best = np.lexsort((j, i, -smaller))[:30]
    monkeypatch.setattr(_reductions, "TILE_ROWS", 7)
    monkeypatch.setattr(_reductions, "TILE_COLUMNS", 11)
    scan = scan_codes(X, y, 30, backend)
    np.testing.assert_array_equal(scan.pairs, np.column_stack([i, j])[best])
    np.testing.assert_array_equal(scan.information, smaller[best])


@pytest.mark.parametrize("n_levels", [(2, 2), (2, 4), (4, 2), (3, 3)])
def test_pvalues_are_uniform_where_one_of_two_columns_adds_nothing(n_levels):
    rng = np.random.default_rng(1)
    pvalues = []
    for _ in range(200):
        X = rng.integers(0, n_levels, (600, 2))
        y = rng.random(600) < 0.2 + 0.6 * X[:, 0] / (n_levels[0] - 1)
        pvalues.append(scan_codes(X, y, 1).pvalues[0])
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01


def test_pvalues_of_tables_without_a_pair_are_rarely_small():
    rng = np.random.default_rng(2)
    smallest = []
    for _ in range(150):
        X = rng.integers(0, np.resize([2, 3, 4], 20), (500, 20))
        y = X[:, 4] + rng.normal(size=500) > 1  # a single column is informative
        smallest.append(scan_codes(X, y, 20 * 19 // 2).pvalues.min())
    assert np.mean(np.array(smallest) < 0.05) <= 0.08


def test_a_constant_column_is_in_no_significant_pair():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (100, 3))
    X[:, 1] = 1
    scan = scan_codes(X, X[:, 0], 3)
    pvalue_of = dict(zip(map(tuple, scan.pairs.tolist()), scan.pvalues, strict=True))
    assert pvalue_of[0, 1] == pvalue_of[1, 2] == 1.0


def test_the_frame_has_names_and_what_both_add():
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(500, 40)), columns=[f"f{i}" for i in range(40)])
    y = (X["f3"] * X["f30"] > 0).to_numpy()
    frame = pair_scan(X, y, top=3).to_frame()
    assert frame.columns.tolist() == ["first", "second", "information", "synergy", "pvalue"]
    assert frame.loc[0, ["first", "second"]].tolist() == ["f3", "f30"]
    assert frame["pvalue"][0] < 1e-10
    assert frame["information"].is_monotonic_decreasing
    assert len(pair_scan(X, y, top=10_000).pairs) == 40 * 39 // 2
