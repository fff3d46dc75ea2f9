"""A baseline in numpy: one-hot columns, a matrix product for each class, a table.

Features are grouped by their number of levels and taken in tiles, so that beside the one-hot
columns and the output only a few tiles are held. ``thrift`` leaves the last level out of the
products, since the margins give its counts: a quarter of the work where columns are binary.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.counting.contenders import Contender, by_matrix
from benchmarks.counting.definition import CMI

Floats = NDArray[np.float32]
TILE_CELLS = 1024


@dataclass(frozen=True)
class Tile:
    """Features of equally many levels, one-hot, split by class."""

    features: NDArray[np.int64]
    planes: list[Floats]  # for each class (features * planes, samples)
    margins: list[Floats]  # for each class (features, levels)


def tiles(X: Any, y: Any, thrift: bool) -> Iterator[Tile]:
    levels = X.max(axis=0) + 1
    members = [X[y == c].T for c in np.unique(y)]
    for n_levels in np.unique(levels):
        same = np.flatnonzero(levels == n_levels)
        width = max(1, TILE_CELLS // n_levels)
        for first in range(0, len(same), width):
            chosen = same[first : first + width]
            every = np.arange(n_levels, dtype=X.dtype)[:, None]
            hot = [(rows[chosen, None] == every).astype(np.float32) for rows in members]
            kept = [h[:, : n_levels - thrift] for h in hot]
            planes = [k.reshape(-1, k.shape[2]) for k in kept]
            yield Tile(chosen, planes, [h.sum(axis=2) for h in hot])


def count(a: Tile, b: Tile, c: int) -> Floats:
    """Samples of class c in each cell, as ``[i, level of i, j, level of j]``."""
    margin_i, margin_j = a.margins[c], b.margins[c]
    product = a.planes[c] @ b.planes[c].T
    inner = product.reshape(len(margin_i), -1, len(margin_j), product.shape[1] // len(margin_j))
    if inner.shape[1] == margin_i.shape[1]:
        return inner
    cells = np.empty((*margin_i.shape, *margin_j.shape), np.float32)
    cells[:, :-1, :, :-1] = inner
    cells[:, :-1, :, -1] = margin_i[:, :-1, None] - inner.sum(axis=3)
    cells[:, -1] = margin_j - cells[:, :-1].sum(axis=1)
    return cells


def sum_n_log_n(cells: Floats) -> Floats:
    """Sum of n log n over the cells of each pair; numpy's float32 log beats a gather."""
    logs = np.log(np.maximum(cells, 1.0))
    logs *= cells
    return logs.sum(axis=(1, 3))


def cmi(X: Any, y: Any, thrift: bool) -> Floats:
    """``I(xj; y | xi)`` at ``[i, j]``."""
    n, m = X.shape[1], np.float32(len(y))
    every = list(tiles(X, y, thrift))
    n_classes = len(every[0].planes)
    own = np.empty(n, np.float32)  # what is subtracted for xi, but for the pair's own cells
    for tile in every:
        within = sum((n_log_n(margin) for margin in tile.margins), start=np.float32(0))
        own[tile.features] = (within - n_log_n(sum(tile.margins))).sum(axis=1)
    out = np.empty((n, n), np.float32)
    for place, a in enumerate(every):
        for b in every[place:]:
            pooled = count(a, b, 0)
            total = sum_n_log_n(pooled)
            for c in range(1, n_classes):
                cells = count(a, b, c)
                total += sum_n_log_n(cells)
                pooled += cells
            total -= sum_n_log_n(pooled)
            out[np.ix_(a.features, b.features)] = (total - own[a.features, None]) / m
            out[np.ix_(b.features, a.features)] = (total - own[b.features]).T / m
    return out


def n_log_n(counts: Any) -> Any:
    return counts * np.log(np.maximum(counts, 1.0))


YARDSTICKS: tuple[Contender, ...] = (
    by_matrix(
        "one-hot sgemm, thrifty", "numpy", "yardstick", CMI,
        lambda: lambda X, y: cmi(X, y, thrift=True), tolerance=1e-5, patience=8.0,
    ),
    by_matrix(
        "one-hot sgemm", "numpy", "yardstick", CMI,
        lambda: lambda X, y: cmi(X, y, thrift=False), tolerance=1e-5, patience=8.0,
    ),
)  # fmt: skip
