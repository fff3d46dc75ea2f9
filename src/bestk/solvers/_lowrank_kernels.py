"""Kernels of LowRank: the k best items along many directions, each scored on the true matrix.

Directions come in an order in which neighbours are close: their best items differ by a swap or
two, and so do the values of their choices. Within a small angle only few items can be among the
best at all, and only those are looked at.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel
from bestk.solvers._tabu import higher, lower

RADIUS = 0.02  # of the cone of directions that share their candidates


class Top(NamedTuple):
    """The k items of the highest score, and what they are worth.

    ``items``, ``V`` and ``score`` hold the candidates: first the k chosen, then the others,
    ``many`` in all.
    """

    chosen: NDArray[np.bool_]  # of all items
    norms: NDArray[np.float64]  # distances of the columns of V from their mean
    centre: NDArray[np.float64]  # of the cone that the candidates are good for
    many: NDArray[np.int64]
    items: NDArray[np.int64]
    V: NDArray[np.float64]  # [coordinate, candidate]
    score: NDArray[np.float64]
    value: NDArray[np.float64]  # x'Qx
    total: NDArray[np.float64]  # sum of the columns of V that are chosen


@kernel(nogil=True)
def try_directions(Q: Any, V: Any, signs: Any, directions: Any, k: int, best: Any) -> float:
    """Write the best choice into ``best``; return its value.

    Along a direction c lie X = top_k(V'c) and, where a sign is negative, Y = top_k(V'SVx) and the
    best of their union; the last is looked at where X and Y are worth more together than before.
    """
    x, y = _first_k(Q, V, k), _first_k(Q, V, k)
    both_ways, record, pair = signs.min() < 0.0, -np.inf, -np.inf
    for c in directions:
        _follow(Q, V, c, x, k)
        record = _keep(x.chosen, x.value[0], record, best)
        if both_ways:
            _follow(Q, V, signs * x.total, y, k)
            record = _keep(y.chosen, y.value[0], record, best)
            if x.value[0] + y.value[0] > pair:
                pair = x.value[0] + y.value[0]
                union = x.chosen | y.chosen
                record = _keep(union, _thin_out(Q, k, union), record, best)
    return record


@kernel
def _keep(chosen: Any, value: float, record: float, best: Any) -> float:
    if value > record:
        best[:] = chosen
        return value
    return record


@kernel
def _first_k(Q: Any, V: Any, k: int) -> Any:
    """The first k items, as if they were the best; candidates are still to be found."""
    d, n = V.shape
    norms, chosen = spread(V), np.arange(n) < k
    top = Top(
        chosen, norms, np.full(d, np.inf), np.zeros(1, np.int64), np.arange(n), np.zeros((d, n)),
        np.zeros(n), np.zeros(1), V[:, :k].copy().sum(axis=1),
    )  # fmt: skip
    top.value[0] = _worth(Q, top.items[:k])
    return top


@kernel
def _worth(Q: Any, items: Any) -> float:
    """The value x'Qx of some items."""
    value = 0.0
    for i in items:
        for j in items:
            value += Q[i, j]
    return value


@kernel
def _thin_out(Q: Any, k: int, chosen: Any) -> float:
    """Drop what is missed least until k items are left; return their value."""
    items = np.flatnonzero(chosen)
    p = np.empty(len(items))
    for q in range(len(items)):
        i = items[q]
        p[q] = -Q[i, i]
        for j in items:
            p[q] += 2.0 * Q[i, j]
    for _ in range(len(items) - k):
        worst = np.argmin(p)
        chosen[items[worst]] = False
        p[worst] = np.inf
        for q in range(len(items)):
            p[q] -= 2.0 * Q[items[worst], items[q]]
    return _worth(Q, np.flatnonzero(chosen))


@kernel
def _follow(Q: Any, V: Any, c: Any, top: Any, k: int) -> None:
    """Swap items until the choice holds the k highest scores along c."""
    if not _near(c, top.centre):
        top.centre[:] = c / max(np.sqrt((c * c).sum()), 1e-300)
        top.many[0] = find_candidates(V, top.norms, top.centre, k, top.items, top.V)
    count, score = top.many[0], top.score
    project(top.V, c, score, count)
    while True:
        low, high = np.inf, -np.inf
        for q in range(k):
            low = lower(low, score[q])
        for q in range(k, count):
            high = higher(high, score[q])
        if high <= low:
            return
        u, v = 0, k
        while score[u] != low:
            u += 1
        while score[v] != high:
            v += 1
        _swap(Q, top, k, u, v)


@kernel
def _near(c: Any, centre: Any) -> bool:
    """Whether a direction lies in the cone around the centre."""
    length, apart = 0.0, 0.0
    for j in range(len(c)):
        length += c[j] * c[j]
    length = max(np.sqrt(length), 1e-300)
    for j in range(len(c)):
        apart += (c[j] / length - centre[j]) ** 2
    return apart <= RADIUS * RADIUS


@kernel
def spread(V: Any) -> Any:
    """How far each column of V is from their mean."""
    d, n = V.shape
    norms = np.zeros(n)
    for j in range(d):
        norms += (V[j] - V[j].mean()) ** 2
    return np.sqrt(norms)


@kernel
def find_candidates(V: Any, norms: Any, centre: Any, k: int, items: Any, near: Any) -> int:
    """Keep the first k items, and add those that may be above one of them near the centre.

    Within the radius r, the score of an item, but for a constant that all share, lies within r
    times its norm of that at the centre.
    """
    n = V.shape[1]
    score, first = np.zeros(n), np.zeros(n, np.bool_)
    project(V, centre, score, n)
    least, size = np.inf, 0.0
    for q in range(k):
        i = items[q]
        first[i] = True
        least = min(least, score[i] - RADIUS * norms[i])
        size = max(size, abs(score[i]))
    least -= 1e-9 * (abs(least) + size)
    count = k
    for i in range(n):
        if score[i] + RADIUS * norms[i] >= least and not first[i]:
            items[count] = i
            count += 1
    for j in range(len(V)):
        for q in range(count):
            near[j, q] = V[j, items[q]]
    return count


@kernel
def project(V: Any, c: Any, score: Any, count: int) -> None:
    """Set the scores V'c of the first columns of V."""
    score[:count] = 0.0
    for j in range(len(V)):
        row, weight = V[j], c[j]
        for q in range(count):
            score[q] += weight * row[q]


@kernel
def _swap(Q: Any, top: Any, k: int, u: int, v: int) -> None:
    """Let candidate u go and v come."""
    items, score = top.items, top.score
    out, into = items[u], items[v]
    gone, come = 0.0, 0.0
    for q in range(k):
        gone += Q[out, items[q]]
        come += Q[into, items[q]]
    # p_v - p_u - 2 Q_uv, where an item does not count itself
    top.value[0] += Q[into, into] + 2 * come - 2 * gone + Q[out, out] - 2 * Q[out, into]
    top.chosen[out], top.chosen[into] = False, True
    items[u], items[v] = into, out
    score[u], score[v] = score[v], score[u]
    for j in range(len(top.V)):
        top.total[j] += top.V[j, v] - top.V[j, u]
        top.V[j, u], top.V[j, v] = top.V[j, v], top.V[j, u]


@kernel(nogil=True)
def screen_directions(V: Any, signs: Any, directions: Any, ks: Any, worth: Any, kept: Any) -> None:
    """For each k, keep those directions whose k best items have the highest x'Q_d x.

    One order of the items serves every k: x'Q_d x is the signed square of a sum of columns of V.
    """
    d, n = V.shape
    norms, most = spread(V), ks[-1]
    items, near, count = np.arange(n), np.zeros((d, n)), 0
    centre, score, sorted_score = np.full(d, np.inf), np.zeros(n), np.zeros(n)
    order = np.arange(n)
    least, before = np.full(len(ks), -np.inf), np.full(len(ks), np.inf)
    for t in range(len(directions)):
        c = directions[t]
        if not _near(c, centre):
            centre = c / max(np.sqrt((c * c).sum()), 1e-300)
            items[:most] = items[order[:most]]
            count = find_candidates(V, norms, centre, most, items, near)
            order[:count] = np.arange(count)
        project(near, c, score, count)
        _sort(order, score, sorted_score, count)
        total, done = np.zeros(d), 0
        for a in range(len(ks)):
            for r in range(done, ks[a]):
                for j in range(d):
                    total[j] += near[j, order[r]]
            done = ks[a]
            proxy = (signs * total * total).sum()
            if proxy > least[a] and abs(proxy - before[a]) > 1e-12 * abs(proxy):
                last = worth[a].argmin()
                worth[a, last], kept[a, last] = proxy, t
                least[a] = worth[a].min()
            before[a] = proxy


@kernel
def _sort(order: Any, score: Any, sorted_score: Any, count: int) -> None:
    """Sort candidates by falling score, by insertion: they are nearly in order."""
    for r in range(count):
        item = order[r]
        s, at = score[item], r
        while at > 0 and sorted_score[at - 1] < s:
            sorted_score[at], order[at] = sorted_score[at - 1], order[at - 1]
            at -= 1
        sorted_score[at], order[at] = s, item
