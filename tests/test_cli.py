"""The bestk command: what it prints, what it writes, how it fails."""

import json
import sys

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer, load_diabetes

from bestk import METHODS, __version__, select
from bestk.cli import main
from bestk.information.estimators import ESTIMATORS
from bestk.tables.target import TARGETS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables to select from."""
    folder = tmp_path_factory.mktemp("tables")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.assign(diagnosis=np.where(y, "benign", "malignant")).to_csv(folder / "t.csv", index=False)
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.assign(progress=y.astype(int)).to_csv(folder / "number.csv", index=False)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    mixed = {
        "id": [f"row {i}" for i in range(120)],
        "colour": np.where(rng.random(120) < 0.8, np.array(["red", "blue"])[y], "green"),
        "size": y + rng.normal(size=120),
        "empty": np.nan,
        "y": y,
    }
    pd.DataFrame(mixed).to_csv(folder / "mixed.csv", index=False)
    return folder


def bestk(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def fails(*args):
    """The one line that a failure prints."""
    done = bestk(*args)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("bestk: error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_select_prints_the_features_that_the_library_selects(folder):
    done = bestk("select", folder / "t.csv", "--target", "diagnosis", "-k", 4, "-m", "exact")
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(folder / "t.csv")
    solution = select(frame.drop(columns="diagnosis"), frame["diagnosis"], 4, "exact")
    places = [done.stdout.index(frame.columns[j]) for j in solution.support]
    assert places == sorted(places)
    assert f"objective  {solution.objective:.6g}" in done.stdout
    assert "proved optimal" in done.stdout
    assert done.stderr == ""


def test_json_is_all_of_stdout_and_has_what_the_table_has(folder):
    done = bestk("select", folder / "mixed.csv", "-t", "y", "-k", 2, "-m", "jmi", "--json")
    told = json.loads(done.stdout)
    assert [f["name"] for f in told["features"]] == ["colour", "size"]
    assert told["upper_bound"] is None
    assert told["quality"] == "no bound (greedy method)"
    known = {"rank", "name", "relevance", "contribution", "new_information"}
    assert set(told["features"][0]) == known
    assert sum(f["contribution"] for f in told["features"]) == pytest.approx(told["objective"])
    assert told["rows"] == 120
    assert "left out 'id'" in done.stderr
    assert told["notes"]


def test_quiet_prints_the_names_alone(folder):
    done = bestk("select", folder / "mixed.csv", "-t", "y", "-k", 2, "-m", "jmi", "-q")
    assert done.output.split() == ["colour", "size"]


def test_dates_and_decimal_commas_are_read(tmp_path):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(120), "D")
    table = {"day": days, "size": np.arange(120) + 0.25, "y": rng.integers(0, 2, 120), "a": 1}
    file = tmp_path / "eu.csv"
    pd.DataFrame(table).to_csv(file, sep=";", decimal=",", index=False)
    said = bestk("select", file, "-t", "y", "-k", 1).stderr.splitlines()
    assert any("'day': dates written as text" in line for line in said)
    assert any("'size': numbers written as text, such as '0,25'" in line for line in said)


def test_an_identifier_is_kept_where_chance_is_taken_off_or_where_it_is_included(folder):
    path = folder / "mixed.csv"
    plain = json.loads(bestk("select", path, "-t", "y", "-k", 2, "--json").stdout)
    corrected = bestk("select", path, "-t", "y", "-k", 2, "--json", "-m", "jmi",
                      "--correction", "chance")  # fmt: skip
    asked = bestk("select", path, "-t", "y", "-k", 2, "--json", "--include", "id")
    assert plain["columns"] == 3
    assert json.loads(corrected.stdout)["columns"] == 4
    assert "id" in [f["name"] for f in json.loads(asked.stdout)["features"]]


def test_include_exclude_and_shares_are_honoured(folder):
    done = bestk(
        "select", folder / "t.csv", "-t", "diagnosis", "-k", "0.1", "--json",
        "--include", "mean symmetry", "--exclude", "worst area",
    )  # fmt: skip
    told = json.loads(done.stdout)
    names = [f["name"] for f in told["features"]]
    assert len(names) == 3
    assert "mean symmetry" in names
    assert told["columns"] == 29


def test_every_option_is_handed_on(folder):
    done = bestk(
        "select", folder / "number.csv", "-t", "progress", "--information", "gaussian", "--seed", 1,
        "--target-kind", "continuous", "--bound", "none", "--time-limit", 0.2, "-m", "search",
        "-k", 9,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "9 of 10 features" in done.stdout
    assert "no bound requested" in done.stdout


def test_many_whole_numbers_as_a_target_are_doubted(folder):
    done = bestk("select", folder / "number.csv", "-t", "progress", "-k", 2)
    says = "different whole numbers in 442 rows, taken as numbers to predict"
    assert f"{says}; pass --target-kind classes if they are classes" in done.stderr


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".parquet", ".feather"])
def test_the_output_is_the_table_cut_to_the_features_and_the_target(suffix, folder, tmp_path):
    out = tmp_path / f"out{suffix}"
    args = ("select", folder / "t.csv", "-t", "diagnosis", "-k", 3)
    assert bestk(*args, "-o", out).exit_code == 0
    assert (
        bestk("select", out, "-t", "diagnosis", "-k", 3, "-q").output == bestk(*args, "-q").output
    )
    assert list(tmp_path.iterdir()) == [out]


def test_compare_puts_methods_side_by_side(folder):
    args = ("compare", folder / "t.csv", "-t", "diagnosis", "-k", 3, "-m", "maxrel", "-m", "exact")
    told = json.loads(bestk(*args, "--cv", 3, "--json").stdout)["methods"]
    assert told["exact"]["objective"] > 0
    assert told["exact"]["shared"] == {"maxrel": told["maxrel"]["shared"]["exact"], "exact": 3}
    assert 0 < told["exact"]["error"] < 0.2
    printed = bestk(*args, "--cv", 0).stdout
    assert "in common with maxrel" in printed
    assert "error" not in printed


def test_compare_measures_the_same_errors_every_time(folder):
    args = (
        "compare",
        folder / "mixed.csv",
        "-t",
        "y",
        "-k",
        1,
        "-m",
        "maxrel",
        "--cv",
        2,
        "--json",
    )
    first, second = (json.loads(bestk(*args).stdout)["methods"]["maxrel"] for _ in range(2))
    assert (first["error"], first["features"]) == (second["error"], second["features"])


def test_folds_that_rows_do_not_suffice_for_are_refused(folder, tmp_path):
    args = ("-t", "y", "-k", 1, "-m", "maxrel", "--cv")
    assert "n_splits=2 or more" in fails("compare", folder / "mixed.csv", *args, 1)
    (tmp_path / "few.csv").write_text("a,y\n1,yes\n2,no\n3,yes\n4,no\n5,yes\n")
    assert "n_splits=5 cannot be greater" in fails("compare", tmp_path / "few.csv", *args, 5)


def test_several_targets_are_refused(folder):
    both = ("-t", "diagnosis", "-t", "mean area")
    assert "pass one column; several targets need Python" in fails(
        "select", folder / "t.csv", *both
    )


def test_rows_have_weights_and_groups_and_columns_have_groups_and_a_threshold(folder, tmp_path):
    frame = pd.read_csv(folder / "t.csv").iloc[:200, -8:]
    frame.columns = [name.replace(" ", "_") for name in frame.columns]
    file, tenfold = tmp_path / "rows.csv", tmp_path / "tenfold.csv"
    weights = 1 + np.arange(200) % 2
    frame.assign(person=np.arange(200) // 4, weight=weights).to_csv(file, index=False)
    frame.assign(person=np.arange(200) // 4, weight=10 * weights).to_csv(tenfold, index=False)
    aside = ("-t", "diagnosis", "--json", "--groups", "person", "--weights", "weight")
    found = json.loads(bestk("select", file, "-k", 3, *aside).stdout)
    scaled = json.loads(bestk("select", tenfold, "-k", 3, *aside).stdout)
    assert found["features"] == scaled["features"]
    plain = (*aside[:-2], "--exclude", "weight")
    assert (
        found["features"] != json.loads(bestk("select", file, "-k", 3, *plain).stdout)["features"]
    )
    words = frame.assign(weight=np.where(np.arange(200) % 2, "high", "low"))
    words.to_csv(tmp_path / "words.csv", index=False)
    assert "column 'weight' of weights is string; weights are numbers" in fails(
        "select", tmp_path / "words.csv", "-t", "diagnosis", "--weights", "weight"
    )
    few = json.loads(bestk("select", file, "--threshold", 0.3, *aside).stdout)
    assert few["k"] == 1 or min(f["new_information"] for f in few["features"]) >= 0.3
    compared = json.loads(
        bestk(
            "compare", file, "-k", 2, "-m", "maxrel", "--cv", 3, "--scoring", "roc_auc", *aside
        ).stdout
    )
    assert 0.8 < compared["methods"]["maxrel"]["roc_auc"] == -compared["methods"]["maxrel"]["error"]
    assert "has no feature 'person'" in fails("select", file, *aside, "--include", "person")


def test_compare_takes_text_gaps_and_continuous_targets(folder):
    mixed = bestk("compare", folder / "mixed.csv", "-t", "y", "-k", 2, "-m", "jmi", "--cv", 2)
    assert mixed.exit_code == 0, mixed.output
    args = ("compare", folder / "number.csv", "-t", "progress", "-k", 2, "-m", "jmi", "--cv", 2)
    number = bestk(*args, "--target-kind", "continuous")
    assert number.exit_code == 0, number.output


def test_methods_lists_all_and_tells_of_one():
    listed = bestk("methods").stdout
    assert all(f" {name} " in listed for name in METHODS)
    assert set(json.loads(bestk("methods", "--json").stdout)) == set(METHODS)
    assert "sum I(xi, xj; y)" in bestk("methods", "jmi").stdout
    assert "did you mean 'mrmr'?" in fails("methods", "mrrm")


def test_help_and_version_are_there():
    assert bestk("--version").output == bestk("-V").output == f"bestk {__version__}\n"
    nothing = bestk()
    assert (nothing.exit_code, nothing.stdout) == (0, bestk("--help").stdout)
    for args in (["-h"], *([name, "-h"] for name in main.commands)):
        assert bestk(*args).output.startswith("Usage: bestk")
    assert "Exit status" in bestk("--help").output


def test_compare_offers_no_automatic_number_of_features_and_refuses_it(folder):
    assert "or auto: chosen by" in " ".join(bestk("select", "--help").output.split())
    assert "auto: chosen by" not in " ".join(bestk("compare", "--help").output.split())
    said = fails("compare", folder / "t.csv", "-t", "diagnosis", "-k", "auto")
    assert "-k auto is not supported by compare; pass a number of features" in said


def test_the_names_of_options_are_those_of_the_library():
    choices = {each.name: each.type.choices for each in main.commands["select"].params
               if isinstance(each.type, click.Choice)}  # fmt: skip
    assert set(choices["information"]) == {"auto", *ESTIMATORS}
    assert set(choices["target_kind"]) == set(TARGETS)


def test_wrong_names_are_answered_with_the_nearest(folder):
    path = folder / "t.csv"
    assert "no column 'diagnose'; did you mean 'diagnosis'?" in fails(
        "select", path, "-t", "diagnose"
    )
    args = ("select", path, "-t", "diagnosis")
    assert "did you mean 'mean radius'?" in fails(*args, "--include", "mean raduis")
    assert "did you mean 'mean radius'?" in fails(*args, "--exclude", "mean raduis")
    assert "did you mean 'tpower'?" in fails(*args, "--method", "tpowr")
    assert "did you mean 'tpower'?" in fails("compare", *args[1:], "--method", "tpowr")


@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_several_columns_in_one_option_are_answered_with_how_to_repeat_it(option, folder):
    args = ("select", folder / "mixed.csv", "-t", "y", option)
    assert f"repeat it: {option} size {option} colour" in fails(*args, "size, colour")
    assert "has no" in fails(*args, "size,color")


@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
def test_standard_input_is_refused_and_a_file_asked_for(path):
    assert "standard input and output are not supported; use a .csv file" in fails(
        "select", path, "-t", "y"
    )


def test_a_single_row_without_a_target_is_left_out_in_the_singular(tmp_path):
    rows = "".join(f"{i % 7},{i % 2}\n" for i in range(40))
    (tmp_path / "a.csv").write_text(f"x,out\n3,\n{rows}")
    assert "left out 1 row with no 'out'" in bestk("select", tmp_path / "a.csv", "-t", "out").stderr


def test_a_target_is_required(folder):
    assert "Missing option '-t' / '--target'" in fails("select", folder / "mixed.csv")
    assert "No such file" in fails("select", folder / "missing.csv", "-t", "y")


def test_columns_that_are_left_out_are_not_missed_where_no_number_was_given(folder):
    told = json.loads(bestk("select", folder / "mixed.csv", "-t", "y", "--json").stdout)
    assert (told["k"], told["columns"]) == (3, 3)
    assert any("left out 'id'" in note for note in told["notes"])


def test_what_cannot_be_selected_is_refused(folder):
    args = ("select", folder / "t.csv", "-t", "diagnosis")
    assert "-k 31 is more than the 30 columns" in fails(*args, "-k", 31)
    assert "'0' is not a number of features" in fails(*args, "-k", 0)
    assert "'ten' is not a number of features" in fails(*args, "-k", "ten")
    twice = fails(*args, "--include", "mean area", "--exclude", "mean area")
    assert "has no feature 'mean area'" in twice
    assert "has no feature 'diagnosis'" in fails(*args, "--include", "diagnosis")
    assert "is the target" in fails(*args, "--exclude", "diagnosis")
    includes = ("--include", "mean area", "--include", "mean radius")
    assert "-k 1 is less than the 2 features to include" in fails(*args, "-k", 1, *includes)


def test_columns_that_are_left_out_are_noted_where_more_were_asked_for(folder):
    told = json.loads(bestk("select", folder / "mixed.csv", "-t", "y", "-k", 4, "--json").stdout)
    assert told["k"] == 3
    assert any("-k 4 is more than the 3 features" in note for note in told["notes"])


def test_a_target_of_all_different_values_is_refused(folder):
    said = fails("select", folder / "mixed.csv", "-t", "id", "-k", 2)
    assert "the target has 120 different values in 120 rows" in said
    assert "such as 'row 0'" in said


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.csv", None, "No such file or directory"),
        ("t.xlsx", b"x", "has the suffix '.xlsx'; a table is one of .csv"),
        ("empty.csv", b"", "is empty"),
        ("junk.csv", bytes(range(256)), "is not a table of text"),
        ("junk.parquet", bytes(range(256)), "is not a Parquet table"),
        ("prose.csv", b"not a table\nat, all\n", "has rows of different lengths"),
    ],
)
def test_what_is_no_table_is_refused(name, content, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert message in fails("select", tmp_path / name, "-t", "y")


def test_a_folder_is_no_table(tmp_path):
    assert "is a folder" in fails("select", tmp_path, "-t", "y")


def test_an_unreadable_file_is_refused(folder, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("bestk.cli._select.open_source", refuse)
    assert "t.csv: Permission denied" in fails("select", folder / "t.csv", "-t", "diagnosis")


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_read(
    folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("bestk.cli._select.load", None)
    args = ("select", folder / "t.csv", "-t", "diagnosis", "-o")
    assert "cannot write to" in fails(*args, tmp_path / "missing" / "out.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder" in fails(*args, tmp_path / "folder.csv")
    assert "a table is one of" in fails(*args, tmp_path / "out.docx")
    assert "is the input file" in fails(*args, folder / "t.csv")


def test_what_fails_late_leaves_the_old_file(folder, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device", "out.csv")

    monkeypatch.setattr("bestk.cli._select.copy_columns", fail)
    out = tmp_path / "out.csv"
    out.write_text("old")
    said = fails("select", folder / "mixed.csv", "-t", "y", "-k", 2, "-o", out)
    assert "No space left on device" in said
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_without_pyarrow_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (folder / "t.parquet").write_bytes(b"anything")
    said = fails("select", folder / "t.parquet", "-t", "diagnosis")
    assert "pip install 'bestk[cli]'" in said
    said = fails("select", folder / "t.csv", "-t", "diagnosis")
    assert "pip install 'bestk[cli]'" in said


def test_debug_raises_the_error(folder):
    for args in (("--debug", "select"), ("select", "--debug")):
        done = bestk(*args, folder / "t.csv", "-t", "diagnosis", "-k", 99)
        assert done.exit_code == 1
        assert "is more than the 30 columns" in str(done.exception)


def test_compare_shows_what_select_selects_by_each_method(folder):
    asked = [folder / "t.csv", "-t", "diagnosis", "-k", 4, "--json"]
    both = bestk("compare", *asked, "-m", "auto", "-m", "exact", "--cv", 0)
    for method in ("auto", "exact"):
        alone = bestk("select", *asked, "-m", method)
        names = [feature["name"] for feature in json.loads(alone.stdout)["features"]]
        assert json.loads(both.stdout)["methods"][method]["features"] == names


def test_a_constant_column_is_selected_last_and_told_of(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    copies = {f"copy {i}": y + rng.normal(0, 0.01, 200) for i in range(3)}
    pd.DataFrame({"flat": 1, **copies, "y": y}).to_csv(tmp_path / "t.csv", index=False)
    done = bestk("select", tmp_path / "t.csv", "-t", "y", "-k", 3)
    assert done.exit_code == 0, done.output
    assert "flat" not in done.output
    told = json.loads(bestk("select", tmp_path / "t.csv", "-t", "y", "-k", 4, "--json").stdout)
    assert told["features"][-1]["name"] == "flat"
    assert any(each.startswith("'flat': constant, and selected") for each in told["warnings"])


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Numbers and dates as people write them, a file of each kind."""
    path, rng = tmp_path_factory.mktemp("written"), np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    size = y + rng.normal(size=300)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta((50 + 10 * size).round(), "D")
    frame = pd.DataFrame({
        "price": [f"${np.exp(5 + value):,.2f}" for value in size],
        "share": [f"{50 + 9 * value:.1f}%" for value in size],
        "day": day,
        "void": np.nan,
        "zip": [f"{code:05d}" for code in rng.integers(0, 9, 300)],
        "y": y,
    })  # fmt: skip
    frame.to_csv(path / "t.csv", index=False)
    frame.to_parquet(path / "t.parquet")
    return path


@pytest.mark.parametrize("file", ["t.csv", "t.parquet"])
def test_numbers_and_dates_written_as_text_are_read_and_it_is_said(written, file):
    done = bestk("select", written / file, "-t", "y", "-k", 3, "-m", "maxrel")
    assert done.exit_code == 0, done.output
    assert all(name in done.stdout for name in ("price", "share", "day"))
    assert "'price', 'share': numbers written as text, such as '$" in done.stderr
    assert ("'day': dates written as text" in done.stderr) == (file == "t.csv")
    assert "left out" not in done.stderr


def test_an_empty_column_beside_text_ends_neither_compare_nor_report(written, tmp_path):
    asked = (written / "t.csv", "-t", "y", "-k", 5)
    done = bestk("compare", *asked, "--cv", 2, "-m", "maxrel")
    assert done.exit_code == 0, done.output
    assert "±" in done.stdout
    done = bestk("report", *asked, "-m", "maxrel", "-o", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "window shape" not in page
    assert "could not be measured" not in page


def test_text_of_very_many_numbers_is_read_as_numbers(tmp_path):
    values = np.arange(40_000)
    frame = pd.DataFrame({"price": [f"${v:,}.5" for v in values], "y": values // 20_000})
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = bestk("select", tmp_path / "t.csv", "-t", "y", "-k", 1, "-m", "maxrel")
    assert done.exit_code == 0, done.output
    assert "'price': numbers written as text" in done.stderr
    assert "'price': nearly determines the target alone" in done.stderr


def test_a_target_of_prices_written_as_text_is_a_quantity(tmp_path):
    x = np.random.default_rng(0).normal(size=(300, 2))
    prices = [f"{100 + 9 * v:.2f} EUR".replace(".", ",") for v in x[:, 1]]
    pd.DataFrame(x, columns=["a", "b"]).assign(price=prices).to_csv(tmp_path / "t.csv", index=False)
    done = bestk("compare", tmp_path / "t.csv", "-t", "price", "-k", 1, "-m", "auto", "--json")
    assert done.exit_code == 0, done.output
    assert "'price': numbers written as text" in done.stderr
    assert json.loads(done.stdout)["methods"]["auto"]["features"] == ["b"]
