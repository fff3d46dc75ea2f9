"""Sum a formula over the cells of many pairs: the loop around the two counting kernels."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel, parallel_kernel
from bestk.information.backends._bitplanes import count_rows, sum_cells, sum_two_by_two
from bestk.information.backends._costs import prefers_planes
from bestk.information.backends._histograms import group_samples, sum_pair
from bestk.information.backends._lanes import LANES, load, splat_sum, store_scaled


class Formula(NamedTuple):
    """``scale * (sum of tables over cells + row_term + column_term)``, in fixed point."""

    pair_table: NDArray[np.int64]  # looked up for each cell (xi, xj)
    class_table: NDArray[np.int64]  # and for each cell (xi, xj, y)
    pair_step: NDArray[np.int64]  # their differences
    class_step: NDArray[np.int64]
    row_term: NDArray[np.int64]
    column_term: NDArray[np.int64]
    scale: float
    lowest: float  # results below are rounding noise


class Request(NamedTuple):
    """Which pairs to fill, and where they go."""

    rows: NDArray[np.int64]  # places of the row features
    row_to: NDArray[np.int64]  # row of the output for each of them
    groups: NDArray[np.int64]  # rows[groups[g]:groups[g + 1]] are worked on together
    tiles: NDArray[np.int64]  # ascending
    column_to: NDArray[np.int64]  # column of the output for each place, -1 for none
    mirror: bool  # the output is symmetric in its features: fill one half, write both


class Rows(NamedTuple):
    """The row features of a group, their planes copied out of their tiles."""

    places: NDArray[np.int64]
    to: NDArray[np.int64]  # rows of the output
    row_terms: NDArray[np.int64]
    column_terms: NDArray[np.int64]  # where the group stands for columns, across the diagonal
    first: NDArray[np.int64]  # planes first[r]:first[r + 1] are those of row r
    bits: NDArray[np.uint32]  # [plane, word]
    margins: NDArray[np.int64]  # [plane, class]
    most_levels: int
    have_planes: bool


@parallel_kernel
def fill(packed: Any, formula: Any, request: Any, tasks: Any, out: Any) -> None:
    """Fill pieces of a request: each a group of rows against ``tiles[begin:end]``."""
    for task in numba.prange(len(tasks)):
        group, begin, end = tasks[task, 0], tasks[task, 1], tasks[task, 2]
        rows, tiles = _copy_rows(packed, formula, request, group), request.tiles[begin:end]
        _fill_by_planes(packed, formula, request, rows, tiles, out)
        _fill_by_histograms(packed, formula, request, rows, tiles, out)


@kernel
def _by_planes(packed: Any, rows: Any, tile: int) -> bool:
    """Whether the pairs of this tile are counted by planes."""
    if len(packed.codes) == 0:
        return True
    n_j, n_words = packed.n_planes[tile], packed.words[-1]
    if not rows.have_planes or n_j < 0:
        return False
    n_classes, n_samples = len(packed.sizes), packed.starts[-1]
    return prefers_planes(rows.most_levels - 1, n_j, n_words, n_classes, n_samples)


@kernel
def _fill_by_planes(
    packed: Any, formula: Any, request: Any, rows: Any, tiles: Any, out: Any
) -> None:
    sizes, margins, words = packed.sizes, packed.margins, packed.words
    pair_table, class_table = formula.pair_table, formula.class_table
    n_rows, most = len(rows.margins), max(0, packed.n_planes.max())
    counts = np.empty(len(sizes) * n_rows * most * LANES, np.uint32)
    pairs = np.empty((rows.most_levels * (most + 1) if rows.have_planes else 0) * LANES, np.uint32)
    rest = np.empty(most * LANES, np.uint32)
    n = len(rows.row_terms)
    sums, turned = np.empty((n, LANES), np.int64), np.empty((LANES, n), np.int64)
    for tile in tiles:
        if _by_planes(packed, rows, tile):
            at, n_j = packed.margins_at[tile], packed.n_planes[tile]
            count_rows(rows.bits, n_rows, packed.bits, packed.bits_at[tile], n_j, words, counts)
            for r in range(len(rows.places)):
                row, n_i, to = rows.first[r], rows.first[r + 1] - rows.first[r], r * LANES
                if n_i == 1 and n_j == 1:
                    sum_two_by_two(
                        counts, row, n_rows, margins, at, rows.margins, sizes,
                        pair_table, class_table, sums, to,
                    )  # fmt: skip
                else:
                    sum_cells(
                        counts, row, n_rows, n_i, margins, at, n_j, rows.margins, sizes,
                        pair_table, class_table, pairs, rest, sums, to,
                    )  # fmt: skip
            _write(formula, request, rows, tile, sums, turned, out)


@kernel
def _fill_by_histograms(
    packed: Any, formula: Any, request: Any, rows: Any, tiles: Any, out: Any
) -> None:
    n, n_samples, most = len(rows.places), packed.starts[-1], packed.levels.max()
    orders, ends = np.empty((0, 0), np.uint32), np.empty((0, 0), np.int64)
    n_runs = np.zeros(n, np.int64)
    in_level, in_run = np.zeros(most, np.uint32), np.zeros(most, np.uint32)
    sums, turned = np.zeros((n, LANES), np.int64), np.zeros((LANES, n), np.int64)
    for tile in tiles:
        if _by_planes(packed, rows, tile):
            continue
        if len(orders) == 0:
            orders, ends = np.empty((n, n_samples), np.uint32), np.empty((n, n_samples), np.int64)
            for r in range(n):
                codes = packed.codes[rows.places[r]]
                n_runs[r] = group_samples(codes, most, packed.starts, orders[r], ends[r])
        for lane in range(min(LANES, len(packed.levels) - tile * LANES)):
            if request.column_to[tile * LANES + lane] >= 0:
                codes = packed.codes[tile * LANES + lane]
                for r in range(n):
                    sums[r, lane] = sum_pair(
                        codes, orders[r], ends[r], n_runs[r], formula.pair_step,
                        formula.class_step, in_level, in_run,
                    )  # fmt: skip
        _write(formula, request, rows, tile, sums, turned, out)


@kernel
def _copy_rows(packed: Any, formula: Any, request: Any, group: int) -> Any:
    """Read the rows of a group out of their tiles."""
    begin, end, n_words = request.groups[group], request.groups[group + 1], packed.words[-1]
    places = request.rows[begin:end]
    first = np.zeros(len(places) + 1, np.int64)
    have_planes = True
    for r in range(len(places)):
        first[r + 1] = first[r] + packed.levels[places[r]] - 1
        have_planes &= packed.n_planes[places[r] // LANES] >= 0
    n_planes = first[-1] if have_planes else 0
    bits = np.zeros(n_planes * n_words, np.uint32)
    margins = np.zeros((n_planes, len(packed.sizes)), np.int64)
    for r in range(len(places) if have_planes else 0):
        tile, lane = places[r] // LANES, places[r] % LANES
        for plane in range(first[r + 1] - first[r]):
            row, start = first[r] + plane, packed.bits_at[tile] + plane * n_words * LANES + lane
            for word in range(n_words):
                bits[row * n_words + word] = packed.bits[start + word * LANES]
            for c in range(len(packed.sizes)):
                at = packed.margins_at[tile] + (c * packed.n_planes[tile] + plane) * LANES + lane
                margins[row, c] = packed.margins[at]
    return Rows(
        places, request.row_to[begin:end], formula.row_term[places], formula.column_term[places],
        first, bits, margins, packed.levels[places].max(), have_planes,
    )  # fmt: skip


@kernel
def _write(
    formula: Any, request: Any, rows: Any, tile: int, sums: Any, turned: Any, out: Any
) -> None:
    """Scale a block of sums into the output, and across its diagonal if that is asked for."""
    n_rows, start = len(rows.places), tile * LANES
    n_lanes = min(LANES, len(request.column_to) - start)
    scale, lowest = formula.scale, formula.lowest
    _write_block(
        sums, n_rows, rows.row_terms, 0, rows.to, 0, n_lanes, formula.column_term, start,
        request.column_to, start, scale, lowest, out,
    )  # fmt: skip
    if request.mirror:
        for lane in range(n_lanes):
            for row in range(n_rows):
                turned[lane, row] = sums[row, lane]
        _write_block(
            turned, n_lanes, formula.row_term, start, request.column_to, start,
            n_rows, rows.column_terms, 0, rows.to, 0, scale, lowest, out,
        )  # fmt: skip


@kernel
def _write_block(
    sums: Any, n_rows: int, row_terms: Any, row_at: int, row_to: Any, row_to_at: int,
    n_columns: int, column_terms: Any, column_at: int, column_to: Any, column_to_at: int,
    scale: float, lowest: float, out: Any,
) -> None:  # fmt: skip
    """Scale one block; sixteen columns side by side go out as one register."""
    stride, width = sums.shape[1], out.shape[1]
    for begin in range(0, n_columns, LANES):
        n, at = min(LANES, n_columns - begin), column_at + begin
        places = column_to[column_to_at + begin : column_to_at + begin + n]
        if n == LANES and _consecutive(places):
            terms = load(column_terms, at)
            for r in range(n_rows):
                total = load(sums, r * stride + begin) + terms + splat_sum(row_terms[row_at + r])
                to = row_to[row_to_at + r] * width + places[0]
                store_scaled(out, to, total, scale, lowest)
        else:
            for r in range(n_rows):
                term, row = row_terms[row_at + r], row_to[row_to_at + r]
                for c in range(n):
                    if places[c] >= 0:
                        value = (sums[r, begin + c] + term + column_terms[at + c]) * scale
                        out[row, places[c]] = max(value, lowest)


@kernel
def _consecutive(numbers: Any) -> bool:
    for index in range(1, len(numbers)):
        if numbers[index] != numbers[index - 1] + 1:
            return False
    return numbers[0] >= 0


@parallel_kernel
def fill_singles(
    packed: Any, plain: Any, with_class: Any, chance: Any, plain_step: Any, class_step: Any,
    x: Any, xy: Any,
) -> None:  # fmt: skip
    """Sum tables over the cells of single features: x over levels, xy over (level, class)."""
    sizes = packed.sizes
    n_samples = packed.starts[-1]
    ends = np.concatenate((packed.starts[1:-1], np.array([-n_samples])))
    everyone = np.arange(n_samples, dtype=np.uint32)
    for place in numba.prange(len(packed.levels)):
        tile, lane = place // LANES, place % LANES
        if packed.n_planes[tile] >= 0:
            left = sizes.copy()
            for plane in range(packed.levels[place] - 1):
                count = 0
                for c in range(len(sizes)):
                    at = (c * packed.n_planes[tile] + plane) * LANES + lane
                    n = int(packed.margins[packed.margins_at[tile] + at])
                    xy[place] += with_class[n]
                    left[c] -= n
                    count += n
                x[place] += plain[count]
                xy[place] += chance[count]
            for n in left:
                xy[place] += with_class[n]
            x[place] += plain[left.sum()]
            xy[place] += chance[left.sum()]
        else:
            in_level = np.zeros(packed.levels[place], np.uint32)
            in_run = np.zeros(packed.levels[place], np.uint32)
            row = packed.codes[place]
            nothing = np.zeros_like(plain_step)
            x[place] = sum_pair(
                row, everyone, ends, len(ends), plain_step, nothing, in_level, in_run
            )
            xy[place] = sum_pair(
                row, everyone, ends, len(ends), chance[1:] - chance[:-1], class_step,
                in_level, in_run,
            )  # fmt: skip
