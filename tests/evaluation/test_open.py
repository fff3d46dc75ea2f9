"""Any scorer, splitter, groups, estimator and selector can be evaluated."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    f_regression,
    mutual_info_classif,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer, precision_score
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import SelectBestK, SelectBestKCV, error_curves, select
from bestk.plots import plot_error_curves

X, y = load_breast_cancer(return_X_y=True)
GROUPS = np.arange(len(y)) // 20
TREES = RandomForestClassifier(5, random_state=0)
LINEAR = make_pipeline(StandardScaler(), LogisticRegression())


def by_variance(X, y, k):
    return np.argsort(-X.var(axis=0))[:k]


@pytest.mark.parametrize(
    ("scoring", "cv", "groups"),
    [
        ("roc_auc", RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), None),
        (make_scorer(precision_score, pos_label=0), GroupKFold(3), GROUPS),
        ("neg_log_loss", LeaveOneGroupOut(), np.arange(len(y)) % 3),
        (lambda model, X, y: model.score(X, y), 3, None),
    ],
)
def test_scores_are_those_of_scikit_learn_for_any_scorer_splitter_and_groups(scoring, cv, groups):
    curves = error_curves(
        X, y, {"f": SelectKBest()}, [3], estimator=GaussianNB(), scoring=scoring,
        cv=cv, groups=groups, random_state=0,
    )  # fmt: skip
    if cv == 3:
        from sklearn.model_selection import StratifiedKFold

        cv = StratifiedKFold(3, shuffle=True, random_state=0)
    pipe = make_pipeline(SelectKBest(k=3), GaussianNB())
    expected = cross_val_score(pipe, X, y, scoring=scoring, cv=cv, groups=groups)
    np.testing.assert_allclose(-curves.errors("f")[0], expected)


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(),
        RFE(LogisticRegression(max_iter=5000), step=0.5),
        SelectFromModel(TREES, max_features=1),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_a_selector_of_scikit_learn_selects_what_it_does_alone(selector):
    small = StandardScaler().fit_transform(X)[:, :12]
    found = select(small, y, k=4, method=selector)
    name = {"SelectKBest": "k", "RFE": "n_features_to_select"}.get(type(selector).__name__)
    alone = selector.set_params(**{name: 4} if name else {"max_features": 4, "threshold": -np.inf})
    assert sorted(found.support) == alone.fit(small, y).get_support(indices=True).tolist()
    relevance = found.details["relevance"]
    assert (np.diff(relevance) <= 0).all()
    assert found.solver == type(selector).__name__


def test_rankings_and_functions_select_too_and_exclude_holds():
    ranking = [7, 3, 20, 27, 0, 22]
    assert sorted(select(X, y, k=3, method=ranking).support) == [3, 7, 20]
    assert sorted(select(X, y, k=3, method=np.array(ranking), exclude=[3]).support) == [7, 20, 27]
    frame = load_breast_cancer(as_frame=True).data
    names = [frame.columns[i] for i in ranking]
    assert sorted(select(frame, y, k=2, method=names).support) == [3, 7]
    chosen = select(X, y, k=2, method=by_variance, exclude=[23]).support
    assert sorted(chosen) == sorted(np.argsort(-X.var(axis=0))[1:3])


def test_text_reaches_other_selectors_as_codes(mixed):
    frame, target = mixed
    found = SelectBestK(2, SelectKBest(mutual_info_classif)).fit(frame, target)
    assert found.support_.sum() == 2


@pytest.fixture
def mixed():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    columns = {f"c{j}": rng.choice(["a", "b", "c"], 80).astype(object) for j in range(4)}
    return pd.DataFrame(columns), y


@pytest.mark.parametrize(
    ("method", "options", "says"),
    [
        (SelectFdr(), {}, "no parameter for the number of features"),
        ([1, 2], {}, "list gives 2 different features, not 5"),
        (SelectKBest(), {"include": [3]}, "include does not work with SelectKBest; use a method"),
        (["no such column"] * 5, {}, "no such column"),
    ],
)
def test_what_cannot_select_k_is_refused_with_advice(method, options, says):
    with pytest.raises(ValueError, match=says):
        select(X, y, k=5, method=method, **options)


def test_other_selectors_take_blocks_of_rows():
    found = SelectBestK(2, SelectKBest()).fit(lambda: iter([(X, y)]))
    expected = SelectBestK(2, SelectKBest()).fit(X, y)
    assert found.solution_.support.tolist() == expected.solution_.support.tolist()


def test_curves_of_a_score_show_scores_and_compare_by_them():
    methods = {"auto": "auto", "variance": by_variance}
    curves = error_curves(
        X, y, methods, [2, 4], scoring="roc_auc", cv=3, random_state=0, estimator=LINEAR
    )
    lines = str(curves).splitlines()
    assert lines[0] == "mean roc_auc over 3 folds"
    assert 0.9 < float(lines[2].split()[1]) < 1
    assert curves.p_values("auto", "variance")[0] < 0.5  # a smaller error
    ax = plot_error_curves(curves, ax=Figure().subplots())
    assert ax.get_ylabel() == "roc auc"
    best = -curves.mean_error()["auto"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), best)
    assert ax.get_legend().get_texts()[0].get_text().startswith("auto")
    loss = error_curves(X, y, ["auto"], [2], scoring="neg_log_loss", cv=3, estimator=LINEAR)
    assert str(loss).splitlines()[0].startswith("mean log_loss")
    assert loss.mean_error()["auto"][0] > 0


def test_groups_stay_together_when_cv_is_a_number():
    seen = []

    def scorer(model, X, y):
        seen.append(set(X[:, 0].tolist()))
        return 0.0

    table = np.column_stack([GROUPS, X[:, 0]]).astype(float)
    options = {"scoring": scorer, "estimator": GaussianNB(), "random_state": 0}
    error_curves(table, y, {"first": [0, 1]}, [2], cv=3, groups=GROUPS, **options)
    assert all(not a & b for i, a in enumerate(seen) for b in seen[:i])


def test_verbose_prints_a_line_for_each_fold(capsys):
    error_curves(X, y, "maxrel", [1], cv=3, random_state=0, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"[error_curves] {i} of 3 done" for i in (1, 2, 3)
    ]
    SelectBestKCV(GaussianNB(), [1], cv=2, verbose=1).fit(X, y)
    assert capsys.readouterr().out.startswith("[SelectBestKCV] 1 of 2 done")
    SelectBestK(2, verbose=True).fit(X, y)
    assert "selecting" in capsys.readouterr().out
    SelectBestK("auto", "maxrel", cv=2, verbose=True).fit(X[:, :3], y)
    assert "[k='auto'] 2 of 2 done" in capsys.readouterr().out
    SelectBestK(2).fit(X, y)
    assert capsys.readouterr().out == ""


def test_numbers_are_predicted_as_well():
    X, y = load_diabetes(return_X_y=True)
    methods = {"ours": "auto", "f": SelectKBest(f_regression)}
    curves = error_curves(
        X, y, methods, [3], scoring="r2", estimator=LinearRegression(), cv=3, random_state=0
    )
    assert -curves.mean_error()["f"][0] > 0.3


def test_the_threshold_is_the_least_new_information_of_every_feature():
    every = SelectBestK(1.0, "mrmr").fit(X, y)
    assert every.k_ == 30
    few = SelectBestK(1.0, "mrmr", threshold=0.05).fit(X, y)
    new = few.solution_.details["new_information"]
    assert 1 < few.k_ < 30
    assert new.min() >= 0.05
    more = SelectBestK(few.k_ + 1, "mrmr").fit(X, y).solution_.details["new_information"]
    assert more.min() < 0.05
    assert SelectBestK(2, "mrmr", threshold=0.05).fit(X, y).k_ == 2  # k is the largest number
    few = SelectBestK(1.0, "mrmr", threshold=9.0).fit(X, y)
    assert few.k_ == 1
    assert any("is below the threshold of 9.0" in each for each in few.solution_.warnings)
    assert SelectBestK(1.0, "mrmr", threshold=0.0).fit(X, y).k_ == 30
    included = SelectBestK(1.0, "mrmr", threshold=9.0, include=[0, 1]).fit(X, y)
    assert included.k_ == 2


def test_a_constant_column_of_a_group_does_not_count_for_the_threshold():
    table = np.column_stack([X[:, :3], np.ones(len(y))])
    found = SelectBestK(1.0, threshold=0.001, column_groups=[0, 0, 1, 1]).fit(table, y)
    assert 3 in SelectBestK(1.0, column_groups=[0, 0, 1, 1]).fit(table, y).solution_.support
    assert not any("threshold" in each for each in found.solution_.warnings)


def test_a_threshold_and_auto_are_not_both_possible():
    with pytest.raises(ValueError, match="both choose k"):
        SelectBestK("auto", threshold=0.1).fit(X, y)
