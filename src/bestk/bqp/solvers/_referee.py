"""The solvers by name, and the referee: runs, times, scores and bounds every solver alike."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from bestk._checks import choice, real
from bestk._typing import Indices
from bestk.bqp.bounds import (
    MAX_USEFUL_GAP,
    OPERATIONS_PER_SECOND,
    Bound,
    Budget,
    default_budget,
    quick_bound,
    tight_bound,
)
from bestk.bqp.problem import BQP
from bestk.bqp.relaxations.rows import MAX_OPERATIONS
from bestk.bqp.solution import Solution
from bestk.bqp.solvers._base import BoundEffort, Effort, Run, Solver
from bestk.bqp.solvers._exact import Exact, split_gap
from bestk.bqp.solvers._greedy import Forward, Linear, Spectral, Swap
from bestk.bqp.solvers._lowrank import LowRank
from bestk.bqp.solvers._sdp import SDP
from bestk.bqp.solvers._search import Search
from bestk.bqp.solvers._simplex import Simplex
from bestk.bqp.solvers._tpower import TruncatedPower

FIXING_OPERATIONS = 5e6  # to find the items of a proved choice that every such choice has
PROVED_GAP = 1e-9  # a smaller one is rounding
FIXED = ("fixed_in", "fixed_out")  # numbers of items in every choice as good as this, or in none
ALL = (Linear, Spectral, TruncatedPower, LowRank, SDP, Forward, Swap, Search, Exact, Simplex)
SOLVERS: dict[str, Solver] = {solver.name: solver() for solver in ALL}


def get_solver(solver: str | Solver) -> Solver:
    """The solver of that name, or the one given."""
    if hasattr(solver, "pick") and not isinstance(solver, str | type):
        return solver
    choice(solver, "solver", SOLVERS)
    return SOLVERS[str(solver)]


def solve(
    Q: Any,
    k: int | None = None,
    solver: str | Solver = "tpower",
    *,
    random_state: int | np.random.Generator | None = None,
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
    solver : str or solver, default="tpower"
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
    """The same with whatever bound was found."""
    run = new_run(effort)
    if run.bound == "tight":
        run.deadline = run.part(2.0)
    return solve_in_turn(lambda _: problem, [problem.k], solver, solver.pick, run)[0]


def solve_in_turn(
    problem_of: Callable[[int], BQP],
    ks: Sequence[int],
    solver: Solver,
    pick: Callable[[BQP, Run], Indices],
    run: Run,
) -> list[Solution]:
    """Solve a problem for every k, by rising k, each in its share of the time of a run."""
    wanted = sorted(set(ks))
    solutions = {}
    for number, k in enumerate(wanted):
        problem = problem_of(k)
        check_matrix(problem, solver)
        start = perf_counter()
        deadline = run.part(1 / (len(wanted) - number))
        one = Run(run.rng, deadline, details=dict(run.details), bound=run.bound, spent=run.spent)
        if run.bound == "tight":
            one.deadline = one.part(0.5)  # the bound has the rest of the share
        picked = pick(problem, one)
        seconds = perf_counter() - start
        if deadline == inf:
            budget = Budget(operations=MAX_OPERATIONS)
        else:
            budget = Budget(deadline=max(deadline, perf_counter()))
        if run.bound == "fast":
            budget = default_budget(one.spent, deadline - start, budget.left)
        solution = score(problem, solver.name, picked, one, budget)
        solutions[k] = replace(solution, seconds=seconds)
    return [solutions[k] for k in ks]


def score(problem: BQP, name: str, picked: Indices, run: Run, budget: Budget) -> Solution:
    """Check a choice, compute its objective, and bound the problem within a budget."""
    items, bound = np.asarray(picked, np.int64), run.bound
    right = len(items) == problem.k == len(np.unique(items))
    if not right or items.min() < 0 or items.max() >= problem.n:
        raise RuntimeError(f"solver {name!r} did not return {problem.k} different items: {items}")
    objective = problem.value(items)
    upper = run.upper_bound if problem.k < problem.n else objective  # all: there is no other choice
    details = {key: value for key, value in run.details.items() if key != "incumbent"}
    if bound is not None and problem.k < problem.n:
        # of a choice that is proved optimal, which of its items every such choice has
        effort: BoundEffort = bound if upper > objective else "fast"
        if effort != bound:
            budget = Budget(operations=FIXING_OPERATIONS)
        proof = prove(problem, items, effort, budget)
        upper = min(upper, proof.value)
        details |= {key: proof.details[key] for key in FIXED if key in proof.details}
    details["bound"] = bound
    return Solution(items, objective, max(upper, objective), name, details=details)


def with_useful_bound(solution: Solution) -> Solution:
    """The solution, without a default bound that is too weak to be useful."""
    useless = solution.details.get("bound") == "fast" and solution.gap > MAX_USEFUL_GAP
    return replace(solution, upper_bound=inf) if useless else solution


def prove(problem: BQP, items: Indices, effort: BoundEffort, budget: Budget) -> Bound:
    """The best bound for the effort; where a tight one stalls in its time, by splitting."""
    objective = problem.value(items)
    if effort == "fast":
        return quick_bound(problem, OPERATIONS_PER_SECOND * budget.left, objective)
    bound = tight_bound(problem, budget, objective)
    rest = bound.details.get("rest")
    is_closed = bound.value - objective <= PROVED_GAP * abs(objective)
    if rest is None or is_closed or not budget.is_timed or budget.left <= 0:
        return bound
    run = Run(np.random.default_rng(0), budget.deadline, [items])
    split_gap(problem, rest, run)
    return replace(bound, value=min(bound.value, run.upper_bound), method="dnn, split")


def read_problem(Q: Any, k: int | None) -> BQP:
    """A problem from a matrix and k, or the problem itself."""
    if isinstance(Q, BQP):
        return Q if k is None else Q.with_k(k)
    if k is None:
        raise ValueError("k is missing; pass the number of items to choose, e.g. solve(Q, k=10)")
    return BQP(Q, k)


def new_run(effort: Effort) -> Run:
    """A fresh run: its randomness and its deadline."""
    deadline = inf if effort.time_limit is None else perf_counter() + effort.time_limit
    try:
        rng = np.random.default_rng(effort.random_state)
    except (TypeError, ValueError) as error:
        wanted = "a whole number from 0 up, a numpy Generator or None"
        raise ValueError(f"random_state must be {wanted}, not {effort.random_state!r}") from error
    return Run(rng, deadline, spent=effort.spent, bound=effort.bound)


def check_matrix(problem: BQP, solver: Solver) -> None:
    """Raise an error for a lazy matrix if the solver needs all of it."""
    if problem.is_lazy and solver.needs != "columns":
        raise ValueError(
            f"solver {solver.name!r} needs the whole matrix and Q is lazy; "
            "use 'linear', 'tpower', 'forward', 'swap' or 'search'"
        )


def check_options(bound: Any, time_limit: float | None) -> None:
    """Raise an error for invalid options."""
    choice(bound, "bound", (None, "fast", "tight"))
    wanted = "a positive number of seconds"
    if time_limit is not None and not real(time_limit, "time_limit", wanted) > 0:
        raise ValueError(f"time_limit must be {wanted}, not {time_limit!r}")
