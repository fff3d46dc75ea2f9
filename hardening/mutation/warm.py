"""Run tests in a child of a process that has the libraries loaded, but not the package."""

import os
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import joblib  # noqa: F401
import narwhals  # noqa: F401
import numpy  # noqa: F401
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg
import scipy.special
import scipy.stats  # noqa: F401
import sklearn.base
import sklearn.model_selection
import sklearn.svm
import sklearn.utils.estimator_checks  # noqa: F401

hypothesis.settings.register_profile("few", deadline=None, max_examples=10, derandomize=True)
OPTIONS = (
    "-x",
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "--tb=line",
    "--no-header",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
NO_TESTS = 5  # what pytest returns for a module without examples
WAITING = 20  # seconds on the clock for a second of work: others use the machine too


@dataclass(frozen=True)
class Verdict:
    """What the tests said, and the seconds of work that they took."""

    word: str  # "passed", "failed" or "timeout"
    seconds: float


def run(tree: Path, tests: list[str], seconds: float, few: bool = False) -> Verdict:
    """Run the tests of a tree, with few random examples or all, for so much processor time."""
    pid = os.fork()
    if pid == 0:
        _child(tree, tests, seconds, few)
    status, used = _wait(pid, time.monotonic() + 60 + WAITING * seconds)
    spent = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return Verdict("timeout", spent)
    fine = os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, NO_TESTS)
    return Verdict("passed" if fine else "failed", spent)


def _wait(pid: int, until: float) -> tuple[int, resource.struct_rusage]:
    done = 0
    while not done:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if not done and time.monotonic() > until:
            os.killpg(pid, signal.SIGKILL)
            _, status, used = os.wait4(pid, 0)
            break
        time.sleep(0.0 if done else 0.05)
    return status, used


def _child(tree: Path, tests: list[str], seconds: float, few: bool) -> None:
    code = 1
    try:
        os.setpgid(0, 0)  # not a session of its own, which would have a priority of its own
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        log = os.open(tree / "last.log", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(tree)
        sys.path.insert(0, str(tree / "src"))
        sys.dont_write_bytecode = True
        os.environ["OMP_NUM_THREADS"] = "1"
        code = int(pytest.main([*OPTIONS, *(["--hypothesis-profile=few"] if few else []), *tests]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)
