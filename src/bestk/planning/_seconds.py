"""Seconds of each stage of a path: here, on a GPU, on the workers of a cluster."""

from dataclasses import asdict, dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from bestk.bounds import SPECTRAL_SIZE
from bestk.methods import Quadratic, get_method
from bestk.planning._pace import ROWS, Pace
from bestk.planning._path import Path
from bestk.planning._shape import Shape
from bestk.planning._work import (
    adds_up_rows,
    columns_made,
    columns_together,
    pair_cost,
    pairs_counted,
    plane_bytes,
    swap_starts,
)
from bestk.solvers._registry import get_solver
from bestk.streaming._counts import WAITING_BYTES, WAITING_ROWS
from bestk.streaming._counts import _seconds as seconds_of_block
from bestk.streaming._selector import _needs_sample
from bestk.streaming._source import CELL_COST

# timed on one core of an AMD EPYC (family 25, model 17), 2 levels, k = 50
START, START_ROW = 1e-3, 1.5e-6  # for a table of any size, and for each of its rows
CALL, CALL_ROW = 2e-4, 1e-8  # for a column of pairs that is asked for alone, and for each row
ENTRY = 2e-8  # and for each of its entries
FRESH = 2e-9  # for an entry of memory that is used for the first time
BOUND, BOUND_ENTRY = 0.06, 1.5e-8  # of a matrix that has an eigenvalue found, and for each entry
SWAP, SWAP_ENTRY = 0.03, 1.5e-8  # for choices mended by swaps, and for each entry of them
UNITS = 1e-9  # for a unit of work of the search

# benchmarks/results/gpu.csv, one NVIDIA H200
GPU_PAIRS = 32768**2 / 2 * 8192 / 0.01394  # rows of pairs a second: matrix, float64, coins
GPU_VALUES = 1e9 / 1.344  # values a second: "table to the GPU", 100,000 x 10,000
GPU_HOME = 8 * 20000**2 / (0.1099 - 0.0038)  # bytes a second: 20,000 columns, brought home or left
GPU_CALL, GPU_ENTRY = 7e-4, 9e-9  # a column and its entries: "jmi, k = 100" at both widths
GPU_MEMORY = 139 * 2**30

NETWORK = 1.25e9  # bytes a second: a line of 10 Gbit/s is assumed


@dataclass(frozen=True)
class Seconds:
    """What each stage takes."""

    read: float  # the file
    prepare: float  # levels and bits
    pairs: float  # counting them
    solve: float  # choosing k, and the bound; 0 where it cannot be told

    @property
    def total(self) -> float:
        """Of all stages."""
        return self.read + self.prepare + self.pairs + self.solve

    def times(self, count: int) -> "Seconds":
        """The same so many times, from one reading."""
        return Seconds(self.read, count * self.prepare, count * self.pairs, count * self.solve)

    def to_dict(self) -> dict[str, float]:
        """All stages and their sum."""
        return asdict(self) | {"total": self.total}


def seconds_here(shape: Shape, path: Path, selector: Any, k: int, pace: Pace) -> Seconds:
    """On this machine, when nothing else runs."""
    passes, sorting, start = 1, 1.0, START
    if shape.in_blocks:
        passes += _needs_sample(selector)
    else:
        start += START_ROW * shape.rows
        if shape.numeric and path.counted:
            sorting = max(1.0, log2(shape.rows) / log2(ROWS))
    return Seconds(
        passes * shape.read_seconds * shape.values,
        start + pace.value * sorting * shape.values / pace.threads,
        _pair_seconds(shape, path, selector.method, k, pace),
        _solve_seconds(shape, path, selector, k),
    )


def _pair_seconds(shape: Shape, path: Path, method: Any, k: int, pace: Pace) -> float:
    n, pairs = shape.columns, pairs_counted(shape, path, method, k)
    if path.rows == "counts":
        height = min(WAITING_ROWS, WAITING_BYTES // n, shape.rows)
        block = np.broadcast_to(np.uint8(0), (n, height))
        each = seconds_of_block(block, shape.planes(path.counted[0]), shape.classes)
        cells = (1 + shape.planes(path.counted[0]) / n) ** 2 * (1 + shape.classes)
        asked = n * n if path.pairs == "matrix" else n * columns_made(method, n, k)
        work = pace.pair * 1e9 * each * ceil(shape.rows / height) + CELL_COST * cells * asked
        return work / pace.threads
    cost = pace.pair * pair_cost(shape, path) / pace.threads
    if path.pairs == "matrix":
        return FRESH * n * n + pairs * cost
    if adds_up_rows(method, n):
        return pairs * cost
    read = plane_bytes(shape, path) / n / (pace.bandwidth * min(pace.threads, 2))
    together = min(columns_together(method, n, k), pairs // n)
    alone = pairs // n - together
    one = CALL + CALL_ROW * shape.rows + n * (ENTRY + max(cost, read))
    return alone * one + together * n * (FRESH + cost)


def _solve_seconds(shape: Shape, path: Path, selector: Any, k: int) -> float:
    """Of the solver and of its fast bound; 0 where the numbers decide how long it takes."""
    method, n = get_method(selector.method), shape.columns
    if not isinstance(method, Quadratic):
        return 4e-9 * n * k
    solver: Any = get_solver(method.solver)
    seconds = 0.0
    if solver.name == "swap":
        seconds = SWAP + SWAP_ENTRY * (1 + swap_starts(solver, n, k)) * k * n
    elif solver.name == "search":
        seconds = UNITS * solver.work
    elif solver.name == "auto":
        seconds = solver.seconds
    if path.pairs == "matrix":
        seconds += BOUND_ENTRY * n**2 + (BOUND if n <= SPECTRAL_SIZE and selector.bound else 0.0)
    return min(seconds, selector.time_limit or np.inf)


def seconds_on_gpu(
    shape: Shape, path: Path, selector: Any, k: int, here: Seconds
) -> Seconds | None:
    """With ``backend="torch"`` on an H200; None where it does not serve, or has no room."""
    if path.rows in ("counts", "sums") or not path.counted or shape.values > GPU_MEMORY:
        return None
    n, pairs = shape.columns, pairs_counted(shape, path, selector.method, k)
    planes = sum((shape.planes(way) / n) ** 2 for way in path.counted)
    counting = pairs * planes * shape.rows / GPU_PAIRS
    if path.pairs == "matrix":
        counting += 8.0 * n * n / GPU_HOME
    elif path.pairs == "columns":
        counting = columns_made(selector.method, n, k) * (GPU_CALL + GPU_ENTRY * n)
    if path.covariances:  # these stay on the CPU
        counted = Path(path.information, path.counted, False, path.rows, path.pairs)
        counting += here.pairs * (1 - pair_cost(shape, counted) / pair_cost(shape, path))
    upload = len(path.counted) * shape.values / GPU_VALUES
    return Seconds(here.read, here.prepare + upload, counting, here.solve)


def seconds_on_workers(
    shape: Shape, path: Path, workers: int, here: Seconds, pace: Pace
) -> Seconds | None:
    """With ``backend="dask"`` on so many workers of one core each; None without dask."""
    try:
        from bestk.information.backends._dask import WORTH_A_CLUSTER
    except ModuleNotFoundError:
        return None
    work = here.pairs * pace.threads
    if path.pairs != "matrix" or path.rows != "table" or work < WORTH_A_CLUSTER:
        return here  # columns are counted where they are asked for
    sent = shape.values * log2(workers + 1) + 4.0 * shape.columns**2
    return Seconds(here.read, here.prepare, work / workers + sent / NETWORK, here.solve)
