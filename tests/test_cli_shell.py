"""The bestk command as a shell and its scripts see it: JSON, exit codes, pipes, completion."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bestk.cli import _main, main
from bestk.cli._terminal import CODES

DOCS = Path(__file__).parents[1] / "docs" / "command.rst"
MODULE = [sys.executable, "-m", "bestk"]
SCRIPT = [sys.executable, "-c", "from bestk.cli import main; main()"]
COMMANDS = {
    "select": ["t.csv", "-t", "y", "-k", "1", "-m", "maxrel"],
    "compare": ["t.csv", "-t", "y", "-k", "1", "-m", "maxrel", "--cv", "2"],
    "report": ["t.csv", "-t", "y", "-k", "1", "-m", "maxrel", "--no-errors"],
    "methods": ["jmi"],
    "doctor": [],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table in the folder that commands run in."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    numbers = {"colour depth": y + rng.normal(size=60), "contrast": rng.normal(size=60)}
    pd.DataFrame({**numbers, "id": [f"r{i}" for i in range(60)], "y": y}).to_csv(
        tmp_path / "t.csv", index=False
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_machine(monkeypatch):
    """A machine on which the test selection of ``bestk doctor`` fails."""
    monkeypatch.setattr(_main, "run_test", lambda: {"error": "unknown"})


def bestk(*args):
    return CliRunner().invoke(main, list(args))


def run(command, *args, **options):
    options = {"capture_output": True, "text": True, "check": False} | options
    return subprocess.run([*command, *args], **options)


def test_every_command_is_looked_at_here():
    assert set(COMMANDS) == set(main.commands)


@pytest.mark.usefixtures("no_machine")
@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_document_and_all_of_stdout(name, folder):
    done = bestk(name, *COMMANDS[name], "--json")
    assert done.exit_code == (1 if name == "doctor" else 0), done.output
    told = json.loads(done.stdout)
    assert isinstance(told, dict)
    if name in ("select", "compare", "report"):
        assert "left out 'id'" in done.stderr
        assert any("left out 'id'" in note for note in told["notes"])


@pytest.mark.parametrize("name", [name for name in COMMANDS if COMMANDS[name][:1] == ["t.csv"]])
def test_what_fails_with_json_prints_nothing_but_a_line_on_stderr(name, folder):
    done = bestk(name, "gone.csv", *COMMANDS[name][1:], "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "bestk: error: gone.csv: No such file or directory\n"


def test_done_ends_with_0(folder):
    assert bestk("select", *COMMANDS["select"]).exit_code == 0


@pytest.mark.parametrize(
    ("error", "said"),
    [(RuntimeError("two\nlines"), "RuntimeError: two lines; this is a bug in bestk"),
     (MemoryError("8 GiB"), "not enough memory: 8 GiB; ")],
)  # fmt: skip
def test_faults_and_too_little_memory_end_with_1(error, said, folder, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr("bestk.cli._select.load", fail)
    done = bestk("select", *COMMANDS["select"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("args", [["select"], ["selct"], ["select", "t.csv", "-t", "y", "-k", "0"],
                                  ["select", "t.csv", "-t", "y", "-o", "t.csv"]])  # fmt: skip
def test_mistakes_end_with_2(args, folder):
    assert bestk(*args).exit_code == 2


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGINT, 130, "bestk: interrupted"), (signal.SIGTERM, 143, "")],
)
def test_a_signal_ends_with_its_exit_code_and_leaves_no_part_file(sent, code, said, folder):
    before = os.listdir(folder)
    args = ["select", folder / "t.csv", "-t", "y", "-o", folder / "out.csv"]
    program = (
        "import time, bestk.cli._select as t; from bestk.cli import main;"
        "t.load = lambda *_: time.sleep(60); main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, args)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    for _ in range(1200):
        if os.listdir(folder) != before:
            break
        time.sleep(0.05)
    assert os.listdir(folder) != before
    process.send_signal(sent)
    _, printed = process.communicate(timeout=30)
    assert (process.returncode, printed.strip()) == (code, said)
    assert os.listdir(folder) == before


def test_closed_outputs_are_no_error_and_the_file_is_written(folder):
    command = f"{sys.executable} -m bestk select t.csv -t y -k 1 -m maxrel -o out.csv >&- 2>&-"
    done = run(["bash", "-c", command])
    assert done.returncode == 0
    assert all(line.startswith("bestk: note:") for line in done.stderr.splitlines())
    assert (folder / "out.csv").read_text().startswith("colour depth,y\n")


def test_a_pipe_that_is_closed_early_leaves_the_file_written_and_no_message(folder):
    command = f"{sys.executable} -m bestk select t.csv -t y -k 2 -m maxrel -o out.csv | true"
    done = run(["bash", "-c", command])
    assert all(line.startswith("bestk: note:") for line in done.stderr.splitlines())
    assert (folder / "out.csv").read_text().count("\n") == 61


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_output_that_nobody_reads_ends_with_141(more):
    read, write = os.pipe()
    os.close(read)
    done = run(MODULE, "methods", *more, capture_output=False, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_the_exit_codes_are_in_the_help_and_in_the_documents():
    texts = [" ".join(bestk("--help").stdout.split())]
    if DOCS.exists():
        texts.append(" ".join(DOCS.read_text("utf-8").split()))
    for text in texts:
        assert all(means in text for means in CODES.values())
        assert all(f"{code}" in text for code in CODES)


def test_the_module_behaves_as_the_command():
    (point,) = metadata.entry_points(group="console_scripts", name="bestk")
    assert point.value == "bestk.cli:main"
    one, other = run(MODULE, "methods", "mrrm"), run(SCRIPT, "methods", "mrrm")
    assert (one.returncode, one.stdout, one.stderr) == (
        other.returncode, other.stdout, other.stderr,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("bestk sel", ["select"]),
        ("bestk doctor --js", ["--json"]),
        ("bestk select t.csv --bound t", ["tight"]),
    ],
)
def test_bash_completes_commands_options_and_their_values(typed, found, folder):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = CliRunner().invoke(main, [], env={"_BESTK_COMPLETE": "bash_complete", **words})
    assert [line.split(",", 1)[1] for line in done.stdout.split("\n") if line] == found
    assert done.stderr == ""


def test_bash_is_told_how_to_complete():
    done = run(MODULE, env={**os.environ, "_BESTK_COMPLETE": "bash_source"})
    assert "_BESTK_COMPLETE=bash_complete" in done.stdout
    assert run(["bash", "-n"], input=done.stdout).returncode == 0


def test_debug_shows_the_traceback(folder):
    done = run(MODULE, "select", "gone.csv", "-t", "y", "--debug")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.endswith("No such file or directory: 'gone.csv'\n")


def test_letters_that_cannot_be_printed_are_spelled_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("größe,日本,y\n1,2,ä\n3,4,ö\n2,3,ä\n5,4,ö\n", encoding="utf-8")
    args = [sys.executable, "-m", "bestk", "select", str(path), "-t", "y", "-m", "maxrel"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(args, capture_output=True, env=env, check=True)
    assert rb"\u65e5\u672c" in done.stdout
    done = subprocess.run([*args, "--json"], capture_output=True, env=env, check=True)
    assert {f["name"] for f in json.loads(done.stdout)["features"]} == {"größe", "日本"}


def test_help_needs_no_heavy_library():
    help_ = [sys.executable, "-W", "error", "-X", "importtime", "-m", "bestk", "select", "--help"]
    done = subprocess.run(help_, capture_output=True, text=True, check=True)
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert not imported & {"numpy", "sklearn", "pyarrow", "rich"}


@pytest.mark.parametrize("missing", ["click", "rich", "pyarrow"])
def test_without_its_packages_the_command_prints_how_to_install_them(missing):
    program = f"import sys; sys.modules[{missing!r}] = None; from bestk.cli import main; main()"
    done = run([sys.executable, "-c", program, "select"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"bestk: error: the bestk command needs {missing}; run: pip install 'bestk[cli]'\n"
    )
