"""What does not fit is refused before it is allocated, with what was needed and what there is."""

import subprocess
import sys

import pytest

from bestk import _memory

LIMITED = """
import resource
import numpy as np
from bestk import cmi_matrix
X, y = np.random.default_rng(0).integers(0, 2, (50, 12000)), np.arange(50) % 2
cmi_matrix(X[:, :20], y)  # kernels and threads are there
status = open("/proc/self/status").read().split()
used = 1024 * int(status[status.index("VmSize:") + 1])
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))
try:
    cmi_matrix(X, y)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the system is one of Linux")
def test_a_limit_of_the_system_is_told_with_what_was_needed():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "a 12000 x 12000 matrix of float64 needs 1.07 GiB and 0." in done.stdout
    assert "; ask for fewer columns" in done.stdout


def test_a_container_may_have_less_than_the_machine(monkeypatch, tmp_path):
    most, used = tmp_path / "memory.max", tmp_path / "memory.current"
    most.write_text(f"{2**30}\n"), used.write_text(f"{2**29}\n")
    monkeypatch.setattr(_memory, "GROUP", str(tmp_path / "memory"))
    assert _memory.machine_memory() == 2**30
    assert 2**29 <= _memory.free_memory() <= 2**30
    assert _memory.limits().endswith("GiB are free of 1")
    most.write_text("max\n")
    assert _memory.machine_memory() > 2**30


def test_a_system_that_tells_nothing_has_no_limit(monkeypatch):
    monkeypatch.setattr(_memory, "_physical", lambda: float("inf"))
    monkeypatch.setattr(_memory, "address_limit", lambda: 0.0)
    monkeypatch.setattr(_memory, "_number", lambda path, name="": 0.0)
    assert _memory.machine_memory() == _memory.free_memory() == float("inf")
