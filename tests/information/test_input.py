"""Bad input is answered with what came, what was wanted and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bestk import CAIM, cmi_matrix, joint_mi_matrix, mutual_information
from bestk.information import Entropies, GaussianSource, ScoredTable
from bestk.information._matrices import measure_table
from bestk.information.entropies import _allocate
from bestk.tables.target import NumericTarget, read_classes

X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
Y = np.array([0, 0, 1, 1])
FUNCTIONS = [mutual_information, joint_mi_matrix, cmi_matrix]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("table", "y", "says"),
    [
        (np.empty((0, 2), int), [], "(?i)empty|no rows|0 rows"),
        (np.empty((4, 0), int), Y, "(?i)empty|no columns|0 columns"),
        (X, [0, 0, 0, 0], "one class"),
        (X, [0, 1, 1], "4.*3|3.*4"),
        (X, [0, 1, np.nan, 1], "(?i)missing"),
        (X, None, "y"),
        (X, [0.5, 1.25, 3.5, 2.0], "continuous"),
        (np.where(X == 0, np.inf, X), Y, "(?i)infinit"),
        (X + 0.5, Y, "CAIM"),
        (np.array([[1, "a"], [2, "b"], ["c", 3], [4, 5]], object), Y, "x0"),
        (X - 1, Y, "negative"),
        (np.arange(2**15 + 1)[:, None], np.arange(2**15 + 1) % 2, "32768"),
        ([[0, 1], [1]], [0, 1], "."),
        (3, Y, "."),
        (np.zeros(4, int), Y, "reshape"),
        (np.zeros((4, 2), complex), Y, "."),
    ],
)
def test_bad_tables_and_targets_are_refused_with_advice(function, table, y, says):
    with pytest.raises((ValueError, TypeError), match=says):
        function(table, y)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"information": "kernel"}, "unknown information 'kernel'.*'discrete', 'gaussian'"),
        ({"correction": "bonferroni"}, "unknown correction 'bonferroni'.*'chance'"),
        ({"backend": "abacus"}, "unknown backend 'abacus'.*native"),
        ({"n_jobs": 0}, "n_jobs must be a positive number.*not 0"),
        ({"dtype": int}, "float32 or float64"),
        ({"target": "ordinal"}, "unknown target 'ordinal'"),
        ({"target": "continuous"}, "gaussian"),
    ],
)
def test_bad_options_are_refused_with_the_choices(options, says):
    with pytest.raises(ValueError, match=says):
        cmi_matrix(X, Y, **options)


def test_features_out_of_range_are_refused():
    h = measure_table(X, Y)
    assert isinstance(h, Entropies)
    with pytest.raises(ValueError, match=r"0\.\.1, not -1\.\.5"):
        h.cmi(rows=[5, 0, -1])
    with pytest.raises(ValueError, match="list of indices"):
        h.cmi(rows=[0.5])
    for last in (-1, 2):
        with pytest.raises(ValueError, match=rf"0\.\.1, not {last}\.\.{last}"):
            h.cmi(columns=[last])
    assert h.cmi(rows=[]).shape == (0, 2)


def test_a_matrix_larger_than_the_machine_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("bestk.information.entropies.free_memory", lambda: 16.0)
    monkeypatch.setattr("bestk.information.entropies.UNCHECKED_BYTES", 0)
    with pytest.raises(MemoryError, match=r"2 x 2 matrix of float64 needs.*fewer columns"):
        cmi_matrix(X, Y)


def test_the_memory_that_a_matrix_needs_is_told(monkeypatch):
    monkeypatch.setattr("bestk.information.entropies.free_memory", lambda: 2.0**30)
    with pytest.raises(MemoryError, match="524288 x 262144 matrix of float32 needs 512 GiB"):
        _allocate((2**19, 2**18), np.float32)


@pytest.mark.parametrize(
    ("y", "target", "numbers"),
    [
        (np.arange(20) % 3, "auto", False),
        (np.arange(20.0) % 3, "auto", False),
        (np.arange(20) / 3, "auto", True),
        (np.arange(20) % 3, "continuous", True),
        (np.arange(20) % 3, "classes", False),
    ],
)
def test_gaussian_matrices_take_classes_or_numbers_for_y(y, target, numbers):
    X = np.random.default_rng(0).normal(size=(20, 3)) + y[:, None]
    target_read = NumericTarget(y.astype(float)) if numbers else read_classes(y, 20)
    source = GaussianSource(ScoredTable(X, target_read))
    expected = Entropies(*source.singles, source).cmi()
    np.fill_diagonal(expected, mutual_information(X, y, information="gaussian", target=target))
    Q = cmi_matrix(X, y, information="gaussian", target=target)
    np.testing.assert_array_equal(Q, expected)


def test_gaussian_matrices_name_the_column_that_is_not_of_numbers():
    frame = pd.DataFrame({"size": [1.0, 2.0, 4.0], "colour": ["red", "blue", "red"]})
    with pytest.raises(ValueError, match="column 'colour' is string, and information='gaussian'"):
        cmi_matrix(frame, [0, 1, 1], information="gaussian")


def test_every_kind_of_table_gives_the_same_matrix():
    names = ["shape", "size"]
    expected = cmi_matrix(X, Y)
    frame = pd.DataFrame(X, columns=names)
    tables = [
        X.tolist(),
        frame,
        frame.astype("category"),
        frame.astype("Int64"),
        pl.DataFrame(X, schema=names),
        pa.table({name: X[:, i] for i, name in enumerate(names)}),
        sparse.csr_matrix(X),
        sparse.csc_array(X.astype(float)),
        X.astype(bool),
        X.astype(str),
        np.asfortranarray(X.astype(np.float32)),
    ]
    for table in tables:
        np.testing.assert_array_equal(cmi_matrix(table, Y), expected)
    for y in (Y.astype(bool), Y.astype(str), pd.Series(Y, dtype="category"), pl.Series(Y)):
        np.testing.assert_array_equal(cmi_matrix(X, y), expected)


def test_caim_feeds_the_matrix_with_missing_values_and_all():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(200, 5))
    y = (numbers[:, 0] > 0).astype(int)
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    Q = cmi_matrix(CAIM().fit_transform(numbers, y), y)
    assert np.argmax(np.diag(Q)) == 0
    assert np.isfinite(Q).all()
