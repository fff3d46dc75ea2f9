"""bestk select --dry-run: how a file would be read, and nothing more."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bestk.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 12)), columns=[f"x{j}" for j in range(12)])
    frame["y"] = np.arange(400) % 4
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    frame.to_feather(tmp_path / "t.feather")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dry_run(*args):
    return CliRunner().invoke(main, ["select", *args, "--dry-run"])


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.feather"])
def test_rows_and_columns_are_those_of_the_file(name, folder):
    done = dry_run(name, "-t", "y", "--exclude", "x0", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["rows"], told["columns"], told["rows_used"]) == (400, 11, 400)
    assert told["memory"]["needed"] >= 8 * 400 * 11
    assert told["memory"]["available"] > told["memory"]["needed"]


def test_a_few_lines_say_how_large_the_file_is(folder):
    done = dry_run("t.csv", "-t", "y", "-k", "3", "-m", "jmi")
    assert done.stdout.splitlines()[:2] == [
        "Would select 3 of 12 features for 'y' (method: jmi)",
        "size    400 rows x 12 columns",
    ]
    assert done.stdout.splitlines()[2].startswith("memory  about ")


def test_a_large_file_is_sampled(folder, monkeypatch):
    monkeypatch.setattr("bestk.tables.rows.most_rows", lambda n_features: 150)
    monkeypatch.setattr("bestk.tables.rows.MIN_HELD_ROWS", 10)
    told = json.loads(dry_run("t.parquet", "-t", "y", "--json").stdout)
    assert (told["rows"], told["rows_used"]) == (400, 150)
    assert "used    a random sample of 150 rows" in dry_run("t.parquet", "-t", "y").stdout


def test_a_matrix_of_pairs_needs_memory_that_a_greedy_method_does_not(folder):
    needed = {
        method: json.loads(dry_run("t.csv", "-t", "y", "-k", "2", "-m", method, "--json").stdout)
        for method in ("tpower", "jmi")
    }
    assert needed["tpower"]["memory"]["needed"] > needed["jmi"]["memory"]["needed"]


def test_nothing_is_written(folder):
    before = sorted(path.name for path in folder.iterdir())
    assert dry_run("t.csv", "-t", "y", "-o", "out.csv").exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == before


def test_an_unknown_method_or_column_is_refused(folder):
    assert "unknown method" in dry_run("t.csv", "-t", "y", "-m", "mrrm").stderr
    assert "has no column 'Y'" in dry_run("t.csv", "-t", "Y").stderr
