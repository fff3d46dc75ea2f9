"""Columns of whole numbers turned into rows of dense codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.native import kernels
from bestk.native.threads import run_tiles

__all__ = ["write_codes"]


def write_codes(
    flat: NDArray[Any],
    steps: tuple[int, int],
    width: int,
    places: NDArray[np.int64],
    codes: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Write the codes of column ``j`` to ``codes[places[j]]``; return levels and odd columns.

    The value in row ``r`` is ``flat[r * steps[0] + j * steps[1]]``; a column is odd if one of them
    is neither NaN nor a whole number from 0 to 65534. Threads take ``width`` columns at a time.
    """
    n_columns, n_rows = len(places), codes.shape[1]
    levels, odd = np.empty(n_columns, np.int64), np.zeros(n_columns, np.uint8)
    kernel = getattr(kernels, f"write_codes_{flat.dtype.kind}{8 * flat.itemsize}")
    wide = codes.dtype == np.uint16
    write = kernel.bind(
        flat, *steps, n_rows, places, None if wide else codes, codes if wide else None, levels, odd
    )
    run_tiles(lambda first: write(first, min(first + width, n_columns)), range(0, n_columns, width))
    return levels, odd.view(bool)
