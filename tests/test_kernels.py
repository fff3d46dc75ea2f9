"""Kernels answer alike from any thread, in any process."""

import os
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("how", ["threads", "fork"])
def test_threads_and_forked_processes_find_the_same_bits(tmp_path, how):
    if how == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", path, how], capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["7" if how == "threads" else "2", "1"]
