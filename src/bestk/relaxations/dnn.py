"""The doubly non-negative bound: the tightest here, with items decided on the way."""

from dataclasses import dataclass
from math import frexp, inf
from time import perf_counter

import numpy as np

from bestk._typing import Floats, Mask
from bestk.problem import BQP, good_choice
from bestk.relaxations.admm import FOLLOW_ITEMS, DoublyNonnegative
from bestk.relaxations.rounding import Bound, largest_entry, one_thread
from bestk.relaxations.rows import antisymmetric_bound, rows_bound
from bestk.relaxations.subproblem import Subproblem, moderate, screen

DEFAULT_SECONDS = 60.0
STEPS_TO_BOUND = 10  # from one estimate of the bound to the next
STEPS_TO_PROOF = 50  # from one proof, and check of the progress, to the next
SECONDS_OF_STEP = 7e-10  # times n^3: the first step, and of few items about as much for a proof
SECONDS_OF_PROOF = 5e-11  # times n^3, of many items
PROOF_PAUSE = 3.0  # times the time of a proof, from one to the next of many items
ROWS_SHARE = 0.1  # of the time, for bounds by rows of many items
STEPS_OF_ROWS = 2000  # of the multipliers of rows, in a proof for many items
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

    Parameters
    ----------
    problem : BQP
        With a matrix.
    time_limit : float, default=60
        Seconds; the best bound so far counts.
    best_known : float, optional
        A value to compare with; by default that of a greedy choice improved by swaps.

    Examples
    --------
    >>> problem = BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    >>> round(dnn_bound(problem).value, 6)
    10.0
    """
    deadline = perf_counter() + (DEFAULT_SECONDS if time_limit is None else time_limit)
    floor = problem.value(good_choice(problem)) if best_known is None else best_known
    with one_thread():
        state = Gap(Subproblem.of(moderate(problem, floor)), floor)
        state.close(deadline)
    known = np.concatenate([state.part.items, state.part.inside])
    details = {
        "proved_in": np.sort(state.part.inside),
        "proved_out": np.setdiff1d(np.arange(problem.n), known),
        "fixed_in": len(state.part.inside),
        "fixed_out": problem.n - state.part.n - len(state.part.inside),
        "steps": state.steps,
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
    _best: float = inf  # the lowest bound of the relaxation, not proved yet
    _Z: Floats | None = None  # the multipliers that give it

    @property
    def closed(self) -> bool:
        """Whether no choice of the part is worth more than the floor."""
        return self.value <= self.floor

    def close(self, deadline: float = inf, patience: float = 0.01) -> None:
        """Lower the bound until it meets the floor, stops moving, or the time is up.

        It has stopped moving when ``STEPS_TO_PROOF`` steps take less than ``patience`` off the gap.
        """
        self._settle_by_rows(deadline)
        last, before = inf, self.steps
        step, proof = self._seconds()
        proved = -inf
        while not self._settled() and not self.closed:
            start = perf_counter()
            late = start + step + proof > deadline
            if late and self.steps == before:
                return
            if not late:
                self._step()
                step = perf_counter() - start
            large = self.relaxation is not None and self.relaxation.large
            early = large and start < proved + PROOF_PAUSE * proof
            if late or (self.steps % STEPS_TO_PROOF == 0 and not early):
                start = perf_counter()
                smaller = self._decide(self._prove())
                proved = perf_counter()
                proof = proved - start
                gap = self.value - self.floor
                if late or (not smaller and last - gap < patience * gap):
                    return
                last = inf if smaller else gap

    def _settle_by_rows(self, deadline: float) -> None:
        """Decide what bounds by rows decide, which for many items have multipliers."""
        problem, aim = BQP.trusted(self.part.Q, self.part.k), self.floor - self.part.base
        if self.part.n <= FOLLOW_ITEMS or self.relaxation is not None:
            bound = rows_bound(problem)
        else:
            seconds = ROWS_SHARE * (deadline - perf_counter())
            bound = antisymmetric_bound(problem, seconds if seconds < inf else None, aim)
        if bound.row_values is not None:
            self.value = min(self.value, self.part.base + bound.value)
            self._decide(bound)

    def _seconds(self) -> tuple[float, float]:
        """What the first step and a proof take, about."""
        n = self.part.n
        step = SECONDS_OF_STEP * n**3
        return (step, step) if n <= FOLLOW_ITEMS else (step / 4, SECONDS_OF_PROOF * n**3)

    def without(self, inside: Mask, outside: Mask) -> "Gap":
        """The same with more items decided; its relaxation goes on from where this one is."""
        part = self.part.without(inside, outside)
        relaxation = self.relaxation
        if relaxation is not None and part.settled() is None:
            relaxation = relaxation.restricted(part, inside, outside)
        return Gap(part, self.floor, relaxation, self.value, self.steps)

    def _step(self) -> None:
        """One step of the relaxation; now and then its bound."""
        if self.relaxation is None:
            scale = power_of_two(largest_entry(self.part.Q))
            self.relaxation = DoublyNonnegative(self.part, scale)
        self.steps += 1
        self.relaxation.project(exact=self.steps % STEPS_TO_PROOF == 0)
        if self.steps % STEPS_TO_BOUND == 0 and not self.relaxation.large:
            self._measure()
            if self._best <= self.floor:
                self._prove()
        self.relaxation.update()

    def _measure(self) -> None:
        """Compute the bound of the present multipliers, not yet proved."""
        assert self.relaxation is not None
        Z = self.relaxation.multipliers()
        top = self.relaxation.penalty * self.relaxation.level
        value = self.part.base + self.relaxation.bound(Z, top).value
        if value < self._best:
            self._best, self._Z = value, Z

    def _prove(self) -> Bound:
        """Prove the lowest bound so far."""
        assert self.relaxation is not None
        if self._Z is None:
            self.relaxation.project(exact=True)
            self._Z = self.relaxation.multipliers()
        steps = STEPS_OF_ROWS if self.relaxation.large else 0
        bound = self.relaxation.bound(self._Z, steps=steps)
        self.value = min(self.value, self.part.base + bound.value)
        if self.relaxation.large:
            self._Z = None
        return bound

    def _decide(self, bound: Bound) -> bool:
        """Drop the items that a bound decides, where that makes the part notably smaller."""
        assert bound.row_values is not None
        floor = self.floor - self.part.base
        inside, outside = screen(bound.value, bound.row_values, self.part.k, floor)
        if (inside | outside).sum() < max(1, MIN_DECIDED * self.part.n):
            return False
        smaller = self.without(inside, outside)
        self.part, self.relaxation = smaller.part, smaller.relaxation
        self._best, self._Z = inf, None
        return True

    def _settled(self) -> bool:
        """Whether only one choice can be best; its value is then the bound."""
        choice = self.part.settled()
        if choice is not None:
            self.value = min(self.value, choice[1])
        return choice is not None


def power_of_two(size: float) -> float:
    """The power of two just above a size; 1 for 0."""
    return 2.0 ** frexp(size)[1] if size else 1.0
