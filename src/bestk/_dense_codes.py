"""Kernels that turn columns of whole numbers into rows of dense codes."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel, parallel_kernel

__all__ = ["write_codes"]

LARGEST = 65534  # a value of at most this has a place in a look-up table; 0 is kept for missing
TILE = 64  # rows read at once, so that a cache line serves every column in it


@parallel_kernel
def write_codes(
    flat: NDArray[Any],
    row_step: int,
    column_step: int,
    width: int,
    places: NDArray[np.intp],
    codes: NDArray[Any],
    levels: NDArray[np.int64],
    odd: NDArray[np.bool_],
) -> None:
    """Write the codes of column ``j`` to ``codes[places[j]]``, their number to ``levels[j]``.

    The value in row ``r`` is ``flat[r * row_step + j * column_step]``; ``odd[j]`` says that one of
    them is neither NaN nor a whole number with a place in the look-up table.
    """
    n_columns = len(places)
    for strip in numba.prange((n_columns + width - 1) // width):
        start, stop = strip * width, min(n_columns, strip * width + width)
        raw = np.empty((stop - start, codes.shape[1]), np.uint16)
        _transpose(flat[start * column_step :], row_step, column_step, raw, odd[start:stop])
        for j in range(start, stop):
            levels[j] = _renumber(raw[j - start], codes[places[j]])


@kernel
def _transpose(
    flat: NDArray[Any],
    row_step: int,
    column_step: int,
    raw: NDArray[np.uint16],
    odd: NDArray[np.bool_],
) -> None:
    """Set ``raw[j, r]`` to 1 + the value, or to 0 if it is NaN."""
    n_columns, n_rows = raw.shape
    piece = np.empty(TILE, flat.dtype)
    zero = flat.dtype.type(0)
    for start in range(0, n_rows, TILE):
        size = min(TILE, n_rows - start)
        for j in range(n_columns):
            first = start * row_step + j * column_step
            for r in range(size):
                piece[r] = flat[np.uintp(first + r * row_step)]
            misfit = False
            for r in range(size):
                value = piece[r]
                fits = (value >= 0) & (value <= LARGEST)
                whole = np.int32(value if fits else zero)
                misfit |= (whole != value) & (value == value)
                raw[j, start + r] = whole + fits
            odd[j] |= misfit


@kernel
def _renumber(raw: NDArray[np.uint16], codes: NDArray[Any]) -> int:
    """Number the values that occur 0, 1, ... in order, missing (0) last; return how many occur."""
    code = np.zeros(raw.max() + 1, np.uint16)
    for value in raw:
        code[value] = 1
    count = 0
    for value in range(1, len(code)):
        if code[value]:
            code[value] = count
            count += 1
    if code[0]:
        code[0] = count
        count += 1
    for r in range(len(raw)):
        codes[r] = code[raw[r]]
    return count
