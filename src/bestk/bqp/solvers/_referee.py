"""The referee: runs, times, scores and bounds every solver alike."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from bestk._checks import choice, real
from bestk._typing import Indices
from bestk.bqp.bounds import (
    EFFORTS,
    MAX_USEFUL_GAP,
    OPERATIONS_PER_SECOND,
    Bound,
    BoundEffort,
    Budget,
    can_relax,
    default_budget,
    quick_bound,
    tight_bound,
)
from bestk.bqp.problem import BQP
from bestk.bqp.relaxations.dnn import narrowed_gap
from bestk.bqp.relaxations.rows import MAX_OPERATIONS
from bestk.bqp.solution import Solution
from bestk.bqp.solvers._base import Effort, RandomState, Run, Solver
from bestk.bqp.solvers._exact import split_gap
from bestk.bqp.solvers._registry import SOLVERS, get_solver
from bestk.errors import ParameterError

# Operations to find which items of a proved choice every such choice has.
FIXING_OPERATIONS = 5e6
# A smaller gap between a bound and an objective, relative to the objective, is rounding.
PROVED_GAP = 1e-9
# Under these names, ``Solution.details`` says how many items are in every choice as good as this,
# and how many in none.
FIXED_IN = "fixed_in"
FIXED_OUT = "fixed_out"


def solve(
    Q: Any,
    k: int | None = None,
    solver: str | Solver = "tpower",
    *,
    random_state: RandomState = None,
    time_limit: float | None = None,
    bound: BoundEffort | None = "fast",
) -> Solution:
    """Choose the k items of the largest x'Qx, and prove how good the choice is.

    Parameters
    ----------
    Q : square matrix or BQP
        The worth of each pair of items. Only its symmetric part matters.
    k : int
        How many items to choose; not needed where Q is a BQP.
    solver : str or Solver, default="tpower"
        A name from ``SOLVERS``, or one of its classes with other settings.
    random_state : int, Generator or None
        Random seed; an int gives the same answer at each call.
    time_limit : float, default=None
        Seconds for the solver; with a tight bound, as many again and what the solver leaves.
    bound : {None, "fast", "tight"}, default="fast"
        What to spend on the upper bound: nothing; about as much work as the selection took, and no
        bound if the gap is above 25%; or as much as it takes, about a minute at most. Work is
        counted, so that the bound is the same on every machine, unless there is a time limit.

    Examples
    --------
    >>> Q = [[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
    >>> solution = solve(Q, k=2, solver="exact")
    >>> solution.support, solution.objective, solution.gap
    (array([0, 1]), 10.0, 0.0)
    """
    problem = read_problem(Q, k)
    check_options(bound, time_limit)
    effort = Effort(random_state, time_limit, bound)
    return with_useful_bound(solve_problem(problem, get_solver(solver), effort))


def solve_problem(problem: BQP, solver: Solver, effort: Effort) -> Solution:
    """Solve a problem; a default bound is kept even if it says little."""
    run = new_run(effort)
    if run.bound == "tight":
        run.deadline = run.deadline_after(2.0)
    solutions = solve_in_turn(lambda _: problem, [problem.k], solver, solver.pick, run)
    return solutions[0]


def solve_in_turn(
    problem_of: Callable[[int], BQP],
    ks: Sequence[int],
    solver: Solver,
    pick: Callable[[BQP, Run], Indices],
    run: Run,
) -> list[Solution]:
    """Solve a problem for every k, by rising k, each in its share of the time of a run.

    problem_of: makes the problem for a k, when it is its turn.
    ks: in any order, and the solutions come in that order; a k that repeats is solved once.
    pick: chooses the items of each problem.
    """
    rising = sorted(set(ks))
    solutions = {}
    for number, k in enumerate(rising):
        deadline = run.deadline_after(1 / (len(rising) - number))
        # No name keeps a problem, and with it its matrix, while the next one is made.
        solutions[k] = _solve_one(problem_of(k), solver, pick, run, deadline)
    return [solutions[k] for k in ks]


def _solve_one(
    problem: BQP,
    solver: Solver,
    pick: Callable[[BQP, Run], Indices],
    run: Run,
    deadline: float,
) -> Solution:
    """Solve one of the problems of a run, with its bound, until a deadline."""
    check_matrix(problem, solver)
    start = perf_counter()
    run_of_one = Run(
        run.rng,
        deadline,
        details=dict(run.details),
        bound=run.bound,
        spent=run.spent,
    )
    if run.bound == "tight":  # the bound has the other half of the time
        run_of_one.deadline = run_of_one.deadline_after(0.5)
    picked = pick(problem, run_of_one)
    seconds = perf_counter() - start
    if deadline == inf:
        budget = Budget(operations=MAX_OPERATIONS)
    else:
        budget = Budget(deadline=max(deadline, perf_counter()))
    if run.bound == "fast":
        budget = default_budget(run_of_one.spent, deadline - start, budget.left)
    solution = score(problem, solver.name, picked, run_of_one, budget)
    return replace(solution, seconds=seconds)


def score(
    problem: BQP,
    name: str,
    picked: Indices,
    run: Run,
    budget: Budget,
) -> Solution:
    """Check a choice, compute its objective, and bound the problem within a budget."""
    items = _checked_choice(problem, name, picked)
    objective = problem.value(items)
    details = {**run.details, "bound": run.bound}
    if problem.k == problem.n:  # there is no other choice
        return Solution(items, objective, objective, name, details=details)
    upper_bound = run.upper_bound
    if run.bound is not None:
        if upper_bound <= objective:
            # The choice is proved optimal. It is left to find which items every such choice has.
            bound = prove(problem, items, "fast", _budget_of_fixing(run.bound, budget))
        else:
            bound = prove(problem, items, run.bound, budget)
        upper_bound = min(upper_bound, bound.value)
        if bound.fixed_in is not None:
            details[FIXED_IN] = bound.fixed_in
        if bound.fixed_out is not None:
            details[FIXED_OUT] = bound.fixed_out
    return Solution(items, objective, max(upper_bound, objective), name, details=details)


def _budget_of_fixing(asked: BoundEffort, budget: Budget) -> Budget:
    """What a bound may cost where the choice is already proved optimal."""
    return budget if asked == "fast" else Budget(operations=FIXING_OPERATIONS)


def _checked_choice(problem: BQP, name: str, picked: Indices) -> Indices:
    """What a solver has picked, which must be k different items."""
    items = np.asarray(picked, np.int64)
    are_different = len(items) == problem.k == len(np.unique(items))
    if not are_different or items.min() < 0 or items.max() >= problem.n:
        raise RuntimeError(f"solver {name!r} did not return {problem.k} different items: {items}")
    return items


def with_useful_bound(solution: Solution) -> Solution:
    """The solution, without a default bound that is too weak to be useful."""
    is_default = solution.details.get("bound") == "fast"
    if is_default and solution.gap > MAX_USEFUL_GAP:
        return replace(solution, upper_bound=inf)
    return solution


def prove(
    problem: BQP,
    items: Indices,
    effort: BoundEffort,
    budget: Budget,
) -> Bound:
    """The best bound for the effort; where a tight one stalls in its time, by splitting."""
    objective = problem.value(items)
    if effort == "fast":
        return quick_bound(problem, OPERATIONS_PER_SECOND * budget.left, objective)
    if not can_relax(problem):
        return tight_bound(problem, budget, objective)
    gap = narrowed_gap(problem, budget, objective)
    bound = gap.bound(problem.n)
    is_proved = bound.value - objective <= PROVED_GAP * abs(objective)
    if is_proved or not budget.is_timed or budget.left <= 0:
        return bound
    rng = np.random.default_rng(0)
    run = Run(rng, budget.deadline, [items])
    split_gap(problem, gap, run)
    value = min(bound.value, run.upper_bound)
    return replace(bound, value=value, method="dnn, split")


def read_problem(Q: Any, k: int | None) -> BQP:
    """A problem from a matrix and k, or the problem itself."""
    if isinstance(Q, BQP):
        return Q if k is None else Q.with_k(k)
    if k is None:
        raise ParameterError(
            "k is missing; pass the number of items to choose, e.g. solve(Q, k=10)"
        )
    return BQP(Q, k)


def new_run(effort: Effort) -> Run:
    """A fresh run: its randomness and its deadline."""
    deadline = inf if effort.time_limit is None else perf_counter() + effort.time_limit
    try:
        rng = np.random.default_rng(effort.random_state)
    except (TypeError, ValueError) as error:
        wanted = "a whole number from 0 up, a numpy Generator or None"
        raise ParameterError(
            f"random_state must be {wanted}, not {effort.random_state!r}"
        ) from error
    return Run(rng, deadline, spent=effort.spent, bound=effort.bound)


def check_matrix(problem: BQP, solver: Solver) -> None:
    """Raise an error for a lazy matrix if the solver needs all of it."""
    if problem.is_lazy and solver.needs != "columns":
        usable = [repr(name) for name, other in SOLVERS.items() if other.needs == "columns"]
        raise ParameterError(
            f"solver {solver.name!r} needs the whole matrix and Q is lazy; "
            f"use one of {', '.join(usable)}"
        )


def check_options(bound: Any, time_limit: float | None) -> None:
    """Raise an error for invalid options."""
    choice(bound, "bound", (None, *EFFORTS))
    wanted = "a positive number of seconds"
    if time_limit is not None and not real(time_limit, "time_limit", wanted) > 0:
        raise ParameterError(f"time_limit must be {wanted}, not {time_limit!r}")
