"""Kernels give the same bits from any thread, in any process, on as many threads as allowed."""

import os
import subprocess
import sys

import pytest
from joblib import Parallel, delayed

from bestk.native._library import cpu_levels
from bestk.native.threads import n_threads, spans, threads

PROGRAM = """
import multiprocessing, sys, threading
import numpy as np
from bestk import CAIM, cmi_matrix
rng = np.random.default_rng(0)
X, y = rng.normal(size=(400, 40)), rng.integers(0, 3, 400)

def work(answers):
    answers.append(cmi_matrix(CAIM().fit_transform(X, y), y).tobytes())

def in_child(queue, answers=[]):
    work(answers)
    queue.put(answers[-1])

if __name__ == "__main__":
    answers = []
    work(answers)
    if sys.argv[1] == "threads":
        team = [threading.Thread(target=work, args=(answers,)) for _ in range(6)]
        [each.start() for each in team], [each.join() for each in team]
    else:
        context = multiprocessing.get_context(sys.argv[1])
        queue = context.Queue()
        child = context.Process(target=in_child, args=(queue,))
        child.start()
        answers.append(queue.get(timeout=120))
        child.join()
    print(len(answers), len(set(answers)))
"""


@pytest.fixture(scope="module")
def cpu():
    """Instruction sets do not matter here."""


@pytest.mark.parametrize("how", ["threads", "fork", "spawn"])
def test_threads_and_other_processes_find_the_same_bits(tmp_path, how):
    if how == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", path, how], capture_output=True, text=True, timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["7" if how == "threads" else "2", "1"]


@pytest.mark.parametrize(("told", "wanted"), [("3", 3), ("4,2", 4), ("0", None), ("many", None)])
def test_the_environment_limits_threads(monkeypatch, told, wanted):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = n_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert n_threads() == (wanted or cores)
    with threads(5):
        assert n_threads() == 5
    with threads(5, seconds=1e-6) as used:  # too little work for more
        assert used == 1


def test_spans_are_full_but_for_the_last():
    assert spans(5, 2) == [(0, 2), (2, 4), (4, 5)]


def test_workers_of_joblib_share_the_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = n_threads()
    counts = Parallel(cores, backend="loky")(delayed(n_threads)() for _ in range(cores))
    assert counts == ([1] * cores if cores > 1 else [cores])


@pytest.mark.parametrize("level", [*cpu_levels(), "sse9"])
def test_the_environment_chooses_the_instruction_set(level):
    code = "from bestk.native._library import kernels; kernels.tabu_advance"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env=os.environ | {"BESTK_CPU": level},
    )  # fmt: skip
    assert (done.returncode == 0) == (level != "sse9")
    if level == "sse9":
        assert "ParameterError: BESTK_CPU='sse9' is not one of baseline" in done.stderr
