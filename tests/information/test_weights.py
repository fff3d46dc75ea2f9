"""Information of tables whose rows have weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from bestk import cmi_matrix, joint_mi_matrix, mutual_information
from bestk.errors import DataError, ParameterError, UnknownNameError
from bestk.information import measures
from bestk.information.backends._native import NativeCounter
from bestk.information.backends._weighted import WeightedCounter
from bestk.tables.codes import encode
from bestk.tables.target import read_classes

CORRECTIONS = pytest.mark.parametrize("correction", [None, "miller-madow", "chance"])


def made(seed, n=300):
    """Columns of 1 to 200 levels, one a copy of another with other names, classes and weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, levels, n) for levels in (1, 2, 3, 12, 200, 2)])
    X[:, 5] = 1 - X[:, 1]
    return X, (rng.integers(0, 3, n) + (X[:, 1] > 0)) % 3, rng.exponential(1.0, n)


def weighted_mi(x, y, weights):
    """I(x; y) of the weighted table, by its definition."""
    table = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(table, (x, y), weights / weights.sum())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    seen = table > 0
    return float((table[seen] * np.log(table[seen] / expected[seen])).sum())


def test_a_case_worked_by_hand():
    # Of weight 4 in all, 3 lies where x = y: the table is 3/8, 1/8, 1/8, 3/8.
    x, y = [[0], [0], [1], [1]], [0, 1, 0, 1]
    expected = 0.75 * np.log(1.5) + 0.25 * np.log(0.5)
    assert mutual_information(x, y, sample_weight=[3, 1, 1, 3])[0] == pytest.approx(expected)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_information_of_whole_weights_is_that_of_repeated_rows(seed):
    X, y, _ = made(seed)
    counts = np.random.default_rng(seed).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    for measure in (mutual_information, cmi_matrix, joint_mi_matrix):
        weighted, repeated = measure(X, y, sample_weight=counts), measure(X[rows], y[rows])
        np.testing.assert_allclose(weighted, repeated, atol=1e-10)


def test_information_of_real_weights_is_that_of_the_weighted_table():
    X, y, weights = made(0)
    expected = [weighted_mi(x, y, weights) for x in X.T]
    found = mutual_information(X, y, sample_weight=weights)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@CORRECTIONS
def test_a_factor_and_the_order_of_rows_change_no_bit(correction):
    X, y, weights = made(1)
    found = cmi_matrix(X, y, correction=correction, sample_weight=weights)
    assert found[5, 5] == found[1, 1]  # the same levels by other names
    for factor in (5.0, 0.37, 1e-9):
        other = cmi_matrix(X, y, correction=correction, sample_weight=factor * weights)
        np.testing.assert_array_equal(found, other)
    order = np.random.default_rng(0).permutation(len(X))
    other = cmi_matrix(X[order], y[order], correction=correction, sample_weight=weights[order])
    np.testing.assert_array_equal(found, other)


@CORRECTIONS
def test_equal_weights_are_no_weights_and_rows_of_weight_zero_are_not_there(correction):
    X, y, weights = made(2)
    plain = cmi_matrix(X, y, correction=correction)
    equal = cmi_matrix(X, y, correction=correction, sample_weight=np.full(len(X), 0.3))
    np.testing.assert_array_equal(plain, equal)
    weights[::3] = 0.0
    kept = weights > 0
    found = cmi_matrix(X, y, correction=correction, sample_weight=weights)
    alone = cmi_matrix(X[kept], y[kept], correction=correction, sample_weight=weights[kept])
    np.testing.assert_array_equal(found, alone)


@CORRECTIONS
def test_sums_of_weights_one_are_the_counts_for_every_measure(correction):
    X, y, _ = made(3)
    codes, target = encode(X), read_classes(y, len(y))
    weighted = WeightedCounter(codes, target, correction)
    counted = NativeCounter(codes, target, correction)
    some = np.array([4, 1, 3])
    for one, other in zip(weighted.singles, counted.singles, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
    named = [value for value in vars(measures).values() if isinstance(value, measures.Measure)]
    assert len(named) >= 9
    for measure in named:
        for rows, columns in ((None, None), (some, some), (some, None), (some, np.array([0, 5]))):
            query = measures.Query(measure, rows, columns)
            shape = [6 if chosen is None else len(chosen) for chosen in (rows, columns)]
            one, other = np.empty((2, *shape))
            weighted.fill(query, one)
            counted.fill(query, other)
            np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("levels", [2, 5, 20])
@pytest.mark.parametrize("kind", ["balancing", "uniform", "unrelated"])
def test_chance_leaves_about_nothing_of_independent_columns(kind, levels):
    rng = np.random.default_rng(0)
    n = 1000
    y = (rng.random(n) < 0.1).astype(int)
    weights = {
        "balancing": np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean())),
        "uniform": rng.uniform(0.5, 1.5, n),
        "unrelated": rng.choice([1.0, 4.0], n),
    }[kind]
    X = rng.integers(0, levels, (n, 1500))
    plain = mutual_information(X, y, sample_weight=weights).mean()
    corrected = mutual_information(X, y, sample_weight=weights, correction="chance").mean()
    assert abs(corrected) < 0.1 * plain
    bias = mutual_information(X, y, sample_weight=weights, correction="miller-madow").mean()
    assert abs(bias) < 0.15 * plain


def test_chance_is_the_mean_over_permutations_of_rows_and_their_weights():
    rng = np.random.default_rng(1)
    n = 400
    x, y = rng.integers(0, 8, (n, 1)), (rng.random(n) < 0.2).astype(int)
    weights = np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean())) * rng.uniform(0.7, 1.3, n)
    orders = [rng.permutation(n) for _ in range(400)]
    permuted = np.column_stack([x[order] for order in orders])
    mean = mutual_information(permuted, y, sample_weight=weights).mean()
    plain = mutual_information(x, y, sample_weight=weights)[0]
    corrected = mutual_information(x, y, sample_weight=weights, correction="chance")[0]
    assert plain - corrected == pytest.approx(mean, rel=0.1)


def weighted_scores(x, weights):
    """Normal scores of the weighted ranks of a column, of weighted mean 0 and variance 1."""
    up_to = np.array([weights[x < value].sum() + weights[x == value].sum() / 2 for value in x])
    scores = ndtri(up_to / weights.sum())
    scores -= np.average(scores, weights=weights)
    return scores / np.sqrt(np.average(scores**2, weights=weights))


def test_normal_information_is_of_weighted_covariances_and_effective_rows():
    rng = np.random.default_rng(0)
    n = 400
    weights = rng.exponential(1.0, n)
    x, other = rng.normal(size=(2, n))
    y = x + rng.normal(size=n)
    rows = round(weights.sum() ** 2 / (weights**2).sum())
    X = np.column_stack([x, other])
    options = {"information": "gaussian", "target": "continuous"}
    found = mutual_information(X, y, sample_weight=weights, **options)
    for column, value in zip(X.T, found, strict=True):
        a, b = weighted_scores(column, weights), weighted_scores(y, weights)
        r = np.average(a * b, weights=weights)
        expected = 0.5 * np.log((1 + 1 / rows) / (1 - r**2 + 1 / rows))
        assert value == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("goal", ["classes", "continuous"])
def test_normal_information_of_whole_weights_is_near_that_of_repeated_rows(goal):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 4))
    X[rng.random((2000, 4)) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=2000)
    y = y if goal == "continuous" else (y > 0).astype(int)
    counts = rng.integers(1, 4, 2000)
    rows = np.repeat(np.arange(2000), counts)
    options = {"information": "gaussian", "target": goal}
    weighted = cmi_matrix(X, y, sample_weight=counts, **options)
    np.testing.assert_allclose(weighted, cmi_matrix(X[rows], y[rows], **options), atol=1e-3)


@pytest.mark.parametrize("backend", ["torch", "torch:cuda", "dask"])
@pytest.mark.parametrize("information", ["discrete", "gaussian"])
def test_backends_that_count_whole_rows_refuse_weights(backend, information):
    X, y, weights = made(0)
    options = {"backend": backend, "information": information}
    with pytest.raises(ParameterError, match="pass backend='auto'"):
        mutual_information(X, y, sample_weight=weights, **options)
    with pytest.raises(UnknownNameError, match="backend"):
        mutual_information(X, y, sample_weight=weights, backend="abacus")


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1.0, -1.0, 1.0], "finite numbers from 0 up"),
        ([1.0, np.nan, 1.0], "finite numbers from 0 up"),
        ([1.0, np.inf, 1.0], "finite numbers from 0 up"),
        ([0.0, 0.0, 0.0], "zero in all rows"),
        ([1.0, 2.0], "give a weight for each row"),
        (["a", "b", "c"], "give numbers"),
    ],
)
def test_other_weights_are_refused_with_advice(weights, says):
    with pytest.raises(DataError, match=says):
        mutual_information([[0], [1], [1]], [0, 1, 1], sample_weight=weights)
