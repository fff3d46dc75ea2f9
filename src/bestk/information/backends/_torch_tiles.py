"""What kernels do with tiles of pairs: write their values, add them up, keep the best."""

from ctypes import c_longlong, c_void_p
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Array, Floats, Indices
from bestk.information.backends._torch_kernels import (
    FACT_BYTES,
    LEAST_BYTES,
    MULTIPLIERS,
    SIDE,
    STAGE_BYTES,
    THREADS,
    TILE_BYTES,
    TYPES,
    Argument,
    is_hopper,
    launch,
    shared_bytes,
)
from bestk.information.backends._torch_sides import TileSide

if TYPE_CHECKING:
    from bestk.information.backends._torch_pairs import Plan

# Rows of tiles that are worked on together: the planes of their columns stay in the cache.
BAND = 8

# The most stages of planes that the kernel ``pairs`` has in shared memory: more save nothing.
MAX_STAGES = 4

# Warps of the kernel ``pairs`` that look counts up: each takes as many registers as are left.
SEEKERS = 8
HOPPER_SEEKERS = 16

# Threads of a warp.
WARP = 32

# Pairs of a scan that may be among the best, before the caller must do without the kernel.
MAX_FOUND = 2**20

# Masks and sizes of a key: the value of a pair in 32 bits of the same order, then ~(other feature).
VALUE_BITS = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
NO_SIGN = np.uint32(0x7FFFFFFF)


class Mode(IntEnum):
    """What the kernel ``pairs`` does with the values of features of two levels."""

    WRITE = 0
    SUM = 1
    SCAN = 2


def write_tile(
    plan: "Plan", rows: TileSide, columns: TileSide, target: Tensor, mirror: bool
) -> None:
    """Write the values of a tile at its places in ``target``.

    ``mirror``: the tile has all pairs, and each is counted once and written in both halves.
    """
    n_rows = len(rows.at)
    n_columns = len(columns.at)
    is_in_place = rows.first is not None and columns.first is not None
    if is_in_place:
        out = target[rows.first :, columns.first :]
    else:
        out = target.new_empty(n_rows, n_columns)
    if plan.is_binary(rows, columns) and plan.lookup is not None:
        compute_pairs(plan, rows, columns, Mode.WRITE, out=out, back=target if mirror else None)
    else:
        _sum_cells(plan, rows, columns, out)
    if not is_in_place:
        target[rows.at[:, None], columns.at] = out


def _sum_cells(plan: "Plan", rows: TileSide, columns: TileSide, out: Tensor) -> None:
    """Count all levels of a tile, then look the counts up, and write the values to ``out``."""
    recipe = plan.recipe
    n_rows = len(rows.at)
    n_columns = len(columns.at)
    is_binary = plan.is_binary(rows, columns)
    row_levels = max(2, rows.levels)
    column_levels = max(2, columns.levels)
    counts = plan.table.count_bits(
        rows,
        1 if is_binary else row_levels,
        columns,
        1 if is_binary else column_levels,
        by_class=recipe.by_class,
    )
    margins = plan.margins(rows, columns)
    arguments: dict[str, Argument] = {
        "counts": counts,
        "n_row_levels": row_levels,
        "height": len(rows.features),
        "n_column_levels": column_levels,
        "width": len(columns.features),
        "row_margins": margins.of_rows,
        "row_margin_step": margins.of_rows.stride(0),
        "column_margins": margins.of_columns,
        "column_margin_step": margins.of_columns.stride(0),
        "sizes": margins.sizes,
        "pair_table": recipe.pair_table,
        "class_table": recipe.class_table,
        "by_pair": int(recipe.by_pair),
        "by_class": int(recipe.by_class),
        "scale_and_lowest": recipe.scale_and_lowest,
        "row_terms": rows.row_term,
        "column_terms": columns.column_term,
        "n_columns": n_columns,
        "out": out,
        "out_stride": out.stride(0),
    }
    defines = (
        f"COUNT={TYPES[counts.dtype]}",
        f"VALUE={TYPES[out.dtype]}",
        f"BINARY={int(is_binary)}",
        f"PARTS={len(counts)}",
    )
    launch("cells", arguments, grid=(n_rows, -(-n_columns // THREADS), 1), defines=defines)


@dataclass(frozen=True)
class Results:
    """Where the kernel ``pairs`` keeps sums and the best pairs."""

    sums: Tensor | None = None
    """Sums of rows, in two parts: see ``_reductions.split``."""

    groups: Tensor | None = None
    """The group of each feature."""

    best: Tensor | None = None
    """The key of the best pair of each feature in each group, ``[group, feature]``; 0: none."""

    threshold: float = 0.0
    """Pairs of at least this value are kept, each once."""

    n_kept: Tensor | None = None
    """How many such pairs there are."""

    values: Tensor | None = None
    """Their values, as far as there is room."""

    pairs: Tensor | None = None
    """Their features, ``[2, pair]``."""

    room: int = 0
    """How many pairs there is room for."""

    def arguments(self, unused: Tensor) -> dict[str, Argument]:
        """The arguments of the kernel; it does not read those that are ``unused``."""

        def given(tensor: Tensor | None) -> Tensor:
            return unused if tensor is None else tensor

        return {
            "sums": given(self.sums),
            "groups": given(self.groups),
            "best": given(self.best),
            "threshold": self.threshold,
            "n_kept": given(self.n_kept),
            "kept_values": given(self.values),
            "kept_pairs": given(self.pairs),
            "kept_room": self.room,
        }


def compute_pairs(
    plan: "Plan",
    rows: TileSide,
    columns: TileSide,
    mode: Mode,
    *,
    out: Tensor | None = None,
    back: Tensor | None = None,
    tiles: tuple[int, int] | None = None,
    results: Results | None = None,
) -> None:
    """Launch the kernel ``pairs`` for the features of two levels of a tile; see its comment.

    ``out``: where ``Mode.WRITE`` puts values; ``back``: where it puts those across the diagonal.
    ``tiles``: the first and last row of tiles, each of ``SIDE`` features; None: all of them.
    ``results``: where the other modes put theirs.
    """
    table = plan.table
    recipe = plan.recipe
    lookup = plan.lookup
    assert lookup is not None, "the kernel does not take this formula"
    unused = recipe.pair_table
    results = results or Results()
    is_triangle = rows is columns and (mode != Mode.WRITE or back is not None)
    first_tile, last_tile = tiles or (0, -(-len(rows.at) // SIDE))
    dtype = _value_type(mode, out)
    memory = SharedMemory.of(
        lookup.tables.nbytes,
        turns_doubles=mode == Mode.WRITE and dtype == torch.float64,
        device=table.device,
    )
    margins = plan.packed_margins
    row_margins = _margins_of(rows, margins.of_features)
    column_margins = _margins_of(columns, margins.of_features)
    arguments: dict[str, Argument] = {
        "left_bits": table.bits(rows, 1),
        "right_bits": table.bits(columns, 1),
        "n_rows": len(rows.at),
        "n_columns": len(columns.at),
        "n_words": len(table.words.places),
        "second_stage": table.words.second_stage,
        "row_margins": row_margins,
        "n_row_margins": len(row_margins),
        "column_margins": column_margins,
        "n_column_margins": len(column_margins),
        "size": margins.of_table,
        "tables": lookup.tables,
        "table_bytes": memory.table_bytes,
        "pair_table_at": lookup.pair_table_at,
        "mark": lookup.mark,
        "unit": lookup.unit,
        "constant": c_longlong(lookup.constant),
        "scale_and_lowest": recipe.scale_and_lowest,
        "row_terms": rows.row_term,
        "row_terms_as_column": rows.column_term,
        "column_terms_as_row": columns.row_term,
        "column_terms": columns.column_term,
        "triangle": int(is_triangle),
        "first_tile": first_tile,
        "last_tile": last_tile,
        "out": unused if out is None else out,
        "out_stride": 0 if out is None else out.stride(0),
        "back": c_void_p() if back is None else back,
        "back_stride": 0 if back is None else back.stride(0),
        "row_places": rows.at,
        "column_places": columns.at,
        "n_features": len(table.levels),
        **results.arguments(unused),
    }
    has_groups = mode == Mode.SCAN and results.best is not None and len(results.best) > 1
    defines = (
        *lookup.defines,
        f"MODE={int(mode)}",
        f"VALUE={TYPES[dtype]}",
        f"TWICE={int(back is not None and not recipe.symmetric)}",
        f"GROUPED={int(has_groups)}",
        f"STAGES={memory.stages}",
        f"BUFFERS={memory.buffers}",
        f"STAGED={memory.staged}",
    )
    n_across = -(-len(columns.at) // SIDE)
    n_tiles = _count_tiles(first_tile, last_tile, n_across, is_triangle)
    device = table.device
    n_processors = torch.cuda.get_device_properties(device).multi_processor_count
    seekers = HOPPER_SEEKERS if is_hopper(device) else SEEKERS
    launch(
        "pairs",
        arguments,
        grid=(min(n_tiles, n_processors), 1, 1),
        n_threads=MULTIPLIERS + seekers * WARP,
        shared=memory.used_bytes,
        defines=defines,
    )


def _value_type(mode: Mode, out: Tensor | None) -> torch.dtype:
    """The type of the values of pairs: sums are of whole numbers, scans compare 32-bit floats."""
    if out is not None:
        return out.dtype
    return torch.float64 if mode == Mode.SUM else torch.float32


def _count_tiles(first: int, last: int, n_across: int, is_triangle: bool) -> int:
    """Tiles of some rows of them, in whole bands; of a triangle, without those left of the band."""
    bands = range(first, last, BAND)
    return sum(BAND * (n_across - (band if is_triangle else 0)) for band in bands)


def _margins_of(side: TileSide, of_features: Tensor) -> Tensor:
    """Samples at the first level of the features of a side; the side may end before the margins."""
    if side.first_tile is None:
        return of_features[side.features]
    return of_features[side.first_tile * SIDE :]


@dataclass(frozen=True)
class SharedMemory:
    """How the kernel ``pairs`` shares out the shared memory of a block."""

    table_bytes: int
    """Of the tables; 0 if they stay in global memory."""

    staged: int
    """Whether values that are turned have a buffer of their own: 0 or 1."""

    buffers: int
    """Tiles of counts."""

    stages: int
    """Stages of planes."""

    used_bytes: int
    """All together."""

    @classmethod
    def of(cls, table_bytes: int, turns_doubles: bool, device: torch.device) -> "SharedMemory":
        """Give the tables room first, then one more tile, then more stages."""
        free = shared_bytes(device)
        if table_bytes + LEAST_BYTES > free:
            table_bytes = 0
        used = table_bytes + LEAST_BYTES
        has_extra_tile = used + TILE_BYTES + FACT_BYTES <= free
        staged = int(has_extra_tile and turns_doubles)
        buffers = 1 + int(has_extra_tile and not turns_doubles)
        if has_extra_tile:
            used += TILE_BYTES
        used += (buffers - 1) * FACT_BYTES
        more_stages = min(MAX_STAGES - 2, (free - used) // STAGE_BYTES)
        used += more_stages * STAGE_BYTES
        return cls(table_bytes, staged, buffers, stages=2 + more_stages, used_bytes=used)


def add_sums(plan: "Plan", rows: TileSide, columns: TileSide, sums: Tensor) -> None:
    """Add the values of a tile to the sums of rows; if both sides are the same, also of columns.

    ``sums``: ``[high or low part, feature]``.
    """
    compute_pairs(plan, rows, columns, Mode.SUM, results=Results(sums=sums))


@dataclass(frozen=True)
class PairValues:
    """Pairs of places, and the value of each."""

    values: Array
    rows: Indices
    columns: Indices


class BestPairs:
    """The best partners of features of two levels, and pairs that may be among the best.

    ``groups``: the group of each feature, in the order of the side that is compared. ``count``: how
    many pairs are wanted.
    """

    def __init__(self, groups: Indices, count: int, device: torch.device) -> None:
        self._groups = torch.tensor(groups, dtype=torch.int32, device=device)
        self._count = count
        n_groups = int(groups.max()) + 1
        self._best = torch.zeros((n_groups, len(groups)), dtype=torch.int64, device=device)

    def compare(
        self, plan: "Plan", whole: TileSide, tiles: tuple[int, int], threshold: float
    ) -> PairValues | None:
        """Compare the features of some rows of tiles with those after them.

        Returns the pairs of at least the threshold that are among the best of these rows; None if
        they are too many. ``whole``: the side of all features. ``tiles``: the first and last row.
        """
        device = self._best.device
        n_kept = torch.zeros(1, dtype=torch.int32, device=device)
        values = torch.empty(MAX_FOUND, device=device)
        pairs = torch.empty((2, MAX_FOUND), dtype=torch.int32, device=device)
        results = Results(
            groups=self._groups,
            best=self._best,
            threshold=threshold if self._count else np.inf,
            n_kept=n_kept,
            values=values,
            pairs=pairs,
            room=MAX_FOUND,
        )
        compute_pairs(plan, whole, whole, Mode.SCAN, tiles=tiles, results=results)
        n = int(n_kept)
        if n > MAX_FOUND:
            return None
        values = values[:n]
        pairs = pairs[:, :n]
        if n > self._count:
            is_best = values >= values.topk(self._count).values[-1]
            values = values[is_best]
            pairs = pairs[:, is_best]
        rows, columns = pairs.cpu().numpy().astype(np.int64)
        return PairValues(values.cpu().numpy(), rows, columns)

    def partners(self) -> tuple[Floats, Indices]:
        """The value of the best pair of each feature in each group, and the other feature.

        -inf and -1 where there is none. The kernel keeps both in one key, so that the largest key
        is the best pair with the lowest partner: see ``order_of`` in ``pairs.cu``.
        """
        keys = self._best.cpu().numpy().view(np.uint64)
        ordered = (keys >> VALUE_BITS).astype(np.uint32)
        is_positive = ordered >> 31
        bits = np.where(is_positive, ordered & NO_SIGN, ~ordered)
        values = bits.view(np.float32).astype(np.float64)
        partners = 0xFFFFFFFF - (keys & LOW_HALF).astype(np.int64)
        has_partner = keys > 0
        return np.where(has_partner, values, -np.inf), np.where(has_partner, partners, -1)
