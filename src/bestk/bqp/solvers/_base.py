"""What a solver is given, and what it must be."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bestk._typing import Indices
from bestk.bqp.bounds import BoundEffort
from bestk.bqp.lazy import MEMORY
from bestk.bqp.problem import BQP

Needs = Literal["matrix", "columns"]
# A seed, a generator that is used as it is, or None for another one at each call.
RandomState = int | np.random.Generator | None


class Effort(NamedTuple):
    """What a choice may cost, and where its randomness comes from."""

    random_state: RandomState = None
    time_limit: float | None = None
    bound: BoundEffort | None = "fast"
    spent: float = 0.0  # operations of the work before it, as many as a default bound may take
    memory: int = MEMORY  # bytes for a matrix of pairs; above it columns are made when asked for


@dataclass
class Run:
    """One call of a solver: what it may use, and what it writes down."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    """The only source of randomness."""

    deadline: float = float("inf")
    """When the solver should return, on the clock of ``time.perf_counter``."""

    starts: Sequence[Indices] = ()
    """Choices of k items to start from, such as that of the k before."""

    details: dict[str, Any] = field(default_factory=dict)
    """What the solver has to tell; it becomes ``Solution.details``."""

    upper_bound: float = float("inf")
    """A bound that the solver proved, if it proves any."""

    spent: float = 0.0
    """Operations so far, see ``Budget``; a default bound may take as many."""

    bound: BoundEffort | None = None
    """What is spent on a bound afterwards."""

    incumbent: Indices | None = None
    """The best choice so far, for those who interrupt a solver."""

    def keep(self, items: Indices) -> None:
        """Note a choice that is better than all before."""
        self.incumbent = items

    @property
    def time_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - perf_counter()

    def spend(self, operations: float) -> None:
        """Count work of a solver, so that a bound by default may cost as much and no more."""
        self.spent += operations

    def deadline_after(self, share: float) -> float:
        """The deadline of work that may take a share of the time left."""
        return perf_counter() + share * self.time_left


class Solver(ABC):
    """Chooses k items; the base class of all solvers.

    A solver is a frozen dataclass whose fields are its settings: the same object serves every
    problem. To add one, write a subclass with a ``name`` and ``pick``, and put it into
    ``SOLVERS``, or pass it wherever a solver is asked for.

    Examples
    --------
    >>> class LargestDiagonal(Solver):
    ...     name = "diagonal"
    ...     def pick(self, problem, run):
    ...         return np.argsort(-problem.diagonal, kind="stable")[: problem.k]
    >>> from bestk.bqp import solve
    >>> solve([[1.0, 0.0], [0.0, 2.0]], k=1, solver=LargestDiagonal()).support
    array([1])
    """

    name: ClassVar[str]
    """How it is called in ``SOLVERS`` and in ``Solution.solver``."""

    needs: ClassVar[Needs] = "matrix"
    """How it reads Q: "columns" if ``problem.columns`` is enough, so that Q may be lazy."""

    ranks: ClassVar[bool] = False
    """Whether its choice for the largest k is a ranking, whose first items are those of each k."""

    reads_few_columns: ClassVar[bool] = False
    """Whether it reads so few columns that making only these costs less than the whole matrix."""

    @abstractmethod
    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return k different items, most important first; ties go to the lowest index."""

    def for_path(self, count: int) -> "Solver":
        """The solver for each of so many k, such as one that takes less time for each."""
        return self
