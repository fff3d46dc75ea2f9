"""Tables of fuzzing, fault injection and mutation testing, from ``hardening/results``."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from evidence.markup import HYPHEN, SPACE, table
from evidence.records import Line, MissingError

RESULTS = Path(__file__).parents[2] / "hardening" / "results"
EACH = ("faults", "environments", "backends", "crowds")  # trials with a row for every kind
OUTCOMES = ("killed", "timeout", "equivalent", "survived")
AREAS = (
    "tables",
    "discretize",
    "information",
    "bqp",
    "methods",
    "diagnosis",
    "selectors",
    "evaluation",
    "cli",
)
# Records name the packages as they were when the trial was made.
EARLIER_AREAS = {
    "data": "tables",
    "problem": "bqp",
    "solvers": "bqp",
    "relaxations": "bqp",
    "bounds": "bqp",
    "selection": "selectors",
}


def read(name: str) -> list[Line]:
    """The rows of a record; ``MissingError`` if there are none."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        raise MissingError(f"No record ``hardening/results/{path.name}``: make test-long makes it.")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def runs(*trials: str) -> str:
    """A table of some trials: how often, how much, how long, what failed and when last."""
    chosen = [row for row in read("runs") if row["trial"] in trials]
    if not chosen:
        raise MissingError(f"Not run yet: {', '.join(trials)}.")
    head = ("what", "tried", "failed", "failed in the last run", "hours", "last run")
    return table(head, map(_cells, _groups(chosen)))


def commands(*trials: str) -> str:
    """The commands that repeat the trials."""
    return ", ".join(f"``python -m hardening.{trial}``" for trial in trials)


def machines() -> str:
    """The machines, as a list."""
    told = dict.fromkeys(_machine(row) for row in read("runs"))
    return "\n".join(f"- {each}" for each in told)


def mutants() -> str:
    """A table of mutation testing, by package."""
    rows = read("mutation")
    lines = [_counted(area, [r for r in rows if _area(r) == area]) for area in (*AREAS, "others")]
    head = ("package", "changes", "detected", "timeout", "equivalent", "not detected")
    return table(head, [*lines, _counted("all", rows)])


def _groups(rows: list[Line]) -> Iterator[tuple[str, list[Line]]]:
    kinds: dict[str, list[Line]] = {}
    for row in rows:
        what = row["what"].replace("numba", "native")  # its earlier name
        kinds.setdefault(what if row["trial"] in EACH else row["trial"], []).append(row)
    yield from kinds.items()


def _cells(group: tuple[str, list[Line]]) -> tuple[str, ...]:
    name, rows = group
    tried, failed = (sum(int(row[key]) for row in rows) for key in ("tried", "failures"))
    last = max(rows, key=lambda row: row["date"])
    hours = sum(float(row["seconds"]) for row in rows) / 3600
    day = last["date"].replace(" ", SPACE).replace("-", HYPHEN)
    when = f"{day}, {last['commit'].removesuffix('-dirty')}"
    return name, f"{tried:,}", f"{failed:,}", last["failures"], f"{hours:.2f}", when


def _machine(row: Line) -> str:
    return f"{row['cpu']}, {row['cores']} cores, Python {row['python']}, numpy {row['numpy']}"


def _area(row: Line) -> str:
    parts = row["module"].split("/")
    area = EARLIER_AREAS.get(parts[1], parts[1])
    return area if area in AREAS else "others"


def _counted(name: str, rows: Iterable[Line]) -> tuple[str, ...]:
    seen = Counter(row["outcome"] for row in rows)
    return name, str(seen.total()), *(str(seen[outcome]) for outcome in OUTCOMES)
