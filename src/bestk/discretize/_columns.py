"""Walking a table: some columns at a time into fit, all of it through transform."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy import sparse

from bestk._kernels import kernel, parallel_kernel
from bestk._sorting import Floats, Ints

Codes16 = NDArray[np.int16]

BLOCK = 2**22  # values in a block of columns: 32 MiB
GROUP = 64  # columns that a thread reads together
LINE = 8  # float64 values in a cache line
SCAN = 64  # columns of more cuts are searched, not scanned
TILE = 64

# the kernels are compiled for each type that they meet, so they meet few
TYPES: dict[Any, Any] = {
    np.dtype(came): np.dtype(read)
    for read, group in {
        np.float64: (np.float64, np.int32, np.uint16, np.uint32, np.uint64),
        np.float32: (np.float32,),
        np.int64: (np.int64,),
        np.int16: (np.int16, np.int8, np.uint8, np.bool_),
    }.items()
    for came in group
}


class Part(NamedTuple):
    """Columns ``start:stop`` of a table, found in ``array`` from column ``first`` on."""

    array: NDArray[Any]
    first: int
    start: int
    stop: int


def parts(X: Any) -> Iterator[Part]:
    """Yield the columns of X, a block at a time, in an array that the kernels read."""
    n_samples, n_features = X.shape
    width, plain = max(1, BLOCK // n_samples), _is_plain(X)
    for start in range(0, n_features, width):
        stop = min(start + width, n_features)
        yield (
            Part(X, start, start, stop) if plain else Part(_plain(X[:, start:stop]), 0, start, stop)
        )


def blocks(X: Any, order: Ints | None = None) -> Iterator[Floats]:
    """Yield the columns of X, a block at a time, as the rows of an array.

    The array is the caller's to overwrite until the next one comes. ``order`` permutes the samples.
    """
    n_samples, n_features = X.shape
    order = np.arange(n_samples) if order is None else order
    room = np.empty((min(n_features, max(1, BLOCK // n_samples)), n_samples))
    for array, first, start, stop in parts(X):
        block = room[: stop - start]
        _read_block(array, first, order, block)
        yield block


def encode(X: Any, cut_points: list[Floats]) -> Codes16:
    """Count for each value the cuts below it; NaN takes the code after the last."""
    codes = np.empty(X.shape, np.int16)
    n_cuts = np.array([len(cuts) for cuts in cut_points])
    for array, first, start, stop in parts(X):
        ladder, here = _ladder(cut_points[start:stop]), n_cuts[start:stop]
        _encode(array, first, ladder, here, start, codes)
        for j in np.flatnonzero(here > SCAN):
            _search(array[:, first + j], cut_points[start + j], codes[:, start + j])
    return codes


def _is_plain(X: Any) -> bool:
    """Tell whether the kernels read X as it is."""
    if sparse.issparse(X) or TYPES[X.dtype] != X.dtype:
        return False
    return bool(X.flags.forc and X.flags.writeable)


def _plain(X: Any) -> NDArray[Any]:
    """Copy some columns into an array that the kernels read."""
    dense: NDArray[Any] = X.toarray() if sparse.issparse(X) else X
    return dense.astype(TYPES[dense.dtype])


def _ladder(cut_points: list[Floats]) -> Floats:
    """Lay the first cuts of every column on rungs, padded with infinity."""
    height = min(SCAN, max(len(cuts) for cuts in cut_points))
    ladder = np.full((height, len(cut_points)), np.inf)
    for j, cuts in enumerate(cut_points):
        ladder[: len(cuts), j] = cuts[:height]
    return ladder


@parallel_kernel
def _read_block(X: NDArray[Any], first: int, order: Ints, block: Floats) -> None:
    """Read a whole block, a group of columns at a time."""
    for group in prange((len(block) + GROUP - 1) // GROUP):
        start = group * GROUP
        read_columns(X, first + start, order, block[start : start + GROUP])


@kernel
def read_columns(X: NDArray[Any], first: int, order: Ints, rows: Floats) -> None:
    """Set ``rows[j, i] = X[order[i], first + j]``, a cache line at a time."""
    width, n_samples = rows.shape
    lines = np.empty((LINE, width))
    for start in range(0, n_samples, LINE):
        depth = min(LINE, n_samples - start)
        for i in range(depth):
            source, line = X[order[start + i], first : first + width], lines[i]
            for j in range(width):
                line[j] = source[j]
        for j in range(width):
            for i in range(depth):
                rows[j, start + i] = lines[i, j]


@parallel_kernel
def _encode(
    X: NDArray[Any], first: int, ladder: Floats, n_cuts: Ints, start: int, codes: Codes16
) -> None:
    """Encode the columns of X from ``first`` on into ``codes[:, start:]``."""
    for strip in prange((len(X) + TILE - 1) // TILE):
        _encode_strip(X, first, strip * TILE, ladder, n_cuts, start, codes)


@kernel
def _encode_strip(
    X: NDArray[Any], first: int, top: int, ladder: Floats, n_cuts: Ints, start: int, codes: Codes16
) -> None:
    """Climb the ladder, a tile of samples and columns at a time."""
    for left in range(0, len(n_cuts), TILE):
        width = min(TILE, len(n_cuts) - left)
        height = min(len(ladder), n_cuts[left : left + width].max())
        for i in range(top, min(top + TILE, len(X))):
            values = X[i, first + left : first + left + width]
            row = codes[i, start + left : start + left + width]
            row[:] = 0
            for rung in range(height):
                cuts = ladder[rung, left : left + width]
                for j in range(width):
                    row[j] += values[j] > cuts[j]
            for j in range(width):
                row[j] = n_cuts[left + j] + 1 if values[j] != values[j] else row[j]


@kernel
def _search(values: NDArray[Any], cuts: Floats, codes: Codes16) -> None:
    """Find the values of one column among many cuts, by bisection."""
    for i in range(len(values)):
        if values[i] == values[i]:
            codes[i] = np.searchsorted(cuts, np.float64(values[i]))
