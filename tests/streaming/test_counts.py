"""Counts of pairs add up to those of the whole table, however its rows are cut."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk import Entropies, PairCounts, encode
from bestk.data.target import read_target
from bestk.information import Query, measures
from bestk.information import _cells as cells
from bestk.information import counts as _counts

MEASURES = ("cmi", "joint_mi", "pair_mi", "pair_cmi", "xx", "xxy")
CORRECTIONS = (None, "miller-madow", "chance")


@st.composite
def cut_tables(draw):
    """Columns of whole numbers, strings and gaps, a target, and where to cut the rows."""
    m, n = draw(st.integers(2, 40)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    kinds = [
        [0, 1, 2, 3, 4], [0, 1, 70_000], ["red", "green", "blue"], [None, 0, 1],
        [None, "a", "b"], [3], [True, False], [None],
    ]  # fmt: skip
    columns = [rng.choice(np.array(kinds[rng.integers(8)], dtype=object), m) for _ in range(n)]
    y = np.append(rng.integers(0, 4, m - 1), 4)
    cuts = sorted({0, *rng.integers(0, m, draw(st.integers(0, 5))).tolist(), m})
    return pd.DataFrame({f"c{j}": c for j, c in enumerate(columns)}, dtype=object), y, cuts


def blocks(X, y, cuts):
    return [(X.iloc[a:b], y[a:b]) for a, b in pairwise(cuts)]


def same(counts, X, y, correction=None):
    """Every entropy and measure is that of the whole table, to the last bit."""
    whole = Entropies.count(encode(X), read_target(y, len(y)), correction=correction)
    found = counts.entropies(correction)
    for name in ("x", "xy", "y"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    for name in MEASURES:
        np.testing.assert_array_equal(getattr(found, name)(), getattr(whole, name)())
    np.testing.assert_array_equal(found.copy_mi(), whole.copy_mi())


def test_xor_is_seen_only_once_both_blocks_are_in():
    counts = PairCounts().add([[0, 0], [1, 1]], ["same", "same"])
    counts.add([[0, 1], [1, 0]], ["other", "other"])
    np.testing.assert_allclose(counts.entropies().mi(), [0, 0], atol=1e-15)
    np.testing.assert_allclose(counts.entropies().cmi()[0, 1], np.log(2))


@given(cut_tables(), st.sampled_from(CORRECTIONS), st.integers(1, 50))
def test_blocks_count_as_the_whole_table(table, correction, waiting):
    X, y, cuts = table
    before, _counts.MAX_WAITING_ROWS = _counts.MAX_WAITING_ROWS, waiting
    try:
        counts = PairCounts()
        for X_block, y_block in blocks(X, y, cuts):
            counts.add(X_block, y_block)
        same(counts, X, y, correction)
    finally:
        _counts.MAX_WAITING_ROWS = before


def test_entropies_stay_what_they_were_when_rows_are_added():
    X, y = np.array([[0, 1], [1, 1], [0, 0], [1, 0]]), np.array([1, 2, 2, 1])
    counts = PairCounts().add(X, y)
    entropies = counts.entropies()
    before = entropies.cmi()
    counts.add(X[:3], y[:3])
    counts.entropies()
    np.testing.assert_array_equal(entropies.cmi(), before)


@given(cut_tables(), st.data())
def test_any_rows_and_columns_of_a_measure_can_be_asked_for(table, data):
    X, y, _ = table
    n = X.shape[1]
    chosen = st.none() | st.lists(st.integers(0, n - 1), unique=True, min_size=1)
    rows, columns = data.draw(chosen), data.draw(chosen)
    whole = Entropies.count(encode(X), read_target(y, len(y)))
    found = PairCounts().add(X, y).entropies()
    for dtype in (np.float32, np.float64):
        np.testing.assert_array_equal(
            found.cmi(rows, columns, dtype), whole.cmi(rows, columns, dtype)
        )


@given(cut_tables(), st.sampled_from([None, "miller-madow"]))
def test_tables_of_the_counts_that_occur_give_what_full_tables_give(table, correction):
    X, y, _ = table
    before, cells.MAX_FULL_ROWS = cells.MAX_FULL_ROWS, 1
    try:
        same(PairCounts().add(X, y), X, y, correction)
    finally:
        cells.MAX_FULL_ROWS = before


@given(cut_tables())
def test_chance_in_long_tables_is_that_in_short_ones_but_for_rounding(table):
    X, y, _ = table
    expected = PairCounts().add(X, y).entropies("chance")
    before, cells.MAX_FULL_ROWS_CHANCE = cells.MAX_FULL_ROWS_CHANCE, 1
    try:
        found = PairCounts().add(X, y).entropies("chance")
    finally:
        cells.MAX_FULL_ROWS_CHANCE = before
    np.testing.assert_allclose(found.mi(), expected.mi(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.joint_mi(), expected.joint_mi(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("levels", [2, 255, 256, 257, 600])
def test_columns_of_few_and_of_many_levels_grow_together(levels):
    rng = np.random.default_rng(levels)
    X = np.column_stack([rng.integers(0, 2, 1500), rng.integers(0, levels, 1500)])
    X[:700] %= 200  # the levels beyond one byte come late
    y = rng.integers(0, 3, 1500)
    counts = PairCounts().add(X[:700], y[:700]).add(X[700:], y[700:])
    same(counts, X, y)
    same(PairCounts().add(X[700:], y[700:]).add(X[:700], y[:700]), X, y)


def test_classes_that_never_come_are_no_classes():
    X, y = np.array([[0, 1], [1, 1], [0, 0]]), np.array([1, 2, 2])
    same(PairCounts(classes=[0, 1, 2, 3]).add(X, y), X, y, "chance")


def test_counts_survive_pickling_with_rows_still_waiting():
    X, y = np.array([[0, 1], [1, 1], [0, 0]]), np.array([1, 2, 2])
    same(pickle.loads(pickle.dumps(PairCounts().add(X[:2], y[:2]))).add(X[2:], y[2:]), X, y)


def test_blocks_without_rows_change_nothing():
    X, y = pd.DataFrame({"a": [0, 1], "b": [1, 1]}), np.array([0, 1])
    counts = PairCounts().add(X[:0], y[:0]).add(X, y)
    same(counts, X, y)
    assert (counts.n_samples, counts.n_features, list(counts.names)) == (2, 2, ["a", "b"])


def test_counts_that_do_not_fit_are_refused_before_they_are_made():
    X = np.random.default_rng(0).integers(0, 5, (50, 30))
    message = r"with 120 levels .* 2 classes, need 5.41e-05 GiB and may take 9.31e-10; leave out"
    with pytest.raises(MemoryError, match=message):
        PairCounts(memory=1).add(X, X[:, 0] % 2).entropies()


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y has one class only, no"):
        PairCounts().add([[0], [1]], ["no", "no"]).entropies()


def test_nothing_counted_is_refused():
    with pytest.raises(ValueError, match="add a block of rows first"):
        PairCounts().entropies()


@pytest.mark.parametrize(("block", "message"), [
    (pd.DataFrame({"a": [1]}), "a block has 1 columns, and those before 2"),
    (pd.DataFrame({"b": [1], "a": [1]}), "column 0 of a block is 'b', and 'a' in those before"),
    (pd.DataFrame({"a": ["x"], "b": [1]}), "column 'a' holds 0 in one block and 'x' in another"),
    (pd.DataFrame({"a": [0.5], "b": [1]}), "column 'a' is not discrete: it holds 0.5"),
])  # fmt: skip
def test_blocks_that_do_not_fit_those_before_are_refused(block, message):
    counts = PairCounts().add(pd.DataFrame({"a": [0, 1], "b": [1, 1]}), [0, 1])
    with pytest.raises(ValueError, match=message):
        counts.add(block, [1])

    with pytest.raises(TypeError):
        PairCounts() + 1


@pytest.mark.parametrize("measure", [measures.CMI, measures.SYMMETRIC_CMI])
def test_row_sums_of_counted_pairs_are_those_of_the_rows(measure):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 30)), rng.integers(0, 2, 200)
    counted = PairCounts().add(X, y).entropies().source
    wanted = Entropies.count(encode(X), read_target(y, 200)).source
    np.testing.assert_array_equal(counted.row_sums(Query(measure)), wanted.row_sums(Query(measure)))
