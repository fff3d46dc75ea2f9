"""Upper bounds on the quadratic problem: proved, for every symmetric matrix."""

from collections.abc import Callable
from math import inf

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

BOUNDS: dict[str, Callable[..., Bound]] = {
    "linear": linear_bound,
    "rows": rows_bound,
    "antisymmetric": antisymmetric_bound,
    "sdp": sdp_bound,
    "dnn": dnn_bound,
}
EFFORTS = ("fast", "tight")
TIMED = ("antisymmetric", "sdp", "dnn")  # these take time_limit and best_known
# Operations of a fast bound that is asked for by itself; see ``Budget`` for what an operation is.
FAST_OPERATIONS = 1e9
# Operations that a bound by default may take, however little the selection took.
MIN_BOUND_OPERATIONS = 15e6
# Operations of a bound by rows, with the fixing of items, times n^2.
OPERATIONS_OF_ROWS = 5.0
MIN_BOUND_SHARE = 0.1  # of a time limit, for a default bound after a solver that has used it up
MAX_QUICK_SDP_ITEMS = 400
MIN_QUICK_SDP_GAP = 0.1  # a smaller gap is not worth the time
QUICK_STEPS = (1000, 100)  # of the multipliers of a quick bound: as many as there is time for
MAX_USEFUL_GAP = 0.25  # a default bound with a larger gap is dropped
MAX_DNN_ITEMS = 10_000  # above it, its matrices do not fit into some gigabytes

__all__ = [
    "BOUNDS",
    "MAX_DNN_ITEMS",
    "MIN_BOUND_OPERATIONS",
    "OPERATIONS_PER_SECOND",
    "Bound",
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
    return BOUNDS[method](problem, *((time_limit, best_known) if method in TIMED else ())).value


def tight_bound(problem: BQP, budget: Budget, best_known: float | None) -> Bound:
    """The best bound within a budget: "dnn", for many items "antisymmetric"."""
    if problem.is_lazy or problem.n > MAX_DNN_ITEMS:
        return antisymmetric_within(problem, budget, best_known)
    return dnn_within(problem, budget, best_known)


def default_budget(spent: float, time_limit: float, left: float) -> Budget:
    """What a default bound may cost: as much as the selection has, within the time limit.

    ``spent`` are the operations of the selection, and ``left`` the seconds of the limit that are
    left; both are infinite if there is no limit.
    """
    within_limit = OPERATIONS_PER_SECOND * max(left, MIN_BOUND_SHARE * time_limit)
    return Budget(operations=min(max(MIN_BOUND_OPERATIONS, spent), within_limit))


def quick_bound(problem: BQP, operations: float, best_known: float) -> Bound:
    """The best bound that takes about so many operations; what each takes is estimated from n.

    Each method is computed completely or not at all: a clock within it would give another bound in
    every run. What takes a few milliseconds, such as rows of up to 1700 items, always is.
    """
    n = problem.n
    if problem.is_lazy or OPERATIONS_OF_ROWS * n**2 > max(operations, MIN_BOUND_OPERATIONS):
        return Bound(inf, "nothing: no time" if not problem.is_lazy else "nothing: Q is lazy")
    problem, method = moderate(problem, best_known), "rows"
    inside, outside, value = fix_by_rows(problem, best_known)
    fixed_in, fixed_out = int(inside.sum()), int(outside.sum())
    wide = value - best_known > MIN_QUICK_SDP_GAP * abs(best_known)
    if wide and (rest := Subproblem.of(problem).without(inside, outside)).settled() is None:
        of_sdp = 8e6 + 1.6e5 * n
        if n <= MAX_QUICK_SDP_ITEMS and of_sdp < operations:
            operations -= of_sdp
            other = rest.base + sdp_bound(BQP.trusted(rest.Q, rest.k)).value
            method, value = ("sdp", other) if other < value else (method, value)
        of_step = 3e3 + 3.0 * (rest.k * rest.n + rest.k**3)
        of_pass = (30.0 + 1.5 * rest.k) * rest.n**2
        in_budget = [some for some in QUICK_STEPS if of_pass + some * of_step <= operations]
        steps = in_budget[0] if in_budget else 0
        if value - best_known > MAX_USEFUL_GAP * abs(best_known) and steps:
            aim = best_known - rest.base
            bound = antisymmetric_bound(BQP.trusted(rest.Q, rest.k), None, aim, steps)
            other = rest.base + bound.value
            method, value = ("antisymmetric", other) if other < value else (method, value)
            if bound.row_values is not None:
                more_inside, more_outside = screen(bound.value, bound.row_values, rest.k, aim)
                fixed_in += int(more_inside.sum())
                fixed_out += int(more_outside.sum())
    details = {"fixed_in": fixed_in, "fixed_out": fixed_out}
    return Bound(max(value, best_known), method, details=details)
