"""How fast this machine is: the real kernels, run for a moment on a small made-up table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._auto import settle
from bestk._threads import threads
from bestk.information._measures import SYMMETRIC_CMI
from bestk.planning._path import Path
from bestk.planning._shape import Shape
from bestk.planning._work import pair_cost
from bestk.reading import Reading
from bestk.table import Block, Table

ROWS, COLUMNS = 1000, 512  # of the table that is timed, at most
BLOCK_ROWS, BLOCK_COLUMNS = 8192, 32  # and of one that comes in blocks
ROUNDS = 3  # of which the quickest counts
READ_BYTES = 2**25  # beyond the caches


@dataclass(frozen=True)
class Pace:
    """Seconds of one core, when nothing else runs on it."""

    pair: float  # for what the kernels' model calls a nanosecond
    value: float  # to make a value of the table ready for counting
    bandwidth: float  # bytes that it reads in a second
    threads: int  # that work at once

    @classmethod
    def measure(cls, shape: Shape, path: Path, selector: Any) -> "Pace":
        """Time the kernels that a path will use, on one core and by its own clock.

        The clock is that of the process, so that a busy machine looks as fast as a quiet one.
        """
        from threadpoolctl import threadpool_limits

        memory = np.ones(READ_BYTES // 8)
        with threadpool_limits(1), threads() as n_threads, threads(1):
            pair, value = _time_kernels(_sample(shape, ROWS, COLUMNS), path, selector)
            if shape.in_blocks:
                value = _time_blocks(_sample(shape, BLOCK_ROWS, BLOCK_COLUMNS), path, selector)
            bandwidth = READ_BYTES / quickest(memory.sum)
        return cls(pair, value, bandwidth, n_threads)


def _time_kernels(shape: Shape, path: Path, selector: Any) -> tuple[float, float]:
    """Seconds for a nanosecond of the model, and for a value to be made ready."""
    read_as = settle(selector, blocks=shape.in_blocks)
    table, y = make_up(shape, coded=read_as.discretizer is None)
    reading = Reading(read_as.information, read_as.discretizer, read_as.correction)
    value = quickest(lambda: reading.measure(table, y)) / shape.values
    entropies = reading.measure(table, y).entropies
    pairs = shape.columns * (shape.columns + 1) / 2
    pair = quickest(lambda: entropies.measure(SYMMETRIC_CMI)) / pairs
    return pair / pair_cost(shape, replace(path, rows="table")), value


def _time_blocks(shape: Shape, path: Path, selector: Any) -> float:
    """Seconds for a value that is read in blocks, without the pairs."""
    from bestk.selector import SelectBestK

    read_as = settle(selector, blocks=True)
    half = replace(shape, rows=max(2 * shape.classes, shape.rows // 2))
    coded = read_as.discretizer is None
    blocks = [make_up(half, seed, coded=coded) for seed in (0, 1)]

    def run() -> None:
        options = {"information": read_as.information, "discretizer": read_as.discretizer}
        SelectBestK(1, "maxrel", **options).fit(lambda: _frames(blocks))

    return quickest(run) / (2 * half.values)


def _frames(blocks: list[tuple[Table, NDArray[Any]]]) -> Iterator[Any]:
    for table, y in blocks:
        yield np.column_stack([block.values for block in table.blocks]), y


def _sample(shape: Shape, rows: int, columns: int) -> Shape:
    """The same kind of table, of a size that is soon counted and not too small to tell."""
    numeric = round(shape.numeric * columns / shape.columns)
    rows = min(max(shape.rows, 2 * shape.classes), max(rows, 4 * shape.classes))
    return replace(shape, rows=rows, columns=columns, numeric=numeric)


def make_up(shape: Shape, seed: int = 0, *, coded: bool = False) -> tuple[Table, NDArray[np.int64]]:
    """A table of random columns, half of the numbers with a mean of their own for each class.

    Numbers that are ``coded`` are levels already.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(shape.rows) % shape.classes)
    blocks = []
    if shape.numeric:
        numbers = rng.normal(size=(shape.rows, shape.numeric))
        numbers[:, ::2] += y[:, None]
        if coded:
            numbers = rng.integers(0, shape.levels, numbers.shape).astype(np.float64)
        blocks.append(Block(np.arange(shape.numeric), "numeric", numbers))
    if others := shape.columns - shape.numeric:
        codes = rng.integers(0, shape.levels, (shape.rows, others)).astype(np.int16)
        labels = [list(range(shape.levels))] * others
        blocks.append(Block(shape.numeric + np.arange(others), "categorical", codes, labels))
    names = [f"x{j}" for j in range(shape.columns)]
    return Table(shape.rows, names, tuple(blocks)), y


def quickest(run: Callable[[], Any], clock: Callable[[], float] = process_time) -> float:
    """Seconds for a call, once it is compiled; of the process, unless another clock is given."""
    run()
    seconds = []
    for _ in range(ROUNDS):
        start = clock()
        run()
        seconds.append(clock() - start)
    return max(min(seconds), 1e-9)
