"""The sorted column against numpy's own sort."""

import numpy as np
import pytest

from bestk._sorting import midpoint, new_runs, new_scratch, tally

rng = np.random.default_rng(0)

COLUMNS = {
    "bytes": rng.integers(0, 256, 500).astype(float),
    "far whole numbers": rng.integers(-(10**9), 10**9, 500).astype(float),
    "shifted whole numbers": rng.integers(0, 50, 500) + 1e12,
    "normal, small": rng.normal(size=500),
    "normal, large": rng.normal(size=9000),
    "few values": rng.choice([-1.5, -0.0, 0.0, 2.25, np.nan], 9000),
    "every magnitude": rng.normal(size=5000) * 10.0 ** rng.integers(-300, 300, 5000),
    "extremes": np.array([np.finfo(float).max, -np.finfo(float).max, 5e-324, -5e-324, 0.0, np.nan]),
    "one": np.array([3.3]),
    "none": np.array([np.nan, np.nan]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_runs_are_the_class_counts_of_the_distinct_values(name):
    column = COLUMNS[name]
    y = np.sort(rng.integers(0, 3, len(column))).astype(np.int32)
    runs = new_runs(len(column))
    n_values = tally(column, y, 3, runs, new_scratch(len(column)))
    seen = ~np.isnan(column)
    values, place = np.unique(column[seen] + 0.0, return_inverse=True)
    table = np.zeros((len(values), 3), int)
    np.add.at(table, (place, y[seen]), 1)
    np.testing.assert_array_equal(runs.value[:n_values], values)
    found = np.zeros_like(table)
    for d in range(n_values):
        here = slice(runs.start[d], runs.start[d + 1])
        assert (np.diff(runs.label[here]) > 0).all()
        found[d, runs.label[here]] = runs.size[here]
    np.testing.assert_array_equal(found, table)


@pytest.mark.parametrize("low", [-1.7e308, -1.0, -5e-324, 0.0, 5e-324, 0.1, 1.7e308])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_midpoint_is_not_below_the_lower_and_is_below_the_upper_value(low, step):
    high = low
    for _ in range(step):
        high = np.nextafter(high, np.inf)
    assert low <= midpoint(low, high) < high
    assert low <= midpoint(low, 1.75e308) < 1.75e308
