"""A report from a store that is made up, small, and incomplete."""

import re
import shutil

import numpy as np
import pytest

from benchmarks.pictures import pyplot
from experiments.__main__ import PAGE
from experiments.classification.curves import compare, read_curves
from experiments.classification.methods import NAMES, ks_for
from experiments.classification.plan import PART
from experiments.classification.protocols import EVERY, with_values
from experiments.classification.steps import measure, pack, unpack
from experiments.datasets import Dataset
from experiments.discretisation import DISCRETIZERS, METHODS, corrections
from experiments.options import RESULTS
from experiments.report import page, write_report
from experiments.store import Store
from experiments.verdicts import agreement, beside, between_seeds, shown

KS = [10, 11, 12]
ROWS = 50


def fill(store, name, protocol, wrong, folds=4):
    """Every method makes ``wrong[method]`` errors for each k, one more in odd folds."""
    for fold in range(folds):
        own = {m: [wrong.get(m, 10) + fold % 2] * len(KS) for m in NAMES}
        result = {"wrong": own, "ks": dict.fromkeys(NAMES, KS), "n_test": ROWS, "fits": 1}
        if protocol == "nested":
            result["supports"] = {m: pack([np.arange(10)]) for m in NAMES}
        store.add((PART, name, protocol, "folds", str(fold)), result)


def choose(store, name):
    for method in NAMES:
        supports = pack([np.arange(k) for k in KS])
        result = {"ks": KS, "supports": supports, "cmi": [1.0, 2.0, 3.0], "seconds": 1.0}
        store.add((PART, name, "paper", "selection", method), result)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "classification.jsonl")


def test_differences_are_in_percent_and_negative_where_ours_is_better(store):
    fill(store, "lung", "paper", {"tpower": 5})
    found = compare(read_curves(store, "lung", "paper"), "tpower", "maxrel")
    assert found.mean_difference == pytest.approx(-5 / ROWS)
    assert found.deviation == pytest.approx(0)
    assert (found.wins, found.verdict) == (len(KS), "win")


def test_agreement_counts_clear_cells_of_real_sets_only(store):
    """Lung: TPower clearly beats MaxRel in print, LowRank does too; no other cell is clear."""
    fill(store, "lung", "paper", {"tpower": 5})
    fill(store, "gisette_like", "paper", {"tpower": 5})
    curves = {name: read_curves(store, name, "paper") for name in ("lung", "gisette_like")}
    found = agreement(curves)
    assert (found.clear, found.clear_same) == (2, 1)
    assert (found.half, found.half_same) == (6, 4)
    assert found.cells == 13
    assert agreement({"gisette_like": curves["gisette_like"]}).cells == 0


def test_states_are_counted_as_they_are():
    states, y = np.array([[-2, 0], [0, 0], [2, 2], [2, 2]]), np.array([0, 0, 1, 1])
    found = Dataset("made up", states, y, ("a", "b"), nominal=False, source="here")
    np.testing.assert_allclose(measure(found, np.arange(4), cut=False).mi(), np.log(2) * np.ones(2))


def test_letters_become_numbers_in_an_order():
    letters, y = np.array([[0, 1, 2, 3]]), np.array([0])
    found = Dataset("promoter", letters, y, ("a", "b", "c", "d"), nominal=True, source="here")
    coded = with_values(found, "catg")
    assert coded.X.tolist() == [[1, 0, 3, 2]]  # a, c, g and t
    assert not coded.nominal


def test_the_same_folds_agree_with_themselves_and_opposite_ones_do_not(store):
    fill(store, "lung", "authors", {"tpower": 5})
    fill(store, "lung", "paper", {"tpower": 15})
    first, second = ({"lung": read_curves(store, "lung", p)} for p in ("authors", "paper"))
    assert between_seeds([first, first, first]) == pytest.approx(1)
    assert between_seeds([first, second]) == pytest.approx(-1)


def test_a_selection_survives_packing():
    supports = [np.array([5, 2, 7]), np.array([1, 9])]
    found = unpack(pack(supports), [3, 2])
    assert [s.tolist() for s in found] == [[2, 5, 7], [1, 9]]


def test_sdp_has_few_k_where_it_is_slow():
    assert ks_for("sdp", 325, nested=False) == list(range(10, 101))
    assert ks_for("sdp", 2000, nested=False) == list(range(10, 101, 10))
    assert ks_for("sdp", 325, nested=True) == list(range(10, 101, 10))
    assert ks_for("sdp", 7070, nested=True) == [50]
    assert ks_for("tpower", 21, nested=True) == list(range(10, 22))


def test_a_form_that_was_not_run_is_replaced_by_ours(store):
    wrong = {"wrong": {"tpower-warm": [5], "maxrel": [10]}, "n_test": ROWS}
    for fold in ("0", "1"):
        ks = {"tpower-warm": [10], "maxrel": [10]}
        store.add((PART, "lung", "nested", "folds", fold), wrong | {"ks": ks})
    (cell, *_) = beside("table3", {"lung": read_curves(store, "lung", "nested")})
    assert shown(cell.found) == "-10.00 w"  # one k has no deviation


def test_parts_of_a_fold_are_joined_and_a_curve_has_the_k_of_all_folds(store):
    for kind, ks, folds in (("even", [10, 12], "01"), ("odd", [11], "0"), ("few", [10, 12], "01")):
        for fold in folds:
            result = {"wrong": {"jmi": ks}, "ks": {"jmi": ks}, "n_test": 100}
            store.add((PART, "lung", "authors", kind, fold), result)
    curve = read_curves(store, "lung", "authors")["jmi"]
    assert curve.ks == (10, 12)
    assert curve.errors.tolist() == [[0.1, 0.1], [0.12, 0.12]]


def test_folds_of_other_seeds_are_kept_apart(store):
    for fold in (0, 10, 20):
        result = {"wrong": {"jmi": [fold, 1, 1]}, "ks": {"jmi": [10, 11, 20]}, "n_test": ROWS}
        kind = "again" if fold else "folds"
        store.add((PART, "promoter", "authors", kind, str(fold)), result)
    assert read_curves(store, "promoter", "authors")["jmi"].ks == (10, 11, 20)
    for seed in range(3):
        curve = read_curves(store, "promoter", "authors", seed)["jmi"]
        assert curve.ks == (10, 20)
        assert curve.errors[0].tolist() == [10 * seed / ROWS]


def test_a_report_is_written_from_any_part_of_the_rows(tmp_path, store):
    write_report(tmp_path, tmp_path / "empty.md")
    assert "Not run yet" in (tmp_path / "empty.md").read_text()
    for name in ("lung", "waveform", "gisette_like"):
        choose(store, name)
        for protocol in EVERY:
            fill(store, name, protocol, {"tpower": 5, "jmi": 7})
        for version in ("authors", "standardised"):
            store.add((PART, name, "all", version, "0"), {"wrong": 3, "n_test": ROWS})
    for letters in ("one-hot", "acgt"):
        store.add((PART, "promoter", "coding", letters), [0.25, 0.27])
    discretised = Store(tmp_path / "discretisation.jsonl")
    for name in ("lung", "waveform"):
        for place, each in enumerate(DISCRETIZERS):
            wrong = {c: {m: [place + 3] for m in METHODS} for c in corrections(each)}
            result = {"wrong": wrong, "ks": [10], "n_test": ROWS}
            discretised.add(("discretisation", name, each, "0"), result)
    write_report(tmp_path, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "-10.00 ± 0.0 w [-9.43 ± 4.1 w]" in text  # lung, TPower against MaxRel
    assert "| gisette_like | 4997 | 6000 | 2 | stand-in | 2.5 | 6.0 | - | 6.0 |" in text
    assert "| W/T/L by verdict | 2/0/0 |" in text  # two real sets
    assert "| W/T/L printed, the same sets | 2/0/0 | 1/0/1 |" in text
    assert "TPower against MaxRel on lung is printed as -9.4 points" in text
    assert "| TPower than all but LowRank | 37 of 69 (40 w, 21 l) | 12 of 12 (12 w, 0 l) |" in text
    assert "nan" not in text
    assert (tmp_path / "figure4_nested.png").stat().st_size > 100


def test_the_page_of_the_documentation_is_what_the_results_give(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "save", lambda figure, path: pyplot().close(figure))
    for name in ("classification.jsonl.gz", "discretisation.jsonl.gz", "simulation.csv",
                 "lowrank_forms.csv"):  # fmt: skip
        if (RESULTS / name).exists():
            shutil.copy(RESULTS / name, tmp_path)
    write_report(tmp_path, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert re.sub(r"\]\((\w+\.png)", r"](../experiments/results/\1", text) == PAGE.read_text()
