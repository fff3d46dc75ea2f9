"""One row or one noise column more changes a selection as little as it can anywhere."""

import warnings

import numpy as np
import pytest

from bestk import SelectionWarning, select

N_SEEDS = 12
K = 10

# The mean share of the ten selected that stay, at least.
LEAST_OVERLAP = 0.85


def make_table(seed, n_rows, n_columns, target="classes"):
    """Ten columns that matter, clearly to hardly, some of them correlated; and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 3] = 0.8 * X[:, 0] + 0.6 * X[:, 3]
    X[:, 7] = 0.6 * X[:, 1] + 0.8 * X[:, 7]
    effects = np.linspace(1.0, 0.4, 10)
    y = X[:, :10] @ effects + X[:, 10] ** 2 / 2 + rng.normal(size=n_rows)
    return X, y if target == "numbers" else (y > np.median(y)).astype(int)


def overlap(one, other):
    """The share of the features of one selection that another has, too."""
    return len(set(one.support.tolist()) & set(other.support.tolist())) / K


def select_quietly(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(X, y, K, **options)


@pytest.mark.parametrize("target", ["classes", "numbers"])
@pytest.mark.parametrize("n_rows", [120, 199, 400])
def test_one_row_more_changes_little_at_200_rows_and_elsewhere(n_rows, target):
    overlaps = []
    for seed in range(N_SEEDS):
        X, y = make_table(seed, n_rows + 1, 60, target)
        fewer = select_quietly(X[:-1], y[:-1])
        overlaps.append(overlap(fewer, select_quietly(X, y)))
    assert np.mean(overlaps) >= LEAST_OVERLAP


@pytest.mark.parametrize("n_columns", [100, 149, 150, 199, 200])
def test_one_noise_column_more_changes_little(n_columns):
    overlaps = []
    for seed in range(N_SEEDS):
        X, y = make_table(seed, 200, n_columns + 1)
        fewer = select_quietly(X[:, :-1], y)
        overlaps.append(overlap(fewer, select_quietly(X, y)))
    assert np.mean(overlaps) >= LEAST_OVERLAP


@pytest.mark.parametrize("n_columns", [4096, 8192])
def test_one_noise_column_more_changes_little_where_the_best_are_considered_together(n_columns):
    overlaps = []
    for seed in range(2):
        X, y = make_table(seed, 300, n_columns + 1)
        fewer = select_quietly(X[:, :-1], y)
        overlaps.append(overlap(fewer, select_quietly(X, y)))
    assert np.mean(overlaps) >= LEAST_OVERLAP


@pytest.mark.parametrize("n_missing", [1, 5])
def test_missing_values_in_a_noise_column_change_little(n_missing):
    overlaps = []
    for seed in range(N_SEEDS):
        X, y = make_table(seed, 150, 300)
        whole = select_quietly(X, y)
        X[:n_missing, 299] = np.nan
        overlaps.append(overlap(whole, select_quietly(X, y)))
    assert np.mean(overlaps) >= LEAST_OVERLAP


@pytest.mark.parametrize("n_rows", [400, 1000])
@pytest.mark.parametrize("n_values", [12, 20])
def test_a_whole_number_to_predict_of_one_value_more_changes_little(n_values, n_rows):
    overlaps = []
    for seed in range(N_SEEDS):
        X, y = make_table(seed, n_rows, 60, "numbers")
        ranks = np.argsort(np.argsort(y))
        levels = ranks * n_values // n_rows
        fewer = select_quietly(X, levels)
        levels[ranks == n_rows - 1] = n_values
        overlaps.append(overlap(fewer, select_quietly(X, levels)))
    assert np.mean(overlaps) >= LEAST_OVERLAP


def test_a_row_more_than_are_read_of_long_tables_changes_little():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_001, 5))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.2 * X[:, 2] + rng.normal(size=200_001) > 0).astype(int)
    for k in (2, 3):
        fewer = select(X[:-1], y[:-1], k)
        with pytest.warns(SelectionWarning, match="a random sample of 200,000 of 200,001 rows"):
            more = select(X, y, k, random_state=0)
        assert more.support.tolist() == fewer.support.tolist()


@pytest.mark.parametrize("target", ["classes", "numbers"])
@pytest.mark.parametrize("n_rows", [150, 800])
def test_rising_maps_of_columns_change_no_selection(n_rows, target):
    for seed in range(4):
        X, y = make_table(seed, n_rows, 50, target)
        whole = select_quietly(X, y)
        assert select_quietly(np.exp(X), y).support.tolist() == whole.support.tolist()
        assert select_quietly(X**3, y).support.tolist() == whole.support.tolist()
