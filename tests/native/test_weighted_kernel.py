"""Sums of n log n over cells of weights against the same steps in numpy."""

import numpy as np
import pytest

from bestk.native import kernels

rng = np.random.default_rng(0)
ONE = 2.0**40


def numpy_sums(x_i, x_j, y, weights, scale, occupied, chance):
    """The sums over the cells (xi, xj), and over (xi, xj, y) with what chance adds."""
    pair_cells, class_cells = {}, {}
    for i, j, c, weight in zip(x_i, x_j, y, weights, strict=True):
        pair_cells[i, j] = pair_cells.get((i, j), 0.0) + weight
        class_cells[i, j, c] = class_cells.get((i, j, c), 0.0) + weight

    def plain(weight):
        n = weight * scale
        return round((n * np.log(n) - occupied) * ONE)

    def by_chance(weight):
        if chance is None:
            return 0
        return round(float(np.interp(weight * scale, np.arange(len(chance)), chance)) * ONE)

    pair_sum = sum(map(plain, pair_cells.values()))
    class_sum = sum(map(plain, class_cells.values())) + sum(map(by_chance, pair_cells.values()))
    return pair_sum, class_sum


@pytest.mark.parametrize("n_samples", [1, 2, 7, 60, 300])
@pytest.mark.parametrize("corrected", [False, True])
def test_sums_over_cells_are_those_of_their_twin(n_samples, corrected):
    levels = np.array([1, 2, 3, 17, 200])
    codes = np.array([rng.integers(0, n, n_samples) for n in levels], np.uint16)
    y = np.sort(rng.integers(0, 3, n_samples))
    weights = rng.integers(1, 2**20, n_samples) / 2.0**20
    m = max(1, n_samples // 2)
    scale = m / weights.sum()
    chance = rng.normal(size=m + 1) if corrected else None
    occupied = 0.5 if corrected else 0.0
    rows, columns = np.array([3, 0, 4, 1]), np.array([2, 4, 0])
    pair_sums, class_sums = np.zeros((2, len(rows), len(columns)), np.int64)
    kernels.add_weights(
        codes, levels, n_samples, int(levels.max()), y, weights, scale, ONE, occupied, chance,
        m, rows, columns, len(columns), pair_sums, class_sums, 0, len(rows),
    )  # fmt: skip
    for row, i in enumerate(rows):
        for column, j in enumerate(columns):
            expected = numpy_sums(codes[i], codes[j], y, weights, scale, occupied, chance)
            # logarithms of numpy and of C differ in the last bit
            assert abs(pair_sums[row, column] - expected[0]) <= 2 + n_samples
            assert abs(class_sums[row, column] - expected[1]) <= 2 + n_samples


def test_the_order_of_rows_and_the_names_of_levels_change_no_bit():
    n_samples, n_levels = 400, 12
    x, y = rng.integers(0, n_levels, (3, n_samples)), rng.integers(0, 3, n_samples)
    weights = rng.integers(1, 2**20, n_samples) / 2.0**20

    def sums(x, y, weights):
        order = np.argsort(y, kind="stable")
        found = np.zeros((2, 3, 3), np.int64)
        codes = np.ascontiguousarray(x[:, order], np.uint16)
        kernels.add_weights(
            codes, np.full(3, n_levels), n_samples, n_levels, y[order],
            weights[order], 0.7, ONE, 0.0, None, 1, np.arange(3), np.arange(3), 3, found[0],
            found[1], 0, 3,
        )  # fmt: skip
        return found

    found, order = sums(x, y, weights), rng.permutation(n_samples)
    np.testing.assert_array_equal(found, found.transpose(0, 2, 1))
    np.testing.assert_array_equal(found, sums(x[:, order], y[order], weights[order]))
    np.testing.assert_array_equal(found, sums(rng.permutation(n_levels)[x], y, weights))
