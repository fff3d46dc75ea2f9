"""The truncated power method."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, NO_ITEMS, largest_entry, top_k
from bestk.bqp.solvers._base import Needs, Run
from bestk.bqp.solvers._greedy import Forward, Linear

MAX_STEPS = 100
TOLERANCE = 1e-8  # relative to the largest entry of Q: a smaller change ends the run
OPERATIONS_OF_ENTRY = 2.0  # operations, see ``Budget``, of a step, for each entry of k columns
MAX_SUMMED_ITEMS = 50_000  # of a lazy matrix whose rows are added up


@dataclass(frozen=True)
class TruncatedPower:
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
        first = Forward() if problem.is_lazy and problem.n > MAX_SUMMED_ITEMS else Linear()
        starts = [*(run.starts if self.warm_start else ()), first.pick(problem, run)]
        ends = [self._climb(problem, np.sort(start), run) for start in starts]
        _, items, scores = max(ends, key=lambda end: end[0])
        return items[np.lexsort((items, -scores[items]))]

    def _climb(self, problem: BQP, items: Indices, run: Run) -> tuple[float, Indices, Floats]:
        """Take steps from a choice; return the value, the items and Qx of the last one."""
        product, scale = problem.product(items), problem.largest
        if problem.is_lazy:  # the diagonal may be 0: means over the choice are entries of a size
            scale = max(scale, largest_entry(product) / problem.k)
        scale = scale or 1.0
        state = float(product[items].sum()), items, product
        for _ in range(MAX_STEPS):
            run.spend(OPERATIONS_OF_ENTRY * problem.k * problem.n)
            after = self._step(problem, state, scale)
            if run.time_left < 0 or after[0] < state[0]:
                return state
            change, state = after[0] - state[0], after
            if change < TOLERANCE * scale:
                break
        return state

    def _step(
        self, problem: BQP, state: tuple[float, Indices, Floats], scale: float
    ) -> tuple[float, Indices, Floats]:
        """The first of the ever more damped steps that loses nothing."""
        value, items, product = state
        shift, weighted, chosen = 0.0, product.copy(), NO_ITEMS
        while True:
            weighted[items] = product[items] + shift
            before, chosen = chosen, np.sort(top_k(weighted, problem.k))
            if not np.array_equal(before, chosen):
                moved = _moved(problem, state, chosen)
                reached = float(moved[chosen].sum())
            if reached >= value - 1e-2 * TOLERANCE * scale:
                return reached, chosen, moved
            shift = 10 * shift if shift else 1e-4 * scale


def _moved(problem: BQP, state: tuple[float, Indices, Floats], chosen: Indices) -> Floats:
    """Qx of the next choice from that of the last: where few items change, only they are read."""
    _, items, product = state
    change = np.zeros(problem.n, np.int8)
    change[chosen] = 1
    change[items] -= 1
    added, dropped = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
    if 2 * len(added) >= problem.k:
        return problem.product(chosen)
    return product + problem.product(added) - problem.product(dropped) if len(added) else product
