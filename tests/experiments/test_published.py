import re
from pathlib import Path

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


def test_a_difference_is_compared_with_a_share_of_its_deviation():
    lung = published.comparison("table3").rows["lung"]
    assert lung["maxrel"].exceeds(1.0)
    assert lung["mrmr"].exceeds(0.5)
    assert not lung["mrmr"].exceeds(1.0)
    assert str(lung["maxrel"]) == "-9.43 ± 4.1 w"
    assert published.comparison("table3").rows["colon"]["sdp"] is None


# The text of the paper beside the checkout, if it is there


@pytest.fixture(scope="module")
def paper():
    """The paper's LaTeX, tables with one space between words."""
    found = sorted(Path(__file__).parents[3].glob("shared/seeds/*.txt"))
    texts = [path.read_text() for path in found if r"\label{tpower:tab}" in path.read_text()]
    if not texts:
        pytest.skip("no text of the paper in ../shared/seeds")
    return re.sub(r"\s+", " ", texts[0])


def table_lines(paper, label):
    """The rows of the table that ends with a label: cells of text, by the first cell."""
    body = paper[: paper.index(rf"\label{{{label}}}")].rsplit(r"\rowcolor{Gray}", 1)[1]
    rows = (row.replace(r"\hline", "").split("&") for row in body.split(r"\\"))
    return {_plain(row[0]).lower(): [_plain(cell) for cell in row[1:]] for row in rows}


def _plain(cell):
    cell = re.sub(r"\\multicolumn\{\d\}\{[^}]*\}", "", cell)
    cell = re.sub(r"\\(textbf|textsuperscript|cite)|[\\{}$^#]", "", cell)
    return " ".join(cell.replace("pm", "±").split())


# Rows that the paper names in another way than we do, or spells in two ways
SPELLED = {"arrhythmia": "arrythmia", "multifeat": "multifeatures"}


@pytest.mark.parametrize(("table", "label"), [("table3", "tpower:tab"), ("table4", "lowrank:tab")])
def test_every_cell_of_tables_3_and_4_is_in_the_text_of_the_paper(paper, table, label):
    printed, ours = table_lines(paper, label), published.read()[table]
    assert [name.lower() for name in printed["data"]] == ours["columns"]
    for name, cells in ours["rows"].items():
        assert printed[SPELLED.get(name, name)] == cells
    assert printed["w/t/l:"] == ours["totals"]


def test_every_number_of_tables_1_and_2_is_in_the_text_of_the_paper(paper):
    printed = table_lines(paper, "datasets:tab")
    for name, row in published.read()["table2"].items():
        cells = printed[{"multifeat": "multi-feat"}.get(name, name)]
        assert [float(cell) for cell in cells[:4]] == row
    costs = paper[: paper.index(r"\label{time:tab}")].rsplit("$O(nk)$", 1)[1]
    for name, cost in published.complexities().items():
        power = cost.partition("^")[2][:-1]
        in_latex = cost if len(power) < 2 else cost.replace(power, f"{{{power}}}")
        assert f"${in_latex}$" in f"$O(nk)${costs}", name
