"""Sum a formula over the cells of many pairs: what the kernel takes, and threads that run it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk.information.backends._costs import CELL_COST, SAMPLE_COST, WORD_COST
from bestk.information.backends._packed import Packed
from bestk.native import Kernel, kernels
from bestk.native.threads import run_tiles, threads

Indices = NDArray[np.int64]
CALL_SECONDS = 0.1  # work between two looks at the keyboard
COSTS = np.array([WORD_COST, CELL_COST, SAMPLE_COST])


class Formula(NamedTuple):
    """``scale * (sum of tables over cells + row_term + column_term)``, in fixed point."""

    pair_table: Indices  # looked up for each cell (xi, xj)
    class_table: Indices  # and for each cell (xi, xj, y)
    pair_step: Indices  # their differences
    class_step: Indices
    row_term: Indices
    column_term: Indices
    scale: float
    lowest: float  # results below are rounding noise


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
    """The kernel that fills pairs of a table by a formula, made ready for many requests."""
    return kernels.fill_pairs.bind(
        packed.bits, packed.margins, packed.n_planes, packed.bits_at, packed.margins_at,
        packed.words, packed.sizes, packed.starts, packed.levels,
        packed.codes if len(packed.codes) else None, COSTS,
        len(packed.levels), len(packed.sizes), int(packed.starts[-1]), *formula,
    )  # fmt: skip


def fill(kernel: Kernel, request: Request, tasks: Tasks, out: NDArray[Any]) -> None:
    """Fill pieces of a request, on as many threads as they are worth."""
    outputs = (None, out) if out.dtype == np.float32 else (out, None)
    run, n = kernel.bind(*request, *outputs, tasks.parts), len(tasks.parts)
    with threads(seconds=tasks.seconds) as team:
        if team == 1 and tasks.seconds < CALL_SECONDS:
            run(0, n)
        else:
            run_tiles(lambda task: run(task, task + 1), range(n))
