"""Choices of items: the k largest scores, greedy ones, and swaps that improve them."""

from collections.abc import Iterable
from math import inf
from time import perf_counter

import numpy as np

from bestk._typing import Floats, Indices
from bestk.problem.problem import BQP

MIN_GAIN = 1e-12  # of a swap, relative to the largest entry: a smaller one is rounding
MAX_SWAPS = 1000  # tens are usual
NO_ITEMS = np.empty(0, np.int64)


def top_k(scores: Floats, k: int) -> Indices:
    """The k largest scores, largest first; ties go to the lowest index.

    Examples
    --------
    >>> top_k(np.array([1.0, 3.0, 3.0, 2.0]), 2)
    array([1, 2])
    """
    if k == 0:
        return NO_ITEMS
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > least)
    level = np.flatnonzero(scores == least)[: k - len(above)]
    chosen = np.concatenate([above, level])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def best_first(problem: BQP, items: Iterable[int]) -> Indices:
    """Order chosen items by what each adds to the others."""
    chosen = np.sort(np.asarray(list(items), np.int64))
    gains = problem.gains(chosen)[chosen]
    return chosen[np.argsort(-gains, kind="stable")]


def grow(problem: BQP, items: Indices = NO_ITEMS, deadline: float = inf) -> Indices:
    """Add items until there are k, each the one that helps most, or all at once when late."""
    gains = problem.gains(items)
    grown = [int(i) for i in items]
    gains[grown] = -np.inf
    while len(grown) < problem.k:
        if perf_counter() >= deadline:
            return np.array([*grown, *top_k(gains, problem.k - len(grown))], np.int64)
        best = int(np.argmax(gains))
        grown.append(best)
        gains += 2 * problem.columns([best])[:, 0]
        gains[best] = -np.inf
    return np.array(grown, np.int64)


def improve(problem: BQP, items: Indices, deadline: float = inf) -> Indices:
    """Swap one item for another, the best such pair each time, until no swap helps.

    Examples
    --------
    >>> problem = BQP([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]], k=2)
    >>> improve(problem, np.array([1, 2]))
    array([1, 0])
    """
    chosen = items.copy()
    if problem.k == problem.n:
        return chosen
    columns = np.ascontiguousarray(problem.columns(chosen).T)
    gains, floors = problem.gains(chosen), columns.min(axis=1)
    least = MIN_GAIN * float(np.abs(columns).max(initial=0.0))
    for _ in range(MAX_SWAPS):
        out, new = best_swap(columns, gains, chosen, least, floors)
        if out < 0 or perf_counter() >= deadline:
            break
        old, column = chosen[out], problem.columns([new])[:, 0]
        for sign, item, entries in ((-2.0, old, columns[out]), (2.0, new, column)):
            own = gains[item]
            gains += sign * entries
            gains[item] = own
        chosen[out], columns[out], floors[out] = new, column, column.min()
    return chosen


def best_swap(
    columns: Floats, gains: Floats, chosen: Indices, least: float, floors: Floats
) -> tuple[int, int]:
    """The place of the item to drop and the item to add, or -1; the first of equal ones.

    ``floors`` has the least entry of each column: few items can be in the best swap.
    """
    others, own = gains.copy(), gains[chosen]
    others[chosen] = -np.inf
    limits = others.max() - own - 2.0 * floors
    best, swap = least, (-1, -1)
    for place in np.argsort(-limits, kind="stable").tolist():
        if limits[place] < best:
            break
        worth = others - own[place]
        worth -= 2.0 * columns[place]
        item = int(worth.argmax())
        if worth[item] > best or (worth[item] == best and place < swap[0]):
            best, swap = worth[item], (place, item)
    return swap


def good_choice(problem: BQP, deadline: float = inf) -> Indices:
    """The better of greedy and of the k largest row sums, improved by swaps."""
    starts = (grow(problem, deadline=deadline), top_k(problem.Q.sum(axis=1), problem.k))
    ends = [np.sort(improve(problem, start, deadline)) for start in starts]
    return max(ends, key=problem.value)
