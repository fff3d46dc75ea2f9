"""The doubly non-negative bound: the tightest here, with items decided on the way."""

from dataclasses import dataclass
from math import inf

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import BQP, good_choice, largest_entry, top_k
from bestk.bqp.relaxations.admm import FOLLOW_ITEMS, MIN_GPU_ITEMS, DoublyNonnegative, gpu_module
from bestk.bqp.relaxations.budget import OPERATIONS_PER_SECOND, Budget
from bestk.bqp.relaxations.rows import MAX_OPERATIONS, antisymmetric_within, rows_bound, screen
from bestk.bqp.relaxations.subproblem import Bound, Subproblem, moderate, power_of_two
from bestk.native.threads import calm_blas

STEPS_TO_BOUND = 10  # from one proof to the next, where they are cheap
STEPS_TO_PROOF = 50  # from one check of the progress to the next, with a proof
SECONDS_OF_STEP = 7e-10  # times n^3: the first step, and of few items about as much for a proof
SECONDS_OF_PROOF = 1e-10  # times n^3, of many items
# Operations of a step, a mean over all steps. With few items: times n^3, and besides; their proofs
# are counted with it. With many items: times n^2.
OPERATIONS_OF_SMALL_STEP = 0.2
OPERATIONS_OF_ANY_SMALL_STEP = 3e5
OPERATIONS_OF_LARGE_STEP = 40.0
# How much sooner a GPU is done with a step of many items.
GPU_SPEEDUP = 20.0
ROWS_SHARE = 0.1  # of the time, for bounds by rows of many items
STEPS_OF_ROWS = 4000  # of the multipliers of rows, in a proof for many items
TRIANGLE_GAIN = 0.1  # of the gap from proof to proof, below which triangles are looked for
MAX_STALLS = 3  # checks without progress, as long as triangles are found
MIN_CORE_ITEMS = 600  # with which the relaxation of many items begins
MIN_LOST = 0.1  # share of the gap due to items outside the core, above which it grows
SECONDS_OF_ROWS = 4e-9  # times n^2, of the rows of all items in a proof
SECONDS_OF_MIXTURES = 1e-10  # times m (n - m) (n + 10 m), of the n - m items outside a core of m
MIN_DECIDED = 0.05  # share of the items that must be decided before the rest is set up anew


def dnn_bound(
    problem: BQP, time_limit: float | None = None, best_known: float | None = None
) -> Bound:
    """Bound x'Qx by the semidefinite relaxation with entries in [0, 1] and bounded rows.

    For any symmetric Z of order n + 1, with Q bordered by zeros, C = Q - Z and V an orthonormal
    basis of the complement of (-k; e),

        x'Qx <= C_00 + the k largest r_i + (1 + k) lambda_max(V'ZV),
        r_i = C_ii + 2 C_0i + the k - 1 largest C_ij.

    Z comes from alternating directions. Items that the bound proves in or out of every choice
    better than ``best_known`` are decided, and the relaxation of the rest is smaller and tighter.
    The result is at least ``best_known``, and valid whether that can be attained or not.
    """
    return dnn_within(problem, Budget.within(time_limit, MAX_OPERATIONS), best_known)


def dnn_within(problem: BQP, budget: Budget, best_known: float | None = None) -> Bound:
    """The bound of :func:`dnn_bound` within a budget."""
    floor = problem.value(good_choice(problem)) if best_known is None else best_known
    with calm_blas():
        state = Gap(Subproblem.of(moderate(problem, floor)), floor)
        state.close(budget)
    details = {
        "fixed_in": len(state.part.inside),
        "fixed_out": problem.n - state.part.n - len(state.part.inside),
        "steps": state.steps,
        "rest": state,
    }
    return Bound(max(state.value, floor), "dnn", details=details)


@dataclass
class Gap:
    """A part of a problem, its bound, and the floor that the bound is to come down to.

    At any time, a choice that the part allows is worth at most ``value``, and a choice that it
    rules out less than ``floor``.
    """

    part: Subproblem
    floor: float
    relaxation: DoublyNonnegative | None = None
    value: float = inf
    steps: int = 0
    _lowest: Bound | None = None  # of the relaxation as it is
    _row_values: Floats | None = None  # of the last bound

    @property
    def closed(self) -> bool:
        """Whether no choice of the part is worth more than the floor."""
        return self.value <= self.floor

    def close(self, budget: Budget | None = None, patience: float = 0.01) -> None:
        """Lower the bound until it meets the floor, hardly moves any more, or the budget is spent.

        Without a budget, only the other two end it.
        """
        budget = budget or Budget()
        if self._settled():
            return
        self._settle_by_rows(budget, ROWS_SHARE)
        if self._settled() or self.closed:
            return
        core = self._core(budget) if self.relaxation is None else self.relaxation.core
        step, proof = expected = self._seconds(len(core))
        if self.relaxation is None:
            if step + proof > budget.left:
                self._settle_by_rows(budget, 1.0)
                return
            scale = power_of_two(largest_entry(self.part.Q))
            self.relaxation = DoublyNonnegative(self.part, scale, core)
        last, before, stalls, untried = inf, self.steps, 0, True
        while not self._settled() and not self.closed:
            start = budget.spent
            late = step + proof > budget.left
            if late and (self.steps == before or proof / 2 > budget.left):
                return
            if not late:
                self._step()
                budget.spend(self._operations_of_step())
                step = max(budget.spent - start, 0.8 * step)
            if untried:  # a machine that is slow in steps is so in proofs
                proof = expected[1] * max(1.0, step / expected[0])
            if late or self.steps % STEPS_TO_PROOF == 0:
                start, earlier = budget.spent, self._seconds(len(self.relaxation.core))
                if self._lowest is None or not self._proofs_are_cheap():
                    self.relaxation.project(exact=True)
                    self._prove(budget)
                    budget.spend(OPERATIONS_PER_SECOND * earlier[1])
                bound, proof, untried = self._lowest, budget.spent - start, False
                assert bound is not None
                late = late or budget.left < 0
                changed = self._decide(bound) or (not late and self._widen(bound))
                if late or self.closed:
                    return
                gap = self.value - self.floor
                gained = inf if changed else (last - gap) / gap
                stalls = stalls + 1 if gained < patience else 0
                found = gained < TRIANGLE_GAIN and self.relaxation.add_triangles()
                if stalls > (MAX_STALLS if found else 0):
                    return
                last = inf if changed else gap
                now = self._seconds(len(self.relaxation.core))
                step, proof = (step * now[0] / earlier[0], proof * now[1] / earlier[1])

    def _settle_by_rows(self, budget: Budget, share: float) -> None:
        """Decide what bounds by rows decide; of many items with multipliers, in a share of time."""
        problem, aim = BQP.trusted(self.part.Q, self.part.k), self.floor - self.part.base
        if self.part.n <= FOLLOW_ITEMS or self.relaxation is not None:
            bound = rows_bound(problem)
        else:
            budget_of_rows = budget.share(share, MAX_OPERATIONS)
            bound = antisymmetric_within(problem, budget_of_rows, aim)
            budget.spend(budget_of_rows.counted)
            in_time = SECONDS_OF_ROWS * self.part.n**2 < budget.left
            bound = rows_bound(problem) if bound.row_values is None and in_time else bound
        self.value = min(self.value, self.part.base + bound.value)
        self._decide(bound)

    def _core(self, budget: Budget) -> Indices:
        """The items with which the relaxation of many items begins: those of the largest rows."""
        n, gpu = self.part.n, gpu_module(self.part.n, budget.left)
        size = max(MIN_GPU_ITEMS if gpu else MIN_CORE_ITEMS, n // 6, 4 * self.part.k)
        if n <= max(FOLLOW_ITEMS, size) or self._row_values is None:
            return np.arange(n)
        return top_k(self._row_values, size)

    def _seconds(self, m: int) -> tuple[float, float]:
        """What the first step on a core of m items and a proof take, about."""
        n, step = self.part.n, SECONDS_OF_STEP * m**3
        rows = SECONDS_OF_ROWS * n**2 + SECONDS_OF_MIXTURES * m * (n - m) * (n + 10 * m)
        if m <= FOLLOW_ITEMS:
            return step, step + rows
        return step / (500 if gpu_module(m) else 4), SECONDS_OF_PROOF * m**3 + rows

    def _operations_of_step(self) -> float:
        """About what a step costs, on the average."""
        assert self.relaxation is not None
        m = len(self.relaxation.core)
        if m <= FOLLOW_ITEMS:
            return OPERATIONS_OF_ANY_SMALL_STEP + OPERATIONS_OF_SMALL_STEP * m**3
        return OPERATIONS_OF_LARGE_STEP * m**2 / (GPU_SPEEDUP if gpu_module(m) else 1.0)

    def without(self, inside: Mask, outside: Mask) -> "Gap":
        """The same with more items decided; its relaxation goes on from where this one is."""
        part, values = self.part.without(inside, outside), self._row_values
        values = None if values is None else values[~(inside | outside)]
        relaxation = self.relaxation
        if relaxation is not None and part.settled() is None:
            relaxation = relaxation.restricted(part, inside, outside)
            m, n = len(relaxation.core), part.n
            if m < n and (n <= FOLLOW_ITEMS or m < 4 * part.k):
                relaxation = relaxation.widened(part, np.delete(np.arange(n), relaxation.core))
        return Gap(part, self.floor, relaxation, self.value, self.steps, _row_values=values)

    def _step(self) -> None:
        """One step of the relaxation; now and then with a proof."""
        assert self.relaxation is not None
        self.steps += 1
        self.relaxation.project(exact=self.steps % STEPS_TO_PROOF == 0)
        if self.steps % STEPS_TO_BOUND == 0 and self._proofs_are_cheap():
            self._prove()
        self.relaxation.update()

    def _proofs_are_cheap(self) -> bool:
        """Whether a proof costs less than a step: of few items, all in the core."""
        relaxation = self.relaxation
        return relaxation is not None and not relaxation.large and relaxation.is_whole

    def _prove(self, budget: Budget | None = None) -> None:
        """Prove the bound of the present multipliers."""
        relaxation = self.relaxation
        assert relaxation is not None
        steps = STEPS_OF_ROWS if self.part.n > FOLLOW_ITEMS else 0
        level = None if relaxation.large else relaxation.penalty * relaxation.level
        bound = relaxation.bound(relaxation.multipliers(), steps, budget, level)
        self.value = min(self.value, self.part.base + bound.value)
        if self._lowest is None or bound.value < self._lowest.value:
            self._lowest = bound

    def _decide(self, bound: Bound) -> bool:
        """Drop the items that a bound decides, where that makes the part notably smaller."""
        if bound.row_values is None:
            return False
        self._row_values = bound.row_values
        floor = self.floor - self.part.base
        inside, outside = screen(bound.value, bound.row_values, self.part.k, floor)
        if (inside | outside).sum() < max(1, MIN_DECIDED * self.part.n):
            return False
        vars(self).update(vars(self.without(inside, outside)))
        return True

    def _widen(self, bound: Bound) -> bool:
        """Take more items into the core if those outside it account for much of the gap."""
        assert self.relaxation is not None
        core, gap = self.relaxation.core, self.part.base + bound.value - self.floor
        if bound.row_values is None or bound.details["lost"] < MIN_LOST * gap:
            return False
        values = bound.row_values.copy()
        least = np.partition(values[core], len(core) - self.part.k)[len(core) - self.part.k]
        values[core] = -inf
        growth = bound.details["lost"] / gap  # near 1, nothing but the items outside matters
        count = int(np.clip((values > least).sum(), max(growth**2, 0.125) * len(core), len(core)))
        items = top_k(values, min(count, self.part.n - len(core)))
        self.relaxation = self.relaxation.widened(self.part, items)
        self._lowest = None
        return True

    def _settled(self) -> bool:
        """Whether only one choice can be best; its value is then the bound."""
        choice = self.part.settled()
        if choice is not None:
            self.value = min(self.value, choice[1])
        return choice is not None
