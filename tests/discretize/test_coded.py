"""Codes made some columns at a time: those of the discretiser, and of no other."""

import numpy as np
import pytest

from bestk.discretize import CAIM, CodedColumns, EqualWidth, codes_of

rng = np.random.default_rng(0)
X, y = rng.normal(size=(50, 7)), rng.integers(0, 3, 50)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_columns_side_by_side_are_those_of_the_whole(dtype):
    values, discretizer = X.astype(dtype), CAIM().fit(X, y)
    codes, whole = codes_of(discretizer, values), discretizer.transform(values)
    assert isinstance(codes, CodedColumns)
    assert (codes.shape, codes.ndim, codes.dtype) == (whole.shape, whole.ndim, whole.dtype)
    np.testing.assert_array_equal(codes[:, 2:5], whole[:, 2:5])
    np.testing.assert_array_equal(codes[10:20, :], whole[10:20])


def test_a_transform_of_ones_own_is_used():
    class Shifted(EqualWidth):
        def transform(self, X):
            return super().transform(X) + 1

    discretizer = Shifted(3).fit(X)
    np.testing.assert_array_equal(codes_of(discretizer, X), EqualWidth(3).fit_transform(X) + 1)


def test_numbers_that_are_objects_are_coded_at_once():
    discretizer = EqualWidth(3).fit(X)
    codes = codes_of(discretizer, X.astype(object))
    np.testing.assert_array_equal(codes, discretizer.transform(X))
