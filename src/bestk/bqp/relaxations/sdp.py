"""The semidefinite bound, proved from any guess of the multipliers of the relaxation."""

from math import inf, sqrt
from time import perf_counter

import numpy as np
from scipy.linalg.lapack import dpotrf

from bestk._typing import Floats
from bestk.bqp.problem import BQP, largest_entry
from bestk.bqp.relaxations.eigen import TINY, cholesky_margin
from bestk.bqp.relaxations.spheres import MAX_ITERATIONS, LowRankFactor
from bestk.bqp.relaxations.subproblem import EPS, Bound, k_largest, rounding
from bestk.native.threads import calm_blas

SHIFT_GROWTH = 8.0  # from one test to the next
CLOSE_SHIFT = 1.3  # a shift this near to one that fails is good enough
MAX_TIGHTENED_ITEMS = 500  # up to this size the bound is tightened beyond the tolerance


def sdp_bound(
    problem: BQP, time_limit: float | None = None, best_known: float | None = None
) -> Bound:
    """The value of the semidefinite relaxation, to 1e-4 of its size or as near as time allows."""
    if problem.k == problem.n:
        return only_choice(problem)
    deadline = inf if time_limit is None else perf_counter() + time_limit
    with calm_blas():
        value = relax(LowRankFactor(problem, np.random.default_rng(0)), deadline=deadline)
    return Bound(value, "sdp")


def only_choice(problem: BQP) -> Bound:
    """The bound where k = n: the sum of all entries, and a margin for its rounding."""
    size = problem.n**2 * largest_entry(problem.Q)
    return Bound(problem.value(range(problem.n)) + rounding(problem.n, size), "the only choice")


def relax(factor: LowRankFactor, tolerance: float = 1e-4, deadline: float = inf) -> float:
    """Climb until a bound within the tolerance is proved, or time is up; return that bound."""
    best, ratio = inf, 2 * tolerance
    while True:
        # a factorisation takes as long as so many products with Q, and so does the rounding
        n, r = factor.V.shape
        test = factor.product_seconds * (1 + n / (3 * r))
        end = deadline - test - factor.product_seconds * (1 + 200 / r)
        stop = end - test
        factor.climb(ratio, stop)
        last = factor.stalled or factor.iterations >= MAX_ITERATIONS
        last = last or perf_counter() >= stop or ratio < 1e-4 * tolerance
        allowed = tolerance * factor.size
        bound = dual_bound(
            factor.problem,
            factor.multipliers,
            slack=max(allowed, 2 * factor.slope) if last else allowed,
            tests=60 if last else 8 if factor.problem.n <= MAX_TIGHTENED_ITEMS else 1,
            deadline=end,
        )
        best = min(best, bound)
        if last or bound <= factor.value + 1.01 * allowed:
            return best
        ratio /= 3


def dual_bound(
    problem: BQP, multipliers: Floats, *, slack: float = 0.0, tests: int = 60, deadline: float = inf
) -> float:
    """Bound x'Qx with a dual guess t of the semidefinite relaxation; any guess is valid.

    With z = (1, 2x - e), the relaxation maximises <W, Z> over psd Z with unit diagonal and
    Z N = 0, N = (n - 2k; e). For any t, with the smallest eigenvalue taken orthogonally to N,

        x'Qx <= sum t - (n + 1) min(0, lambda_min(Diag t - W)).

    That complement of N is parametrised by x itself, through z_0 = e'x / k, where it reads

        x'Qx = sum over chosen i of (d_i + 2k a_i) - x'T x,  T = Diag d + a e' + e a' - Q,

    with d = 4 t and a = sum t / 2k^2 - 2 t / k. Wherever T is positive semidefinite, the k
    largest d_i + 2k a_i add up to a bound. So t is shifted, at first by ``slack``, by more and more
    until a Cholesky factorisation of T succeeds, with a margin that covers all rounding; then by
    less again, until it nearly fails. The shift is that of the formula above, or of |x|^2 = k
    where that costs less. If none of the tests succeeds before the deadline, it is infinite.
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
        value = proved_dual(problem, d + 4 * shift, a + bend * shift, entry)
        bound = min(bound, value)
        failed, proved = (failed, shift) if value < inf else (shift, proved)
        if proved <= max(least, CLOSE_SHIFT * failed):
            break
        if proved == inf:
            shift = SHIFT_GROWTH * failed
        else:
            shift = sqrt(failed * proved) if failed else max(least, proved / SHIFT_GROWTH)
    return bound


def proved_dual(problem: BQP, d: Floats, a: Floats, entry: float) -> float:
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
    margin = cholesky_margin(trace, n) + n * entries
    worth = d + margin + 2 * k * a
    size = largest_entry(d) + margin + 2 * k * largest_entry(a) + k * entry
    return k_largest(worth, k) + rounding(k, k * size)
