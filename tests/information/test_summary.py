"""Row sums and best pairs of a matrix that is never held are those of the matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import encode
from bestk.data.target import read_target
from bestk.information import Entropies, Query, measures
from bestk.information.backends import _reductions

from .conftest import tables

MEASURES = [value for value in vars(measures).values() if isinstance(value, measures.Measure)]
SYMMETRIC = [measure for measure in MEASURES if measure != measures.CMI]


def count(X, y, backend="native"):
    return Entropies.count(encode(X), read_target(y, len(y)), backend)


def best_values(matrix, most):
    """The largest entries above the diagonal."""
    return np.sort(matrix[np.triu_indices(len(matrix), 1)])[::-1][:most]


@pytest.fixture(params=[2**22, 64], ids=["one strip", "many strips"])
def strips(request, monkeypatch):
    monkeypatch.setattr(_reductions, "STRIP_ENTRIES", request.param)


@pytest.mark.usefixtures("strips")
@pytest.mark.parametrize("lowest", [-np.inf, 0.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_row_sums_are_those_of_the_matrix_without_its_diagonal(measure, lowest):
    rng = np.random.default_rng(0)
    h = count(rng.integers(0, rng.integers(1, 9, 70), (50, 70)), rng.integers(0, 3, 50))
    matrix = np.empty((70, 70))
    h.source.fill(Query(measure, lowest=lowest), matrix)
    np.fill_diagonal(matrix, 0.0)
    sums = h.source.summary(Query(measure, lowest=lowest)).row_sums
    np.testing.assert_allclose(sums, matrix.sum(axis=1), rtol=1e-12, atol=1e-12)


def test_row_sums_of_a_wide_table_leave_no_column_out(monkeypatch):
    rng = np.random.default_rng(0)
    n = 700
    h = count(rng.integers(0, 3, (30, n)), rng.integers(0, 2, 30))
    monkeypatch.setattr(_reductions, "STRIP_ENTRIES", 64 * n)
    matrix = h.measure(measures.JOINT_MI)
    np.fill_diagonal(matrix, 0.0)
    np.testing.assert_allclose(h.row_sums(measures.JOINT_MI), matrix.sum(axis=1))


@settings(max_examples=25)
@given(table=tables(max_features=30), most=st.integers(1, 40), which=st.integers(0, 6))
def test_the_best_pairs_have_the_largest_values(table, most, which):
    h, measure = count(*table), SYMMETRIC[which % len(SYMMETRIC)]
    _, pairs, values = h.source.summary(Query(measure), most, sums=False)
    matrix = h.measure(measure, signed=True)
    assert len(set(map(tuple, pairs))) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    np.testing.assert_array_equal(matrix[tuple(pairs.T)], values)
    np.testing.assert_array_equal(values, best_values(matrix, most))


def test_of_equal_pairs_the_first_are_the_best():
    X, y = np.tile([[0], [1], [1], [0]], 9), [0, 1, 0, 1]
    _, pairs, _ = count(X, y).source.summary(Query(measures.PAIR_MI), 20, sums=False)
    np.testing.assert_array_equal(pairs, np.argwhere(np.triu(np.ones((9, 9)), 1))[:20])


@pytest.mark.usefixtures("strips")
def test_equal_columns_have_equal_row_sums_wherever_they_stand():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (80, 60)), rng.integers(0, 2, 80)
    X[:, [7, 31, 59]] = X[:, [0]]
    sums = count(X, y).row_sums(measures.SYMMETRIC_CMI)
    assert len(set(sums[[0, 7, 31, 59]])) == 1
    np.testing.assert_array_equal(sums[::-1], count(X[:, ::-1], y).row_sums(measures.SYMMETRIC_CMI))


def test_one_pass_keeps_both():
    rng = np.random.default_rng(0)
    source = count(rng.integers(0, 3, (40, 50)), rng.integers(0, 2, 40)).source
    query = Query(measures.JOINT_MI)
    both = source.summary(query, 9)
    np.testing.assert_array_equal(both.row_sums, source.summary(query).row_sums)
    np.testing.assert_array_equal(both.pairs, source.summary(query, 9, sums=False).pairs)


def test_a_measure_that_differs_both_ways_has_no_best_pairs():
    source = count([[0, 1], [1, 1]], [0, 1]).source
    with pytest.raises(ValueError, match="best pairs need a symmetric measure"):
        source.summary(Query(measures.CMI), 3)
