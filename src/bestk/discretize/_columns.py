"""Cut and encode the columns of a table, some of them at a time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bestk._typing import Array, Floats, Indices
from bestk.native import as_table, kernels
from bestk.native.threads import n_threads, run_tiles, threads

TILE_VALUES = 2**16  # of a tile of columns: they stay in the cache
MAX_VALUES = 2**22  # in the tiles of all threads: 32 MiB
LINE = 8  # columns that share a cache line
ENCODED_VALUES, ENCODED_COLUMNS = 2**18, 1024  # encoded together
MAX_ROWS = 2**31 - 1
VALUE_COST = 1e-8  # seconds, about, for each value of a table


def cut_columns(
    X: Any, cut: Callable[[Floats], list[Floats]], order: Indices | None = None
) -> list[Floats]:
    """Cut all columns: ``cut`` gets some of them as the rows of an array, to be overwritten.

    ``order`` permutes the samples.
    """
    n_samples, n_features = X.shape
    if n_samples > MAX_ROWS:
        raise ValueError(f"X has {n_samples} rows, and at most {MAX_ROWS} can be sorted")
    order = np.arange(n_samples) if order is None else order
    width = max(LINE, TILE_VALUES // n_samples // LINE * LINE)
    width = max(1, min(width, MAX_VALUES // (n_samples * n_threads())))
    starts = range(0, n_features, width)
    found: dict[int, list[Floats]] = {}

    def work(start: int) -> None:
        table = as_table(dense(X[:, start : start + width]))
        block = np.empty(table.shape[::-1])
        kernels.read_columns(table, order, n_samples, block, len(block))
        found[start] = cut(block)

    with threads(seconds=VALUE_COST * n_samples * n_features):
        run_tiles(work, starts)
    return [cuts for start in starts for cuts in found[start]]


def encode_columns(X: Any, cut_points: list[Floats]) -> NDArray[np.int16]:
    """Count for each value the cuts below it; NaN takes the code after the last."""
    codes = np.empty(X.shape, np.int16)
    starts = np.cumsum([0, *map(len, cut_points)])
    cuts = np.concatenate(cut_points, dtype=np.float64)

    def work(tile: tuple[slice, slice]) -> None:
        table, (_, columns) = as_table(dense(X[tile])), tile
        ends = starts[columns.start : columns.stop + 1]
        kernels.encode(table, *table.shape, cuts, ends, codes[tile])

    with threads(seconds=VALUE_COST * X.shape[0] * X.shape[1]):
        run_tiles(work, list(_tiles(X)))
    return codes


def dense(X: Any) -> Array:
    """A part of a table as an array."""
    return X.toarray() if sparse.issparse(X) else X


def _tiles(X: Any) -> Iterator[tuple[slice, slice]]:
    """Parts of a table; of a sparse one whole columns, which are cheaper to take out."""
    n_rows, n_columns = X.shape
    height, width = ENCODED_VALUES // min(n_columns, ENCODED_COLUMNS), ENCODED_COLUMNS
    if sparse.issparse(X):
        height, width = n_rows, max(1, min(width, MAX_VALUES // (n_rows * n_threads())))
    for first in range(0, n_columns, width):
        for top in range(0, n_rows, height):
            yield slice(top, top + height), slice(first, min(first + width, n_columns))
