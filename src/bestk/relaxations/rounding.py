"""Margins that keep a bound valid after rounding, and eigenvalues that are proved."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from bestk._typing import Floats

EPS = float(np.finfo(np.float64).eps)
TINY = 1e-290
MAX_LAPACK_ITEMS = 600  # above it, one eigenvalue is found by products with vectors
LANCZOS_TOLERANCE = 1e-5  # of that eigenvalue


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no choice of k items exceeds, and what else its proof has shown."""

    value: float
    method: str
    seconds: float = 0.0
    row_values: Floats | None = None  # the k largest of these and a constant add up to the value
    details: Mapping[str, Any] = field(default_factory=dict)


def rounding(terms: int, size: float) -> float:
    """More than rounding can move a sum of so many terms whose absolute values add up to size."""
    return 4 * (terms + 64) * EPS * size


def largest_entry(Q: Floats) -> float:
    """The largest absolute value, without a copy of the matrix."""
    return float(max(Q.max(), -Q.min()))


def k_largest(values: Floats, k: int) -> float:
    """Sum of the k largest values.

    Examples
    --------
    >>> k_largest(np.array([1.0, 5.0, 3.0]), 2)
    8.0
    """
    cut = len(values) - k
    return float(np.partition(values, cut)[cut:].sum())


def one_thread() -> AbstractContextManager[Any]:
    """Keep BLAS on one thread: two of them on a busy machine can be a hundred times slower."""
    return threadpool_limits(1, user_api="blas")


def largest_eigenvalue(A: Floats) -> float:
    """A number proved to be above every eigenvalue of the symmetric matrix A, and close.

    Examples
    --------
    >>> 3.0 < largest_eigenvalue(np.diag([1.0, 3.0])) < 3.0 + 1e-12
    True
    """
    n = len(A)
    step = 0.0
    if n <= MAX_LAPACK_ITEMS:
        level = float(np.linalg.eigvalsh(A)[-1])
    else:
        start = np.random.default_rng(0).standard_normal(n)
        level = float(eigsh(A, 1, which="LA", v0=start, tol=10 * LANCZOS_TOLERANCE)[0][0])
        step = LANCZOS_TOLERANCE * abs(level)
    size = n * abs(level) + float(np.abs(A.diagonal()).sum())
    step = max(step, 16 * (n + 2) * EPS * size, TINY)
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
    M.flat[:: len(A) + 1] -= cholesky_margin(float(diagonal.sum()), len(A))
    factor, failed = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    return None if failed else np.asarray(factor)


def cholesky_margin(trace: float, n: int) -> float:
    """More than rounding in a Cholesky factorisation can hide of a negative eigenvalue."""
    return 3 * (n + 2) * EPS * trace + TINY
