"""Kernels of the search: a tabu walk from choice to choice, one swap at a time."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from bestk._kernels import kernel

BLOCK = 32  # items whose extremes are kept together
TENURE, TENURES = 15, np.array([1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1])
STEPS_A_TENURE = 100
LONGEST = 20  # times the depth: no walk goes on for longer
ROUNDING = 1e-13  # relative differences below this are none
VALUE, BEST = range(2)
STEP, IDLE, N_TABU = range(3)


class Walk(NamedTuple):
    """Where a walk stands."""

    chosen: NDArray[np.bool_]
    p: NDArray[np.float64]  # Q_ii + 2 sum of Q_ij over the other chosen items j
    leave: NDArray[np.float64]  # 0 for items that may leave the choice, inf for others
    enter: NDArray[np.float64]  # 0 for items that may enter it, -inf for others
    low: NDArray[np.float64]  # of each block of items, the lowest p of those that may leave
    high: NDArray[np.float64]  # and the highest of those that may enter
    until: NDArray[np.int64]  # step at which the tabu on an item ends, 0 if there is none
    tabu: NDArray[np.int64]  # the items under tabu
    near: NDArray[np.int64]  # scratch: items that a best swap may involve
    best: NDArray[np.bool_]  # choice of this walk
    values: NDArray[np.float64]  # of the choice, and of the best one
    counts: NDArray[np.int64]
    random: NDArray[np.uint64]


def _extreme(name: str) -> Callable[..., Any]:
    """The lower or higher of two numbers, told to LLVM so that loops over it use vectors."""

    @intrinsic
    def pick(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 2)
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return types.float64(types.float64, types.float64), codegen

    return pick


lower, higher = _extreme("llvm.minnum.f64"), _extreme("llvm.maxnum.f64")


@kernel
def draw(state: Any, below: int) -> Any:
    """A random whole number under ``below``, by xorshift."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(20)) % np.uint64(below))


@kernel
def set_out(Q: Any, walk: Any, value: float) -> None:
    """Begin a walk at the choice, of this value, whose p is known."""
    walk.until[:] = 0
    walk.counts[:] = 0
    for i in range(len(walk.p)):
        _open(walk, i)
    walk.values[:] = value
    walk.best[:] = walk.chosen
    _move(Q, walk, 0, 0)


@kernel
def stroll(Q: Any, least: Any, walk: Any, k: int, depth: int, steps: int) -> int:
    """Walk until no new best came for ``depth`` steps, or ``steps`` are spent; return the rest."""
    counts, values, others = walk.counts, walk.values, len(walk.p) - k
    lowest = least.min()
    while steps > 0 and counts[IDLE] < depth and counts[STEP] < LONGEST * depth:
        gain, u, v = _next_swap(Q, least, lowest, walk)
        steps -= 1
        counts[STEP] += 1
        counts[IDLE] += 1
        now = counts[STEP]
        tenure = TENURE * TENURES[now // STEPS_A_TENURE % len(TENURES)]
        walk.chosen[u], walk.chosen[v] = False, True
        _expire(walk, now)
        _forbid(walk, u, now, min(tenure, others // 2))
        _forbid(walk, v, now, min(tenure * 7 // 10, k // 2))
        _move(Q, walk, u, v)
        values[VALUE] += gain
        if values[VALUE] > values[BEST] + ROUNDING * abs(values[BEST]):
            values[BEST] = values[VALUE]
            counts[IDLE] = 0
            walk.best[:] = walk.chosen
    return steps


@kernel
def _next_swap(Q: Any, least: Any, lowest: float, walk: Any) -> tuple[float, int, int]:
    """The best swap that is allowed, or one under tabu that leads to a new best."""
    swap = _best_swap(Q, least, lowest, walk)
    wanted = walk.values[BEST] - walk.values[VALUE] + ROUNDING * abs(walk.values[BEST])
    if swap[0] > wanted or not _could_gain(walk, lowest, wanted):
        return swap
    tabu = walk.tabu[: walk.counts[N_TABU]]
    for i in tabu:
        _open(walk, i)
    _move(Q, walk, 0, 0)
    forbidden = _best_swap(Q, least, lowest, walk)
    for i in tabu:
        walk.leave[i], walk.enter[i] = np.inf, -np.inf
    return forbidden if forbidden[0] > wanted else swap


@kernel
def _could_gain(walk: Any, lowest: float, wanted: float) -> bool:
    """Whether a swap could gain more than that if there were no tabu."""
    low, high = walk.low.min(), walk.high.max()
    for i in walk.tabu[: walk.counts[N_TABU]]:
        if walk.chosen[i]:
            low = min(low, walk.p[i])
        else:
            high = max(high, walk.p[i])
    return high - low - 2.0 * lowest > wanted


@kernel
def _best_swap(Q: Any, least: Any, lowest: float, walk: Any) -> tuple[float, int, int]:
    """The best swap of items that may move, a random one of equals, and its gain.

    Swapping u for v gains p_v - p_u - 2 Q_uv, and Q_uv is not below the least entry of u, of v,
    nor of all: only a u of low and a v of high p can be in the best.
    """
    p, floor, ins, outs = walk.p, 2.0 * lowest, walk.near[0], walk.near[1]
    low, high = walk.low.min(), walk.high.max()
    rounding = ROUNDING * (abs(low) + abs(high))
    u, v = find_first(p, walk.leave, walk.low, low), find_first(p, walk.enter, walk.high, high)
    best = high - low - 2.0 * Q[u, v]
    n_in = _find(p, walk.leave, walk.low, 1.0, high - floor - best + rounding, ins)
    for a in ins[:n_in]:
        best = max(best, high - p[a] - 2.0 * Q[v, a])
    n_out = _find(p, walk.enter, walk.high, -1.0, rounding - low - floor - best, outs)
    for b in outs[:n_out]:
        best = max(best, p[b] - low - 2.0 * Q[u, b])
    n_out = _keep_high(p, least, best + low - rounding, outs, n_out)
    ties = 0
    for a in ins[:n_in]:
        p_a, row, floor = p[a], Q[a], 2.0 * least[a]
        if high - p_a - floor < best - rounding:
            continue
        for b in outs[:n_out]:
            if p[b] - p_a - floor < best - rounding:
                continue
            gain = p[b] - p_a - 2.0 * row[b]
            if gain >= best - rounding:
                ties = ties + 1 if gain <= best + rounding else 1
                best = max(best, gain)
                if ties == 1 or draw(walk.random, ties) == 0:
                    u, v = a, b
    return p[v] - p[u] - 2.0 * Q[u, v], u, v


@kernel
def _keep_high(p: Any, least: Any, limit: float, items: Any, n_items: int) -> int:
    """Keep the items that, by their own least entry, can reach ``limit``; return their number."""
    kept = 0
    for b in items[:n_items]:
        items[kept] = b
        kept += p[b] - 2.0 * least[b] >= limit
    return kept


@kernel
def find_first(p: Any, gate: Any, extreme: Any, wanted: float) -> int:
    """The first item that may move and has this p."""
    b = 0
    while extreme[b] != wanted:
        b += 1
    i = b * BLOCK
    while p[i] + gate[i] != wanted:
        i += 1
    return i


@kernel
def _find(p: Any, gate: Any, extreme: Any, sign: float, limit: float, found: Any) -> int:
    """Find the items that may move with sign * p of at most ``limit``; return their number."""
    n_found = 0
    for b in range(len(extreme)):
        if sign * extreme[b] <= limit:
            for i in range(b * BLOCK, min(len(p), (b + 1) * BLOCK)):
                found[n_found] = i
                n_found += sign * (p[i] + gate[i]) <= limit
    return n_found


@kernel
def _open(walk: Any, i: int) -> None:
    """Let an item move."""
    walk.leave[i] = 0.0 if walk.chosen[i] else np.inf
    walk.enter[i] = -np.inf if walk.chosen[i] else 0.0


@kernel
def _forbid(walk: Any, i: int, now: int, tenure: int) -> None:
    """Keep an item that has moved where it is for so many steps."""
    _open(walk, i)
    if tenure > 0:
        walk.leave[i], walk.enter[i] = np.inf, -np.inf
        if walk.until[i] == 0:
            walk.tabu[walk.counts[N_TABU]] = i
            walk.counts[N_TABU] += 1
        walk.until[i] = now + tenure


@kernel
def _expire(walk: Any, now: int) -> None:
    """Let those items move whose tabu is over."""
    counts, j = walk.counts, 0
    while j < counts[N_TABU]:
        i = walk.tabu[j]
        if walk.until[i] <= now:
            counts[N_TABU] -= 1
            walk.tabu[j] = walk.tabu[counts[N_TABU]]
            walk.until[i] = 0
            _open(walk, i)
        else:
            j += 1


@kernel
def _move(Q: Any, walk: Any, u: int, v: int) -> None:
    """Swap u for v in p; find the extremes over the items that may leave or enter."""
    if u != v:
        walk.p[u] += 2.0 * Q[u, u]  # an item does not count itself
        walk.p[v] -= 2.0 * Q[v, v]
    _update(walk.p, Q[u], Q[v], walk.leave, walk.enter, walk.low, walk.high)


@kernel
def _update(p: Any, out: Any, into: Any, leave: Any, enter: Any, low: Any, high: Any) -> None:
    low[-1], high[-1] = np.inf, -np.inf
    for i in range(len(p) // BLOCK * BLOCK, len(p)):
        p[i] += 2.0 * (into[i] - out[i])
        low[-1], high[-1] = min(low[-1], p[i] + leave[i]), max(high[-1], p[i] + enter[i])
    for b in range(len(p) // BLOCK):
        least, most = np.inf, -np.inf
        for j in range(BLOCK):  # unsigned, and of a known length: four times faster
            at = np.uint64(b * BLOCK) + np.uint64(j)
            x = p[at] + 2.0 * (into[at] - out[at])
            p[at] = x
            least, most = lower(least, x + leave[at]), higher(most, x + enter[at])
        low[b], high[b] = least, most
