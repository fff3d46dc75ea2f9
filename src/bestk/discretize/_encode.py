"""Encode the columns of a table by their cuts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bestk._typing import Floats
from bestk.native import as_table, kernels
from bestk.native.threads import n_threads, run_tiles, threads

MAX_VALUES = 2**22  # in the tiles of all threads: 32 MiB
TILE_VALUES, TILE_COLUMNS = 2**18, 1024  # encoded together
VALUE_COST = 1e-8  # seconds, about, for each value of a table


def encode_columns(X: Any, cut_points: list[Floats]) -> NDArray[np.int16]:
    """Count for each value the cuts below it; NaN takes the code after the last."""
    codes = np.empty(X.shape, np.int16, order="F")
    starts = np.cumsum([0, *map(len, cut_points)])
    cuts = np.concatenate(cut_points, dtype=np.float64)

    def work(tile: tuple[slice, slice]) -> None:
        part, (_, columns) = X[tile], tile
        table = as_table(part.toarray() if sparse.issparse(X) else part)
        ends = starts[columns.start : columns.stop + 1]
        kernels.encode(table, *table.shape, cuts, ends, codes[tile].T)

    with threads(seconds=VALUE_COST * X.shape[0] * X.shape[1]):
        run_tiles(work, list(_tiles(X)))
    return codes


def _tiles(X: Any) -> Iterator[tuple[slice, slice]]:
    """Parts of a table; of a sparse one whole columns, which are cheaper to take out."""
    n_rows, n_columns = X.shape
    height, width = TILE_VALUES // min(n_columns, TILE_COLUMNS), TILE_COLUMNS
    if sparse.issparse(X):
        height, width = n_rows, max(1, min(width, MAX_VALUES // (n_rows * n_threads())))
    for first in range(0, n_columns, width):
        for top in range(0, n_rows, height):
            yield slice(top, top + height), slice(first, min(first + width, n_columns))
