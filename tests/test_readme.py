"""The front page says what the library and the records say."""

import csv
from pathlib import Path

import pytest

from bestk import METHODS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_in_the_table(readme, method):
    assert f'`"{method}"`' in readme


def test_the_ranks_are_those_of_the_record(readme):
    path = ROOT / "benchmarks" / "results" / "quality_ranks.csv"
    if not path.exists():
        pytest.skip(f"{path} is not here: it is not part of the source distribution")
    with path.open(newline="", encoding="utf-8") as file:
        ranks = {row["method"]: float(list(row.values())[1]) for row in csv.DictReader(file)}
    section = readme.split("## What predicts best")[1].split("\n## ")[0]
    cells = [line.split("|") for line in section.splitlines() if line.startswith("| ")]
    shown = {cell[1].strip(" *`"): cell[2].strip(" *") for cell in cells[1:]}
    for method, rank in shown.items():
        assert float(rank) == pytest.approx(ranks[method], abs=0.06), method


@pytest.mark.parametrize("page", ["README.md", "docs/which.rst"])
def test_pages_that_quote_the_comparison_say_that_its_sets_were_looked_at_before(page):
    record = " ".join((ROOT / "docs" / "quality.md").read_text(encoding="utf-8").split())
    quoting = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    if "The judge half was read before the last changes" in record:
        assert "results on these were known before" in quoting
    assert "used to choose" not in quoting
