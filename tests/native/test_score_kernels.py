"""Normal scores against their formulas in numpy, operation by operation."""

import numpy as np
import pytest
from scipy.stats import rankdata

from bestk.native import kernels

rng = np.random.default_rng(0)
ROWS = {
    "normal": rng.normal(size=(5, 301)),
    "one": rng.normal(size=(2, 1)),
    "ties": rng.integers(-2, 3, (4, 50)).astype(float),
    "constant": np.full((2, 9), 4.0),
    "heavy tails": rng.standard_cauchy((3, 2000)) ** 3,
    "far apart": rng.normal(size=(3, 90)) * 1e307,
    "signed zeros": rng.choice([-0.0, 0.0, 1.0], (3, 40)),
    "missing": np.where(rng.random((6, 77)) < 0.3, np.nan, rng.normal(size=(6, 77))),
    "few": rng.normal(size=(4, 31)),
    "few and missing": np.where(rng.random((6, 64)) < 0.3, np.nan, rng.normal(size=(6, 64))),
    "none known": np.full((2, 5), np.nan),
}


@pytest.mark.parametrize("name", ROWS)
def test_full_rows_become_scores_of_mean_ranks_and_others_probabilities(cpu, name):
    block = ROWS[name].copy()
    n = block.shape[1]
    table = rng.normal(size=2 * n - 1)
    kernels.rank_rows(block, *block.shape, table)
    for before, after in zip(ROWS[name], block, strict=True):
        known = ~np.isnan(before)
        twice = 2 * rankdata(before[known] + 0.0)  # 2, 4, ... and odd for ties of two
        m = known.sum()
        expected = table[twice.astype(int) - 2] if m == n else (twice - 1) / (2 * m)
        np.testing.assert_array_equal(after[known], expected)
        assert np.isnan(after[~known]).all()


def numpy_standardise(values, one):
    known = values[~np.isnan(values)]
    out = np.zeros(len(values))
    if len(known) == 0 or not 0.5 * known.max() - 0.5 * known.min() > 0:
        return out
    middle = 0.5 * known.min() + 0.5 * known.max()
    distance = (values - middle) / (0.5 * known.max() - 0.5 * known.min())
    here = ~np.isnan(values)
    mean = np.rint(distance[here] * one).sum() / (one * len(known))
    squares = (np.rint((distance[here] - mean) * (0.5 * one)) ** 2).sum()
    scale = one * np.sqrt(len(values) / squares) * (0.5 * one)
    out[here] = np.rint((distance[here] - mean) * scale)
    return out


@pytest.mark.parametrize("name", ROWS)
def test_standardised_rows_are_those_of_numpy_to_the_sign_of_zero(cpu, name):
    block, one = ROWS[name], 2.0**20
    out = np.empty(block.shape)
    kernels.standardise_rows(block, *block.shape, one, out)
    expected = np.array([numpy_standardise(row, one) for row in block])
    np.testing.assert_array_equal(out.view(np.int64), expected.view(np.int64))
