"""Eigenvalues: one that is proved, and leading pairs of a matrix that moves little."""

from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf

from bestk._typing import Floats
from bestk.bqp.relaxations.subproblem import EPS
from bestk.native.threads import MAX_CALM_WORK, calm_blas, run_tiles, spans, threads

TINY = 1e-290
ENTRY_COST = 4e-10  # seconds to read an entry of a large matrix
TILE_ROWS = 256  # of a large matrix, that one thread multiplies at once
CACHE_ENTRIES, LINE_ROWS = 2**15, 8  # that stay in the cache, and rows that go together in BLAS
MAX_DENSE_ITEMS = 600  # above it, one eigenvalue is found by products with vectors
LANCZOS_TOLERANCE = 1e-5  # of that eigenvalue
LANCZOS_VECTORS = 20  # from one restart to the next
MAX_LANCZOS_STEPS = 100  # for each row of the matrix
STEPS_TO_RESIDUAL = 4  # from one look at the residuals to the next
PARTIAL_SHARE = 0.12  # of the spectrum, below which a part of it is cheaper than the whole
CHEBYSHEV_DEGREE = 5  # products with the matrix to turn the subspace
FIRST_TURNS, EXACT_TURNS = 4, 4  # of a subspace that starts at random, or is to be accurate
SPARES = 10, 1.2  # eigenpairs beyond those that the last projection needed: number and share
FOLLOWED_SPARES = 20, 1.5  # the same in a subspace that is followed
MAX_FOLLOWED = 300  # eigenpairs: more would cost more than a better projection is worth
STEPS_TO_MINIMUM = 10  # from one estimate of the least eigenvalue to the next


def as_numpy(values: Any) -> Floats:
    """An array of numpy in double precision, from wherever it is."""
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values, np.float64)


class LeadingEigenpairs:
    """Projections on {R psd, trace R = t} of a matrix that moves little from call to call."""

    def __init__(self, expected: int) -> None:
        self.expected = expected  # eigenvalues that the next projection may need
        self.basis: Any = None  # leading eigenvectors of the last matrix
        self.cut = self.low = 0.0  # the least of their eigenvalues, and below the least of all
        self.calls = 0

    def project(self, A: Any, trace: float, exact: bool = True) -> tuple[Floats, Any, float]:
        """Weights and vectors with R = vectors diag(weights) vectors', and their level.

        The weights are the eigenvalues above the level, less the level, which is such that they
        add up to the trace.
        """
        turns, most = EXACT_TURNS if exact else 1, len(A)
        if not isinstance(A, np.ndarray):
            most = min(most, MAX_FOLLOWED)
        while True:
            values, vectors = self._largest(A, turns)
            excess = np.cumsum(values) - trace
            count = int(np.flatnonzero(values * np.arange(1, len(values) + 1) > excess)[-1]) + 1
            if count < len(values) or len(values) >= most:
                break
            self.expected, turns = min(2 * self.expected, most), EXACT_TURNS
        pairs, share = SPARES if isinstance(A, np.ndarray) else FOLLOWED_SPARES
        self.expected = min(max(count + pairs, int(share * count)), most)
        if not isinstance(A, np.ndarray):
            self.basis = vectors[:, : self.expected]
        level = float(excess[count - 1] / count)
        return values[:count] - level, vectors[:, :count], level

    def _largest(self, A: Any, turns: int) -> tuple[Floats, Any]:
        """The largest eigenvalues, descending, with their vectors: those expected, or more."""
        n = len(A)
        if not isinstance(A, np.ndarray):
            return self._followed(A, turns)
        if self.expected < PARTIAL_SHARE * n:
            # LAPACK can fail on a part of a spectrum with many equal values
            with suppress(np.linalg.LinAlgError):
                some = (n - self.expected, n - 1)
                values, vectors = eigh(A, subset_by_index=some, driver="evx", check_finite=False)
                return values[::-1], vectors[:, ::-1]
        values, vectors = eigh(A, driver="evd", check_finite=False)
        return values[::-1], vectors[:, ::-1]

    def _followed(self, A: Any, turns: int) -> tuple[Floats, Any]:
        """Pairs from those of a matrix nearby, by a polynomial (Zhou, Saad, SIMAX 29, 2007)."""
        n, basis = len(A), self.basis
        if self.calls % STEPS_TO_MINIMUM == 0:
            self.low = lanczos_minimum(A)
        self.calls += 1
        known = 0 if basis is None else basis.shape[1]
        missing = min(self.expected, n) - known
        if missing > 0:
            fresh = A.array(np.random.default_rng(0).normal(size=(n, missing)) / np.sqrt(n))
            basis = A.xp.concatenate([basis, fresh], 1) if known else fresh
            turns = turns if known else FIRST_TURNS
        for _ in range(turns):
            filtered = chebyshev_filter(A, basis, self.low, max(self.cut, self.low / 2))
            basis = A.xp.linalg.qr(filtered)[0]
            values, turn = np.linalg.eigh(-as_numpy(basis.T @ (A @ basis)))
            basis = basis @ A.array(turn)
            self.cut = -float(values[min(len(values), self.expected) - 1])
        return -values, basis


def lanczos_minimum(A: Any, steps: int = 12) -> float:
    """A little below the smallest eigenvalue, by the Lanczos method."""
    v = A.array(np.random.default_rng(0).normal(size=(len(A), 1)))
    v = v / float((v * v).sum()) ** 0.5
    before, link = 0.0 * v, 0.0
    diagonal, beside = [], []
    for _ in range(steps):
        w = A @ v - link * before
        diagonal.append(float((w * v).sum()))
        w = w - diagonal[-1] * v
        link = float((w * w).sum()) ** 0.5
        beside.append(link)
        before, v = v, w / (link or 1.0)
    T = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    return float(np.linalg.eigvalsh(T)[0]) - link


def lanczos(
    A: Any, start: Floats, which: str, count: int = 1, tol: float = 0.0, deadline: float = inf
) -> tuple[Floats, Floats]:
    """The eigenvalues at one end ("LA", "SA" or "LM") of a symmetric matrix, and their vectors.

    The Lanczos method, restarted from leading vectors (Wu, Simon, SIAM J. Matrix Anal. 22, 2000),
    until residuals are below ``tol`` times the eigenvalues. After the deadline, the eigenpairs of
    the matrix restricted to the vectors so far.
    """
    n, rng = len(start), np.random.default_rng(0)
    size = min(n, max(2 * count + 1, LANCZOS_VECTORS))
    basis, H, m, steps = np.empty((size + 1, n)), np.zeros((size, size)), 0, 0
    basis[0], broken = start / np.linalg.norm(start), False
    with calm_blas():
        while True:
            w = _multiply(A, basis[m])
            m, steps = m + 1, steps + 1
            H[m - 1, :m] = _orthogonalise(w, basis[:m])
            length, late = float(np.linalg.norm(w)), steps > MAX_LANCZOS_STEPS * n
            late = late or (m > count and perf_counter() >= deadline)
            alone = length <= EPS * np.abs(H).max()  # the vectors so far are a space of their own
            broken = broken or alone  # which may not have the pairs that are looked for
            if late or m == size or (m > count and m % STEPS_TO_RESIDUAL == 0 and not broken):
                values, turn = np.linalg.eigh(H[:m, :m])
                order = np.argsort({"LA": -values, "SA": values, "LM": -np.abs(values)}[which])
                best, turn = values[order], turn[:, order]
                small = np.maximum(tol * np.abs(best[:count]), 4 * EPS * np.abs(values).max())
                if late or m == n or (length * np.abs(turn[-1, :count]) <= small).all():
                    return best[:count], (turn[:, :count].T @ basis[:m]).T
            if alone:
                w = rng.standard_normal(n)
                _orthogonalise(w, basis[:m])
                length = float(np.linalg.norm(w))
            if m == size:
                m, broken = (size + count) // 2, False
                basis[:m] = turn[:, :m].T @ basis[:size]
                H[:m, :m] = np.diag(best[:m])
            basis[m] = w / length


def _multiply(A: Any, x: Floats) -> Floats:
    """Ax; of a symmetric matrix that is not very large, half is read, on one thread."""
    if not isinstance(A, np.ndarray):
        return np.array(A @ x, np.float64)
    return np.asarray(product(A, x) if A.size > MAX_CALM_WORK else dsymv(1.0, A.T, x, lower=1))


def _orthogonalise(w: Floats, basis: Floats) -> Floats:
    """Take from a vector what lies along orthonormal ones; return how much of each."""
    first = basis @ w
    w -= first @ basis
    second = basis @ w  # rounding leaves some, once
    w -= second @ basis
    return np.asarray(first + second)


def chebyshev_filter(A: Any, X: Any, low: float, cut: float) -> Any:
    """Chebyshev polynomial of A on [low, cut], which is large above the cut, times X."""
    half, centre = (cut - low) / 2 or 1.0, (cut + low) / 2
    before, now = X, (A @ X - centre * X) / half
    for _ in range(CHEBYSHEV_DEGREE - 1):
        before, now = now, (2 / half) * (A @ now - centre * now) - before
        size = float(abs(now).max()) or 1.0
        before, now = before / size, now / size
    return now


def largest_eigenvalue(A: Floats, deadline: float = inf, level: float | None = None) -> float:
    """A number proved to be above every eigenvalue of the symmetric matrix A, and close.

    ``level``: the largest one, if it is known but for rounding. The result is infinite if the time
    does not suffice for a proof.
    """
    n = len(A)
    step = 0.0
    if level is None and n <= MAX_DENSE_ITEMS:
        level = float(np.linalg.eigvalsh(A)[-1])
    elif level is None:
        start = np.random.default_rng(0).standard_normal(n)
        level = float(lanczos(A, start, "LA", tol=10 * LANCZOS_TOLERANCE)[0][0])
        step = LANCZOS_TOLERANCE * abs(level)
    size = n * abs(level) + float(np.abs(A.diagonal()).sum())
    step = max(step, 16 * (n + 2) * EPS * size, TINY)
    before = perf_counter()
    while factor_below(A, level + step) is None:
        step, now = 4 * step, perf_counter()
        if 2 * now - before > deadline:
            return inf
        before = now
    return level + step


def factor_below(A: Floats, level: float) -> Floats | None:
    """Cholesky factor of level I - A less a margin, a proof that it is definite (Rump 2006)."""
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


def mirror(n: int, k: int) -> Floats:
    """The v for which I - 2vv' sends (-k; e) to the first axis."""
    v = np.ones(n + 1)
    v[0] = -k - np.sqrt(float(n + k**2))
    return v / np.linalg.norm(v)


def lift(X: Any, v: Any, xp: Any = np) -> Any:
    """VX, V the columns of I - 2vv' but the first."""
    along = -2.0 * (v[1:] @ X)
    return xp.concatenate([(v[0] * along)[None], X + v[1:, None] * along])


def reflect(A: Floats, v: Floats) -> Floats:
    """V'AV, V the columns of I - 2vv' but the first, for symmetric A."""
    w = 2 * (A @ v)
    w -= (v @ w) * v
    inner, pair = A[1:, 1:], np.column_stack([v, w])[1:]
    out, turned = np.empty(inner.shape), np.ascontiguousarray(pair[:, ::-1].T)
    for rows in cached_tiles(len(out)):
        np.matmul(pair[rows], turned, out=out[rows])
        np.subtract(inner[rows], out[rows], out=out[rows])
    return out


def cached_tiles(n: int) -> list[slice]:
    """Rows of an n x n matrix, so few at a time that they stay in the cache."""
    height = max(LINE_ROWS, CACHE_ENTRIES // n // LINE_ROWS * LINE_ROWS)
    return [slice(*span) for span in spans(n, height)]


class Inner:
    """V'MV of a large M, known by its products, by numpy or torch."""

    def __init__(self, M: Any, v: Any, array: Callable[[Any], Any], xp: Any) -> None:
        self.M, self.v, self.array, self.xp = M, v, array, xp

    def __len__(self) -> int:
        return len(self.M) - 1

    def __matmul__(self, X: Any) -> Any:
        lifted = lift(X, self.v, self.xp)
        out = self.M @ lifted if self.xp is not np else product(self.M, lifted)
        return (out - (2.0 * self.v)[:, None] * (self.v @ out))[1:]


def product(M: Any, X: Any) -> Any:
    """MX by all threads, if the matrix is large; the same bits for any number of them."""
    out = np.empty((len(M), *X.shape[1:]), X.dtype)

    def work(span: tuple[int, int]) -> None:
        np.dot(M[slice(*span)], X, out=out[slice(*span)])  # matmul would hold other threads up

    with threads(seconds=ENTRY_COST * M.size) as team:
        height = -(-len(M) // team // LINE_ROWS) * LINE_ROWS
        while len(M) % height == 1 and len(M) > height:  # BLAS adds up a single row otherwise
            height += LINE_ROWS
        run_tiles(work, spans(len(M), TILE_ROWS if X.ndim > 1 else height))
    return out
