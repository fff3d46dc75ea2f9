"""Constants of a method, halved and doubled."""

import csv
from dataclasses import dataclass

import pytest

from benchmarks.quality import ablation, tune
from benchmarks.quality.ablation import (
    measure,
    share_of_other_selections,
    variants,
    write_lines,
)
from benchmarks.quality.reads import list_reads, note_read
from benchmarks.quality.tune import Trial


@dataclass(frozen=True)
class Toy:
    """Takes columns by name, from a first one on: of 50 columns of "credit" 35 are noise."""

    first: int = 30
    useless: float = 1.0
    name: str = "toy"


def select_toy(method):
    def select(X, y, k, kind):
        order = sorted(range(X.shape[1]), key=lambda j: X.columns[j])
        return (order[method.first :] + order[: method.first])[:k]

    return select


@pytest.fixture
def cache_of_test(tmp_path, monkeypatch):
    monkeypatch.setenv("BESTK_CACHE", str(tmp_path))
    tune.cache_folder.cache_clear()
    yield
    tune.cache_folder.cache_clear()


@pytest.mark.usefixtures("cache_of_test")
def test_a_constant_without_effect_changes_nothing_and_another_changes_the_noise():
    trial = Trial(select_toy(Toy()), wanted=("credit-0",))
    lines = {(line["constant"], line["change"]): line for line in measure(Toy(), select_toy, trial)}
    assert list(lines) == [
        ("first", "halved"), ("first", "doubled"), ("useless", "halved"), ("useless", "doubled"),
    ]  # fmt: skip
    useless = lines["useless", "doubled"]
    assert useless["selections that differ"] == 0
    assert useless["loss, made-up"] == useless["noise, made-up"] == 0
    first = lines["first", "doubled"]
    assert first["selections that differ"] == 1
    assert first["noise, made-up"] == 0.5  # from 5 of 10 to all


def test_constants_of_a_field_are_varied_inside_it():
    @dataclass(frozen=True)
    class Outer:
        constants: Toy = Toy()

    found = {(v.constant, v.factor): v.method for v in variants(Outer())}
    assert found["first", "doubled"] == Outer(Toy(first=60))
    assert found["useless", "halved"] == Outer(Toy(useless=0.5))
    assert [v.constant for v in variants(Outer(), ["useless"])] == ["useless", "useless"]


def test_the_order_of_the_selected_columns_does_not_count():
    plain = [{"ks": {"5": {"selected": [0, 1]}, "10": {"selected": [0, 1, 2]}}}]
    changed = [{"ks": {"5": {"selected": [1, 0]}, "10": {"selected": [0, 1, 3]}}}]
    assert share_of_other_selections(plain, changed) == 0.5


def test_a_later_run_replaces_the_lines_of_the_same_constant(tmp_path):
    path = tmp_path / "ablation.csv"
    line = {"constant": "ridge", "change": "halved", "half": "tune", "loss": 0.1}
    write_lines(path, [line, line | {"constant": "cost"}])
    write_lines(path, [line | {"loss": 0.2}])
    with path.open() as file:
        found = [(row["constant"], row["loss"]) for row in csv.DictReader(file)]
    assert found == [("ridge", "0.2"), ("cost", "0.1")]


def test_of_the_half_for_judging_only_new_tables_are_read_unless_others_are_named():
    assert ablation._tables_of("judge", []) == ("R tables", "R copies", "new made-up")
    assert ablation._tables_of("judge", ["credit"]) == ("credit",)
    assert ablation._tables_of("tune", []) == ()


def test_reads_of_the_half_for_judging_are_counted(tmp_path):
    path = tmp_path / "reads.csv"
    assert list_reads(path) == []
    note_read("default on all sets", path)
    note_read("ablation", path)
    assert [read["what"] for read in list_reads(path)] == ["default on all sets", "ablation"]
