"""How often the half for judging was read: a line for each run of the default on it."""

import csv
from pathlib import Path

from benchmarks.machine import RESULTS, describe_machine

READS = RESULTS / "quality_reads.csv"
COLUMNS = ("date", "commit", "what")


def note_read(what: str, path: Path = READS) -> None:
    """Record that the default was run on tables for judging."""
    machine = describe_machine()
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerow([machine.date, machine.commit, what])


def list_reads(path: Path = READS) -> list[dict[str, str]]:
    """All reads, oldest first."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
