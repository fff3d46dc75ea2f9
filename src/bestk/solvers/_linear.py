"""The linear relaxation: the k largest row sums."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk.problem import BQP
from bestk.solvers._base import Floats, Indices, Needs, Run, top_k


@dataclass(frozen=True)
class Linear:
    """The k items of the largest row sums of Q: LP2 of the paper, exact for that relaxation."""

    name: ClassVar[str] = "linear"
    needs: ClassVar[Needs] = "columns"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling row sum."""
        return top_k(row_sums(problem), problem.k)

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """One ordering serves every k."""
        order = top_k(row_sums(problem), max(ks))
        return {k: order[:k] for k in ks}


def row_sums(problem: BQP, strip: int = 256) -> Floats:
    """Row sums of Q; of a lazy one strip by strip, none of it kept."""
    if not problem.is_lazy:
        return np.asarray(problem.Q.sum(axis=1))
    sums = np.zeros(problem.n)
    for start in range(0, problem.n, strip):
        sums += problem.columns(np.arange(start, min(start + strip, problem.n))).sum(axis=1)
    return sums
