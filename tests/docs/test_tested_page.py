"""The page of trials says what the records say, and hides no failure."""

import csv
from pathlib import Path

import pytest
import tested_page
from evidence import markup, trials

FIELDS = ("trial", "what", "tried", "failures", "seconds", "command", "date", "commit", "cpu",
          "cores", "python", "numpy")  # fmt: skip
FAULTS = ("module", "line", "operator", "before", "after", "outcome", "tests", "seconds")


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(trials, "RESULTS", tmp_path)

    def write(runs, outcomes=()):
        lines = [(*run, f"c{i}", "a chip", 2, "3.11", "2.0", "0.61") for i, run in enumerate(runs)]
        _write(tmp_path / "runs.csv", FIELDS, lines)
        faults = [(module, 1, "o", "a", "b", outcome, "nearest", 1) for module, outcome in outcomes]
        _write(tmp_path / "mutation.csv", FAULTS, faults)
        tested_page.write(tmp_path / "generated")
        return _rows((tmp_path / "generated" / "tested.rst").read_text())

    return write


def _write(path, head, lines):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *lines])


def _rows(text):
    """The cells of all tables, by the first."""
    rows, now = {}, []
    for line in text.splitlines():
        if line.startswith("   * - "):
            now = rows[line[7:]] = []
        elif line.startswith("     -"):
            now.append(line[6:].strip().replace(markup.SPACE, " ").replace(markup.HYPHEN, "-"))
    return rows


def run(trial, what, tried, failed, day, seconds=1800):
    return trial, what, tried, failed, seconds, f"python -m hardening.{trial}", f"2026-01-0{day}"


def test_runs_are_added_up_and_the_last_is_told(page):
    rows = page([
        run("inputs", "calls, 3 refused", 1000, 2, 1), run("inputs", "calls, 4 refused", 500, 0, 3),
        run("inputs", "calls", 1, 1, 2),
        run("faults", "disk", 9, 0, 1), run("faults", "memory", 5, 4, 1),
    ])  # fmt: skip
    assert rows["inputs"] == ["1,501", "3", "0", "1.50", "2026-01-03, c1"]
    assert rows["memory"] == ["5", "4", "4", "0.50", "2026-01-01, c4"]
    assert rows["disk"][:3] == ["9", "0", "0"]


def test_faults_in_the_code_are_counted_by_area(page):
    outcomes = [("bestk/bqp/a.py", "killed"), ("bestk/bqp/b.py", "survived"),
                ("bestk/criteria.py", "equivalent"), ("bestk/tables/c.py", "timeout")]  # fmt: skip
    rows = page([run("golden", "sets", 1, 0, 1)], outcomes)
    assert rows["bqp"] == ["2", "1", "0", "0", "1"]
    assert rows["others"] == ["1", "0", "0", "1", "0"]
    assert rows["all"] == ["4", "1", "1", "1", "1"]


def test_a_missing_record_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(trials, "RESULTS", tmp_path)
    tested_page.write(tmp_path / "generated")
    assert (
        "No record ``hardening/results/runs.csv``"
        in (tmp_path / "generated/tested.rst").read_text()
    )


def test_every_kind_of_trial_is_on_the_page():
    root = Path(__file__).parents[2]
    with (root / "hardening" / "results" / "runs.csv").open(newline="") as file:
        kinds = {row["trial"] for row in csv.DictReader(file)}
    assert kinds <= {kind for kinds, _ in tested_page.PARTS.values() for kind in kinds}
