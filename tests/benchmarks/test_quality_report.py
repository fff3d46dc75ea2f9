import csv

import numpy as np
import pytest

from benchmarks.quality import methods
from benchmarks.quality.comparisons import against_each
from benchmarks.quality.methods import DEFAULT, group_of
from benchmarks.quality.plan import PART, Plan, fits, forget, jobs
from benchmarks.quality.report import write_report
from benchmarks.quality.results import Results
from benchmarks.quality.times import FILE, read, write
from bestk import SelectBestK
from experiments.classification.steps import pack
from experiments.store import Store

SETS = {"wine": 13, "xor": 106, "chains": 120, "breast_cancer": 30}
METHODS = ("default", "mrmr", "SelectKBest f_classif")


def fold_of(wrong, ks=(5, 6, 10)):
    """The row of a method: so many wrong of 20, for every classifier and k."""
    counts = {str(k): wrong for k in ks}
    choices = [np.arange(k) for k in ks]
    return {"ks": list(ks), "picks": pack(choices), "seconds": 0.1,
            "wrong": {"svm": counts, "neighbours": counts, "boosting": {"10": wrong}}}  # fmt: skip


@pytest.fixture
def store(tmp_path):
    """Four sets and two folds; the default errs least, but on the last set."""
    found = Store(tmp_path / "quality.jsonl")
    for place, (name, n) in enumerate(SETS.items()):
        for fold in (0, 1):
            for number, method in enumerate(METHODS):
                wrong = (2 - number if place == 3 else number) + fold + 1
                row = {"n_test": 20, "n_features": n, "methods": {method: fold_of(wrong)}}
                found.add((PART, name, "0", str(fold), group_of(method), method), row)
    return found


def test_errors_are_means_over_folds_then_k_then_classifiers(tmp_path):
    found = Store(tmp_path / "quality.jsonl")
    for fold, (svm, trees) in enumerate([(4, 1), (2, 3)]):
        own = fold_of(0) | {"wrong": {"svm": {"5": svm, "10": 0}, "boosting": {"10": trees}}}
        row = {"n_test": 20, "n_features": 13, "methods": {"mrmr": own}}
        found.add((PART, "wine", "0", str(fold), group_of("mrmr"), "mrmr"), row)
    results = Results(found)
    assert results.error("wine", "mrmr", "svm", 5) == pytest.approx(15)
    assert results.error("wine", "mrmr", "svm") == pytest.approx(7.5)
    assert results.error("wine", "mrmr") == pytest.approx((7.5 + 10) / 2)
    assert np.isnan(results.error("wine", "mrmr", "neighbours"))


def test_a_method_without_all_folds_of_a_set_does_not_have_it(store):
    row = {"n_test": 20, "n_features": 13, "methods": {"jmi": fold_of(0)}}
    store.add((PART, "wine", "0", "0", group_of("jmi"), "jmi"), row)
    results = Results(store)
    assert "jmi" not in results.methods
    for fold in (0, 1):
        row = {"n_test": 20, "n_features": 106, "methods": {"jmi": fold_of(0)}}
        store.add((PART, "xor", "0", str(fold), group_of("jmi"), "jmi"), row)
    results = Results(store)
    assert results.missing("jmi") == ["breast_cancer", "wine", "chains"]
    assert "jmi" not in results.everywhere


def test_a_fold_that_was_just_begun_and_a_set_that_was_are_left_out(store):
    for name, fold in (("wine", "2"), ("promoter", "0")):
        row = {"n_test": 20, "n_features": 13, "methods": {"mrmr": fold_of(0)}}
        store.add((PART, name, "0", fold, group_of("mrmr"), "mrmr"), row)
    results = Results(store)
    assert results.sets == ["breast_cancer", "wine", "xor", "chains"]
    assert results.everywhere == list(METHODS)
    assert len(results.folds["wine"]["mrmr"]) == 2


def test_a_set_counts_once_in_a_comparison(store):
    found = against_each(Results(store), "default", METHODS[1:])
    assert [(each.other, each.score) for each in found] == [
        ("mrmr", "3-0-1"), ("SelectKBest f_classif", "3-0-1"),
    ]  # fmt: skip
    assert [each.difference for each in found] == pytest.approx([-2.5, -5.0])


def test_only_what_is_not_stored_is_run(store):
    plan = Plan(("wine",), ("default", "mrmr", "jmi", "Boruta"), folds=2, repeats=1)
    todo = list(jobs(plan, store))
    assert [job.arguments[-1] for job in todo] == [["Boruta"], ["jmi"]] * 2
    assert len({job.key for job in todo}) == 4


def test_what_is_forgotten_is_run_again_and_nothing_else(store):
    plan = Plan(("wine", "xor"), METHODS, folds=2, repeats=1)
    assert not list(jobs(plan, store))
    forget(store.path, ["mrmr"])
    again = Store(store.path)
    assert [job.arguments[-1] for job in jobs(plan, again)] == [["mrmr"]] * 4
    assert len(again) == len(store) - 8
    assert again.starts == store.starts


def test_a_default_of_other_settings_is_run_again(store, monkeypatch):
    plan = Plan(("wine",), METHODS, folds=2, repeats=1)
    other = {DEFAULT: lambda k: SelectBestK(k, "jmi")}
    monkeypatch.setattr(methods, "SELECTORS", other)
    assert [job.arguments[-1] for job in jobs(plan, store)] == [[DEFAULT]] * 2
    assert DEFAULT not in Results(store).methods


def test_slow_methods_are_left_out_of_wide_sets():
    assert fits("sdp", 700)
    assert not fits("sdp", 701)
    assert not fits("Boruta", 3000)
    assert fits("SelectKBest f_classif", 10**6)


def test_the_report_says_what_the_rows_say(store, tmp_path):
    for name in ("colon", "lung"):
        write(tmp_path / FILE, name, {"default": 0.25, "SelectKBest f_classif": 0.001, "mrmr": 1})
    write_report(tmp_path, tmp_path / "quality.md")
    page = (tmp_path / "quality.md").read_text()
    assert "those of default (1.50), mrmr (2.00), SelectKBest f_classif (2.50)" in page
    assert "won 3, tied 0 and lost 1 sets, with a mean difference of -5.00 points" in page
    assert "The default takes 0.25 s in the median" in page
    assert (tmp_path / "quality_ranks.png").exists()
    assert (tmp_path / "quality_times.svg").exists()
    with (tmp_path / "quality_default.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["against"] for row in rows] == ["SelectKBest f_classif", "mrmr"]


def test_a_report_of_nothing_says_so(tmp_path):
    write_report(tmp_path, tmp_path / "quality.md")
    assert "Not run yet." in (tmp_path / "quality.md").read_text()


def test_times_of_a_method_are_put_in_the_place_of_earlier_ones(tmp_path):
    path = tmp_path / FILE
    write(path, "colon", {"mrmr": 2.0, "jmi": 1.0})
    write(path, "colon", {"mrmr": 1.5})
    assert read(path) == {"colon": {"jmi": 1.0, "mrmr": 1.5}}
