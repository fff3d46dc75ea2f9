"""Kernels of the search: tabu walks over swaps, and the populations that they feed."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Masks = NDArray[np.bool_]

BLOCK = 64  # items whose extremes are kept together
NEVER = 1 << 60  # a step that no walk reaches
TENURE, TENURES = 15, np.array([1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1])
STEP, IDLE, BORN, YOUNG, SIZE, STALE, PATIENCE = range(7)  # counters of an island
VALUE, BEST, CHAMPION = range(3)  # values of an island


class Matrix(NamedTuple):
    """Q and what is known of its entries."""

    Q: Floats
    least: float  # off the diagonal
    rounding: float  # a change of the value that is none


class Rules(NamedTuple):
    """How long an island works."""

    depth: int  # steps of a walk without a new best
    patience: int  # walks of an island without a new champion
    restart: int  # walks that leave a population as it is before it is given up


class Island(NamedTuple):
    """A population, its champion, and the walk of its newest member."""

    p: Floats  # Q_ii + 2 sum of Q_ij over the other chosen items j
    may_leave: Ints  # step from which an item may leave the choice, NEVER if it is not in it
    may_enter: Ints  # step from which it may enter, NEVER if it is in
    best: Masks  # of this walk
    champion: Masks
    pool: Masks
    worth: Floats  # of the members of the pool
    counts: Ints
    values: Floats
    key: Floats  # scratch: p of the items that may leave and of those that may enter
    extreme: Floats  # scratch: of each block of them
    near: Ints  # scratch: items that a best swap may involve
    random: NDArray[np.uint64]


@njit(cache=True)
def _draw(state: Any, below: int) -> int:
    """A random whole number under ``below``, by xorshift."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(20)) % np.uint64(below))


@njit(cache=True, fastmath={"nnan", "nsz"})
def _move(Q: Any, isle: Any, u: int, v: int, now: int) -> tuple[float, float]:
    """Swap u for v in p, and note p of the items that may leave or enter at step ``now``.

    Return the lowest p of all that are in the choice and the highest of all that are not.
    """
    p, leave, enter = isle.p, isle.may_leave, isle.may_enter
    out, into, n = Q[u], Q[v], len(isle.p)
    if u != v:
        p[u] += 2.0 * Q[u, u]  # an item does not count itself
        p[v] -= 2.0 * Q[v, v]
    lowest, highest = np.inf, -np.inf
    for b in range((n + BLOCK - 1) // BLOCK):
        low, high = np.inf, -np.inf
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            p[i] += 2.0 * (into[i] - out[i])
            chosen = p[i] if leave[i] < NEVER else np.inf
            other = p[i] if enter[i] < NEVER else -np.inf
            lowest, highest = min(lowest, chosen), max(highest, other)
            chosen = chosen if leave[i] <= now else np.inf
            other = other if enter[i] <= now else -np.inf
            isle.key[0, i], isle.key[1, i] = chosen, other
            low, high = min(low, chosen), max(high, other)
        isle.extreme[0, b], isle.extreme[1, b] = low, high
    return lowest, highest


@njit(cache=True)
def _best_swap(matrix: Any, isle: Any) -> tuple[float, int, int]:
    """The best swap of items that may move, a random one of equals, and its gain.

    The gain is p_v - p_u - 2 Q_uv, at most p_v - p_u - 2 least: only u of low and v of high p
    can be in it.
    """
    Q, floor, near = matrix.Q, 2.0 * matrix.least, isle.near
    low, high = isle.extreme[0].min(), isle.extreme[1].max()
    if low == np.inf or high == -np.inf:
        return -np.inf, 0, 0
    u, v = _where(isle.key[0], isle.extreme[0], low), _where(isle.key[1], isle.extreme[1], high)
    best = high - low - 2.0 * Q[u, v]
    n_in = _under(isle.key[0], isle.extreme[0], high - floor - best, near[0])
    for a in near[0, :n_in]:
        best = max(best, high - isle.key[0, a] - 2.0 * Q[a, v])
    n_out = _over(isle.key[1], isle.extreme[1], low + floor + best, near[1])
    for b in near[1, :n_out]:
        best = max(best, isle.key[1, b] - low - 2.0 * Q[u, b])
    ties = 0
    for a in near[0, :n_in]:
        p_a, row = isle.key[0, a], Q[a]
        if high - p_a - floor < best - matrix.rounding:
            continue
        for b in near[1, :n_out]:
            reach = isle.key[1, b] - p_a
            if reach - floor < best - matrix.rounding:
                continue
            gain = reach - 2.0 * row[b]
            if gain >= best - matrix.rounding:
                ties = ties + 1 if gain <= best + matrix.rounding else 1
                best = max(best, gain)
                if ties == 1 or _draw(isle.random, ties) == 0:
                    u, v = a, b
    return isle.key[1, v] - isle.key[0, u] - 2.0 * Q[u, v], u, v


@njit(cache=True)
def _where(key: Any, extreme: Any, wanted: float) -> int:
    """The first item of this key."""
    b = 0
    while extreme[b] != wanted:
        b += 1
    i = b * BLOCK
    while key[i] != wanted:
        i += 1
    return i


@njit(cache=True)
def _under(key: Any, extreme: Any, limit: float, found: Any) -> int:
    """Find the items with a key of at most ``limit``; return how many they are."""
    n_found = 0
    for b in range(len(extreme)):
        if extreme[b] <= limit:
            for i in range(b * BLOCK, min(len(key), (b + 1) * BLOCK)):
                found[n_found] = i
                n_found += key[i] <= limit
    return n_found


@njit(cache=True)
def _over(key: Any, extreme: Any, limit: float, found: Any) -> int:
    """Find the items with a key of at least ``limit``; return how many they are."""
    n_found = 0
    for b in range(len(extreme)):
        if extreme[b] >= limit:
            for i in range(b * BLOCK, min(len(key), (b + 1) * BLOCK)):
                found[n_found] = i
                n_found += key[i] >= limit
    return n_found


@njit(cache=True)
def _walk(matrix: Any, isle: Any, k: int, depth: int, steps: int) -> int:
    """Walk until no new best came for ``depth`` steps, or ``steps`` are spent; return the rest."""
    counts, values, n = isle.counts, isle.values, len(isle.p)
    lowest, highest = _move(matrix.Q, isle, 0, 0, counts[STEP])
    while steps > 0 and counts[IDLE] < depth:
        steps -= 1
        gain, u, v = _best_swap(matrix, isle)
        wanted = values[BEST] - values[VALUE] + matrix.rounding
        if gain <= wanted and highest - lowest - 2.0 * matrix.least > wanted:
            _move(matrix.Q, isle, 0, 0, NEVER - 1)  # a new best may break the tabu
            free_gain, free_u, free_v = _best_swap(matrix, isle)
            if free_gain > wanted:
                gain, u, v = free_gain, free_u, free_v
        counts[STEP] += 1
        counts[IDLE] += 1
        now = counts[STEP]
        if gain > -np.inf:
            tenure = TENURE * TENURES[now // 100 % len(TENURES)]
            isle.may_leave[u], isle.may_enter[u] = NEVER, now + min(tenure, (n - k) // 2)
            isle.may_enter[v], isle.may_leave[v] = NEVER, now + min(tenure * 7 // 10, k // 2)
            values[VALUE] += gain
            lowest, highest = _move(matrix.Q, isle, u, v, now)
            if values[VALUE] > values[BEST] + matrix.rounding:
                values[BEST] = values[VALUE]
                counts[IDLE] = 0
                isle.best[:] = isle.may_leave < NEVER
    return steps


@njit(cache=True)
def _set_out(Q: Any, isle: Any, chosen: Any) -> None:
    """Begin a walk at a choice."""
    _gains(Q, chosen, isle.p)
    total = 0.0
    for i in range(len(chosen)):
        isle.may_leave[i] = 0 if chosen[i] else NEVER
        isle.may_enter[i] = NEVER if chosen[i] else 0
        if chosen[i]:
            total += (isle.p[i] + Q[i, i]) / 2.0
    isle.best[:] = chosen
    isle.values[VALUE] = isle.values[BEST] = total
    isle.counts[STEP] = isle.counts[IDLE] = 0


@njit(cache=True)
def _gains(Q: Any, chosen: Any, p: Any) -> None:
    """p_i = Q_ii + 2 sum of Q_ij over the other chosen j."""
    n = len(p)
    for i in range(n):
        p[i] = -Q[i, i] if chosen[i] else Q[i, i]
    for j in range(n):
        if chosen[j]:
            row = Q[j]
            for i in range(n):
                p[i] += 2.0 * row[i]


@njit(cache=True)
def _choose_at_random(chosen: Any, k: int, random: Any) -> None:
    chosen[:] = False
    for last in range(len(chosen) - k, len(chosen)):  # Floyd's sample
        i = _draw(random, last + 1)
        chosen[last if chosen[i] else i] = True


@njit(cache=True)
def _cross(Q: Any, isle: Any, k: int, chosen: Any) -> None:
    """Keep what two parents share; fill up with the best of one or the other, at random."""
    size, p = isle.counts[SIZE], isle.p
    first = _draw(isle.random, size)
    second = (first + 1 + _draw(isle.random, size - 1)) % size
    one, two = isle.pool[first], isle.pool[second]
    chosen[:] = one & two
    _gains(Q, chosen, p)
    for _ in range(k - chosen.sum()):
        parent = one if _draw(isle.random, 2) == 0 else two
        best = -1
        for i in range(len(p)):
            if parent[i] and not chosen[i] and (best < 0 or p[i] > p[best]):
                best = i
        chosen[best] = True
        p += 2.0 * Q[best]
    

@njit(cache=True)
def _settle(isle: Any, rounding: float) -> None:
    """Let the best of a walk into the population if it is new and good enough."""
    counts, value, size = isle.counts, isle.values[BEST], isle.counts[SIZE]
    counts[BORN] += 1
    counts[STALE] += 1
    counts[PATIENCE] += 1
    if value > isle.values[CHAMPION] + rounding:
        isle.values[CHAMPION] = value
        isle.champion[:] = isle.best
        counts[PATIENCE] = 0
    for m in range(size):
        if abs(isle.worth[m] - value) <= rounding and (isle.pool[m] == isle.best).all():
            return
    place = size if size < len(isle.worth) else np.argmin(isle.worth)
    if size == len(isle.worth) and value <= isle.worth[place]:
        return
    isle.pool[place] = isle.best
    isle.worth[place] = value
    counts[SIZE] = max(size, place + 1)
    counts[STALE] = 0


@njit(cache=True)
def _next_start(Q: Any, isle: Any, starts: Any, k: int, restart: int) -> None:
    counts, chosen = isle.counts, np.empty(len(isle.p), np.bool_)
    if counts[STALE] >= restart:
        counts[SIZE] = counts[STALE] = counts[YOUNG] = 0
    if counts[BORN] < len(starts):
        chosen[:] = starts[counts[BORN]]
    elif counts[YOUNG] < len(isle.worth) or counts[SIZE] < 2:
        _choose_at_random(chosen, k, isle.random)
    else:
        _cross(Q, isle, k, chosen)
    counts[YOUNG] += 1
    _set_out(Q, isle, chosen)


@njit(cache=True, parallel=True)
def advance(matrix: Any, isles: Any, starts: Any, k: int, rules: Any, steps: int) -> None:
    """Let every island make so many steps more."""
    for s in prange(len(isles.p)):
        isle = Island(
            isles.p[s], isles.may_leave[s], isles.may_enter[s], isles.best[s], isles.champion[s],
            isles.pool[s], isles.worth[s], isles.counts[s], isles.values[s], isles.key[s],
            isles.extreme[s], isles.near[s], isles.random[s],
        )
        left = steps
        while left > 0 and isle.counts[PATIENCE] < rules.patience:
            if isle.counts[IDLE] >= rules.depth:
                if isle.counts[YOUNG] > 0:
                    _settle(isle, matrix.rounding)
                _next_start(matrix.Q, isle, starts[s::len(isles.p)], k, rules.restart)
                left -= k
            left = _walk(matrix, isle, k, rules.depth, left)
