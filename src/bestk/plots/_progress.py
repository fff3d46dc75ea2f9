"""A solve that is watched: every better choice and every lower bound, with its time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from time import perf_counter
from typing import Any

import numpy as np

from bestk.bounds import bound_problem
from bestk.problem.problem import BQP
from bestk.solvers._base import Run, Solver
from bestk.solvers._referee import check_matrix, read_problem
from bestk.solvers._registry import get_solver

Point = tuple[float, float]  # seconds, value
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # of the time limit, for one bound after the other


@dataclass(frozen=True)
class Progress:
    """What a solve had found and proved, and when."""

    found: Sequence[Point]  # seconds since the start, value of a choice better than all before
    bounds: Sequence[Point] = ()  # seconds since the start, value that no choice exceeds
    solver: str = ""


def watch(
    Q: Any,
    k: int | None = None,
    solver: str | Solver = "auto",
    *,
    random_state: Any = None,
    time_limit: float = 1.0,
    bound_limit: float = 5.0,
) -> Progress:
    """Bound, solve and bound again, and note each better choice and each lower bound.

    First comes a fast bound, then the solver, then, if the two have not met, the tight bound: it
    is computed anew with growing limits of time, and what each has proved is noted at the time
    that it took, as if it had been the only one.

    Parameters
    ----------
    Q, k, solver, random_state
        As for :func:`bestk.solve`.
    time_limit : float, default=1.0
        Seconds for the solver.
    bound_limit : float, default=5.0
        Seconds for the longest of the tight bounds; all of them take up to twice as long.

    Returns
    -------
    Progress
        For :func:`plot_convergence`.

    Examples
    --------
    >>> Q = [[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
    >>> progress = watch(Q, k=2, solver="exact")
    >>> progress.found[-1][1], progress.bounds[-1][1]
    (10.0, 10.0)
    """
    problem, chosen = read_problem(Q, k), get_solver(solver)
    check_matrix(problem, chosen)
    run = _Watched(problem, random_state)
    run.upper_bound = bound_problem(problem, "fast").value
    run.deadline = perf_counter() + time_limit
    run.note_choice(chosen.pick(problem, run))
    if run.upper_bound > run.best:
        _lower_the_bound(run, bound_limit)
    return Progress(tuple(run.found), tuple(run.bounds), chosen.name)


def _lower_the_bound(run: "_Watched", longest: float) -> None:
    """Bound with more and more time, until the bound is met or has no use for more."""
    begun = run.seconds
    for share in SHARES:
        limit = share * longest
        bound = bound_problem(run.problem, "tight", limit, best_known=run.best)
        run.note_bound(max(bound.value, run.best), begun + bound.seconds)
        if run.upper_bound <= run.best or bound.seconds < limit:
            return


class _Watched(Run):
    """A run that keeps what it is told: better choices in its report, lower bounds as its own."""

    def __init__(self, problem: BQP, random_state: Any) -> None:
        self.problem, self.start = problem, perf_counter()
        self.found: list[Point] = []
        self.bounds: list[Point] = []
        super().__init__(np.random.default_rng(random_state), report=_Report(self.note_choice))

    @property
    def seconds(self) -> float:
        """Since the start."""
        return perf_counter() - self.start

    @property
    def best(self) -> float:
        """The value of the best choice so far."""
        return self.found[-1][1] if self.found else -inf

    @property
    def upper_bound(self) -> float:
        """The lowest bound so far."""
        return self.bounds[-1][1] if self.bounds else inf

    @upper_bound.setter
    def upper_bound(self, bound: float) -> None:
        self.note_bound(bound, self.seconds)

    def note_choice(self, items: Any) -> None:
        """Keep the value of a choice that is better than all before."""
        value = self.problem.value(items)
        if value > self.best:
            self.found.append((self.seconds, value))

    def note_bound(self, bound: float, seconds: float) -> None:
        """Keep a bound that is lower than all before."""
        if bound < self.upper_bound:
            last = self.bounds[-1][0] if self.bounds else -inf  # a longer try may end sooner
            self.bounds.append((max(seconds, nextafter(last, inf)), bound))


class _Report(dict[str, Any]):
    """The report of a run, which passes on each choice that is the best so far."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        super().__init__()
        self.tell = tell

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        if key == "incumbent":
            self.tell(value)
