"""What a solver is given, and what it must be."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from bestk._typing import Indices
from bestk.bqp.lazy import MEMORY
from bestk.bqp.problem import BQP

Needs = Literal["matrix", "columns"]  # "columns": works on a lazy Q too
BoundEffort = Literal["fast", "tight"]


class Effort(NamedTuple):
    """What a choice may cost, and where its randomness comes from."""

    random_state: Any = None
    time_limit: float | None = None
    bound: BoundEffort | None = "fast"
    spent: float = 0.0  # operations of the work before it, as many as a default bound may take
    memory: int = MEMORY  # bytes for a matrix of pairs; above it columns are made when asked for


@dataclass
class Run:
    """One call of a solver: its randomness, its time, its starts, and its findings."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    deadline: float = float("inf")  # on the clock of time.perf_counter
    starts: Sequence[Indices] = ()  # choices of k items to start from
    details: dict[str, Any] = field(default_factory=dict)  # becomes Solution.details
    upper_bound: float = float("inf")  # a bound the solver proved, if it proves any
    spent: float = 0.0  # operations so far, see ``Budget``; a default bound may take as many
    bound: BoundEffort | None = None  # what to spend on a bound afterwards

    @property
    def time_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - perf_counter()

    def spend(self, operations: float) -> None:
        """Count work of a solver, so that a bound by default may cost as much and no more."""
        self.spent += operations

    def part(self, share: float) -> float:
        """The deadline of a part of the work that may take a share of the time left."""
        return perf_counter() + share * self.time_left


class Solver(Protocol):
    """A dataclass whose fields are settings; frozen, and the same for every run."""

    name: ClassVar[str]
    needs: ClassVar[Needs]

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return k different items, most important first."""


@runtime_checkable
class Ranking(Solver, Protocol):
    """A solver that ranks the items: one order serves every k."""

    ranks: ClassVar[bool]


@runtime_checkable
class Patient(Solver, Protocol):
    """A solver that takes less time for each of many k."""

    def for_path(self, count: int) -> Solver:
        """The solver for each of so many k."""
