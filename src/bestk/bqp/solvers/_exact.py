"""The best choice, with the proof that there is none better."""

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf
from time import perf_counter
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.bounds import MAX_DNN_ITEMS
from bestk.bqp.problem import BQP, best_first, good_choice, improve, largest_entry
from bestk.bqp.relaxations.budget import Budget
from bestk.bqp.relaxations.dnn import Gap
from bestk.bqp.relaxations.rows import Branching, rows_bound
from bestk.bqp.relaxations.subproblem import Subproblem, moderate, rounding
from bestk.bqp.solvers._base import Needs, Run
from bestk.bqp.solvers._search import Search
from bestk.native.threads import calm_blas

FIRST_NODES = 2_500_000  # before the relaxation is tried; fewer above 100 items: each costs more
SLICE_NODES = 50_000  # between two checks of the clock and the keyboard
ENUMERATION_SHARE = 0.25  # of the time left, for one try of branch and bound by rows
PATIENCE = 0.1  # the relaxation stalls when 50 steps take less than this off the gap
NEGLIGIBLE = 1e-9  # slack, relative to the value, that is called rounding
MAX_EXACT_SUM = 2.0**40  # whole numbers up to this add up without rounding
MAX_TABLE = 8_000_000  # entries of the table of partners
ENTRIES_PER_SECOND = 1e9  # that a search reads, about
SECONDS_OF_ENTRY = 1e-8  # of that table, about


@dataclass(frozen=True)
class Exact:
    """Branch and bound: proves a choice optimal, or bounds its gap; set a time limit.

    Branch and bound by rows settles an easy problem. For the others, the doubly non-negative
    relaxation bounds what is better than a good choice and decides items, which makes the problem
    smaller and the relaxation tighter; where it stalls, branch and bound by rows tries the rest,
    and if that takes too long, an item splits the rest in two. With more than 10,000 items the
    relaxation is out of reach: the answer is then that of a search, with the bound by rows.

    ``details`` of the solution count the items that are ``proved_in`` or ``proved_out`` of every
    choice that could still be better, and those that are ``open``; ``optimal`` is true if no
    choice is better by more than rounding.

    N. Krislock, J. Malick, F. Roupin, "Improved semidefinite bounding procedure for solving
    max-cut problems to optimality", Math. Program. 143, 2014 (bounds of this kind in a tree).

    Examples
    --------
    >>> run = Run()
    >>> Exact().pick(BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2), run)
    array([0, 1])
    >>> run.upper_bound, run.details["optimal"]
    (10.0, True)
    """

    name: ClassVar[str] = "exact"
    needs: ClassVar[Needs] = "matrix"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others."""
        value = problem.value(good_choice(problem))
        while True:
            moderated = moderate(problem, value)
            proof = self._prove(moderated, run)
            again = moderate(problem, proof.value)
            if largest_entry(moderated.Q) <= 2 * largest_entry(again.Q):
                return proof.concluded()
            value, run.starts = proof.value, [*run.starts, proof.best]

    def _prove(self, problem: BQP, run: Run) -> "_Proof":
        """All that the time allows."""
        proof, whole = _Proof(problem, run), Subproblem.of(problem)
        with calm_blas():
            few = min(SLICE_NODES, FIRST_NODES)
            if not proof.settle(whole) and not proof.enumerate(whole, few):
                proof.search()
                if not proof.enumerate(whole, FIRST_NODES * 100 // max(problem.n, 100)):
                    proof.branch(Gap(whole, proof.floor, value=rows_bound(problem).value))
        return proof


def split_gap(problem: BQP, gap: Gap, run: Run) -> None:
    """Go on with a bound that has stalled, by splitting; the run has the new bound."""
    proof = _Proof(moderate(problem, gap.floor), run)
    with calm_blas():
        proof.branch(gap)
    proof.concluded()


class _Proof:
    """The best choice so far, and the parts of the problem that may hold a better one."""

    def __init__(self, problem: BQP, run: Run) -> None:
        self.problem, self.run = problem, run
        self.slack = rounding(problem.k, problem.k**2 * largest_entry(problem.Q))
        step = _grid(problem.Q)
        self.step = step if step > 2 * self.slack else 0.0
        self.nodes = self.parts = 0
        self.queue: list[tuple[float, int, Gap]] = []  # the highest bound first
        self.ticket = count()
        self.best, self.value = np.zeros(0, np.int64), -np.inf
        self.offer(good_choice(problem))
        for start in run.starts:
            self.offer(improve(problem, start))

    @property
    def floor(self) -> float:
        """What a better choice must exceed: beyond rounding, or by a step if Q is whole."""
        within = self.step - max(self.slack, 1e-6 * self.step)
        return self.value + (within if self.step else self.slack)

    def offer(self, items: Indices) -> None:
        """Keep a choice if it is the best so far."""
        value = self.problem.value(items)
        if value > self.value:
            self.best, self.value = np.sort(items), value
            self.run.details["incumbent"] = self.best

    def settle(self, part: Subproblem) -> bool:
        """Take the best choice of a part of which k is 0, 1 or all; whether it is one."""
        choice = part.settled()
        if choice is not None:
            self.offer(choice[0])
        return choice is not None

    def search(self) -> None:
        """Look for a better choice to start from, for a second at most."""
        seconds = min(1.0, self.problem.n / 1000)
        solver, deadline = Search(), inf
        if self.run.deadline < inf:
            deadline = perf_counter() + min(seconds, 0.1 * self.run.time_left)
        else:
            solver = Search(work=ENTRIES_PER_SECOND * seconds)
        self.offer(solver.pick(self.problem, Run(self.run.rng, deadline, [self.best])))

    def enumerate(self, part: Subproblem, nodes: int) -> bool:
        """Branch and bound by rows, in a share of the time; True when all of the part is seen."""
        seconds, entries = ENUMERATION_SHARE * self.run.time_left, part.n**2
        entries *= min(part.k, part.n - part.k)
        if entries > MAX_TABLE or SECONDS_OF_ENTRY * entries > seconds:
            return False
        tree = Branching(part.Q, part.k, self.floor - part.base)
        done, end = False, perf_counter() + seconds
        while not done and tree.nodes < nodes and perf_counter() < end:
            done = tree.advance(min(SLICE_NODES, nodes))
        self.nodes += tree.nodes
        if tree.choice is not None:
            self.offer(np.concatenate([part.inside, part.items[tree.choice]]))
        return done

    def branch(self, gap: Gap) -> None:
        """Bound, decide and split until no part can hold a better choice or the time is up."""
        self.push(gap)
        while self.queue and self.run.time_left > 0:
            gap = heappop(self.queue)[2]
            gap.floor = self.floor
            if gap.part.n > MAX_DNN_ITEMS:  # a step of its relaxation takes seconds
                self.push(gap)
                break
            parts = [] if gap.closed or self.finish(gap) else self.split(gap)
            self.push(*parts)
            self.run.upper_bound = self.upper_bound()
            if parts == [gap]:
                break

    def push(self, *gaps: Gap) -> None:
        """Put off some parts."""
        for gap in gaps:
            heappush(self.queue, (-gap.value, next(self.ticket), gap))

    def finish(self, gap: Gap) -> bool:
        """Try to be done with a part by its bound, or by looking at every choice in it."""
        self.parts += 1
        steps = gap.steps
        gap.close(Budget(self.run.deadline), PATIENCE)
        if gap.closed or self.settle(gap.part):
            return True
        if self.run.time_left <= 0:
            return False
        # a small share of the time that the relaxation took: a step costs n^3
        budget = (gap.steps - steps) * gap.part.n**3 // 10_000
        return self.enumerate(gap.part, max(SLICE_NODES // 5, budget))

    def split(self, gap: Gap) -> list[Gap]:
        """The choices with an item and those without; nothing to split when the time is up."""
        if self.run.time_left <= 0 or gap.relaxation is None:
            return [gap]
        item = np.arange(gap.part.n) == gap.relaxation.core[np.argmax(gap.relaxation.x)]
        none = np.zeros_like(item)
        return [gap.without(item, none), gap.without(none, item)]

    @property
    def uncertain(self) -> float:
        """By how much a choice that was ruled out may be better: 0 if that is rounding."""
        exact = self.step or self.problem.k == self.problem.n
        return 0.0 if exact or self.slack <= NEGLIGIBLE * abs(self.value) else self.slack

    def upper_bound(self) -> float:
        """What no choice exceeds: the best value once nothing is left, to rounding."""
        return max([self.value + self.uncertain, *(-bound for bound, _, _ in self.queue)])

    def concluded(self) -> Indices:
        """The best choice, after storing how far its proof got."""
        picked = best_first(self.problem, self.best)
        self.value = self.problem.value(picked)  # as the referee adds it up, to the last digit
        self.run.upper_bound = self.upper_bound()
        inside, outside = self._decided()
        self.run.details.update(
            optimal=not self.queue and not self.uncertain,
            proved_in=int(inside.sum()),
            proved_out=int(outside.sum()),
            open=self.problem.n - int((inside | outside).sum()),
            nodes=self.nodes,
            parts=self.parts,
        )
        return picked

    def _decided(self) -> tuple[Mask, Mask]:
        inside = np.zeros(self.problem.n, np.bool_)
        inside[self.best] = True
        outside = ~inside
        for _, _, gap in self.queue:
            has = np.zeros(self.problem.n, np.bool_)
            has[gap.part.inside] = True
            inside &= has
            has[gap.part.items] = True
            outside &= ~has
        return inside, outside


def _grid(Q: Floats) -> float:
    """The step in which values x'Qx come if Q is whole, else 0."""
    if (np.rint(Q[0]) != Q[0]).any() or (np.rint(Q) != Q).any():
        return 0.0
    if largest_entry(Q) * len(Q) ** 2 > MAX_EXACT_SUM:
        return 0.0
    whole = 2 * Q.astype(np.int64)
    whole.flat[:: len(Q) + 1] //= 2
    return float(np.gcd.reduce(whole, axis=None))
