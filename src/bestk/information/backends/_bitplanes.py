"""Counting by bit-planes: one bit per sample and level, AND and popcount for a pair.

A feature of L levels has L - 1 planes; the counts of its last level follow from the margins.
Sixteen features make a tile, their words side by side, so that one vector instruction counts
for sixteen pairs and no sum across a register is ever needed.
"""

from typing import Any

from bestk._kernels import kernel
from bestk.information.backends._lanes import (
    LANES,
    common_bits,
    load,
    look_up,
    look_up_small,
    no_counts,
    no_sums,
    splat,
    store,
)


@kernel(forceinline=True)
def count_rows(
    rows: Any, n_rows: int, bits: Any, at: int, n_planes: int, words: Any, counts: Any
) -> None:
    """Count ``[class, row, plane, lane]``: samples with both bits set, four rows at a time."""
    n_words = words[-1]
    for c in range(len(words) - 1):
        first, stop = words[c], words[c + 1]
        for row in range(0, n_rows - 3, 4):
            r0 = row * n_words
            r1, r2, r3 = r0 + n_words, r0 + 2 * n_words, r0 + 3 * n_words
            for plane in range(n_planes):
                n0, n1, n2, n3 = no_counts(), no_counts(), no_counts(), no_counts()
                start = at + plane * n_words * LANES
                for word in range(first, stop):
                    tile = load(bits, start + word * LANES)
                    n0 = n0 + common_bits(tile, rows, r0 + word)
                    n1 = n1 + common_bits(tile, rows, r1 + word)
                    n2 = n2 + common_bits(tile, rows, r2 + word)
                    n3 = n3 + common_bits(tile, rows, r3 + word)
                to = ((c * n_rows + row) * n_planes + plane) * LANES
                store(counts, to, n0)
                store(counts, to + n_planes * LANES, n1)
                store(counts, to + 2 * n_planes * LANES, n2)
                store(counts, to + 3 * n_planes * LANES, n3)
        for row in range(n_rows - n_rows % 4, n_rows):
            for plane in range(n_planes):
                n = no_counts()
                start = at + plane * n_words * LANES
                for word in range(first, stop):
                    tile = load(bits, start + word * LANES)
                    n = n + common_bits(tile, rows, row * n_words + word)
                store(counts, ((c * n_rows + row) * n_planes + plane) * LANES, n)


@kernel(forceinline=True)
def sum_two_by_two(
    counts: Any, row: int, n_rows: int, margins: Any, at: int, mine: Any, sizes: Any,
    pair_table: Any, class_table: Any, out: Any, to: int,
) -> None:  # fmt: skip
    """Sum the tables over the cells of a two-level feature against two-level ones."""
    total, both, only_i, only_j, neither = (
        no_sums(), no_counts(), no_counts(), no_counts(), no_counts()
    )  # fmt: skip
    for c in range(len(sizes)):
        n11 = load(counts, (c * n_rows + row) * LANES)
        n10 = splat(mine[row, c]) - n11
        n01 = load(margins, at + c * LANES) - n11
        n00 = splat(sizes[c] - mine[row, c]) - n01
        total = total + look_up(class_table, n11) + look_up(class_table, n10)
        total = total + look_up(class_table, n01) + look_up(class_table, n00)
        both, only_i, only_j, neither = both + n11, only_i + n10, only_j + n01, neither + n00
    total = total + look_up(pair_table, both) + look_up(pair_table, only_i)
    total = total + look_up(pair_table, only_j) + look_up(pair_table, neither)
    store(out, to, total)


@kernel(forceinline=True)
def sum_cells(
    counts: Any, row: int, n_rows: int, n_i: int, margins: Any, at: int, n_j: int, mine: Any,
    sizes: Any, pair_table: Any, class_table: Any, pairs: Any, rest: Any, out: Any, to: int,
) -> None:  # fmt: skip
    """Sum the tables over all cells; ``pairs`` and ``rest`` are scratch."""
    width = n_j + 1
    nothing = no_counts()
    for cell in range((n_i + 1) * width):
        store(pairs, cell * LANES, nothing)
    total = no_sums()
    for c in range(len(sizes)):
        for b in range(n_j):
            store(rest, b * LANES, load(margins, at + (c * n_j + b) * LANES))
        outside = sizes[c]
        for a in range(n_i):
            outside -= mine[row + a, c]
            left = splat(mine[row + a, c])
            for b in range(n_j):
                n = load(counts, ((c * n_rows + row + a) * n_j + b) * LANES)
                left = left - n
                total = total + look_up_small(class_table, n)
                store(rest, b * LANES, load(rest, b * LANES) - n)
                cell = (a * width + b) * LANES
                store(pairs, cell, load(pairs, cell) + n)
            total = total + look_up_small(class_table, left)
            cell = (a * width + n_j) * LANES
            store(pairs, cell, load(pairs, cell) + left)
        corner = splat(outside)
        for b in range(n_j):
            n = load(rest, b * LANES)
            corner = corner - n
            total = total + look_up_small(class_table, n)
            cell = (n_i * width + b) * LANES
            store(pairs, cell, load(pairs, cell) + n)
        total = total + look_up_small(class_table, corner)
        cell = (n_i * width + n_j) * LANES
        store(pairs, cell, load(pairs, cell) + corner)
    for cell in range((n_i + 1) * width):
        total = total + look_up(pair_table, load(pairs, cell * LANES))
    store(out, to, total)
