"""A few eigenpairs of a large matrix, as accurate as the time allows."""

from collections import deque
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from bestk._typing import Floats
from bestk.relaxations import one_thread

KEPT_VECTORS = 20  # of the first and of the last, from which a late answer is taken


class _OutOfTime(Exception):  # noqa: N818, an end and not an error
    """Stops the Lanczos method between two products."""


def lanczos(
    A: Any, start: Floats, which: str, count: int = 1, tol: float = 0.0, deadline: float = inf
) -> tuple[Floats, Floats]:
    """The eigenvalues at one end ("LA", "SA" or "LM") of a symmetric matrix, and their vectors.

    After the deadline, those of the matrix restricted to some vectors of the iteration: the first
    ones, which hold the leading directions, and the last ones, which refine them.

    Examples
    --------
    >>> values, vectors = lanczos(np.diag([1.0, 5.0, 3.0, 2.0]), np.ones(4), "LA")
    >>> values.round(6)
    array([5.])
    """
    first: list[tuple[Floats, Floats]] = []
    last: deque[tuple[Floats, Floats]] = deque(maxlen=KEPT_VECTORS)

    def multiply(x: Floats) -> Floats:
        if len(first) > count and perf_counter() >= deadline:
            raise _OutOfTime
        pair = np.array(x, np.float64).ravel(), np.asarray(A @ np.ravel(x))
        (first if len(first) < KEPT_VECTORS else last).append(pair)
        return pair[1]

    n = len(start)
    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    with one_thread():
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
