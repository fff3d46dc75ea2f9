"""Runs that go on where they ended, and a report that adds up."""

import gzip
import json

import numpy as np
import pytest

from benchmarks.quality import judge, runs
from benchmarks.quality.reads import note_read
from benchmarks.quality.report import write_report
from benchmarks.quality.runs import (
    Plan,
    Work,
    cells,
    key_of,
    merge_rows,
    packed_copy,
    read_packed,
    read_rows,
    run_fold,
)
from benchmarks.quality.scores import Scores, stability

LOSSES = {"default": 0.10, "f_classif": 0.20, "L1": 0.15}


def row(name, way, loss, fold=0, **more):
    scores = {model: {"error": loss, "log_loss": loss, "auc": 1 - loss}
              for model in ("linear", "neighbours")}  # fmt: skip
    about = {"set": name, "source": "wide", "half": "judge", "family": "", "kind": "classes",
             "rows": 80, "few_rows": True, "columns": 9, "repeat": 0, "fold": fold, "way": way,
             "seconds": 10 * loss}  # fmt: skip
    return about | {"ks": {"5": {"selected": [0, 1, 2, 3, 4]} | scores}} | more


def rows(sets=("colon", "khan", "dna")):
    return [row(name, way, loss, fold) for name in sets for way, loss in LOSSES.items()
            for fold in (0, 1)]  # fmt: skip


def test_ranks_and_differences_are_those_worked_by_hand():
    scores = Scores.of(rows())
    assert scores.ranks().to_dict() == {"default": 1.0, "L1": 2.0, "f_classif": 3.0}
    first = scores.against_each()[0]
    assert (first.other, first.wins, first.ties, first.losses) == ("f_classif", 3, 0, 0)
    assert first.difference == pytest.approx(-0.1)


def test_a_fold_that_one_way_did_not_finish_counts_for_none():
    found = [*rows(), row("colon", "default", 0.9, fold=2), row("colon", "L1", 0.0, fold=2)]
    assert Scores.of(found).losses().loc["colon", "default"] == pytest.approx(0.10)
    against = {each.other: each for each in Scores.of(found).against_each()}
    assert against["L1"].difference == pytest.approx((1.1 / 3 - 0.1 - 0.05 - 0.05) / 3)


def test_ways_that_failed_on_a_set_are_not_ranked_with_the_others():
    found = [each for each in rows() if (each["set"], each["way"]) != ("dna", "L1")]
    found.append({**row("dna", "L1", 0.0), "failed": "TimeoutError: more than 300 s"})
    assert Scores.of(found).ways == ["default", "f_classif"]


def test_lag_behind_the_best_way_is_by_family_k_and_model():
    found = [row(f"credit-{seed}", way, loss, family="credit", half="judge")
             for seed in (100, 101) for way, loss in LOSSES.items()]  # fmt: skip
    lag = Scores.of(found).behind_best()
    assert lag["behind"].tolist() == [0.0, 0.0]
    weak = [row(f"credit-{seed}", "default", 0.17, family="credit") for seed in (100, 101)]
    worse = Scores.of([*(each for each in found if each["way"] != "default"), *weak])
    assert worse.behind_best()["behind"].tolist() == pytest.approx([0.02, 0.02])
    assert set(worse.behind_best()["way"]) == {"L1"}


def test_stability_is_one_for_equal_selections():
    assert stability(rows()).loc["colon", "default"] == 1.0


def add_noise(found, of_l1=0.4, of_others=0.1):
    """Rows with a share of noise for five and ten columns."""
    for each in found:
        each["ks"]["5"] |= {"noise": of_l1 if each["way"] == "L1" else of_others, "recall": 0.5}
        each["ks"]["10"] = each["ks"]["5"]
    return found


def rows_of(name, **more):
    return [row(name, way, loss, **more) for way, loss in LOSSES.items()]


def page_of(tmp_path, found):
    source = tmp_path / "rows.jsonl"
    source.write_text("\n".join(map(json.dumps, found)) + "\n")
    write_report(source, tmp_path / "quality.md", reads=tmp_path / "reads.csv")
    return (tmp_path / "quality.md").read_text()


def test_the_page_has_the_ranks_and_says_what_is_better(tmp_path):
    made = [each for seed in (100, 101)
            for each in rows_of(f"credit-{seed}", family="credit", source="made-up")]  # fmt: skip
    copies = rows_of("mpg+copies", source="copies")
    page = page_of(tmp_path, rows() + add_noise(made, 0.2, 0.2) + add_noise(copies))
    assert "Over 2 kinds of real tables that count alike" in page
    assert "the default has mean rank 1.00 of 3 ways (place 1)" in page
    assert "20.0% are noise on average" in page
    assert "| L1 | 2.00 | 2.00 | 0.40 | 0.40 |" in page  # of the table with copies
    assert "within 0.005 of the best of all ways in 100% of 4 cells" in page
    assert (tmp_path / "quality_ranks.png").exists()
    assert "default,1.0" in (tmp_path / "quality_ranks.csv").read_text()


def test_each_kind_of_table_counts_alike_in_the_headline():
    """Three wide tables, where L1 is best, count as much as one of words, where it is worst."""
    wide = [row(name, way, {"default": 0.2, "L1": 0.1}[way])
            for name in ("colon", "khan", "gravier") for way in ("default", "L1")]  # fmt: skip
    words = [row("dna", way, {"default": 0.1, "L1": 0.2}[way]) for way in ("default", "L1")]
    scores = Scores.of(wide + words)
    assert scores.ranks().to_dict() == {"L1": 1.25, "default": 1.75}
    by_line = scores.ranks_by_line()
    assert by_line.loc["default"].to_dict() == {"wide, few rows": 2.0, "words and pixels": 1.0}
    assert by_line.mean(axis=1).tolist() == [1.5, 1.5]


def test_new_tables_come_first_and_the_page_says_how_often_they_were_read(tmp_path):
    new = rows_of("AER/GSS7402", source="R tables") + rows_of("AER/CPS1988", source="R tables")
    copies = add_noise(rows_of("AER/GSS7402+copies", source="R copies"))
    made = add_noise(rows_of("pixels-300", source="new made-up", family="pixels"))
    note_read("all tables", tmp_path / "reads.csv")
    page = page_of(tmp_path, rows() + new + copies + made)
    assert "On 2 new real tables of the judge half, the default has mean rank 1.00" in page
    assert "on tables for judging once since new ones were added" in page
    assert ": all tables" in page
    lines = (tmp_path / "quality_new.csv").read_text().splitlines()
    assert lines[0].startswith('method,R tables (2),"AUC, log loss",with copies (1)')
    assert "copies, k = 5" in lines[0].replace('"', "")
    assert len(lines) == 1 + len(LOSSES)


def test_the_page_shows_what_each_constant_is_worth(tmp_path):
    source = tmp_path / "rows.jsonl"
    source.write_text("\n".join(map(json.dumps, rows())) + "\n")
    ablation = tmp_path / "ablation.csv"
    ablation.write_text(
        'constant,value,change,half,"loss, real tables",date,commit\n'
        "ridge,0.03,halved,tune,0.0012,2026-01-01,abc\n"
    )
    write_report(source, tmp_path / "quality.md", ablation=ablation)
    page = (tmp_path / "quality.md").read_text()
    assert "| ridge | 0.0300 | halved | tune | 0.0012 |" in page


def test_without_rows_the_page_says_so(tmp_path):
    write_report(tmp_path / "none.jsonl", tmp_path / "quality.md")
    assert "has not been run yet" in (tmp_path / "quality.md").read_text()


def test_one_fold_of_every_table_comes_before_the_next_fold(tmp_path):
    plan = Plan(tmp_path / "rows", ("colon", "credit-100", "khan"), ("default",), folds=2)
    assert list(cells(plan)) == [("colon", 0, 0), ("credit-100", 0, 0), ("khan", 0, 0),
                                 ("colon", 0, 1), ("khan", 0, 1)]  # fmt: skip


def test_a_cell_is_one_line_and_a_line_cut_short_is_left_out(tmp_path):
    out = tmp_path / "rows.jsonl"
    work = Work("weak_regression-0", 0, 0, ("f_classif", "ReliefF"), out, None)
    assert run_fold(work).startswith("weak_regression-0, repeat 0, fold 0")
    with out.open("a") as file:
        file.write('{"set": "credit-')
    found = read_rows(out)
    assert [key_of(each) for each in found] == [("weak_regression-0", 0, 0, "f_classif")]
    assert np.isfinite(found[0]["ks"]["10"]["linear"]["r2"])


def test_nothing_starts_after_the_time_is_over(tmp_path):
    work = Work("credit-0", 0, 0, ("f_classif",), tmp_path / "rows", stop=0.0)
    assert run_fold(work) == "credit-0 left: no time"
    assert not (tmp_path / "rows").exists()


def test_a_way_that_takes_too_long_is_recorded_as_failed(tmp_path, monkeypatch):
    def never_ends(way, rows, ks):
        while True:
            pass

    monkeypatch.setattr(runs, "SLOWEST", 0.1)
    monkeypatch.setattr(judge, "select", never_ends)
    run_fold(Work("sensors-0", 0, 0, ("f_classif",), tmp_path / "rows", None))
    assert read_rows(tmp_path / "rows")[0]["failed"] == "TimeoutError: more than 0.1 s"


def test_rows_come_back_from_the_packed_copy(tmp_path):
    packed_copy(tmp_path / "rows.jsonl").write_bytes(gzip.compress(b'{"way": "L1"}\n'))
    assert read_rows(tmp_path / "rows.jsonl") == [{"way": "L1"}]
    assert (tmp_path / "rows.jsonl").read_text() == '{"way": "L1"}\n'


def test_cells_of_another_file_are_added_once(tmp_path):
    path = tmp_path / "rows.jsonl"
    other = tmp_path / "other.jsonl"
    first = row("colon", "L1", 0.1)
    path.write_text(json.dumps(first) + "\n")
    other.write_text("\n".join(map(json.dumps, [row("colon", "L1", 0.3), row("dna", "L1", 0.2)])))
    assert merge_rows(path, [other]) == 1
    assert merge_rows(path, [other]) == 0
    assert [each["set"] for each in read_packed(packed_copy(path))] == ["colon", "dna"]
    assert read_rows(path)[0] == first
