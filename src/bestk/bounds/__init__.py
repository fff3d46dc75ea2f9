"""Upper bounds on the quadratic problem: proved, for every symmetric matrix."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from bestk._checks import real
from bestk.bounds._linear import linear_bound
from bestk.bounds._sdp import sdp_bound
from bestk.bounds._spectral import spectral_bound
from bestk.problem.problem import BQP
from bestk.relaxations.dnn import dnn_bound
from bestk.relaxations.part import screen
from bestk.relaxations.rounding import Bound, largest_entry, rounding
from bestk.relaxations.rows import rows_bound

BOUNDS: dict[str, Callable[..., Bound]] = {
    "linear": linear_bound,
    "rows": rows_bound,
    "spectral": spectral_bound,
    "sdp": sdp_bound,
    "dnn": dnn_bound,
}
PRESETS = {"auto": "fast", "fast": "fast", "tight": "tight"}
TIMED = ("sdp", "dnn")  # these take time_limit and best_known
SPECTRAL_SIZE = 1000  # above it, an eigenvalue is not cheap
SMALL, LOOSE = 400, 0.1  # items, and gap, up to and from which an SDP is worth its time
DNN_SIZE = 2500  # above it, one step takes seconds

__all__ = ["BOUNDS", "Bound", "bound_problem", "quick_bound", "screen", "upper_bound"]


def upper_bound(
    problem: BQP,
    method: str = "auto",
    time_limit: float | None = None,
    best_known: float | None = None,
) -> float:
    """A number that x'Qx exceeds for no choice of k items: proved, rounding included.

    Parameters
    ----------
    problem : BQP
        A lazy one has the bound infinity, because every bound here needs the matrix.
    method : str, default="auto"
        A name from ``BOUNDS``; or "fast" (which "auto" means): the smaller of "rows" and, up to
        1000 items, "spectral"; or "tight": that and "dnn", above 2500 items "sdp".
    time_limit : float, optional
        Seconds for "dnn" and "sdp"; 60 by default.
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
    method: str = "auto",
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
        came = type(problem).__name__
        raise TypeError(f"a bound is that of a problem, not of a {came}; give BQP(Q, k)")
    if not isinstance(method, str) or (method not in BOUNDS and method not in PRESETS):
        known = ", ".join([*BOUNDS, *PRESETS])
        raise ValueError(f"unknown bound {method!r}; choose one of {known}")
    if time_limit is not None:
        time_limit = real(time_limit, "time_limit", "a number of seconds")
    if best_known is not None:
        best_known = real(best_known, "best_known", "the value of a choice")
    start = perf_counter()
    bounds = [_one(problem, name, time_limit, best_known) for name in _names(problem, method)]
    best = min(bounds, key=lambda bound: bound.value)
    return replace(best, seconds=perf_counter() - start)


def quick_bound(problem: BQP, seconds: float, best_known: float) -> Bound:
    """The best bound that takes about so many seconds; what each takes is estimated from n.

    By rows first, always; then by eigenvalues; and for a small problem by the semidefinite
    relaxation, if the gap is still wide. Each is computed whole or not at all: a clock within it
    would give another bound in every run.
    """
    start, n = perf_counter(), problem.n
    if problem.is_lazy or problem.k == n:
        return bound_problem(problem, "fast")
    bounds = [rows_bound(problem)]
    takes = 0.005 + 5e-10 * n**3
    if n <= SPECTRAL_SIZE and takes <= seconds:
        bounds.append(spectral_bound(problem))
        seconds -= takes
    loose = min(b.value for b in bounds) - best_known > LOOSE * abs(best_known)
    if n <= SMALL and loose and 0.02 + 2e-4 * n <= seconds:
        bounds.append(sdp_bound(problem, best_known=best_known))
    best = min(bounds, key=lambda bound: bound.value)
    return replace(best, seconds=perf_counter() - start)


def _names(problem: BQP, method: str) -> list[str]:
    """The bounds to compute, the cheap ones first."""
    if problem.is_lazy:
        return ["nothing: Q is lazy"]
    if problem.k == problem.n:
        return ["the only choice"]
    if method in BOUNDS:
        return [method]
    names = ["rows"]
    names += ["spectral"] if problem.n <= SPECTRAL_SIZE else []
    if method == "tight":
        names.append("dnn" if problem.n <= DNN_SIZE else "sdp")
    return names


def _one(problem: BQP, name: str, time_limit: float | None, best_known: float | None) -> Bound:
    if name == "the only choice":
        size = problem.k**2 * largest_entry(problem.Q)
        return Bound(problem.value(range(problem.n)) + rounding(problem.k, size), name)
    if name not in BOUNDS:
        return Bound(float("inf"), name)
    options: dict[str, Any] = {"time_limit": time_limit, "best_known": best_known}
    return BOUNDS[name](problem, **(options if name in TIMED else {}))
