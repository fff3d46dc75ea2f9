"""Many k at once: one ordering for all of them, or each from its neighbour."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter
from typing import Any

from bestk._checks import whole
from bestk._typing import Indices
from bestk.bqp.bounds import BoundEffort
from bestk.bqp.problem import BQP, NO_ITEMS, grow
from bestk.bqp.solution import Solution
from bestk.bqp.solvers import _referee as referee
from bestk.bqp.solvers._base import Effort, RandomState, Run, Solver
from bestk.bqp.solvers._registry import get_solver
from bestk.errors import ParameterError


def solve_path(
    Q: Any,
    ks: Iterable[int],
    solver: str | Solver = "tpower",
    *,
    random_state: RandomState = None,
    time_limit: float | None = None,
    bound: BoundEffort | None = None,
) -> list[Solution]:
    """Solve for every k of a list, sharing the work.

    Linear, Spectral, Simplex and Forward rank the items once; the draws of LowRank are shared out
    among the k. TPower solves each k by itself unless it has ``warm_start=True``; the others start
    from the choice of the k before.

    Parameters
    ----------
    Q, solver, random_state, bound
        As for :func:`solve`; there is no bound by default.
    ks : sequence of int
        The numbers of items.
    time_limit : float, default=None
        Seconds for all of them together, of which tight bounds have half; a solution has its share
        in ``seconds``.

    Examples
    --------
    >>> Q = [[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
    >>> [solution.objective for solution in solve_path(Q, [1, 2, 3], solver="exact")]
    [3.0, 10.0, 13.0]
    """
    try:
        wanted = [whole(k, "each of ks") for k in ks]
    except TypeError as error:
        raise ParameterError(f"ks must be a list of whole numbers, not {ks!r}") from error
    referee.check_options(bound, time_limit)
    if not wanted:
        return []
    first = referee.read_problem(Q, wanted[0])
    problems = {k: first.with_k(k) for k in wanted}
    chosen_solver = get_solver(solver)
    effort = Effort(random_state, time_limit, bound)
    if chosen_solver.ranks:
        return _solve_by_ranking(problems, wanted, chosen_solver, effort)
    return solve_each(problems.__getitem__, wanted, chosen_solver, effort)


def _solve_by_ranking(
    problems: dict[int, BQP],
    ks: list[int],
    solver: Solver,
    effort: Effort,
) -> list[Solution]:
    """Solve for the largest k, and take the first items of the ranking for every k.

    problems: of the same matrix, by their k.
    """
    largest = problems[max(ks)]
    referee.check_matrix(largest, solver)
    run = referee.new_run(effort)
    ranking_run = run
    if effort.bound == "tight":
        ranking_run = replace(run, deadline=run.deadline_after(0.5))
    start = perf_counter()
    ranking = solver.pick(largest, ranking_run)
    seconds_of_each = (perf_counter() - start) / len(ks)
    run.spent = ranking_run.spent / len(ks)

    def take_first(problem: BQP, run: Run) -> Indices:
        return ranking[: problem.k]

    solutions = referee.solve_in_turn(problems.__getitem__, ks, solver, take_first, run)
    return [
        referee.with_useful_bound(replace(solution, seconds=seconds_of_each + solution.seconds))
        for solution in solutions
    ]


def solve_each(
    problem_of: Callable[[int], BQP],
    ks: Iterable[int],
    solver: Solver,
    effort: Effort,
) -> list[Solution]:
    """Solve a problem for every k, by rising k, each from the choice of the k before."""
    wanted = list(ks)
    solver_of_one = solver.for_path(len(set(wanted)))
    previous = NO_ITEMS

    def pick(problem: BQP, run: Run) -> Indices:
        nonlocal previous
        if len(previous):
            run.starts = [grow(problem, previous, run.deadline)]
        previous = solver_of_one.pick(problem, run)
        return previous

    run = referee.new_run(effort)
    solutions = referee.solve_in_turn(problem_of, wanted, solver, pick, run)
    return [referee.with_useful_bound(solution) for solution in solutions]
