"""What one run found: rows, the machine they were measured on, and the table that shows them."""

import csv
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numba

RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Row:
    """One contender on one case, or one point of a law."""

    part: str  # "cases", "laws" or "extras"
    case: str
    contender: str
    kind: str
    version: str
    computes: str
    unit: str
    n_features: int
    n_samples: int
    units: int | None = None  # pairs, or columns, that were measured
    of: int | None = None  # and how many there are; where fewer were measured, time is scaled
    best: float | None = None  # seconds of the whole, scaled where only a part was measured
    median: float | None = None
    threads: int = 1
    times_bestk: float | None = None
    error: float | None = None  # largest difference from the definition
    note: str = ""

    @property
    def microseconds(self) -> float | None:
        """Time of one pair, or of one column."""
        return None if self.best is None or not self.of else 1e6 * self.best / self.of

    @property
    def scaled(self) -> bool:
        return self.units is not None and self.units != self.of


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
    numba: str
    reference_ms: float  # a product of two 1000 x 1000 matrices


def describe_machine(reference_seconds: float) -> Machine:
    return Machine(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        commit=_commit(),
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        threads=numba.get_num_threads(),
        python=platform.python_version(),
        numpy=version("numpy"),
        numba=version("numba"),
        reference_ms=round(1e3 * reference_seconds, 1),
    )


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
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


def write_csv(rows: Iterable[Row], machine: Machine, path: Path) -> None:
    """One line for each row, the machine repeated on each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    context = asdict(machine)
    context["all_threads"] = context.pop("threads")
    names = [field.name for field in fields(Row)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*names, "us_each", "scaled", *context], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            derived = {"us_each": _number(row.microseconds), "scaled": int(row.scaled)}
            values = {name: _number(value) for name, value in asdict(row).items()}
            writer.writerow(values | derived | context)


def _number(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def table(rows: list[Row]) -> str:
    """Rows as text, fastest first within a unit."""
    head = ("", "version", "computes", "seconds", "median", "us each", "x bestk", "")
    lines = [head]
    rows = sorted(rows, key=lambda row: (row.unit, row.best is None, row.microseconds or 0.0))
    for row in rows:
        if row.best is None:
            lines.append((row.contender, row.version, row.computes, *"----", row.note))
            continue
        sign = "~" if row.scaled else ""
        each = f"{row.microseconds:.4g}/{row.unit}"
        times = "" if row.times_bestk is None else f"{row.times_bestk:.3g}"
        seconds, median = f"{sign}{row.best:.4g}", f"{sign}{row.median:.4g}"
        note = f"{row.units} of {row.of} {row.unit}s measured. " if row.scaled else ""
        text = (row.contender, row.version, row.computes, seconds, median, each, times)
        lines.append((*text, note + row.note))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    align = "<<<>>>><"
    return "\n".join(
        "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(line, align, widths, strict=True)).rstrip()
        for line in lines
    )
