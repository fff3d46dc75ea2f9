"""The bound by eigenvalues: the choice replaced by a point on a sphere."""

import numpy as np
from scipy.linalg import cho_solve

from bestk.problem.problem import BQP
from bestk.relaxations.eigen import factor_below, margin_of, one_thread
from bestk.relaxations.rounding import Bound, Floats, largest_entry, rounding

TESTS = 12  # Cholesky factorisations at most
NEAREST = 1e-9  # distance kept from the eigenvalue, in units of the largest entry
CLOSE = 1e-4  # relative error in the radius that is close enough


def spectral_bound(problem: BQP) -> Bound:
    """Bound x'Qx over the sphere that holds every choice, at most k times the largest eigenvalue.

    With x = (k/n) e + w, w is orthogonal to e and |w|^2 = k - k^2/n. For P the projection off e,
    b = (k/n) PQe and any mu above the eigenvalues of PQP,

        x'Qx <= (k/n)^2 e'Qe + mu (k - k^2/n) + b'(mu I - PQP)^-1 b,

    and a Newton iteration on |w| finds the best mu, as in a trust region.

    References
    ----------
    J. J. More, D. C. Sorensen, "Computing a trust region step", SIAM J. Sci. Stat. Comput. 4, 1983.

    Examples
    --------
    >>> problem = BQP(np.eye(4), k=2)
    >>> round(spectral_bound(problem).value, 6)
    2.0
    """
    n, k = problem.n, problem.k
    sums = problem.Q.sum(axis=1)
    size = largest_entry(problem.Q)
    b = (k / n) * (sums - sums.mean())
    centre = (k / n) ** 2 * float(sums.sum())
    if k == n or not size:
        return Bound(centre + rounding(n, k**2 * size), "spectral")
    with one_thread():
        inner, mu = _maximum(_centred(problem.Q, sums), b, k - k**2 / n, size)
    # PQP is known to 64 roundings an entry, which moves its eigenvalues by at most n times that
    margin = rounding(n, k**2 * size + (n * size + abs(mu)) * k + abs(inner))
    return Bound(centre + inner + margin, "spectral", details={"multiplier": mu})


def _centred(Q: Floats, sums: Floats) -> Floats:
    """PQP, P the projection off e."""
    means = sums / len(Q)
    out = Q - means
    out -= (means - means.mean())[:, None]
    return out


def _maximum(A: Floats, b: Floats, radius2: float, size: float) -> tuple[float, float]:
    """A proved bound on w'Aw + 2b'w over w'e = 0, |w|^2 = radius2, and its multiplier."""
    n = len(A)
    A -= 4 * size  # moves the eigenvalue of e, which plays no part, out of the way
    top = float(np.linalg.eigvalsh(A)[-1])
    low, high = top + NEAREST * size, max(top, 0.0) + 2 * n * size
    mu = low + max(1e-3 * size, float(np.linalg.norm(b)) / np.sqrt(radius2))
    best = (np.inf, mu)
    for _ in range(TESTS):
        value, length2, slope = _value(A, b, mu, radius2)
        best = min(best, (value, float(mu)))
        if abs(length2 / radius2 - 1) < CLOSE or high - low < NEAREST * size:
            break
        low, high = (mu, high) if length2 > radius2 else (low, mu)
        mu = _next(mu, length2, slope, radius2)
        if not low < mu < high:
            mu = low + (high - low) / 16  # the hard case: the multiplier is the eigenvalue
    return best


def _next(mu: float, length2: float, slope: float, radius2: float) -> float:
    """Newton step on 1 / |y|, which is almost linear in mu; the old point where there is none."""
    return mu + length2 / slope * (np.sqrt(length2 / radius2) - 1) if slope > 0 else mu


def _value(A: Floats, b: Floats, mu: float, radius2: float) -> tuple[float, float, float]:
    """The bound at mu, infinite unless proved; |y|^2 and y'M^-1 y for M = mu I - A, My = b."""
    factor = factor_below(A, mu)
    if factor is None:
        return np.inf, np.inf, 0.0
    y = cho_solve((factor, True), b, check_finite=False)
    z = cho_solve((factor, True), y, check_finite=False)
    residual = b - (mu * y - A @ y)
    # M is definite by more than half the margin, so that r'M^-1 r <= 2 |r|^2 / margin
    spare = margin_of(mu * len(A) - float(A.trace()), len(A)) / 2
    value = mu * radius2 + b @ y + residual @ y + residual @ residual / spare
    return float(value), float(y @ y), float(y @ z)
