"""What holds for every discretiser, on every table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bestk.discretize import CAIM, DISCRETIZERS, EqualFrequency
from bestk.native.threads import threads

every = pytest.mark.parametrize("name", DISCRETIZERS)
ranked = pytest.mark.parametrize("name", ["caim", "mdlp", "equal-frequency"])


@st.composite
def tables(draw, missing=True):
    """A table of few or many distinct values, whole or not, and classes that it partly follows."""
    m, n = draw(st.integers(4, 60)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.integers(0, draw(st.integers(2, 5)), m)
    y[:2] = [0, 1]
    spread = draw(st.sampled_from([0.5, 3, 1000]))
    X = np.round(spread * (rng.normal(size=(m, n)) + y[:, None] * rng.normal(size=n)))
    X = X / draw(st.sampled_from([1, 8]))
    if missing:
        X[rng.random((m, n)) < draw(st.sampled_from([0, 0.1, 0.9]))] = np.nan
    return X, y


def cut(name, X, y):
    return DISCRETIZERS[name]().fit(X, y).cut_points_


def assert_same_cuts(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@every
@given(table=tables())
def test_a_code_counts_the_cuts_below_and_nan_comes_after_the_last(name, table):
    X, y = table
    fitted = DISCRETIZERS[name]().fit(X, y)
    codes = fitted.transform(X)
    assert codes.dtype == np.int16
    for x, cuts, code in zip(X.T, fitted.cut_points_, codes.T, strict=True):
        expected = (x[:, None] > cuts).sum(axis=1)
        np.testing.assert_array_equal(code, np.where(np.isnan(x), len(cuts) + 1, expected))


@every
def test_values_on_a_cut_belong_below_it_and_new_nan_has_its_code(name):
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    fitted = DISCRETIZERS[name]().fit(X, y)
    cuts = fitted.cut_points_[0]
    above = np.nextafter(cuts, np.inf)
    np.testing.assert_array_equal(fitted.transform(cuts[:, None])[:, 0], np.arange(len(cuts)))
    np.testing.assert_array_equal(fitted.transform(above[:, None])[:, 0], np.arange(len(cuts)) + 1)
    assert fitted.transform([[np.nan]]) == len(cuts) + 1


@ranked
@given(table=tables())
def test_cuts_are_midway_between_neighbouring_observed_values(name, table):
    X, y = table
    for x, cuts in zip(X.T, cut(name, X, y), strict=True):
        values = np.unique(x[~np.isnan(x)])
        assert np.isin(cuts, (values[1:] + values[:-1]) / 2).all()
        assert (np.diff(cuts) > 0).all()


@ranked
@given(table=tables())
def test_an_increasing_function_of_the_columns_keeps_the_codes(name, table):
    X, y = table
    fit = DISCRETIZERS[name]().fit_transform
    np.testing.assert_array_equal(fit(X, y), fit(X**3 + X, y))


@every
@given(table=tables())
def test_fitting_and_transforming_in_one_pass_gives_the_same_codes(name, table):
    X, y = table
    codes = DISCRETIZERS[name]().fit_transform(X, y)
    np.testing.assert_array_equal(codes, DISCRETIZERS[name]().fit(X, y).transform(X))


@pytest.mark.parametrize("n_bins", [255, 256, 1000])
def test_codes_of_one_pass_need_not_fit_a_byte(n_bins):
    cutter, X = EqualFrequency(n_bins=n_bins), np.arange(2000.0)[:, None]
    np.testing.assert_array_equal(cutter.fit_transform(X), cutter.transform(X))


def test_a_fit_or_transform_of_a_subclass_is_used_in_one_pass_too():
    class Shifted(CAIM):
        def transform(self, X):
            return super().transform(X) + 7

    assert Shifted().fit_transform([[0.1], [0.9]], [0, 1]).ravel().tolist() == [7, 8]


@every
@given(table=tables())
def test_a_change_of_unit_keeps_the_codes(name, table):
    X, y = table
    fit = DISCRETIZERS[name]().fit_transform
    np.testing.assert_array_equal(fit(X, y), fit(X * 1024, y))


@every
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_the_samples_and_the_names_of_the_classes_do_not_matter(name, table, seed):
    X, y = table
    order = np.random.default_rng(seed).permutation(len(y))
    names = np.array(["e", "d", "c", "b", "a"])
    assert_same_cuts(cut(name, X, y), cut(name, X[order], names[y[order]]))


@every
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_columns_are_cut_each_on_its_own(name, table, seed):
    X, y = table
    pick = np.random.default_rng(seed).integers(0, X.shape[1], 7)
    cuts = cut(name, X, y)
    assert_same_cuts([cuts[j] for j in pick], cut(name, X[:, pick], y))


@every
@given(table=tables(missing=False), seed=st.integers(0, 2**32 - 1))
def test_missing_values_do_not_move_the_cuts(name, table, seed):
    X, y = table
    more = np.random.default_rng(seed).permutation(y)
    padded = np.vstack([X, np.full(X.shape, np.nan)])
    assert_same_cuts(cut(name, X, y), cut(name, padded, np.concatenate([y, more])))


@every
@pytest.mark.parametrize("value", [0.0, -3.7, 1e300, np.nan])
def test_a_column_of_one_value_or_of_none_gets_no_cut(name, value):
    X, y = np.full((6, 2), value), [0, 1, 2, 0, 1, 2]
    X[:2, 1] = np.nan
    assert [len(cuts) for cuts in cut(name, X, y)] == [0, 0]


@every
def test_minus_zero_is_zero(name):
    x = np.array([0.0, -0.0, 0.0, -0.0, 0.3, 0.3])
    assert_same_cuts(cut(name, x[:, None], [0, 1, 0, 1, 1, 1]),
                     cut(name, np.abs(x)[:, None], [0, 1, 0, 1, 1, 1]))  # fmt: skip
    assert len(set(DISCRETIZERS[name]().fit_transform(x[:, None], [0, 1, 0, 1, 1, 1])[:4, 0])) == 1


@ranked
@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, 5e-324, -5e-324, 1.7e308, 2.0**53])
def test_a_cut_parts_even_neighbouring_floats(name, low):
    high = np.nextafter(low, np.inf)
    codes = DISCRETIZERS[name]().fit_transform(
        np.repeat([[low], [high]], 5, axis=0), [0] * 5 + [1] * 5
    )
    np.testing.assert_array_equal(codes[:, 0], [0] * 5 + [1] * 5)


def kinds(X):
    """The same numbers in every form in which they may come."""
    wide = np.zeros((2 * len(X), 2 * X.shape[1]), X.dtype)
    wide[::2, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    types = [np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, ">f8", object]
    yield from (X.astype(t) for t in types)
    yield from (X.tolist(), np.asfortranarray(X), wide[::2, ::2], frozen)
    yield from (pd.DataFrame(X), pl.DataFrame(X), pd.DataFrame(X).astype("Int32"))
    yield from (sparse.csr_matrix(X), sparse.csc_array(X), sparse.coo_array(X))
    yield from (abs(X).astype(t) - 0 for t in [np.uint8, np.uint16, np.uint32, np.uint64])


@every
def test_every_form_of_a_table_gives_the_same_cuts_and_codes(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50)
    X = abs(np.round(rng.normal(size=(50, 4)) * 4 + y[:, None]))
    fitted = DISCRETIZERS[name]().fit(X, y)
    codes = fitted.transform(X)
    for other in kinds(X):
        refitted = DISCRETIZERS[name]().fit(other, y)
        assert_same_cuts(fitted.cut_points_, refitted.cut_points_)
        np.testing.assert_array_equal(refitted.transform(other), codes)


@every
def test_truth_values_are_cut_like_zeros_and_ones(name):
    X, y = np.array([[True], [False], [True], [False]]), [1, 0, 1, 0]
    assert_same_cuts(cut(name, X, y), cut(name, X.astype(float), y))


@every
def test_the_number_of_threads_and_the_size_of_blocks_do_not_matter(name, monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 40)), rng.integers(0, 3, 300)
    cuts, codes = cut(name, X, y), DISCRETIZERS[name]().fit_transform(X, y)
    monkeypatch.setattr("bestk.native.threads.MAX_VALUES", 900)
    monkeypatch.setattr("bestk.discretize._base.CODED_ROWS", 70)
    with threads(1):
        for form in (X, np.asfortranarray(X), sparse.csr_array(X)):
            assert_same_cuts(cuts, cut(name, form, y))
            np.testing.assert_array_equal(DISCRETIZERS[name]().fit_transform(form, y), codes)


def test_columns_of_many_cuts_are_searched_as_others_are_scanned():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.random(5000), rng.integers(0, 3, 5000)])
    X[::7] = np.nan
    fitted = DISCRETIZERS["equal-frequency"](n_bins=200).fit(X)
    assert [len(cuts) for cuts in fitted.cut_points_] == [199, 2]
    expected = np.where(np.isnan(X[:, 0]), 200, np.searchsorted(fitted.cut_points_[0], X[:, 0]))
    np.testing.assert_array_equal(fitted.transform(X)[:, 0], expected)


def test_whole_numbers_beyond_float_precision_are_cut_where_floats_can():
    X = np.array([[2**62], [2**62 + 1], [2**62 + 2**20], [-(2**63)]])
    fitted = CAIM().fit(X, [0, 0, 1, 1])
    assert len(set(fitted.transform(X)[:2, 0])) == 1
    assert len(set(fitted.transform(X)[1:, 0])) == 3
