"""Trials on the half for tuning."""

import numpy as np
import pytest

from benchmarks.quality import tune
from benchmarks.quality.runs import Work, read_rows, run_fold
from benchmarks.quality.tables import make
from benchmarks.quality.tune import TRIED, Trial, compare, folds_of_trial, run_trial

SETS = ("credit-0", "weak_regression-0")


@pytest.fixture(autouse=True)
def cache_of_test(tmp_path, monkeypatch):
    monkeypatch.setenv("BESTK_CACHE", str(tmp_path))
    tune.cache_folder.cache_clear()
    yield
    tune.cache_folder.cache_clear()


def take_relevant(X, y, k, kind):
    """Relevant columns first, by what the makers of tables call them."""
    order = sorted(range(X.shape[1]), key=lambda j: (X.columns[j].startswith("noise"), j))
    return order[:k]


def take_first(X, y, k, kind):
    return list(range(k))


def test_a_trial_gives_rows_like_those_of_the_record():
    rows = list(run_trial(Trial(take_relevant, wanted=("credit-0",))))
    assert len(rows) == 1
    assert rows[0]["way"] == TRIED
    assert list(rows[0]["ks"]) == ["5", "10", "20"]
    assert rows[0]["ks"]["10"]["noise"] == 0.0


def test_a_nested_trial_is_called_once_and_gives_the_same_rows():
    calls = []

    def counted(X, y, k, kind):
        calls.append(k)
        return take_relevant(X, y, k, kind)

    (nested,) = run_trial(Trial(counted, nested=True, wanted=("credit-0",)))
    assert calls == [20]
    (plain,) = run_trial(Trial(take_relevant, wanted=("credit-0",)))
    assert nested["ks"] == plain["ks"]


def test_models_are_fitted_once_for_a_fold_and_a_set_of_columns(monkeypatch):
    (first,) = run_trial(Trial(take_relevant, wanted=("credit-0",)))
    monkeypatch.setattr("benchmarks.quality.judge.make_model", None)
    (again,) = run_trial(Trial(take_relevant, wanted=("credit-0",)))
    assert again["ks"] == first["ks"]


def test_a_trial_is_compared_with_the_record_on_the_same_folds(tmp_path):
    out = tmp_path / "rows.jsonl"
    for name in SETS:
        run_fold(Work(name, 0, 0, ("f_classif", "fastcan"), out, None))
    record = read_rows(out)
    good = compare(run_trial(Trial(take_relevant, wanted=SETS)), record, "f_classif")
    bad = compare(run_trial(Trial(take_first, wanted=SETS)), record, "f_classif")
    assert list(good.index) == ["made-up (2)"]
    assert good["change"].iloc[0] < bad["change"].iloc[0]
    assert good["noise"].iloc[0] < bad["noise"].iloc[0]
    assert good["loss"].iloc[0] - good["change"].iloc[0] == pytest.approx(
        bad["loss"].iloc[0] - bad["change"].iloc[0]
    )


def test_a_way_that_selects_a_column_twice_is_refused():
    with pytest.raises(ValueError, match="1 columns for k = 5"):
        list(run_trial(Trial(lambda X, y, k, kind: [0] * k, wanted=("credit-0",))))


def test_a_trial_reads_no_table_of_the_half_for_judging():
    entries = [entry for entry, _ in folds_of_trial(Trial(take_first, folds=5))]
    assert {entry.half for entry in entries} == {"tune"}


def test_methods_of_the_library_are_tried_by_their_options():
    problem = make("labels_00", 0, 600)
    places = tune.select_by_options({"method": "mrmr"}, problem.X, problem.y, 5, problem.kind)
    assert len(set(places)) == 5
    assert problem.noise_share(list(np.array(problem.X.columns)[places])) < 0.5


def test_without_a_record_the_trial_stands_alone():
    table = compare(run_trial(Trial(take_relevant, wanted=("credit-0",))), [], "f_classif")
    assert table["loss"].notna().all()
    assert table["loss"].iloc[0] > 0
    assert table["change"].isna().all()
