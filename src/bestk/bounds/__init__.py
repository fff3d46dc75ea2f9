"""Upper bounds on the quadratic problem: proved, for every symmetric matrix."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from bestk._checks import real
from bestk.bounds._spectral import spectral_bound
from bestk.problem import BQP
from bestk.relaxations import (
    Bound,
    Subproblem,
    antisymmetric_bound,
    dnn_bound,
    fix_items,
    linear_bound,
    only_choice,
    rows_bound,
    screen,
    sdp_bound,
)

BOUNDS: dict[str, Callable[..., Bound]] = {
    "linear": linear_bound,
    "rows": rows_bound,
    "antisymmetric": antisymmetric_bound,
    "spectral": spectral_bound,
    "sdp": sdp_bound,
    "dnn": dnn_bound,
}
EFFORTS = ("fast", "tight")
TIMED = ("antisymmetric", "sdp", "dnn")  # these take time_limit and best_known
MAX_SPECTRAL_ITEMS = 1000  # above it, an eigenvalue is not cheap
SECONDS_OF_ROWS = 1.5e-8  # times n^2, about, with the fixing of items
QUICK_STEPS = 200  # of the multipliers of a quick bound
SECONDS_OF_SPECTRAL = 5e-10  # times n^3, about
MAX_QUICK_SDP_ITEMS = 400
MIN_QUICK_SDP_GAP = 0.1  # a smaller gap is not worth the time
MAX_USEFUL_GAP = 0.25  # a default bound with a larger gap is dropped
MAX_DNN_ITEMS = 2500  # above it, one step takes seconds

__all__ = ["BOUNDS", "MAX_DNN_ITEMS", "Bound", "bound_problem", "quick_bound", "screen",
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
        Of a lazy one the bound is infinity, except by the method "antisymmetric".
    method : str, default="fast"
        A name from ``BOUNDS``; or "fast": the smaller of "rows" and, up to 1000 items,
        "spectral"; or "tight": that and "dnn", above 2500 items "antisymmetric" and "sdp".
    time_limit : float, optional
        Seconds; 60 for "dnn" by default. What would not fit is left out of "fast" and "tight".
    best_known : float, optional
        The value of the best choice known, which helps "dnn" to decide items.

    Examples
    --------
    >>> problem = BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    >>> round(upper_bound(problem), 3), problem.value([0, 1])
    (10.0, 10.0)
    """
    return bound_problem(problem, method, time_limit, best_known).value


def bound_problem(
    problem: BQP,
    method: str = "fast",
    time_limit: float | None = None,
    best_known: float | None = None,
) -> Bound:
    """The same as a record: with the method that gave the value, its time and what it decided.

    Examples
    --------
    >>> bound_problem(BQP([[1.0, 4.0], [4.0, 1.0]], k=2), "tight").method
    'the only choice'
    """
    if not isinstance(problem, BQP):
        kind = type(problem).__name__
        raise TypeError(f"upper_bound needs a BQP, not {kind}; pass BQP(Q, k)")
    if not isinstance(method, str) or (method not in BOUNDS and method not in EFFORTS):
        known = ", ".join([*BOUNDS, *EFFORTS])
        raise ValueError(f"unknown bound {method!r}; choose one of {known}")
    if time_limit is not None:
        time_limit = real(time_limit, "time_limit", "a number of seconds")
    if best_known is not None:
        best_known = real(best_known, "best_known", "the value of a choice")
    start = perf_counter()
    if problem.is_lazy and method != "antisymmetric":
        return Bound(float("inf"), "nothing: Q is lazy")
    if problem.k == problem.n:
        return replace(only_choice(problem), seconds=perf_counter() - start)
    bounds: list[Bound] = []
    for name in _names(problem.n, method):
        left = None if time_limit is None else time_limit - (perf_counter() - start)
        late = left is not None and left < _seconds(name, problem.n)
        if left is not None and name == "antisymmetric" and method == "tight":
            left /= 2  # the rest is for the semidefinite bound
        if not late or not bounds:
            bounds.append(BOUNDS[name](problem, *((left, best_known) if name in TIMED else ())))
    best = min(bounds, key=lambda bound: bound.value)
    return replace(best, seconds=perf_counter() - start)


def _names(n: int, method: str) -> list[str]:
    """The bounds to compute for n items, the cheap ones first."""
    if method in BOUNDS:
        return [method]
    names = ["rows"]
    names += ["spectral"] if n <= MAX_SPECTRAL_ITEMS else []
    if method == "tight":
        names += ["dnn"] if n <= MAX_DNN_ITEMS else ["antisymmetric", "sdp"]
    return names


def _seconds(name: str, n: int) -> float:
    """What a bound takes, or at least takes, of n items."""
    if name == "spectral":
        return 0.005 + SECONDS_OF_SPECTRAL * n**3
    return SECONDS_OF_ROWS * n**2


def quick_bound(problem: BQP, seconds: float, best_known: float) -> Bound:
    """The best bound that takes about so many seconds; what each takes is estimated from n.

    Rows first, with the items that they fix; then eigenvalues; for a small problem the
    semidefinite relaxation, if the gap is still wide; and rows with multipliers, if it is too wide
    to be useful. Each is computed completely or not at all: a clock within it would give another
    bound in every run. If there is no time for any, the bound is infinity.
    """
    start, n, k = perf_counter(), problem.n, problem.k
    if problem.is_lazy or k == n:
        return bound_problem(problem, "fast")
    if _seconds("rows", n) > seconds:
        return Bound(float("inf"), "nothing: no time")
    rest, value = fix_items(Subproblem.of(problem), best_known)
    bounds = [Bound(max(value, best_known), "rows")]
    takes = _seconds("spectral", n)
    if n <= MAX_SPECTRAL_ITEMS and takes <= seconds:
        bounds.append(spectral_bound(problem))
        seconds -= takes
    gap = min(b.value for b in bounds) - best_known
    if n <= MAX_QUICK_SDP_ITEMS and gap > MIN_QUICK_SDP_GAP * abs(best_known):
        takes = 0.02 + 2e-4 * n
        if takes <= seconds:
            bounds.append(sdp_bound(problem, best_known=best_known))
            seconds -= takes
    gap = min(b.value for b in bounds) - best_known
    takes = QUICK_STEPS * (3e-4 + 4e-9 * min(k**2, rest.n) * rest.n)
    if gap > MAX_USEFUL_GAP * abs(best_known) and takes <= seconds:
        rest, value = fix_items(rest, best_known, QUICK_STEPS)
        bounds.append(Bound(max(value, best_known), "antisymmetric"))
    best = min(bounds, key=lambda bound: bound.value)
    fixed = {"fixed_in": len(rest.inside), "fixed_out": n - rest.n - len(rest.inside)}
    return replace(best, seconds=perf_counter() - start, details={**best.details, **fixed})
