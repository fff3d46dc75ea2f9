"""What columns add to those before them in their blocks, against numpy, operation by operation."""

import numpy as np
import pytest

from bestk.native import kernels

SMALLEST = 1e-6
rng = np.random.default_rng(0)


def covariances_of_block(size):
    """Covariances of random columns, of which every third repeats the one before it."""
    columns = rng.normal(size=(size, 30))
    columns[2::3] = columns[1::3][: len(columns[2::3])]
    return columns @ columns.T / 30


def variances_given_earlier(covariances):
    """The same as the kernel, by outer products."""
    remaining = covariances.copy()
    variances = np.empty(len(remaining))
    for column in range(len(remaining)):
        variance = remaining[column, column]
        variances[column] = variance
        if variance > SMALLEST:
            remaining -= np.outer(remaining[column], remaining[column]) / variance
    return variances


@pytest.mark.parametrize("sizes", [[1], [1, 1, 1], [4, 1, 2], [7, 3], []])
def test_variances_of_columns_are_those_given_the_ones_before(cpu, sizes):
    blocks = [covariances_of_block(size) for size in sizes]
    triangles = [block[np.tril_indices(len(block))] for block in blocks]
    flat = np.concatenate([np.empty(0), *triangles])
    variances = np.empty(sum(sizes))
    kernels.variances_given_earlier(flat, np.array(sizes, int), len(sizes), SMALLEST, variances)
    expected = [variances_given_earlier(block) for block in blocks]
    np.testing.assert_array_equal(variances, np.concatenate([np.empty(0), *expected]))


@pytest.mark.parametrize("sizes", [[1], [3, 1, 2], [5], []])
def test_sums_of_first_values_start_again_in_each_block(cpu, sizes):
    blocks = [rng.normal(size=size) for size in sizes]
    values = np.concatenate([np.empty(0), *blocks])
    kernels.sum_prefixes(values, np.array(sizes, int), len(sizes))
    expected = [np.cumsum(block) for block in blocks]
    np.testing.assert_array_equal(values, np.concatenate([np.empty(0), *expected]))


@pytest.mark.parametrize(("n_rows", "n_earlier"), [(2, 0), (2, 3), (6, 2)])
def test_what_earlier_rows_explain_is_subtracted_in_their_order(cpu, n_rows, n_earlier):
    n = 11
    rows = rng.normal(size=(n_rows // 2, 2, n))
    earlier = rng.normal(size=(n_earlier + 1, n_rows // 2, 2, n))
    columns = rng.integers(0, n, n_rows)
    expected = rows.reshape(n_rows, n).copy()
    for step in earlier[:n_earlier].reshape(n_earlier, n_rows, n):
        expected -= step[np.arange(n_rows), columns][:, np.newaxis] * step
    kernels.subtract_explained(rows, n_rows, n, earlier, n_earlier, columns)
    np.testing.assert_array_equal(rows.reshape(n_rows, n), expected)
