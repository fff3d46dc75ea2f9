"""Many k at once: one ordering for all of them, or each from its neighbour."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from bestk.problem import BQP
from bestk.solution import Solution
from bestk.solvers._base import Indices, Run, Solver
from bestk.solvers._referee import BoundEffort, new_run, read_problem, score
from bestk.solvers._registry import get_solver


def solve_path(
    Q: Any,
    ks: Iterable[int],
    solver: str | Solver = "tpower",
    *,
    random_state: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    bound: BoundEffort | None = None,
    strict: bool = False,
) -> list[Solution]:
    """Solve for every k of a list, sharing the work.

    Linear, Spectral, LowRank, Forward and Backward give all k for about the price of one; the
    others start from the choice of the k before.

    Parameters
    ----------
    Q, solver, random_state, strict
        As for :func:`solve`.
    ks : sequence of int
        The numbers of items.
    time_limit : float, default=None
        Seconds for all of them together.
    bound : {None, "fast", "tight"}, default=None
        What to spend on the upper bound of each.

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
    wanted = [int(k) for k in ks]
    if not wanted:
        return []
    problems = {k: read_problem(Q, k, strict) for k in wanted[:1]}
    first = problems[wanted[0]]
    problems |= {k: BQP(first.Q, k) for k in wanted}
    chosen, start = get_solver(solver), perf_counter()
    run = new_run(random_state, time_limit)
    picks = _share(chosen, problems, run)
    each = (perf_counter() - start) / len(wanted)
    solutions = {
        k: score(problems[k], chosen.name, picks[k], Run(report=dict(run.report)), bound, None)
        for k in picks
    }
    return [replace(solutions[k], seconds=each) for k in wanted]


def _share(solver: Solver, problems: Mapping[int, BQP], run: Run) -> Mapping[int, Indices]:
    if hasattr(solver, "pick_path"):
        largest = problems[max(problems)]
        picks: Mapping[int, Indices] = solver.pick_path(largest, sorted(problems), run)
        return picks
    return _from_neighbour(solver, problems, run)


def _from_neighbour(solver: Solver, problems: Mapping[int, BQP], run: Run) -> dict[int, Indices]:
    """Each k starts from the k before, grown by what helps most."""
    picks: dict[int, Indices] = {}
    before: Indices = np.empty(0, np.int64)
    for number, (k, problem) in enumerate(sorted(problems.items())):
        share = run.time_left / (len(problems) - number)
        deadline = perf_counter() + share if np.isfinite(share) else np.inf
        starts = [_grow(problem, before)] if len(before) else []
        one = Run(run.rng, deadline, starts)
        before = picks[k] = solver.pick(problem, one)
    return picks


def _grow(problem: BQP, items: Indices) -> Indices:
    """Add items greedily until there are k."""
    gain = problem.gains(items)
    grown = [int(i) for i in items]
    gain[grown] = -np.inf
    while len(grown) < problem.k:
        best = int(np.argmax(gain))
        grown.append(best)
        gain += 2 * problem.columns([best])[:, 0]
        gain[grown] = -np.inf
    return np.array(grown, np.int64)
