"""Columns out of tables of every type and layout, codes of their values, sums of powers."""

import numpy as np
import pytest

from bestk.native import kernels
from bestk.native._library import TABLE_TYPES

LAYOUTS = {
    "rows": lambda X: X,
    "columns": np.asfortranarray,
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda X: np.lib.stride_tricks.as_strided(X, writeable=False),
}


def numbers(dtype, shape, seed=0):
    X = np.random.default_rng(seed).normal(size=shape) * 40
    return (np.abs(X) if np.dtype(dtype).kind in "ub" else X).astype(dtype)


def test_codes_in_an_order_of_the_samples_go_back_to_their_own():
    random = np.random.default_rng(0)
    block, order = random.integers(0, 256, (5, 37), dtype=np.uint8), random.permutation(37)
    codes = np.empty((37, 5), np.int16, order="F")
    kernels.reorder(block, *block.shape, order, codes.T)
    np.testing.assert_array_equal(codes[order].T, block)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1, 1), (8, 70), (37, 5), (130, 131)])
def test_columns_are_read_as_the_rows_of_a_block(layout, shape):
    for dtype in TABLE_TYPES:
        X = LAYOUTS[layout](numbers(dtype, shape))
        order = np.random.default_rng(1).permutation(len(X))
        block = np.empty(X.shape[::-1])
        kernels.read_columns(X, order, len(X), block, len(block))
        np.testing.assert_array_equal(block, X[order].T.astype(float))


def test_the_largest_integers_become_the_nearest_floats():
    X = np.array([[2**63 - 1, -(2**63)], [2**53 + 1, 2**62 + 1]])
    for table in (X, np.abs(X).astype(np.uint64)):
        block = np.empty((2, 2))
        kernels.read_columns(table, np.arange(2), 2, block, 2)
        np.testing.assert_array_equal(block, table.T.astype(float))


@pytest.mark.parametrize("dtype", TABLE_TYPES)
@pytest.mark.parametrize(
    ("layout", "most"),
    [("rows", 0), ("columns", 3), ("every other", 400), ("backwards", 64), ("read-only", 65)],
)  # columns of more than 64 cuts are searched
def test_a_code_is_the_number_of_cuts_below_the_value(cpu, dtype, layout, most):
    rng = np.random.default_rng(2)
    X = LAYOUTS[layout](numbers(dtype, (70, 75)))
    if X.dtype.kind == "f" and X.flags.writeable:
        X[rng.random(X.shape) < 0.1] = np.nan
    X_float = X.astype(float)
    cuts = [
        np.unique(rng.choice(np.nan_to_num(X_float[:, j]), rng.integers(0, most + 1)))
        for j in range(75)
    ]
    starts = np.cumsum([0, *map(len, cuts)])
    block, codes = np.empty((75, 70)), np.empty(X.shape, np.int16, order="F")
    kernels.read_columns(X, None, 70, block, 75)
    kernels.encode(block, *block.shape, np.concatenate(cuts), starts, codes.T)
    for j, own in enumerate(cuts):
        expected = np.searchsorted(own, X_float[:, j])
        expected[np.isnan(X_float[:, j])] = len(own) + 1
        np.testing.assert_array_equal(codes[:, j], expected)


def test_a_table_of_another_kind_is_refused():
    block, order = np.empty((2, 2)), np.arange(2)
    for table in (np.zeros(2), np.zeros((2, 2), complex), np.zeros((2, 2), ">f8")):
        with pytest.raises(TypeError, match="a table of numbers"):
            kernels.read_columns(table, order, 2, block, 2)
