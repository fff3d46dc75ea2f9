"""Kernels of the search: a population of choices, and the walks that improve its children."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel
from bestk.solvers._tabu import BLOCK, ROUNDING, Walk, draw, lower, set_out, stroll

RESTART = 20  # walks that leave a population as it is before a new one takes its place
LOWEST = -np.finfo(np.float64).max
BORN, YOUNG, SIZE, STALE, WAIT = range(5)


class Island(NamedTuple):
    """A population, the best choice it ever had, and the walk of its newest child."""

    walk: Walk
    pool: NDArray[np.bool_]
    worth: NDArray[np.float64]  # values of the pool
    champion: NDArray[np.bool_]
    crown: NDArray[np.float64]  # value of the champion
    tally: NDArray[np.int64]  # walks: ever, in this population, in the pool, since it changed,
    # and since the champion did


def new_island(n: int, population: int, seed: int) -> Island:
    """An island without people."""
    n_blocks = -(-n // BLOCK)
    walk = Walk(
        chosen=np.zeros(n, np.bool_),
        p=np.zeros(n),
        leave=np.zeros(n),
        enter=np.zeros(n),
        low=np.zeros(n_blocks),
        high=np.zeros(n_blocks),
        until=np.zeros(n, np.int64),
        tabu=np.zeros(n, np.int64),
        near=np.zeros((2, n), np.int64),
        best=np.zeros(n, np.bool_),
        values=np.full(2, LOWEST),
        counts=np.zeros(3, np.int64),
        random=np.array([seed], np.uint64),
    )
    pool, worth = np.zeros((population, n), np.bool_), np.zeros(population)
    tally = np.zeros(5, np.int64)
    return Island(walk, pool, worth, np.zeros(n, np.bool_), np.full(1, LOWEST), tally)


@kernel(nogil=True)
def advance(
    Q: Any, least: Any, k: int, isle: Any, starts: Any, depth: int, patience: int, steps: int
) -> None:
    """Let an island make so many steps more, or until its patience ends."""
    tally = isle.tally
    if tally[BORN] == 0:
        _begin(Q, k, isle, starts)
    while steps > 0 and tally[WAIT] < patience:
        steps = stroll(Q, least, isle.walk, k, depth, steps)
        if steps > 0:  # the walk is over
            _settle(Q, isle)
            _begin(Q, k, isle, starts)
            steps -= k


@kernel
def _begin(Q: Any, k: int, isle: Any, starts: Any) -> None:
    """Set out from a start that was given, a random choice, or a child of two parents."""
    walk, tally = isle.walk, isle.tally
    if tally[STALE] >= RESTART:
        tally[SIZE] = tally[STALE] = tally[YOUNG] = 0
    if tally[BORN] < len(starts):
        walk.chosen[:] = starts[tally[BORN]]
        _repair(Q, k, walk)
    elif tally[YOUNG] < len(isle.worth) or tally[SIZE] < 2:
        _choose_any(k, walk)
    else:
        _cross(Q, k, isle)
    tally[BORN] += 1
    tally[YOUNG] += 1
    set_out(Q, walk, _value(Q, walk.chosen, walk.p))


@kernel
def _settle(Q: Any, isle: Any) -> None:
    """Let the best of a walk into the population if it is new and good enough."""
    tally, worth, best = isle.tally, isle.worth, isle.walk.best
    value = _value(Q, best, isle.walk.p)
    tally[STALE] += 1
    tally[WAIT] += 1
    if value > isle.crown[0] + ROUNDING * abs(isle.crown[0]):
        isle.crown[0] = value
        isle.champion[:] = best
        tally[WAIT] = 0
    for member in range(tally[SIZE]):
        if worth[member] == value and (isle.pool[member] == best).all():
            return
    full = tally[SIZE] == len(worth)
    place = np.argmin(worth) if full else tally[SIZE]
    if not full or value > worth[place]:
        isle.pool[place] = best
        worth[place] = value
        tally[SIZE] += not full
        tally[STALE] = 0


@kernel
def _value(Q: Any, chosen: Any, p: Any) -> float:
    """The objective; on the way, set p_i = Q_ii + 2 sum of Q_ij over the other chosen j."""
    for i in range(len(p)):
        p[i] = -Q[i, i] if chosen[i] else Q[i, i]
    for j in range(len(p)):
        if chosen[j]:
            _add_row(p, Q[j], 2.0)
    value = 0.0
    for i in range(len(p)):
        if chosen[i]:
            value += (p[i] + Q[i, i]) / 2.0
    return value


@kernel
def _add_row(p: Any, row: Any, weight: float) -> None:
    for i in range(len(p)):
        p[i] += weight * row[i]


@kernel
def _choose_any(k: int, walk: Any) -> None:
    """Any k items, by Floyd's rule."""
    n = len(walk.chosen)
    walk.chosen[:] = False
    for last in range(n - k, n):
        i = draw(walk.random, last + 1)
        walk.chosen[last if walk.chosen[i] else i] = True


@kernel
def _repair(Q: Any, k: int, walk: Any) -> None:
    """Drop what is missed least, or add what helps most, until k items are chosen."""
    chosen, p, anyone = walk.chosen, walk.p, np.ones(len(walk.p), np.bool_)
    _value(Q, chosen, p)
    for _ in range(chosen.sum() - k):
        worst = np.argmin(np.where(chosen, p, np.inf))
        chosen[worst] = False
        _add_row(p, Q[worst], -2.0)
    for _ in range(k - chosen.sum()):
        _add_best(Q, walk, anyone)


@kernel
def _cross(Q: Any, k: int, isle: Any) -> None:
    """Keep what two parents share; fill up with the best of one or the other, at random."""
    walk, size = isle.walk, isle.tally[SIZE]
    mother = draw(walk.random, size)
    father = (mother + 1 + draw(walk.random, size - 1)) % size
    walk.chosen[:] = isle.pool[mother] & isle.pool[father]
    _value(Q, walk.chosen, walk.p)
    for _ in range(k - walk.chosen.sum()):
        _add_best(Q, walk, isle.pool[mother if draw(walk.random, 2) == 0 else father])


@kernel
def _add_best(Q: Any, walk: Any, allowed: Any) -> None:
    """Choose the item of the highest p among those allowed."""
    best = -1
    for i in range(len(allowed)):
        if allowed[i] and not walk.chosen[i] and (best < 0 or walk.p[i] > walk.p[best]):
            best = i
    walk.chosen[best] = True
    _add_row(walk.p, Q[best], 2.0)


@kernel(nogil=True)
def least_entries(Q: Any) -> Any:
    """The least entry of each row, off the diagonal."""
    least = np.full(len(Q), np.inf)
    for i in range(len(Q)):
        row, lowest = Q[i], np.inf
        for j in range(i):
            lowest = lower(lowest, row[j])
        for j in range(i + 1, len(row)):
            lowest = lower(lowest, row[j])
        least[i] = lowest
    return least
