"""Many k at once: one ordering for all of them, or each from its neighbour."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from bestk._checks import whole
from bestk._typing import Indices
from bestk.native.threads import Stopwatch
from bestk.problem import BQP, NO_ITEMS, Solution, grow
from bestk.solvers._base import Patient, Ranking, Run, Solver
from bestk.solvers._referee import (
    BoundEffort,
    check_matrix,
    check_options,
    get_solver,
    new_run,
    read_problem,
    solve_in_turn,
    with_useful_bound,
)


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

    Linear, Spectral, Simplex and Forward rank the items once; the draws of LowRank are shared out
    among the k. TPower solves each k by itself unless it has ``warm_start=True``; the others start
    from the choice of the k before.

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
    chosen = get_solver(solver)
    if not isinstance(chosen, Ranking):
        return solve_each(problems.__getitem__, wanted, chosen, random_state=random_state,
                          time_limit=time_limit, bound=bound)  # fmt: skip
    check_matrix(first, chosen)
    run, start, work = new_run(random_state, time_limit), perf_counter(), Stopwatch()
    part = replace(run, deadline=run.part(0.5)) if bound == "tight" else run
    order = chosen.pick(problems[max(wanted)], part)
    each, run.spent = (perf_counter() - start) / len(wanted), work.seconds / len(wanted)
    solutions = solve_in_turn(
        problems.__getitem__, wanted, chosen, lambda problem, _: order[: problem.k], run, bound
    )
    return [with_useful_bound(replace(one, seconds=each + one.seconds)) for one in solutions]


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
    wanted, before = list(ks), NO_ITEMS
    each = solver.for_path(len(set(wanted))) if isinstance(solver, Patient) else solver

    def pick(problem: BQP, run: Run) -> Indices:
        nonlocal before
        run.starts = [grow(problem, before, run.deadline)] if len(before) else []
        before = each.pick(problem, run)
        return before

    run = new_run(random_state, time_limit)
    solutions = solve_in_turn(problem_of, wanted, solver, pick, run, bound)
    return [with_useful_bound(solution) for solution in solutions]
