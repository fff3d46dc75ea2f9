"""Memetic tabu search: populations of choices, improved by swapping one item for another."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import repeat
from time import perf_counter
from typing import ClassVar, Literal

import numpy as np

from bestk.native.threads import n_threads
from bestk.problem.problem import BQP
from bestk.solvers._base import Floats, Indices, Run, best_first, top_k
from bestk.solvers._islands import (
    BORN,
    LOWEST,
    ROUNDING,
    WAIT,
    Island,
    Masks,
    Sea,
    advance,
    least_entries,
    new_island,
)

Work = Callable[[int, int], None]  # number of an island, steps
SLICE_SECONDS = 0.015  # work between two looks at the clock and the keyboard
PATH_SHARE = 2  # a path of many k may take as long as so many single ones
NEGATIVE_PRICE = 16  # entries below 0 leave more swaps to look at in a step
PATIENCE_IN_TIME = 100  # times the patience, where a time limit ends the search
CORE, STRIP = 256, 64  # items of the core of a lazy problem, columns asked for at once


@dataclass(frozen=True)
class Search:
    """Walk from choice to choice by the best swap, and breed the best choices found.

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
        Populations that know nothing of each other, each in a thread of its own where there are
        so many. The answer depends on their number, not on the number of threads.
    depth : int, default=5
        A walk ends after ``depth * n`` steps without a new best.
    patience : int, default=50
        An island ends after so many walks without a new best; with a time limit, after a hundred
        times as many. With no time limit, the same seed gives the same answer.
    work : float, default=1.5e9
        With no time limit, the search ends when so many entries of Q have been read, about: some
        seconds. Few problems below a thousand items come that far.

    References
    ----------
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
    needs: ClassVar[Literal["matrix", "columns", "products"]] = "columns"

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
        Q, n, k = by_rows(problem.Q), problem.n, problem.k
        seeds = run.rng.integers(1, 2**63, self.islands)
        isles = [new_island(n, self.population, int(seed)) for seed in seeds]
        starts = _as_masks([*run.starts, top_k(Q.sum(axis=1), k), []], n)
        shares = [starts[i :: self.islands].copy() for i in range(self.islands)]
        sea = Sea(Q, least_entries(Q), k, self.depth * n, patience)
        best = _known(problem, run)

        def work(i: int, steps: int) -> None:
            advance(sea, isles[i], shares[i], steps)

        with _threads(self.islands) as in_threads:
            price = n * self.islands * (NEGATIVE_PRICE if sea.least.min() < 0 else 1)
            for steps in _slices(n, run, self.work / price):
                in_threads(work, steps)
                best = _report(isles, run, best)
                if all(isle.counts[WAIT] >= patience for isle in isles):
                    break
        run.report["walks"] = int(sum(isle.counts[BORN] for isle in isles))
        return np.asarray(run.report["incumbent"], np.int64)

    def _pick_lazy(self, problem: BQP, run: Run) -> Indices:
        """Search the core: the choice, and the items that would add most to it; then its core."""
        chosen = _best_start(problem, run)
        seen = np.zeros(problem.n, np.bool_)
        size = min(problem.n, problem.k + max(CORE, min(3 * problem.k, 16 * CORE)))
        while run.time_left > 0:
            run.report["incumbent"] = chosen
            gains = _gains(problem, chosen)
            value = (gains + problem.diagonal)[chosen].sum() / 2
            gains[chosen] = np.inf
            core = top_k(gains, size)
            if seen[core].all():
                break
            seen[core] = True
            inner = BQP(_block(problem, core), problem.k)
            inner_run = Run(run.rng, run.deadline, [np.arange(problem.k)])
            found = self._pick_dense(inner, inner_run, self.patience)
            if inner.value(found) <= value + ROUNDING * abs(value):
                break
            chosen = core[found]
        return chosen


def by_rows(Q: Floats) -> Floats:
    """Q to read only, so that its rows lie in one piece; by symmetry its columns do as well."""
    rows = (Q.T if Q.flags.f_contiguous else np.ascontiguousarray(Q)).view()
    rows.flags.writeable = False
    return rows


def _as_masks(choices: Sequence[Sequence[int] | Indices], n: int) -> Masks:
    masks = np.zeros((len(choices), n), np.uint8)
    for mask, items in zip(masks, choices, strict=True):
        mask[_items(items, n)] = 1
    return masks


def _items(items: Sequence[int] | Indices, n: int) -> Indices:
    """Those of the items that there are, once each."""
    unique = np.unique(np.asarray(items, np.int64))
    return unique[(unique >= 0) & (unique < n)]


def _known(problem: BQP, run: Run) -> float:
    """The value of the best choice that the run knows of."""
    known = run.report.get("incumbent")
    return LOWEST if known is None else problem.value(known)


def _report(isles: Sequence[Island], run: Run, best: float) -> float:
    """Tell the run of a new best choice."""
    for isle in isles:
        for value, choice in isle.bests:
            if value > best + ROUNDING * abs(best):
                best = float(value)
                run.report["incumbent"] = np.flatnonzero(choice)
    return best


def _slices(n: int, run: Run, most: float) -> Iterator[int]:
    """Numbers of steps that take about a slice of time; to the deadline, else ``most`` in all."""
    left = np.inf if np.isfinite(run.deadline) else max(64, int(most))
    steps = min(4096, 64 + 1_000_000 // n)
    while True:
        start, steps = perf_counter(), int(min(steps, left))
        yield steps
        left -= steps
        if run.time_left <= 0 or left <= 0:
            return
        pace = (perf_counter() - start) / steps
        wanted = min(SLICE_SECONDS, run.time_left)
        steps = max(64, min(4 * steps, int(wanted / pace)))


@contextmanager
def _threads(count: int) -> Iterator[Callable[[Work, int], object]]:
    """A way to do ``count`` pieces of work in as many threads as allowed."""
    team = min(count, n_threads())
    if team < 2:
        yield lambda work, steps: list(map(work, range(count), repeat(steps)))
        return
    with ThreadPoolExecutor(team) as pool:
        yield lambda work, steps: list(pool.map(work, range(count), repeat(steps)))


def _best_start(problem: BQP, run: Run) -> Indices:
    """The best of the starts, or a greedy one where there is none."""
    starts = run.starts or [np.empty(0, np.int64)]
    choices = [_repair(problem, run, _items(items, problem.n)) for items in starts]
    return max(choices, key=problem.value) if len(choices) > 1 else choices[0]


def _repair(problem: BQP, run: Run, items: Indices) -> Indices:
    """Drop what is missed least, or add what helps most, until k items are chosen."""
    chosen = list(items)
    gains = _gains(problem, items)
    if len(items) > problem.k:
        chosen = list(items[top_k(gains[items], problem.k)])
    while len(chosen) < problem.k:
        gains[chosen] = -np.inf
        added = top_k(gains, 1 if run.time_left > 0 else problem.k - len(chosen))
        chosen.extend(added)
        gains += 2 * problem.columns(added[:1])[:, 0]
    return np.sort(np.array(chosen, np.int64))


def _gains(problem: BQP, items: Indices) -> Floats:
    """As ``problem.gains``, with a few columns at a time."""
    gains = problem.diagonal.copy()
    gains[items] *= -1
    for start in range(0, len(items), STRIP):
        gains += 2 * problem.columns(items[start : start + STRIP]).sum(axis=1)
    return gains


def _block(problem: BQP, items: Indices) -> Floats:
    """Rows and columns of those items."""
    strips = range(0, len(items), STRIP)
    return np.hstack([problem.columns(items[i : i + STRIP])[items] for i in strips])
