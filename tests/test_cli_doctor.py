"""bestk doctor: what it checks, and its exit status."""

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import bestk
from bestk.cli import _main, main

WORKS = {"cpu": "avx2", "threads": 2}


@pytest.fixture
def machine(monkeypatch):
    """A machine with enough memory, on which the test selection works."""
    monkeypatch.setattr(_main, "run_test", lambda: dict(WORKS))
    monkeypatch.setattr("bestk._memory.free_memory", lambda: 2.0**33)


def doctor(*args):
    return CliRunner().invoke(main, ["doctor", *args])


def test_the_test_selection_works():
    found = _main.run_test()
    assert found["cpu"] in ("baseline", "avx2", "avx512")
    assert found["threads"] >= 1


def test_a_library_that_cannot_be_loaded_fails_with_exit_status_1(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bestk", "doctor"], capture_output=True, text=True,
        env=os.environ | {"BESTK_LIBRARY": str(tmp_path / "none.so")},
    )  # fmt: skip
    assert done.returncode == 1
    assert "selection     FAILED" in done.stdout
    assert "the compiled kernels are missing" in done.stdout
    assert done.stdout.endswith("\nFAILED\n")


def test_a_wrong_answer_is_an_error(monkeypatch):
    monkeypatch.setattr("bestk.select", lambda *_, **__: SimpleNamespace(support=np.array([2])))
    assert _main.run_test()["error"] == "the test selection gave column [2], not [1]"


@pytest.mark.usefixtures("machine")
def test_versions_of_needed_and_optional_packages_are_listed():
    told = json.loads(doctor("--json").stdout)
    assert told["ok"]
    assert told["bestk"] == bestk.__version__
    assert told["packages"]["numpy"]["version"] == metadata.version("numpy")
    assert told["packages"]["torch"]["extra"] == "gpu"
    assert "pytest" not in told["packages"]
    assert doctor().stdout.endswith("\nOK\n")


@pytest.mark.usefixtures("machine")
def test_an_optional_package_that_is_missing_is_listed_with_its_extra(monkeypatch):
    monkeypatch.setattr(_main, "PACKAGES", {"nowhere": "gpu"})
    done = doctor()
    assert done.exit_code == 0
    assert "not installed (optional: pip install 'bestk[gpu]')" in done.stdout


@pytest.mark.usefixtures("machine")
def test_control_characters_of_an_error_are_escaped(monkeypatch):
    monkeypatch.setattr(_main, "run_test", lambda: {"error": "\x1b]0;\u202e"})
    done = doctor()
    assert r"selection     FAILED: \x1b]0;\u202e" in done.stdout


def test_every_package_that_pyproject_names_for_users_is_checked():
    wanted = {(name, None) for name in ("numpy", "scipy", "scikit-learn", "narwhals")}
    for line in metadata.requires("bestk"):
        name, extra = re.match(r"[\w-]+", line)[0], re.search(r"extra == .(\w+)", line)
        if extra is None or extra[1] in ("cli", "plots", "gpu", "dask"):
            wanted.add((name, extra and extra[1]))
    assert wanted | {("jinja2", "report")} == set(_main.PACKAGES.items())
