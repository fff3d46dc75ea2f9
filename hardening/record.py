"""A row for each trial: number of runs, failures, date and command."""

import csv
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.machine import describe_machine

RESULTS = Path(__file__).parent / "results"
FIELDS = ("trial", "what", "tried", "failures", "seconds", "command", "date", "commit", "cpu",
          "cores", "python", "numpy")  # fmt: skip


def keep(
    trial: str, what: str, tried: int, failures: int, seconds: float, folder: Path = RESULTS
) -> dict[str, object]:
    """Add a row to ``results/runs.csv`` and print it."""
    machine = asdict(describe_machine())
    row = {
        "trial": trial, "what": what, "tried": tried, "failures": failures,
        "seconds": round(seconds, 1), "command": command(),
        **{name: machine[name] for name in FIELDS if name in machine},
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "runs.csv"
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(f"{trial}: {what}: {tried} tried, {failures} failed, {seconds:.0f} s")
    return row


def command() -> str:
    """How this program was started."""
    name = sys.modules["__main__"].__spec__
    words = ["python", "-m", name.name.removesuffix(".__main__")] if name else [sys.argv[0]]
    return shlex.join(words + sys.argv[1:])
