"""Kernels of counts that add up: a block of rows into them, cells of pairs out of them.

Planes are the levels of all features but the first of each; ``cells`` holds, for planes q <= p
and class c, the rows that have both, at ``(p * (p + 1) / 2 + q) * n_classes + c``. New planes go
to its end.
"""

from typing import Any

import numba
import numpy as np

from bestk._kernels import kernel, parallel_kernel
from bestk.information.backends._bitplanes import count_rows
from bestk.information.backends._lanes import LANES


@kernel(inline="always")
def _at(p: int, q: int) -> int:
    high, low = max(p, q), min(p, q)
    return high * (high + 1) // 2 + low


@parallel_kernel
def add_block(packed: Any, first: Any, planes: Any, groups: Any, cells: Any) -> None:
    """Count a packed block, some features at a time against those from their tile on.

    ``planes[first[place]:first[place + 1]]`` are the planes of the feature at a place of
    ``packed``; group g is ``groups[g]:groups[g + 1]`` of the places.
    """
    n_groups = len(groups) - 1
    for task in numba.prange(n_groups):
        # long tasks beside short ones, so that equal shares are equal work
        group = task // 2 if task % 2 == 0 else n_groups - 1 - task // 2
        _add_group(packed, first, planes, groups[group], groups[group + 1], cells)


@kernel
def _add_group(packed: Any, first: Any, planes: Any, begin: int, end: int, cells: Any) -> None:
    n_classes, n_rows = len(packed.sizes), first[end] - first[begin]
    most = max(0, packed.n_planes.max())
    counts = np.empty(n_classes * n_rows * most * LANES, np.uint32)
    bits, places = _copy_bits(packed, first, begin, end)
    for tile in range(begin // LANES, len(packed.n_planes)):
        n_j, start = packed.n_planes[tile], tile * LANES
        if n_j > 0 and n_rows > 0:
            count_rows(bits, n_rows, packed.bits, packed.bits_at[tile], n_j, packed.words, counts)
            for row in range(n_rows):
                p = planes[first[begin] + row]
                for lane in range(max(0, places[row] - start), min(LANES, len(first) - 1 - start)):
                    mine = planes[first[start + lane] : first[start + lane + 1]]
                    for b in range(len(mine)):
                        to = _at(p, mine[b]) * n_classes
                        at = (row * n_j + b) * LANES + lane
                        for c in range(n_classes):
                            cells[to + c] += counts[c * n_rows * n_j * LANES + at]


@kernel
def _copy_bits(packed: Any, first: Any, begin: int, end: int) -> Any:
    """The planes of some features, one after the other, and the place of each."""
    n_words = packed.words[-1]
    n_rows = first[end] - first[begin]
    bits, places = np.empty(n_rows * n_words, np.uint32), np.empty(n_rows, np.int64)
    for place in range(begin, end):
        tile, lane = place // LANES, place % LANES
        for plane in range(first[place + 1] - first[place]):
            row = first[place] - first[begin] + plane
            places[row] = place
            start = packed.bits_at[tile] + plane * n_words * LANES + lane
            for word in range(n_words):
                bits[row * n_words + word] = packed.bits[start + word * LANES]
    return bits, places


@kernel
def margins(n_planes: int, n_classes: int, cells: Any) -> Any:
    """Rows of each class that each plane has."""
    out = np.empty((n_planes, n_classes), np.int64)
    for p in range(n_planes):
        for c in range(n_classes):
            out[p, c] = cells[_at(p, p) * n_classes + c]
    return out


@kernel
def gram_rows(rows: Any, n_planes: int, sizes: Any, cells: Any, c: int) -> Any:
    """Rows of class c that two planes share; plane 0 is the constant, plane p + 1 our plane p."""
    n_classes = len(sizes)
    out = np.empty((len(rows), n_planes + 1), np.int64)
    for r in range(len(rows)):
        for q in range(n_planes + 1):
            high, low = max(rows[r], q), min(rows[r], q)
            if high == 0:
                out[r, q] = sizes[c]
            else:
                other = low - 1 if low > 0 else high - 1
                out[r, q] = cells[_at(high - 1, other) * n_classes + c]
    return out


@kernel
def add_rows(some: Any, begin: int, c: int, n_classes: int, cells: Any) -> None:
    """Add full rows of class c, of planes from ``begin`` on, up to the diagonal."""
    for r in range(len(some)):
        p = begin + r
        for q in range(p + 1):
            cells[_at(p, q) * n_classes + c] += some[r, q]


@kernel
def pair_cells(
    i: int, j: int, first: Any, planes: Any, margin: Any, sizes: Any, cells: Any,
    by_class: Any, pairs: Any,
) -> None:  # fmt: skip
    """Write the counts of two features, with and without the class, to scratch.

    ``planes[first[i]:first[i + 1]]`` are those of feature i. Cells of first levels are what the
    margins leave.
    """
    mine, others = planes[first[i] : first[i + 1]], planes[first[j] : first[j + 1]]
    n_i, n_j, n_classes = len(mine), len(others), len(sizes)
    width = n_j + 1
    pairs[: (n_i + 1) * width] = 0
    for c in range(n_classes):
        base = c * (n_i + 1) * width
        corner = sizes[c]
        for b in range(n_j):
            by_class[base + 1 + b] = margin[others[b], c]
            corner -= margin[others[b], c]
        for a in range(n_i):
            left, row = margin[mine[a], c], base + (a + 1) * width
            corner -= left
            for b in range(n_j):
                n = np.int64(cells[_at(mine[a], others[b]) * n_classes + c])
                by_class[row + 1 + b] = n
                by_class[base + 1 + b] -= n
                left -= n
                corner += n
            by_class[row] = left
        by_class[base] = corner
        for cell in range((n_i + 1) * width):
            pairs[cell] += by_class[base + cell]


@kernel
def _look_up(table: Any, known: Any, count: int) -> int:
    if len(known) == 0:
        return table[count]
    return table[np.searchsorted(known, count)]


@parallel_kernel
def fill_pairs(
    rows: Any, columns: Any, mirror: bool, first: Any, planes: Any, margin: Any, sizes: Any,
    cells: Any, known: Any, formula: Any, out: Any,
) -> None:  # fmt: skip
    """Sum a formula over the cells of each pair; its tables are over ``known`` counts, or all."""
    most = np.diff(first).max() + 1
    n_rows = len(rows)
    for task in numba.prange(n_rows):
        r = task // 2 if task % 2 == 0 else n_rows - 1 - task // 2
        i = rows[r]
        levels = first[i + 1] - first[i] + 1
        by_class = np.empty(levels * most * len(sizes), np.int64)
        pairs = np.empty(levels * most, np.int64)
        for s in range(r + 1 if mirror else len(columns)):
            j = columns[s]
            pair_cells(i, j, first, planes, margin, sizes, cells, by_class, pairs)
            n_cells = levels * (first[j + 1] - first[j] + 1)
            total = 0
            for cell in range(n_cells):
                total += _look_up(formula.pair_table, known, pairs[cell])
            for cell in range(n_cells * len(sizes)):
                total += _look_up(formula.class_table, known, by_class[cell])
            value = (total + formula.row_term[i] + formula.column_term[j]) * formula.scale
            out[r, s] = max(value, formula.lowest)
            if mirror:
                value = (total + formula.row_term[j] + formula.column_term[i]) * formula.scale
                out[s, r] = max(value, formula.lowest)


@kernel
def list_counts(
    i: int, first: Any, planes: Any, margin: Any, sizes: Any, cells: Any
) -> Any:  # fmt: skip
    """All counts of the cells of one feature with those up to it."""
    levels, most = first[i + 1] - first[i] + 1, np.diff(first).max() + 1
    width = levels * most
    found = np.zeros((i + 1, width * (len(sizes) + 1)), np.int64)
    for j in range(i + 1):
        pair_cells(
            i, j, first, planes, margin, sizes, cells,
            found[j, : width * len(sizes)], found[j, width * len(sizes) :],
        )  # fmt: skip
    return np.unique(found.ravel())
