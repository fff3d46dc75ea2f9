import pytest

from experiments import published
from experiments.datasets import DATASETS


@pytest.mark.parametrize("table", ["table3", "table4"])
def test_wins_ties_and_losses_of_the_cells_add_up_to_the_printed_totals(table):
    found = published.comparison(table)
    assert len(found.rows) == 13
    for other, total in zip(found.others, found.totals, strict=True):
        column = [row[other] for row in found.rows.values() if row[other] is not None]
        counts = [sum(cell.decision == name for cell in column) for name in ("win", "tie", "loss")]
        assert "/".join(map(str, counts)) == total


def test_tpower_against_lowrank_is_lowrank_against_tpower():
    third, fourth = published.comparison("table3"), published.comparison("table4")
    for name in third.rows:
        a, b = third.rows[name]["lowrank"], fourth.rows[name]["tpower"]
        assert (a.difference, a.deviation) == (-b.difference, b.deviation)


def test_table_2_is_that_of_the_data_sets():
    for name, (n, m, c, error) in published.all_features().items():
        entry = DATASETS[name]
        assert (entry.n, entry.m, entry.c) == (n, m, c)
        assert 0 < error < 100


def test_a_difference_is_clear_if_it_exceeds_its_deviation():
    lung = published.comparison("table3").rows["lung"]
    assert lung["maxrel"].is_clear
    assert not lung["mrmr"].is_clear
    assert str(lung["maxrel"]) == "-9.43 ± 4.1 w"
    assert published.comparison("table3").rows["colon"]["sdp"] is None
