import numpy as np
import pytest

from benchmarks.quality import classifiers, folds, peers
from benchmarks.quality.classifiers import Judge, indicators
from benchmarks.quality.methods import OURS, group_of, select_ours
from benchmarks.quality.sets import Problem
from experiments.classification.steps import unpack

LIGHT = ("default", "mrmr", "gaussian mrmr", "gaussian tpower", "SelectKBest f_classif",
         "L1 logistic", "RFE linear SVM")  # fmt: skip


def table(seed=0, m=60, n=9, nominal=False):
    """Noise, and two columns that follow the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    X = rng.integers(0, 3, (m, n)) if nominal else rng.normal(size=(m, n))
    X[:, 3] = y if nominal else X[:, 3] + 3 * y
    X[:, 7] = 1 - y if nominal else X[:, 7] - 2 * y
    return Problem("made", X, y, nominal)


@pytest.fixture
def use(monkeypatch):
    """Let the folds be those of a problem of our own."""

    def set_problem(problem):
        folds._fold.cache_clear()
        monkeypatch.setattr(folds, "load", lambda name, data: problem)

    yield set_problem
    folds._fold.cache_clear()


def run(method, fold=0):
    return folds.run_fold("made", None, 0, fold, [method])


def picks(result, method):
    own = result["methods"][method]
    return [support.tolist() for support in unpack(own["picks"], own["ks"])]


def test_a_selector_is_given_the_training_rows_and_no_other(use, monkeypatch):
    problem = table()
    problem.X[:, 0] = np.arange(60)
    seen = []
    use(problem)
    monkeypatch.setattr(folds, "choose", lambda methods, train, ks: seen.append(train) or {})
    for fold in range(folds.FOLDS):
        run("default", fold)
        train, test = folds.split(problem.y, 0, fold)
        assert seen[-1].X[:, 0].tolist() == train.tolist()
        np.testing.assert_array_equal(seen[-1].y, problem.y[train])
        assert not set(train) & set(test)


@pytest.mark.parametrize("method", LIGHT)
def test_test_rows_have_no_say_in_the_choice(method, use):
    problem, other = table(), table()
    _, test = folds.split(problem.y, 0, 1)
    other.X[test] = 100 * np.random.default_rng(1).normal(size=other.X[test].shape)
    found = []
    for each in (problem, other):
        use(each)
        found.append(picks(run(method, 1), method))
    assert found[0] == found[1]


@pytest.mark.parametrize("method", LIGHT)
@pytest.mark.parametrize("nominal", [False, True])
def test_every_method_finds_what_is_plain_and_picks_k_features(method, nominal):
    found = folds.choose([method], table(m=90, nominal=nominal), [2, 5])[method]
    assert {3, 7} & set(found.supports[0].tolist())
    assert len(set(found.supports[1].tolist())) == 5


def test_the_same_fold_gives_the_same_row(use):
    rows = []
    for _ in range(2):
        use(table())
        rows.append(run("gaussian tpower")["methods"]["gaussian tpower"])
        rows[-1].pop("seconds")
    assert rows[0] == rows[1]


def test_a_choice_is_fitted_once_whoever_asks_for_it(monkeypatch):
    made, make = [], classifiers.make
    monkeypatch.setattr(classifiers, "make", lambda *of: made.append(of[0]) or make(*of))
    problem = table()
    judge = Judge(problem, *folds.split(problem.y, 0, 0))
    first = judge.wrong([3, 7], classifiers.CLASSIFIERS)
    assert judge.wrong([7, 3], classifiers.CLASSIFIERS) == first
    assert made == ["neighbours", "boosting"]


def test_good_columns_make_fewer_errors_than_noise():
    problem = table(m=100)
    judge = Judge(problem, *folds.split(problem.y, 0, 0))
    good, noise = (judge.wrong(own, classifiers.CLASSIFIERS) for own in ([3, 7], [1, 2]))
    assert all(good[name] < noise[name] for name in classifiers.CLASSIFIERS)


def test_classes_of_two_rows_do_not_stop_a_fold():
    y = np.repeat([0, 1, 2], [30, 25, 2])
    parts = [folds.split(y, 0, fold) for fold in range(folds.FOLDS)]
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(57))
    assert not np.array_equal(folds.split(y, 0, 0)[1], folds.split(y, 1, 0)[1])


def test_methods_of_a_group_share_one_reading_and_choose_as_alone():
    names = ["mrmr", "tpower"]
    assert len({group_of(name) for name in names}) == 1
    together = select_ours(names, table(), [3])
    for name in names:
        alone = select_ours([name], table(), [3])[name]
        np.testing.assert_array_equal(together[name].supports[0], alone.supports[0])


def test_groups_tell_readings_apart():
    readings = {group_of(name): OURS[name].reading for name in OURS}
    assert all(OURS[name].reading == readings[group_of(name)] for name in OURS)


def test_a_feature_ranks_as_its_best_indicator():
    X, columns = indicators(table(nominal=True))
    scores = np.zeros(X.shape[1])
    scores[columns[4][1]] = 1.0
    assert peers._best_of(scores, columns).argmax() == 4


def test_a_peer_that_is_not_installed_has_no_version():
    assert peers.Peer("no-such-package", peers._f_statistic, "").version is None
    assert peers.PEERS["L1 logistic"].version is not None
