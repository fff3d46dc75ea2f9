"""A proved bound from any guess of the multipliers of the semidefinite relaxation."""

from math import fsum, inf, sqrt
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

from bestk.problem import BQP

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)  # twice the unit roundoff
TINY = float(np.finfo(np.float64).tiny)
GROWTH = 8.0  # of the shift, from one test to the next
CLOSE = 1.3  # a shift this near to one that fails is good enough


def sdp_bound(
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
    S. M. Rump, "Verification of positive definiteness", BIT Numerical Mathematics 46, 2006.

    Examples
    --------
    One of two items, worth 0 each:

    >>> problem = BQP([[0.0, 2.0], [2.0, 0.0]], k=1)
    >>> abs(sdp_bound(problem, np.array([1.0, -0.5, -0.5]))) < 1e-12
    True
    """
    t, n, k = np.asarray(multipliers, np.float64), problem.n, problem.k
    cost = min(4 * k, n + 1)
    bend = (cost - 4 * k) / (2 * k**2)
    d, a = 4 * t[1:], t.sum() / (2 * k**2) - 2 * t[1:] / k
    entry = _largest(problem.Q)
    least = EPS * (entry + _largest(d) + _largest(a)) + TINY
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
    # Rump's margin, four times over for blocked factorisations, and the rounding of T itself
    rounding = 2 * EPS * (2 * n * _largest(a) + n * entry + _largest(d))
    margin = 2 * (n + 2) * EPS * trace + rounding + n * TINY
    if dpotrf(T.T, lower=1, clean=0, overwrite_a=1)[1] != 0:
        return inf
    worth = d + margin + 2 * k * a
    bound = fsum(np.partition(worth, n - k)[n - k :])
    # the rounding of worth, and that of a sum of k^2 entries which is compared with the bound
    summed = k * (_largest(d) + margin + 2 * k * _largest(a)) + 4 * k**2 * entry
    return float(bound + 4 * EPS * summed)


def _largest(numbers: Floats) -> float:
    return max(float(numbers.max()), -float(numbers.min()))
