"""The results of the benchmarks on large tables, appended to a file."""

import csv
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.machine import describe_machine


@dataclass(frozen=True)
class Row:
    """One measurement."""

    part: str
    what: str
    n: int  # columns
    m: int  # rows
    levels: str
    k: int
    seconds: float
    peak_gib: float
    detail: str


def peak_gib() -> float:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**30 if sys.platform == "darwin" else 2**20)


def append(row: Row, path: Path) -> None:
    """Add a row, with where and when."""
    machine = describe_machine()
    where = f"{machine.cpu}, {machine.threads} threads"
    line = asdict(row) | {"machine": where, "date": machine.date, "commit": machine.commit}
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(line), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(line)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a file of results; earlier records call the native backend "numba"."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row | {"what": row["what"].replace("numba", "native")} for row in rows]
