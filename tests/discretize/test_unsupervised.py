"""EqualWidth, EqualFrequency and Sigma: cases by hand, and the states of the mRMR authors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.discretize import EqualFrequency, EqualWidth, Sigma


def cuts(discretizer, x):
    return discretizer.fit(np.reshape(x, (-1, 1))).cut_points_[0]


def test_equal_width_by_hand():
    np.testing.assert_array_equal(cuts(EqualWidth(), [0, 1, 10]), [2, 4, 6, 8])
    np.testing.assert_array_equal(cuts(EqualWidth(100), [0, 100]), np.arange(1, 100))


def test_equal_width_of_neighbouring_floats_has_one_cut():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    np.testing.assert_array_equal(cuts(EqualWidth(), [low, high]), [low])


def test_equal_width_survives_the_widest_range():
    top = np.finfo(float).max
    np.testing.assert_allclose(cuts(EqualWidth(4), [-top, top]), [-top / 2, 0, top / 2])


def test_equal_frequency_by_hand():
    np.testing.assert_array_equal(cuts(EqualFrequency(2), [5, 1, 3, 2]), [2.5])
    np.testing.assert_array_equal(cuts(EqualFrequency(4), [0, 0, 0, 0, 0, 7, 8, 9]), [3.5, 7.5])
    np.testing.assert_array_equal(cuts(EqualFrequency(4), [1, 2]), [1.5])
    np.testing.assert_array_equal(cuts(EqualFrequency(), range(10)), [1.5, 3.5, 5.5, 7.5])


@given(st.sets(st.integers(0, 1000), min_size=1, max_size=60), st.integers(2, 9))
def test_bins_of_distinct_values_differ_by_at_most_one_sample(values, n_bins):
    x = np.array(sorted(values))
    codes = EqualFrequency(n_bins).fit_transform(x[:, None])
    sizes = np.bincount(codes[:, 0])
    assert len(sizes) == min(n_bins, len(x))
    assert np.ptp(sizes) <= 1


def test_sigma_by_hand():
    np.testing.assert_allclose(cuts(Sigma(), [1, 3]), [1.5, 2.5])
    np.testing.assert_allclose(cuts(Sigma(ddof=1), [1, 3]), 2 + np.array([-1, 1]) * np.sqrt(0.5))
    np.testing.assert_array_equal(cuts(Sigma(a=0), [1, 3]), [2])


@pytest.mark.parametrize("shift", [-1.0, 0.0, 1.0])
def test_sigma_survives_huge_values(shift):
    middle = shift * 5e307
    x = [middle - 5e307, middle + 5e307]
    np.testing.assert_allclose(cuts(Sigma(), x), [middle - 2.5e307, middle + 2.5e307])


def test_sigma_of_an_equal_column_has_no_cut_whatever_its_rounded_mean():
    assert len(cuts(Sigma(), np.full(11, 0.1))) == 0


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "ddof", "wrong"),
    [("colon", 1, 1), ("leukemia", 1, 0), ("lung", 0, 0), ("lymphoma", 0, 0)],
)
def test_sigma_gives_the_states_of_the_mrmr_authors(name, ddof, wrong, paper_archive):
    data = paper_archive(name)
    X = data["X"].astype(float)
    seen = ~data["missing"] if "missing" in data else np.ones(X.shape, bool)
    X[~seen] = np.nan
    codes = Sigma(ddof=ddof).fit_transform(X)
    assert (codes[~seen] == 3).all()
    assert ((codes - 1) * 2 != data["X_disc"])[seen].sum() == wrong


def test_the_widest_middle_state_is_of_ten_thousand_standard_deviations():
    assert len(cuts(Sigma(a=10_000), [0.0, 1.0, 2.0])) == 2
    with pytest.raises(ValueError, match="'a' parameter"):
        cuts(Sigma(a=10_001), [0.0, 1.0, 2.0])
