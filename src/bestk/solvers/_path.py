"""Many k at once: one ordering for all of them, or each from its neighbour."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from bestk._checks import whole
from bestk._typing import Indices
from bestk.bounds import MIN_BOUND_SECONDS
from bestk.native.threads import Stopwatch
from bestk.problem import BQP, Solution, grow
from bestk.solvers._base import Patient, Run, Solver
from bestk.solvers._referee import (
    BoundEffort,
    check_matrix,
    check_options,
    new_run,
    read_problem,
    score,
    with_useful_bound,
)
from bestk.solvers._registry import get_solver


def solve_path(
    Q: Any,
    ks: Iterable[int],
    solver: str | Solver = "tpower",
    *,
    random_state: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    bound: BoundEffort | None = None,
) -> list[Solution]:
    """Solve for every k of a list, sharing the work.

    Linear, Spectral, LowRank and Forward give all k for about the price of one. TPower solves each
    k by itself unless it has ``warm_start=True``; the others start from the choice of the k before.

    Parameters
    ----------
    Q, solver, random_state
        As for :func:`solve`.
    ks : sequence of int
        The numbers of items.
    time_limit : float, default=None
        Seconds for all of them together, bounds included.
    bound : {None, "fast", "tight"}, default=None
        What to spend on the upper bound of each: nothing; at most as long as the selection took;
        or as much as it takes, with a time limit half of it.

    Returns
    -------
    list of Solution
        In the order of ``ks``; ``seconds`` is the share of each.

    Examples
    --------
    >>> Q = [[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
    >>> [solution.objective for solution in solve_path(Q, [1, 2, 3], solver="exact")]
    [3.0, 10.0, 13.0]
    """
    try:
        wanted = [whole(k, "each of ks") for k in ks]
    except TypeError as error:
        raise ValueError(f"ks must be a list of whole numbers, not {ks!r}") from error
    check_options(bound, time_limit)
    if not wanted:
        return []
    first = read_problem(Q, wanted[0])
    problems = {k: first.with_k(k) for k in wanted}
    chosen, start, work = get_solver(solver), perf_counter(), Stopwatch()
    check_matrix(first, chosen)
    if not hasattr(chosen, "pick_path"):
        return solve_each(problems.__getitem__, wanted, chosen, random_state=random_state,
                          time_limit=time_limit, bound=bound)  # fmt: skip
    total = new_run(random_state, time_limit)
    run = replace(total, deadline=total.part(0.5)) if bound == "tight" else total
    picks: Mapping[int, Indices] = chosen.pick_path(problems[max(wanted)], sorted(problems), run)
    each = (perf_counter() - start) / len(wanted)
    worked = work.seconds / len(wanted)
    solutions = {}
    for number, k in enumerate(sorted(picks)):
        budget = _bound_seconds(bound, worked, time_limit, total.part(1 / (len(picks) - number)))
        one = Run(details=dict(run.details))
        solutions[k] = score(problems[k], chosen.name, picks[k], one, bound, budget)
    return [with_useful_bound(replace(solutions[k], seconds=each)) for k in wanted]


def _bound_seconds(
    bound: BoundEffort | None, seconds: float, time_limit: float | None, deadline: float
) -> float | None:
    """Seconds for the bound of one k, whose selection took so many of work."""
    left = deadline - perf_counter()
    if bound == "fast":
        return max(MIN_BOUND_SECONDS, seconds) if time_limit is None else min(seconds, left)
    return None if time_limit is None else max(0.0, left)


def solve_each(
    problem_of: Callable[[int], BQP],
    ks: Iterable[int],
    solver: Solver,
    *,
    random_state: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    bound: BoundEffort | None = None,
) -> list[Solution]:
    """Solve a problem for every k, each from the choice of the k before, grown by what helps most.

    Problems are asked for by rising k, one at a time, so they may share memory.
    """
    wanted = list(ks)
    if isinstance(solver, Patient):
        solver = solver.for_path(len(set(wanted)))
    run, before = new_run(random_state, time_limit), np.empty(0, np.int64)
    solutions: dict[int, Solution] = {}
    for number, k in enumerate(sorted(set(wanted))):
        problem, start, work = problem_of(k), perf_counter(), Stopwatch()
        check_matrix(problem, solver)
        deadline = run.part(1 / (len(set(wanted)) - number))
        starts = [grow(problem, before, deadline)] if len(before) else []
        one = Run(run.rng, deadline, starts)
        if bound == "tight":
            one.deadline = one.part(0.5)
        before = solver.pick(problem, one)
        seconds = perf_counter() - start
        budget = _bound_seconds(bound, work.seconds, time_limit, deadline)
        solution = score(problem, solver.name, before, one, bound, budget)
        solutions[k] = with_useful_bound(replace(solution, seconds=seconds))
    return [solutions[k] for k in wanted]
