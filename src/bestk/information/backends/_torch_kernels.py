"""Kernels for pairs of two-level features on a GPU: half the look-ups, from tables of each row.

With n samples of a class, a of them at the first level of the row feature and b at that of the
column's, c at both, the four cells are c, a - c, b - c and n - a - b + c. The first two sum to a
and the others to n - a, whatever the column: for each row two tables hold what such a couple of
cells is worth, and as a couple has no order, half of each is enough.
"""

from typing import Any

import torch
import triton
import triton.language as tl

MAX_PARTS = 8
TABLE_BYTES = 2**28
BUILT, COLUMNS, WARPS, TURNED = 1024, 2048, 16, 64  # entries of a program at a time
PROGRAMS = 512  # fewer rows are cut, else the tables of a row stay in one cache


def suits(counts: Any, target: Any, size: int, n_columns: int) -> bool:
    """Whether a row has columns enough to be worth tables of its own."""
    return bool(
        counts.shape[0] <= MAX_PARTS and target.dtype != torch.int64 and 4 * n_columns >= size
    )


def write_rows(
    counts: Any, rows: Any, columns: Any, margins: Any, size: int, recipe: Any, target: Any,
    mirror: bool,
) -> None:  # fmt: skip
    """Look up, sum, add terms, scale and put in place."""
    n_parts, width, n_columns = counts.shape[0], counts.shape[-1], len(columns.at)
    length = size + 4 * (n_parts + 1)
    at_once = max(1, TABLE_BYTES // (8 * length))
    n_rows = len(rows.at)
    tables = counts.new_empty((min(at_once, n_rows), length), dtype=torch.int64)
    other = target
    if mirror and not recipe.symmetric:
        other = torch.empty((n_rows, n_columns), dtype=target.dtype, device=target.device)
    flags = {"PARTS": n_parts, "BY_CLASS": recipe.by_class, "BY_PAIR": recipe.by_pair}
    mine, yours, sizes = margins
    with torch.cuda.device(counts.device):
        for start in range(0, n_rows, at_once):
            n = min(at_once, n_rows - start)
            _build[n, triton.cdiv(size // 2 + 4, BUILT)](
                recipe.pair_table, recipe.class_table, mine[:, start:], mine.stride(0), sizes,
                tables, length, **flags, BLOCK=BUILT,
            )  # fmt: skip
            chunk = COLUMNS * triton.cdiv(n_columns, COLUMNS * max(1, PROGRAMS // n))
            _write_rows[n, triton.cdiv(n_columns, chunk)](
                counts, counts.stride(0), width, start, chunk, mine, mine.stride(0),
                yours, yours.stride(0), sizes, tables, length, recipe.scale_and_lowest,
                rows.at, rows.row_term, rows.column_term,
                columns.at, columns.first or 0, columns.row_term, columns.column_term, n_columns,
                target, target.stride(0), other, other.stride(0), **flags,
                IN_A_ROW=columns.first is not None, TWICE=other is not target,
                WIDTH=COLUMNS, num_warps=WARPS,
            )  # fmt: skip
        if mirror:
            grid = triton.cdiv(n_columns, TURNED), triton.cdiv(n_rows, TURNED)
            in_a_row = rows.first is not None and columns.first is not None
            _turn[grid](
                other, other.stride(0), rows.at, rows.first or 0, n_rows,
                columns.at, columns.first or 0, n_columns, target, target.stride(0),
                PLACED=other is target, IN_A_ROW=in_a_row, SIDE=TURNED, num_warps=8,
            )  # fmt: skip


@triton.jit(do_not_specialize=["step_i"])
def _build(  # type: ignore[no-untyped-def]
    pair_table, class_table, margins, step_i, sizes, tables, length,
    PARTS: tl.constexpr, BY_CLASS: tl.constexpr, BY_PAIR: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip  # pragma: no cover
    """Tables of a row: class after class, then of all classes."""
    row = tl.program_id(0)
    entry = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    to = tables + row.to(tl.int64) * length
    all_mine, all_size = row * 0, row * 0
    for c in tl.static_range(PARTS):
        mine, size = tl.load(margins + c * step_i + row), tl.load(sizes + c)
        if BY_CLASS:
            _build_couples(class_table, mine, size, to, entry)
            to += size // 2 + 2
        all_mine += mine
        all_size += size
    if BY_PAIR:
        _build_couples(pair_table, all_mine, all_size, to, entry)


@triton.jit
def _build_couples(table, mine, size, to, entry):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Couples that sum to ``mine``, then those that sum to the rest."""
    n_first, n_second = mine // 2 + 1, (size - mine) // 2 + 1
    is_first, inside = entry < n_first, entry < n_first + n_second
    cell = tl.where(is_first, entry, entry - n_first)
    other = tl.where(is_first, mine, size - mine) - cell
    couple = tl.load(table + cell, mask=inside, other=0)
    couple += tl.load(table + other, mask=inside, other=0)
    tl.store(to + entry, couple, mask=inside)


@triton.jit  # sizes that are multiples of 16 are worth a compilation: loads become wide
def _write_rows(  # type: ignore[no-untyped-def]
    counts, part_size, width, start, chunk, row_margins, step_i, column_margins, step_j, sizes,
    tables, length, scale_and_lowest,
    row_at, row_row_term, row_column_term,
    column_at, first, column_row_term, column_column_term, n_columns,
    target, stride, other, other_stride,
    PARTS: tl.constexpr, BY_CLASS: tl.constexpr, BY_PAIR: tl.constexpr,
    IN_A_ROW: tl.constexpr, TWICE: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip  # pragma: no cover
    row = start + tl.program_id(0)
    own = tables + tl.program_id(0).to(tl.int64) * length
    to = target + tl.load(row_at + row) * stride
    to_other = other + row.to(tl.int64) * other_stride
    scale, lowest = tl.load(scale_and_lowest), tl.load(scale_and_lowest + 1)
    row_term, row_term_across = tl.load(row_row_term + row), tl.load(row_column_term + row)
    left = tl.program_id(1) * chunk
    for begin in range(left, min(left + chunk, n_columns), WIDTH):
        j = begin + tl.arange(0, WIDTH)
        inside = j < n_columns
        total = j.to(tl.int64) * 0
        all_both, all_yours, all_mine, all_size = j * 0, j * 0, row * 0, row * 0
        at = own
        for c in tl.static_range(PARTS):
            part = counts + c * part_size + row.to(tl.int64) * width
            both = tl.load(part + j, mask=j < width, other=0).to(tl.int32)
            yours = tl.load(column_margins + c * step_j + j, mask=j < width, other=0)
            both, yours = tl.where(inside, both, 0), tl.where(inside, yours, 0)
            mine, size = tl.load(row_margins + c * step_i + row), tl.load(sizes + c)
            if BY_CLASS:
                total += _look_up_couples(at, both, mine, yours, size)
                at += size // 2 + 2
            all_both += both
            all_yours += yours
            all_mine += mine
            all_size += size
        if BY_PAIR:
            total += _look_up_couples(at, all_both, all_mine, all_yours, all_size)
        term = tl.load(column_column_term + j, mask=inside, other=0) + row_term
        value = tl.maximum((total + term).to(tl.float64) * scale, lowest)
        to_j = first + j if IN_A_ROW else tl.load(column_at + j, mask=inside, other=0)
        tl.store(to + to_j, value.to(target.dtype.element_ty), mask=inside)
        if TWICE:
            term = tl.load(column_row_term + j, mask=inside, other=0) + row_term_across
            value = tl.maximum((total + term).to(tl.float64) * scale, lowest)
            tl.store(to_other + j, value.to(target.dtype.element_ty), mask=inside)


@triton.jit
def _look_up_couples(at, both, mine, yours, size):  # type: ignore[no-untyped-def]  # pragma: no cover
    only_j = yours - both
    couple = tl.load(at + tl.minimum(both, mine - both))
    return couple + tl.load(at + (mine // 2 + 1) + tl.minimum(only_j, size - mine - only_j))


@triton.jit
def _turn(  # type: ignore[no-untyped-def]
    source, source_stride, row_at, first_row, n_rows, column_at, first_column, n_columns,
    target, stride, PLACED: tl.constexpr, IN_A_ROW: tl.constexpr, SIDE: tl.constexpr,
):  # fmt: skip  # pragma: no cover
    """Write a tile across the diagonal."""
    i = (tl.program_id(1) * SIDE + tl.arange(0, SIDE)).to(tl.int64)
    j = (tl.program_id(0) * SIDE + tl.arange(0, SIDE)).to(tl.int64)
    in_i, in_j = i < n_rows, j < n_columns
    if IN_A_ROW:
        to_i, to_j = first_row + i, first_column + j
    else:
        to_i = tl.load(row_at + i, mask=in_i, other=0)
        to_j = tl.load(column_at + j, mask=in_j, other=0)
    if PLACED:
        place = to_i[:, None] * source_stride + to_j[None, :]
    else:
        place = i[:, None] * source_stride + j[None, :]
    value = tl.load(source + place, mask=in_i[:, None] & in_j[None, :], other=0)
    back = target + to_j[:, None] * stride + to_i[None, :]
    tl.store(back, tl.trans(value), mask=in_j[:, None] & in_i[None, :])
