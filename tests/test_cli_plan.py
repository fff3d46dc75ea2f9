"""bestk plan: what it tells of a file or of a shape, and how it fails."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bestk import SelectBestK
from bestk.cli import _select as selecting
from bestk.cli import _stream as streaming
from bestk.cli import main
from bestk.files import open_source
from bestk.planning import Pace
from bestk.planning._files import count_rows, look_at

PACE = Pace(pair=1e-9, value=1e-8, bandwidth=1e10, threads=2)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Times are of no interest here."""
    monkeypatch.setattr(Pace, "measure", classmethod(lambda *args: PACE))


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    rows = 400
    numbers = {f"n{j}": rng.normal(size=rows) for j in range(6)}
    words = {f"w{j}": rng.choice(["red", "green", "blue"], rows) for j in range(3)}
    small = {"small": rng.integers(0, 100, rows), "yes": rng.random(rows) < 0.5}
    return pd.DataFrame({**numbers, **words, **small, "y": np.arange(rows) % 4})


@pytest.fixture(scope="module")
def folder(tmp_path_factory, frame):
    folder = tmp_path_factory.mktemp("tables")
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_parquet(folder / "t.parquet", index=False)
    frame.to_feather(folder / "t.feather")
    return folder


def bestk(*args):
    return CliRunner().invoke(main, ["plan", *(str(arg) for arg in args)])


def told(*args):
    done = bestk(*args, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def fails(*args):
    """The one line that a failure prints."""
    done = bestk(*args)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("bestk: error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.feather"])
def test_a_file_of_any_kind_has_the_shape_of_its_table(name, folder):
    plan = told(folder / name, "-t", "y", "-k", 3)
    assert (plan["rows"], plan["columns"], plan["classes"], plan["k"]) == (400, 11, 4, 3)
    assert plan["rows_are_estimated"] is False
    shape = plan["shape"]
    assert (shape["numeric"], shape["levels"]) == (7, 3)
    assert 4 < shape["item_bytes"] < 6  # six columns of 8 bytes, five of one


@pytest.mark.parametrize("name", ["long.csv", "long.csv.gz"])
def test_the_rows_of_a_long_text_are_estimated_from_its_first_lines(name, tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.planning._files.FIRST", 2**18)
    rows = 30_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=rows), "y": rng.integers(0, 2, rows)})
    frame.to_csv(tmp_path / name, index=False)
    found = count_rows(open_source(tmp_path / name), "y")
    assert found.is_estimate
    assert found.count == pytest.approx(rows, rel=0.1)
    done = bestk(tmp_path / name, "-t", "y", "-k", 1)
    assert "from about " in done.stdout


def test_a_wide_binary_file_is_known_from_some_of_its_columns(tmp_path, monkeypatch):
    monkeypatch.setattr("bestk.planning._files.SOME", 10)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 95)))
    frame.columns = [f"x{j}" for j in range(95)]
    frame.assign(y=np.arange(50) % 2).to_parquet(tmp_path / "wide.parquet")
    source = open_source(tmp_path / "wide.parquet")
    read = []
    real = type(source).batches
    monkeypatch.setattr(
        type(source),
        "batches",
        lambda self, columns: (read.append(columns), real(self, columns))[1],
    )
    shape = look_at(source, list(frame.columns), "y", in_blocks=False)
    assert (shape.columns, shape.numeric) == (95, 95)
    assert len(read[0]) == 11


@pytest.mark.parametrize("room", [0.5, 2.0])
def test_a_file_is_streamed_if_and_only_if_the_plan_says_so(room, folder, monkeypatch):
    path = folder / "t.csv"
    size = path.stat().st_size
    monkeypatch.setattr("bestk.streaming._memory.machine_memory", lambda: 2 * room * size)
    seen = []
    real = streaming.select_rows
    monkeypatch.setattr(streaming, "select_rows", lambda *args: (seen.append(args), real(*args))[1])
    plan = told(path, "-t", "y", "-k", 2, "-m", "maxrel")
    done = CliRunner().invoke(main, ["select", str(path), "-t", "y", "-k", "2", "-m", "maxrel"])
    assert done.exit_code == 0, done.output
    assert bool(seen) == (plan["path"]["rows"] != "table") == (room < 1)


def test_a_shape_needs_no_file():
    plan = told("--shape", "1000x1000000", "--levels", 2, "--classes", 2, "-k", 100, "-m", "jmi")
    assert plan["path"] == {
        "rows": "table", "pairs": "columns", "name": "columns of pairs on demand",
    }  # fmt: skip
    assert plan["pairs"] == 99 * 10**6
    assert plan["memory"]["table"] == 10**9
    assert "file" not in plan


def test_without_levels_a_shape_is_of_numbers():
    plan = told("--shape", "500x200", "-k", 5)
    assert plan["shape"]["numeric"] == 200
    assert plan["information"] == "blend"
    assert told("--shape", "500x200", "-k", 5, "-m", "tpower")["information"] == "discrete"


def test_people_read_the_path_the_reason_the_memory_and_the_times(folder):
    done = bestk(folder / "t.csv", "-t", "y", "-k", 3, "-m", "tpower", "--workers", 4)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("3 of 11 features, by tpower from 400 rows\n")
    words = ["the whole matrix of pairs", "within the 4.0 GiB", "55 to count", "time here", "H200"]
    for word in words:
        assert word in done.stdout
    assert "4 workers" in done.stdout


def test_memory_that_the_machine_does_not_have_is_said_aloud():
    done = bestk("--shape", "100x10000000", "--levels", 2, "-k", 3, "-m", "exact")
    assert "MORE THAN the" in done.stdout


def test_numbers_that_are_levels_already_are_counted_as_such(tmp_path):
    codes = np.random.default_rng(0).integers(0, 7, (200, 5))
    frame = pd.DataFrame(codes, columns=list("abcde")).assign(y=np.arange(200) % 2)
    frame.to_csv(tmp_path / "codes.csv", index=False)
    asked = tmp_path / "codes.csv", "-t", "y", "-k", 2, "-m", "tpower"
    assert told(*asked, "--discretizer", "none")["shape"]["levels"] == 7
    assert told(*asked)["shape"]["levels"] == 2


def test_excluded_columns_are_not_planned_for(folder):
    assert told(folder / "t.csv", "-t", "y", "--exclude", "n0", "-k", 2)["columns"] == 10


def test_a_share_of_the_features_is_planned_as_their_number(folder):
    assert told(folder / "t.csv", "-t", "y", "-k", "0.5")["k"] == 6


def test_as_many_as_help_are_planned_for_the_most_that_are_tried(folder):
    plan = told(folder / "t.csv", "-t", "y", "-k", "auto")
    assert (plan["k"], plan["k_is_auto"]) == (11, True)
    assert bestk(folder / "t.csv", "-t", "y", "-k", "auto").stdout.startswith("at most 11 of 11")


def test_nothing_is_selected(folder, monkeypatch):
    monkeypatch.setattr(SelectBestK, "fit", lambda *args: pytest.fail("something was selected"))
    monkeypatch.setattr(selecting, "_run", lambda *args: pytest.fail("something was selected"))
    told(folder / "t.csv", "-t", "y", "-k", 2)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "give a FILE, or the --shape of a table"),
        (["t.csv", "--shape", "10x10", "-t", "y"], "one of the two"),
        (["t.csv"], "say which column to predict: --target COL; the last columns of"),
        (["t.csv", "-t", "z"], "has no column 'z'"),
        (["t.csv", "-t", "y", "--levels", "3"], "--levels and --classes are for --shape"),
        (["t.csv", "-t", "y", "-k", "12"], "-k 12 is more than the 11 columns"),
        (["t.csv", "-t", "y", "-m", "jmii"], "did you mean 'jmi'?"),
        (["none.csv", "-t", "y"], "No such file"),
        (["--shape", "10by10"], "'10by10' is not rows x columns, such as 1000x50"),
        (["--shape", "1x10"], "rows must be a whole number from 2 up, not 1"),
        (["--shape", "10x5", "-k", "6"], "-k 6 is more than the 5 columns"),
    ],
)
def test_mistakes_are_told_in_one_line(args, said, folder):
    args = [folder / arg if str(arg).endswith(".csv") else arg for arg in args]
    assert said in fails(*args)
