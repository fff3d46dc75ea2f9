"""What a solver is given, and what it must be."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bestk.problem.problem import BQP

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
# "columns": works on a lazy Q too; "products": on one that multiplies vectors
Needs = Literal["matrix", "columns", "products"]


@dataclass
class Run:
    """One call of a solver: its randomness, its time, where it may start, what it reports."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    deadline: float = float("inf")  # on the clock of time.perf_counter
    starts: Sequence[Indices] = ()  # choices to start from; any length, repaired by the solver
    report: dict[str, Any] = field(default_factory=dict)  # becomes Solution.details
    upper_bound: float = float("inf")  # a bound the solver proved, if it proves any

    @property
    def time_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - perf_counter()


class Solver(Protocol):
    """A dataclass whose fields are settings; frozen, and the same for every run."""

    name: ClassVar[str]
    needs: ClassVar[Needs]

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return k different items, most important first."""


class PathSolver(Solver, Protocol):
    """A solver that serves many k for about the price of one."""

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """Return a choice for each k."""


@runtime_checkable
class Patient(Solver, Protocol):
    """A solver that takes less time where it is asked for many k, one after the other."""

    def for_path(self, count: int) -> Solver:
        """The solver for each of so many k."""


def top_k(scores: Floats, k: int) -> Indices:
    """The k largest scores, largest first; ties go to the lowest index.

    Examples
    --------
    >>> top_k(np.array([1.0, 3.0, 3.0, 2.0]), 2)
    array([1, 2])
    """
    if k == 0:
        return np.empty(0, np.int64)
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > least)
    level = np.flatnonzero(scores == least)[: k - len(above)]
    chosen = np.concatenate([above, level])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def best_first(problem: BQP, items: Iterable[int]) -> Indices:
    """Order chosen items by what each adds to the others."""
    chosen = np.sort(np.asarray(list(items), np.int64))
    gains = problem.gains(chosen)[chosen]
    return chosen[np.argsort(-gains, kind="stable")]


def grow(problem: BQP, items: Indices) -> Indices:
    """Add items, each the one that helps most, until there are k."""
    gain = problem.gains(items)
    grown = [int(i) for i in items]
    gain[grown] = -np.inf
    while len(grown) < problem.k:
        best = int(np.argmax(gain))
        grown.append(best)
        gain += 2 * problem.columns([best])[:, 0]
        gain[grown] = -np.inf
    return np.array(grown, np.int64)
