"""Greedy choice, forwards and backwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk.problem.problem import BQP
from bestk.solvers._base import Indices, Needs, Run
from bestk.solvers._linear import row_sums


@dataclass(frozen=True)
class Forward:
    """Add the item that helps most, k times; the lowest index wins a tie."""

    name: ClassVar[str] = "forward"
    needs: ClassVar[Needs] = "columns"
    frugal: ClassVar[bool] = True

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items in the order in which they were added."""
        gain = problem.diagonal.copy()
        picked: list[int] = []
        for _ in range(problem.k):
            best = int(np.argmax(gain))
            picked.append(best)
            gain += 2 * problem.columns([best])[:, 0]
            gain[picked] = -np.inf
        return np.array(picked, np.int64)

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """The items of k begin those of k + 1."""
        order = self.pick(problem.with_k(max(ks)), run)
        return {k: order[:k] for k in ks}


@dataclass(frozen=True)
class Backward:
    """Drop the item that is missed least, until k are left; the highest index goes first."""

    name: ClassVar[str] = "backward"
    needs: ClassVar[Needs] = "matrix"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items, the one that would be dropped last first."""
        return self._order(problem)[: problem.k]

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """One order of dropping serves every k."""
        order = self._order(problem)
        return {k: order[:k] for k in ks}

    def _order(self, problem: BQP) -> Indices:
        loss = 2 * row_sums(problem) - problem.diagonal
        dropped: list[int] = []
        for _ in range(problem.n):
            worst = problem.n - 1 - int(np.argmin(loss[::-1]))
            dropped.append(worst)
            loss -= 2 * problem.Q[worst]
            loss[dropped] = np.inf
        return np.array(dropped[::-1], np.int64)
