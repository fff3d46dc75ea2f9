"""Times other than counting: discretizing, and the first call in a new process."""

import subprocess
import sys
from importlib.metadata import version
from typing import Any

import bestk
from benchmarks.counting.cases import Case
from benchmarks.counting.record import Row
from benchmarks.timing import Timing, interleave

SMALL_TABLE = """
import numpy as np
import bestk
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, (200, 20)), rng.integers(0, 2, 200)
bestk.cmi_matrix(X, y)
"""
SMALL_NUMBERS = """
import numpy as np
import bestk
rng = np.random.default_rng(0)
X, y = rng.random((200, 20)), rng.integers(0, 2, 200)
bestk.cmi_matrix(bestk.CAIM().fit_transform(X, y), y)
"""
SNIPPETS = {
    "import numpy": "import numpy",
    "import bestk": "import bestk",
    "import sklearn": "import sklearn.base",
    "first cmi_matrix": SMALL_TABLE,
    "first CAIM + cmi_matrix": SMALL_NUMBERS,
}


def discretising(case: Case, rounds: int, threads: int) -> list[Row]:
    """CAIM on the raw table of a case, beside its matrix."""
    raw, y = case.raw, case.y
    jobs: dict[str, Any] = {
        "CAIM fit+transform": lambda: bestk.CAIM().fit_transform(raw, y),
        "bestk": lambda: bestk.cmi_matrix(case.X, y),
    }
    timings = interleave(jobs, rounds)
    return [_row(case.name, name, timings[name], case, threads) for name in jobs]


def first_calls(rounds: int) -> list[Row]:
    """A new process for each call, caches warm, imports and exit included; warnings are errors."""
    for code in SNIPPETS.values():
        _new_process(code)
    jobs = {name: lambda code=code: _new_process(code) for name, code in SNIPPETS.items()}
    timings = interleave(jobs, rounds)
    return [_row("new process", name, timings[name]) for name in jobs]


def _new_process(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    if done.returncode or done.stderr:
        raise RuntimeError(f"a new process failed: {done.stderr.strip()[-300:]}")


def _row(where: str, what: str, timing: Timing, case: Case | None = None, threads: int = 1) -> Row:
    n, m = (case.n_features, len(case.X)) if case else (20, 200)
    return Row(
        "extras", where, what, "bestk", version("bestk"), "", "call", n, m, threads, 1, 1,
        timing.best, timing.median,
    )  # fmt: skip
