"""LowRank as published, and the exact Spannogram for few items, beside the library's LowRank.

D. Papailiopoulos, I. Mitliagkas, A. Dimakis, C. Caramanis, "Finding dense subgraphs via low-rank
bilinear optimization", ICML 2014.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.problem import BQP, best_first, top_k
from bestk.solvers._base import Needs, Run
from bestk.solvers._lowrank import LowRank, _in_threads, _promising, factor


@dataclass(frozen=True)
class PublishedLowRank:
    """One vector of the best pair on Q_d: Q itself only decides between the two vectors.

    Pairs are x = top_k(Vc) and y = top_k(Q_d x), compared by x'Q_d y. Where all eigenvalues are
    positive, the best pair has x = y. Directions are screened by x'Q_d x, and pairs are formed
    for the best ones.
    """

    samples: int | None = None  # draws, in place of the published rule
    d: int = 3

    name: ClassVar[str] = "lowrank-published"
    needs: ClassVar[Needs] = "matrix"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """The items by what each adds to the others."""
        return self.pick_path(problem, [problem.k], run)[problem.k]

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """One order of the items along each draw serves every k."""
        V, signs = factor(problem.Q, self.d)
        wanted, draws = np.unique(np.asarray(ks, np.int64)), LowRank(samples=self.samples).draws
        work = partial(_promising, V, signs, ks=wanted)
        kept = np.concatenate([*_in_threads(work, V, draws, run)], axis=1)
        return {
            k: best_first(
                problem.with_k(k),
                _best_vector(problem.with_k(k), V, signs, [top_k(c @ V, k) for c in directions]),
            )
            for k, directions in zip(wanted.tolist(), kept, strict=True)
        }


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
