"""The measurements, their results, and the file of results."""

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from math import inf, nan
from pathlib import Path
from typing import Any

from benchmarks.machine import Machine

Trace = list[tuple[float, float]]  # seconds and objective, each better than the one before


@dataclass(frozen=True)
class Found:
    """What one run of a solver gave; nan where it says nothing."""

    seconds: float = nan
    objective: float = nan
    upper_bound: float = inf
    target: float = nan  # a value that is known to be attained
    to_target: float = nan  # seconds until it was attained here
    memory_mb: float = nan  # peak of the whole process
    details: dict[str, Any] = field(default_factory=dict)
    trace: Trace = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class Job:
    """One run of one solver on one problem, which ``run`` does."""

    part: str
    case: str
    n: int
    k: int
    solver: str
    run: Callable[[], Found]
    seed: int = 0
    limit: float = inf  # seconds it is given

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this job from the others."""
        return self.part, self.case, self.n, self.k, self.solver, self.seed, self.limit

    def done(self, found: Found, reference_ms: float) -> "Row":
        """The row of the job, once it is done."""
        return Row(*self.key, **vars(found), reference_ms=reference_ms)


@dataclass(frozen=True)
class Row:
    """One run, as the file has it."""

    part: str
    case: str
    n: int
    k: int
    solver: str
    seed: int
    limit: float
    seconds: float
    objective: float
    upper_bound: float
    target: float
    to_target: float
    memory_mb: float
    details: dict[str, Any]
    trace: Trace
    note: str
    reference_ms: float  # a fixed matrix product just before: is the machine quiet?

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this row from the others."""
        return self.part, self.case, self.n, self.k, self.solver, self.seed, self.limit

    @property
    def gap(self) -> float:
        """Proved distance to the optimum in percent of the objective."""
        return 100 * max(0.0, self.upper_bound - self.objective) / (abs(self.objective) or nan)

    @property
    def failed(self) -> bool:
        """Whether there is nothing to see, and a second try may help."""
        return self.note.startswith(("failed", "not installed"))

    def at(self, seconds: float) -> float:
        """The objective after so many seconds."""
        return max((value for time, value in self.trace if time <= seconds), default=-inf)


class Ledger:
    """The rows of a file; a new one is appended as soon as it is known."""

    def __init__(self, path: Path, machine: Machine, forget: Iterable[str] = ()) -> None:
        self.path, self._context = path, _context(machine)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.header = [*(f.name for f in fields(Row)), *self._context]
        if not path.exists():
            self._write(self.header, mode="w")
        self._cut_unfinished_line()
        self._forget({*forget})
        self._rows = {row.key: row for row in self._read()}

    @property
    def rows(self) -> list[Row]:
        """All rows, the last of those with equal keys."""
        return list(self._rows.values())

    def knows(self, job: Job) -> bool:
        """Whether a job has been done."""
        row = self._rows.get(job.key)
        return row is not None and not row.failed

    def add(self, row: Row) -> None:
        """Keep a row, in the file first."""
        values = {name: _text(value) for name, value in asdict(row).items()} | self._context
        self._write([str(values.get(name, "")) for name in self.header], mode="a")
        self._rows[row.key] = row

    def _write(self, cells: Iterable[str], mode: str) -> None:
        with self.path.open(mode, newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(cells)

    def _cut_unfinished_line(self) -> None:
        text = self.path.read_bytes()
        if not text.endswith(b"\n"):
            self.path.write_bytes(text[: text.rfind(b"\n") + 1])

    def _forget(self, parts: set[str]) -> None:
        """Drop the rows of some parts; the file is replaced at once."""
        if parts:
            with self.path.open(newline="") as file:
                lines = [line for line in csv.reader(file) if line and line[0] not in parts]
            rest = self.path.with_suffix(".part")
            kept = lines if lines[1:] else [self.header]
            with rest.open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(kept)
            rest.replace(self.path)

    def _read(self) -> Iterable[Row]:
        with self.path.open(newline="") as file:
            reader = csv.DictReader(file)
            columns = list(reader.fieldnames or ())
            if not {*self.header} <= {*columns}:
                raise SystemExit(f"{self.path} lacks columns of today's; --fresh starts anew")
            self.header = columns  # older files have more
            for line in reader:
                yield Row(**{f.name: _value(line[f.name], f.type) for f in fields(Row)})


def _context(machine: Machine) -> dict[str, Any]:
    context = asdict(machine)
    context["all_threads"] = context.pop("threads")
    return context


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    nested = isinstance(value, dict | list)
    return json.dumps(value, separators=(",", ":")) if nested else str(value)


def _value(text: str, kind: Any) -> Any:
    if kind in (int, float, str):
        return kind(text)
    return [tuple(point) for point in json.loads(text)] if kind is Trace else json.loads(text)


def pick(rows: Iterable[Row], part: str, *solvers: str, **wanted: Any) -> list[Row]:
    """Rows of a part that have something to say: of some solvers, with some values."""
    return [
        row
        for row in rows
        if row.part == part and not row.failed and (not solvers or row.solver in solvers)
        if all(getattr(row, name) == value for name, value in wanted.items())
    ]
