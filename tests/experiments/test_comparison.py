"""Wins, ties and losses counted over k."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.comparison import Comparison, win_tie_loss


@st.composite
def errors(draw):
    """Errors of two methods, as a share of 20 test rows, so that ties and equal folds occur."""
    n_folds = draw(st.integers(2, 12))
    fold = st.lists(st.integers(0, 20), min_size=n_folds, max_size=n_folds)
    return np.array(draw(fold)) / 20, np.array(draw(fold)) / 20


def test_counts_worked_by_hand():
    better, worse, same = [0.1, 0.1, 0.1, 0.2], [0.3, 0.3, 0.4, 0.4], [0.2, 0.1, 0.1, 0.1]
    ours, other = [better, better, worse, better], [worse, worse, better, same]
    found = win_tie_loss(ours, other)
    assert found.decisions == ("win", "win", "loss", "tie")
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert found.verdict == found.leaning == "win"
    # differences -0.225, -0.225, 0.225 and 0
    assert found.mean_difference == pytest.approx(-0.05625)
    assert found.deviation == pytest.approx(np.std([-0.225, -0.225, 0.225, 0.0], ddof=1))


@pytest.mark.parametrize(
    ("counts", "verdict", "leaning"),
    [
        ((2, 1, 1), "win", "win"),
        ((1, 1, 2), "loss", "loss"),
        ((2, 2, 0), "tie", "win"),  # nothing leads alone
        ((2, 0, 2), "tie", "tie"),
        ((1, 1, 1), "tie", "tie"),
        ((1, 8, 2), "tie", "loss"),
        ((0, 3, 0), "tie", "tie"),
    ],
)
def test_the_verdict_is_the_decision_that_leads_alone(counts, verdict, leaning):
    wins, ties, losses = counts
    decisions = ("win",) * wins + ("tie",) * ties + ("loss",) * losses
    found = Comparison(decisions, (0.0,) * len(decisions))
    assert (found.verdict, found.leaning) == (verdict, leaning)


def test_three_rows_against_none_win_in_leave_one_out():
    ours, other = np.zeros(62), np.zeros(62)
    other[:3] = 1
    assert win_tie_loss([ours], [other]).verdict == "win"
    other[2] = 0
    assert win_tie_loss([ours], [other]).verdict == "tie"


def test_one_k_has_no_deviation():
    found = win_tie_loss([0.1, 0.2, 0.1], [0.2, 0.2, 0.3])
    assert found.decisions == ("tie",)
    assert math.isnan(found.deviation)


@given(pairs=st.lists(errors(), min_size=1, max_size=4))
def test_what_one_method_wins_the_other_loses(pairs):
    n_folds = min(len(a) for a, _ in pairs)
    ours, other = (np.array([pair[i][:n_folds] for pair in pairs]) for i in (0, 1))
    found, mirrored = win_tie_loss(ours, other), win_tie_loss(other, ours)
    assert (found.wins, found.ties, found.losses) == (
        mirrored.losses,
        mirrored.ties,
        mirrored.wins,
    )
    assert found.mean_difference == pytest.approx(-mirrored.mean_difference)
    opposite = {"win": "loss", "loss": "win", "tie": "tie"}
    assert mirrored.verdict == opposite[found.verdict]
    assert mirrored.leaning == opposite[found.leaning]
