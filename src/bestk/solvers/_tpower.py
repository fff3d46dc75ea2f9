"""The truncated power method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import eigvalsh

from bestk._typing import Floats, Indices
from bestk.problem import BQP, grow, top_k
from bestk.relaxations import largest_entry
from bestk.solvers._base import MAX_LAPACK_ITEMS, Needs, Run
from bestk.solvers._greedy import Forward
from bestk.solvers._ranking import Linear, lanczos


@dataclass(frozen=True)
class TruncatedPower:
    """Truncated power method: multiply by Q, keep the k largest entries (Yuan and Zhang 2013).

    Only some columns of a lazy Q are computed, but the row sums, where Linear starts, need all:
    for more than ``exact_rows`` items they are estimated from ``sample`` columns (see
    ``details["row_sums"]``), the greedy choice of Forward is a second start, and the better
    result counts.

    If a step lowers the objective, it is damped by a shift of the diagonal, ten times larger at
    each try. A shift by the smallest eigenvalue, ``shift="psd"``, as in the paper, makes Q positive
    semidefinite, and almost no step then moves at all.

    Parameters
    ----------
    shift : {"adaptive", "psd"}
        How steps are kept from losing value.
    steps : int
        Maximum number of steps.
    tolerance : float
        A change below this, relative to the largest entry of Q, ends the run.
    exact_rows : int
        Maximum number of items of a lazy Q for which row sums are added up exactly.
    sample : int
        Number of columns, drawn by ``random_state``, from which they are estimated above that.
    warm_start : bool
        Along a path, start each k also from the choice of the k before, grown by the items that
        help most. The published method starts every k from Linear alone.

    References
    ----------
    X.-T. Yuan, T. Zhang, "Truncated power method for sparse eigenvalue problems", JMLR 14, 2013.
    """

    shift: Literal["adaptive", "psd"] = "adaptive"
    steps: int = 100
    tolerance: float = 1e-8
    exact_rows: int = 50_000
    sample: int = 256
    warm_start: bool = False

    name: ClassVar[str] = "tpower"
    needs: ClassVar[Needs] = "columns"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling entry of the last product."""
        starts = [solver.pick(problem, run) for solver in self._starters(problem)]
        if self.warm_start:
            starts = [*(s for s in run.starts if len(set(s)) == problem.k), *starts]
        return self._best_end(problem, starts, self._scales(problem), run)

    def pick_path(self, problem: BQP, ks: Sequence[int], run: Run) -> Mapping[int, Indices]:
        """Each k from Linear, or also from the k before; row sums are added up once."""
        picks: dict[int, Indices] = {}
        scales, before = self._scales(problem), np.empty(0, np.int64)
        own = [solver.pick_path(problem, ks, run) for solver in self._starters(problem)]
        for k in sorted(ks):
            part, starts = problem.with_k(k), [path[k] for path in own]
            if self.warm_start and len(before):
                starts = [grow(part, before), *starts]
            before = picks[k] = self._best_end(part, starts, scales, run)
        return picks

    def _starters(self, problem: BQP) -> list[Forward | Linear]:
        """The solvers that give the starts."""
        quick = getattr(problem.Q, "sums_quickly", False)  # on a GPU
        if problem.is_lazy and problem.n > self.exact_rows and not quick:
            return [Forward(), Linear(self.sample)]
        return [Linear()]

    def _scales(self, problem: BQP) -> tuple[float, float]:
        """The size of entries, and the least shift."""
        if self.shift not in ("adaptive", "psd"):
            raise ValueError(f"unknown shift {self.shift!r}; choose 'adaptive' or 'psd'")
        entries = problem.diagonal if problem.is_lazy else problem.Q
        return largest_entry(entries), psd_shift(problem) if self.shift == "psd" else 0.0

    def _best_end(
        self, problem: BQP, starts: list[Indices], scales: tuple[float, float], run: Run
    ) -> Indices:
        """The best of the choices that the starts lead to."""
        ends = [self._climb(problem, np.sort(start), scales, run) for start in starts]
        _, items, scores = max(ends, key=lambda end: end[0])
        return items[np.lexsort((items, -scores[items]))]

    def _climb(
        self, problem: BQP, items: Indices, scales: tuple[float, float], run: Run
    ) -> tuple[float, Indices, Floats]:
        """Take steps from a choice; return the value, the items and Qx of the last one."""
        product = problem.product(items)
        scale, shift = scales
        if problem.is_lazy:  # the diagonal may be 0: means over the choice are entries of a size
            scale = max(scale, largest_entry(product) / problem.k)
        scales = scale or 1.0, shift
        state = float(product[items].sum()), items, product
        for _ in range(self.steps):
            after = self._step(problem, state, scales)
            if run.time_left < 0 or after[0] < state[0]:
                return state
            change, state = after[0] - state[0], after
            if change < self.tolerance * scales[0]:
                break
        return state

    def _step(
        self, problem: BQP, state: tuple[float, Indices, Floats], scales: tuple[float, float]
    ) -> tuple[float, Indices, Floats]:
        """The first of the ever more damped steps that loses nothing."""
        (value, items, product), (scale, shift) = state, scales
        exchange, tried = _Exchange(product, items), -1
        while True:
            count = exchange.count(shift)
            if count != tried:
                chosen = exchange.make(count)
                moved = _move(problem, product, items, chosen)
                reached, tried = float(moved[chosen].sum()), count
            if reached >= value - 1e-2 * self.tolerance * scale or self.shift == "psd":
                return reached, chosen, moved
            shift = 10 * shift if shift else 1e-4 * scale


class _Exchange:
    """The k largest entries of a product, for any extra weight on the items of the last step.

    The r-th best item outside is compared with the r-th worst inside; ties go to the lowest index.
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


def psd_shift(problem: BQP) -> float:
    """The shift that makes Q positive semidefinite."""
    if problem.is_lazy:
        raise ValueError("shift='psd' needs the whole matrix; use shift='adaptive'")
    if problem.n <= MAX_LAPACK_ITEMS:
        return max(0.0, -float(eigvalsh(problem.Q, subset_by_index=[0, 0])[0]))
    return max(0.0, -float(lanczos(problem.Q, np.ones(problem.n), "SA")[0][0]))
