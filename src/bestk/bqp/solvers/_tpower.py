"""The truncated power method."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, NO_ITEMS, largest_entry, top_k
from bestk.bqp.solvers._base import Needs, Run, Solver
from bestk.bqp.solvers._greedy import Forward, Linear

# Steps from one start, at most.
MAX_STEPS = 100
# A smaller gain, relative to the largest entry of Q, ends the run.
TOLERANCE = 1e-8
# A loss up to this, relative to the largest entry of Q, is rounding.
MAX_LOSS = 1e-10
# The first shift of the diagonal, relative to the largest entry of Q, and the growth of shifts.
FIRST_SHIFT = 1e-4
SHIFT_GROWTH = 10
# Operations, see ``Budget``, of a step, for each entry of k columns.
OPERATIONS_OF_ENTRY = 2.0
# The rows of a lazy matrix of more items than this are not added up.
MAX_SUMMED_ITEMS = 50_000


@dataclass(frozen=True, eq=False)
class _Choice:
    """A choice of k items on the way."""

    items: Indices
    """The items, by rising index."""

    product: Floats
    """Qx, one number for each item of the problem."""

    value: float
    """x'Qx."""

    @classmethod
    def of(cls, items: Indices, product: Floats) -> "_Choice":
        return cls(items, product, float(product[items].sum()))


@dataclass(frozen=True)
class TruncatedPower(Solver):
    """Truncated power method: multiply by Q, keep the k largest entries (Yuan and Zhang 2013).

    It starts from Linear. The row sums of a lazy Q need all of its columns: above 50,000 items,
    unless a GPU adds them up, the start is the greedy choice of Forward, which needs k of them.

    If a step lowers the objective, it is damped by a shift of the diagonal, ten times larger at
    each try. A shift by the smallest eigenvalue, as in the paper, makes Q positive semidefinite,
    and almost no step then moves at all.

    Parameters
    ----------
    warm_start : bool
        Along a path, start each k also from the choice of the k before, grown by the items that
        help most. The published method starts every k from Linear alone.

    X.-T. Yuan, T. Zhang, "Truncated power method for sparse eigenvalue problems", JMLR 14, 2013.
    """

    warm_start: bool = False

    name: ClassVar[str] = "tpower"
    needs: ClassVar[Needs] = "columns"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by falling entry of the last product."""
        is_too_wide = problem.is_lazy and problem.n > MAX_SUMMED_ITEMS
        first_solver: Solver = Forward() if is_too_wide else Linear()
        starts = list(run.starts) if self.warm_start else []
        starts.append(first_solver.pick(problem, run))
        ends = [self._climb(problem, np.sort(start), run) for start in starts]
        best = max(ends, key=lambda end: end.value)
        entries = best.product[best.items]
        largest_first = np.lexsort((best.items, -entries))
        return best.items[largest_first]

    def _climb(self, problem: BQP, items: Indices, run: Run) -> _Choice:
        """The choice that steps from some items lead to."""
        choice = _Choice.of(items, problem.product(items))
        scale = problem.largest
        if problem.is_lazy:
            # Of a lazy matrix only the diagonal is known, and it may be 0. The means over the
            # choice have the size of entries.
            scale = max(scale, largest_entry(choice.product) / problem.k)
        scale = scale or 1.0
        for _ in range(MAX_STEPS):
            run.spend(OPERATIONS_OF_ENTRY * problem.k * problem.n)
            following = self._step(problem, choice, scale)
            if run.time_left < 0 or following.value < choice.value:
                break
            gain = following.value - choice.value
            choice = following
            if gain < TOLERANCE * scale:
                break
        return choice

    def _step(self, problem: BQP, choice: _Choice, scale: float) -> _Choice:
        """The k largest entries of Qx + shift x, with the first shift that loses nothing.

        A large shift keeps the choice as it is, so that some shift loses nothing.
        """
        shift = 0.0
        weights = choice.product.copy()
        candidate_items = NO_ITEMS
        while True:
            weights[choice.items] = choice.product[choice.items] + shift
            items = np.sort(top_k(weights, problem.k))
            if not np.array_equal(items, candidate_items):
                candidate_items = items
                candidate = _Choice.of(items, _product_after(problem, choice, items))
            if candidate.value >= choice.value - MAX_LOSS * scale:
                return candidate
            shift = SHIFT_GROWTH * shift if shift else FIRST_SHIFT * scale


def _product_after(problem: BQP, choice: _Choice, items: Indices) -> Floats:
    """Qx of other items, from that of a choice: where few items change, only they are read."""
    change = np.zeros(problem.n, np.int8)
    change[items] = 1
    change[choice.items] -= 1
    added = np.flatnonzero(change > 0)
    dropped = np.flatnonzero(change < 0)
    if not len(added):
        return choice.product
    if 2 * len(added) >= problem.k:
        return problem.product(items)
    return choice.product + problem.product(added) - problem.product(dropped)
