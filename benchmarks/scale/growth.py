"""Running time by columns and rows: ``python -m benchmarks.scale.growth``.

Each path goes from a table of two levels and two classes in memory to 50 features by ``forward``:
all pairs by the C kernels, on a GPU (or PyTorch on the CPU) and by two workers of dask;
columns of pairs on demand. Paths that take over ``--most`` seconds are not tried on larger tables.
Rows go to ``benchmarks/results/growth.csv``, and the picture beside it.
"""

import argparse
import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS
from benchmarks.scale.growth_picture import draw
from benchmarks.scale.record import Row, append, peak_gib
from benchmarks.timing import clock
from bestk import encode
from bestk.bqp.solvers import solve
from bestk.information import Entropies
from bestk.methods.quadratic import get_objective
from bestk.tables.target import read_classes

FILE = RESULTS / "growth.csv"
K, LEVELS, CLASSES, WORKERS = 50, 2, 2, 2
SHORT, AGAIN = 0.5, 3  # seconds below which a path is timed some times more


@dataclass(frozen=True)
class Shape:
    """The size of a table."""

    rows: int
    columns: int


@dataclass(frozen=True)
class Line:
    """One size grows while the other is fixed."""

    grows: str
    sizes: tuple[int, ...]
    fixed: int

    def shapes(self) -> Iterator[Shape]:
        """The table of each size."""
        for size in self.sizes:
            rows, columns = (self.fixed, size) if self.grows == "n" else (size, self.fixed)
            yield Shape(rows, columns)


FULL = (
    Line("n", (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000), 1000),
    Line("m", (100, 300, 1000, 3000, 10_000, 30_000, 100_000), 300),
)
QUICK = (Line("n", (100, 300, 1000, 3000), 300), Line("m", (100, 1000, 5000), 100))


def fit_matrix(backend: str) -> Callable[[Any, Any], Any]:
    """All pairs in memory."""

    def run(X: Any, y: Any) -> Any:
        entropies = Entropies.count(encode(X), read_classes(y, len(y)), backend)
        return _choose(get_objective("cmi").pairs(entropies))

    return run


def fit_columns(X: Any, y: Any) -> Any:
    """Columns of pairs, made when the solver asks for them."""
    entropies = Entropies.count(encode(X), read_classes(y, len(y)))
    return _choose(get_objective("cmi").lazy_pairs(entropies))


def _choose(pairs: Any) -> Any:
    problem, _ = pairs.problem(K)
    return solve(problem, solver="forward", bound=None)


@dataclass(frozen=True)
class Contender:
    """A way to count pairs."""

    name: str
    run: Callable[[Any, Any], Any]
    most_columns: int = 10**9  # beyond them its matrix, or its counts, take gigabytes


ALWAYS = (
    Contender("matrix, native", fit_matrix("native"), 20_000),
    Contender("columns, native", fit_columns),
)


def main() -> None:
    options = _read_options()
    with ExitStack() as stack:
        contenders = [*ALWAYS, *_extras(stack)]
        for line in QUICK if options.quick else FULL:
            _measure(line, contenders, options)
    draw(options.out)


def _measure(line: Line, contenders: list[Contender], options: argparse.Namespace) -> None:
    """Every size with every path that is quick enough."""
    slow: set[str] = set()
    for shape in line.shapes():
        rng = np.random.default_rng(0)
        X = rng.integers(0, LEVELS, (shape.rows, shape.columns), dtype=np.uint8)
        y = rng.integers(0, CLASSES, shape.rows)
        for one in contenders:
            if one.name not in slow and shape.columns <= one.most_columns:
                seconds, processors = _time(one, X, y)
                told = f"{processors:.3g} s of processors in this process"
                _keep(line, shape, one.name, seconds, options.out, told)
                slow |= {one.name} if seconds > options.most else set()


def _time(one: Contender, X: Any, y: Any) -> tuple[float, float]:
    """The best of a few runs: seconds, and those of all processors, which others cannot slow."""
    one.run(X[:64, :64], y[:64])  # loads, and on a GPU compiles
    times = [_clock(one, X, y)]
    if times[0][0] < SHORT:
        times += [_clock(one, X, y) for _ in range(AGAIN)]
    return min(seconds for seconds, _ in times), min(processors for _, processors in times)


def _clock(one: Contender, X: Any, y: Any) -> tuple[float, float]:
    start = process_time()
    seconds = clock(lambda: one.run(X, y))
    return seconds, process_time() - start


def _extras(stack: ExitStack) -> list[Contender]:
    """What is installed beside the C kernels."""
    found = []
    if find_spec("torch"):
        import torch

        cuda = torch.cuda.is_available()
        name = torch.cuda.get_device_name() if cuda else "torch on the CPU"
        most = 20_000 if cuda else 2000
        run = fit_matrix("torch:cuda" if cuda else "torch:cpu")
        found.append(Contender(f"matrix, {name}", run, most_columns=most))
    if find_spec("distributed"):
        from distributed import Client, LocalCluster

        options = {"threads_per_worker": 1, "dashboard_address": None}
        cluster = stack.enter_context(LocalCluster(n_workers=WORKERS, **options))
        stack.enter_context(Client(cluster))
        run = fit_matrix("dask")
        found.append(Contender(f"matrix, dask, {WORKERS} workers", run, most_columns=10_000))
    return found


def _keep(
    line: Line, shape: Shape, name: str, seconds: float, path: Path, detail: str = ""
) -> None:
    size = shape.columns, shape.rows, str(LEVELS), K
    place = f"{line.grows}  n = {shape.columns:7,}  m = {shape.rows:7,}"
    print(f"{place}  {name:36} {seconds:.4g} s  {detail}")
    append(Row(line.grows, name, *size, seconds, peak_gib(), detail), path)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--most", type=float, default=5.0, help="seconds of one run")
    parser.add_argument("--out", type=Path, default=FILE, help="where rows are appended")
    return parser.parse_args()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
