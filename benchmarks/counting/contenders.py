"""The methods that are compared: name, quantity computed, and timed function."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.counting.cases import Case
from benchmarks.counting.definition import Quantity
from benchmarks.timing import clock

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
PairFunction = Callable[[Any, Any, Any], float]  # of two columns and the classes, in nats
MatrixFunction = Callable[[Any, Any], Any]  # of a table and the classes, in nats
Kind = Literal["bestk", "peer", "yardstick", "limit"]

CHECKED = 5  # pairs whose value is compared with the definition
PROBE_COLUMNS = 24


@dataclass(frozen=True)
class Job:
    """A contender on a case, ready to be timed."""

    run: Callable[[], Any]
    units: int  # pairs, or columns, that one run does
    error: float | None = None  # largest difference from the definition, in nats


@dataclass(frozen=True)
class Contender:
    """Someone who can count."""

    name: str
    package: str
    kind: Kind
    computes: str
    make: Callable[[Case, float], Job]  # a case and the seconds that one run may take
    unit: Literal["pair", "column"] = "pair"
    threads: int | None = 1  # None: all of them
    tolerance: float = 1e-9

    @property
    def version(self) -> str:
        """Version of the package, if it is installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""


def by_pair(
    name: str, package: str, quantity: Quantity, load: Callable[[], PairFunction]
) -> Contender:
    """Make a contender of a function of one pair: it is timed on a sample of the pairs."""

    def make(case: Case, budget: float) -> Job:
        function = load()
        columns = np.ascontiguousarray(case.X.T.astype(np.int64))
        pairs = random_pairs(case.n_features, 2000)

        def run(count: int) -> Floats:
            return np.array([function(columns[i], columns[j], case.y) for i, j in pairs[:count]])

        values = run(CHECKED)
        each = clock(lambda: run(CHECKED)) / CHECKED
        count = int(np.clip(budget / each, CHECKED, len(pairs)))
        error = np.abs(values - quantity.of_pairs(case, pairs[:CHECKED])).max()
        run(count)
        return Job(lambda: run(count), count, float(error))

    return Contender(name, package, "peer", quantity.formula, make)


def by_matrix(
    name: str,
    package: str,
    kind: Kind,
    quantity: Quantity,
    load: Callable[[], MatrixFunction],
    tolerance: float = 1e-9,
    patience: float = 1.0,  # how many times the budget it is given
    order: Literal["C", "F"] = "C",
) -> Contender:
    """Make a contender of a function of a table, on as many columns as its time allows."""

    def make(case: Case, budget: float) -> Job:
        function = load()

        def table(n: int) -> Any:
            return np.asarray(case.X[:, :n], order=order)

        few = table(min(PROBE_COLUMNS, case.n_features))
        pairs = random_pairs(few.shape[1], CHECKED)
        values = np.asarray(function(few, case.y))[pairs[:, 0], pairs[:, 1]]
        error = np.abs(values - quantity.of_pairs(case, pairs)).max()
        n = _fitting(function, table, case, patience * budget)
        columns = table(n)
        function(columns, case.y)
        return Job(lambda: function(columns, case.y), n * (n - 1) // 2, float(error))

    return Contender(name, package, kind, quantity.formula, make, threads=None, tolerance=tolerance)


def _fitting(function: MatrixFunction, table: Any, case: Case, budget: float) -> int:
    """How many columns fit a budget, time growing as their square."""
    n = min(PROBE_COLUMNS, case.n_features)
    while n < case.n_features:
        few = table(n)
        seconds = min(clock(lambda few=few: function(few, case.y)) for _ in range(3))
        if seconds > budget / 16:
            return int(np.clip(n * np.sqrt(budget / seconds), 2, case.n_features))
        n = min(2 * n, case.n_features)
    return n


def random_pairs(n: int, count: int) -> Pairs:
    rng = np.random.default_rng(1)
    first = rng.integers(0, n, count)
    return np.stack([first, (first + rng.integers(1, n, count)) % n], axis=1)
