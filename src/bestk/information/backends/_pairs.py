"""Sum a formula over the cells of many pairs: tasks for threads, and the kernel that runs them."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bestk._typing import Array, Indices
from bestk.information._fixed_point import Formula
from bestk.information.backends._costs import CELL_COST, LANES, SAMPLE_COST, WORD_COST
from bestk.information.backends._packed import Packed
from bestk.native import Kernel, kernels
from bestk.native.threads import n_threads, run_tiles, threads

MAX_CALL_SECONDS = 0.1  # work between two checks for an interrupt
TASKS_PER_THREAD = 16  # enough to balance,
MIN_TASK_SECONDS, MAX_TASK_SECONDS = 5e-4, 0.2  # worth a thread, and worth waiting for
COSTS = np.array([WORD_COST, CELL_COST, SAMPLE_COST])


class Request(NamedTuple):
    """Which pairs to fill, and where they go."""

    rows: Indices  # places of the row features
    row_to: Indices  # row of the output for each of them
    tiles: Indices  # ascending
    column_to: Indices  # column of the output for each place, -1 for none
    mirror: bool  # the output is symmetric in its features: fill one half, write both


class Tasks(NamedTuple):
    """Pieces of a request that threads work on."""

    parts: Indices  # for each: first and last row, first and last of the tiles
    seconds: float  # for all of them, on one core


def bind(packed: Packed, formula: Formula) -> Kernel:
    """The kernel that fills pairs of a table by a formula, prepared for many requests."""
    steps = np.diff(formula.pair_table), np.diff(formula.class_table)
    return kernels.fill_pairs.bind(
        packed.bits, packed.margins, packed.n_planes, packed.bits_at, packed.margins_at,
        packed.words, packed.sizes, packed.starts, packed.levels, packed.codes_or_none, COSTS,
        packed.n_features, len(packed.sizes), int(packed.starts[-1]),
        formula.pair_table, formula.class_table, *steps, *formula[2:],
    )  # fmt: skip


def fill(kernel: Kernel, request: Request, tasks: Tasks, out: Array) -> None:
    """Fill pieces of a request, on as many threads as they are worth."""
    outputs = (None, out) if out.dtype == np.float32 else (out, None)
    run, n = kernel.bind(*request, *outputs, tasks.parts), len(tasks.parts)
    with threads(seconds=tasks.seconds) as team:
        if team == 1 and tasks.seconds < MAX_CALL_SECONDS:
            run(0, n)
        else:
            run_tiles(lambda task: run(task, task + 1), range(n))


def cut_tasks(
    packed: Packed, request: Request, from_tile: Callable[[int], int] | None = None
) -> Tasks:
    """Cut a request into tasks, many for each thread.

    ``from_tile`` gives the first of the tiles that a row is counted against, by its place.
    """
    if from_tile is None:
        from_tile = (lambda place: place // LANES) if request.mirror else (lambda place: 0)
    groups, n_tiles = _group_rows(packed, request.rows), len(request.tiles)
    first = [from_tile(int(request.rows[begin])) for begin in groups[:-1]]
    cost = np.add.reduceat(packed.seconds[request.rows], groups[:-1])
    cost *= n_tiles - np.array(first)
    seconds = float(cost.sum())
    best = seconds / (n_threads() * TASKS_PER_THREAD)
    best = min(max(best, MIN_TASK_SECONDS), MAX_TASK_SECONDS)
    parts = []
    for (begin, end), tile, each in zip(pairwise(groups), first, cost.tolist(), strict=True):
        pieces = min(n_tiles - tile, int(each / best) + 1)
        ends = [tile + (n_tiles - tile) * piece // pieces for piece in range(pieces + 1)]
        parts += [(begin, end, *some) for some in pairwise(ends)]
    return Tasks(np.array(parts), seconds)


def _group_rows(packed: Packed, places: Indices) -> list[int]:
    """Cut the rows into groups whose planes and counts stay in the cache."""
    most, n, levels = packed.row_planes, len(places), packed.levels
    cuts = [0]
    while cuts[-1] < n:
        # features come in order of levels: the last of a group has the most planes
        last = places[min(cuts[-1] + most, n) - 1]
        cuts.append(min(n, cuts[-1] + max(1, most // max(1, int(levels[last]) - 1))))
    return cuts
