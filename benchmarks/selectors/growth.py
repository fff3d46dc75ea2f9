"""Time of a fit by features and samples, and of the first fit in a new process."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.counting.cases import Case, synthetic
from benchmarks.counting.extras import _new_process
from benchmarks.counting.laws import exponent
from benchmarks.selectors.contenders import Job, Selector, race
from benchmarks.selectors.options import Options
from benchmarks.selectors.record import Row, pick
from benchmarks.selectors.tables import with_numbers
from benchmarks.timing import interleave
from bestk import SelectBestK, __version__

PART, START = "growth", "start"
K = 50
METHODS = ("tpower", "spectral", "forward", "jmi", "mrmr")
ROUNDS = 3


@dataclass(frozen=True)
class Line:
    """One size grows while the other is fixed."""

    name: str
    sizes: tuple[int, ...]
    fixed: int

    def case(self, size: int) -> Case:
        """Numbers of that size."""
        n, m = (size, self.fixed) if self.name == "n" else (self.fixed, size)
        return with_numbers(synthetic(self.name, "numbers", m, n, 2, 2))


FULL = (
    Line("n", (250, 500, 1000, 2000, 4000), 1000),
    Line("m", (500, 2000, 8000, 32_000), 500),
)
QUICK = (Line("n", (100, 200), 300), Line("m", (200, 800), 100))

TABLE = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.random((200, 20), dtype=np.float32)
y = (X[:, :5].sum(axis=1) > 2.5).astype(int)  # so that no selected column is warned of
"""
SNIPPETS = {
    "import bestk": "import bestk",
    "first SelectBestK": TABLE + "import bestk; bestk.SelectBestK(5).fit(X, y)",
    "first SelectBestK, jmi": TABLE + "import bestk; bestk.SelectBestK(5, 'jmi').fit(X, y)",
    "first SelectKBest(mutual_info_classif)": TABLE
    + "from sklearn.feature_selection import SelectKBest, mutual_info_classif\n"
    + "SelectKBest(mutual_info_classif, k=5).fit(X, y)",
}


def measure(options: Options) -> list[Row]:
    """Every size with every method; tables are made one at a time."""
    rows: list[Row] = []
    rounds = min(options.rounds, ROUNDS)
    selectors = [Selector(m, "bestk", "bestk", "", _fit(m), threads=None) for m in METHODS]
    for line in QUICK if options.quick else FULL:
        for size in line.sizes:
            rows += race(PART, line.case(size), K, selectors, rounds, options)[0]
    return [*rows, *first_fits(options)]


def first_fits(options: Options) -> list[Row]:
    """A new process for each, caches warm, imports and exit included; warnings are errors."""
    for code in SNIPPETS.values():
        _new_process(code)
    jobs: dict[str, Any] = {
        name: lambda code=code: _new_process(code) for name, code in SNIPPETS.items()
    }
    timings = interleave(jobs, min(options.rounds, ROUNDS))
    row = Row(START, "new process", "", "bestk", __version__, "5", 20, 200)
    return [
        replace(row, contender=name, seconds_min=t.best, seconds_median=t.median)
        for name, t in timings.items()
    ]


def _fit(method: str) -> Callable[[Case, int, Options], Job]:
    def make(case: Case, k: int, options: Options) -> Job:
        def run() -> Any:
            return SelectBestK(k, method).fit(case.raw, case.y)

        run()
        return Job(run)

    return make


def report(rows: list[Row]) -> str:
    """Seconds at each size, and the power that they grow with."""
    lines = []
    for name in dict.fromkeys(row.case for row in pick(rows, PART)):
        lines.append(f"seconds of a fit, k = {K}, against {name}")
        for method in METHODS:
            own = line(rows, name, method)
            sizes = [row.n_features if name == "n" else row.n_samples for row in own]
            points = zip(sizes, own, strict=True)
            text = "   ".join(f"{size}: {row.seconds_min:.3g}" for size, row in points)
            lines.append(f"  {method:10} power {exponent(own, name):.2f}   {text}")
    starts = (f"{row.contender} {row.seconds_min:.2f} s" for row in pick(rows, START))
    return "\n".join([*lines, "in a new process: " + "; ".join(starts)])


def line(rows: list[Row], name: str, method: str) -> list[Row]:
    """The points of one method, by rising size."""
    own = [row for row in pick(rows, PART) if row.case == name and row.contender == method]
    return sorted(own, key=lambda row: (row.n_features, row.n_samples))
