"""The doubly non-negative bound: the tightest here, with items decided on the way."""

from copy import copy
from dataclasses import dataclass
from math import inf

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.problem import BQP, good_choice, largest_entry, top_k
from bestk.bqp.relaxations.admm import (
    FOLLOW_ITEMS,
    MIN_GPU_ITEMS,
    CoreBound,
    DoublyNonnegative,
    gpu_module,
)
from bestk.bqp.relaxations.budget import OPERATIONS_PER_SECOND, Budget
from bestk.bqp.relaxations.rows import MAX_OPERATIONS, antisymmetric_within, rows_bound, screen
from bestk.bqp.relaxations.subproblem import Bound, Subproblem, moderate, power_of_two
from bestk.native.threads import calm_blas

# Steps from one proof to the next, where proofs cost less than a step.
STEPS_TO_BOUND = 10
# Steps from one check of the progress to the next, with a proof in any case.
STEPS_TO_PROOF = 50
# Seconds of the first step, times n^3; of few items, a proof takes about as long.
SECONDS_OF_STEP = 7e-10
# By how much less a step of many items takes than that, without and with a GPU.
STEP_SPEEDUP = 4.0
GPU_STEP_SPEEDUP = 500.0
# Seconds of a proof of many items, times n^3.
SECONDS_OF_PROOF = 1e-10
# Seconds of the rows of all n items in a proof, times n^2.
SECONDS_OF_ROWS = 4e-9
# Seconds of the mixtures of the n - m items outside a core of m, times m (n - m) (n + 10 m).
SECONDS_OF_MIXTURES = 1e-10
# A step is expected to take at least this share of what the last one was expected to take.
KEPT_SHARE = 0.8
# Operations of a step of few items, its share of a proof included: times n^3, and besides.
OPERATIONS_OF_SMALL_STEP = 0.2
OPERATIONS_OF_ANY_SMALL_STEP = 3e5
# Operations of a step of many items, times n^2: a mean over all steps.
OPERATIONS_OF_LARGE_STEP = 40.0
# How much sooner a GPU is done with a step of many items.
GPU_SPEEDUP = 20.0
# Share of the budget for bounds by rows of many items, before the relaxation.
ROWS_SHARE = 0.1
# Steps of the multipliers of rows, in a proof for many items.
STEPS_OF_ROWS = 4000
# Triangles are looked for where the gap fell by less than this share from one check to the next.
TRIANGLE_GAIN = 0.1
# Checks without progress after which the bound is left as it is, as long as triangles are found.
MAX_STALLS = 3
# With many items, the relaxation begins with at least so many of them.
MIN_CORE_ITEMS = 600
# The core grows where items outside it account for more than this share of the gap.
MIN_LOST = 0.1
# The core grows by at least this share of its items.
MIN_GROWTH = 0.125
# Share of the items that must be decided before the relaxation of the others is set up anew.
MIN_DECIDED = 0.05


def dnn_bound(
    problem: BQP, time_limit: float | None = None, best_known: float | None = None
) -> Bound:
    """Bound x'Qx by the semidefinite relaxation with entries in [0, 1] and bounded rows.

    For any symmetric Z of order n + 1, with Q bordered by zeros, C = Q - Z and V an orthonormal
    basis of the complement of (-k; e),

        x'Qx <= C_00 + the k largest r_i + (1 + k) lambda_max(V'ZV),
        r_i = C_ii + 2 C_0i + the k - 1 largest C_ij.

    Z comes from alternating directions. Items that the bound proves in or out of every choice
    better than ``best_known`` are decided, and the relaxation of the others is smaller and tighter.
    The result is at least ``best_known``, and valid whether that can be attained or not.
    """
    return dnn_within(problem, Budget.within(time_limit, MAX_OPERATIONS), best_known)


def dnn_within(
    problem: BQP,
    budget: Budget,
    best_known: float | None = None,
) -> Bound:
    """The bound of :func:`dnn_bound` within a budget."""
    return narrowed_gap(problem, budget, best_known).bound(problem.n)


def narrowed_gap(
    problem: BQP,
    budget: Budget,
    best_known: float | None = None,
) -> "Gap":
    """The gap between ``best_known`` and the bound of :func:`dnn_bound`, within a budget."""
    floor = problem.value(good_choice(problem)) if best_known is None else best_known
    with calm_blas():
        gap = Gap(Subproblem.of(moderate(problem, floor)), floor)
        gap.close(budget)
    return gap


@dataclass(frozen=True)
class _Costs:
    """Seconds of a step of a relaxation and of a proof."""

    step: float
    proof: float


class _Pace:
    """How long steps and proofs take: estimated at first, then measured."""

    def __init__(self, estimate: _Costs) -> None:
        self.step = estimate.step
        self.proof = estimate.proof
        self._estimate = estimate
        self._is_proof_measured = False

    def step_took(self, seconds: float) -> None:
        """Learn from a step."""
        self.step = max(seconds, KEPT_SHARE * self.step)
        if not self._is_proof_measured:
            # A machine that is slow in steps is so in proofs.
            slowness = max(1.0, self.step / self._estimate.step)
            self.proof = self._estimate.proof * slowness

    def proof_took(self, seconds: float) -> None:
        """Learn from a proof."""
        self.proof = seconds
        self._is_proof_measured = True

    def rescale(self, before: _Costs, after: _Costs) -> None:
        """Expect other costs, in proportion to the estimates before and after a change."""
        self.step = self.step * after.step / before.step
        self.proof = self.proof * after.proof / before.proof


@dataclass
class Gap:
    """A part of a problem, its bound, and the floor that the bound is to come down to.

    At any time, a choice that the subproblem allows is worth at most ``value``, and a choice that
    it rules out less than ``floor``.
    """

    subproblem: Subproblem
    floor: float
    relaxation: DoublyNonnegative | None = None
    """The relaxation of the subproblem, once it is set up."""
    value: float = inf
    steps: int = 0
    """Steps of the relaxation so far, those before items were decided included."""
    _lowest: CoreBound | None = None
    """The lowest bound of the relaxation as it is now."""
    _row_values: Floats | None = None
    """The row values of the last bound."""

    @property
    def closed(self) -> bool:
        """Whether no choice of the subproblem is worth more than the floor."""
        return self.value <= self.floor

    def bound(self, n: int) -> Bound:
        """The bound on all choices of a problem of n items, for which the gap was set up."""
        n_inside = len(self.subproblem.inside)
        return Bound(
            max(self.value, self.floor),
            "dnn",
            fixed_in=n_inside,
            fixed_out=n - self.subproblem.n - n_inside,
            steps=self.steps,
        )

    def close(
        self,
        budget: Budget | None = None,
        patience: float = 0.01,
    ) -> None:
        """Lower the bound until it meets the floor, hardly moves any more, or the budget is spent.

        Without a budget, only the other two end it.

        patience: the bound hardly moves if the gap falls by less than this share from one check to
        the next.
        """
        budget = budget or Budget()
        if self._has_only_choice():
            return
        self._decide_by_rows(budget, ROWS_SHARE)
        if self._has_only_choice() or self.closed:
            return
        if self.relaxation is None:
            core = self._first_core(budget)
            costs = self._costs(len(core))
            if costs.step + costs.proof > budget.left:
                self._decide_by_rows(budget, 1.0)
                return
            scale = power_of_two(largest_entry(self.subproblem.Q))
            self.relaxation = DoublyNonnegative(self.subproblem, scale, core)
        self._iterate(budget, patience)

    def _iterate(self, budget: Budget, patience: float) -> None:
        """Make steps of the relaxation, with a proof and a look at the progress now and then."""
        pace = _Pace(self._costs(self._core_size))
        steps_before = self.steps
        last_gap = inf
        stalls = 0
        while not self._has_only_choice() and not self.closed:
            is_late = pace.step + pace.proof > budget.left
            has_steps = self.steps > steps_before
            # When it is late, new multipliers deserve a last proof if there is half the time.
            if is_late and (not has_steps or pace.proof / 2 > budget.left):
                return
            if not is_late:
                start = budget.spent
                self._step()
                budget.spend(self._operations_of_step())
                pace.step_took(budget.spent - start)
            if not is_late and self.steps % STEPS_TO_PROOF:
                continue
            costs = self._costs(self._core_size)
            start = budget.spent
            bound = self._current_bound(budget, costs)
            pace.proof_took(budget.spent - start)
            is_late = is_late or budget.left < 0
            has_changed = self._decide(bound) or (not is_late and self._widen(bound))
            if is_late or self.closed:
                return
            gap = self.value - self.floor
            gain = inf if has_changed else (last_gap - gap) / gap
            stalls = stalls + 1 if gain < patience else 0
            has_triangles = gain < TRIANGLE_GAIN and self._relaxed.add_triangles()
            if stalls > (MAX_STALLS if has_triangles else 0):
                return
            last_gap = inf if has_changed else gap
            pace.rescale(costs, self._costs(self._core_size))

    @property
    def _relaxed(self) -> DoublyNonnegative:
        """The relaxation, where it is set up."""
        assert self.relaxation is not None
        return self.relaxation

    @property
    def _core_size(self) -> int:
        return len(self._relaxed.core)

    def _current_bound(self, budget: Budget, costs: _Costs) -> CoreBound:
        """The lowest bound of the relaxation as it is; proved now, unless proofs were made."""
        if self._lowest is None or not self._proofs_are_cheap():
            self._relaxed.project(exact=True)
            self._prove(budget)
            budget.spend(OPERATIONS_PER_SECOND * costs.proof)
        assert self._lowest is not None
        return self._lowest

    def _decide_by_rows(self, budget: Budget, share: float) -> None:
        """Decide what bounds by rows decide; of many items with multipliers, in a share of time."""
        n = self.subproblem.n
        problem = BQP.trusted(self.subproblem.Q, self.subproblem.k)
        if n <= FOLLOW_ITEMS or self.relaxation is not None:
            bound = rows_bound(problem)
        else:
            budget_of_rows = budget.share(share, MAX_OPERATIONS)
            aim = self.floor - self.subproblem.base
            bound = antisymmetric_within(problem, budget_of_rows, aim)
            budget.spend(budget_of_rows.counted)
            if bound.row_values is None and SECONDS_OF_ROWS * n**2 < budget.left:
                bound = rows_bound(problem)
        self.value = min(self.value, self.subproblem.base + bound.value)
        self._decide(bound)

    def _first_core(self, budget: Budget) -> Indices:
        """The items with which the relaxation begins: of many, those of the largest rows."""
        n = self.subproblem.n
        smallest = MIN_GPU_ITEMS if gpu_module(n, budget.left) else MIN_CORE_ITEMS
        size = max(smallest, n // 6, 4 * self.subproblem.k)
        if n <= max(FOLLOW_ITEMS, size) or self._row_values is None:
            return np.arange(n)
        return top_k(self._row_values, size)

    def _costs(self, m: int) -> _Costs:
        """What the first step on a core of m items and a proof take, about."""
        n = self.subproblem.n
        step = SECONDS_OF_STEP * m**3
        rows = SECONDS_OF_ROWS * n**2
        rows += SECONDS_OF_MIXTURES * m * (n - m) * (n + 10 * m)
        if m <= FOLLOW_ITEMS:
            return _Costs(step, step + rows)
        speedup = GPU_STEP_SPEEDUP if gpu_module(m) else STEP_SPEEDUP
        return _Costs(step / speedup, SECONDS_OF_PROOF * m**3 + rows)

    def _operations_of_step(self) -> float:
        """About what a step costs, on the average."""
        m = self._core_size
        if m <= FOLLOW_ITEMS:
            return OPERATIONS_OF_ANY_SMALL_STEP + OPERATIONS_OF_SMALL_STEP * m**3
        return OPERATIONS_OF_LARGE_STEP * m**2 / (GPU_SPEEDUP if gpu_module(m) else 1.0)

    def without(self, inside: Mask, outside: Mask) -> "Gap":
        """The same with more items decided; its relaxation goes on from where this one is.

        inside, outside: one entry for each open item.
        """
        gap = copy(self)
        gap._drop(inside, outside)
        return gap

    def _drop(self, inside: Mask, outside: Mask) -> None:
        """Take decided items out of the subproblem and its relaxation."""
        self.subproblem = self.subproblem.without(inside, outside)
        self._lowest = None
        if self._row_values is not None:
            self._row_values = self._row_values[~(inside | outside)]
        if self.relaxation is not None and self.subproblem.only_choice() is None:
            self.relaxation = self.relaxation.restricted(self.subproblem, inside, outside)
            self._take_all_if_few()

    def _take_all_if_few(self) -> None:
        """Take all items into the core where there are few, or few of them are in it."""
        m = self._core_size
        n = self.subproblem.n
        is_small = n <= FOLLOW_ITEMS or m < 4 * self.subproblem.k
        if m < n and is_small:
            others = np.delete(np.arange(n), self._relaxed.core)
            self.relaxation = self._relaxed.widened(self.subproblem, others)

    def _step(self) -> None:
        """One step of the relaxation; now and then with a proof, where proofs are cheap."""
        self.steps += 1
        self._relaxed.project(exact=self.steps % STEPS_TO_PROOF == 0)
        if self.steps % STEPS_TO_BOUND == 0 and self._proofs_are_cheap():
            self._prove()
        self._relaxed.update()

    def _proofs_are_cheap(self) -> bool:
        """Whether a proof costs less than a step: of few items, all in the core."""
        return not self._relaxed.is_large and self._relaxed.is_whole

    def _prove(self, budget: Budget | None = None) -> None:
        """Prove the bound of the present multipliers."""
        relaxation = self._relaxed
        steps = STEPS_OF_ROWS if self.subproblem.n > FOLLOW_ITEMS else 0
        level = None if relaxation.is_large else relaxation.penalty * relaxation.level
        bound = relaxation.bound(relaxation.multipliers(), steps, budget, level)
        self.value = min(self.value, self.subproblem.base + bound.value)
        if self._lowest is None or bound.value < self._lowest.value:
            self._lowest = bound

    def _decide(self, bound: Bound) -> bool:
        """Drop the items that a bound decides, where that makes the subproblem notably smaller."""
        if bound.row_values is None:
            return False
        self._row_values = bound.row_values
        k = self.subproblem.k
        floor = self.floor - self.subproblem.base
        inside, outside = screen(bound.value, bound.row_values, k, floor)
        n_decided = (inside | outside).sum()
        if n_decided < max(1, MIN_DECIDED * self.subproblem.n):
            return False
        self._drop(inside, outside)
        return True

    def _widen(self, bound: CoreBound) -> bool:
        """Take more items into the core if those outside it account for much of the gap."""
        core = self._relaxed.core
        m = len(core)
        gap = self.subproblem.base + bound.value - self.floor
        if bound.row_values is None or bound.lost < MIN_LOST * gap:
            return False
        kth_place = m - self.subproblem.k
        kth_value = np.partition(bound.row_values[core], kth_place)[kth_place]
        values_outside = bound.row_values.copy()
        values_outside[core] = -inf
        # The share is near 1 where nothing but the items outside matters.
        share = bound.lost / gap
        fewest = max(share**2, MIN_GROWTH) * m
        n_above = (values_outside > kth_value).sum()
        count = int(np.clip(n_above, fewest, m))
        items = top_k(values_outside, min(count, self.subproblem.n - m))
        self.relaxation = self._relaxed.widened(self.subproblem, items)
        self._lowest = None
        return True

    def _has_only_choice(self) -> bool:
        """Whether only one choice can be best; its value is then the bound."""
        choice = self.subproblem.only_choice()
        if choice is None:
            return False
        self.value = min(self.value, choice.upper_bound)
        return True
