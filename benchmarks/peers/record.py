"""The results of the checks, and their file."""

import csv
import os
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.machine import RESULTS, describe_machine

FILE = RESULTS / "peers.csv"
DOCUMENTED = Path(__file__).with_name("documented.toml")
BESIDE = ("numpy", "pandas", "polars", "scikit-learn")  # what a peer runs with


@dataclass(frozen=True)
class Row:
    """One probe of one peer."""

    peer: str
    version: str
    released: str
    probe: str
    answer: str
    evidence: str
    basis: str  # "run", or "documentation"
    beside: str = ""  # versions of what it ran with
    load: str = ""  # others on the machine
    date: str = ""
    commit: str = ""
    machine: str = ""


def context() -> dict[str, str]:
    """Where, when and beside what a probe is run."""
    machine = describe_machine()
    return {
        "beside": f"Python {machine.python}, " + ", ".join(filter(None, map(_version, BESIDE))),
        "load": f"{os.getloadavg()[0]:.1f}",
        "date": machine.date,
        "commit": machine.commit,
        "machine": f"{machine.cpu}, {machine.cores} cores",
    }


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def documented() -> list[Row]:
    """Rows of peers that are known by their documentation only."""
    known = tomllib.loads(DOCUMENTED.read_text())["peers"]
    return [
        Row(name, told["version"], told["released"], probe, *told[probe], "documentation")
        for name, told in known.items()
        for probe in told
        if probe not in ("version", "released")
    ]


def release_date(package: str, number: str | None) -> str:
    """The day of a release, if it is written down."""
    return tomllib.loads(DOCUMENTED.read_text())["released"].get(f"{package} {number}", "")


def write(rows: Iterable[Row], path: Path = FILE) -> list[Row]:
    """Put the rows in the place of those of the same probes; return all that the file holds."""
    everything = list({(row.peer, row.probe): row for row in [*read(path), *rows]}.values())
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in everything)
    return everything


def read(path: Path = FILE) -> list[Row]:
    """The rows of the file; none if there is none."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [Row(**line) for line in csv.DictReader(file)]
