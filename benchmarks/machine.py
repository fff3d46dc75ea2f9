"""Where and when a benchmark ran."""

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bestk.native.threads import n_threads

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Machine:
    """Where and when."""

    date: str
    commit: str
    cpu: str
    cores: int
    threads: int
    python: str
    numpy: str

    def __str__(self) -> str:
        return f"{self.cpu}, {self.threads} threads, commit {self.commit}, {self.date}"


def describe_machine() -> Machine:
    return Machine(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        commit=_commit(),
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        threads=n_threads(),
        python=platform.python_version(),
        numpy=version("numpy"),
    )


def _commit() -> str:
    """The commit; dirty, if a file has changed that is no result of an earlier run."""
    try:
        commit = _git("describe", "--always")
        files = ("--untracked-files=no", "--", ":/", ":(top,exclude)*/results/*")
        changed = _git("status", "--porcelain", *files)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit}-dirty" if changed else commit


def _git(*words: str) -> str:
    folder = Path(__file__).parent
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _cpu() -> str:
    """Name of the processor, with family and model where the name alone says little."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    entries = [line.split(":", 1) for line in text.splitlines() if ":" in line]
    known = {key.strip(): value.strip() for key, value in reversed(entries)}
    name = known.get("model name", platform.machine())
    return f"{name} (family {known.get('cpu family')}, model {known.get('model')})"
