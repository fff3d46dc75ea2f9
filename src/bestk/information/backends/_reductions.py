"""Row sums of a matrix that is never held.

Entries are taken before they are scaled: integers, and as float64 exact or rounded the same way
everywhere. Each is split in two, so that sums have no rounding and do not depend on their order:
the same to the last bit from every backend, and equal for equal columns.
"""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from bestk._typing import Floats, Indices
from bestk.native.threads import run_tiles, spans

SPLIT = 2.0**28
STRIP_ENTRIES = 2**22  # of the matrix, reduced together
STRIP_STEP = 16  # rows that a thread adds up


def sum_rows(
    write: Callable[[Floats, Indices, Indices], None], order: Indices, scale: float, mirror: bool
) -> Floats:
    """Row sums without the diagonal, strip by strip, features in the given order.

    ``write(out, rows, columns)`` fills a strip with integers, in units of ``scale``; ``mirror``:
    the matrix is symmetric.
    """
    n, parts, lock = len(order), np.zeros((2, len(order))), Lock()
    height = max(STRIP_STEP, STRIP_ENTRIES // n // STRIP_STEP * STRIP_STEP)
    for start in range(0, n, height):
        rows, columns = order[start : start + height], order[start:]
        if not mirror:
            columns = np.concatenate([columns, order[:start]])
        values = np.empty((len(rows), len(columns)))
        write(values, rows, columns)
        np.fill_diagonal(values, 0.0)  # the first columns are the rows
        below = columns[len(rows) if mirror else n :]
        add = partial(_add_sums, parts, lock, values, rows, below)
        run_tiles(add, spans(len(rows), STRIP_STEP))
    return join(parts, scale)


def _add_sums(
    parts: Floats, lock: Any, values: Floats, rows: Indices, below: Indices, span: tuple[int, int]
) -> None:
    """Add some rows to the sums of theirs, and of the last columns; they are overwritten."""
    low, own = values[slice(*span)], rows[slice(*span)]
    high = np.floor(low / SPLIT)
    low -= high * SPLIT
    first = low.shape[1] - len(below)
    sums = [(each.sum(axis=1), each[:, first:].sum(axis=0)) for each in (high, low)]
    with lock:
        for total, (across, down) in zip(parts, sums, strict=True):
            total[own] += across
            total[below] += down


def join(parts: Floats, scale: float) -> Floats:
    """Sums from those of their two parts."""
    high, low = parts
    return np.asarray((high * SPLIT + low) * scale)
