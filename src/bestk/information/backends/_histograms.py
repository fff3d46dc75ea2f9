"""Counting by histograms: one pass over the samples of a pair, whatever its number of cells.

A table T over counts is summed cell by cell without ever visiting the cells: raising a count
from t to t + 1 adds T[t + 1] - T[t]. Samples come grouped by the level of one feature, so the
counters needed at a time are as many as the other feature has levels.
"""

from typing import Any

import numpy as np

from bestk._kernels import kernel


@kernel
def group_samples(row: Any, n_levels: int, starts: Any, order: Any, ends: Any) -> int:
    """Order samples by level, then class; return how many (level, class) runs there are.

    ``row`` has its samples sorted by class, class c at ``starts[c]:starts[c + 1]``. ``ends``
    receives the end of each run, negated where the level ends with it.
    """
    at = np.zeros(n_levels + 1, np.int64)
    for code in row:
        at[code + 1] += 1
    for level in range(n_levels):
        at[level + 1] += at[level]
    stop = at[1:].copy()
    for sample in range(len(row)):
        order[at[row[sample]]] = sample
        at[row[sample]] += 1
    n_runs, begin = 0, 0
    for level in range(n_levels):
        c = 0
        for place in range(begin, stop[level]):
            while order[place] >= starts[c + 1]:
                c += 1
            if place + 1 == stop[level]:
                ends[n_runs] = -stop[level]
                n_runs += 1
            elif order[place + 1] >= starts[c + 1]:
                ends[n_runs] = place + 1
                n_runs += 1
        begin = stop[level]
    return n_runs


@kernel
def sum_pair(
    row: Any, order: Any, ends: Any, n_runs: int, pair_step: Any, class_step: Any,
    in_level: Any, in_run: Any,
) -> int:  # fmt: skip
    """Sum the tables whose steps are given; ``in_level`` and ``in_run`` are zero, and stay so."""
    total = 0
    one = np.uint32(1)
    level_begin, begin = 0, 0
    for run in range(n_runs):
        end = abs(ends[run])
        if end == begin + 1:  # most runs, where there are more cells than samples
            code = np.uint64(row[np.uint64(order[begin])])
            total += class_step[0] + pair_step[in_level[code]]
            in_level[code] += one
        else:
            for place in range(begin, end):
                code = np.uint64(row[np.uint64(order[place])])
                total += class_step[in_run[code]] + pair_step[in_level[code]]
                in_run[code] += one
                in_level[code] += one
            for place in range(begin, end):
                in_run[np.uint64(row[np.uint64(order[place])])] = 0
        if ends[run] < 0:
            for place in range(level_begin, end):
                in_level[np.uint64(row[np.uint64(order[place])])] = 0
            level_begin = end
        begin = end
    return total
