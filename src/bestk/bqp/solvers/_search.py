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
from bestk.bqp.solvers._base import Needs, Run, Solver
from bestk.native import kernels
from bestk.native.threads import run_tiles

Masks = NDArray[np.uint8]

# Seconds of work between two checks of the clock and the keyboard, with a time limit.
SLICE_SECONDS = 0.015
# Entries of Q that are read from one check of the keyboard to the next where there is no time
# limit: about 0.015 seconds. The best of equal choices depends on it.
SLICE_ENTRIES = 2**23
# Steps of a slice, at least; and of the first one at most, with a time limit.
MIN_STEPS = 64
MAX_FIRST_STEPS = 4096
# A path of many k may take as long as so many single ones.
PATH_SHARE = 2
# Walks without a new best that end an island of a path, at least.
MIN_PATIENCE = 3
# Operations, see ``Budget``, for each entry of Q that is read.
OPERATIONS_OF_ENTRY = 2.5
# About how many steps a walk has, times the depth and the number of items.
STEPS_OF_WALK = 2
# Entries below 0 leave more swaps to evaluate in a step: it costs as much as so many.
NEGATIVE_PRICE = 16
# With a time limit, the patience is so many times as large: the clock ends the search.
PATIENCE_IN_TIME = 100
# Items of a lazy problem that are searched beside the choice: at least so many, or three times k;
# and at most so many times as many.
CORE_ITEMS = 256
CORE_ITEMS_OF_CHOICE = 3
MAX_CORE_FACTOR = 16
# A smaller difference between two values, relative to them, is rounding.
MIN_IMPROVEMENT = 1e-13
# Below every value of a choice.
LOWEST = -np.finfo(np.float64).max

# Rows of ``Population.masks``, as in tabu.c.
CHOSEN = 0  # the choice of the walk
WALK_BEST = 1  # the best choice of the walk
CHAMPION = 2  # the best choice ever
POOL = 3  # from here on, the members of the population

# Places in ``Population.values``, as in tabu.c.
VALUE = 0  # of the choice of the walk
BEST = 1  # of the best choice of the walk
CROWN = 2  # of the best choice ever
WORTH = 3  # from here on, of the members of the population

# Places in ``Population.counts``, as in tabu.c.
STEP = 0  # steps of the walk
IDLE = 1  # steps since the best choice of the walk
N_TABU = 2  # items that may not move
BORN = 3  # walks so far
YOUNG = 4  # walks since the population was empty
SIZE = 5  # members of the population
STALE = 6  # walks since a member was new
WAIT = 7  # walks since the best choice ever, some of which count several times
N_COUNTS = 8


@dataclass(frozen=True)
class Search(Solver):
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
        patience = self.patience
        if np.isfinite(run.deadline):
            patience *= PATIENCE_IN_TIME
        return best_first(problem, self._pick_dense(problem, run, patience))

    def for_path(self, count: int) -> "Search":
        """The search for one of many k, which starts from the answer to its neighbour."""
        share = PATH_SHARE / max(count, PATH_SHARE)
        patience = max(MIN_PATIENCE, round(share * self.patience))
        return replace(self, patience=patience, work=share * self.work)

    def _pick_dense(self, problem: BQP, run: Run, patience: int) -> Indices:
        """Let the islands work, slice by slice; the best choice is kept in the run."""
        Q = problem.rows
        n = problem.n
        k = problem.k
        seeds = run.rng.integers(1, 2**63, self.islands)
        islands = [Population.empty(n, self.population, int(seed)) for seed in seeds]
        by_row_sums = top_k(Q.sum(axis=1), k)
        starts = _as_masks([*run.starts, by_row_sums, NO_ITEMS], n)
        # The islands take the starts in turn.
        numbers = range(self.islands)
        starts_of = [starts[number :: self.islands].copy() for number in numbers]
        lowest_entries = least_entries(Q)
        depth = self.depth * n
        advance = kernels.tabu_advance.bind(Q, lowest_entries, n, k, depth, patience)

        def work(steps: int, number: int) -> None:
            starts = starts_of[number]
            island = islands[number]
            advance(steps, starts, len(starts), self.population, *island)

        entries_of_step = n * (NEGATIVE_PRICE if lowest_entries.min() < 0 else 1)
        if np.isfinite(run.deadline):
            slices = _timed_slices(n, run)
        else:
            slices = _counted_slices(entries_of_step, self.work / self.islands)
        best_value = LOWEST if run.incumbent is None else problem.value(run.incumbent)
        steps_of_all = 0
        for steps in slices:
            steps_of_all += self.islands * steps
            run_tiles(partial(work, steps), numbers)
            best_value = _keep_best(islands, run, best_value)
            if all(island.counts[WAIT] >= patience for island in islands):
                break
        walks = int(sum(island.counts[BORN] for island in islands))
        # Islands that are out of patience do not use up their last slice.
        steps_of_all = min(steps_of_all, STEPS_OF_WALK * walks * depth)
        run.spend(OPERATIONS_OF_ENTRY * steps_of_all * entries_of_step)
        run.details["walks"] = walks
        assert run.incumbent is not None
        return np.asarray(run.incumbent, np.int64)

    def _pick_lazy(self, problem: BQP, run: Run) -> Indices:
        """Search the choice and the items that would add most to it; then around the new choice."""
        k = problem.k
        starts = run.starts or [grow(problem, deadline=run.deadline)]
        chosen = np.sort(max(starts, key=problem.value))
        was_searched = np.zeros(problem.n, np.bool_)
        n_others = min(CORE_ITEMS_OF_CHOICE * k, MAX_CORE_FACTOR * CORE_ITEMS)
        size = min(problem.n, k + max(CORE_ITEMS, n_others))
        while run.time_left > 0:
            run.keep(chosen)
            gains = problem.gains(chosen)
            value = (gains + problem.diagonal)[chosen].sum() / 2
            gains[chosen] = np.inf
            core = top_k(gains, size)  # the chosen items first
            if was_searched[core].all():
                break
            was_searched[core] = True
            problem_of_core = BQP(problem.block(core), k)
            chosen_places = np.arange(k)
            run_of_core = Run(run.rng, run.deadline, [chosen_places])
            places = self._pick_dense(problem_of_core, run_of_core, self.patience)
            if problem_of_core.value(places) <= value + MIN_IMPROVEMENT * abs(value):
                break
            chosen = core[places]
        return chosen


def _as_masks(choices: Sequence[Indices], n: int) -> Masks:
    """Choices as rows of n entries: 1 for the items that are chosen, else 0."""
    masks = np.zeros((len(choices), n), np.uint8)
    for mask, items in zip(masks, choices, strict=True):
        mask[items] = 1
    return masks


class Population(NamedTuple):
    """The best choices of an island and the walk of the newest.

    These are the last arguments of the kernel ``tabu_advance``, in its order, which changes them.
    """

    masks: Masks
    """Choices as rows of n entries, see CHOSEN, WALK_BEST, CHAMPION and POOL."""

    gains: Floats
    """Of the choice of the walk: Q_ii + 2 sum of Q_ij over the other chosen items j."""

    tabu: NDArray[np.int64]
    """Two rows of n entries: the step at which the tabu on each item ends, or 0; and a list of the
    items under tabu, of which there are ``counts[N_TABU]``."""

    values: Floats
    """Values x'Qx of choices, see VALUE, BEST, CROWN and WORTH."""

    counts: NDArray[np.int64]
    """See STEP, IDLE, N_TABU, BORN, YOUNG, SIZE, STALE and WAIT."""

    random: NDArray[np.uint64]
    """The state of the random numbers."""

    @classmethod
    def empty(cls, n: int, size: int, seed: int) -> "Population":
        """A population without choices, of at most ``size`` members."""
        return cls(
            masks=np.zeros((POOL + size, n), np.uint8),
            gains=np.zeros(n),
            tabu=np.zeros((2, n), np.int64),
            values=np.full(WORTH + size, LOWEST),
            counts=np.zeros(N_COUNTS, np.int64),
            random=np.array([seed], np.uint64),
        )


def least_entries(Q: Floats) -> Floats:
    """The least entry of each row, off the diagonal."""
    others = Q.copy()
    np.fill_diagonal(others, np.inf)
    return np.asarray(others.min(axis=1))


def _keep_best(
    islands: Sequence[Population],
    run: Run,
    best_value: float,
) -> float:
    """Store a choice of an island in the run if it is better than the best; return its value."""
    for island in islands:
        for value_place, mask_row in ((CROWN, CHAMPION), (BEST, WALK_BEST)):
            value = float(island.values[value_place])
            if value > best_value + MIN_IMPROVEMENT * abs(best_value):
                best_value = value
                run.keep(np.flatnonzero(island.masks[mask_row]))
    return best_value


def _counted_slices(entries_of_step: int, work: float) -> Iterator[int]:
    """Numbers of steps that read so many entries in all, at so many for each step."""
    n_steps = max(MIN_STEPS, int(work / entries_of_step))
    in_a_slice = max(MIN_STEPS, SLICE_ENTRIES // entries_of_step)
    for first in range(0, n_steps, in_a_slice):
        yield min(in_a_slice, n_steps - first)


def _timed_slices(n: int, run: Run) -> Iterator[int]:
    """Numbers of steps that take about a slice of time, to the deadline."""
    steps = min(MAX_FIRST_STEPS, MIN_STEPS + 1_000_000 // n)
    while True:
        start = perf_counter()
        yield steps
        if run.time_left <= 0:
            return
        seconds_of_step = (perf_counter() - start) / steps
        wanted_seconds = min(SLICE_SECONDS, run.time_left)
        steps = max(MIN_STEPS, min(4 * steps, int(wanted_seconds / seconds_of_step)))
