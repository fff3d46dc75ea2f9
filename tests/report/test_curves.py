"""Errors against the number of features: measured, found by the selector itself, and drawn."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, matthews_corrcoef
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB

from bestk import SelectBestK, SelectBestKCV
from bestk.report import make_report
from bestk.report.page import HEIGHT, ScoreAxes
from bestk.report.scores import FoldScores, ScoreKind, spread_sizes

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
    return make_report(selector.fit(table, goal), table, goal, **options).facts.scores


def test_the_report_of_a_selector_that_chose_k_has_its_scores(report, chosen):
    scores = report.facts.scores
    assert scores.ks == tuple(KS)
    means = [scores.mean(k) for k in KS]
    np.testing.assert_allclose(means, chosen.cv_results_["mean_test_score"])
    assert (scores.measure.name, scores.model) == ("accuracy", "GaussianNB()")
    assert len(scores.folds) == 4
    assert scores.measure.guess == pytest.approx(np.bincount(y).max() / len(y))
    assert len(report.facts.names) == chosen.best_k_
    assert f"The dashed vertical line is at {chosen.best_k_}," in report.html


def test_without_errors_the_curve_of_the_selector_itself_is_still_there(chosen):
    scores = make_report(chosen, X, y, errors=False).facts.scores
    assert (scores.method, scores.others) == ("auto", {})


def test_the_code_of_the_report_chooses_the_same(report, chosen):
    names = {"X": X, "y": y, "estimator": GaussianNB()}
    exec(report.facts.code.replace("print", "str"), names)
    assert names["selector"].best_k_ == chosen.best_k_


@pytest.mark.parametrize(
    ("scoring", "measure", "rising"),
    [(None, "R²", True),
     ("r2", "R²", True),
     ("neg_root_mean_squared_error", "root mean squared error", False),
     ("explained_variance", "explained variance", True)],
)  # fmt: skip
def test_scores_keep_their_names_and_negative_errors_become_errors(scoring, measure, rising):
    table, goal = load_diabetes(return_X_y=True, as_frame=True)
    selector = SelectBestKCV(Ridge(), ks=[1, 3], scoring=scoring)
    errors = errors_of(selector, goal + 0.5, table, errors=False)
    assert (errors.measure.name, errors.measure.rising) == (measure, rising)
    assert (errors.curve.mean(axis=1) > 0).all()


def test_a_scorer_of_ones_own_is_a_score():
    selector = SelectBestKCV(GaussianNB(), ks=[1, 2], scoring=make_scorer(matthews_corrcoef))
    errors = errors_of(selector, errors=False)
    assert (errors.measure.name, errors.measure.rising) == ("score", True)


def test_folds_that_need_groups_have_the_curve_of_the_selector():
    selector = SelectBestKCV(GaussianNB(), ks=[1, 2], cv=GroupKFold(3))
    selector.fit(X, y, groups=np.arange(len(y)) % 9)
    assert make_report(selector, X, y).facts.scores.others == {}


def test_that_k_was_chosen_is_said():
    selector = SelectBestK("auto", random_state=0).fit(X, y)
    made = make_report(selector, X, y, errors=False, stability=0)
    assert f'k="auto" chose {selector.k_} by' in made.html


def test_numbers_of_features_lie_within_what_there_is_and_hold_k():
    for k, most, least in [(1, 1, 0), (5, 5, 5), (7, 100, 3), (90, 100, 0), (3, 40, 2)]:
        found = spread_sizes(k, most, least)
        assert k in found
        assert max(1, least) <= found[0] <= found[-1] <= most
        assert found == sorted(set(found))


def scores_of(means, ks=None, k=None, **kind):
    """Scores of two folds without a difference."""
    ks = tuple(range(1, len(means) + 1)) if ks is None else ks
    curve = np.column_stack([means, means])
    measure = ScoreKind("error", **kind)
    return FoldScores(k=k or ks[0], ks=ks, curve=curve, others={}, measure=measure, model="a model")


def test_axes_hold_every_point_and_all_levels():
    for means in [(0.3, 0.1), (0.0, 0.0), (3000.0, 2900.0), (-0.5, -0.2), (0.7, 0.7), (1e-9, 2e-9)]:
        axes = ScoreAxes(scores_of(means, ks=(1, 8)))
        assert all(0 <= axes.y(value) <= HEIGHT for value in (*means, *axes.levels))
        assert (axes.x(1), axes.x(8)) == (0, 100)


def test_errors_start_at_nothing_unless_that_would_flatten_them():
    assert ScoreAxes(scores_of((0.4, 0.1))).low == 0
    assert ScoreAxes(scores_of((3000.0, 2900.0))).low == 2900
    assert ScoreAxes(scores_of((0.9, 0.4), rising=True)).low > 0


def test_guessing_and_all_features_are_drawn_if_they_are_near():
    near, far = (ScoreAxes(scores_of((high, 0.1), guess=0.5)) for high in (0.4, 0.1001))
    assert near.lines == [("guessing", 0.5)]
    assert far.lines == []
    assert near.high >= 0.5 > far.high
    assert ScoreAxes(scores_of((0.0, 0.0), guess=0.5)).high >= 0.5
    low = ScoreAxes(scores_of((0.6, 0.9), guess=0.5, rising=True))
    assert low.low <= 0.5
    everything = replace(scores_of((0.2, 0.1)), n_all=9, all_features=np.array([0.4, 0.6]))
    assert ScoreAxes(everything).lines == [("all 9 features", 0.5)]


def test_numbers_on_the_axis_stand_apart_and_k_is_among_them():
    for k in (1, 37, 100):
        axes = ScoreAxes(scores_of((0.5,) * 100, k=k))
        ticks = axes.ticks()
        assert k in ticks
        assert np.diff([axes.x(tick) for tick in ticks]).min() >= 9


def test_one_number_of_features_is_in_the_middle():
    assert ScoreAxes(scores_of((0.2,), ks=(3,))).x(3) == 50


def test_the_fewest_features_whose_difference_from_the_best_may_be_noise_are_enough():
    values = np.array([[0.5, 0.5], [0.20, 0.26], [0.22, 0.20]])  # differ by 0.02 with error 0.04
    measure = ScoreKind("error")
    errors = FoldScores(
        k=3, ks=(1, 2, 3), curve=values, others={}, measure=measure, model="a model"
    )
    assert errors.enough() == (2, 3)
    rising = replace(errors, curve=1 - values, measure=ScoreKind("AUC", rising=True))
    assert rising.enough() == (2, 3)
    clear = replace(errors, curve=values + np.array([[0], [0.1], [0]]))
    assert clear.enough() == (3, 3)


def of_folds(ours, *others, **kind):
    """Scores of one number of features, by method and fold."""
    compared = {str(i): np.array(each, float) for i, each in enumerate(others, 1)}
    curve = np.array([ours], float)
    measure = ScoreKind("AUC", **kind)
    return FoldScores(k=1, ks=(1,), curve=curve, others=compared, measure=measure, model="a model")


def test_an_interval_is_that_of_folds_whose_training_rows_overlap():
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    low, high = of_folds(values).interval(values)
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + 1 / 4) * values.var(ddof=1))
    assert (low, high) == pytest.approx((0.2 - half, 0.2 + half))
    assert of_folds(values, limits=(0.1, 0.25)).interval(values) == (0.1, 0.25)
    assert np.isnan(of_folds([0.1]).interval(np.array([0.1]))).all()


def test_features_predict_if_the_interval_excludes_guessing():
    assert of_folds([0.3, 0.32, 0.31], guess=0.5).predicts()
    assert not of_folds([0.3, 0.6, 0.5], guess=0.5).predicts()
    assert of_folds([0.9, 0.8, 0.85], guess=0.5, rising=True).predicts()
    assert of_folds([0.9, 0.8, 0.85], rising=True).predicts() is None


def test_a_method_is_better_where_a_paired_test_says_so():
    ours, other = [0.90, 0.80, 0.85, 0.70], [0.95, 0.85, 0.91, 0.75]
    close = [0.95, 0.75, 0.90, 0.68]
    scores = of_folds(ours, other, close, rising=True)
    assert scores.ranked() == ["1", "2"]
    assert [scores.compare(scores.others[m]) for m in "12"] == ["better", "similar"]
    assert scores.better() == ["1"]
    assert of_folds(ours, other).compare(np.array(other)) == "worse"
    assert of_folds(other, ours).compare(np.array(ours)) == "better"
