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

# A shift that fails is multiplied by this for the next test.
SHIFT_GROWTH = 8.0
# A shift that is proved is good enough if this times smaller a one fails.
CLOSE_SHIFT = 1.3
# The relaxation is climbed until its slope is this times the tolerance, relative to its size; then
# it is divided by RATIO_FACTOR as long as no bound is within the tolerance, down to LAST_RATIO.
FIRST_RATIO = 2
RATIO_FACTOR = 3
LAST_RATIO = 1e-4
# A bound within this times the tolerance is near enough.
CLOSE_BOUND = 1.01
# Rounding the relaxation to choices takes as long as a product with so many columns.
COLUMNS_OF_ROUNDING = 200
# Up to so many items the bound is tightened beyond the tolerance, by more tests of shifts.
MAX_TIGHTENED_ITEMS = 500
# Tests of shifts for the last bound, for one of few items on the way, and for one of many.
LAST_TESTS = 60
TESTS_OF_FEW = 8
TESTS_OF_MANY = 1


def sdp_bound(
    problem: BQP, time_limit: float | None = None, best_known: float | None = None
) -> Bound:
    """The value of the semidefinite relaxation, to 1e-4 of its size or as near as time allows."""
    if problem.k == problem.n:
        return only_choice(problem)
    deadline = inf if time_limit is None else perf_counter() + time_limit
    with calm_blas():
        factor = LowRankFactor(problem, np.random.default_rng(0))
        value = relax(factor, deadline=deadline)
    return Bound(value, "sdp")


def only_choice(problem: BQP) -> Bound:
    """The bound where k = n: the sum of all entries, and a margin for its rounding."""
    value = problem.value(range(problem.n))
    size = problem.n**2 * largest_entry(problem.matrix)
    return Bound(value + rounding(problem.n, size), "the only choice")


def relax(
    factor: LowRankFactor,
    tolerance: float = 1e-4,
    deadline: float = inf,
) -> float:
    """Climb until a bound within the tolerance is proved, or time is up; return that bound.

    tolerance: of the distance between the relaxation and its bound, relative to its size.
    """
    best = inf
    ratio = FIRST_RATIO * tolerance
    n, r = factor.V.shape
    while True:
        # A factorisation takes as long as so many products with Q, and so does the rounding of
        # the relaxation to choices that comes afterwards.
        seconds_of_test = factor.product_seconds * (1 + n / (3 * r))
        seconds_of_rounding = factor.product_seconds * (1 + COLUMNS_OF_ROUNDING / r)
        end = deadline - seconds_of_test - seconds_of_rounding
        stop = end - seconds_of_test
        factor.climb(ratio, stop)
        is_last = factor.stalled or factor.iterations >= MAX_ITERATIONS
        is_last = is_last or perf_counter() >= stop or ratio < LAST_RATIO * tolerance
        allowed = tolerance * factor.size
        if is_last:
            slack = max(allowed, 2 * factor.slope)
            tests = LAST_TESTS
        else:
            slack = allowed
            tests = TESTS_OF_FEW if n <= MAX_TIGHTENED_ITEMS else TESTS_OF_MANY
        bound = dual_bound(
            factor.problem, factor.multipliers, slack=slack, tests=tests, deadline=end
        )
        best = min(best, bound)
        if is_last or bound <= factor.value + CLOSE_BOUND * allowed:
            return best
        ratio /= RATIO_FACTOR


def dual_bound(
    problem: BQP,
    multipliers: Floats,
    *,
    slack: float = 0.0,
    tests: int = LAST_TESTS,
    deadline: float = inf,
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

    multipliers: t, one number for z_0 and one for each item.
    """
    t = np.asarray(multipliers, np.float64)
    n = problem.n
    k = problem.k
    cost = min(4 * k, n + 1)  # by how much a shift of 1 raises the bound
    bend = (cost - 4 * k) / (2 * k**2)
    d = 4 * t[1:]
    a = t.sum() / (2 * k**2) - 2 * t[1:] / k
    entry = largest_entry(problem.matrix)
    min_shift = EPS * (entry + largest_entry(d) + largest_entry(a)) + TINY
    shift = max(slack / cost, min_shift)
    failed = 0.0  # the largest shift that failed
    proved = inf  # the smallest shift that succeeded
    bound = inf
    for _ in range(tests):
        if perf_counter() >= deadline:
            break
        value = proved_dual(problem, d + 4 * shift, a + bend * shift, entry)
        bound = min(bound, value)
        if value < inf:
            proved = shift
        else:
            failed = shift
        if proved <= max(min_shift, CLOSE_SHIFT * failed):
            break
        if proved == inf:
            shift = SHIFT_GROWTH * failed
        elif failed:
            shift = sqrt(failed * proved)
        else:
            shift = max(min_shift, proved / SHIFT_GROWTH)
    return bound


def proved_dual(problem: BQP, d: Floats, a: Floats, entry: float) -> float:
    """The bound of d and a if T is certainly positive semidefinite, else infinity.

    entry: the largest absolute value of Q.
    """
    n = problem.n
    k = problem.k
    T = np.subtract(a, problem.matrix)
    T += a[:, None]
    T.flat[:: n + 1] += d
    trace = float(np.abs(T.diagonal()).sum())
    _, failed = dpotrf(T.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return inf
    # An error of this size in each entry of T moves its eigenvalues by n times as much at most.
    error_of_entry = rounding(1, entry + 2 * largest_entry(a) + largest_entry(d) / n)
    margin = cholesky_margin(trace, n) + n * error_of_entry
    worth = d + margin + 2 * k * a
    size = largest_entry(d) + margin + 2 * k * largest_entry(a) + k * entry
    return k_largest(worth, k) + rounding(k, k * size)
