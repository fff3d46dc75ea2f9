"""Sum a formula over the cells of many pairs: the loop around the two counting kernels."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

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


@numba.njit(parallel=True, cache=True, nogil=True)
def fill(packed: Any, formula: Any, request: Any, chosen: Any, out: Any) -> None:
    """Fill the chosen groups of a request."""
    for index in numba.prange(len(chosen)):
        _fill_group(packed, formula, request, chosen[index], out)


@numba.njit(cache=True, nogil=True)
def _fill_group(packed: Any, formula: Any, request: Any, group: int, out: Any) -> None:
    levels, sizes = packed.levels, packed.sizes
    rows = request.rows[request.groups[group] : request.groups[group + 1]]
    most = max(0, packed.n_planes.max())
    has_planes = True
    first_row = np.zeros(len(rows) + 1, np.int64)
    for r in range(len(rows)):
        first_row[r + 1] = first_row[r] + levels[rows[r]] - 1
        has_planes &= packed.n_planes[rows[r] // LANES] >= 0
    n_rows = (first_row[-1] + 3) // 4 * 4 if has_planes else 0
    bits = np.zeros(n_rows * packed.words[-1], np.uint32)
    mine = np.zeros((max(n_rows, 1), len(sizes)), np.int64)
    widest = 0
    for r in range(len(rows)):
        if has_planes:
            _copy_row(packed, rows[r], first_row[r], levels[rows[r]] - 1, bits, mine)
        widest = max(widest, levels[rows[r]])
    counts = np.empty(len(sizes) * n_rows * most * LANES, np.uint32)
    pairs = np.empty((widest if has_planes else 0) * (most + 1) * LANES, np.uint32)
    rest = np.empty(most * LANES, np.uint32)
    sums = np.empty((len(rows), LANES), np.int64)
    orders = np.empty((0, 0), np.uint32)
    ends = np.empty((0, 0), np.int64)
    n_runs = np.zeros(len(rows), np.int64)
    in_level = np.zeros(0, np.uint32)
    in_run = np.zeros(0, np.uint32)
    for tile in request.tiles:
        if request.mirror and tile < rows[0] // LANES:
            continue
        n_j = packed.n_planes[tile]
        if (
            has_planes
            and n_j >= 0
            and (
                len(packed.codes) == 0
                or prefers_planes(widest - 1, n_j, packed.words[-1], len(sizes), packed.starts[-1])
            )
        ):
            count_rows(bits, n_rows, packed.bits, packed.bits_at[tile], n_j, packed.words, counts)
            at = packed.margins_at[tile]
            for r in range(len(rows)):
                n_i, row = levels[rows[r]] - 1, first_row[r]
                if n_i == 1 and n_j == 1:
                    sum_two_by_two(
                        counts, row, n_rows, packed.margins, at, mine[row], sizes,
                        formula.pair_table, formula.class_table, sums, r * LANES,
                    )  # fmt: skip
                else:
                    sum_cells(
                        counts, row, n_rows, n_i, packed.margins, at, n_j, mine, sizes,
                        formula.pair_table, formula.class_table, pairs, rest, sums, r * LANES,
                    )  # fmt: skip
        else:
            if len(orders) == 0:
                orders = np.empty((len(rows), packed.starts[-1]), np.uint32)
                ends = np.empty((len(rows), packed.starts[-1]), np.int64)
                in_level = np.zeros(levels.max(), np.uint32)
                in_run = np.zeros(levels.max(), np.uint32)
                for r in range(len(rows)):
                    n_runs[r] = group_samples(
                        packed.codes[rows[r]], levels[rows[r]], packed.starts, orders[r], ends[r]
                    )
            for lane in range(min(LANES, len(levels) - tile * LANES)):
                if request.column_to[tile * LANES + lane] >= 0:
                    codes = packed.codes[tile * LANES + lane]
                    for r in range(len(rows)):
                        sums[r, lane] = sum_pair(
                            codes, orders[r], ends[r], n_runs[r], formula.pair_step,
                            formula.class_step, in_level, in_run,
                        )  # fmt: skip
        _write(formula, request, group, tile, sums, out)


@numba.njit(cache=True, nogil=True)
def _copy_row(packed: Any, place: int, row: int, n_planes: int, bits: Any, mine: Any) -> None:
    """Copy the planes of one feature, and its margins, out of its tile."""
    tile, lane, n_words = place // LANES, place % LANES, packed.words[-1]
    for plane in range(n_planes):
        start = packed.bits_at[tile] + plane * n_words * LANES + lane
        for word in range(n_words):
            bits[(row + plane) * n_words + word] = packed.bits[start + word * LANES]
        for c in range(len(packed.sizes)):
            margin = (c * packed.n_planes[tile] + plane) * LANES + lane
            mine[row + plane, c] = packed.margins[packed.margins_at[tile] + margin]


@numba.njit(cache=True, nogil=True)
def _write(formula: Any, request: Any, group: int, tile: int, sums: Any, out: Any) -> None:
    """Scale a block of sums into the output, and across its diagonal if that is asked for."""
    first, begin = tile * LANES, request.groups[group]
    lanes = request.column_to[first : first + LANES]
    rows = request.rows[begin : request.groups[group + 1]]
    row_to = request.row_to[begin : request.groups[group + 1]]
    _write_block(
        formula, sums, formula.row_term[rows], formula.column_term[first : first + LANES],
        row_to, lanes, out,
    )  # fmt: skip
    if request.mirror:
        turned = np.empty((len(lanes), LANES), np.int64)
        for lane in range(len(lanes)):
            for row in range(len(rows)):
                turned[lane, row] = sums[row, lane]
        _write_block(
            formula, turned, formula.row_term[first : first + LANES], formula.column_term[rows],
            lanes, row_to, out,
        )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def _write_block(
    formula: Any, sums: Any, row_terms: Any, column_terms: Any, rows: Any, columns: Any, out: Any
) -> None:
    scale, lowest = formula.scale, formula.lowest
    if len(columns) == LANES and _consecutive(columns):
        terms = load(column_terms, 0)
        for r in range(len(rows)):
            total = load(sums, r * LANES) + terms + splat_sum(row_terms[r])
            store_scaled(out, rows[r] * out.shape[1] + columns[0], total, scale, lowest)
        return
    for r in range(len(rows)):
        row = out[rows[r]]
        for c in range(len(columns)):
            if columns[c] >= 0:
                value = (sums[r, c] + row_terms[r] + column_terms[c]) * scale
                row[columns[c]] = max(value, lowest)


@numba.njit(cache=True, nogil=True)
def _consecutive(numbers: Any) -> bool:
    for index in range(1, len(numbers)):
        if numbers[index] != numbers[index - 1] + 1:
            return False
    return numbers[0] >= 0


@numba.njit(parallel=True, cache=True, nogil=True)
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
                    n = np.int64(packed.margins[packed.margins_at[tile] + at])
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
