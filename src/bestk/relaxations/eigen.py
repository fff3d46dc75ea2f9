"""Eigenvalues that can be trusted to the last digit, and BLAS on one thread."""

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf
from threadpoolctl import threadpool_limits

from bestk.relaxations.rounding import EPS, Floats

TINY = 1e-290


def one_thread() -> AbstractContextManager[Any]:
    """Keep BLAS on one thread: two of them on a busy machine can be a hundred times slower."""
    return threadpool_limits(1, user_api="blas")


def largest_eigenvalue(A: Floats) -> float:
    """A number above every eigenvalue of the symmetric matrix A, proved, and close to the largest.

    Examples
    --------
    >>> level = largest_eigenvalue(np.diag([1.0, 3.0]))
    >>> 3.0 < level < 3.0 + 1e-12
    True
    """
    n = len(A)
    level = float(np.linalg.eigvalsh(A)[-1])
    step = max(16 * (n + 2) * EPS * (n * abs(level) + float(np.abs(A.diagonal()).sum())), TINY)
    while factor_below(A, level + step) is None:
        step *= 4
    return level + step


def factor_below(A: Floats, level: float) -> Floats | None:
    """Cholesky factor of level I - A less a margin; None unless that proves level I - A definite.

    References
    ----------
    S. M. Rump, "Verification of positive definiteness", BIT 46, 2006.
    """
    M = np.negative(A)
    M.flat[:: len(A) + 1] += level
    diagonal = M.diagonal()
    if diagonal.min() <= 0:
        return None
    M.flat[:: len(A) + 1] -= margin_of(float(diagonal.sum()), len(A))
    factor, failed = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    return None if failed else np.asarray(factor)


def margin_of(trace: float, n: int) -> float:
    """More than rounding in a Cholesky factorisation can hide of a negative eigenvalue."""
    return 3 * (n + 2) * EPS * trace + TINY
