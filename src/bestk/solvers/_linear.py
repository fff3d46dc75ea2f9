"""The linear relaxation: the k largest row sums."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk.problem.lazy import stream
from bestk.problem.problem import BQP
from bestk.solvers._base import Floats, Indices, Needs, Run, top_k

ROWS = 512  # added up together: they stay in the cache
LEAST_SAMPLE = 3  # columns; from fewer no error can be told


@dataclass(frozen=True)
class Linear:
    """The k items of the largest row sums of Q: LP2 of the paper, exact for that relaxation.

    The columns of a lazy Q are added up some at a time, and none is kept; for a million items
    that takes hours. A sample of them takes seconds, and ``details["row_sums"]`` of the solution
    says how far off it is: ``columns``, the size of the sample; ``standard_error``, the largest
    over all rows; ``relative_error``, the largest over the picked items, of their row sums; and
    ``in_doubt``, how many of these stand less than two standard errors above the best item that
    is left out.

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
        if self.sample is not None and self.sample < LEAST_SAMPLE:
            raise ValueError(f"sample must be at least {LEAST_SAMPLE} columns, not {self.sample}")

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling row sum."""
        return self._order(problem, problem.k, run)

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """One ordering serves every k."""
        order = self._order(problem, max(ks), run)
        return {k: order[:k] for k in ks}

    def _order(self, problem: BQP, k: int, run: Run) -> Indices:
        if self.sample is None or self.sample >= problem.n:
            return top_k(row_sums(problem), k)
        sums, errors = estimated_row_sums(problem, self.sample, run.rng)
        order = top_k(sums, min(k + 1, problem.n))
        picked, best_left_out = order[:k], sums[order[k]] if k < problem.n else -np.inf
        size = np.maximum(np.abs(sums[picked]), np.finfo(np.float64).tiny)
        run.report["row_sums"] = {
            "columns": self.sample,
            "standard_error": float(errors.max()),
            "relative_error": float((errors[picked] / size).max()),
            "in_doubt": int((sums[picked] - 2 * errors[picked] < best_left_out).sum()),
        }
        return picked


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
        for start in range(0, problem.n, ROWS):
            # rows side by side are summed like those of a whole matrix: ties stay ties
            rows = np.ascontiguousarray(columns[start : start + ROWS])
            sums[start : start + ROWS] += rows.sum(axis=1)
    return sums


def estimated_row_sums(problem: BQP, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Row sums from some columns, and their standard errors.

    A row sum is its diagonal entry and n - 1 times the mean of the others, which a simple random
    sample estimates without bias; the diagonal is known, and no part of the sample.
    """
    drawn = np.sort(rng.choice(problem.n, count, replace=False))
    total, squares = np.zeros(problem.n), np.zeros(problem.n)
    for item, column in _each_column(problem, drawn):
        column[item] = 0.0
        total += column
        squares += column * column
    seen, others = np.full(problem.n, float(count)), problem.n - 1.0
    seen[drawn] -= 1
    mean = total / seen
    variance = np.maximum(squares - seen * mean**2, 0.0) / (seen - 1)
    errors = others * np.sqrt(variance / seen * (1 - seen / others))
    return problem.diagonal + others * mean, errors


def _each_column(problem: BQP, items: Indices) -> Iterator[tuple[int, Floats]]:
    """Yield items and their columns, of a lazy matrix past its cache."""
    if not problem.is_lazy:
        yield from ((int(item), problem.Q[item].copy()) for item in items)
    else:
        for some, columns in stream(problem.Q, items):
            yield from zip(some.tolist(), columns.T, strict=True)
