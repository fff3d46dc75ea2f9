"""What is computed equals what is defined, on every backend."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import cmi_matrix, encode, joint_mi_matrix, mutual_information
from bestk.information import Entropies, measures
from bestk.information.backends import BACKENDS, get_backend
from bestk.tables.target import read_classes

from .conftest import brute_cmi_matrix, brute_entropy, brute_joint_mi, tables

H = brute_entropy
EXACT = {"rtol": 0, "atol": 1e-12}


def shared(a, b):
    """I(a; b)."""
    return H(a) + H(b) - H(a, b)


def shared_given(a, b, c):
    """I(a; b | c)."""
    return H(a, c) + H(b, c) - H(a, b, c) - H(c)


DEFINITIONS = {  # of row feature a, column feature b and target y
    "PAIR_ENTROPY": lambda a, b, y: H(a, b),
    "TRIPLE_ENTROPY": lambda a, b, y: H(a, b, y),
    "JOINT_MI": brute_joint_mi,
    "CMI": lambda a, b, y: shared_given(b, y, a),
    "SYMMETRIC_CMI": lambda a, b, y: (shared_given(b, y, a) + shared_given(a, y, b)) / 2,
    "PAIR_MI": lambda a, b, y: shared(a, b),
    "PAIR_CMI": shared_given,
    "NO_REDUNDANCY": lambda a, b, y: -shared(a, b),
    "INTERACTION": lambda a, b, y: shared_given(a, b, y) - shared(a, b),
}
CORRECTIONS = [None, "miller-madow", "chance"]


def count(X, y, backend="auto", correction=None, n_jobs=None):
    return Entropies.count(encode(X), read_classes(y, len(y)), backend, correction, n_jobs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_xor_has_no_marginal_information_but_one_bit_jointly(backend):
    h = count([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], backend)
    np.testing.assert_allclose(h.mi(), [0, 0], **EXACT)
    np.testing.assert_allclose(h.cmi()[0, 1], np.log(2), **EXACT)
    np.testing.assert_allclose(h.joint_mi()[0, 1], np.log(2), **EXACT)


@given(tables())
def test_cmi_matrix_is_its_definition(table):
    X, y = table
    np.testing.assert_allclose(cmi_matrix(X, y), brute_cmi_matrix(X, y), **EXACT)


@given(tables(max_levels=90, max_classes=6, max_features=6, max_samples=300))
def test_cmi_matrix_is_its_definition_for_many_levels(table):
    X, y = table
    np.testing.assert_allclose(cmi_matrix(X, y), brute_cmi_matrix(X, y), **EXACT)


@given(tables(max_features=5), st.data())
def test_missing_values_are_a_level_of_their_own(table, data):
    X, y = table
    holes = np.random.default_rng(data.draw(st.integers(0, 99))).random(X.shape) < 0.2
    missing = np.where(holes, np.nan, X)
    np.testing.assert_allclose(
        cmi_matrix(missing, y), brute_cmi_matrix(np.where(holes, 99, X), y), **EXACT
    )


@pytest.mark.parametrize("backend", BACKENDS)
@given(table=tables(max_features=4))
def test_entropies_are_their_definition(backend, table):
    X, y = table
    h = count(X, y, backend)
    xx, xxy = (h.measure(each) for each in (measures.PAIR_ENTROPY, measures.TRIPLE_ENTROPY))
    np.testing.assert_allclose(h.y, H(y), **EXACT)
    for i, a in enumerate(X.T):
        np.testing.assert_allclose(h.x[i], H(a), **EXACT)
        np.testing.assert_allclose(h.xy[i], H(a, y), **EXACT)
        for j, b in enumerate(X.T):
            np.testing.assert_allclose(xx[i, j], H(a, b), **EXACT)
            np.testing.assert_allclose(xxy[i, j], H(a, b, y), **EXACT)
            np.testing.assert_allclose(h.joint_mi()[i, j], brute_joint_mi(a, b, y), **EXACT)


def test_very_many_levels_and_classes_take_no_more_memory_than_their_rows():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(2**15), 2)  # with as many levels, a table of all cells takes 8 GiB
    X = np.column_stack([rng.permutation(y), y, rng.integers(0, 100, len(y))])
    tracemalloc.start()
    try:
        found = mutual_information(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**27
    np.testing.assert_allclose(found, [shared(x, y) for x in X.T], rtol=1e-10)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_cells_without_rows_change_nothing(correction):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(2400) % 1100)
    # 1,100 levels and classes have so many cells that only those with rows are counted
    X = np.column_stack([rng.permutation(y), rng.permutation(y) // 2, y // 2])
    sparse, full = count(X, y, correction=correction), count(X[:, 1:], y, correction=correction)
    np.testing.assert_array_equal(sparse.mi()[1:], full.mi())
    np.testing.assert_array_equal(sparse.source.mi_by_chance()[1:], full.source.mi_by_chance())
    if correction is None:
        np.testing.assert_allclose(sparse.mi(), [shared(x, y) for x in X.T], **EXACT)


def test_named_measures_have_definitions():
    named = {name for name, m in vars(measures).items() if isinstance(m, measures.Measure)}
    assert named == set(DEFINITIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
@settings(max_examples=20)
@given(table=tables(max_features=4))
def test_every_named_measure_is_its_definition(name, table):
    X, y = table
    found = count(X, y).measure(getattr(measures, name), signed=True)
    expected = [[DEFINITIONS[name](a, b, y) for b in X.T] for a in X.T]
    np.testing.assert_allclose(found, expected, **EXACT)


@pytest.mark.parametrize("backend", BACKENDS)
def test_counts_are_discrete_on_every_backend(backend):
    assert count([[0], [1]], [0, 1], backend).is_discrete


@pytest.mark.parametrize("correction", CORRECTIONS)
@given(table=tables(max_features=6, max_samples=60, max_levels=70))
def test_every_backend_equals_the_reference(correction, table):
    X, y = table
    reference = count(X, y, "numpy", correction)
    for backend in sorted(set(BACKENDS) - {"numpy"}):
        h = count(X, y, backend, correction)
        for measure in ("mi", "joint_mi", "cmi", "pair_mi", "pair_cmi"):
            np.testing.assert_allclose(
                getattr(h, measure)(), getattr(reference, measure)(), **EXACT, err_msg=measure
            )


@given(tables())
def test_the_public_functions_agree_with_each_other(table):
    X, y = table
    Q, J, I = cmi_matrix(X, y), joint_mi_matrix(X, y), mutual_information(X, y)
    np.testing.assert_allclose(np.diag(Q), I, **EXACT)
    np.testing.assert_allclose(np.diag(J), I, **EXACT)
    off = ~np.eye(len(I), dtype=bool)
    np.testing.assert_allclose((Q + I[:, None])[off], J[off], **EXACT)  # the chain rule
    np.testing.assert_allclose(cmi_matrix(X, y, symmetric=True), (Q + Q.T) / 2, **EXACT)


def test_auto_is_a_backend_and_an_unknown_one_is_refused():
    assert get_backend("auto") in BACKENDS.values()
    with pytest.raises(ValueError, match=r"unknown backend 'gpu'.*'auto'"):
        get_backend("gpu")
