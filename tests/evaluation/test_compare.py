"""The paired t-test, and wins, ties and losses counted over k."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from bestk.evaluation import Comparison, win_tie_loss
from bestk.evaluation._comparison import _t_statistics


@st.composite
def errors(draw):
    """Errors of two methods, as a share of 20 test rows, so that ties and equal folds occur."""
    n_folds = draw(st.integers(2, 12))
    fold = st.lists(st.integers(0, 20), min_size=n_folds, max_size=n_folds)
    return np.array(draw(fold)) / 20, np.array(draw(fold)) / 20


def statistic(a, b, overlap=0.0):
    """Student's t of one k."""
    return _t_statistics(np.array([a], float), np.array([b], float), overlap)[0]


def test_a_t_test_worked_by_hand():
    # d = -1, 0, -2, -1: mean -1, variance 2/3, so t = -1 / sqrt(2/3 / 4) = -sqrt(6)
    assert statistic([1, 2, 1, 1], [2, 2, 3, 2]) == pytest.approx(-math.sqrt(6))


@pytest.mark.parametrize("unit", [5e-324, 1e-200, 1e300])
def test_the_unit_of_the_errors_does_not_matter(unit):
    scaled = statistic(unit * np.array([1.0, 2, 1, 1]), unit * np.array([2.0, 2, 3, 2]))
    assert scaled == statistic([1, 2, 1, 1], [2, 2, 3, 2])


def test_overlap_widens_the_variance():
    # the same differences with (1/4 + 1/3) in place of 1/4
    found = statistic([1, 2, 1, 1], [2, 2, 3, 2], overlap=1 / 3)
    assert found == pytest.approx(-1 / math.sqrt(2 / 3 * (1 / 4 + 1 / 3)))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], 0.0),
        ([0.0, 0.0], [0.0, 0.0], 0.0),
        ([0.1, 0.2, 0.3], [0.2, 0.3, 0.4], -np.inf),  # equal but for rounding
        ([1.0, 1.0], [0.0, 0.0], np.inf),
    ],
)
def test_equal_differences_are_certain_and_no_differences_say_nothing(a, b, expected):
    assert statistic(a, b) == expected


@pytest.mark.parametrize(
    ("a", "b", "options", "says"),
    [
        ([0.1], [0.2], {}, "two folds or more"),
        ([0.1, 0.2], [0.2, 0.1, 0.3], {}, r"shapes \(1, 2\) and \(1, 3\)"),
        ([0.1, np.nan], [0.2, 0.1], {}, "NaN"),
        ([0.1, 0.2], [0.2, 0.1], {"overlap": -1.0}, "0 or more, not -1"),
    ],
)
def test_bad_pairs_are_refused_with_advice(a, b, options, says):
    with pytest.raises(ValueError, match=says):
        win_tie_loss(a, b, **options)


@given(pair=errors())
def test_it_is_scipys_test_wherever_that_is_defined(pair):
    a, b = pair
    if np.ptp(a - b) > 1e-9:
        assert statistic(a, b) == pytest.approx(ttest_rel(a, b).statistic)
        for alpha in (0.01, 0.05, 0.4):
            better = ttest_rel(a, b, alternative="less").pvalue < alpha
            assert (win_tie_loss(a, b, alpha).wins == 1) == better


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


def test_methods_measured_on_different_folds_are_refused():
    with pytest.raises(ValueError, match=r"every k and fold.*; got shapes \(1, 2\) and \(2, 2\)"):
        win_tie_loss([[0.1, 0.2]], [[0.1, 0.2], [0.1, 0.2]])


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
