"""Kernels for a GPU: planes from codes, and in one pass results from counts."""

from typing import Any

import torch
import triton
import triton.language as tl

from bestk.information.backends import _torch_row_kernels as row_kernels

CODES = 1024  # that a program turns into planes
BINARY_BLOCK, BLOCK = (1, 8, 64), (2, 4, 32)  # cells, rows and columns of a program
SIZES = ("n_parts", "part_size", "n_i", "n_j", "n_rows", "n_columns", "stride", "step_i", "step_j")


def cut_planes(codes: Any, features: Any, n_levels: int) -> Any:
    """Bytes of 0 and 1 for ``[level, feature]``."""
    n, width = len(features), codes.shape[1]
    out = torch.empty((n_levels * n, width), dtype=torch.uint8, device=codes.device)
    with torch.cuda.device(codes.device):
        grid = n, triton.cdiv(width, CODES)
        _cut_planes[grid](codes, codes.stride(0), features, n_levels, width, out, n, CODES)
    return out


@triton.jit(do_not_specialize=["n_levels", "n"])
def _cut_planes(  # type: ignore[no-untyped-def]
    codes, stride, features, n_levels, width, out, n, CODES: tl.constexpr
):  # pragma: no cover
    place = tl.program_id(1) * CODES + tl.arange(0, CODES)
    inside = place < width
    feature = tl.load(features + tl.program_id(0))
    code = tl.load(codes + feature * stride + place, mask=inside, other=0).to(tl.int32)
    row = tl.program_id(0).to(tl.int64)
    for level in range(n_levels):
        tl.store(out + (level * n + row) * width + place, (code == level).to(tl.uint8), mask=inside)


def write_from_counts(
    counts: Any, rows: Any, columns: Any, margins: Any, recipe: Any, target: Any, mirror: bool
) -> None:
    """Look up, sum, add terms, scale and put in place; ``margins`` of two-level features."""
    n_parts, n_i, width_i, n_j, width_j = counts.shape
    size = len(recipe.pair_table) - 1
    if margins is not None and row_kernels.suits(counts, target, size, len(columns.at)):
        row_kernels.write_rows(counts, rows, columns, margins, size, recipe, target, mirror)
        return
    row_margins, column_margins, sizes = (counts,) * 3 if margins is None else margins
    cells, height, width = BLOCK if margins is None else BINARY_BLOCK
    grid = triton.cdiv(len(columns.at), width), triton.cdiv(len(rows.at), height)
    with torch.cuda.device(counts.device):
        _write_from_counts[grid](
            counts, n_parts, counts.stride(0), n_i, width_i, n_j, width_j,
            row_margins, row_margins.stride(0), column_margins, column_margins.stride(0), sizes,
            recipe.pair_table, recipe.class_table, recipe.scale_and_lowest,
            rows.at, rows.row_term, rows.column_term, len(rows.at),
            columns.at, columns.row_term, columns.column_term, len(columns.at),
            target, target.stride(0),
            BINARY=margins is not None, BY_CLASS=recipe.by_class, BY_PAIR=recipe.by_pair,
            MIRROR=mirror, RAW=target.dtype == torch.int64,
            CELLS=cells, HEIGHT=height, WIDTH=width,
        )  # fmt: skip


@triton.jit(do_not_specialize=SIZES)  # one compilation for all sizes
def _write_from_counts(  # type: ignore[no-untyped-def]
    counts, n_parts, part_size, n_i, width_i, n_j, width_j,
    row_margins, step_i, column_margins, step_j, sizes,
    pair_table, class_table, scale_and_lowest,
    row_at, row_row_term, row_column_term, n_rows,
    column_at, column_row_term, column_column_term, n_columns,
    target, stride,
    BINARY: tl.constexpr, BY_CLASS: tl.constexpr, BY_PAIR: tl.constexpr,
    MIRROR: tl.constexpr, RAW: tl.constexpr,
    CELLS: tl.constexpr, HEIGHT: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip  # pragma: no cover
    i = tl.program_id(1) * HEIGHT + tl.arange(0, HEIGHT)
    j = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    in_i, in_j = i < n_rows, j < n_columns
    inside = in_i[:, None] & in_j[None, :]
    if BINARY:
        total = _sum_two_by_two(
            counts, n_parts, part_size, width_j, row_margins, step_i, column_margins, step_j, sizes,
            pair_table, class_table, i, in_i, j, in_j, BY_CLASS, BY_PAIR,
        )  # fmt: skip
    else:
        total = _sum_cells(
            counts, n_parts, part_size, n_i, width_i, n_j, width_j, pair_table, class_table,
            i, j, inside, BY_CLASS, BY_PAIR, CELLS, HEIGHT, WIDTH,
        )  # fmt: skip
    to_i = tl.load(row_at + i, mask=in_i, other=0)
    to_j = tl.load(column_at + j, mask=in_j, other=0)
    to = target + to_i[:, None] * stride + to_j[None, :]
    if RAW:
        tl.store(to, total, mask=inside)
    else:
        scale, lowest = tl.load(scale_and_lowest), tl.load(scale_and_lowest + 1)
        term_i = tl.load(row_row_term + i, mask=in_i, other=0)
        term_j = tl.load(column_column_term + j, mask=in_j, other=0)
        value = (total + term_i[:, None] + term_j[None, :]).to(tl.float64) * scale
        tl.store(to, tl.maximum(value, lowest).to(target.dtype.element_ty), mask=inside)
        if MIRROR:
            term_i = tl.load(row_column_term + i, mask=in_i, other=0)
            term_j = tl.load(column_row_term + j, mask=in_j, other=0)
            value = (total + term_i[:, None] + term_j[None, :]).to(tl.float64) * scale
            value = tl.trans(tl.maximum(value, lowest).to(target.dtype.element_ty))
            back = target + to_j[:, None] * stride + to_i[None, :]
            tl.store(back, value, mask=in_j[:, None] & in_i[None, :])


@triton.jit
def _sum_cells(  # type: ignore[no-untyped-def]
    counts, n_parts, part_size, n_i, width_i, n_j, width_j, pair_table, class_table,
    i, j, inside, BY_CLASS: tl.constexpr, BY_PAIR: tl.constexpr,
    CELLS: tl.constexpr, HEIGHT: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip  # pragma: no cover
    """Sum the tables over all cells, some at a time so that many loads are under way."""
    length, n_cells = n_j * width_j, n_i * n_j
    pair = i[:, None] * length + j[None, :]
    total = tl.zeros((CELLS, HEIGHT, WIDTH), tl.int64)
    for first in range(0, n_cells, CELLS):
        cell = first + tl.arange(0, CELLS)
        corner = cell // n_j * width_i * length + cell % n_j * width_j
        place = corner[:, None, None] + pair[None, :, :]
        some = (cell < n_cells)[:, None, None] & inside[None, :, :]
        pooled = tl.zeros((CELLS, HEIGHT, WIDTH), tl.int32)
        part = counts
        for _ in range(n_parts):
            n = tl.load(part + place, mask=some, other=0).to(tl.int32)
            if BY_CLASS:
                total += tl.load(class_table + n)
            pooled += n
            part += part_size
        if BY_PAIR:
            total += tl.load(pair_table + pooled)
    return tl.sum(total, axis=0)


@triton.jit
def _sum_two_by_two(  # type: ignore[no-untyped-def]
    counts, n_parts, part_size, width_j, row_margins, step_i, column_margins, step_j, sizes,
    pair_table, class_table, i, in_i, j, in_j, BY_CLASS: tl.constexpr, BY_PAIR: tl.constexpr,
):  # fmt: skip  # pragma: no cover
    """Sum the tables over four cells, three of them from the margins."""
    inside = in_i[:, None] & in_j[None, :]
    place = i[:, None] * width_j + j[None, :]
    total = place.to(tl.int64) * 0
    n11, mine_of_all, yours_of_all, size_of_all = place * 0, i * 0, j * 0, n_parts * 0
    part = counts
    for c in range(n_parts):
        both = tl.load(part + place, mask=inside, other=0).to(tl.int32)
        mine = tl.load(row_margins + c * step_i + i, mask=in_i, other=0)
        yours = tl.load(column_margins + c * step_j + j, mask=in_j, other=0)
        size = tl.load(sizes + c)
        if BY_CLASS:
            total += _look_up(class_table, both, mine, yours, size)
        n11 += both
        mine_of_all += mine
        yours_of_all += yours
        size_of_all += size
        part += part_size
    if BY_PAIR:
        total += _look_up(pair_table, n11, mine_of_all, yours_of_all, size_of_all)
    return total


@triton.jit
def _look_up(table, both, mine, yours, size):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The table's sum over four cells, given one of them and the margins."""
    only_i = mine[:, None] - both
    only_j = yours[None, :] - both
    neither = (size - mine)[:, None] - only_j
    some = tl.load(table + both) + tl.load(table + only_i)
    return some + tl.load(table + only_j) + tl.load(table + neither)
