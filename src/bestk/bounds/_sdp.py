"""The semidefinite bound: proved, from any guess of the multipliers of the relaxation."""

from math import inf, sqrt
from time import perf_counter

import numpy as np
from scipy.linalg.lapack import dpotrf

from bestk.problem.problem import BQP
from bestk.relaxations.eigen import TINY, margin_of
from bestk.relaxations.rounding import EPS, Bound, Floats, k_largest, largest_entry, rounding

GROWTH = 8.0  # of the shift, from one test to the next
CLOSE = 1.3  # a shift this near to one that fails is good enough


def sdp_bound(
    problem: BQP, time_limit: float | None = None, best_known: float | None = None
) -> Bound:
    """The value of the relaxation of ``SDP``, to 1e-4 of its size or as near as time allows.

    Examples
    --------
    >>> bound = sdp_bound(BQP([[0.0, 3.0, 1.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]], k=2))
    >>> round(bound.value, 2)
    6.0
    """
    from bestk.solvers._base import Run
    from bestk.solvers._sdp import SDP

    if problem.k == problem.n:
        return Bound(only_choice(problem), "sdp")
    start = perf_counter()
    run = Run(np.random.default_rng(0), inf if time_limit is None else start + time_limit)
    relaxation = SDP().relax(problem, run)
    details = {"relaxation": relaxation.value, "iterations": relaxation.iterations}
    return Bound(run.upper_bound, "sdp", perf_counter() - start, details=details)


def only_choice(problem: BQP) -> float:
    """The bound where k = n: the sum of all entries, and a margin for its rounding."""
    size = problem.n**2 * largest_entry(problem.Q)
    return problem.value(range(problem.n)) + rounding(problem.n, size)


def dual_bound(
    problem: BQP,
    multipliers: Floats,
    *,
    slack: float = 0.0,
    tests: int = 60,
    deadline: float = inf,
) -> float:
    """Bound x'Qx with a dual guess of the semidefinite relaxation; any guess gives a valid bound.

    With z = (1, 2x - e), the relaxation maximises <W, Z> over psd Z with unit diagonal and
    Z N = 0, N = (n - 2k; e). For any t, with the smallest eigenvalue taken orthogonally to N,

        x'Qx <= sum t - (n + 1) min(0, lambda_min(Diag t - W)).

    That complement of N is parametrised by x itself, through z_0 = e'x / k, where it reads

        x'Qx = sum over chosen i of (d_i + 2k a_i) - x'T x,  T = Diag d + a e' + e a' - Q,

    with d = 4 t and a = sum t / 2k^2 - 2 t / k. Wherever T is positive semidefinite, the k
    largest d_i + 2k a_i add up to a bound. So t is shifted by more and more until a Cholesky
    factorisation of T succeeds, with a margin that covers all rounding; then by less again,
    until it nearly fails. The shift is that of the formula above, or of |x|^2 = k where that
    costs less.

    Parameters
    ----------
    problem : BQP
        With a matrix, of which one working copy is made.
    multipliers : array of n + 1 numbers
        The guess t, the entry of z_0 first.
    slack : float
        How far above sum t the first test lies.
    tests : int
        At most so many factorisations, n^3 / 3 operations each. If none succeeds, the bound is
        infinite.
    deadline : float
        No test starts after it, on the clock of ``time.perf_counter``.

    References
    ----------
    S. M. Rump, "Verification of positive definiteness", BIT 46, 2006.

    Examples
    --------
    One of two items, worth 0 each:

    >>> problem = BQP([[0.0, 2.0], [2.0, 0.0]], k=1)
    >>> 0.0 <= dual_bound(problem, np.array([1.0, -0.5, -0.5])) < 1e-12
    True
    """
    t, n, k = np.asarray(multipliers, np.float64), problem.n, problem.k
    cost = min(4 * k, n + 1)
    bend = (cost - 4 * k) / (2 * k**2)
    d, a = 4 * t[1:], t.sum() / (2 * k**2) - 2 * t[1:] / k
    entry = largest_entry(problem.Q)
    least = EPS * (entry + largest_entry(d) + largest_entry(a)) + TINY
    shift, failed, proved, bound = max(slack / cost, least), 0.0, inf, inf
    for _ in range(tests):
        if perf_counter() >= deadline:
            break
        value = _proved(problem, d + 4 * shift, a + bend * shift, entry)
        bound = min(bound, value)
        failed, proved = (failed, shift) if value < inf else (shift, proved)
        if proved <= max(least, CLOSE * failed):
            break
        shift = _between(failed, proved, least)
    return bound


def _between(failed: float, proved: float, least: float) -> float:
    """The next shift to test, above one that failed and below one that sufficed."""
    if proved == inf:
        return GROWTH * failed
    return sqrt(failed * proved) if failed else max(least, proved / GROWTH)


def _proved(problem: BQP, d: Floats, a: Floats, entry: float) -> float:
    """The bound of d and a if T is certainly positive semidefinite, else infinity."""
    n, k = problem.n, problem.k
    T = np.subtract(a, problem.Q)
    T += a[:, None]
    T.flat[:: n + 1] += d
    trace = float(np.abs(T.diagonal()).sum())
    if dpotrf(T.T, lower=1, clean=0, overwrite_a=1)[1] != 0:
        return inf
    # an error of this size in each entry of T moves its eigenvalues by n times as much at most
    entries = rounding(1, entry + 2 * largest_entry(a) + largest_entry(d) / n)
    margin = margin_of(trace, n) + n * entries
    worth = d + margin + 2 * k * a
    size = largest_entry(d) + margin + 2 * k * largest_entry(a) + k * entry
    return k_largest(worth, k) + rounding(k, k * size)
