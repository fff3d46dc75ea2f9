"""CUDA kernels for pairs of features, compiled by NVRTC when they are first used.

Levels are planes of bits, each class padded to whole steps of the tensor cores, which count the
ones that two planes share. Two-level features need one plane each: with n samples of a class, a of
them at the first level of the row feature and b at that of the column's, c at both, the four cells
are c, a - c, b - c and n - a - b + c. They are looked up where they are counted. Look-ups wait for
shared memory, so the entries of a table are computed to 32 bits, and it holds only the rest.
"""

from ctypes import addressof, c_double, c_int, c_longlong, c_void_p
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Indices

STEP_BITS, WORD, STAGE_WORDS = 256, 32, 16  # of the tensor cores; of a stage of a tile
SIDE, STAGE_BYTES, MAX_STAGES = 128, 16_384, 4  # of a tile, in shared memory
COUNTED_BYTES = 9_216  # for counts on their way out
TILE_BYTES = 4 * SIDE**2  # for counts that are looked up
MULTIPLIERS, THREADS = 128, 384  # that multiply; with those that look up
WRITE, SUM, SCAN = range(3)  # what is done with the values of features of two levels
BAND = 8  # rows of tiles that are worked on together
MAX_CLASS = 2**14  # samples of a class whose counts share a word with another's
MAX_FOUND = 2**20  # pairs that may be among the best
MIN_CAPABILITY = (8, 0)  # of a GPU whose tensor cores take bits
TYPES = {torch.uint16: "unsigned short", torch.int32: "int", torch.float32: "float",
         torch.float64: "double"}  # fmt: skip
SOURCE = Path(__file__).with_name("pairs.cu")


class Words(NamedTuple):
    """Where the 32-bit words of planes come from."""

    place: Tensor  # of the first code
    length: Tensor  # codes of each
    ends: Tensor  # of the classes, in steps
    second: int  # the step where the second class begins

    @classmethod
    def of(cls, starts: Indices, sizes: Indices, device: Any) -> "Words":
        """Words of classes that begin at some places; each class takes whole steps."""
        steps = -(-sizes // STEP_BITS)
        first = [np.arange(0, n * STEP_BITS, WORD) for n in steps]
        place = np.concatenate([s + f for s, f in zip(starts, first, strict=False)])
        length = np.concatenate(
            [np.clip(n - f, 0, WORD) for n, f in zip(sizes, first, strict=True)]
        )
        rest = -len(place) % STAGE_WORDS
        rows = (np.pad(place, (0, rest)), np.pad(length, (0, rest)), np.cumsum(steps))
        own = [torch.tensor(row, dtype=torch.int32, device=device) for row in rows]
        return cls(own[0], own[1], own[2], int(steps[0]))


@cache
def available(device: Any) -> bool:
    """Whether kernels can be compiled for a GPU, and count as they should."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < MIN_CAPABILITY:
        return False
    codes = (torch.arange(64 * 300, device=device).view(64, 300) * 7919 % 13 < 6).to(torch.uint8)
    words = Words.of(np.array([0, 100]), np.array([100, 200]), device)
    try:
        bits = pack(codes, torch.arange(64, device=device), 1, words)
        found = count(bits, bits, (64, 64), words.ends, torch.int32)
    except (AttributeError, OSError, RuntimeError):
        return False
    planes = (codes == 0).double()
    expected = [part @ part.T for part in planes.split([100, 200], dim=1)]
    return bool((found == torch.stack(expected)).all())


@cache
def _kernel(name: str, device: Any, *defines: str) -> Any:
    with torch.cuda.device(device):
        options = [f"-D{define}" for define in (f"KERNEL_{name.upper()}", *defines)]
        source, chip = SOURCE.read_text(encoding="utf-8"), _chip(device)
        found = torch.cuda._compile_kernel(source, name, chip, nvcc_options=options)
        if name in ("count", "pairs"):
            found.set_shared_memory_config(_shared_bytes(device))
    return found


def _chip(device: Any) -> str | None:
    """The name of a chip whose threads can hand registers to each other."""
    return "90a" if torch.cuda.get_device_capability(device) == (9, 0) else None


def _properties(device: Any) -> Any:
    return torch.cuda.get_device_properties(device)


def _shared_bytes(device: Any) -> int:
    return int(_properties(device).shared_memory_per_block_optin)


def pack(codes: Tensor, features: Tensor, n_levels: int, words: Words) -> Tensor:
    """Planes of the first levels of some features, a row of bits for each, in whole tiles."""
    n, n_words = len(features), len(words.place)
    n_tiles = -(-n_levels * n // SIDE)
    bits = torch.empty((n_tiles, SIDE * n_words), dtype=torch.int32, device=codes.device)
    args = [codes, codes.stride(0), features, n, n_levels, words.place, words.length, n_words, bits]
    _launch("pack", (n_tiles * SIDE, -(-n_words // 128), 1), (128, 1, 1), args)
    return bits


def count(left: Tensor, right: Tensor, sides: tuple[int, int], ends: Tensor, dtype: Any) -> Tensor:
    """Ones that the planes of two sides, of so many rows, share in each part."""
    shape = len(ends), *sides
    counts = torch.empty(shape, dtype=dtype, device=left.device)
    args = [left, right, *sides, left.shape[1] // SIDE, ends, len(ends), counts]
    grid = -(-shape[1] // SIDE), -(-shape[2] // SIDE), 1
    defines, room = (f"COUNT={TYPES[dtype]}", "STAGES=4"), 4 * STAGE_BYTES + COUNTED_BYTES
    _launch("count", grid, (MULTIPLIERS, 1, 1), args, room, *defines)
    return counts


def _launch(
    name: str, grid: Any, block: Any, args: list[Any], shared: int = 0, *defines: str
) -> None:
    """Launch a kernel; the wrapper of PyTorch takes ten times as long."""
    device = next(each.device for each in args if isinstance(each, Tensor))
    with torch.cuda.device(device):
        kernel, stream = _kernel(name, device, *defines), torch.cuda.current_stream(device)
        values = [_as_c(each) for each in args]
        places = (c_void_p * len(values))(*(addressof(each) for each in values))
        status = _driver().cuLaunchKernel(
            kernel.func, *grid, *block, shared, c_void_p(stream.cuda_stream), places, None
        )
    if status:
        raise RuntimeError(f"the kernel {name!r} was not launched: CUDA error {status}")


@cache
def _driver() -> Any:
    return torch.cuda._utils._get_gpu_runtime_library()


def _as_c(value: Any) -> Any:
    if isinstance(value, Tensor):
        return c_void_p(value.data_ptr())
    if isinstance(value, c_longlong | c_void_p):
        return value
    return c_double(value) if isinstance(value, float) else c_int(value)


class Lookup(NamedTuple):
    """The tables of a formula, as the kernel for two levels takes them."""

    tables: Tensor
    pair_at: int  # byte where the table of pooled cells begins
    unit: int  # of the high part of an entry
    constant: int  # for each pair
    defines: tuple[str, ...]

    @classmethod
    def of(cls, recipe: Any, sizes: Indices) -> "Lookup | None":
        """The tables of a formula over classes of these sizes; None: the kernel cannot."""
        by_class, by_pair = recipe.by_class, recipe.by_pair
        if not (by_class or by_pair) or (
            by_class and (len(sizes) != 2 or sizes.max() >= MAX_CLASS)
        ):
            return None
        chosen = [recipe.class_table] * by_class + [recipe.pair_table] * by_pair
        exponent = 127 + 21 - (len(chosen[0]) - 2).bit_length()
        defines = (f"PARTS={1 + by_class}", f"BY_CLASS={int(by_class)}", f"BY_PAIR={int(by_pair)}",
                   f"ONE={exponent << 23}u")  # fmt: skip
        split = _split(chosen[0], defines[-1]) if len(chosen) == 1 or _opposite(*chosen) else None
        if split is None:
            tables = torch.cat(chosen).view(torch.int32)
            return cls(_padded(tables), 8 * len(chosen[0]) * by_class, 0, 0, (*defines, "EXACT=1"))
        rest, unit, slope, least = split
        signs = 8 * by_class + (-4 if by_class else 4) * by_pair  # of cells; 0 of counts: both
        linear = slope * (len(rest) - 1) * (len(chosen) == 1)
        return cls(_padded(rest), 0, unit, linear + signs * least, (*defines, "EXACT=0"))


def _opposite(a: Tensor, b: Tensor) -> bool:
    return bool((a == -b).all())


def _padded(words: Tensor) -> Tensor:
    """Whole chunks of 16 bytes."""
    return torch.nn.functional.pad(words, (0, -len(words) % 4))


def _split(table: Tensor, define: str) -> tuple[Tensor, int, int, int] | None:
    """``table[n] = unit * high part + slope * n + rest[n] + least``, if 32 bits hold the rest."""
    n, device = len(table), table.device
    high = torch.empty(n, dtype=torch.int64, device=device)
    _launch("high", (-(-n // 128), 1, 1), (128, 1, 1), [n, high], 0, define)
    place = torch.arange(n, device=device)
    terms = np.stack([high.cpu().numpy(), np.arange(n)], axis=1).astype(np.float64)
    fitted = np.linalg.lstsq(terms, table.cpu().numpy().astype(np.float64), rcond=None)[0]
    unit, slope = (round(each) for each in fitted.tolist())
    rest = table - unit * high - slope * place
    least = int(rest.min())
    room = 4 * n + TILE_BYTES + 2 * STAGE_BYTES
    if abs(unit) >= 2**31 or int(rest.max()) - least >= 2**32 or room > _shared_bytes(device):
        return None
    return (rest - least).to(torch.int32), unit, slope, least


def write_tile(plan: Any, rows: Any, columns: Any, target: Tensor, mirror: bool) -> None:
    """Write the results of a tile at its places, and across the diagonal if ``mirror``."""
    n_rows, n_columns = len(rows.at), len(columns.at)
    placed = rows.first is not None and columns.first is not None
    out = target[rows.first :, columns.first :] if placed else target.new_empty(n_rows, n_columns)
    back = None
    if mirror:
        back = target[columns.first :, rows.first :] if placed else out.new_empty(out.T.shape)
    if plan.is_binary(rows, columns) and plan.lookup is not None:
        compute_pairs(plan, rows, columns, WRITE, out=out, back=back)
    else:
        _sum_cells(plan, rows, columns, out, back)
    if not placed:
        target[rows.at[:, None], columns.at] = out
        if back is not None:
            target[columns.at[:, None], rows.at] = back


def _sum_cells(plan: Any, rows: Any, columns: Any, out: Tensor, back: Tensor | None) -> None:
    """Count all levels, then look the counts up."""
    n_rows, n_columns, recipe = len(rows.at), len(columns.at), plan.recipe
    binary, twice = plan.is_binary(rows, columns), back is not None and not recipe.symmetric
    n_i, n_j = max(2, rows.levels), max(2, columns.levels)
    planes = (1, 1) if binary else (n_i, n_j)
    counts = plan.table.count_bits(rows, planes[0], columns, planes[1], recipe.by_class)
    mine, yours, sizes = plan.margins(rows, columns)
    other = out.new_empty(n_rows, n_columns) if twice else out
    args = [counts, n_i, len(rows.features), n_j, len(columns.features), mine, mine.stride(0),
            yours, yours.stride(0), sizes, recipe.pair_table, recipe.class_table,
            int(recipe.by_pair), int(recipe.by_class), recipe.scale_and_lowest, *_terms(rows),
            *_terms(columns), n_columns, out, out.stride(0), other, other.stride(0),
            int(twice)]  # fmt: skip
    defines = f"COUNT={TYPES[counts.dtype]}", f"VALUE={TYPES[out.dtype]}", f"BINARY={int(binary)}"
    grid = n_rows, -(-n_columns // 128), 1
    _launch("cells", grid, (128, 1, 1), args, 0, *defines, f"PARTS={len(counts)}")
    if back is not None:
        args = [other, other.stride(0), n_rows, n_columns, back, back.stride(0)]
        grid = -(-n_columns // 32), -(-n_rows // 32), 1
        _launch("turn", grid, (32, 8, 1), args, 0, f"VALUE={TYPES[out.dtype]}")


def _terms(side: Any) -> tuple[Tensor, Tensor]:
    return side.row_term, side.column_term


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
    room = _Room.of(lookup.tables.nbytes, mode == WRITE and dtype == torch.float64, table.device)
    grouped = mode == SCAN and places is not None and len(places[2]) > 1
    words, (margins, size) = table.words, plan.packed_margins
    mine, yours = (
        margins[each.span.start :] if each.is_aligned else margins[each.features]
        for each in (rows, columns)
    )
    args = [table.bits(rows, 1), table.bits(columns, 1), len(rows.at), len(columns.at),
            len(words.place), words.second, mine, yours, len(yours), size, lookup.tables,
            room.tables, lookup.pair_at, lookup.unit, c_longlong(lookup.constant),
            recipe.scale_and_lowest, *_terms(rows), *_terms(columns), int(triangle), first, last,
            *((none, 0) if out is None else (out, out.stride(0))),
            *((c_void_p(), 0) if back is None else (back, back.stride(0))),
            rows.at, columns.at, len(table.levels),
            *(places or [none, none, none, 0.0, none, none, none, 0])]  # fmt: skip
    defines = [*lookup.defines, f"MODE={mode}", f"VALUE={TYPES[dtype]}", f"TWICE={int(twice)}",
               f"GROUPED={int(grouped)}", f"STAGES={room.stages}", f"BUFFERS={room.buffers}",
               f"STAGED={room.staged}"]  # fmt: skip
    n_blocks = min(blocks, _properties(table.device).multi_processor_count)
    _launch("pairs", (n_blocks, 1, 1), (THREADS, 1, 1), args, room.bytes, *defines)


class _Room(NamedTuple):
    """What shared memory holds."""

    tables: int  # bytes; 0: they stay in global memory
    staged: int  # buffers of values to be turned
    buffers: int  # of counts
    stages: int  # of planes

    @classmethod
    def of(cls, tables: int, turns_doubles: bool, device: Any) -> "_Room":
        """The most that fits, tables first."""
        free, least = _shared_bytes(device), TILE_BYTES + 2 * STAGE_BYTES
        tables = tables if tables + least <= free else 0
        extra = int(tables + least + TILE_BYTES <= free)  # one more buffer
        staged, buffers = (extra, 1) if turns_doubles else (0, 1 + extra)
        stages = (free - tables - (staged + buffers) * TILE_BYTES) // STAGE_BYTES
        return cls(tables, staged, buffers, min(MAX_STAGES, stages))

    @property
    def bytes(self) -> int:
        """All of it."""
        tiles = (self.staged + self.buffers) * TILE_BYTES
        return self.tables + tiles + self.stages * STAGE_BYTES


def pack_counts(counts: Tensor) -> Tensor:
    """Four times the counts, those of two parts in a word."""
    words = 4 * counts.long()
    return (words[0] if len(words) == 1 else (words[0] << 16) + words[1]).to(torch.int32)


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

    def compare(self, plan: Any, tiles: tuple[int, int], least: float) -> Any:
        """Compare some rows of tiles: pairs of at least ``least``, None if they are too many."""
        counts = torch.zeros(1, dtype=torch.int32, device=self._best.device)
        values = torch.empty(MAX_FOUND, device=counts.device)
        pairs = torch.empty((2, MAX_FOUND), dtype=torch.int32, device=counts.device)
        least = least if self._top else np.inf
        places = [self._best, self._groups, self._best, least, counts, values, pairs, MAX_FOUND]
        compute_pairs(plan, plan.whole, plan.whole, SCAN, tiles=tiles, places=places)
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
