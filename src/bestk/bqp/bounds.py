"""Upper bounds on the quadratic problem: proved, for every symmetric matrix."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Literal

from bestk._checks import choice, real
from bestk.bqp.problem import BQP, good_choice
from bestk.bqp.relaxations.budget import OPERATIONS_PER_SECOND, Budget
from bestk.bqp.relaxations.dnn import dnn_bound, dnn_within
from bestk.bqp.relaxations.rows import (
    MAX_OPERATIONS,
    antisymmetric_bound,
    antisymmetric_within,
    fix_by_rows,
    linear_bound,
    rows_bound,
    screen,
)
from bestk.bqp.relaxations.sdp import only_choice, sdp_bound
from bestk.bqp.relaxations.subproblem import Bound, Subproblem, moderate

# How much to spend on a bound: about as much as on the choice, or as much as it takes.
BoundEffort = Literal["fast", "tight"]

# Takes the problem.
Formula = Callable[[BQP], Bound]
# Takes the problem, a time limit in seconds and the value of the best known choice.
Iteration = Callable[[BQP, float | None, float | None], Bound]
FORMULAS: dict[str, Formula] = {"linear": linear_bound, "rows": rows_bound}
ITERATIONS: dict[str, Iteration] = {
    "antisymmetric": antisymmetric_bound,
    "sdp": sdp_bound,
    "dnn": dnn_bound,
}
BOUNDS: dict[str, Callable[..., Bound]] = {**FORMULAS, **ITERATIONS}
EFFORTS: tuple[BoundEffort, ...] = ("fast", "tight")
# Operations of a fast bound that is asked for by itself; see ``Budget`` for what an operation is.
FAST_OPERATIONS = 1e9
# Operations that a bound by default may take, however little the selection took.
MIN_BOUND_OPERATIONS = 15e6
# Share of a time limit for a default bound after a solver that has used it up.
MIN_BOUND_SHARE = 0.1
# Operations of a bound by rows, with the fixing of items, times n^2.
OPERATIONS_OF_ROWS = 5.0
# With more items than this, a quick bound does without the semidefinite relaxation.
MAX_QUICK_SDP_ITEMS = 400
# Where the gap of rows is below this, a quick bound tries no other.
MIN_QUICK_SDP_GAP = 0.1
# Operations of the semidefinite relaxation in a quick bound: for each item, and besides.
OPERATIONS_OF_SDP_ITEM = 1.6e5
OPERATIONS_OF_SDP = 8e6
# Steps of the multipliers of a quick bound: the first of these for which there is time.
QUICK_STEPS = (1000, 100)
# Operations of such a step: for each of the k n + k^3 entries that it moves, and besides.
OPERATIONS_OF_QUICK_MOVE = 3.0
OPERATIONS_OF_QUICK_STEP = 3e3
# Operations of the pass before these steps, for each of the n^2 entries: times k, and besides.
OPERATIONS_OF_QUICK_PASS_ITEM = 1.5
OPERATIONS_OF_QUICK_PASS = 30.0
# A default bound with a larger gap is dropped: it would say little.
MAX_USEFUL_GAP = 0.25
# With more items than this, the matrices of "dnn" do not fit into some gigabytes.
MAX_DNN_ITEMS = 10_000

__all__ = [
    "BOUNDS",
    "MAX_DNN_ITEMS",
    "MIN_BOUND_OPERATIONS",
    "OPERATIONS_PER_SECOND",
    "Bound",
    "BoundEffort",
    "Budget",
    "default_budget",
    "quick_bound",
    "tight_bound",
    "upper_bound",
]


def upper_bound(
    problem: BQP,
    method: str = "fast",
    time_limit: float | None = None,
    best_known: float | None = None,
) -> float:
    """A number that x'Qx exceeds for no choice of k items: proved, rounding included.

    Parameters
    ----------
    problem : BQP
        Of a lazy one the bound is infinity, except by "antisymmetric" and "tight".
    method : str, default="fast"
        A name from ``BOUNDS``; or "fast": "rows" and, where it helps and there is time, "sdp" or
        "antisymmetric"; or "tight": "dnn", above 10,000 items "antisymmetric".
    time_limit : float, optional
        Seconds. Without a limit, operations are counted, and the result is the same on every
        machine: they take about a second for "fast", and up to a minute for "dnn" and
        "antisymmetric".
    best_known : float, optional
        The value of the best choice known, which helps to decide items.

    Examples
    --------
    >>> problem = BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    >>> round(upper_bound(problem), 3), problem.value([0, 1])
    (10.0, 10.0)
    """
    if not isinstance(problem, BQP):
        raise TypeError(f"upper_bound needs a BQP, not {type(problem).__name__}; pass BQP(Q, k)")
    choice(method, "bound", (*BOUNDS, *EFFORTS))
    if time_limit is not None:
        time_limit = real(time_limit, "time_limit", "a number of seconds")
    if best_known is not None:
        best_known = real(best_known, "best_known", "the value of a choice")
    if problem.is_lazy and method not in ("antisymmetric", "tight"):
        return inf
    if problem.k == problem.n and not problem.is_lazy:
        return only_choice(problem).value
    if method == "tight":
        budget = Budget.within(time_limit, MAX_OPERATIONS)
        return tight_bound(problem, budget, best_known).value
    if method == "fast":
        floor = problem.value(good_choice(problem)) if best_known is None else best_known
        operations = FAST_OPERATIONS
        if time_limit is not None:
            operations = OPERATIONS_PER_SECOND * time_limit
        return quick_bound(problem, operations, floor).value
    if method in FORMULAS:
        return FORMULAS[method](problem).value
    return ITERATIONS[method](problem, time_limit, best_known).value


def can_relax(problem: BQP) -> bool:
    """Whether the matrices of the bound "dnn" fit into memory."""
    return not problem.is_lazy and problem.n <= MAX_DNN_ITEMS


def tight_bound(problem: BQP, budget: Budget, best_known: float | None) -> Bound:
    """The best bound within a budget: "dnn", for many items "antisymmetric"."""
    if can_relax(problem):
        return dnn_within(problem, budget, best_known)
    return antisymmetric_within(problem, budget, best_known)


def default_budget(spent: float, time_limit: float, left: float) -> Budget:
    """What a default bound may cost: as much as the selection has, within the time limit.

    spent: operations of the selection.
    time_limit, left: seconds of the limit, and those that are left; infinite if there is none.
    """
    within_limit = OPERATIONS_PER_SECOND * max(left, MIN_BOUND_SHARE * time_limit)
    return Budget(operations=min(max(MIN_BOUND_OPERATIONS, spent), within_limit))


def quick_bound(problem: BQP, operations: float, best_known: float) -> Bound:
    """The best bound that takes about so many operations; what each takes is estimated from n.

    Each method is computed completely or not at all: a clock within it would give another bound in
    every run. What takes a few milliseconds, such as rows of up to 1700 items, always is.
    """
    if problem.is_lazy:
        return Bound(inf, "nothing: Q is lazy")
    if OPERATIONS_OF_ROWS * problem.n**2 > max(operations, MIN_BOUND_OPERATIONS):
        return Bound(inf, "nothing: no time")
    problem = moderate(problem, best_known)
    inside, outside, value = fix_by_rows(problem, best_known)
    n_inside = int(inside.sum())
    n_outside = int(outside.sum())
    bound = Bound(value, "rows", fixed_in=n_inside, fixed_out=n_outside)
    if value - best_known > MIN_QUICK_SDP_GAP * abs(best_known):
        remaining = Subproblem.of(problem).without(inside, outside)
        if remaining.only_choice() is None:
            bound = _tightened(bound, problem.n, remaining, operations, best_known)
    return replace(bound, value=max(bound.value, best_known))


def _tightened(
    bound: Bound,
    n: int,
    remaining: Subproblem,
    operations: float,
    best_known: float,
) -> Bound:
    """The bound of rows, or a lower one by "sdp" or "antisymmetric" if operations allow.

    bound: of rows, with the numbers of items that they fix.
    n: number of items of the problem.
    remaining: what is left of the problem, the fixed items decided.
    """
    problem = BQP.trusted(remaining.Q, remaining.k)
    operations_of_sdp = OPERATIONS_OF_SDP + OPERATIONS_OF_SDP_ITEM * n
    if n <= MAX_QUICK_SDP_ITEMS and operations_of_sdp < operations:
        operations -= operations_of_sdp
        value = remaining.base + sdp_bound(problem).value
        if value < bound.value:
            bound = replace(bound, value=value, method="sdp")
    steps = _affordable_steps(remaining, operations)
    is_wide = bound.value - best_known > MAX_USEFUL_GAP * abs(best_known)
    if not is_wide or steps == 0:
        return bound
    aim = best_known - remaining.base
    by_multipliers = antisymmetric_bound(problem, None, aim, steps)
    value = remaining.base + by_multipliers.value
    if value < bound.value:
        bound = replace(bound, value=value, method="antisymmetric")
    if by_multipliers.row_values is None:
        return bound
    inside, outside = screen(by_multipliers.value, by_multipliers.row_values, remaining.k, aim)
    assert bound.fixed_in is not None
    assert bound.fixed_out is not None
    return replace(
        bound,
        fixed_in=bound.fixed_in + int(inside.sum()),
        fixed_out=bound.fixed_out + int(outside.sum()),
    )


def _affordable_steps(remaining: Subproblem, operations: float) -> int:
    """How many steps of the multipliers so many operations suffice for; 0 if for none."""
    n = remaining.n
    k = remaining.k
    of_step = OPERATIONS_OF_QUICK_STEP + OPERATIONS_OF_QUICK_MOVE * (k * n + k**3)
    of_pass = (OPERATIONS_OF_QUICK_PASS + OPERATIONS_OF_QUICK_PASS_ITEM * k) * n**2
    for steps in QUICK_STEPS:
        if of_pass + steps * of_step <= operations:
            return steps
    return 0
