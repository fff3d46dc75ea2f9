"""The bound by eigenvalues: the choice replaced by a point on a sphere."""

import numpy as np
from scipy.linalg import cho_solve

from bestk._typing import Floats
from bestk.problem import BQP
from bestk.relaxations import (
    Bound,
    cholesky_margin,
    factor_below,
    largest_entry,
    one_thread,
    rounding,
)

MAX_FACTORISATIONS = 12
MIN_DISTANCE = 1e-9  # from the eigenvalue, in units of the largest entry
RADIUS_TOLERANCE = 1e-4  # relative


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
    means = sums / n
    centred = problem.Q - means
    centred -= (means - means.mean())[:, None]
    with one_thread():
        inner, mu = _maximum(centred, b, k - k**2 / n, size)
    # PQP is known to 64 roundings an entry, which moves its eigenvalues by at most n times that
    margin = rounding(n, k**2 * size + (n * size + abs(mu)) * k + abs(inner))
    return Bound(centre + inner + margin, "spectral", details={"multiplier": mu})


def _maximum(A: Floats, b: Floats, radius2: float, size: float) -> tuple[float, float]:
    """A proved bound on w'Aw + 2b'w over w'e = 0, |w|^2 = radius2, and its multiplier."""
    n = len(A)
    A -= 4 * size  # moves the eigenvalue of e, which plays no part, out of the way
    top = float(np.linalg.eigvalsh(A)[-1])
    low, high = top + MIN_DISTANCE * size, max(top, 0.0) + 2 * n * size
    mu = low + max(1e-3 * size, float(np.linalg.norm(b)) / np.sqrt(radius2))
    best = (np.inf, mu)
    for _ in range(MAX_FACTORISATIONS):
        value, length2, slope = _value_at(A, b, mu, radius2)
        best = min(best, (value, float(mu)))
        if abs(length2 / radius2 - 1) < RADIUS_TOLERANCE or high - low < MIN_DISTANCE * size:
            break
        low, high = (mu, high) if length2 > radius2 else (low, mu)
        # a Newton step on 1 / |y|, which is almost linear in mu
        mu += length2 / slope * (np.sqrt(length2 / radius2) - 1) if slope > 0 else 0.0
        if not low < mu < high:
            mu = low + (high - low) / 16  # the hard case: the multiplier is the eigenvalue
    return best


def _value_at(A: Floats, b: Floats, mu: float, radius2: float) -> tuple[float, float, float]:
    """The bound at mu, infinite unless proved; |y|^2 and y'M^-1 y for M = mu I - A, My = b."""
    factor = factor_below(A, mu)
    if factor is None:
        return np.inf, np.inf, 0.0
    y = cho_solve((factor, True), b, check_finite=False)
    z = cho_solve((factor, True), y, check_finite=False)
    residual = b - (mu * y - A @ y)
    # M is definite by more than half the margin, so that r'M^-1 r <= 2 |r|^2 / margin
    spare = cholesky_margin(mu * len(A) - float(A.trace()), len(A)) / 2
    value = mu * radius2 + b @ y + residual @ y + residual @ residual / spare
    return float(value), float(y @ y), float(y @ z)
