"""Row sums of a matrix that is never held are those of the matrix."""

import numpy as np
import pytest

from bestk import encode
from bestk.information import Entropies, Query, measures
from bestk.information.backends import _reductions
from bestk.information.backends._reductions import TopPairs
from bestk.tables.target import read_classes

MEASURES = [value for value in vars(measures).values() if isinstance(value, measures.Measure)]


def count(X, y, backend="native"):
    return Entropies.count(encode(X), read_classes(y, len(y)), backend)


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
    sums = h.source.row_sums(Query(measure, lowest=lowest))
    np.testing.assert_allclose(sums, matrix.sum(axis=1), rtol=1e-12, atol=1e-12)


def test_row_sums_of_a_wide_table_leave_no_column_out(monkeypatch):
    rng = np.random.default_rng(0)
    n = 700
    h = count(rng.integers(0, 3, (30, n)), rng.integers(0, 2, 30))
    monkeypatch.setattr(_reductions, "STRIP_ENTRIES", 64 * n)
    matrix = h.measure(measures.JOINT_MI)
    np.fill_diagonal(matrix, 0.0)
    np.testing.assert_allclose(h.row_sums(measures.JOINT_MI), matrix.sum(axis=1))


@pytest.mark.usefixtures("strips")
def test_equal_columns_have_equal_row_sums_wherever_they_stand():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (80, 60)), rng.integers(0, 2, 80)
    X[:, [7, 31, 59]] = X[:, [0]]
    sums = count(X, y).row_sums(measures.SYMMETRIC_CMI)
    assert len(set(sums[[0, 7, 31, 59]])) == 1
    np.testing.assert_array_equal(sums[::-1], count(X[:, ::-1], y).row_sums(measures.SYMMETRIC_CMI))


def test_where_no_pairs_are_asked_for_none_are_kept():
    pairs = TopPairs(0, 5)
    i, j = np.triu_indices(5, 1)
    pairs.add(np.arange(10.0), i, j)
    pairs.take(np.ones((5, 5)), np.arange(5), np.arange(5))
    assert pairs.values.tolist() == []
    assert pairs.pairs.shape == (0, 2)
