"""Upper bounds on the quadratic problem: proved, for every symmetric matrix."""

from collections.abc import Callable
from math import inf

from bestk._checks import choice, real
from bestk.problem.problem import BQP, good_choice
from bestk.relaxations.dnn import dnn_bound
from bestk.relaxations.rows import (
    antisymmetric_bound,
    fix_by_rows,
    linear_bound,
    rows_bound,
    screen,
)
from bestk.relaxations.sdp import only_choice, sdp_bound
from bestk.relaxations.subproblem import Bound, Subproblem, moderate

BOUNDS: dict[str, Callable[..., Bound]] = {
    "linear": linear_bound,
    "rows": rows_bound,
    "antisymmetric": antisymmetric_bound,
    "sdp": sdp_bound,
    "dnn": dnn_bound,
}
EFFORTS = ("fast", "tight")
TIMED = ("antisymmetric", "sdp", "dnn")  # these take time_limit and best_known
FAST_SECONDS = 1.0  # of a fast bound, by default
MIN_BOUND_SECONDS = 0.015  # that a default bound may take, however fast the selection was
SECONDS_OF_ROWS = 5e-9  # times n^2, about, with the fixing of items
MAX_QUICK_SDP_ITEMS = 400
MIN_QUICK_SDP_GAP = 0.1  # a smaller gap is not worth the time
QUICK_STEPS = (1000, 100)  # of the multipliers of a quick bound: as many as there is time for
MAX_USEFUL_GAP = 0.25  # a default bound with a larger gap is dropped
MAX_DNN_ITEMS = 10_000  # above it, its matrices do not fit into some gigabytes

__all__ = ["BOUNDS", "MAX_DNN_ITEMS", "MIN_BOUND_SECONDS", "Bound", "quick_bound", "tight_bound",
           "upper_bound"]  # fmt: skip


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
        Seconds; by default 1 for "fast" and 60 for "dnn" and "antisymmetric".
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
        return tight_bound(problem, time_limit, best_known).value
    if method == "fast":
        floor = problem.value(good_choice(problem)) if best_known is None else best_known
        return quick_bound(problem, FAST_SECONDS if time_limit is None else time_limit, floor).value
    return BOUNDS[method](problem, *((time_limit, best_known) if method in TIMED else ())).value


def tight_bound(problem: BQP, time_limit: float | None, best_known: float | None) -> Bound:
    """The best bound whatever it takes, within the time: "dnn", for many items "antisymmetric"."""
    many = problem.is_lazy or problem.n > MAX_DNN_ITEMS
    return (antisymmetric_bound if many else dnn_bound)(problem, time_limit, best_known)


def quick_bound(problem: BQP, seconds: float, best_known: float) -> Bound:
    """The best bound that takes about so many seconds; what each takes is estimated from n.

    Each method is computed completely or not at all: a clock within it would give another bound in
    every run. What takes a few milliseconds, such as rows of up to 1700 items, always is.
    """
    n = problem.n
    if problem.is_lazy or SECONDS_OF_ROWS * n**2 > max(seconds, MIN_BOUND_SECONDS):
        return Bound(inf, "nothing: no time" if not problem.is_lazy else "nothing: Q is lazy")
    problem, method = moderate(problem, best_known), "rows"
    inside, outside, value = fix_by_rows(problem, best_known)
    fixed_in, fixed_out = int(inside.sum()), int(outside.sum())
    wide = value - best_known > MIN_QUICK_SDP_GAP * abs(best_known)
    if wide and (rest := Subproblem.of(problem).without(inside, outside)).settled() is None:
        takes = 0.008 + 1.6e-4 * n
        if n <= MAX_QUICK_SDP_ITEMS and takes < seconds:
            seconds -= takes
            other = rest.base + sdp_bound(BQP.trusted(rest.Q, rest.k)).value
            method, value = ("sdp", other) if other < value else (method, value)
        each = 3e-6 + 3e-9 * (rest.k * rest.n + rest.k**3)
        first = (3e-8 + 1.5e-9 * rest.k) * rest.n**2
        steps = next((some for some in QUICK_STEPS if first + some * each <= seconds), 0)
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
