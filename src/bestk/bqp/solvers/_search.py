"""Memetic tabu search: populations of choices, improved by swapping one item for another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, NO_ITEMS, best_first, grow, top_k
from bestk.bqp.solvers._base import Needs, Run
from bestk.native import kernels
from bestk.native.threads import run_tiles

Masks = NDArray[np.uint8]
SLICE_SECONDS = 0.015  # work between two checks of the clock and the keyboard
# Entries of Q that are read from one check of the keyboard to the next where there is no time
# limit: about 0.015 seconds. The best of equal choices depends on it.
SLICE_ENTRIES = 2**23
PATH_SHARE = 2  # a path of many k may take as long as so many single ones
MIN_STEPS = 64  # in a slice
OPERATIONS_OF_ENTRY = 2.5  # operations, see ``Budget``, for each entry of Q that is read
STEPS_OF_WALK = 2  # times depth n: about how long a walk is
NEGATIVE_PRICE = 16  # entries below 0 leave more swaps to evaluate in a step
PATIENCE_IN_TIME = 100  # times the patience, where a time limit ends the search
CORE_ITEMS = 256  # of a lazy problem that are searched beside the choice
LOWEST = -np.finfo(np.float64).max
MIN_IMPROVEMENT = 1e-13  # relative: smaller differences are rounding
CHOSEN, WALK_BEST, CHAMPION, POOL = range(4)  # rows of masks, as in tabu.c
VALUE, BEST, CROWN, WORTH = range(4)  # places in values
STEP, IDLE, N_TABU, BORN, YOUNG, SIZE, STALE, WAIT = range(8)  # places in counts


@dataclass(frozen=True)
class Search:
    """Memetic tabu search: the best swaps, from combinations of good choices (Wu and Hao 2013).

    Swapping item u for v changes x'Qx by p_v - p_u - 2 Q_uv, where p_i = Q_ii + 2 sum of Q_ij over
    the other chosen j. A tabu walk takes the best such swap, even a bad one, but leaves items that
    have just moved where they are. A population keeps the best choices of such walks; the next
    walk sets out from what two of them share, filled up from either. It starts from the choices
    it is given, those of the largest row sums, a greedy one, and random ones.

    Parameters
    ----------
    population : int, default=10
        Choices kept on an island.
    islands : int, default=2
        Independent populations, each in a thread of its own where there are so many. The answer
        depends on their number, not on the number of threads.
    depth : int, default=5
        A walk ends after ``depth * n`` steps without a new best.
    patience : int, default=50
        An island ends after so many walks without a new best; with a time limit, after a hundred
        times as many. Walks from random choices that find the best one again count up to ten times.
        With no time limit, the same seed gives the same answer.
    work : float, default=1.5e9
        With no time limit, the search ends when so many entries of Q have been read, about: some
        seconds. Few problems below a thousand items come that far.

    Q. Wu and J.-K. Hao. A hybrid metaheuristic method for the maximum diversity problem.
    European Journal of Operational Research 231 (2013), 452-464.

    Examples
    --------
    >>> Q = np.array([[0.0, 4.0, 1.0], [4.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    >>> Search().pick(BQP(Q, k=2), Run())
    array([0, 1])
    """

    population: int = 10
    islands: int = 2
    depth: int = 5
    patience: int = 50
    work: float = 1.5e9

    name: ClassVar[str] = "search"
    needs: ClassVar[Needs] = "columns"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the items by what each adds to the others."""
        if problem.k == problem.n:
            return best_first(problem, range(problem.n))
        if problem.is_lazy:
            return best_first(problem, self._pick_lazy(problem, run))
        patience = self.patience * (PATIENCE_IN_TIME if np.isfinite(run.deadline) else 1)
        return best_first(problem, self._pick_dense(problem, run, patience))

    def for_path(self, count: int) -> "Search":
        """The search for one of many k, which starts from the answer to its neighbour."""
        share = PATH_SHARE / max(count, PATH_SHARE)
        return replace(self, patience=max(3, round(share * self.patience)), work=share * self.work)

    def _pick_dense(self, problem: BQP, run: Run, patience: int) -> Indices:
        """Let the islands work, a slice of time after the other."""
        Q, n, k = problem.rows, problem.n, problem.k
        seeds = run.rng.integers(1, 2**63, self.islands)
        islands = [Population.empty(n, self.population, int(seed)) for seed in seeds]
        choices = [*run.starts, top_k(Q.sum(axis=1), k), NO_ITEMS]
        starts = np.zeros((len(choices), n), np.uint8)
        for mask, items in zip(starts, choices, strict=True):
            mask[items] = 1
        shares = [starts[i :: self.islands].copy() for i in range(self.islands)]
        least = least_entries(Q)
        advance = kernels.tabu_advance.bind(Q, least, n, k, self.depth * n, patience)
        known = run.details.get("incumbent")
        best = LOWEST if known is None else problem.value(known)

        def work(steps: int, i: int) -> None:
            advance(steps, shares[i], len(shares[i]), self.population, *islands[i])

        price = n * (NEGATIVE_PRICE if least.min() < 0 else 1)
        if np.isfinite(run.deadline):
            slices = _timed_slices(n, run)
        else:
            slices = _counted_slices(price, self.work / self.islands)
        steps_of_all = 0
        for steps in slices:
            steps_of_all += self.islands * steps
            run_tiles(partial(work, steps), range(self.islands))
            best = _keep_best(islands, run, best)
            if all(island.counts[WAIT] >= patience for island in islands):
                break
        walks = int(sum(island.counts[BORN] for island in islands))
        # Islands that are out of patience do not use up their last slice.
        steps_of_all = min(steps_of_all, STEPS_OF_WALK * walks * self.depth * n)
        run.spend(OPERATIONS_OF_ENTRY * steps_of_all * price)
        run.details["walks"] = walks
        return np.asarray(run.details["incumbent"], np.int64)

    def _pick_lazy(self, problem: BQP, run: Run) -> Indices:
        """Search the core: the choice, and the items that would add most to it; then its core."""
        starts = run.starts or [grow(problem, deadline=run.deadline)]
        chosen = np.sort(max(starts, key=problem.value))
        seen = np.zeros(problem.n, np.bool_)
        size = min(problem.n, problem.k + max(CORE_ITEMS, min(3 * problem.k, 16 * CORE_ITEMS)))
        while run.time_left > 0:
            run.details["incumbent"] = chosen
            gains = problem.gains(chosen)
            value = (gains + problem.diagonal)[chosen].sum() / 2
            gains[chosen] = np.inf
            core = top_k(gains, size)
            if seen[core].all():
                break
            seen[core] = True
            inner = BQP(problem.block(core), problem.k)
            inner_run = Run(run.rng, run.deadline, [np.arange(problem.k)])
            found = self._pick_dense(inner, inner_run, self.patience)
            if inner.value(found) <= value + MIN_IMPROVEMENT * abs(value):
                break
            chosen = core[found]
        return chosen


class Population(NamedTuple):
    """The best choices of an island and the walk of the newest, as ``tabu_advance`` takes them."""

    masks: Masks  # choice of the walk, its best one, the champion; then the pool
    gains: Floats  # Q_ii + 2 sum of Q_ij over the other chosen items j
    tabu: NDArray[np.int64]  # step at which the tabu on an item ends, or 0; items under tabu
    values: Floats  # of the choice of the walk, its best one, the champion; then of the pool
    counts: NDArray[np.int64]
    random: NDArray[np.uint64]

    @classmethod
    def empty(cls, n: int, size: int, seed: int) -> "Population":
        """A population without choices."""
        masks, values = np.zeros((POOL + size, n), np.uint8), np.full(WORTH + size, LOWEST)
        tabu, counts = np.zeros((2, n), np.int64), np.zeros(8, np.int64)
        return cls(masks, np.zeros(n), tabu, values, counts, np.array([seed], np.uint64))


def least_entries(Q: Floats) -> Floats:
    """The least entry of each row, off the diagonal."""
    others = Q.copy()
    np.fill_diagonal(others, np.inf)
    return np.asarray(others.min(axis=1))


def _keep_best(islands: Sequence[Population], run: Run, best: float) -> float:
    """Store a new best choice in the run; return the best value."""
    for masks, _, _, values, _, _ in islands:
        for value, choice in ((values[CROWN], masks[CHAMPION]), (values[BEST], masks[WALK_BEST])):
            if value > best + MIN_IMPROVEMENT * abs(best):
                best = float(value)
                run.details["incumbent"] = np.flatnonzero(choice)
    return best


def _counted_slices(price: int, most: float) -> Iterator[int]:
    """Numbers of steps that read ``most`` entries in all, at so many entries for a step."""
    left = max(MIN_STEPS, int(most / price))
    in_a_slice = max(MIN_STEPS, SLICE_ENTRIES // price)
    while left > 0:
        steps = min(in_a_slice, left)
        yield steps
        left -= steps


def _timed_slices(n: int, run: Run) -> Iterator[int]:
    """Numbers of steps that take about a slice of time, to the deadline."""
    steps = min(4096, MIN_STEPS + 1_000_000 // n)
    while True:
        start = perf_counter()
        yield steps
        if run.time_left <= 0:
            return
        pace = (perf_counter() - start) / steps
        wanted = min(SLICE_SECONDS, run.time_left)
        steps = max(MIN_STEPS, min(4 * steps, int(wanted / pace)))
