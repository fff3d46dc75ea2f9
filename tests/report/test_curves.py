"""Errors against the number of features: measured, found by the selector itself, and drawn."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, matthews_corrcoef
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB

from bestk import SelectBestK, SelectBestKCV
from bestk.report import make_report
from bestk.report.errors import spread_sizes
from bestk.report.page import HEIGHT, ErrorAxes
from bestk.report.records import Curve, Errors

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :12]
KS = [1, 2, 4, 7]


@pytest.fixture(scope="module")
def chosen():
    return SelectBestKCV(GaussianNB(), ks=KS, cv=4).fit(X, y)


@pytest.fixture(scope="module")
def report(chosen):
    return make_report(chosen, X, y)


def errors_of(selector, goal=y, table=X, **options):
    return selector.fit(table, goal).report(table, goal, **options).facts.comparison.errors


def test_the_report_of_a_selector_that_chose_k_has_its_scores(report, chosen):
    errors = report.facts.comparison.errors
    ours = errors.curves[0]
    assert ours.ks == tuple(KS)
    np.testing.assert_allclose(ours.means, chosen.cv_results_["mean_test_score"])
    assert (errors.measure, errors.model, errors.folds) == ("accuracy", "GaussianNB()", 4)
    assert errors.guess == pytest.approx(np.bincount(y).max() / len(y))
    assert len(report.facts.features) == chosen.best_k_
    assert f"The dashed vertical line is at {chosen.best_k_}," in report.html


def test_without_errors_the_curve_of_the_selector_itself_is_still_there(chosen):
    errors = make_report(chosen, X, y, errors=False).facts.comparison.errors
    assert [curve.name for curve in errors.curves] == ["auto"]


def test_the_code_of_the_report_chooses_the_same(report, chosen):
    names = {"X": X, "y": y, "estimator": GaussianNB()}
    exec(report.facts.code.replace("print", "str"), names)
    assert names["selector"].best_k_ == chosen.best_k_


@pytest.mark.parametrize(
    ("scoring", "measure", "rising"),
    [(None, "r2", True),
     ("r2", "r2", True),
     ("neg_root_mean_squared_error", "root mean squared error", False),
     ("explained_variance", "explained variance", True)],
)  # fmt: skip
def test_scores_keep_their_names_and_negative_errors_become_errors(scoring, measure, rising):
    table, goal = load_diabetes(return_X_y=True, as_frame=True)
    selector = SelectBestKCV(Ridge(), ks=[1, 3], scoring=scoring)
    errors = errors_of(selector, goal + 0.5, table, errors=False)
    assert (errors.measure, errors.rising) == (measure, rising)
    assert all(mean > 0 for mean in errors.curves[0].means)


def test_a_scorer_of_ones_own_is_a_score():
    selector = SelectBestKCV(GaussianNB(), ks=[1, 2], scoring=make_scorer(matthews_corrcoef))
    errors = errors_of(selector, errors=False)
    assert (errors.measure, errors.rising) == ("score", True)


def test_folds_that_need_groups_have_the_curve_of_the_selector():
    selector = SelectBestKCV(GaussianNB(), ks=[1, 2], cv=GroupKFold(3))
    selector.fit(X, y, groups=np.arange(len(y)) % 9)
    errors = make_report(selector, X, y).facts.comparison.errors
    assert [curve.name for curve in errors.curves] == ["auto"]


def test_how_k_auto_was_chosen_is_shown():
    selector = SelectBestK("auto", random_state=0).fit(X, y)
    made = make_report(selector, X, y, errors=False)
    assert dict(zip(made.facts.tried.curves[0].ks, made.facts.tried.curves[0].means,
                    strict=True)) == selector.k_errors_  # fmt: skip
    assert f"chose {selector.k_}, the smallest number whose difference from the best" in made.html


def test_numbers_of_features_lie_within_what_there_is_and_hold_k():
    for k, most, least in [(1, 1, 0), (5, 5, 5), (7, 100, 3), (90, 100, 0), (3, 40, 2)]:
        found = spread_sizes(k, most, least)
        assert k in found
        assert max(1, least) <= found[0] <= found[-1] <= most
        assert found == sorted(set(found))


def axes_of(*curves, guess=float("nan")):
    made = [Curve(str(i), ks, means, (0.0,) * len(ks)) for i, (ks, means) in enumerate(curves)]
    return ErrorAxes(Errors(tuple(made), "error", "a model", 5, guess=guess))


def test_axes_hold_every_point_and_all_levels():
    for means in [(0.3, 0.1), (0.0, 0.0), (3000.0, 2900.0), (-0.5, -0.2), (0.7, 0.7), (1e-9, 2e-9)]:
        axes = axes_of(((1, 8), means))
        assert all(0 <= axes.y(value) <= HEIGHT for value in (*means, *axes.levels))
        assert (axes.x(1), axes.x(8)) == (0, 100)


def test_errors_start_at_nothing_unless_that_would_flatten_them():
    assert axes_of(((1, 2), (0.4, 0.1))).low == 0
    assert axes_of(((1, 2), (3000.0, 2900.0))).low == 2900


def test_what_guessing_gives_is_drawn_if_it_is_near():
    near, far = axes_of(((1, 2), (0.4, 0.1)), guess=0.5), axes_of(((1, 2), (0.1, 0.1)), guess=0.5)
    assert near.high >= 0.5 > far.high
    assert axes_of(((1, 2), (0.0, 0.0)), guess=0.5).high >= 0.5


def test_numbers_on_the_axis_stand_apart_and_k_is_among_them():
    axes = axes_of((tuple(range(1, 101)), (0.5,) * 100))
    for k in (1, 37, 100):
        ticks = axes.ticks(k)
        assert k in ticks
        assert np.diff([axes.x(tick) for tick in ticks]).min() >= 9


def test_one_number_of_features_is_in_the_middle():
    assert axes_of(((3,), (0.2,))).x(3) == 50


def curve(means, deviation=0.1, **options):
    ks = tuple(range(1, len(means) + 1))
    made = Curve("auto", ks, means, (deviation,) * len(ks))
    return Errors((made,), "error", "a model", 4, **options)  # the standard error is 0.05


def test_the_fewest_features_within_one_standard_error_of_the_best_are_enough():
    assert curve((0.5, 0.24, 0.2, 0.3)).enough() == (2, 3)
    assert curve((0.5, 0.26, 0.2, 0.3)).enough() == (3, 3)
    assert curve((0.5, 0.76, 0.8), rising=True).enough() == (2, 3)


def test_the_advantage_over_guessing_is_in_standard_errors():
    assert curve((0.4,), guess=0.5).advantage(1) == pytest.approx(2)
    assert curve((0.4,), guess=0.5, rising=True).advantage(1) == pytest.approx(-2)
    assert np.isnan(curve((0.4,)).advantage(1))
