"""Threads over tiles and columns: how many, work that they share, and how long it takes."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.errors import DataError, ParameterError
from bestk.native._library import as_table, kernels

T = TypeVar("T")
WORTH_A_TEAM = 5e-4  # seconds: waking threads costs microseconds, on a busy machine milliseconds
MAX_CALM_WORK = 2**24  # products of numbers: milliseconds on one thread
BLOCK_VALUES = 2**17  # of columns that are read together: they stay in the cache
MAX_VALUES = 2**22  # in the blocks of all threads: 32 MiB
LINE = 8  # columns that share a cache line
MAX_ROWS = 2**31 - 1
VALUE_COST = 1e-8  # seconds, about, for each value of a table
_limit: ContextVar[int | None] = ContextVar("bestk_threads", default=None)


def n_threads() -> int:
    """The number of threads that kernels may use here."""
    return _limit.get() or available_threads()


def available_threads() -> int:
    """``OMP_NUM_THREADS``, which joblib sets for its workers; else the cores of this process."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def threads(n_jobs: int | None = None, seconds: float = float("inf")) -> Iterator[int]:
    """Run kernels on ``n_jobs`` threads (None: as before, at first all cores; -1: all cores).

    Work of a few hundred microseconds, by its estimated ``seconds``, runs on one.
    """
    if not (n_jobs is None or (isinstance(n_jobs, Integral) and (n_jobs > 0 or n_jobs == -1))):
        raise ParameterError(
            f"n_jobs must be a positive number, -1 for all cores or None, not {n_jobs!r}"
        )
    wanted = n_threads() if n_jobs is None else available_threads() if n_jobs == -1 else n_jobs
    token = _limit.set(wanted if seconds > WORTH_A_TEAM else 1)
    try:
        yield n_threads()
    finally:
        _limit.reset(token)


def run_tiles(work: Callable[[T], None], items: Sequence[T]) -> None:
    """Run ``work`` on items that share no output, on as many threads as allowed."""
    team = min(len(items), n_threads())
    if team < 2:
        for item in items:
            work(item)
        return
    waiting = iter(items)
    lock = threading.Lock()
    errors: list[BaseException] = []

    def take_turns() -> None:
        """Work on the next item that waits, until none is left or a thread has failed."""
        try:
            while not errors:
                with lock:
                    next_items = list(islice(waiting, 1))
                if not next_items:
                    return
                work(next_items[0])
        except BaseException as error:  # raised below, in the thread of the caller
            errors.append(error)

    others = [threading.Thread(target=take_turns) for _ in range(team - 1)]
    for thread in others:
        thread.start()
    take_turns()
    for thread in others:
        thread.join()
    if errors:
        raise errors[0]


def calm_blas(work: float = 0.0) -> Any:
    """A context in which BLAS starts no threads, unless it has much work: products of numbers.

    On a busy machine its threads can take a hundred times as long as one: they wait for each other.
    """
    return nullcontext() if work > MAX_CALM_WORK else _blas().limit(limits=1, user_api="blas")


def run_blas_tiles(work: Callable[[T], None], items: Sequence[T]) -> None:
    """The same as run_tiles for work that calls BLAS, which starts no threads itself."""
    with calm_blas():
        run_tiles(work, items)


@cache
def _blas() -> Any:
    import scipy.linalg  # noqa: F401, which has a BLAS of its own
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def spans(length: int, size: int) -> list[tuple[int, int]]:
    """Starts and ends of runs of at most ``size``, such as (0, 2), (2, 4), (4, 5)."""
    return [(start, min(start + size, length)) for start in range(0, length, size)]


def map_columns(
    X: Any, use: Callable[[Floats, int], Any], order: Indices | None = None
) -> list[Any]:
    """What ``use`` returns for a block of columns and the place of its first, block by block.

    X is an array or a sparse matrix. A block has a row for each of its columns, with the samples
    in an ``order``, and may be overwritten.
    """
    n_samples, n_features = X.shape
    if n_samples > MAX_ROWS:
        raise DataError(f"X has {n_samples} rows, at most {MAX_ROWS} are possible; use a sample")
    results: dict[int, Any] = {}  # by the first column of the block
    unused_room: list[Floats] = []  # fresh memory costs more than reading the columns
    with threads(seconds=VALUE_COST * n_samples * n_features):
        n_tiles = max(1, -(-n_features // max(LINE, BLOCK_VALUES // n_samples)))
        n_tiles += -n_tiles % n_threads()  # as many for each thread
        width = -(-n_features // n_tiles // LINE) * LINE
        width = max(1, min(width, MAX_VALUES // (n_samples * n_threads())))
        starts = range(0, n_features, width)

        def work(start: int) -> None:
            """Read the columns from ``start`` on into a block, and use it."""
            columns = X[:, start : start + width]
            table = as_table(columns.toarray() if hasattr(columns, "toarray") else columns)
            room = unused_room.pop() if unused_room else np.empty((width, n_samples))
            block = room[: table.shape[1]]
            kernels.read_columns(table, order, n_samples, block, len(block))
            results[start] = use(block, start)
            unused_room.append(room)

        run_tiles(work, starts)
    return [results[start] for start in starts]
