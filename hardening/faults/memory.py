"""Less memory than is needed: a message before the allocation, or the answer; never a crash."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

COLUMNS = 12_000
GIB = 2**20  # in kilobytes, as `ulimit` counts


def trials() -> Iterator[tuple[str, str | None]]:
    """A wide table, by methods that need all pairs and by one that does not."""
    with TemporaryDirectory() as home:
        table = Path(home, "wide.csv")
        _write(table)
        for method in ("spectral", "qpfs", "tpower", "auto", "mrmr"):
            for limit in (2.0, 3.0, 6.0):
                yield f"{method} in {limit} GiB", _run(table, method, limit)


def _write(path: Path) -> None:
    rng = np.random.default_rng(0)
    names = ",".join([*(f"g{i}" for i in range(COLUMNS)), "y"])
    rows = rng.integers(0, 2, (60, COLUMNS + 1))
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=names, comments="")


def _run(table: Path, method: str, limit: float) -> str | None:
    command = f"ulimit -v {int(limit * GIB)}; exec {sys.executable} -m bestk select {table} -t y"
    done = subprocess.run(
        ["bash", "-c", f"{command} -k 10 -m {method} --quiet"], capture_output=True, text=True,
        timeout=600,
        env={"PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1", "HOME": str(Path.home())},
    )  # fmt: skip
    if done.returncode == 0:
        return None
    said = done.stderr.strip()
    if done.returncode < 0 or done.returncode > 2 or "Traceback" in said:
        return f"exit code {done.returncode}: {said[-300:]}"
    return None if "memory" in said and "iB" in said else f"not told: {said[-300:]}"
