"""The front page says what the library and the records say."""

import csv
from pathlib import Path

import pytest

from bestk import METHODS

ROOT = Path(__file__).parents[1]
RANKED = {
    "**bestk's default**": "default",
    "LightGBM, gain": "LightGBM gain",
    "extra trees": "extra trees",
    "random forest": "random forest",
    "Boruta": "Boruta",
    "fast-select mRMR": "fast-select mRMR",
    "mrmr_selection": "mrmr_selection",
    "RFE, linear": "RFE",
    "TPower, the paper's": "tpower",
    "SelectKBest, `f_classif`": "f_classif",
    "SelectKBest, `mutual_info_classif`": "mutual_info",
}


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
        rows = {row["method"]: row for row in csv.DictReader(file)}
    for label, method in RANKED.items():
        line = next(line for line in readme.splitlines() if line.startswith(f"| {label} |"))
        told = float(line.split("|")[2].strip(" *"))
        overall = next(name for name in rows[method] if name.startswith("all"))
        assert told == pytest.approx(float(rows[method][overall]), abs=0.06), line
