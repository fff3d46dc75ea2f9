import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.quality.bayes import signed_rank


@pytest.mark.parametrize("prior", [0.5, 1.0])
def test_one_difference_by_hand(prior):
    """With weight w of the difference, Beta(1, prior), P(w > t) is (1 - t)^prior.

    Beyond twice the region, even the mean with the prior's zero is below: the rest has weight
    (1 - w)^2. Between one and two regions only the difference itself is: weight w^2.
    """
    far, near = (signed_rank([d], region=1, prior=prior) for d in (-3.0, -1.5))
    assert far.below == pytest.approx(0.5 ** (prior / 2), abs=0.01)
    assert near.below == pytest.approx((1 - np.sqrt(0.5)) ** prior, abs=0.01)
    assert far.above == near.above == 0


def test_differences_that_do_not_matter_are_within():
    assert signed_rank([0.5, -0.9, 0.2], region=1).within == 1


def test_as_many_clear_wins_as_losses_prove_nothing():
    found = signed_rank([-5, -4, -6, 5, 4, 6], region=0.1)
    assert found.below == pytest.approx(found.above, abs=0.02)


def test_pairs_are_weighed_as_in_a_plain_loop():
    z, region = np.array([0.0, -3.0, 0.5, 2.5, -1.2]), 1.0
    rng, votes = np.random.default_rng(5), np.zeros(3)
    for weights in rng.dirichlet([0.5, 1, 1, 1, 1], 300):
        shares = np.zeros(3)
        for i in range(5):
            for j in range(5):
                mean = (z[i] + z[j]) / 2
                shares[0 if mean < -region else 2 if mean > region else 1] += (
                    weights[i] * weights[j]
                )
        votes[shares.argmax()] += 1
    found = signed_rank(z[1:], region, seed=5, samples=300)
    np.testing.assert_allclose([found.below, found.within, found.above], votes / 300)


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=8), st.floats(0, 3))
def test_probabilities_add_up_and_turn_with_the_differences(differences, region):
    one = signed_rank(differences, region, samples=500)
    other = signed_rank(-np.array(differences), region, samples=500)
    assert one.below + one.within + one.above == pytest.approx(1)
    assert (one.below, one.above) == pytest.approx((other.above, other.below))


def test_no_difference_at_all_is_an_error():
    with pytest.raises(ValueError, match="needs differences"):
        signed_rank([], region=1)
