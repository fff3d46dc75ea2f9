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
from bestk.report._charts import Axes
from bestk.report._curves import sizes
from bestk.report._facts import Curve, Errors

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


def test_a_selector_that_chose_k_is_told_of_by_its_own_results(report, chosen):
    errors = report.facts.comparison.errors
    ours = errors.curves[0]
    assert ours.ks == tuple(KS)
    np.testing.assert_allclose(ours.means, 1 - chosen.cv_results_["mean_test_score"])
    assert (errors.measure, errors.model, errors.folds) == (
        "share of wrong classes", "GaussianNB()", 4,
    )  # fmt: skip
    assert len(report.facts.features) == chosen.best_k_
    assert f"The dashed upright line is at {chosen.best_k_}" in report.html


def test_other_methods_are_measured_with_the_estimator_and_the_folds_of_the_selector(report):
    errors = report.facts.comparison.errors
    assert [curve.name for curve in errors.curves] == ["auto", "maxrel", "mrmr", "jmi"]
    alike = SelectBestKCV(GaussianNB(), ks=KS, cv=4, method="mrmr").fit(X, y)
    found = {curve.name: curve for curve in errors.curves}["mrmr"]
    np.testing.assert_allclose(found.means, 1 - alike.cv_results_["mean_test_score"])


def test_without_errors_the_curve_of_the_selector_itself_is_still_there(chosen):
    errors = make_report(chosen, X, y, errors=False).facts.comparison.errors
    assert [curve.name for curve in errors.curves] == ["auto"]


def test_the_code_of_the_report_chooses_the_same(report, chosen):
    names = {"X": X, "y": y}
    exec(report.facts.code.replace("print", "str"), names)
    assert names["selector"].best_k_ == chosen.best_k_


@pytest.mark.parametrize(
    ("scoring", "measure", "rising"),
    [(None, "share of the variance left open", False),
     ("r2", "share of the variance left open", False),
     ("neg_root_mean_squared_error", "root mean squared error", False),
     ("explained_variance", "explained variance", True)],
)  # fmt: skip
def test_scores_become_errors_where_it_is_known_how(scoring, measure, rising):
    table, goal = load_diabetes(return_X_y=True, as_frame=True)
    selector = SelectBestKCV(Ridge(), ks=[1, 3], scoring=scoring)
    errors = errors_of(selector, goal + 0.5, table, errors=False)
    assert (errors.measure, errors.rising) == (measure, rising)
    assert all(mean > 0 for mean in errors.curves[0].means)


def test_a_scorer_of_ones_own_is_a_score():
    selector = SelectBestKCV(GaussianNB(), ks=[1, 2], scoring=make_scorer(matthews_corrcoef))
    errors = errors_of(selector, errors=False)
    assert (errors.measure, errors.rising) == ("score", True)


def test_folds_that_need_groups_leave_the_curve_of_the_selector_and_say_why():
    selector = SelectBestKCV(GaussianNB(), ks=[1, 2], cv=GroupKFold(3))
    selector.fit(X, y, groups=np.arange(len(y)) % 9)
    errors = make_report(selector, X, y).facts.comparison.errors
    assert [curve.name for curve in errors.curves] == ["auto"]
    assert any("maxrel was not measured" in note for note in errors.notes)


def test_how_k_auto_was_chosen_is_told():
    selector = SelectBestK("auto", random_state=0).fit(X, y)
    made = make_report(selector, X, y, errors=False)
    assert dict(zip(made.facts.tried.curves[0].ks, made.facts.tried.curves[0].means,
                    strict=True)) == selector.k_errors_  # fmt: skip
    assert f"took {selector.k_}: the smallest number whose difference from the best" in made.html


def test_numbers_of_features_lie_within_what_there_is_and_hold_k():
    for k, most, least in [(1, 1, 0), (5, 5, 5), (7, 100, 3), (90, 100, 0), (3, 40, 2)]:
        found = sizes(k, most, least)
        assert k in found
        assert max(1, least) <= found[0] <= found[-1] <= most
        assert found == sorted(set(found))


def axes_of(*curves, guess=float("nan")):
    made = [Curve(str(i), ks, means, (0.0,) * len(ks)) for i, (ks, means) in enumerate(curves)]
    return Axes.of(Errors(tuple(made), "error", "a model", 5, guess=guess))


def test_axes_hold_every_point_and_all_levels():
    for means in [(0.3, 0.1), (0.0, 0.0), (3000.0, 2900.0), (-0.5, -0.2), (0.7, 0.7), (1e-9, 2e-9)]:
        axes = axes_of(((1, 8), means))
        assert all(0 <= axes.y(value) <= 260 for value in (*means, *axes.levels))
        assert (axes.x(1), axes.x(8)) == (0, 100)


def test_errors_start_at_nothing_unless_that_would_flatten_them():
    assert axes_of(((1, 2), (0.4, 0.1))).low == 0
    assert axes_of(((1, 2), (3000.0, 2900.0))).low == 2900


def test_what_guessing_gives_is_drawn_if_it_is_near():
    near, far = axes_of(((1, 2), (0.4, 0.1)), guess=0.5), axes_of(((1, 2), (0.1, 0.1)), guess=0.5)
    assert near.shows(0.5)
    assert not far.shows(0.5)
    assert axes_of(((1, 2), (0.0, 0.0)), guess=0.5).shows(0.5)


def test_numbers_on_the_axis_stand_apart_and_k_is_among_them():
    axes = axes_of((tuple(range(1, 101)), (0.5,) * 100))
    for k in (1, 37, 100):
        ticks = axes.ticks(k)
        assert k in ticks
        assert np.diff([axes.x(tick) for tick in ticks]).min() >= 9


def test_one_number_of_features_is_in_the_middle():
    assert axes_of(((3,), (0.2,))).x(3) == 50
