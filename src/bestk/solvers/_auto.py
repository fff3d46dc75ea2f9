"""The best answer that a second buys."""

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from bestk.problem.problem import BQP
from bestk.solvers._base import Indices, Needs, Run, best_first
from bestk.solvers._greedy import Forward
from bestk.solvers._search import Search
from bestk.solvers._tpower import TruncatedPower


@dataclass(frozen=True)
class Auto:
    """Forward and TPower, then Search from the best of both for the rest of the time.

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
        starts = [*run.starts, Forward().pick(problem, run), TruncatedPower().pick(problem, run)]
        run.starts = starts
        best = max(starts[-2:], key=problem.value)
        run.report["incumbent"] = best
        found = Search().pick(problem, run)
        return best_first(problem, max((found, best), key=problem.value))
