"""Eigenvalues: one that is proved, and leading pairs of a matrix that moves little."""

from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Literal

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf

from bestk._typing import Floats
from bestk.bqp.relaxations.arrays import (
    AnyArray,
    ArrayLibrary,
    HasProducts,
    LinearOperator,
    as_numpy,
)
from bestk.bqp.relaxations.subproblem import EPS
from bestk.native.threads import MAX_CALM_WORK, calm_blas, run_tiles, spans, threads

# Which end of the spectrum is wanted: the largest values, the smallest, or the largest magnitudes.
End = Literal["LA", "SA", "LM"]

# Added to margins that are relative, so that they are above 0 where a matrix is 0.
TINY = 1e-290
# Seconds to read an entry of a large matrix, by which it is decided whether threads are worth it.
ENTRY_COST = 4e-10
# Rows of a large matrix that one thread multiplies at a time.
TILE_ROWS = 256
# Entries that stay in the cache while they are read and written again.
CACHE_ENTRIES = 2**15
# Rows that BLAS multiplies together.
LINE_ROWS = 8
# With more rows than this, the largest eigenvalue is found by products with vectors.
MAX_DENSE_ITEMS = 600
# Relative accuracy of that eigenvalue.
LANCZOS_TOLERANCE = 1e-5
# Vectors of the Lanczos method from one restart to the next, unless more pairs are wanted.
LANCZOS_VECTORS = 20
# Limit on the steps of the Lanczos method, times the number of rows.
MAX_LANCZOS_STEPS = 100
# The residuals of the Lanczos method are computed after every so many steps.
STEPS_TO_RESIDUAL = 4
# Below this share of the spectrum, LAPACK finds a part of it in less time than all of it.
PARTIAL_SHARE = 0.12
# Products with the matrix by which a subspace is turned towards its leading eigenvectors.
CHEBYSHEV_DEGREE = 5
# How often a subspace is turned that starts at random.
FIRST_TURNS = 4
# How often a subspace is turned that must be accurate.
EXACT_TURNS = 4
# Eigenpairs that are computed beyond those that the last projection needed: at least so many more,
# and at least so many times as many.
SPARE_PAIRS = 10
SPARE_FACTOR = 1.2
# The same in a subspace that follows a matrix.
FOLLOWED_SPARE_PAIRS = 20
FOLLOWED_SPARE_FACTOR = 1.5
# Eigenpairs that are followed at most: more would cost more than a better projection is worth.
MAX_FOLLOWED = 300
# The smallest eigenvalue is estimated anew after every so many projections.
STEPS_TO_MINIMUM = 10


@dataclass(frozen=True, eq=False)
class Projection:
    """The psd matrix of a given trace that is nearest to a matrix, as vectors diag(w) vectors'."""

    weights: Floats
    """One for each vector, above 0; they add up to the trace."""

    vectors: AnyArray
    """Leading eigenvectors of the matrix, one in each column."""

    level: float
    """What was taken off the leading eigenvalues to get the weights."""


class LeadingEigenpairs:
    """Projections of a matrix that moves little from call to call on {R psd, trace R = t}."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        """How many eigenvalues the next projection may need."""

    def project_largest(
        self, values: Floats, vectors: AnyArray, trace: float, max_pairs: int
    ) -> Projection | None:
        """The projection, given some of the largest eigenvalues, descending, and their vectors.

        The weights are the eigenvalues above a level, less the level, which is such that they add
        up to the trace. Returns None, and expects more eigenvalues, if the next one might be above
        the level, too, and there are fewer than ``max_pairs``.
        """
        counts = np.arange(1, len(values) + 1)
        # With the first c eigenvalues, the level is excess[c - 1] / c; the last must be above it.
        excess = np.cumsum(values) - trace
        is_above_level = values * counts > excess
        count = int(np.flatnonzero(is_above_level)[-1]) + 1
        if count == len(values) < max_pairs:
            self.expected = min(2 * self.expected, max_pairs)
            return None
        level = float(excess[count - 1] / count)
        weights = values[:count] - level
        return Projection(weights, vectors[:, :count], level)


class DenseEigenpairs(LeadingEigenpairs):
    """Projections of arrays of numpy, by LAPACK."""

    def project(self, A: Floats, trace: float) -> Projection:
        """The nearest psd matrix of that trace to a symmetric matrix."""
        while True:
            values, vectors = self._largest(A)
            projection = self.project_largest(values, vectors, trace, len(A))
            if projection is not None:
                break
        count = len(projection.weights)
        with_spares = max(count + SPARE_PAIRS, int(SPARE_FACTOR * count))
        self.expected = min(with_spares, len(A))
        return projection

    def _largest(self, A: Floats) -> tuple[Floats, Floats]:
        """The largest eigenvalues, descending, and their vectors: those expected, or all."""
        n = len(A)
        if self.expected < PARTIAL_SHARE * n:
            wanted = (n - self.expected, n - 1)
            # LAPACK can fail on a part of a spectrum with many equal values.
            with suppress(np.linalg.LinAlgError):
                values, vectors = eigh(A, subset_by_index=wanted, driver="evx", check_finite=False)
                return values[::-1], vectors[:, ::-1]
        values, vectors = eigh(A, driver="evd", check_finite=False)
        return values[::-1], vectors[:, ::-1]


class FollowedEigenpairs(LeadingEigenpairs):
    """Projections of operators, by a subspace that follows their leading eigenvectors.

    The subspace of the last operator is turned towards the leading eigenvectors of the new one by
    a polynomial (Zhou, Saad, SIAM J. Matrix Anal. Appl. 29, 2007).
    """

    def __init__(self, expected: int) -> None:
        super().__init__(expected)
        self.basis: AnyArray | None = None
        """Leading eigenvectors of the last operator, one in each column."""
        self.cut = 0.0
        """The smallest of their eigenvalues."""
        self.lowest = 0.0
        """A number below all eigenvalues."""
        self.turned = 0
        """How many operators the subspace was turned to."""

    def project(
        self,
        A: LinearOperator,
        trace: float,
        exact: bool = True,
    ) -> Projection:
        """The nearest psd matrix of that trace, or one close to it; closer if ``exact``."""
        max_pairs = min(len(A), MAX_FOLLOWED)
        turns = EXACT_TURNS if exact else 1
        while True:
            values, vectors = self._turn(A, turns)
            projection = self.project_largest(values, vectors, trace, max_pairs)
            if projection is not None:
                break
            turns = EXACT_TURNS
        count = len(projection.weights)
        with_spares = max(count + FOLLOWED_SPARE_PAIRS, int(FOLLOWED_SPARE_FACTOR * count))
        self.expected = min(with_spares, max_pairs)
        self.basis = vectors[:, : self.expected]
        return projection

    def _turn(self, A: LinearOperator, turns: int) -> tuple[Floats, AnyArray]:
        """Eigenvalues, descending, and vectors of the operator in a subspace turned to it."""
        if self.turned % STEPS_TO_MINIMUM == 0:
            self.lowest = lanczos_minimum(A)
        self.turned += 1
        is_new = self.basis is None
        basis = self._widened(A)
        for _ in range(FIRST_TURNS if is_new else turns):
            cut = max(self.cut, self.lowest / 2)
            filtered = chebyshev_filter(A, basis, self.lowest, cut)
            basis = A.library.functions.linalg.qr(filtered)[0]
            restricted = as_numpy(basis.T @ (A @ basis))
            # The largest values come first where the sign is turned.
            negative, rotation = np.linalg.eigh(-restricted)
            basis = basis @ A.library.array(rotation)
            last = min(len(negative), self.expected) - 1
            self.cut = -float(negative[last])
        return -negative, basis

    def _widened(self, A: LinearOperator) -> AnyArray:
        """The last subspace with random vectors, so that it has as many as are expected."""
        n = len(A)
        n_vectors = 0 if self.basis is None else self.basis.shape[1]
        n_missing = min(self.expected, n) - n_vectors
        if n_missing <= 0:
            return self.basis
        rng = np.random.default_rng(0)
        random = rng.normal(size=(n, n_missing)) / np.sqrt(n)
        fresh = A.library.array(random)
        if self.basis is None:
            return fresh
        return A.library.functions.concatenate([self.basis, fresh], 1)


def lanczos_minimum(A: LinearOperator, steps: int = 12) -> float:
    """A little below the smallest eigenvalue, by the Lanczos method.

    A is tridiagonal in the space of the first vectors v, Av, AAv, ... The smallest eigenvalue of
    that matrix, less its last link to the next vector, is nearly always below that of A.
    """
    rng = np.random.default_rng(0)
    v = A.library.array(rng.normal(size=(len(A), 1)))
    v = v / float((v * v).sum()) ** 0.5
    previous = 0.0 * v
    link = 0.0
    diagonal = []
    links = []
    for _ in range(steps):
        w = A @ v - link * previous
        diagonal.append(float((w * v).sum()))
        w = w - diagonal[-1] * v
        link = float((w * w).sum()) ** 0.5
        links.append(link)
        previous = v
        v = w / (link or 1.0)
    above = np.diag(links[:-1], 1)
    below = np.diag(links[:-1], -1)
    tridiagonal = np.diag(diagonal) + above + below
    return float(np.linalg.eigvalsh(tridiagonal)[0]) - link


@dataclass(frozen=True, eq=False)
class _RitzPairs:
    """Eigenpairs of a matrix restricted to a few orthonormal vectors, the wanted ones first."""

    values: Floats
    """Approximate eigenvalues."""

    vectors: Floats
    """Their vectors in terms of the orthonormal ones, one in each column."""

    @classmethod
    def of(cls, H: Floats, which: End) -> "_RitzPairs":
        """H: the restricted matrix."""
        values, vectors = np.linalg.eigh(H)
        if which == "LA":
            order = np.argsort(-values)
        elif which == "SA":
            order = np.argsort(values)
        else:
            order = np.argsort(-np.abs(values))
        return cls(values[order], vectors[:, order])

    def lifted(self, count: int, basis: Floats) -> Floats:
        """The first vectors as rows, in the space of the orthonormal vectors, the rows of basis."""
        return np.asarray(self.vectors[:, :count].T @ basis)

    def are_accurate(self, count: int, length: float, tol: float) -> bool:
        """Whether the residuals of the first pairs are below ``tol`` times their values.

        length: that of what the last product has outside of the orthonormal vectors.
        """
        rounding = 4 * EPS * np.abs(self.values).max()
        sizes = np.abs(self.values[:count])
        allowed = np.maximum(tol * sizes, rounding)
        residuals = length * np.abs(self.vectors[-1, :count])
        return bool((residuals <= allowed).all())


def lanczos(
    A: Floats | HasProducts,
    start: Floats,
    which: End,
    count: int = 1,
    tol: float = 0.0,
    deadline: float = inf,
) -> tuple[Floats, Floats]:
    """Eigenvalues at one end of the spectrum of a symmetric matrix, and their vectors.

    The Lanczos method, restarted from leading vectors (Wu, Simon, SIAM J. Matrix Anal. 22, 2000),
    until residuals are below ``tol`` times the eigenvalues. After the deadline, the eigenpairs of
    the matrix restricted to the vectors so far.

    start: a vector to begin with, of any length.
    count: how many pairs are wanted.
    Returns the values, shape (count,), and their vectors, one in each column.
    """
    n = len(start)
    rng = np.random.default_rng(0)
    max_vectors = min(n, max(2 * count + 1, LANCZOS_VECTORS))
    basis = np.empty((max_vectors + 1, n))  # a vector in each row
    basis[0] = start / np.linalg.norm(start)
    H = np.zeros((max_vectors, max_vectors))  # A restricted to them; only the lower half is set
    m = 0  # vectors whose products are in H
    steps = 0
    was_invariant = False
    with calm_blas():
        while True:
            remainder = _multiply(A, basis[m])
            m += 1
            steps += 1
            H[m - 1, :m] = _orthogonalise(remainder, basis[:m])
            length = float(np.linalg.norm(remainder))
            is_late = steps > MAX_LANCZOS_STEPS * n
            is_late = is_late or (m > count and perf_counter() >= deadline)
            # No product leads out of the vectors so far: they may miss the pairs that are wanted,
            # and their residuals of 0 prove nothing. A random vector leads on.
            is_invariant = length <= EPS * np.abs(H).max()
            was_invariant = was_invariant or is_invariant
            is_check = m > count and m % STEPS_TO_RESIDUAL == 0 and not was_invariant
            if is_late or m == max_vectors or is_check:
                ritz = _RitzPairs.of(H[:m, :m], which)
                if is_late or m == n or ritz.are_accurate(count, length, tol):
                    return ritz.values[:count], ritz.lifted(count, basis[:m]).T
            if is_invariant:
                remainder = rng.standard_normal(n)
                _orthogonalise(remainder, basis[:m])
                length = float(np.linalg.norm(remainder))
            if m == max_vectors:
                m = (max_vectors + count) // 2
                was_invariant = False
                basis[:m] = ritz.lifted(m, basis[:max_vectors])
                H[:m, :m] = np.diag(ritz.values[:m])
            basis[m] = remainder / length


def _multiply(A: Floats | HasProducts, x: Floats) -> Floats:
    """Ax; of a symmetric matrix that is not very large, half is read, on one thread."""
    if not isinstance(A, np.ndarray):
        return np.array(A @ x, np.float64)
    if A.size > MAX_CALM_WORK:
        return product(A, x)
    return np.asarray(dsymv(1.0, A.T, x, lower=1))


def _orthogonalise(w: Floats, basis: Floats) -> Floats:
    """Take from w what lies along orthonormal vectors, the rows; return how much of each."""
    first = basis @ w
    w -= first @ basis
    # The first pass leaves rounding errors along the vectors, which the second takes off.
    second = basis @ w
    w -= second @ basis
    return np.asarray(first + second)


def chebyshev_filter(
    A: Floats | LinearOperator, X: AnyArray, lowest: float, cut: float
) -> AnyArray:
    """A polynomial of A times X, of which eigenvectors of values above the cut are the most.

    The Chebyshev polynomial is small on [lowest, cut] and grows quickly above. The result is
    scaled, so that it does not overflow.
    """
    half_width = (cut - lowest) / 2 or 1.0
    centre = (cut + lowest) / 2
    previous = X
    current = (A @ X - centre * X) / half_width
    for _ in range(CHEBYSHEV_DEGREE - 1):
        following = (2 / half_width) * (A @ current - centre * current) - previous
        size = float(abs(following).max()) or 1.0
        previous = current / size
        current = following / size
    return current


def largest_eigenvalue(
    A: Floats,
    deadline: float = inf,
    level: float | None = None,
) -> float:
    """A number proved to be above every eigenvalue of the symmetric matrix A, and close.

    level: the largest eigenvalue, if it is known but for rounding. The result is infinite if the
    time until the deadline does not suffice for a proof.
    """
    n = len(A)
    accuracy = 0.0
    if level is None and n <= MAX_DENSE_ITEMS:
        level = float(np.linalg.eigvalsh(A)[-1])
    elif level is None:
        start = np.random.default_rng(0).standard_normal(n)
        values, _ = lanczos(A, start, "LA", tol=10 * LANCZOS_TOLERANCE)
        level = float(values[0])
        accuracy = LANCZOS_TOLERANCE * abs(level)
    size_of_diagonal = float(np.abs(A.diagonal()).sum())
    size = n * abs(level) + size_of_diagonal
    step = max(accuracy, 16 * (n + 2) * EPS * size, TINY)
    started = perf_counter()
    while factor_below(A, level + step) is None:
        step = 4 * step
        now = perf_counter()
        next_end = now + (now - started)
        if next_end > deadline:
            return inf
        started = now
    return level + step


def factor_below(A: Floats, level: float) -> Floats | None:
    """Cholesky factor of level I - A less a margin: a proof that every eigenvalue is below.

    None if the matrix is not definite, or too near to that for a proof (Rump, BIT 46, 2006).
    """
    n = len(A)
    on_diagonal = slice(None, None, n + 1)
    M = np.negative(A)
    M.flat[on_diagonal] += level
    diagonal = M.diagonal()
    if diagonal.min() <= 0:
        return None
    trace = float(diagonal.sum())
    M.flat[on_diagonal] -= cholesky_margin(trace, n)
    factor, failed = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    return None if failed else np.asarray(factor)


def cholesky_margin(trace: float, n: int) -> float:
    """More than rounding in a Cholesky factorisation can hide of a negative eigenvalue."""
    return 3 * (n + 2) * EPS * trace + TINY


def mirror(n: int, k: int) -> Floats:
    """The unit vector v of n + 1 entries for which I - 2vv' sends (-k; e) to the first axis.

    The other columns of I - 2vv' are then an orthonormal basis of the complement of (-k; e). In
    the following functions V is that basis, of n + 1 rows and n columns.
    """
    v = np.ones(n + 1)
    v[0] = -k - np.sqrt(float(n + k**2))
    return v / np.linalg.norm(v)


def lift(X: AnyArray, v: AnyArray, library: ArrayLibrary) -> AnyArray:
    """VX, for X of n rows."""
    along = -2.0 * (v[1:] @ X)
    first_row = (v[0] * along)[None]
    other_rows = X + v[1:, None] * along
    return library.functions.concatenate([first_row, other_rows])


def reflect(A: Floats, v: Floats) -> Floats:
    """V'AV for a symmetric matrix A of n + 1 rows."""
    # With w = 2 (Av - (v'Av) v), (I - 2vv') A (I - 2vv') = A - vw' - wv'.
    w = 2 * (A @ v)
    w -= (v @ w) * v
    inner = A[1:, 1:]
    left = np.column_stack([v, w])[1:]
    right = np.ascontiguousarray(left[:, ::-1].T)
    reflected = np.empty(inner.shape)
    for rows in cached_tiles(len(reflected)):
        np.matmul(left[rows], right, out=reflected[rows])
        np.subtract(inner[rows], reflected[rows], out=reflected[rows])
    return reflected


def cached_tiles(n: int) -> list[slice]:
    """Rows of an n x n matrix, so few at a time that they stay in the cache."""
    height = max(LINE_ROWS, CACHE_ENTRIES // n // LINE_ROWS * LINE_ROWS)
    return [slice(*span) for span in spans(n, height)]


class ReflectedOperator:
    """V'MV of a large symmetric matrix M of n + 1 rows, by its products."""

    def __init__(self, M: AnyArray, v: AnyArray, library: ArrayLibrary) -> None:
        self.M = M
        self.v = v
        self.library = library

    def __len__(self) -> int:
        return len(self.M) - 1

    def __matmul__(self, X: AnyArray) -> AnyArray:
        lifted = lift(X, self.v, self.library)
        multiplied = product(self.M, lifted) if self.library.is_numpy else self.M @ lifted
        along = self.v @ multiplied
        reflected = multiplied - (2.0 * self.v)[:, None] * along
        return reflected[1:]


def product(M: Floats, X: Floats) -> Floats:
    """MX by all threads, if the matrix is large; the same bits for any number of them."""
    shape = (len(M), *X.shape[1:])
    result = np.empty(shape, X.dtype)

    def multiply_rows(span: tuple[int, int]) -> None:
        rows = slice(*span)
        np.dot(M[rows], X, out=result[rows])  # matmul would hold other threads up

    with threads(seconds=ENTRY_COST * M.size) as n_threads:
        height = TILE_ROWS
        if X.ndim == 1:
            height = -(-len(M) // n_threads // LINE_ROWS) * LINE_ROWS
            # BLAS adds up a single row in another order.
            while len(M) % height == 1 and len(M) > height:
                height += LINE_ROWS
        run_tiles(multiply_rows, spans(len(M), height))
    return result
