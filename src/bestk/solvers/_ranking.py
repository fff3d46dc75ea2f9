"""One order of the items for every k: by row sums, or by the leading eigenvector."""

from collections import deque
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from bestk._typing import Floats, Indices
from bestk.native.threads import calm_blas
from bestk.problem import BQP, top_k
from bestk.relaxations import largest_entry, product
from bestk.solvers._base import MAX_LAPACK_ITEMS, Needs, Run

KEPT_VECTORS = 20  # of the first and of the last, from which a late answer is taken


@dataclass(frozen=True)
class Linear:
    """Linear relaxation: the k largest row sums of Q (LP2 of Venkateswara et al. 2015).

    The columns of a lazy Q are added up some at a time, and none is kept; for a million items
    that takes hours.
    """

    name: ClassVar[str] = "linear"
    needs: ClassVar[Needs] = "columns"
    ranks: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling row sum."""
        return top_k(problem.row_sums(), problem.k)


@dataclass(frozen=True)
class Spectral:
    """Spectral relaxation: the k largest entries of the leading eigenvector (Nguyen et al. 2014).

    References
    ----------
    X. V. Nguyen, J. Chan, S. Romano, J. Bailey, "Effective global approaches for mutual
    information based feature selection", KDD 2014.
    """

    name: ClassVar[str] = "spectral"
    needs: ClassVar[Needs] = "matrix"
    ranks: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling weight in the eigenvector."""
        return top_k(np.abs(leading_eigenvector(problem.Q, run.deadline)), problem.k)


def leading_eigenvector(Q: Floats, deadline: float = inf) -> Floats:
    """Eigenvector of the largest eigenvalue of a symmetric matrix, or its best approximation."""
    n, scale = len(Q), largest_entry(Q)
    if scale == 0.0:
        return np.ones(n) / np.sqrt(n)
    if n > MAX_LAPACK_ITEMS:
        try:
            return lanczos(Q, np.ones(n), "LA", deadline=deadline)[1][:, 0]
        except ArpackError:  # e.g. the start is an eigenvector of a smaller eigenvalue
            pass
    return np.asarray(eigh(Q / scale, subset_by_index=[n - 1, n - 1])[1][:, 0])


class _OutOfTime(Exception):  # noqa: N818, an end and not an error
    """Stops the Lanczos method between two products."""


def lanczos(
    A: Any, start: Floats, which: str, count: int = 1, tol: float = 0.0, deadline: float = inf
) -> tuple[Floats, Floats]:
    """The eigenvalues at one end ("LA", "SA" or "LM") of a symmetric matrix, and their vectors.

    After the deadline, those of the matrix restricted to some vectors of the iteration: the first
    ones, which hold the leading directions, and the last ones, which refine them.
    """
    first: list[tuple[Floats, Floats]] = []
    last: deque[tuple[Floats, Floats]] = deque(maxlen=KEPT_VECTORS)

    def multiply(x: Floats) -> Floats:
        if len(first) > count and perf_counter() >= deadline:
            raise _OutOfTime
        x = np.array(x, np.float64).ravel()
        pair = x, product(A, x) if isinstance(A, np.ndarray) else np.asarray(A @ x)
        (first if len(first) < KEPT_VECTORS else last).append(pair)
        return pair[1]

    n = len(start)
    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    with calm_blas():
        try:
            values, vectors = eigsh(operator, k=count, which=which, v0=start, tol=tol)
        except _OutOfTime:
            values, vectors = _ritz([*first, *last])
            order = np.argsort({"LA": -values, "SA": values, "LM": -np.abs(values)}[which])[:count]
            values, vectors = values[order], vectors[:, order]
    return np.asarray(values), np.asarray(vectors)


def _ritz(pairs: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Eigenpairs of A on the space of some x, given each x and Ax."""
    X, AX = (np.column_stack(part) for part in zip(*pairs, strict=True))
    basis, sizes, turn = np.linalg.svd(X, full_matrices=False)
    kept = sizes > 1e-6 * sizes[0]
    basis = basis[:, kept]
    H = basis.T @ (AX @ (turn[kept].T / sizes[kept]))
    values, rotation = np.linalg.eigh((H + H.T) / 2)
    return values, basis @ rotation
