"""The numbers published in the paper."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DECISIONS = {"w": "win", "t": "tie", "l": "loss"}
CELL = re.compile(r"(-?[\d.]+) ± ([\d.]+) ([wtl])")


@dataclass(frozen=True)
class Cell:
    """A difference of mean errors in percent, its deviation, and a decision."""

    difference: float
    deviation: float
    decision: str

    def exceeds(self, share: float) -> bool:
        """Whether the difference exceeds that share of its deviation."""
        return abs(self.difference) > share * self.deviation

    def __str__(self) -> str:
        return f"{self.difference:+.2f} ± {self.deviation:.1f} {self.decision[0]}"


@dataclass(frozen=True)
class Table:
    """One method against others, by data set: Table 3 or 4; None where the paper has N/A."""

    ours: str
    others: tuple[str, ...]
    totals: tuple[str, ...]
    rows: dict[str, dict[str, Cell | None]]


@cache
def read() -> dict[str, Any]:
    """The whole file."""
    return tomllib.loads(Path(__file__).with_name("published.toml").read_text())


def complexities() -> dict[str, str]:
    """Table 1."""
    return dict(read()["table1"])


def all_features() -> dict[str, tuple[int, int, int, float]]:
    """Table 2: features, samples, classes, error in percent on all features."""
    return {name: tuple(row) for name, row in read()["table2"].items()}


def comparison(name: str) -> Table:
    """``table3``, of TPower, or ``table4``, of LowRank."""
    raw, ours = read()[name], {"table3": "tpower", "table4": "lowrank"}[name]
    rows = {
        data: dict(zip(raw["columns"], map(_cell, cells), strict=True))
        for data, cells in raw["rows"].items()
    }
    return Table(ours, tuple(raw["columns"]), tuple(raw["totals"]), rows)


def _cell(text: str) -> Cell | None:
    if text == "N/A":
        return None
    found = CELL.fullmatch(text)
    if found is None:
        raise ValueError(f"a cell is like '-0.37 ± 1.4 t' or N/A, not {text!r}")
    return Cell(float(found[1]), float(found[2]), DECISIONS[found[3]])
