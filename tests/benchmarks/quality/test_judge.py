"""Encoding, selecting and scoring in one fold."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality import foreign, ways
from benchmarks.quality.encode import Split
from benchmarks.quality.judge import Judge, measure, split
from benchmarks.quality.tables import make

FAST = ("f_classif", "mutual_info", "RFE", "L1", "fastcan")
TOGETHER = ("abess",)  # a larger choice need not hold a smaller one


def test_numbers_are_filled_with_the_median_of_the_training_rows_and_marked():
    train = pd.DataFrame({"a": [1.0, 3.0, np.nan, 5.0], "b": [0.0, 1.0, 2.0, 3.0]})
    test = pd.DataFrame({"a": [np.nan], "b": [9.0]})
    matrix = Split(train, np.array([0, 1, 0, 1]), test, np.array([1]), "classes").matrix
    assert matrix.owner.tolist() == [0, 1, 0]
    assert matrix.train[2, 0] == pytest.approx(matrix.train[1, 0]) == matrix.test[0, 0]
    assert matrix.test[0, 2] == matrix.train[2, 2] > 0
    np.testing.assert_allclose(matrix.train.mean(axis=0), 0, atol=1e-12)


def test_few_levels_become_indicators_many_a_target_encoding_and_dates_three_numbers():
    made = make("seasonal", 0, 300)
    rows = split(made, 0, 0)
    count = dict(zip(*np.unique(rows.matrix.owner, return_counts=True), strict=True))
    places = {name: i for i, name in enumerate(made.X.columns)}
    assert count[places["weekday_0"]] == 8  # a missing day is a level
    assert count[places["season_0"]] == 3
    wide = split(make("categories", 0, 600), 0, 0)
    assert np.bincount(wide.matrix.owner).max() <= 21


def test_made_up_tables_are_trained_on_one_fold_of_three():
    made = make("credit", 0, 300)
    folds = [split(made, 0, fold) for fold in range(3)]
    assert [len(rows.y) for rows in folds] == [100] * 3
    assert sorted(np.concatenate([rows.X.index for rows in folds])) == list(range(300))


@pytest.mark.parametrize("way", FAST)
@pytest.mark.parametrize("family", ["labels_00", "seasonal"])
def test_a_way_finds_relevant_columns_and_larger_choices_hold_smaller_ones(way, family):
    if package := ways.missing_package(way):
        pytest.skip(f"{package} is not installed")
    made = make(family, 0, 3000)
    found = ways.select(way, split(made, 0, 0), [5, 10])
    assert found[10][:5] == found[5]
    assert made.noise_share([made.X.columns[i] for i in found[5]]) <= 0.2


@pytest.mark.parametrize("way", TOGETHER)
@pytest.mark.parametrize("family", ["labels_00", "seasonal", "categories"])
def test_a_way_that_chooses_columns_together_finds_relevant_ones(way, family):
    if package := ways.missing_package(way):
        pytest.skip(f"{package} is not installed")
    made = make(family, 0, 3000)
    found = ways.select(way, split(made, 0, 0), [5, 10])
    assert [len(set(found[k])) for k in (5, 10)] == [5, 10]
    assert made.noise_share([made.X.columns[i] for i in found[5]]) <= 0.2


def test_numbers_that_follow_from_others_of_their_column_are_left_out():
    flags = np.eye(3)[np.arange(60) % 3]
    flags -= flags.mean(axis=0)
    numbers = np.column_stack([flags, np.zeros(60), np.arange(60.0)])
    owner = np.array([0, 0, 0, 1, 2])
    assert np.bincount(owner[foreign.independent_numbers(numbers, owner)]).tolist() == [2, 0, 1]


def test_the_best_number_of_a_column_is_the_score_of_the_column():
    scores, owner = np.array([0.1, 0.5, np.nan, 0.3]), np.array([0, 1, 1, 0])
    assert foreign.best_of_columns(scores, owner).tolist() == [0.3, 0.5]


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(ways.WAYS, "L1", ways.Way("no-such-package", foreign.l1, ""))
    assert ways.missing_package("L1") == "no-such-package"
    assert ways.missing_package("default") is None


def test_scores_are_those_worked_by_hand():
    class Model:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])

    y = np.array([0, 1, 0])
    rows = Split(pd.DataFrame(), y, pd.DataFrame(), y, "classes")
    found = measure(Model(), np.zeros((3, 1)), rows)
    assert found["error"] == pytest.approx(1 / 3)
    assert found["auc"] == pytest.approx(0.5)
    assert found["log_loss"] == pytest.approx(-np.log([0.8, 0.6, 0.3]).mean())


def test_a_class_that_was_not_in_the_training_rows_is_an_error_and_not_a_failure():
    class Model:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.array([[0.8, 0.2], [0.4, 0.6]])

    y = np.array([0, 2])
    rows = Split(pd.DataFrame(), y, pd.DataFrame(), y, "classes")
    assert measure(Model(), np.zeros((2, 1)), rows)["error"] == 0.5


def test_a_cell_has_scores_of_every_k_and_model_and_what_is_known_of_the_selection():
    made = make("labels_00", 0, 900)
    judge = Judge(made, split(made, 0, 0))
    found = judge.run("f_classif")
    assert list(found["ks"]) == ["5", "10", "20", "50"]
    assert set(found["ks"]["10"]) == {"selected", "linear", "neighbours", "trees", "noise",
                                      "recall"}  # fmt: skip
    assert "trees" not in found["ks"]["5"]
    assert found["ks"]["10"]["linear"]["auc"] > 0.75
    fitted = len(judge.known)
    judge.run("f_classif")
    assert len(judge.known) == fitted
