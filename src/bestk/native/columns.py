"""The columns of a table in contiguous memory, some at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bestk._typing import Array, Floats
from bestk.native._library import as_table, kernels
from bestk.native.threads import n_threads, run_tiles, threads

BLOCK_VALUES = 2**17  # of columns that are read together: they stay in the cache
MAX_VALUES = 2**22  # in the blocks of all threads: 32 MiB
LINE = 8  # columns that share a cache line
MAX_ROWS = 2**31 - 1
VALUE_COST = 1e-8  # seconds, about, for each value of a table


def map_columns(X: Any, use: Callable[[Floats, int], Any], order: Array | None = None) -> list[Any]:
    """What ``use`` returns for a block of columns and the place of its first, block by block.

    X is an array or a sparse matrix. A block has a row for each of its columns, with the samples
    in an ``order``, and may be overwritten.
    """
    n_samples, n_features = X.shape
    if n_samples > MAX_ROWS:
        raise ValueError(f"X has {n_samples} rows, and at most {MAX_ROWS} can be sorted")
    found: dict[int, Any] = {}
    blocks: list[Floats] = []  # fresh memory costs more than reading the columns
    with threads(seconds=VALUE_COST * n_samples * n_features):
        n_tiles = max(1, -(-n_features // max(LINE, BLOCK_VALUES // n_samples)))
        n_tiles += -n_tiles % n_threads()  # as many for each thread
        width = -(-n_features // n_tiles // LINE) * LINE
        width = max(1, min(width, MAX_VALUES // (n_samples * n_threads())))
        starts = range(0, n_features, width)

        def work(start: int) -> None:
            part = X[:, start : start + width]
            table = as_table(part.toarray() if hasattr(part, "toarray") else part)
            room = blocks.pop() if blocks else np.empty((width, n_samples))
            block = room[: table.shape[1]]
            kernels.read_columns(table, order, n_samples, block, len(block))
            found[start] = use(block, start)
            blocks.append(room)

        run_tiles(work, starts)
    return [found[start] for start in starts]
