"""The results of a run, their file, and a table of them."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from math import isnan, nan
from pathlib import Path

from benchmarks.counting.record import digits
from benchmarks.machine import Machine
from benchmarks.timing import REFERENCE


@dataclass(frozen=True)
class Row:
    """One contender on one table."""

    part: str
    case: str
    contender: str
    kind: str  # "bestk" or "peer"
    version: str
    k: str  # a number, or a range of them
    n_features: int
    n_samples: int
    seconds_min: float = nan  # of the whole work, scaled where only a part of it was done
    seconds_median: float = nan
    share: float = 1.0  # of the whole work that was done and timed
    reference_ms: float = nan  # a fixed matrix product in the same rounds: is it quiet?
    note: str = ""

    @property
    def timed(self) -> bool:
        """Whether there is a time."""
        return not isnan(self.seconds_min)


def write_csv(rows: Iterable[Row], machine: Machine, path: Path) -> list[Row]:
    """Put the rows in the place of those of the same parts; return all that the file holds.

    The machine is repeated on each line: parts may have been measured on different days.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    context = asdict(machine)
    context["all_threads"] = context.pop("threads")
    fresh = [{n: _cell(v) for n, v in asdict(row).items()} | context for row in rows]
    measured = {line["part"] for line in fresh}
    lines = [line for line in read_lines(path) if line["part"] not in measured] + fresh
    with path.open("w", newline="") as file:
        names = [*(field.name for field in fields(Row)), *context]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return [_row(line) for line in read_lines(path)]


def read_lines(path: Path) -> list[dict[str, str]]:
    """The lines of a file, if there is one."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _row(line: dict[str, str]) -> Row:
    values = {}
    for field in fields(Row):
        text = line[field.name]
        values[field.name] = float(text or nan) if field.type is float else field.type(text)
    return Row(**values)


def _cell(value: object) -> object:
    if not isinstance(value, float):
        return value
    return "" if isnan(value) else f"{value:.6g}"


def table(rows: Iterable[Row]) -> str:
    """Rows as text, in the order given, times as multiples of the first."""
    rows = list(rows)
    first = next((row.seconds_min for row in rows if row.timed), nan)
    lines = [("", "version", "k", "seconds", "median", "x first", "")]
    for row in rows:
        sign = "~" if row.share < 1 else ""
        times = (row.seconds_min, row.seconds_median, row.seconds_min / first)
        cells = ["-" if isnan(value) else sign + digits(value) for value in times]
        lines.append((row.contender, row.version, row.k, *cells, _remark(row)))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(f"{c:{a}{w}}" for c, a, w in zip(line, "<<<>>><", widths, strict=True)).rstrip()
        for line in lines
    )


def _remark(row: Row) -> str:
    scaled = f"{100 * row.share:.2g}% of the work timed, and scaled" if row.share < 1 else ""
    return "; ".join(text for text in (scaled, row.note) if text)


def pick(rows: Iterable[Row], part: str, kind: str = "") -> list[Row]:
    """The rows of a part that have a time."""
    return [row for row in rows if row.part == part and row.timed and kind in ("", row.kind)]


def quietness(rows: Iterable[Row]) -> str:
    """How busy the machine was, told by a job that never changes."""
    found = [row.reference_ms for row in rows if not isnan(row.reference_ms)]
    return f"{REFERENCE}: {min(found, default=nan):.1f} to {max(found, default=nan):.1f} ms"
