"""Laws of information that hold for every table."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestk import cmi_matrix, encode, joint_mi_matrix, mutual_information
from bestk.information import Entropies
from bestk.tables.target import read_classes

from .conftest import tables

seeds = st.integers(0, 2**32 - 1)
CORRECTIONS = [None, "miller-madow", "chance"]


@pytest.mark.parametrize("correction", CORRECTIONS)
@given(table=tables(), seed=seeds)
def test_order_of_samples_changes_no_bit(correction, table, seed):
    X, y = table
    order = np.random.default_rng(seed).permutation(len(y))
    shuffled = cmi_matrix(X[order], y[order], correction=correction)
    np.testing.assert_array_equal(shuffled, cmi_matrix(X, y, correction=correction))


@given(tables(max_levels=70), seeds)
def test_order_of_columns_changes_no_bit_but_the_places(table, seed):
    X, y = table
    order = np.random.default_rng(seed).permutation(X.shape[1])
    np.testing.assert_array_equal(
        cmi_matrix(X[:, order], y), cmi_matrix(X, y)[np.ix_(order, order)]
    )


@given(tables(), seeds)
def test_names_of_levels_and_classes_do_not_matter(table, seed):
    X, y = table
    rng = np.random.default_rng(seed)
    renamed = np.column_stack([rng.permutation(50)[column] for column in X.T])
    labels = np.array([f"class {c}" for c in rng.permutation(50)])
    np.testing.assert_array_equal(cmi_matrix(renamed, labels[y]), cmi_matrix(X, y))


@given(tables())
def test_information_is_bounded_by_what_there_is_to_know(table):
    X, y = table
    h = Entropies.count(encode(X), read_classes(y, len(y)))
    I, J = h.mi(), h.joint_mi()
    assert (I >= 0).all()
    assert (np.minimum(h.x, h.y) + 1e-12 >= I).all()
    assert (np.maximum(I[:, None], I) - 1e-12 <= J).all()
    assert (h.y + 1e-12 >= J).all()
    assert (h.pair_mi() <= np.minimum(h.x[:, None], h.x) + 1e-12).all()


@given(tables())
def test_symmetric_measures_are_symmetric_to_the_last_bit(table):
    X, y = table
    h = Entropies.count(encode(X), read_classes(y, len(y)))
    for matrix in (h.joint_mi(), h.pair_mi(), h.pair_cmi(), cmi_matrix(X, y, symmetric=True)):
        np.testing.assert_array_equal(matrix, matrix.T)


@given(tables())
def test_interaction_can_be_reckoned_both_ways(table):
    X, y = table
    h = Entropies.count(encode(X), read_classes(y, len(y)))
    I = h.mi()
    added = h.joint_mi() - I - I[:, None]
    clipped = h.pair_cmi() - h.pair_mi()
    np.testing.assert_allclose(added, clipped, atol=1e-12)


@given(tables())
def test_a_copy_adds_exactly_nothing_and_a_constant_says_nothing(table):
    X, y = table
    X = np.column_stack([X, X, np.zeros(len(y), int)])
    Q, n = cmi_matrix(X, y), X.shape[1] // 2
    assert (Q[np.arange(n), np.arange(n) + n] == 0).all()
    assert (Q[:, -1] == 0).all()
    np.testing.assert_array_equal(Q[:n, :n], Q[n:-1, n:-1])


@given(tables(max_features=40, max_levels=70), seeds)
def test_chosen_rows_and_columns_are_cut_from_the_whole(table, seed):
    X, y = table
    rng, n = np.random.default_rng(seed), X.shape[1]
    rows, columns = rng.integers(0, n, 5), rng.permutation(n)[: rng.integers(1, n + 1)]
    h = Entropies.count(encode(X), read_classes(y, len(y)))
    whole = h.cmi()
    np.testing.assert_array_equal(h.cmi(rows, columns), whole[np.ix_(rows, columns)])
    np.testing.assert_array_equal(h.cmi(rows=rows), whole[rows])
    np.testing.assert_array_equal(h.cmi(columns=columns), whole[:, columns])


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1), slice(1, None, 2)])
def test_columns_that_stand_side_by_side_may_be_asked_for_in_any_order(order):
    rng = np.random.default_rng(0)
    h = Entropies.count(encode(rng.integers(0, 2, (60, 70))), read_classes(np.arange(60) % 2, 60))
    columns = np.arange(70)[order]
    np.testing.assert_array_equal(h.cmi(columns=columns), h.cmi()[:, columns])
    np.testing.assert_array_equal(h.cmi(rows=columns), h.cmi()[columns])


@given(tables(max_features=100, max_levels=70))
def test_threads_change_no_bit(table):
    X, y = table
    np.testing.assert_array_equal(cmi_matrix(X, y, n_jobs=1), cmi_matrix(X, y, n_jobs=2))


@given(tables())
def test_float32_is_the_rounded_float64(table):
    X, y = table
    single = cmi_matrix(X, y, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, cmi_matrix(X, y).astype(np.float32))


def test_chance_correction_centres_the_information_of_random_labels():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (60, 40)), rng.integers(0, 4, 60)
    off = ~np.eye(40, dtype=bool)
    plain, corrected = joint_mi_matrix(X, y), joint_mi_matrix(X, y, correction="chance")
    assert plain[off].mean() > 0.4
    assert abs(corrected[off].mean()) < 0.02
    assert abs(mutual_information(X, y, correction="chance").mean()) < 0.02
    assert corrected.min() < 0


@settings(max_examples=15)
@given(tables(max_features=3, max_samples=6, max_classes=3))
def test_chance_correction_averages_to_zero_over_relabellings(table):
    X, y = table
    labels = sorted(set(permutations(y.tolist())))
    mean = np.mean([joint_mi_matrix(X, one, correction="chance") for one in labels], axis=0)
    np.testing.assert_allclose(mean, 0, atol=1e-12)
