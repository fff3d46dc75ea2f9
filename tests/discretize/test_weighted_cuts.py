"""Cuts of columns whose rows have weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk.discretize._base import (
    BY_ENTROPY,
    BY_FREQUENCY,
    BY_MAJORITY,
    Classes,
    CutMethod,
    cut_by_kernel,
    cut_by_weights,
)
from bestk.tables.weights import RowWeights, read_weights

WAYS = [
    CutMethod(BY_ENTROPY, 10**6),
    CutMethod(BY_MAJORITY, 10**6),
    CutMethod(BY_MAJORITY, 3),
    CutMethod(BY_FREQUENCY, 5),
]


@st.composite
def columns(draw):
    """Columns with ties and missing values, classes that they partly follow, and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_classes = draw(st.integers(5, 150)), draw(st.integers(2, 5))
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    spread = draw(st.sampled_from([1, 3, 100]))
    X = np.round(spread * rng.normal(size=(n, 3)) + y[:, None] * rng.random(3), 1)
    X[rng.random((n, 3)) < 0.1] = np.nan
    return X, Classes.of(y, n_classes), y, rng


@settings(max_examples=60)
@given(columns())
def test_weights_that_are_all_equal_give_the_cuts_of_the_kernel(table):
    X, classes, _, _ = table
    weighted = cut_by_weights(X, classes, RowWeights(np.ones(len(X))), WAYS, 2)
    for one, other in zip(weighted, cut_by_kernel(X, classes, WAYS, 2), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@settings(max_examples=60)
@given(columns())
def test_whole_weights_cut_as_repeated_rows_do_for_caim_and_equal_frequency(table):
    X, classes, y, rng = table
    counts = rng.integers(1, 4, len(X))
    counts[:2] = 1, 2
    weights = read_weights(counts, len(X)).values[classes.order]
    rows = np.repeat(np.arange(len(X)), counts)
    weighted = cut_by_weights(X, classes, RowWeights(weights), WAYS[1:], 0)
    repeated = cut_by_kernel(X[rows], Classes.of(y[rows], classes.n_classes), WAYS[1:])
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(one.values, other.values)


def test_mdlp_counts_effective_rows_and_so_cuts_no_noise_for_a_large_factor():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 20)), rng.integers(0, 2, 500)
    weights = rng.exponential(1.0, 500)
    classes = Classes.of(y, 2)
    for factor in (1.0, 1000.0):
        in_order = RowWeights(read_weights(factor * weights, 500).values[classes.order])
        (cuts,) = cut_by_weights(X, classes, in_order, [CutMethod(BY_ENTROPY, 10)], 0)
        assert cuts.counts.sum() <= 2


@pytest.mark.parametrize("way", WAYS)
def test_columns_of_missing_or_infinite_values_have_no_cuts(way):
    X = np.array([[np.nan, np.inf, 1.0], [np.nan, 1.0, 1.0]])
    classes = Classes.of(np.array([0, 1]), 2)
    (cuts,) = cut_by_weights(X, classes, RowWeights(np.array([1.0, 0.5])), [way], 1)
    assert cuts.counts.tolist() == [0, -1, 0]
    assert cuts.gaps.tolist() == [True, False, False]
