"""The index of Nogueira, Sechidis and Brown."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.evaluation import stability


@st.composite
def masks(draw):
    shape = draw(st.integers(2, 7)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.random(shape) < draw(st.sampled_from([0.2, 0.5, 0.8]))


def by_definition(Z):
    """One less the mean unbiased variance of each feature, over that of a random choice."""
    share = Z.mean()
    return 1 - Z.var(axis=0, ddof=1).mean() / (share * (1 - share))


def test_identical_selections_are_stable():
    assert stability([[4, 0], [0, 4], [4, 0]], n_features=6) == 1.0


def test_a_case_worked_by_hand():
    # p = 1, 2/3, 1/3, 0: variances 0, 1/3, 1/3, 0 of mean 1/6; k/d = 1/2, so 1 - (1/6) / (1/4)
    assert stability([[0, 1], [0, 2], [0, 1]], n_features=4) == pytest.approx(1 / 3)


def test_opposite_selections_reach_the_lower_end():
    # p = 1/2 everywhere: variances 1/2 against 1/4
    assert stability([[0, 1], [2, 3]], n_features=4) == pytest.approx(-1.0)


def test_a_case_with_selections_of_two_sizes():
    # p = 1, 1/2, 0: variances 0, 1/2, 0 of mean 1/6; k/d = 1/2
    assert stability([[0], [0, 1]], n_features=3) == pytest.approx(1 / 3)


def test_for_equal_sizes_it_is_the_mean_agreement_of_pairs_beyond_chance():
    supports, d, k = [[0, 1, 2], [1, 2, 5], [2, 3, 6], [0, 2, 6]], 9, 3
    shared = [len({*a} & {*b}) for a, b in combinations(supports, 2)]
    kuncheva = np.mean([(r - k * k / d) / (k - k * k / d) for r in shared])
    assert stability(supports, d) == pytest.approx(kuncheva)


def test_random_selections_are_about_zero():
    rng = np.random.default_rng(0)
    trials = [
        stability([rng.permutation(40)[:8] for _ in range(30)], n_features=40) for _ in range(100)
    ]
    assert np.mean(trials) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("selections", [[[0, 1], [1, 0]], [[], []]])
def test_all_features_or_none_are_always_the_same(selections):
    assert stability(selections, n_features=2) == 1.0


@pytest.mark.parametrize(
    ("selections", "n_features", "says"),
    [
        ([[0, 1]], 4, "two selections or more; got 1"),
        ([[0, 1], [0, 2]], None, "n_features must be a whole number from 1 up, not None"),
        ([[0, 0], [0, 1]], 4, r"different indices in 0..3, not \[0, 0\]"),
        ([[0, 4], [0, 1]], 4, r"0..3, not \[0, 4\]"),
        ([[-1, 2], [0, 1]], 4, r"0..3, not \[-1, 2\]"),
    ],
)
def test_bad_selections_are_refused_with_advice(selections, n_features, says):
    with pytest.raises(ValueError, match=says):
        stability(selections, n_features)


def of_masks(Z):
    return stability([np.flatnonzero(z) for z in Z], Z.shape[1])


@given(masks())
def test_it_is_that_of_the_definition_and_bounds_hold(Z):
    found = of_masks(Z)
    if 0 < Z.mean() < 1:
        assert found == pytest.approx(by_definition(Z))
    assert -1 / (len(Z) - 1) - 1e-12 <= found <= 1.0


@given(masks(), st.integers(0, 2**32 - 1))
def test_the_order_of_selections_and_features_does_not_matter(Z, seed):
    rng = np.random.default_rng(seed)
    shuffled = Z[rng.permutation(len(Z))][:, rng.permutation(Z.shape[1])]
    assert of_masks(shuffled) == pytest.approx(of_masks(Z))


@given(masks())
def test_it_is_one_only_for_identical_selections(Z):
    assert (of_masks(Z) == pytest.approx(1.0)) == bool((Z[0] == Z).all())
