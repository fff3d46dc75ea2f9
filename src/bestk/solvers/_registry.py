"""The solvers by name."""

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from bestk._typing import Indices
from bestk.problem import BQP, best_first
from bestk.solvers._base import Needs, Run, Solver
from bestk.solvers._exact import Exact
from bestk.solvers._greedy import Forward, Swap
from bestk.solvers._lowrank import LowRank
from bestk.solvers._ranking import Linear, Spectral
from bestk.solvers._sdp import SDP
from bestk.solvers._search import Search
from bestk.solvers._simplex import Simplex
from bestk.solvers._tpower import TruncatedPower

TPOWER = TruncatedPower(warm_start=True)


@dataclass(frozen=True)
class Auto:
    """Forward and TPower, then Search from the better of both for the rest of the time.

    The time is the run's limit, or one second. A problem with one choice, k = n, needs none; so
    does k = 1, which is the largest diagonal entry.
    """

    seconds: float = 1.0

    name: ClassVar[str] = "auto"
    needs: ClassVar[Needs] = "columns"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others."""
        if problem.k == problem.n:
            return best_first(problem, range(problem.n))
        if problem.k == 1:
            return np.array([int(np.argmax(problem.diagonal))])
        if run.deadline == float("inf"):
            run.deadline = perf_counter() + self.seconds
        found = [solver.pick(problem, run) for solver in (Forward(), TPOWER)]
        run.starts, run.details["incumbent"] = [*run.starts, *found], max(found, key=problem.value)
        return Search().pick(problem, run)


ALL = (
    Linear(), Spectral(), TruncatedPower(), LowRank(), SDP(), Forward(), Swap(),
    Search(), Exact(), Simplex(), Auto(),
)  # fmt: skip
SOLVERS: dict[str, Solver] = {solver.name: solver for solver in ALL}


def get_solver(solver: str | Solver) -> Solver:
    """The solver of that name, or the one given."""
    if hasattr(solver, "pick") and not isinstance(solver, str | type):
        return solver
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; choose one of {', '.join(SOLVERS)}")
    return SOLVERS[solver]
