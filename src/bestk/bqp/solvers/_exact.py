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
from bestk.bqp.solvers._base import Run, Solver
from bestk.bqp.solvers._search import Search
from bestk.native.threads import calm_blas

# Nodes of branch and bound by rows before the relaxation is tried; fewer above COSTLY_ITEMS.
FIRST_NODES = 2_500_000
# With more items than this, a node takes longer in proportion.
COSTLY_ITEMS = 100
# Nodes between two checks of the clock and the keyboard.
SLICE_NODES = 50_000
# Nodes with which a part of the problem is tried in any case, after its relaxation.
MIN_NODES_OF_PART = SLICE_NODES // 5
# Operations of the relaxation, n^3 for each step, for which one more node is tried.
OPERATIONS_OF_NODE = 10_000
# Share of the time left for one try of branch and bound by rows.
ENUMERATION_SHARE = 0.25
# The relaxation stalls when 50 steps take less than this share off the gap.
PATIENCE = 0.1
# Slack relative to the value of a choice that is called rounding.
NEGLIGIBLE = 1e-9
# Whole numbers up to this add up without rounding.
MAX_EXACT_SUM = 2.0**40
# Entries of the table of partners of branch and bound by rows, at most.
MAX_TABLE = 8_000_000
# Seconds of an entry of that table, about.
SECONDS_OF_ENTRY = 1e-8
# Seconds of the search for a choice to start from: at most, and for each item.
MAX_SEARCH_SECONDS = 1.0
SEARCH_SECONDS_OF_ITEM = 1e-3
# Share of the time left for that search.
SEARCH_SHARE = 0.1
# Entries of Q that it reads in a second, about.
ENTRIES_PER_SECOND = 1e9


@dataclass(frozen=True)
class Exact(Solver):
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

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others."""
        value = problem.value(good_choice(problem))
        while True:
            moderated = moderate(problem, value)
            proof = _prove(moderated, run)
            # A much better choice lets penalties be raised further: then the proof has less
            # rounding to allow for, and is made again.
            moderated_again = moderate(problem, proof.value)
            if largest_entry(moderated.matrix) <= 2 * largest_entry(moderated_again.matrix):
                return proof.concluded()
            value = proof.value
            run.starts = [*run.starts, proof.best]


def _prove(problem: BQP, run: Run) -> "_Proof":
    """Look for the best choice and prove it, as far as the time allows."""
    proof = _Proof(problem, run)
    whole = Subproblem.of(problem)
    with calm_blas():
        if proof.take_only_choice(whole):
            return proof
        if proof.enumerate(whole, min(SLICE_NODES, FIRST_NODES)):
            return proof
        proof.search()
        nodes = FIRST_NODES * COSTLY_ITEMS // max(problem.n, COSTLY_ITEMS)
        if proof.enumerate(whole, nodes):
            return proof
        bound = rows_bound(problem).value
        proof.branch(Gap(whole, proof.floor, value=bound))
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
        self.problem = problem
        self.run = run
        size = problem.k**2 * largest_entry(problem.matrix)
        self.slack = rounding(problem.k, size)
        """More than rounding can add to the value of a choice."""
        step = _grid(problem.matrix)
        self.step = step if step > 2 * self.slack else 0.0
        """By how much values differ at least, if they are whole; else 0."""
        self.nodes = 0
        self.parts = 0
        self.queue: list[tuple[float, int, Gap]] = []
        """Parts that are not done, the highest bound first: minus the bound, a number that tells
        equal ones apart, and the part."""
        self.ticket = count()
        self.best = np.zeros(0, np.int64)
        self.value = -np.inf
        self.offer(good_choice(problem))
        for start in run.starts:
            self.offer(improve(problem, start))

    @property
    def floor(self) -> float:
        """What a better choice must exceed: beyond rounding, or by a step if Q is whole."""
        if self.step:
            margin = max(self.slack, 1e-6 * self.step)
            return self.value + (self.step - margin)
        return self.value + self.slack

    def offer(self, items: Indices) -> None:
        """Keep a choice if it is the best so far."""
        value = self.problem.value(items)
        if value > self.value:
            self.best = np.sort(items)
            self.value = value
            self.run.keep(self.best)

    def take_only_choice(self, subproblem: Subproblem) -> bool:
        """Offer the best choice of a subproblem that needs no search; whether it is such a one."""
        choice = subproblem.only_choice()
        if choice is None:
            return False
        self.offer(choice.items)
        return True

    def search(self) -> None:
        """Look for a better choice to start from, for a second at most."""
        seconds = min(MAX_SEARCH_SECONDS, SEARCH_SECONDS_OF_ITEM * self.problem.n)
        solver = Search()
        deadline = inf
        if self.run.deadline < inf:
            deadline = perf_counter() + min(seconds, SEARCH_SHARE * self.run.time_left)
        else:
            solver = Search(work=ENTRIES_PER_SECOND * seconds)
        run_of_search = Run(self.run.rng, deadline, [self.best])
        self.offer(solver.pick(self.problem, run_of_search))

    def enumerate(self, subproblem: Subproblem, nodes: int) -> bool:
        """Branch and bound by rows, in a share of the time; True when every choice is seen."""
        k = subproblem.k
        n = subproblem.n
        seconds = ENUMERATION_SHARE * self.run.time_left
        entries = n**2 * min(k, n - k)
        if entries > MAX_TABLE or SECONDS_OF_ENTRY * entries > seconds:
            return False
        tree = Branching(subproblem.Q, k, self.floor - subproblem.base)
        end = perf_counter() + seconds
        is_complete = False
        while not is_complete and tree.nodes < nodes and perf_counter() < end:
            is_complete = tree.advance(min(SLICE_NODES, nodes))
        self.nodes += tree.nodes
        if tree.choice is not None:
            others = subproblem.items[tree.choice]
            self.offer(np.concatenate([subproblem.inside, others]))
        return is_complete

    def branch(self, gap: Gap) -> None:
        """Bound, decide and split until no part can hold a better choice or the time is up."""
        self.push(gap)
        while self.queue and self.run.time_left > 0:
            _, _, gap = heappop(self.queue)
            gap.floor = self.floor
            if gap.subproblem.n > MAX_DNN_ITEMS:  # a step of its relaxation takes seconds
                self.push(gap)
                break
            is_done = gap.closed or self.finish(gap)
            can_split = self.run.time_left > 0 and gap.relaxation is not None
            if not is_done and can_split:
                for half in _halves(gap):
                    self.push(half)
            elif not is_done:
                self.push(gap)
            self.run.upper_bound = self.upper_bound()
            if not is_done and not can_split:
                break

    def push(self, gap: Gap) -> None:
        """Put off a part."""
        entry = (-gap.value, next(self.ticket), gap)
        heappush(self.queue, entry)

    def finish(self, gap: Gap) -> bool:
        """Try to be done with a part by its bound, or by looking at every choice in it."""
        self.parts += 1
        steps_before = gap.steps
        gap.close(Budget(self.run.deadline), PATIENCE)
        if gap.closed or self.take_only_choice(gap.subproblem):
            return True
        if self.run.time_left <= 0:
            return False
        # A small share of the time that the relaxation took: a step costs n^3.
        operations = (gap.steps - steps_before) * gap.subproblem.n**3
        nodes = max(MIN_NODES_OF_PART, operations // OPERATIONS_OF_NODE)
        return self.enumerate(gap.subproblem, nodes)

    @property
    def uncertainty(self) -> float:
        """By how much a choice that was ruled out may be better: 0 if that is rounding."""
        if self.step or self.problem.k == self.problem.n:
            return 0.0
        return 0.0 if self.slack <= NEGLIGIBLE * abs(self.value) else self.slack

    def upper_bound(self) -> float:
        """What no choice exceeds: the best value once nothing is left, to rounding."""
        bounds = [-negative_bound for negative_bound, _, _ in self.queue]
        return max([self.value + self.uncertainty, *bounds])

    def concluded(self) -> Indices:
        """The best choice, after storing how far its proof got."""
        picked = best_first(self.problem, self.best)
        self.value = self.problem.value(picked)  # as the referee adds it up, to the last digit
        self.run.upper_bound = self.upper_bound()
        inside, outside = self._decided()
        is_open = ~(inside | outside)
        self.run.details.update(
            optimal=not self.queue and not self.uncertainty,
            proved_in=int(inside.sum()),
            proved_out=int(outside.sum()),
            open=int(is_open.sum()),
            nodes=self.nodes,
            parts=self.parts,
        )
        return picked

    def _decided(self) -> tuple[Mask, Mask]:
        """Items that are in every choice that could be better and in the best; items in none."""
        inside = np.zeros(self.problem.n, np.bool_)
        inside[self.best] = True
        outside = ~inside
        for _, _, gap in self.queue:
            possible = np.zeros(self.problem.n, np.bool_)
            possible[gap.subproblem.inside] = True
            inside &= possible
            possible[gap.subproblem.items] = True
            outside &= ~possible
        return inside, outside


def _halves(gap: Gap) -> tuple[Gap, Gap]:
    """The choices with the item of the largest share in the relaxation, and those without it."""
    assert gap.relaxation is not None
    largest_share = int(np.argmax(gap.relaxation.x))
    item = gap.relaxation.core[largest_share]
    is_item = np.arange(gap.subproblem.n) == item
    nothing = np.zeros_like(is_item)
    return gap.without(is_item, nothing), gap.without(nothing, is_item)


def _is_whole(numbers: Floats) -> bool:
    """Whether all numbers are whole."""
    return bool((np.rint(numbers) == numbers).all())


def _grid(Q: Floats) -> float:
    """The step in which values x'Qx come if Q is whole, else 0."""
    # Most matrices that are not whole are not so in the first row, which is read at once.
    if not _is_whole(Q[0]) or not _is_whole(Q):
        return 0.0
    if largest_entry(Q) * len(Q) ** 2 > MAX_EXACT_SUM:
        return 0.0
    # In x'Qx a pair counts twice, and an item once.
    counted = 2 * Q.astype(np.int64)
    counted.flat[:: len(Q) + 1] //= 2
    return float(np.gcd.reduce(counted, axis=None))
