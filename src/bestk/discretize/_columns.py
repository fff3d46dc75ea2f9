"""Cut and encode the columns of a table, some of them at a time."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import log, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from bestk._typing import Array, Floats, Indices
from bestk.native import as_table, kernels
from bestk.native.threads import n_threads, run_tiles, threads

TILE_VALUES = 2**16  # of a tile of columns: they stay in the cache
MAX_VALUES = 2**22  # in the tiles of all threads: 32 MiB
LINE = 8  # columns that share a cache line
ENCODED_VALUES, ENCODED_COLUMNS = 2**18, 1024  # encoded together
MAX_ROWS = 2**31 - 1
VALUE_COST = 1e-8  # seconds, about, for each value of a table


BY_ENTROPY, BY_MAJORITY, BY_FREQUENCY = range(3)  # methods by their number in cuts.c


class Classes(NamedTuple):
    """The class numbers of the samples in ascending order, and the samples in that order."""

    labels: NDArray[np.int32]
    n_classes: int
    order: Indices

    @classmethod
    def of(cls, codes: Indices, n_classes: int) -> "Classes":
        """Sort the samples by class."""
        order = np.argsort(codes, kind="stable")
        return cls(codes[order].astype(np.int32), n_classes, order)


class Cuts(NamedTuple):
    """The cuts of all columns in one way."""

    values: Floats  # end to end
    counts: Indices  # of each column; -1 where it has infinite values
    codes: NDArray[np.uint8] | None  # (column, sample), samples in order of their classes
    gaps: NDArray[np.bool_]  # whether values are missing

    def split(self) -> list[Floats]:
        """The cuts of each column."""
        ends = np.concatenate([[0], np.cumsum(self.counts)]).tolist()
        return [self.values[a:b] for a, b in pairwise(ends)]


def cut_columns(
    X: Any, cut: Callable[[Floats, int], Any], order: Indices | None = None
) -> list[Any]:
    """What ``cut`` makes of the columns, some at a time: the rows of an array, and which is first.

    ``order`` permutes the samples.
    """
    n_samples, n_features = X.shape
    if n_samples > MAX_ROWS:
        raise ValueError(f"X has {n_samples} rows, and at most {MAX_ROWS} can be sorted")
    width = max(LINE, TILE_VALUES // n_samples // LINE * LINE)
    width = max(1, min(width, MAX_VALUES // (n_samples * n_threads())))
    starts = range(0, n_features, width)
    found: dict[int, Any] = {}

    def work(start: int) -> None:
        table = as_table(dense(X[:, start : start + width]))
        block = np.empty(table.shape[::-1])
        kernels.read_columns(table, order, n_samples, block, len(block))
        found[start] = cut(block, start)

    with threads(seconds=VALUE_COST * n_samples * n_features):
        run_tiles(work, starts)
    return [found[start] for start in starts]


def cut_by_kernel(
    X: Any, classes: Classes, ways: Sequence[tuple[int, int]], n_coded: int = 0
) -> list[Cuts]:
    """Cut all columns in some ways, given as method and most bins: each is sorted once.

    The first ``n_coded`` ways have codes; those of columns with too many levels are not written.
    """
    (n_samples, n_features), n_ways = X.shape, len(ways)
    codes = np.empty(n_coded * n_features * n_samples, np.uint8)
    labels, n_classes, order = classes
    by_entropy = any(method == BY_ENTROPY for method, _ in ways)
    logs = log_tables(n_samples, n_classes) if by_entropy else (None,) * 4
    how = labels, n_classes, np.array(ways, np.int64), n_ways, *logs

    def cut(block: Floats, start: int) -> tuple[Any, ...]:
        cuts, counts = np.empty((n_ways, *block.shape)), np.empty((n_ways, len(block)), np.int64)
        known, own = np.empty(len(block), np.int64), codes[start * n_samples :]
        kernels.cut(block, *block.shape, *how, cuts, counts, known, n_coded, own, n_features)
        places = np.arange(max(0, counts.max()))
        heads = cuts[:, :, : len(places)], places < counts[:, :, np.newaxis]
        return [part[mask] for part, mask in zip(*heads, strict=True)], counts, known

    values, counts, known = zip(*cut_columns(X, cut, order), strict=True)
    every, gaps = np.concatenate(counts, axis=1), np.concatenate(known) < n_samples
    coded = [*codes.reshape(n_coded, n_features, n_samples), *[None] * (n_ways - n_coded)]
    flat = [np.concatenate(own) for own in zip(*values, strict=True)]
    return [Cuts(flat[i], every[i], coded[i], gaps) for i in range(n_ways)]


def log_tables(n_samples: int, n_classes: int) -> tuple[Floats, ...]:
    """``n log n``, its steps and ``log n`` of counts, and ``log(3^k - 2)`` of numbers of classes.

    All by the logarithm of the C library: that of numpy differs from machine to machine.
    """
    counts = np.arange(n_samples + 1.0)
    classes = [k * log(3.0) + log1p(-2.0 * 3.0**-k) for k in range(1, n_classes + 1)]
    xlogx = xlogy(counts, counts)
    return xlogx, np.diff(xlogx), xlogy(1.0, counts), np.array([-np.inf, *classes])


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
