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
from bestk.problem import BQP, stream, top_k
from bestk.relaxations import largest_entry, one_thread
from bestk.solvers._base import MAX_LAPACK_ITEMS, Needs, Run, pick_prefixes

STRIP_ROWS = 512  # added up together: they stay in the cache
KEPT_VECTORS = 20  # of the first and of the last, from which a late answer is taken
MIN_SAMPLE = 3  # columns; fewer give no standard error


@dataclass(frozen=True)
class Linear:
    """Linear relaxation: the k largest row sums of Q (LP2 of Venkateswara et al. 2015).

    The columns of a lazy Q are added up some at a time, and none is kept; for a million items
    that takes hours. A sample takes seconds, and ``details["row_sums"]`` of the solution holds
    ``columns``, the size of the sample; ``standard_error``, the largest over all rows;
    ``relative_error``, the largest over the selected items; and ``in_doubt``, how many of these
    are less than two standard errors above the best item that is left out.

    Parameters
    ----------
    sample : int, default=None
        Estimate the row sums from so many columns, drawn at random without replacement; by
        default, or where there are not more, add up all.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from bestk import SOLVERS, solve
    >>> Q = np.add.outer(np.arange(9.0), np.arange(9.0))
    >>> some = solve(Q, k=2, solver=replace(SOLVERS["linear"], sample=5), random_state=0)
    >>> some.support, some.details["row_sums"]["columns"]
    (array([8, 7]), 5)
    """

    sample: int | None = None

    name: ClassVar[str] = "linear"
    needs: ClassVar[Needs] = "columns"

    def __post_init__(self) -> None:
        if self.sample is not None and self.sample < MIN_SAMPLE:
            raise ValueError(f"sample must be at least {MIN_SAMPLE} columns, not {self.sample}")

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling row sum."""
        k = problem.k
        if self.sample is None or self.sample >= problem.n:
            return top_k(row_sums(problem), k)
        sums, errors = estimated_row_sums(problem, self.sample, run.rng)
        order = top_k(sums, min(k + 1, problem.n))
        picked, best_left_out = order[:k], sums[order[k]] if k < problem.n else -np.inf
        size = np.maximum(np.abs(sums[picked]), np.finfo(np.float64).tiny)
        run.details["row_sums"] = {
            "columns": self.sample,
            "standard_error": float(errors.max()),
            "relative_error": float((errors[picked] / size).max()),
            "in_doubt": int((sums[picked] - 2 * errors[picked] < best_left_out).sum()),
        }
        return picked

    pick_path = pick_prefixes


def row_sums(problem: BQP) -> Floats:
    """Row sums of Q; of a lazy one some columns at a time, none of them kept."""
    if not problem.is_lazy:
        return np.asarray(problem.Q.sum(axis=1))
    find = getattr(problem.Q, "row_sums", None)
    known = None if find is None else find()
    if known is not None:
        return np.asarray(known)
    sums = np.zeros(problem.n)
    for _, columns in stream(problem.Q, np.arange(problem.n)):
        for start in range(0, problem.n, STRIP_ROWS):
            # rows side by side are summed like those of a whole matrix: ties stay ties
            rows = np.ascontiguousarray(columns[start : start + STRIP_ROWS])
            sums[start : start + STRIP_ROWS] += rows.sum(axis=1)
    return sums


def estimated_row_sums(problem: BQP, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Row sums from a simple random sample of columns, and their standard errors.

    A row sum is its diagonal entry, which is known, and n - 1 times the mean of the others.
    """
    drawn = np.sort(rng.choice(problem.n, count, replace=False))
    total, squares = np.zeros(problem.n), np.zeros(problem.n)
    blocks = stream(problem.Q, drawn) if problem.is_lazy else [(drawn, problem.columns(drawn))]
    for items, columns in blocks:
        columns[items, np.arange(len(items))] = 0.0
        for column in columns.T:
            total += column
            squares += column * column
    seen, others = np.full(problem.n, float(count)), problem.n - 1.0
    seen[drawn] -= 1
    mean = total / seen
    variance = np.maximum(squares - seen * mean**2, 0.0) / (seen - 1)
    errors = others * np.sqrt(variance / seen * (1 - seen / others))
    return problem.diagonal + others * mean, errors


@dataclass(frozen=True)
class Spectral:
    """Spectral relaxation: the k largest entries of the leading eigenvector (Nguyen et al. 2014).

    References
    ----------
    X. V. Nguyen, J. Chan, S. Romano, J. Bailey, "Effective global approaches for mutual
    information based feature selection", KDD 2014.
    """

    name: ClassVar[str] = "spectral"
    needs: ClassVar[Needs] = "products"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling weight in the eigenvector."""
        return top_k(np.abs(leading_eigenvector(problem.Q, run.deadline)), problem.k)

    pick_path = pick_prefixes


def leading_eigenvector(Q: Any, deadline: float = inf) -> Floats:
    """Eigenvector of the largest eigenvalue of a symmetric matrix, or its best approximation."""
    n = Q.shape[0]
    if not isinstance(Q, np.ndarray):  # known by its products with vectors
        return lanczos(Q.operator(), np.ones(n), "LA", deadline=deadline)[1][:, 0]
    scale = largest_entry(Q)
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
