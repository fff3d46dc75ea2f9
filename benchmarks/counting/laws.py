"""Time against the number of features and of samples, and the powers they grow with."""

from dataclasses import dataclass

import numpy as np

from benchmarks.counting.cases import Case, synthetic
from benchmarks.counting.limits import AND_POPCOUNT
from benchmarks.counting.ours import STAGE_ONLY, WHOLE_CALL
from benchmarks.counting.record import Row
from benchmarks.counting.timing import interleave


@dataclass(frozen=True)
class Law:
    """Time is to grow as a power of one size while the other is fixed."""

    name: str
    power: float
    sizes: tuple[int, ...]  # of what varies
    fixed: int

    def case(self, size: int) -> Case:
        n, m = (size, self.fixed) if self.name == "n" else (self.fixed, size)
        return synthetic(f"{self.name} = {size}", f"binary, n = {n}, m = {m}", m, n, 2, 2)


FULL = (
    Law("n", 2.0, (500, 1000, 2000, 4000, 8000), 6000),
    Law("m", 1.0, (1500, 3000, 6000, 12_000, 24_000, 48_000, 96_000), 1000),
)
QUICK = (
    Law("n", 2.0, (250, 500, 1000), 6000),
    Law("m", 1.0, (1500, 3000, 6000, 12_000), 300),
)
MEASURED = (WHOLE_CALL, STAGE_ONLY, AND_POPCOUNT)


def measure(law: Law, rounds: int, threads: int) -> list[Row]:
    """Time every size; large tables are made one at a time."""
    rows = []
    for size in law.sizes:
        case = law.case(size)
        jobs = {c.name: c.make(case, 0.0).run for c in MEASURED}
        timings = interleave(jobs, rounds)
        for c in MEASURED:
            timing = timings[c.name]
            rows.append(
                Row(
                    "laws", law.name, c.name, c.kind, c.version, c.computes, "pair",
                    case.n_features, len(case.X), case.n_pairs, case.n_pairs,
                    timing.best, timing.median, threads,
                    timing.best / timings[WHOLE_CALL.name].best,
                )
            )  # fmt: skip
    return rows


def sizes(rows: list[Row], law: str) -> np.ndarray:
    return np.array([row.n_features if law == "n" else row.n_samples for row in rows], float)


def seconds(rows: list[Row]) -> np.ndarray:
    return np.array([row.best for row in rows], float)


def exponent(rows: list[Row], law: str) -> float:
    """Slope of log time against log size."""
    return float(np.polyfit(np.log(sizes(rows, law)), np.log(seconds(rows)), 1)[0])


def report(law: Law, rows: list[Row]) -> str:
    """The fitted power of each contender, and time over the law at each size."""
    lines = [f"{'':22}  power  law  time / {law.name}^{law.power:g}, the largest size being 1"]
    for contender in MEASURED:
        own = [row for row in rows if row.contender == contender.name]
        over = seconds(own) / sizes(own, law.name) ** law.power
        points = "  ".join(
            f"{size:.0f}: {value:.2f}"
            for size, value in zip(sizes(own, law.name), over / over[-1], strict=True)
        )
        lines.append(
            f"{contender.name:22}  {exponent(own, law.name):5.2f}  {law.power:3g}  {points}"
        )
    return "\n".join(lines)
