"""What kernels do with tiles of pairs: write their values, add them up, keep the best."""

from ctypes import c_longlong, c_void_p
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Indices
from bestk.information.backends._torch_kernels import (
    FACT_BYTES,
    LEAST_BYTES,
    SIDE,
    STAGE_BYTES,
    TILE_BYTES,
    TYPES,
    is_hopper,
    launch,
    shared_bytes,
)

WRITE, SUM, SCAN = range(3)  # what is done with the values of features of two levels
BAND, MAX_STAGES = 8, 4  # rows of tiles that are worked on together; buffers of planes
MAX_FOUND = 2**20  # pairs that may be among the best


def write_tile(plan: Any, rows: Any, columns: Any, target: Tensor, mirror: bool) -> None:
    """Write the results of a tile at its places; ``mirror``: of all pairs, in both halves."""
    n_rows, n_columns = len(rows.at), len(columns.at)
    placed = rows.first is not None and columns.first is not None
    out = target[rows.first :, columns.first :] if placed else target.new_empty(n_rows, n_columns)
    if plan.is_binary(rows, columns) and plan.lookup is not None:
        compute_pairs(plan, rows, columns, WRITE, out=out, back=target if mirror else None)
    else:
        _sum_cells(plan, rows, columns, out)
    if not placed:
        target[rows.at[:, None], columns.at] = out


def _sum_cells(plan: Any, rows: Any, columns: Any, out: Tensor) -> None:
    """Count all levels, then look the counts up."""
    n_rows, n_columns, recipe = len(rows.at), len(columns.at), plan.recipe
    binary = plan.is_binary(rows, columns)
    n_i, n_j = max(2, rows.levels), max(2, columns.levels)
    planes = (1, 1) if binary else (n_i, n_j)
    counts = plan.table.count_bits(rows, planes[0], columns, planes[1], recipe.by_class)
    mine, yours, sizes = plan.margins(rows, columns)
    args = [counts, n_i, len(rows.features), n_j, len(columns.features), mine, mine.stride(0),
            yours, yours.stride(0), sizes, recipe.pair_table, recipe.class_table,
            int(recipe.by_pair), int(recipe.by_class), recipe.scale_and_lowest, rows.row_term,
            columns.column_term, n_columns, out, out.stride(0)]  # fmt: skip
    defines = f"COUNT={TYPES[counts.dtype]}", f"VALUE={TYPES[out.dtype]}", f"BINARY={int(binary)}"
    grid = n_rows, -(-n_columns // 128), 1
    launch("cells", grid, (128, 1, 1), args, 0, *defines, f"PARTS={len(counts)}")


def compute_pairs(
    plan: Any, rows: Any, columns: Any, mode: int, *, out: Any = None, back: Any = None,
    tiles: tuple[int, int] | None = None, places: list[Any] | None = None,
) -> None:  # fmt: skip
    """Launch the kernel for two levels, for some rows of ``tiles`` or all; see its comment."""
    table, recipe, lookup, none = plan.table, plan.recipe, plan.lookup, plan.recipe.pair_table
    triangle = rows is columns and (mode != WRITE or back is not None)
    twice = back is not None and not recipe.symmetric
    down, across = -(-len(rows.at) // SIDE), -(-len(columns.at) // SIDE)
    first, last = tiles or (0, down)
    blocks = sum(BAND * (across - band * triangle) for band in range(first, last, BAND))
    dtype = {WRITE: getattr(out, "dtype", None), SUM: torch.float64, SCAN: torch.float32}[mode]
    tables, staged, buffers, stages, room = _share_out(
        lookup.tables.nbytes, mode == WRITE and dtype == torch.float64, table.device
    )
    grouped = mode == SCAN and places is not None and len(places[2]) > 1
    words, (margins, size) = table.words, plan.packed_margins
    mine, yours = (
        margins[each.span.start :] if each.is_aligned else margins[each.features]
        for each in (rows, columns)
    )
    args = [table.bits(rows, 1), table.bits(columns, 1), len(rows.at), len(columns.at),
            len(words.place), words.second, mine, len(mine), yours, len(yours), size, lookup.tables,
            tables, lookup.pair_at, lookup.mark, lookup.unit, c_longlong(lookup.constant),
            recipe.scale_and_lowest, rows.row_term, rows.column_term, columns.row_term,
            columns.column_term, int(triangle), first, last,
            *((none, 0) if out is None else (out, out.stride(0))),
            *((c_void_p(), 0) if back is None else (back, back.stride(0))),
            rows.at, columns.at, len(table.levels),
            *(places or [none, none, none, 0.0, none, none, none, 0])]  # fmt: skip
    defines = [*lookup.defines, f"MODE={mode}", f"VALUE={TYPES[dtype]}", f"TWICE={int(twice)}",
               f"GROUPED={int(grouped)}", f"STAGES={stages}", f"BUFFERS={buffers}",
               f"STAGED={staged}"]  # fmt: skip
    n_blocks = min(blocks, torch.cuda.get_device_properties(table.device).multi_processor_count)
    threads = 640 if is_hopper(table.device) else 384
    launch("pairs", (n_blocks, 1, 1), (threads, 1, 1), args, room, *defines)


def _share_out(tables: int, turns_doubles: bool, device: Any) -> tuple[int, ...]:
    """Shared memory: bytes of tables, staged values, buffers of counts, stages of planes, all."""
    free = shared_bytes(device)
    tables = tables if tables + LEAST_BYTES <= free else 0  # then they stay in global memory
    extra = int(tables + LEAST_BYTES + TILE_BYTES + FACT_BYTES <= free)  # one more buffer
    staged, buffers = (extra, 1) if turns_doubles else (0, 1 + extra)
    used = tables + LEAST_BYTES + extra * TILE_BYTES + (buffers - 1) * FACT_BYTES
    more = min(MAX_STAGES - 2, (free - used) // STAGE_BYTES)
    return tables, staged, buffers, 2 + more, used + more * STAGE_BYTES


def add_sums(plan: Any, rows: Any, columns: Any, parts: Tensor) -> None:
    """Add the entries of a tile to the sums of rows, and of columns if both sides are the same."""
    none = plan.recipe.pair_table
    places = [parts, none, none, 0.0, none, none, none, 0]
    compute_pairs(plan, rows, columns, SUM, places=places)


class BestPairs:
    """The best partners of features of two levels, and pairs that may be among the best."""

    def __init__(self, groups: Indices, count: int, device: Any) -> None:
        self._groups, self._top = torch.tensor(groups, dtype=torch.int32, device=device), count
        shape = int(groups.max()) + 1, len(groups)
        self._best = torch.zeros(shape, dtype=torch.int64, device=device)

    def compare(self, plan: Any, whole: Any, tiles: tuple[int, int], least: float) -> Any:
        """Compare some rows of tiles: pairs of at least ``least``, None if they are too many.

        ``whole``: all features, in the order in which each is compared with those after it.
        """
        counts = torch.zeros(1, dtype=torch.int32, device=self._best.device)
        values = torch.empty(MAX_FOUND, device=counts.device)
        pairs = torch.empty((2, MAX_FOUND), dtype=torch.int32, device=counts.device)
        least = least if self._top else np.inf
        places = [self._best, self._groups, self._best, least, counts, values, pairs, MAX_FOUND]
        compute_pairs(plan, whole, whole, SCAN, tiles=tiles, places=places)
        n = int(counts)
        if n > MAX_FOUND:
            return None
        values, pairs = values[:n], pairs[:, :n]
        if n > self._top:
            some = values >= values.topk(self._top).values[-1]
            values, pairs = values[some], pairs[:, some]
        i, j = pairs.cpu().numpy().astype(np.int64)
        return values.cpu().numpy(), i, j

    def partners(self) -> tuple[Any, Indices]:
        """The value of the best pair of each feature in each group, and the other feature."""
        keys = self._best.cpu().numpy().view(np.uint64)
        order = (keys >> np.uint64(32)).astype(np.uint32)
        bits = np.where(order >> 31, order & np.uint32(0x7FFFFFFF), ~order)
        partner = 0xFFFFFFFF - (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        values = bits.view(np.float32).astype(np.float64)
        return np.where(keys > 0, values, -np.inf), np.where(keys > 0, partner, -1)
