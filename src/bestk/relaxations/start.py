"""A good choice, quickly: something for a bound to be compared with."""

import numpy as np
from numpy.typing import NDArray

from bestk.problem.problem import BQP
from bestk.relaxations.rounding import EPS, Floats

Indices = NDArray[np.int64]
SWAPS = 1000


def good_choice(problem: BQP) -> Indices:
    """The better of greedy and of the k largest row sums, after the best swaps of two items."""
    Q, k = problem.Q, problem.k
    first = np.argsort(-Q.sum(axis=1), kind="stable")[:k]
    return max((swapped(Q, start) for start in (_greedy(Q, k), first)), key=problem.value)


def swapped(Q: Floats, start: Indices) -> Indices:
    """Exchange one item for another while that helps.

    Examples
    --------
    >>> swapped(np.array([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), np.array([1, 2]))
    array([0, 1])
    """
    chosen = np.zeros(len(Q), np.bool_)
    chosen[start] = True
    for _ in range(SWAPS if len(start) < len(Q) else 0):
        gains = Q.diagonal() + 2 * Q[:, chosen].sum(axis=1)
        inner, outer = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        losses = gains[inner] - 2 * Q.diagonal()[inner]
        change = gains[outer] - losses[:, None] - 2 * Q[np.ix_(inner, outer)]
        drop, add = np.unravel_index(int(change.argmax()), change.shape)
        if change[drop, add] <= 64 * EPS * np.abs(gains).max():
            break
        chosen[inner[drop]], chosen[outer[add]] = False, True
    return np.flatnonzero(chosen)


def _greedy(Q: Floats, k: int) -> Indices:
    """Add the item that helps most, k times."""
    gains = Q.diagonal().copy()
    picked = []
    for _ in range(k):
        best = int(np.argmax(gains))
        picked.append(best)
        gains += 2 * Q[best]
        gains[best] = -np.inf
    return np.array(picked)
