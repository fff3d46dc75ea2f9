"""The truncated power method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import eigsh

from bestk.problem.problem import BQP
from bestk.relaxations.rounding import largest_entry
from bestk.solvers._base import Floats, Indices, Needs, PathSolver, Run, grow, top_k
from bestk.solvers._greedy import Forward
from bestk.solvers._linear import Linear


@dataclass(frozen=True)
class TruncatedPower:
    """Multiply by Q, keep the k largest entries, repeat; from Linear.

    Only columns of Q are asked for, and a lazy Q makes no others. Its row sums, where Linear
    starts, need all of them: for more than ``exact_rows`` items they are estimated from
    ``sample`` columns, with the error told in ``details["row_sums"]``, and the greedy choice of
    Forward is a second start. The better end counts.

    A step is taken as it is; only if the objective falls is it damped by a shift of the
    diagonal, ten times larger at each try, until it does not. The shift of the paper, by the
    smallest eigenvalue, makes Q positive semidefinite and the iterate stand still on almost
    every matrix: it is kept as ``shift="psd"``.

    Parameters
    ----------
    shift : {"adaptive", "psd"}
        How steps are kept from losing value.
    steps : int
        At most so many.
    tolerance : float
        A change below this, relative to the largest entry of Q, ends the run.
    exact_rows : int
        The most items of a lazy Q of which row sums are added up exactly.
    sample : int
        Columns, drawn by ``random_state``, from which they are estimated above that.

    References
    ----------
    X.-T. Yuan, T. Zhang, "Truncated power method for sparse eigenvalue problems", JMLR 14, 2013.
    """

    shift: Literal["adaptive", "psd"] = "adaptive"
    steps: int = 100
    tolerance: float = 1e-8
    exact_rows: int = 50_000
    sample: int = 256

    name: ClassVar[str] = "tpower"
    needs: ClassVar[Needs] = "columns"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling entry of the last product."""
        starts = [np.unique(start) for start in run.starts if len(set(start)) == problem.k]
        own = [solver.pick(problem, run) for solver in self._starters(problem)]
        return self._best_end(problem, [*starts, *own], self._ready(problem), run)

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """Each k from Linear and from the k before, grown; row sums are added up once."""
        picks: dict[int, Indices] = {}
        ready = self._ready(problem)
        own = [solver.pick_path(problem, ks, run) for solver in self._starters(problem)]
        before = np.empty(0, np.int64)
        for k in sorted(ks):
            part = problem.with_k(k)
            starts = [np.sort(grow(part, before))] if len(before) else []
            before = picks[k] = self._best_end(
                part, [*starts, *(path[k] for path in own)], ready, run
            )
        return picks

    def _starters(self, problem: BQP) -> list[PathSolver]:
        """Who picks the starts."""
        quick = getattr(problem.Q, "sums_quickly", False)  # on a GPU
        if problem.is_lazy and problem.n > self.exact_rows and not quick:
            return [Forward(), Linear(self.sample)]
        return [Linear()]

    def _ready(self, problem: BQP) -> tuple[float, float]:
        """The size of entries, and the least shift."""
        if self.shift not in ("adaptive", "psd"):
            raise ValueError(f"unknown shift {self.shift!r}; choose 'adaptive' or 'psd'")
        return _largest_entry(problem), _psd_shift(problem) if self.shift == "psd" else 0.0

    def _best_end(
        self, problem: BQP, starts: list[Indices], ready: tuple[float, float], run: Run
    ) -> Indices:
        ends = [self._climb(problem, np.sort(start), *ready, run) for start in starts]
        _, items, scores = max(ends, key=lambda end: end[0])
        return items[np.lexsort((items, -scores[items]))]

    def _climb(
        self, problem: BQP, items: Indices, scale: float, least: float, run: Run
    ) -> tuple[float, Indices, Floats]:
        product = problem.product(items)
        value = float(product[items].sum())
        for _ in range(self.steps):
            reached, chosen, moved = self._step(problem, value, items, product, scale, least)
            if run.time_left < 0 or reached < value:
                return value, items, product
            change, value, items, product = reached - value, reached, chosen, moved
            if change < self.tolerance * scale:
                break
        return value, items, product

    def _step(
        self,
        problem: BQP,
        value: float,
        items: Indices,
        product: Floats,
        scale: float,
        least: float,
    ) -> tuple[float, Indices, Floats]:
        """The first of the ever more damped steps that loses nothing."""
        swaps, tried = _Swaps(product, items), -1
        shift = least
        while True:
            count = swaps.count(shift)
            if count != tried:
                chosen = swaps.make(count)
                moved = _move(problem, product, items, chosen)
                reached, tried = float(moved[chosen].sum()), count
            if reached >= value - 1e-2 * self.tolerance * scale or self.shift == "psd":
                return reached, chosen, moved
            shift = 10 * shift if shift else 1e-4 * scale


class _Swaps:
    """The k largest entries of a product, for any extra weight on the items of the last step.

    The r-th best item outside stands against the r-th worst inside; the better of two goes on,
    and ties go to the lowest index.
    """

    def __init__(self, product: Floats, items: Indices) -> None:
        rest = product.copy()
        rest[items] = -np.inf
        self.items = items[np.lexsort((-items, product[items]))]
        self.others = top_k(rest, min(len(items), len(product) - len(items)))
        self.inside = product[self.items[: len(self.others)]]
        self.outside = product[self.others]
        self.first = self.others < self.items[: len(self.others)]

    def count(self, shift: float) -> int:
        """How many items change, when those inside weigh so much more."""
        inside = self.inside + shift
        return int(((self.outside > inside) | (self.first & (self.outside == inside))).sum())

    def make(self, count: int) -> Indices:
        """The items after so many changes, sorted."""
        return np.sort(np.concatenate([self.items[count:], self.others[:count]]))


def _move(problem: BQP, product: Floats, before: Indices, after: Indices) -> Floats:
    """Qx of the new choice from that of the old one: only columns that changed are read."""
    change = np.zeros(problem.n, np.int8)
    change[after] = 1
    change[before] -= 1
    added, dropped = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
    if not len(added):
        return product
    if 2 * len(added) >= len(after):
        return problem.product(after)
    return product + problem.product(added) - problem.product(dropped)


def _largest_entry(problem: BQP) -> float:
    if problem.is_lazy:
        return largest_entry(problem.diagonal) or 1.0
    return largest_entry(problem.Q) or 1.0


def _psd_shift(problem: BQP) -> float:
    """The shift that makes Q positive semidefinite."""
    if problem.is_lazy:
        raise ValueError("shift='psd' needs the whole matrix; use shift='adaptive'")
    if problem.n <= 200:
        return max(0.0, -float(eigvalsh(problem.Q, subset_by_index=[0, 0])[0]))
    values = eigsh(problem.Q, 1, which="SA", v0=np.ones(problem.n), return_eigenvectors=False)
    return max(0.0, -float(values[0]))
