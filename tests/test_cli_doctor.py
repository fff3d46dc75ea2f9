"""bestk doctor: what it checks, and its exit status."""

import json
import re
from importlib import metadata

import pytest
from click.testing import CliRunner

import bestk
from bestk.cli import _doctor, main

WORKS = {"cpu": "avx2", "threads": 2}


@pytest.fixture
def machine(monkeypatch):
    """A machine with enough memory, on which the test selection works."""
    monkeypatch.setattr(_doctor, "run_test", lambda: dict(WORKS))
    monkeypatch.setattr("bestk._memory.free_memory", lambda: 2.0**33)


def doctor(*args):
    return CliRunner().invoke(main, ["doctor", *args])


def test_the_test_selection_works_in_a_process_of_its_own():
    found = _doctor.run_test()
    assert found["cpu"] in ("baseline", "avx2", "avx512")
    assert found["threads"] >= 1


def test_a_library_that_cannot_be_loaded_fails_with_exit_status_1(monkeypatch, tmp_path):
    monkeypatch.setenv("BESTK_LIBRARY", str(tmp_path / "none.so"))
    done = doctor()
    assert done.exit_code == 1
    assert "selection     FAILED" in done.stdout
    assert "the compiled kernels are missing" in done.stdout
    assert done.stdout.endswith("\nFAILED\n")


def test_a_test_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(_doctor, "LIMIT", 0.01)
    assert _doctor.run_test() == {"error": "no result after 0 s"}


def test_a_wrong_answer_is_an_error(monkeypatch):
    wrong = _doctor.TEST.replace("y[i] + i % 7 / 10", "i % 7 / 10")
    monkeypatch.setattr(_doctor, "TEST", wrong)
    assert re.search(r"gave column .*, not \[1\]", _doctor.run_test()["error"])


@pytest.mark.usefixtures("machine")
def test_versions_of_needed_and_optional_packages_are_listed():
    told = json.loads(doctor("--json").stdout)
    assert told["ok"]
    assert told["problems"] == []
    assert told["bestk"] == bestk.__version__
    assert told["packages"]["numpy"]["version"] == metadata.version("numpy")
    assert told["packages"]["torch"]["extra"] == "gpu"
    assert "pytest" not in told["packages"]
    assert doctor().stdout.endswith("\nOK\n")


@pytest.mark.usefixtures("machine")
def test_an_optional_package_that_is_missing_is_listed_with_its_extra(monkeypatch):
    monkeypatch.setattr(metadata, "requires", lambda name: ['nowhere>=1; extra == "gpu"'])
    done = doctor()
    assert done.exit_code == 0
    assert "not installed (optional: pip install 'bestk[gpu]')" in done.stdout


@pytest.mark.usefixtures("machine")
def test_little_memory_is_a_warning(monkeypatch):
    monkeypatch.setattr("bestk._memory.free_memory", lambda: 2.0**20)
    done = doctor()
    assert (done.exit_code, "WARNING: little memory" in done.stdout) == (0, True)


@pytest.mark.usefixtures("machine")
def test_control_characters_of_an_error_are_escaped(monkeypatch):
    monkeypatch.setattr(_doctor, "run_test", lambda: {"error": "\x1b]0;\u202e"})
    done = doctor()
    assert r"FAILED: test selection: \x1b]0;\u202e" in done.stdout
