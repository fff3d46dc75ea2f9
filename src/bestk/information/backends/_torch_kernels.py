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

from bestk._compat import compile_cuda_kernel, load_cuda_driver
from bestk._typing import Indices

STEP_BITS, WORD = 256, 32  # of the tensor cores
STAGE_WORDS, STAGE_STEPS = 16, 2  # of a stage of a tile
SIDE, STAGE_BYTES = 128, 16_384  # of a tile, in shared memory
COUNTED_BYTES = 9_216  # for counts on their way out
TILE_BYTES, FACT_BYTES = 4 * SIDE**2, 16 * SIDE  # for counts that are looked up, and their rows
LEAST_BYTES = TILE_BYTES + FACT_BYTES + 2 * STAGE_BYTES + 128  # and barriers
MULTIPLIERS = 128  # threads of a block
MAX_CLASS = 2**14  # samples of a class whose counts share a word with another's
MIN_CAPABILITY = (8, 0)  # of a GPU whose tensor cores take bits
TYPES = {torch.uint16: "unsigned short", torch.int32: "int", torch.float32: "float",
         torch.float64: "double"}  # fmt: skip
SOURCE = Path(__file__).with_name("pairs.cu")


class Words(NamedTuple):
    """Where the 32-bit words of planes come from."""

    place: Tensor  # of the first code
    length: Tensor  # codes of each
    ends: Tensor  # of the classes, in steps
    second: int  # the stage where the second class begins

    @classmethod
    def of(cls, starts: Indices, sizes: Indices, device: Any) -> "Words":
        """Words of classes that begin at some places; each class takes whole steps."""
        steps = -(-sizes // STEP_BITS)
        steps[0] += steps[0] % STAGE_STEPS  # the second class begins with a stage
        first = [np.arange(0, n * STEP_BITS, WORD) for n in steps]
        place = np.concatenate([s + f for s, f in zip(starts, first, strict=False)])
        length = np.concatenate(
            [np.clip(n - f, 0, WORD) for n, f in zip(sizes, first, strict=True)]
        )
        rest = -len(place) % STAGE_WORDS
        rows = (np.pad(place, (0, rest)), np.pad(length, (0, rest)), np.cumsum(steps))
        own = [torch.tensor(row, dtype=torch.int32, device=device) for row in rows]
        return cls(own[0], own[1], own[2], int(steps[0]) // STAGE_STEPS)


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
        source, chip = SOURCE.read_text(encoding="utf-8"), "90a" if is_hopper(device) else None
        found = compile_cuda_kernel(source, name, chip, options)
        if name in ("count", "pairs"):
            found.set_shared_memory_config(shared_bytes(device))
    return found


def is_hopper(device: Any) -> bool:
    """Whether tensor cores read shared memory by themselves, as those of one chip do."""
    return bool(torch.cuda.get_device_capability(device) == (9, 0))


def shared_bytes(device: Any) -> int:
    """Shared memory of a block."""
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)


def pack(codes: Tensor, features: Tensor, n_levels: int, words: Words) -> Tensor:
    """Planes of the first levels of some features, a row of bits for each, in whole tiles."""
    n, n_words = len(features), len(words.place)
    n_tiles = -(-n_levels * n // SIDE)
    bits = torch.empty((n_tiles, SIDE * n_words), dtype=torch.int32, device=codes.device)
    args = [codes, codes.stride(0), features, n, n_levels, words.place, words.length, n_words, bits]
    launch("pack", (n_tiles * SIDE, -(-n_words // 128), 1), (128, 1, 1), args)
    return bits


def count(left: Tensor, right: Tensor, sides: tuple[int, int], ends: Tensor, dtype: Any) -> Tensor:
    """Ones that the planes of two sides, of so many rows, share in each part."""
    shape = len(ends), *sides
    counts = torch.empty(shape, dtype=dtype, device=left.device)
    args = [left, right, *sides, left.shape[1] // SIDE, ends, len(ends), counts]
    grid = -(-shape[1] // SIDE), -(-shape[2] // SIDE), 1
    defines, room = (f"COUNT={TYPES[dtype]}", "STAGES=4"), 4 * STAGE_BYTES + COUNTED_BYTES
    launch("count", grid, (MULTIPLIERS, 1, 1), args, room, *defines)
    return counts


def launch(
    name: str, grid: Any, block: Any, args: list[Any], shared: int = 0, *defines: str
) -> None:
    """Launch a kernel; the wrapper of PyTorch takes ten times as long."""
    device = next(each.device for each in args if isinstance(each, Tensor))
    with torch.cuda.device(device):
        kernel, stream = _kernel(name, device, *defines), torch.cuda.current_stream(device)
        values = [_as_c(each) for each in args]
        places = (c_void_p * len(values))(*(addressof(each) for each in values))
        status = load_cuda_driver().cuLaunchKernel(
            kernel.func, *grid, *block, shared, c_void_p(stream.cuda_stream), places, None
        )
    if status:
        raise RuntimeError(f"the kernel {name!r} was not launched: CUDA error {status}")


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
    mark: int  # the bits of the float 2^21 / 2^k, added to counts of at most 2^k
    unit: int  # of the high part of an entry
    constant: int  # for each pair
    defines: tuple[str, ...]

    @classmethod
    def of(cls, recipe: Any, sizes: Indices) -> "Lookup | None":
        """The tables of a formula over classes of these sizes; None: the kernel cannot."""
        by_class, by_pair = recipe.by_class, recipe.by_pair
        if not (by_pair if not by_class else len(sizes) == 2 and sizes.max() < MAX_CLASS):
            return None
        chosen = [recipe.class_table] * by_class + [recipe.pair_table] * by_pair
        mark = (127 + 21 - (len(chosen[0]) - 2).bit_length()) << 23
        defines = f"PARTS={1 + by_class}", f"BY_CLASS={int(by_class)}", f"BY_PAIR={int(by_pair)}"
        alike = all(bool((each == -chosen[0]).all()) for each in chosen[1:])
        split = _split(chosen[0], mark) if alike else None
        if split is None:
            tables = torch.cat(chosen).view(torch.int32)
            pair_at = 8 * len(chosen[0]) * by_class
            return cls(_padded(tables), pair_at, 0, 0, 0, (*defines, "EXACT=1"))
        rest, unit, slope, least = split
        signs = 8 * by_class + (-4 if by_class else 4) * by_pair  # of cells; 0 of counts: both
        linear = slope * (len(rest) - 1) * (len(chosen) == 1)
        return cls(_padded(rest), 0, mark, unit, linear + signs * least, (*defines, "EXACT=0"))


def _padded(words: Tensor) -> Tensor:
    """Whole chunks of 16 bytes."""
    return torch.nn.functional.pad(words, (0, -len(words) % 4))


def _split(table: Tensor, mark: int) -> tuple[Tensor, int, int, int] | None:
    """``table[n] = unit * high part + slope * n + rest[n] + least``, if 32 bits hold the rest."""
    n, device = len(table), table.device
    high = torch.empty(n, dtype=torch.int64, device=device)
    launch("high", (-(-n // 128), 1, 1), (128, 1, 1), [n, mark, high])
    place = torch.arange(n, device=device)
    terms = np.stack([high.cpu().numpy(), np.arange(n)], axis=1).astype(np.float64)
    fitted = np.linalg.lstsq(terms, table.cpu().numpy().astype(np.float64), rcond=None)[0]
    unit, slope = (round(each) for each in fitted.tolist())
    rest = table - unit * high - slope * place
    least = int(rest.min())
    room = 4 * n + LEAST_BYTES
    if abs(unit) >= 2**31 or int(rest.max()) - least >= 2**32 or room > shared_bytes(device):
        return None
    return (rest - least).to(torch.int32), unit, slope, least
