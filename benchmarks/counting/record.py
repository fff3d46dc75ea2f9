"""The results of a run, and a table of them."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import Machine


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
    threads: int
    units: int | None = None  # pairs, or columns, that were measured
    units_total: int | None = None  # and how many there are
    seconds_min: float | None = None  # of all of them, scaled where only a part was measured
    seconds_median: float | None = None
    times_bestk: float | None = None
    error: float | None = None  # largest difference from the definition
    reference_ms: float | None = None  # a fixed matrix product in the same rounds: is it quiet?
    note: str = ""

    def timed(self, **found: Any) -> "Row":
        """The same row with what was measured."""
        return replace(self, **found)

    @property
    def microseconds(self) -> float | None:
        """Time of one pair, or of one column."""
        if self.seconds_min is None or self.units_total is None:
            return None
        return 1e6 * self.seconds_min / self.units_total

    @property
    def scaled(self) -> bool:
        """Whether only a part was measured."""
        return self.units is not None and self.units != self.units_total


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
    for row in sorted(rows, key=lambda row: (row.unit, row.microseconds or np.inf)):
        if row.seconds_min is None:
            lines.append((row.contender, row.version, row.computes, *"----", row.note))
            continue
        sign = "~" if row.scaled else ""
        each = f"{digits(row.microseconds)}/{row.unit}"
        ratio = "" if row.times_bestk is None else digits(row.times_bestk)
        seconds, median = sign + digits(row.seconds_min), sign + digits(row.seconds_median)
        note = f"{row.units} of {row.units_total} {row.unit}s measured. " if row.scaled else ""
        text = (row.contender, row.version, row.computes, seconds, median, each, ratio)
        lines.append((*text, note + row.note))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    align = "<<<>>>><"
    return "\n".join(
        "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(line, align, widths, strict=True)).rstrip()
        for line in lines
    )


def digits(value: float) -> str:
    """A number in three digits or more, never with a large power of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
