"""CUDA kernels for pairs of features, compiled by NVRTC when they are first used.

Levels are planes of bits, each class padded to whole steps of the tensor cores, which count the
ones that two planes share. Two-level features need one plane each: with n samples of a class, a of
them at the first level of the row feature and b at that of the column's, c at both, the four cells
are c, a - c, b - c and n - a - b + c. The first two sum to a and the others to n - a, whatever the
column: for each row two tables hold what such a couple of cells is worth, and as a couple has no
order, half of each is enough.
"""

from ctypes import addressof, c_double, c_int, c_void_p
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Indices

STEP_BITS, WORD, STAGE_WORDS = 256, 32, 16  # of the tensor cores; of a stage of a tile
SIDE, COUNTING_BYTES = 128, 74_752  # of a tile of planes, and the shared memory it takes
WRITE, SUM, SCAN = range(3)  # what is done with the values of features of two levels
THREADS = 1024  # of a block that looks up
OWN = {WRITE: 2, SUM: 5, SCAN: 2}  # columns of a thread at a time
MAX_ROWS, SUMMED_ROWS = 4, 6  # that have tables at the same time; times this, that are added up
MAX_PARTS = 8  # classes that have tables of couples
MAX_FOUND = 2**20  # pairs of a tile that may be among the best
MIN_CAPABILITY = (8, 0)  # of a GPU whose tensor cores take bits
TYPES = {torch.uint16: "unsigned short", torch.int32: "int", torch.float32: "float",
         torch.float64: "double"}  # fmt: skip
SOURCE = Path(__file__).with_name("pairs.cu")


class Words(NamedTuple):
    """Where the 32-bit words of planes come from."""

    place: Tensor  # of the first code
    length: Tensor  # codes of each
    ends: Tensor  # of the classes, in steps

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
        return cls(*(torch.tensor(row, dtype=torch.int32, device=device) for row in rows))


@cache
def available(device: Any) -> bool:
    """Whether kernels can be compiled for a GPU, and count as they should."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < MIN_CAPABILITY:
        return False
    codes = (torch.arange(64 * 300, device=device).view(64, 300) * 7919 % 13 < 6).to(torch.uint8)
    words = Words.of(np.array([0, 100]), np.array([100, 200]), device)
    try:
        bits = pack(codes, torch.arange(64, device=device), 1, words)
        found = count(bits, bits, words.ends, torch.int32)
    except (AttributeError, OSError, RuntimeError):
        return False
    planes = (codes == 0).double()
    expected = [part @ part.T for part in planes.split([100, 200], dim=1)]
    return bool((found == torch.stack(expected)).all())


@cache
def _kernel(name: str, device: Any, *defines: str) -> Any:
    with torch.cuda.device(device):
        options = [f"-D{define}" for define in (f"KERNEL_{name.upper()}", *defines)]
        source = SOURCE.read_text(encoding="utf-8")
        found = torch.cuda._compile_kernel(source, name, nvcc_options=options)
        if name in ("count", "couples"):
            room = COUNTING_BYTES if name == "count" else _shared_bytes(device)
            found.set_shared_memory_config(room)
    return found


def _shared_bytes(device: Any) -> int:
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)


def pack(codes: Tensor, features: Tensor, n_levels: int, words: Words) -> Tensor:
    """Planes of the first levels of some features: a row of bits for ``[level, feature]``."""
    n, n_words = len(features), len(words.place)
    bits = torch.empty((n_levels * n, n_words), dtype=torch.int32, device=codes.device)
    args = [codes, codes.stride(0), features, n, n_levels, words.place, words.length, n_words, bits]
    _launch("pack", (n, -(-n_words // 128), 1), (128, 1, 1), args)
    return bits


def count(left: Tensor, right: Tensor, ends: Tensor, dtype: Any) -> Tensor:
    """Ones that the planes of two sides share in each part."""
    shape = len(ends), len(left), len(right)
    counts = torch.empty(shape, dtype=dtype, device=left.device)
    args = [left, right, *shape[1:], left.shape[1], ends, len(ends), counts]
    grid = -(-shape[1] // SIDE), -(-shape[2] // SIDE), 1
    _launch("count", grid, (128, 1, 1), args, COUNTING_BYTES, f"COUNT={TYPES[dtype]}")
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
    return c_double(value) if isinstance(value, float) else c_int(value)


def _table_bytes(plan: Any) -> int:
    """Shared memory for the tables of couples of a row."""
    n_parts = plan.table.n_classes if plan.recipe.by_class else 1
    return 8 * (len(plan.recipe.pair_table) + 4 * (n_parts + 1))


def takes_couples(plan: Any, rows: Any, columns: Any) -> bool:
    """Whether features have two levels, and columns enough to be worth tables for each row."""
    n_parts = plan.table.n_classes if plan.recipe.by_class else 1
    return bool(
        max(rows.levels, columns.levels) <= 2
        and n_parts <= MAX_PARTS
        and _table_bytes(plan) <= _shared_bytes(plan.table.device)
        and 4 * len(columns.at) >= len(plan.recipe.pair_table)
    )


def write_tile(plan: Any, rows: Any, columns: Any, target: Tensor, mirror: bool) -> None:
    """Write the results of a tile at its places, and across the diagonal if ``mirror``."""
    n_rows, n_columns, recipe = len(rows.at), len(columns.at), plan.recipe
    placed = rows.first is not None and columns.first is not None
    shape = n_rows, n_columns
    if placed:
        out = target[rows.first : rows.first + n_rows, columns.first : columns.first + n_columns]
    else:
        out = target.new_empty(shape)
    other = target.new_empty(shape) if mirror and not recipe.symmetric else out
    if takes_couples(plan, rows, columns):
        _couples(plan, rows, columns, WRITE, out=out, other=other)
    else:
        n_i, n_j = max(2, rows.levels), max(2, columns.levels)
        counts = plan.table.count_bits(rows, n_i, columns, n_j, recipe.by_class)
        args = [counts, n_i, len(rows.features), n_j, len(columns.features),
                *_formula(recipe, rows, columns), n_columns, out, out.stride(0), other,
                other.stride(0), int(other is not out)]  # fmt: skip
        defines = f"COUNT={TYPES[counts.dtype]}", f"VALUE={TYPES[out.dtype]}"
        grid = n_rows, -(-n_columns // 128), 1
        _launch("cells", grid, (128, 1, 1), args, 0, *defines, f"PARTS={len(counts)}")
    if not placed:
        target[rows.at[:, None], columns.at] = out
    if mirror and placed:
        back = target[columns.first :, rows.first :]
        args = [other, other.stride(0), *shape, back, back.stride(0)]
        grid = -(-n_columns // 32), -(-n_rows // 32), 1
        _launch("turn", grid, (32, 8, 1), args, 0, f"VALUE={TYPES[out.dtype]}")
    elif mirror:
        target[columns.at[:, None], rows.at] = other.T


def _formula(recipe: Any, rows: Any, columns: Any) -> list[Any]:
    return [recipe.pair_table, recipe.class_table, int(recipe.by_pair), int(recipe.by_class),
            recipe.scale_and_lowest, rows.row_term, rows.column_term, columns.row_term,
            columns.column_term]  # fmt: skip


def _couples(
    plan: Any, rows: Any, columns: Any, mode: int, *, out: Tensor, other: Any = None,
    places: list[Any] | None = None,
) -> None:  # fmt: skip
    """Launch the kernel for features of two levels; see its comment."""
    n_rows, n_columns, recipe = len(rows.at), len(columns.at), plan.recipe
    counts = plan.table.count_bits(rows, 1, columns, 1, recipe.by_class)
    mine, yours, sizes = plan.margins(rows, columns)
    other = out if other is None else other
    dummy, room, threads = recipe.pair_table, _table_bytes(plan), THREADS
    places = places or [dummy, dummy, 0, 0, dummy, dummy, 0.0, dummy, dummy, dummy, 0]
    n_tables = min(MAX_ROWS, _shared_bytes(plan.table.device) // room)
    at_once, chunk = n_tables, n_columns
    if mode == SUM:
        at_once, chunk = SUMMED_ROWS * n_tables, threads * OWN[mode]
    args = [counts, len(rows.features), len(columns.features), mine, mine.stride(0),
            yours, yours.stride(0), sizes, *_formula(recipe, rows, columns), n_rows, n_columns,
            at_once, chunk, room // 8, out, out.stride(0), other, other.stride(0),
            int(other is not out), *places]  # fmt: skip
    value = torch.float32 if mode == SCAN else out.dtype
    grouped = mode == SCAN and len(out) > 1
    defines = [f"COUNT={TYPES[counts.dtype]}", f"VALUE={TYPES[value]}", f"PARTS={len(counts)}",
               f"MODE={mode}", f"THREADS={threads}", f"OWN={OWN[mode]}", f"ROWS={n_tables}",
               f"GROUPED={int(grouped)}"]  # fmt: skip
    grid = -(-n_rows // at_once), -(-n_columns // chunk), 1
    _launch("couples", grid, (threads, 1, 1), args, n_tables * room, *defines)


def add_sums(plan: Any, rows: Any, columns: Any, own: int, parts: Tensor) -> None:
    """Add the entries of a tile to the sums of its rows, and of its columns from ``own`` on."""
    dummy = plan.recipe.pair_table
    places = [rows.at, columns.at, own, parts.shape[1], dummy, dummy, 0.0, dummy, dummy, dummy, 0]
    _couples(plan, rows, columns, SUM, out=parts, places=places)


class BestPairs:
    """The best partners of features of two levels, and pairs that may be among the best."""

    def __init__(self, groups: Indices, count: int, device: Any) -> None:
        self._groups, self._top = torch.tensor(groups, dtype=torch.int32, device=device), count
        shape = int(groups.max()) + 1, len(groups)
        self._best = torch.zeros(shape, dtype=torch.int64, device=device)

    def compare(self, plan: Any, rows: Any, columns: Any, own: int, least: float) -> Any:
        """Start to compare a tile, and to collect its pairs of at least ``least``."""
        counts = torch.zeros(1, dtype=torch.int32, device=self._best.device)
        values = torch.empty(MAX_FOUND, device=counts.device)
        pairs = torch.empty((2, MAX_FOUND), dtype=torch.int32, device=counts.device)
        places = [rows.at, columns.at, own, len(self._groups), self._groups, self._best, least,
                  counts, values, pairs, MAX_FOUND]  # fmt: skip
        _couples(plan, rows, columns, SCAN, out=self._best, places=places)
        return counts, values, pairs

    def found(self, counts: Tensor, values: Tensor, pairs: Tensor) -> Any:
        """The values and the features of what was collected; None if it was too much."""
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
