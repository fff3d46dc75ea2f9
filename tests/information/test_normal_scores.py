"""Normal scores: what they are, and why their products are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtri
from scipy.stats import rankdata

from bestk.information._scores import normal_scores, unit_score

VALUES = st.one_of(st.just(np.nan), st.integers(-3, 3).map(float), st.floats(-1e3, 1e3, width=16))


@pytest.mark.parametrize("kind", ["rank", "standard"])
@given(X=arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=VALUES))
def test_scores_equal_their_definition(kind, X):
    z = normal_scores(X, kind)
    for column, scores in zip(X.T, z / unit_score(len(X)), strict=True):
        known = np.isfinite(column)
        assert not scores[~known].any()
        if known.sum() == 0 or np.ptp(column[known]) == 0:
            assert not scores.any()
            continue
        expected = column[known]
        if kind == "rank":
            expected = ndtri((rankdata(expected) - 0.5) / len(expected))
        expected = (expected - expected.mean()) / expected.std() * np.sqrt(len(X) / known.sum())
        np.testing.assert_allclose(scores[known], expected, atol=1e-6)


def test_products_of_scores_are_whole_numbers_that_floats_hold():
    X = np.random.default_rng(0).standard_cauchy(size=(1000, 5))
    z = normal_scores(X, "standard")
    assert (z == np.rint(z)).all()
    assert np.abs(z).T.max() ** 2 <= (z * z).sum(axis=1).max() < 2**53


@pytest.mark.parametrize("scores", ["rank", "standard"])
def test_the_values_given_are_left_alone(scores):
    X = np.array([[1.0], [7.0], [9.0]])
    normal_scores(X, scores)
    np.testing.assert_array_equal(X, [[1.0], [7.0], [9.0]])


@pytest.mark.parametrize("kind", ["rank", "standard"])
def test_strips_of_any_width_give_the_same_scores(kind, monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 7))
    whole = normal_scores(X, kind)
    for cells in (1, 50):  # less than a column, and two columns and a half
        monkeypatch.setattr("bestk.native.threads.MAX_VALUES", cells)
        np.testing.assert_array_equal(normal_scores(X, kind), whole)


@given(X=arrays(float, (12, 2), elements=st.integers(-9, 9)), shift=st.integers(-(2**50), 2**50))
def test_a_constant_added_to_a_column_changes_no_score(X, shift):
    np.testing.assert_array_equal(
        normal_scores(X + shift, "standard"), normal_scores(X, "standard")
    )
