"""``bestk report``: the file that it writes, and what it prints."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

from bestk.cli import main

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with an odd name, an identifier, and a column to leave out."""
    path = tmp_path_factory.mktemp("tables") / "it's a table.csv"
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :8].rename(columns={"mean radius": SCRIPT})
    X.insert(0, "id", [f"p{i}" for i in range(len(X))])
    X.assign(kind=np.where(y, 'be"nign', "malignant")).to_csv(path, index=False)
    return path


def bestk(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def report(table, out, *more):
    target = () if "-t" in more else ("-t", "kind")
    return bestk("report", table, *target, "-k", 3, "-o", out, "--exclude", "mean area", *more)


def test_report_writes_a_page_and_prints_where_it_is(table, tmp_path, read_page):
    done = report(table, tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert f"Wrote {tmp_path / 'r.html'}" in done.stdout
    assert "Selected 3 of 7 features for 'kind'" in done.stdout
    page = read_page((tmp_path / "r.html").read_text("utf-8"))
    assert len(page.data["names"]) == 3
    assert any("left out 'id'" in text for text in page.texts)


def test_a_warning_is_printed_once_and_in_words_of_the_command(tmp_path):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    noise.assign(y=np.arange(200) % 2).to_csv(tmp_path / "noise.csv", index=False)
    done = bestk("report", tmp_path / "noise.csv", "-t", "y", "-k", 2, "-o", tmp_path / "r.html")
    assert (done.stdout + done.stderr).count("than chance would give") == 1
    assert "or -k auto" in done.stdout


def test_the_same_table_gives_the_same_file(table, tmp_path):
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    report(table, first, "--no-errors", "-q")
    assert report(table, second, "--no-errors", "-q").stdout == f"{second}\n"
    assert first.read_bytes() == second.read_bytes()


def test_json_has_the_features_and_the_command_of_the_page_selects_them(table, tmp_path, read_page):
    done = report(table, tmp_path / "r.html", "--no-errors", "--json", "--method", "exact")
    told = json.loads(done.stdout)
    assert told["bytes"] == (tmp_path / "r.html").stat().st_size
    page = read_page((tmp_path / "r.html").read_text("utf-8"))
    (command,) = (text for text in page.texts if text.startswith("bestk select"))
    again = bestk(*shlex.split(command)[1:], "--json")
    names = [feature["name"] for feature in told["features"]]
    assert [feature["name"] for feature in json.loads(again.stdout)["features"]] == names
    assert page.data["names"] == names
    (code,) = (text for text in page.texts if text.startswith("from bestk import"))
    known = {}
    exec(code.replace("print(", "str("), known)
    selector = known["selector"]
    assert [selector.feature_names_in_[i] for i in selector.solution_.support] == names


def test_the_code_of_the_page_selects_the_same_from_every_file_that_the_command_reads(
    tmp_path, read_page
):
    rng, path = np.random.default_rng(0), tmp_path / "größen.csv"
    frame = pd.DataFrame(rng.normal(size=(300, 5)).round(3), columns=[*"abcde"])
    frame["Größe"] = (frame.a + frame.c + rng.normal(size=300)).round(2)
    frame = frame.assign(nr=10**15 + np.arange(300), name=[f"n{i}" for i in range(300)])
    frame = frame.assign(site=np.arange(300) % 20)
    frame.loc[3, "Größe"] = None
    frame.to_csv(path, sep=";", decimal=",", index=False, encoding="utf-8-sig")
    for more in (("-k", 2), ("-k", "auto", "--groups", "site", "--exclude", "d")):
        done = bestk("report", path, "-t", "Größe", "-o", tmp_path / "r.html", "--json",
                     "--no-errors", *more)  # fmt: skip
        assert done.exit_code == 0, done.output
        page, known = read_page((tmp_path / "r.html").read_text("utf-8")), {}
        (code,) = (text for text in page.texts if text.startswith("from bestk import"))
        exec(code.replace("print(", "str("), known)
        found, told = known["selector"].solution_, json.loads(done.stdout)
        assert [found.names[i] for i in found.support] == [f["name"] for f in told["features"]]
        assert found.objective == told["objective"]


def test_as_many_features_as_help_are_reported(table, tmp_path):
    done = bestk("report", table, "-t", "kind", "-k", "auto", "--no-errors", "-o",
                 tmp_path / "r.html", "--json")  # fmt: skip
    assert json.loads(done.stdout)["k"] >= 1


@pytest.mark.parametrize(
    ("more", "said"),
    [(("-k", 99), "-k 99 is more than the 8 columns"),
     (("--method", "mrmrr"), "did you mean 'mrmr'?"),
     (("-t", "kin"), "no column 'kin'")],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(table, tmp_path, more, said):
    done = report(table, tmp_path / "r.html", *more)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_table_itself_is_never_overwritten(table):
    before = table.read_bytes()
    done = report(table, table)
    assert done.exit_code == 2
    assert "is the input file" in done.stderr
    assert table.read_bytes() == before


def test_a_text_that_is_code_is_text_in_the_table_of_the_page(table, tmp_path, read_page):
    report(table, tmp_path / "r.html", "--no-errors", "--include", SCRIPT)
    page = read_page((tmp_path / "r.html").read_text("utf-8"))
    assert SCRIPT in page.names
    assert 'be"nign' in page.names
    assert len(page.scripts) == 2
    assert pd.read_csv(table).columns[1] == SCRIPT
