"""Read the records of a benchmark, with machine, date and commit."""

import csv
from collections.abc import Iterable
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
Line = dict[str, str]


class MissingError(Exception):
    """There is no record; the message has the command that creates it."""


def read(name: str, command: str) -> list[Line]:
    """The lines of a record; ``MissingError`` if there are none."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        raise MissingError(f"No record ``benchmarks/results/{path.name}``: run ``{command}``.")
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    if not lines:
        raise MissingError(f"``benchmarks/results/{path.name}`` is empty: run ``{command}``.")
    return lines


def pick(lines: Iterable[Line], **wanted: str) -> list[Line]:
    """The lines that have these values."""
    return [line for line in lines if all(line[key] == value for key, value in wanted.items())]


def number(line: Line, key: str) -> float:
    """A cell as a number; NaN where it is empty."""
    return float(line.get(key) or "nan")


def provenance(lines: Iterable[Line], command: str, file: str) -> str:
    """Machine, day, commit and command of some lines, as a sentence."""
    told = list(lines)
    days = sorted({line["date"] for line in told})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    commits = ", ".join(dict.fromkeys(line["commit"] for line in told))
    machines = "; ".join(dict.fromkeys(map(_machine, told)))
    return (
        f"*Measured {when} (UTC), commit {commits}, {machines}.* Command: ``{command}``. Record: "
        f"``benchmarks/results/{file}.csv``."
    )


def _machine(line: Line) -> str:
    if "machine" in line:
        return line["machine"]
    threads = line.get("all_threads") or line.get("threads")
    return f"{line['cpu']}, {threads} threads, Python {line['python']}, numpy {line['numpy']}"
