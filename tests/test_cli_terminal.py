"""What tables and file names hold is shown on a terminal, and never obeyed by it."""

import csv
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from bestk.cli import main
from bestk.cli._terminal import console
from bestk.errors import HOSTILE, printable

TARGET = "y\x1b]0;owned\x07"
SPELLED = r"y\x1b]0;owned\x07"
HOSTILE_NAMES = {
    "a\x1b]0;owned\x07": r"a\x1b]0;owned\x07",
    "b\x9b31m": r"b\x9b31m",
    "c\u202egnp.exe\u2066": r"c\u202egnp.exe\u2066",
    "d\u2028\u0085\u2029": r"d\u2028\x85\u2029",
    "e\x08\x08\r\t\x7f": r"e\x08\x08\r\t\x7f",
    "f\nnot a name": r"f\nnot a name",
}
ORDINARY = ["größe", "می\u200cروم", "👩\u200d🔬", "年齢", "[bold]g[/bold]", ":smile:", "h\\"]
NAMES = [*HOSTILE_NAMES, *ORDINARY]
SHOWN = {*HOSTILE_NAMES.values(), *ORDINARY}
OWN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # colours and cursor of the progress bars
UNIX = "terminals are those of Unix"
QUICK = ("-m", "maxrel")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables whose names, values and classes are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    noisy = {name: y ^ (rng.random(80) < 0.03 * (i + 1)) for i, name in enumerate(NAMES)}
    frame = pd.DataFrame(noisy).astype(int).assign(**{TARGET: y})
    frame.to_csv(folder / "t.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    idle = {"c\x1b]0;": 1, "d\u202e": np.nan, "u": [0, 0, 1, 1] * 20, "v": [0, 1, 1, 0] * 20}
    pd.DataFrame(idle | {"y": [0, 1] * 40}).to_csv(folder / "idle.csv", index=False)
    one = pd.DataFrame({"x": range(20), "y": "c\x1b]0;\u202e"})
    one.to_csv(folder / "one.csv", index=False)
    (folder / "ragged.csv").write_text("a,y\n1,0\n1,\x1b]0;\x9b,1\n", encoding="utf-8")
    return folder


def bestk(*args):
    """Run as on a terminal: click removes colours elsewhere, and would hide what is wrong."""
    done = CliRunner().invoke(main, [str(arg) for arg in args], color=True)
    for text in (done.stdout, done.stderr):
        assert HOSTILE.findall(text.replace("\n", "")) == []
    return done


def on_terminal(*args, cwd, **env):
    """All that a terminal gets, and the exit code."""
    pty = pytest.importorskip("pty", reason=UNIX)
    ours, theirs = pty.openpty()
    settings = {"TERM": "xterm", "COLUMNS": "200", "PYTHONIOENCODING": "utf-8", **env}
    process = subprocess.Popen(
        [sys.executable, "-m", "bestk", *args], stdin=theirs, stdout=theirs, stderr=theirs,
        cwd=cwd, env={**os.environ, **settings},
    )  # fmt: skip
    os.close(theirs)
    got = b""
    while chunk := _read(ours):
        got += chunk
    os.close(ours)
    return got.decode(), process.wait()


def _read(terminal):
    try:
        return os.read(terminal, 2**16)
    except OSError:  # Linux, where the other side is closed
        return b""


def is_calm(text):
    """Whether a terminal gets nothing beside text, new lines, and what draws progress."""
    return not HOSTILE.findall(OWN.sub("", text).translate({10: None, 13: None}))


@pytest.mark.parametrize("text", [*ORDINARY, "🏴\U000e0067\U000e0062", "a b", ""])
def test_words_of_all_scripts_and_emoji_stay(text):
    assert printable(text) == text


@pytest.mark.parametrize("text", [*HOSTILE_NAMES, "\udcff", "\u200f", "\x00"])
def test_control_characters_are_spelled_out_as_python_does(text):
    assert printable(text) == text.encode("unicode_escape").decode()


@given(st.text())
def test_what_is_printable_stays_on_its_line_and_can_be_printed_again(text):
    told = printable(text)
    assert len(told.splitlines()) <= 1
    assert HOSTILE.findall(told) == []
    assert printable(told) == told


def test_select_shows_every_name_as_it_is_or_spelled_out(folder):
    done = bestk("select", folder / "t.csv", "-t", TARGET, "-k", len(NAMES), *QUICK)
    assert done.exit_code == 0, done.output
    rows = re.findall(r"^ +\d+   (.+?)   +[-\d.]+   +[-\d.]+   +[-\d.]+ *$", done.stdout, re.M)
    assert set(rows) == SHOWN
    assert f"for '{SPELLED}'" in done.stdout


def test_quiet_prints_one_line_for_each_name(folder):
    done = bestk("select", folder / "t.csv", "-t", TARGET, "-k", len(NAMES), "-q", *QUICK)
    assert sorted(done.stdout.split("\n")[:-1]) == sorted(SHOWN)


@pytest.mark.parametrize("command", ["select", "compare"])
def test_json_has_names_exactly_and_no_control_character(command, folder):
    more = ("--cv", 0) if command == "compare" else ()
    asked = ("-t", TARGET, "-k", len(NAMES), "--json", *QUICK, *more)
    done = bestk(command, folder / "t.csv", *asked)
    told = json.loads(done.stdout)
    assert told["target"] == TARGET
    found = told["features"] if command == "select" else told["methods"]["maxrel"]["features"]
    assert {each["name"] if command == "select" else each for each in found} == set(NAMES)


def test_notes_spell_out_names_and_say_what_is_constant(folder):
    done = bestk("select", folder / "idle.csv", "-t", "y", "-k", 4, *QUICK)
    (constant,) = (line for line in done.stderr.splitlines() if "selected" in line)
    assert constant.startswith(
        r"bestk: note: 'c\x1b]0;', 'd\u202e': constant, and selected because -k 4"
    )
    told = json.loads(bestk("select", folder / "idle.csv", "-t", "y", "-k", 4, "--json").stdout)
    assert any(r"'c\x1b]0;', 'd\u202e': constant" in note for note in told["notes"])


def test_notes_on_features_name_them(tmp_path):
    y = np.array([0, 1] * 20)
    table = pd.DataFrame({"x": y, "still": 1, "u": [0, 0, 1, 1] * 10, "y": y})
    table.to_csv(tmp_path / "t.csv", index=False)
    done = bestk("select", tmp_path / "t.csv", "-t", "y", "-k", 3, *QUICK)
    assert "'still': constant, and selected because -k 3 is more than the" in done.stderr
    assert "'u': selected, but no more related to the target than chance" in done.stderr


def test_errors_spell_out_classes_rows_and_names(folder):
    done = bestk("select", folder / "one.csv", "-t", "y", "-k", 1)
    assert r"one class only, c\x1b]0;\u202e" in done.stderr
    done = bestk("select", folder / "ragged.csv", "-t", "y", "-k", 1)
    assert done.stderr.count("\n") == 1
    done = bestk("select", folder / "no\x1b]0;.csv", "-t", "y")
    assert done.exit_code == 2
    assert r"no\x1b]0;.csv: No such file" in done.stderr


def test_results_have_no_markup(capsys):
    console().print("[bold]a[/] [/b] :smile: \\", Text("b"))
    assert capsys.readouterr().out == "[bold]a[/] [/b] :smile: \\ b\n"


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        (["select", "-k", "13", *QUICK], HOSTILE_NAMES["b\x9b31m"]),
        (["report", "-k", "2", *QUICK, "--no-errors", "-o", "r\x1b]0;\u202e[/b].html"],
         r"Wrote r\x1b]0;\u202e[/b].html"),
    ],
    ids=lambda value: " ".join(value[:1] + value[5:6]) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_terminal_shows_hostile_names_and_paths_with_markup(command, shows, folder, tmp_path):
    pytest.importorskip("pty", reason=UNIX)
    name, *options = command
    table = "a\x1b]0;[/bold].csv"
    for path in ("r\x1b]0;\u202e[", "a\x1b]0;["):
        (tmp_path / path).mkdir()
    (tmp_path / table).write_bytes((folder / "t.csv").read_bytes())
    got, code = on_terminal(name, table, "-t", TARGET, *options, cwd=tmp_path)
    assert code == 0, got
    assert is_calm(got)
    assert shows in OWN.sub("", got)
    if name != "plan" and not {"-q", "--json"} & set(options):
        assert f"reading {printable(table)}" in OWN.sub("", got)


def test_a_terminal_gets_errors_spelled_out(folder):
    got, code = on_terminal("select", "one.csv", "-t", "y", "-k", "1", cwd=folder)
    assert code == 2
    assert is_calm(got)
    assert r"one class only, c\x1b]0;\u202e" in got
