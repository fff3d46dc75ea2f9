"""The codes of blocks are those of the whole table, however its rows are cut."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk import Entropies, encode
from bestk.data.codes import CodeBlocks
from bestk.data.frames import read_table
from bestk.data.target import read_target

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


def blocks_of(*parts, memory=np.inf):
    blocks = CodeBlocks(memory)
    for X, y in parts:
        blocks.add(read_table(X), np.asarray(y))
    return blocks


def same(blocks, X, y, correction=None):
    """Every entropy and measure is that of the whole table, to the last bit."""
    whole = Entropies.count(encode(X), read_target(y, len(y)), correction=correction)
    found = Entropies.count(*blocks.join(), correction=correction)
    for name in ("x", "xy", "y"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    for name in MEASURES:
        np.testing.assert_array_equal(getattr(found, name)(), getattr(whole, name)())


@given(cut_tables(), st.sampled_from(CORRECTIONS))
def test_blocks_count_as_the_whole_table(table, correction):
    X, y, cuts = table
    same(blocks_of(*((X.iloc[a:b], y[a:b]) for a, b in pairwise(cuts))), X, y, correction)


def test_codes_stay_what_they_were_when_rows_are_added():
    X, y = np.array([[0, 1], [1, 1], [0, 0], [1, 0]]), np.array([1, 2, 2, 1])
    blocks = blocks_of((X, y))
    codes, _ = blocks.join()
    before = codes.values.copy()
    blocks.add(read_table(X[:3]), y[:3])
    same(blocks, X[[0, 1, 2, 3, 0, 1, 2]], y[[0, 1, 2, 3, 0, 1, 2]])
    np.testing.assert_array_equal(codes.values, before)


@pytest.mark.parametrize("levels", [2, 255, 256, 257, 600])
def test_columns_of_few_and_of_many_levels_grow_together(levels):
    rng = np.random.default_rng(levels)
    X = np.column_stack([rng.integers(0, 2, 1500), rng.integers(0, levels, 1500)])
    X[:700] %= 200  # the levels beyond one byte come late
    y = rng.integers(0, 3, 1500)
    first, last = (X[:700], y[:700]), (X[700:], y[700:])
    same(blocks_of(first, last), X, y)
    same(blocks_of(last, first), X, y)


def test_blocks_survive_pickling():
    X, y = np.array([[0, 1], [1, 1], [0, 0]]), np.array([1, 2, 2])
    blocks = pickle.loads(pickle.dumps(blocks_of((X[:2], y[:2]))))
    blocks.add(read_table(X[2:]), y[2:])
    same(blocks, X, y)


def test_of_rows_that_do_not_fit_a_random_share_is_kept():
    rng = np.random.default_rng(0)
    y = rng.random(40_000) < 0.3
    X = np.column_stack([y ^ (rng.random(40_000) < 0.2), rng.integers(0, 3, 40_000)]).astype(int)
    blocks = blocks_of(*((X[a : a + 5000], y[a : a + 5000]) for a in range(0, 40_000, 5000)),
                       memory=30_000)  # fmt: skip
    codes, target = blocks.join()
    assert blocks.share in (0.25, 0.125)
    assert codes.values.nbytes <= 30_000
    assert abs(codes.n_samples - 40_000 * blocks.share) < 5 * 40_000**0.5
    assert abs(target.counts[1] / codes.n_samples - 0.3) < 0.03
    whole = Entropies.count(encode(X), read_target(y, len(y)))
    np.testing.assert_allclose(Entropies.count(codes, target).cmi(), whole.cmi(), atol=0.02)


def test_rows_are_dropped_also_after_the_blocks_were_joined():
    X = np.random.default_rng(1).integers(0, 3, (4000, 2))
    y = X[:, 0] > 0  # so that rows of codes and classes must stay together
    blocks = blocks_of((X[:1000], y[:1000]), (X[1000:2000], y[1000:2000]), memory=5000)
    blocks.join()
    blocks.add(read_table(X[2000:]), y[2000:])
    codes, target = blocks.join()
    assert blocks.share == 0.5
    assert codes.n_samples == len(target.codes)
    whole = Entropies.count(codes, target)
    np.testing.assert_allclose(whole.mi()[0], whole.y)  # the first column still determines y


def test_columns_that_do_not_fit_are_refused():
    X = np.random.default_rng(0).integers(0, 5, (50, 30))
    with pytest.raises(MemoryError, match=r"codes of 30 columns in 50 rows need .* GiB and may"):
        blocks_of((X, X[:, 0] % 2), memory=1)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y has one class only, no"):
        blocks_of(([[0], [1]], ["no", "no"])).join()


@pytest.mark.parametrize(("block", "message"), [
    (pd.DataFrame({"a": ["x"], "b": [1]}), "column 'a' holds 0 in one block and 'x' in another"),
    (pd.DataFrame({"a": [0.5], "b": [1]}), "column 'a' is not discrete: it holds 0.5"),
])  # fmt: skip
def test_blocks_that_do_not_fit_those_before_are_refused(block, message):
    blocks = blocks_of((pd.DataFrame({"a": [0, 1], "b": [1, 1]}), [0, 1]))
    with pytest.raises(ValueError, match=message):
        blocks.add(read_table(block), np.array([1]))
