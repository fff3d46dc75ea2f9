"""How fast the kernels are here, on made-up tables; run as a process that may be ended."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from bestk.cli._child import tell

PRODUCT = 1024  # rows and columns of the matrices that are multiplied


@dataclass(frozen=True)
class Job:
    """Something to be timed, and how much of it there is."""

    run: Callable[[], Any]
    size: str
    count: float
    unit: str


def multiply() -> Job:
    """The reference: a product of matrices, by the machine's BLAS."""
    import numpy as np

    A = np.random.default_rng(0).random((PRODUCT, PRODUCT), dtype=np.float32)
    return Job(lambda: A @ A, f"{PRODUCT} x {PRODUCT}", 2.0 * PRODUCT**3, "flop")


def count_pairs(rows: int, columns: int, levels: int, classes: int) -> Job:
    """All pairs of columns of levels."""
    from bestk.planning import Shape

    return _pairs(Shape(rows, columns, levels=levels, classes=classes), "discrete")


def covariances(rows: int, columns: int) -> Job:
    """All pairs of columns of numbers, taken as normal."""
    from bestk.planning import Shape

    return _pairs(Shape(rows, columns, numeric=columns), "gaussian")


def _pairs(shape: Any, information: str) -> Job:
    from bestk.information._measures import SYMMETRIC_CMI
    from bestk.planning._pace import make_up
    from bestk.reading import Reading

    entropies = Reading(information, None).measure(*make_up(shape)).entropies
    count = shape.columns * (shape.columns - 1) / 2
    size = f"{shape.rows} x {shape.columns}"
    return Job(lambda: entropies.measure(SYMMETRIC_CMI), size, count, "pair")


def cut(rows: int, columns: int) -> Job:
    """Numbers cut into levels by CAIM."""
    from bestk import CAIM
    from bestk.planning import Shape
    from bestk.planning._pace import make_up

    table, y = make_up(Shape(rows, columns, numeric=columns, classes=3))
    X = table.blocks[0].values
    return Job(lambda: CAIM().fit(X, y), f"{rows} x {columns}", rows * columns, "value")


def solve_by(solver: Any, n: int, k: int) -> Job:
    """A quadratic problem of random numbers, without its bound."""
    import numpy as np

    from bestk import BQP, solve

    Q = np.random.default_rng(0).random((n, n))
    problem = BQP((Q + Q.T) / 2, k)
    return Job(lambda: solve(problem, solver=solver, random_state=0, bound=None),
               f"{k} of {n}", 1, "problem")  # fmt: skip


def _short_search() -> Any:
    """The search, with a thirtieth of the work that it may do."""
    from bestk.solvers._search import Search

    return Search(work=Search.work / 30)


JOBS: dict[str, Callable[[], Job]] = {
    "product of float32 matrices": multiply,
    "pairs, 2 levels, 2 classes": lambda: count_pairs(2000, 3000, 2, 2),
    "pairs, 10 levels, 10 classes": lambda: count_pairs(2000, 500, 10, 10),
    "pairs, covariances": lambda: covariances(2000, 1000),
    "CAIM, 3 classes": lambda: cut(2000, 500),
    "solving by tpower": lambda: solve_by("tpower", 1000, 20),
    "solving by search, in part": lambda: solve_by(_short_search(), 1000, 20),
}
NAMES = tuple(JOBS)


def time_job(make: Callable[[], Job]) -> dict[str, Any]:
    """Seconds until a first result, which compiles or loads what was, and of the quickest later."""
    from bestk.planning._pace import quickest

    start = perf_counter()
    job = make()
    job.run()
    first = perf_counter() - start
    seconds = quickest(job.run, perf_counter)
    return {
        "size": job.size,
        "unit": job.unit,
        "count": job.count,
        "first_seconds": first,
        "seconds": seconds,
        "per_second": job.count / seconds,
    }


if __name__ == "__main__":
    for name in sys.argv[1:]:
        tell(name, partial(time_job, JOBS[name]))
