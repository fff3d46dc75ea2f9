"""Running time by number of features and samples, with fitted exponents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.counting.cases import Case, synthetic
from benchmarks.counting.limits import AND_POPCOUNT
from benchmarks.counting.ours import PAIRS_ONLY, STAGE_ONLY, WHOLE_CALL
from benchmarks.counting.race import race
from benchmarks.counting.record import Row

MEASURED = (WHOLE_CALL, STAGE_ONLY, PAIRS_ONLY, AND_POPCOUNT)


@dataclass(frozen=True)
class Law:
    """Time is to grow as a power of one size while the other is fixed."""

    name: str
    power: float
    sizes: tuple[int, ...]  # of what varies
    fixed: int

    def case(self, size: int) -> Case:
        """A binary table of that size."""
        n, m = (size, self.fixed) if self.name == "n" else (self.fixed, size)
        return synthetic(self.name, f"binary, n = {n}, m = {m}", m, n, 2, 2)


FULL = (
    Law("n", 2.0, (500, 1000, 2000, 4000, 8000), 6000),
    Law("m", 1.0, (1500, 3000, 6000, 12_000, 24_000, 48_000, 96_000), 1000),
)
QUICK = (
    Law("n", 2.0, (250, 500, 1000), 6000),
    Law("m", 1.0, (1500, 3000, 6000, 12_000), 300),
)


def measure(law: Law, rounds: int, threads: int) -> list[Row]:
    """Time every size; tables are made one at a time, since the last are large."""
    rows = []
    for size in law.sizes:
        rows += race(law.case(size), rounds, 1.0, threads, MEASURED, part="laws")
    return rows


def sizes(rows: list[Row], law: str) -> NDArray[np.float64]:
    return np.array([row.n_features if law == "n" else row.n_samples for row in rows], float)


def seconds(rows: list[Row]) -> NDArray[np.float64]:
    return np.array([row.seconds_min for row in rows], float)


def exponent(rows: list[Row], law: str) -> float:
    """Slope of log time against log size."""
    return float(np.polyfit(np.log(sizes(rows, law)), np.log(seconds(rows)), 1)[0])


def report(law: Law, rows: list[Row]) -> str:
    """The fitted power of each contender, and time over the law at each size."""
    fixed = f"m = {law.fixed}" if law.name == "n" else f"n = {law.fixed}"
    lines = [
        f"time against {law.name}, binary columns, {fixed}: seconds, and in brackets "
        f"time / {law.name}^{law.power:g} as a multiple of its value at the largest {law.name}"
    ]
    for contender in MEASURED:
        own = [row for row in rows if row.contender == contender.name and row.seconds_min]
        if not own:
            lines.append(f"{contender.name:22}  not run")
            continue
        x, t = sizes(own, law.name), seconds(own)
        over = (t / t[-1]) / (x / x[-1]) ** law.power
        points = zip(x, t, over, strict=True)
        text = "   ".join(f"{size:.0f}: {time:.3g} ({excess:.2f})" for size, time, excess in points)
        lines.append(f"{contender.name:22}  power {exponent(own, law.name):.2f}   {text}")
    return "\n".join(lines)
