"""Kernels of LowRank: the k best items along many directions, each scored on the true matrix.

Directions come in an order in which neighbours are close: their best items differ by a swap or
two, and so do the values of their choices.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bestk.solvers._tabu import BLOCK, find_first, higher, lower


class Top(NamedTuple):
    """The k items of the highest score, and what they are worth."""

    chosen: NDArray[np.bool_]
    score: NDArray[np.float64]  # padded to whole blocks, like the next two
    leave: NDArray[np.float64]  # 0 for chosen items, inf for others
    enter: NDArray[np.float64]  # 0 for items not chosen, -inf for others
    low: NDArray[np.float64]  # of each block, the lowest score of a chosen item
    high: NDArray[np.float64]  # and the highest of another
    p: NDArray[np.float64]  # Q_ii + 2 sum of Q_ij over the other chosen j
    value: NDArray[np.float64]  # x'Qx
    total: NDArray[np.float64]  # sum of the rows of V that are chosen


@njit(cache=True, nogil=True)
def try_directions(Q: Any, V: Any, signs: Any, directions: Any, k: int, best: Any) -> float:
    """Write the best choice into ``best``; return its value.

    Along a direction c lie X = top_k(V'c) and, where a sign is negative, Y = top_k(V'SVx) and the
    best of their union; the last is looked at where X and Y are worth more together than before.
    """
    x, y = _first_k(Q, V, k), _first_k(Q, V, k)
    both_ways, record, pair = signs.min() < 0.0, -np.inf, -np.inf
    for c in directions:
        _follow(Q, V, c, x)
        record = _keep(x.chosen, x.value[0], record, best)
        if both_ways:
            _follow(Q, V, signs * x.total, y)
            record = _keep(y.chosen, y.value[0], record, best)
            if x.value[0] + y.value[0] > pair:
                pair = x.value[0] + y.value[0]
                union = x.chosen | y.chosen
                record = _keep(union, _thin_out(Q, k, union), record, best)
    return record


@njit(cache=True)
def _keep(chosen: Any, value: float, record: float, best: Any) -> float:
    if value > record:
        best[:] = chosen
        return value
    return record


@njit(cache=True)
def _first_k(Q: Any, V: Any, k: int) -> Any:
    """The first k items, as if they were the best."""
    n, n_blocks = len(Q), (len(Q) + BLOCK - 1) // BLOCK
    chosen = np.arange(n) < k
    leave, enter = np.full(n_blocks * BLOCK, np.inf), np.full(n_blocks * BLOCK, -np.inf)
    leave[:k], enter[k:n] = 0.0, 0.0
    score, total = np.zeros(n_blocks * BLOCK), V[:, :k].copy().sum(axis=1)
    p, value = np.zeros(n), np.zeros(1)
    value[0] = _gains(Q, chosen, p)
    low, high = np.zeros(n_blocks), np.zeros(n_blocks)
    return Top(chosen, score, leave, enter, low, high, p, value, total)


@njit(cache=True)
def _gains(Q: Any, chosen: Any, p: Any) -> float:
    """Set p; return x'Qx."""
    for i in range(len(p)):
        p[i] = -Q[i, i] if chosen[i] else Q[i, i]
    for j in range(len(p)):
        if chosen[j]:
            p += 2.0 * Q[j]
    value = 0.0
    for i in range(len(p)):
        if chosen[i]:
            value += (p[i] + Q[i, i]) / 2.0
    return value


@njit(cache=True)
def _thin_out(Q: Any, k: int, chosen: Any) -> float:
    """Drop what is missed least until k items are left; return their value."""
    p = np.empty(len(chosen))
    value = _gains(Q, chosen, p)
    for _ in range(chosen.sum() - k):
        worst = np.argmin(np.where(chosen, p, np.inf))
        value -= p[worst]
        chosen[worst] = False
        p -= 2.0 * Q[worst]
    return value


@njit(cache=True)
def _follow(Q: Any, V: Any, c: Any, top: Any) -> None:
    """Swap items until the choice holds the k highest scores along c."""
    project(V, c, top.score)
    for b in range(len(top.low)):
        _look_at(top, b)
    while True:
        low, high = top.low.min(), top.high.max()
        if high <= low:
            return
        u = find_first(top.score, top.leave, top.low, low)
        v = find_first(top.score, top.enter, top.high, high)
        _swap(Q, V, top, u, v)
        _look_at(top, u // BLOCK)
        _look_at(top, v // BLOCK)


@njit(cache=True)
def project(V: Any, c: Any, score: Any) -> None:
    """Set the scores V'c."""
    score[: V.shape[1]] = 0.0
    for j in range(len(V)):
        row, weight = V[j], c[j]
        for i in range(len(row)):
            score[i] += weight * row[i]


@njit(cache=True)
def _look_at(top: Any, b: int) -> None:
    """Find the extremes of a block."""
    score, leave, enter = top.score, top.leave, top.enter
    low, high = np.inf, -np.inf
    for j in range(BLOCK):
        at = np.uint64(b * BLOCK) + np.uint64(j)
        low, high = lower(low, score[at] + leave[at]), higher(high, score[at] + enter[at])
    top.low[b], top.high[b] = low, high


@njit(cache=True)
def _swap(Q: Any, V: Any, top: Any, u: int, v: int) -> None:
    """Let u go and v come."""
    p, out, into = top.p, Q[u], Q[v]
    top.value[0] += p[v] - p[u] - 2.0 * out[v]
    for i in range(len(p)):
        p[i] += 2.0 * (into[i] - out[i])
    p[u] += 2.0 * out[u]  # an item does not count itself
    p[v] -= 2.0 * into[v]
    top.chosen[u], top.leave[u], top.enter[u] = False, np.inf, 0.0
    top.chosen[v], top.leave[v], top.enter[v] = True, 0.0, -np.inf
    for j in range(len(V)):
        top.total[j] += V[j, v] - V[j, u]


@njit(cache=True, nogil=True)
def screen_directions(V: Any, signs: Any, directions: Any, ks: Any, worth: Any, kept: Any) -> None:
    """For each k, keep those directions whose k best items have the highest x'Q_d x.

    One order of the items serves every k: x'Q_d x is the signed square of a sum of rows of V.
    """
    n = V.shape[1]
    order, score, sorted_score = np.arange(n), np.zeros(n), np.zeros(n)
    least, before = np.full(len(ks), -np.inf), np.full(len(ks), np.inf)
    for t in range(len(directions)):
        project(V, directions[t], score)
        _sort(order, score, sorted_score)
        total, done = np.zeros(len(V)), 0
        for a in range(len(ks)):
            for r in range(done, ks[a]):
                for j in range(len(V)):
                    total[j] += V[j, order[r]]
            done = ks[a]
            proxy = (signs * total * total).sum()
            if proxy > least[a] and abs(proxy - before[a]) > 1e-12 * abs(proxy):
                last = worth[a].argmin()
                worth[a, last], kept[a, last] = proxy, t
                least[a] = worth[a].min()
            before[a] = proxy


@njit(cache=True)
def _sort(order: Any, score: Any, sorted_score: Any) -> None:
    """Sort items by falling score, by insertion: they are nearly in order."""
    for r in range(len(order)):
        item = order[r]
        s, at = score[item], r
        while at > 0 and sorted_score[at - 1] < s:
            sorted_score[at], order[at] = sorted_score[at - 1], order[at - 1]
            at -= 1
        sorted_score[at], order[at] = s, item
