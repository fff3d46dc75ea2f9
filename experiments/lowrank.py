"""LowRank as published, and the exact Spannogram for few items, beside the library's LowRank.

D. Papailiopoulos, I. Mitliagkas, A. Dimakis, C. Caramanis, "Finding dense subgraphs via low-rank
bilinear optimization", ICML 2014.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, best_first, top_k
from bestk.bqp.solvers import Run, Solver
from bestk.bqp.solvers._lowrank import LowRank, factor

SCORES_AT_ONCE = 8_000_000
KEPT_DIRECTIONS = 16  # of so many scores


@dataclass(frozen=True)
class PublishedLowRank(Solver):
    """One vector of the best pair on Q_d: Q itself only decides between the two vectors.

    Pairs are x = top_k(Vc) and y = top_k(Q_d x), compared by x'Q_d y. Where all eigenvalues are
    positive, the best pair has x = y. Directions are screened by x'Q_d x, and pairs are formed
    for the best ones.
    """

    samples: int | None = None  # draws, in place of the published rule
    d: int = 3

    name: ClassVar[str] = "lowrank-published"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """The items by what each adds to the others."""
        V, signs = factor(problem.Q, self.d)
        draws, size = LowRank(self.d, self.samples).draws, max(1, SCORES_AT_ONCE // problem.n)
        choices: list[Indices] = []
        for start in range(0, draws, size):
            directions = run.rng.standard_normal((min(size, draws - start), self.d))
            choices += _promising(V, signs, directions, problem.k)
        return best_first(problem, _best_vector(problem, V, signs, choices))

    def for_path(self, count: int) -> "PublishedLowRank":
        """The solver for one of many k, which share the draws."""
        return replace(self, samples=ceil(LowRank(self.d, self.samples).draws / count))


def _promising(V: Floats, signs: Floats, directions: Floats, k: int) -> list[Indices]:
    """The k items of the highest score along those directions where their x'Q_d x is highest."""
    items = np.argpartition(directions @ V, V.shape[1] - k, axis=1)[:, V.shape[1] - k :]
    worth = signs @ V[:, items].sum(axis=2) ** 2
    return list(items[np.argsort(-worth, kind="stable")[:KEPT_DIRECTIONS]])


def _best_vector(problem: BQP, V: Floats, signs: Floats, choices: Iterable[Indices]) -> Indices:
    """The better vector, on Q, of the pair (x, top_k(Q_d x)) that is the best on Q_d."""
    best, pair = -np.inf, (np.arange(problem.k),) * 2
    for x in sorted({tuple(sorted(choice.tolist())) for choice in choices}):
        scores = (signs * V[:, x].sum(axis=1)) @ V
        y = top_k(scores, problem.k)
        if scores[y].sum() > best:
            best, pair = scores[y].sum(), (np.array(x), y)
    return max(pair, key=problem.value)


def spannogram(V: Floats, k: int) -> Iterator[Indices]:
    """Every choice top_k(Vc) over all directions c in d = 2 or 3 dimensions.

    The choice changes where the k-th and the next item tie. Along the edges of such a cell d
    items tie, so that all directions orthogonal to the differences of d items are enough; of the
    items that tie, every possible part is taken.
    """
    d, n = V.shape
    for tied in combinations(range(n), d):
        differences = (V[:, tied[1:]] - V[:, tied[:1]]).T
        normal = np.linalg.svd(differences)[2][-1]
        for c in (normal, -normal):
            scores = c @ V
            scores[list(tied)] = scores[tied[0]]
            above = np.flatnonzero(scores > scores[tied[0]] + 1e-12 * np.abs(scores).max())
            above = np.setdiff1d(above, tied)
            if len(above) <= k <= len(above) + d:
                for part in combinations(tied, k - len(above)):
                    yield np.append(above, np.array(part, np.int64))


def exact_low_rank(problem: BQP, d: int) -> Indices:
    """What :class:`PublishedLowRank` approaches: the best pair over all directions."""
    V, signs = factor(problem.Q, d)
    return _best_vector(problem, V, signs, spannogram(V, problem.k))
