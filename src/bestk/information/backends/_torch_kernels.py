"""CUDA kernels for pairs of features, compiled by NVRTC when they are first used.

Levels are planes of bits, each class padded to whole steps of the tensor cores, which count the
ones that two planes share. Two-level features need one plane each: with n samples of a class, a of
them at the first level of the row feature and b at that of the column's, c at both, the four cells
are c, a - c, b - c and n - a - b + c. They are looked up where they are counted. Look-ups wait for
shared memory, so the entries of a table are computed to 32 bits, and it holds only the rest.
"""

import re
from collections.abc import Mapping
from ctypes import addressof, c_double, c_int, c_longlong, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from bestk._compat import compile_cuda_kernel, load_cuda_driver
from bestk._typing import Indices

# Bits of a row that tensor cores multiply in one step. Every class begins with a step.
STEP_BITS = 256

# Bits of a word of a plane.
WORD_BITS = 32

# A stage is what a tile copies to shared memory at once: so many words, or steps, of each row.
STAGE_WORDS = 16
STAGE_STEPS = 2

# Features, or planes, on each side of a tile.
SIDE = 128

# Bytes of shared memory that the two sides of a tile take for a stage.
STAGE_BYTES = 16_384

# Bytes of shared memory through which the kernel ``count`` writes its counts.
COUNTED_BYTES = 9_216

# Stages that the kernel ``count`` has in shared memory at a time.
COUNT_STAGES = 4

# Bytes of shared memory of the counts of a tile, and of what is known of its rows.
TILE_BYTES = 4 * SIDE**2
FACT_BYTES = 16 * SIDE

# The least shared memory of the kernel ``pairs``: one tile, two stages and 128 bytes of barriers.
LEAST_BYTES = TILE_BYTES + FACT_BYTES + 2 * STAGE_BYTES + 128

# Threads of a block that multiply planes.
MULTIPLIERS = 128

# Threads of a block of the kernels that work value by value.
THREADS = 128

# Classes of fewer samples can share a word: four times a count takes 16 bits.
MAX_CLASS = 2**14

# The first compute capability whose tensor cores multiply bits.
MIN_CAPABILITY = (8, 0)

# The compute capability of Hopper, whose tensor cores read shared memory by themselves.
HOPPER = (9, 0)

# What C calls a type of values or counts.
TYPES = {
    torch.uint16: "unsigned short",
    torch.int32: "int",
    torch.float32: "float",
    torch.float64: "double",
}

SOURCE = Path(__file__).with_name("pairs.cu")

Argument: TypeAlias = Tensor | int | float | c_longlong | c_void_p


@dataclass(frozen=True)
class Words:
    """Where the 32-bit words of every plane come from: the same samples for all features.

    The words of a class fill whole steps of the tensor cores; samples come in order of classes.
    """

    places: Tensor
    """The place of the first sample of each word."""

    lengths: Tensor
    """How many samples each word has, at most 32; its other bits are 0."""

    ends: Tensor
    """The step where each class ends."""

    second_stage: int
    """The stage where the second class begins."""

    @classmethod
    def of(cls, starts: Indices, sizes: Indices, device: torch.device) -> "Words":
        """Words of classes of these sizes, whose samples begin at some places."""
        n_steps = -(-sizes // STEP_BITS)
        n_steps[0] += n_steps[0] % STAGE_STEPS  # so that the second class begins with a stage
        places = []
        lengths = []
        for start, size, steps in zip(starts[: len(sizes)], sizes, n_steps, strict=True):
            offsets = np.arange(0, steps * STEP_BITS, WORD_BITS)
            places.append(start + offsets)
            lengths.append(np.clip(size - offsets, 0, WORD_BITS))
        n_words = int(n_steps.sum()) * (STEP_BITS // WORD_BITS)
        padding = (0, -n_words % STAGE_WORDS)
        return cls(
            places=_as_int32(np.pad(np.concatenate(places), padding), device),
            lengths=_as_int32(np.pad(np.concatenate(lengths), padding), device),
            ends=_as_int32(np.cumsum(n_steps), device),
            second_stage=int(n_steps[0]) // STAGE_STEPS,
        )


def _as_int32(values: Indices, device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=torch.int32, device=device)


@cache
def available(device: torch.device) -> bool:
    """Whether kernels can be compiled for a GPU, and count as they should."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < MIN_CAPABILITY:
        return False
    n_features = 64
    sizes = [100, 200]
    values = torch.arange(n_features * sum(sizes), device=device).view(n_features, -1)
    codes = (values * 7919 % 13 < 6).to(torch.uint8)
    words = Words.of(np.array([0, sizes[0]]), np.array(sizes), device)
    try:
        bits = pack(codes, torch.arange(n_features, device=device), 1, words)
        counts = count(bits, bits, (n_features, n_features), words.ends, torch.int32)
    except (AttributeError, OSError, RuntimeError):
        return False
    planes = (codes == 0).double()
    expected = [plane @ plane.T for plane in planes.split(sizes, dim=1)]
    return bool((counts == torch.stack(expected)).all())


def is_hopper(device: torch.device) -> bool:
    """Whether tensor cores read shared memory by themselves, as those of one chip do."""
    return bool(torch.cuda.get_device_capability(device) == HOPPER)


def shared_bytes(device: torch.device) -> int:
    """Bytes of shared memory that a block can have."""
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)


def pack(codes: Tensor, features: Tensor, n_levels: int, words: Words) -> Tensor:
    """Planes of the first levels of some features, as bits.

    ``codes``: (feature, sample), samples in order of classes. Plane ``[level, feature]`` is row
    ``level * len(features) + feature`` of the result, whose rows lie in tiles of ``SIDE`` rows,
    ``(tile, words of its rows)``; the last tile is filled up with the last plane.
    """
    n_features = len(features)
    n_words = len(words.places)
    n_tiles = -(-n_levels * n_features // SIDE)
    bits = torch.empty((n_tiles, SIDE * n_words), dtype=torch.int32, device=codes.device)
    arguments: dict[str, Argument] = {
        "codes": codes,
        "n_places": codes.stride(0),
        "features": features,
        "n_features": n_features,
        "n_levels": n_levels,
        "word_places": words.places,
        "word_lengths": words.lengths,
        "n_words": n_words,
        "bits": bits,
    }
    launch("pack", arguments, grid=(n_tiles * SIDE, -(-n_words // THREADS), 1))
    return bits


def count(
    left: Tensor, right: Tensor, sides: tuple[int, int], ends: Tensor, dtype: torch.dtype
) -> Tensor:
    """Ones that the planes of two sides share in each part, ``[part, row, column]``.

    ``left`` and ``right``: planes of :func:`pack`, of which ``sides`` has the numbers. ``ends``:
    the step where each part of the samples ends: see :class:`Words`.
    """
    n_rows, n_columns = sides
    counts = torch.empty((len(ends), n_rows, n_columns), dtype=dtype, device=left.device)
    arguments: dict[str, Argument] = {
        "left_bits": left,
        "right_bits": right,
        "n_rows": n_rows,
        "n_columns": n_columns,
        "n_words": left.shape[1] // SIDE,
        "part_ends": ends,
        "n_parts": len(ends),
        "counts": counts,
    }
    launch(
        "count",
        arguments,
        grid=(-(-n_rows // SIDE), -(-n_columns // SIDE), 1),
        n_threads=MULTIPLIERS,
        shared=COUNT_STAGES * STAGE_BYTES + COUNTED_BYTES,
        defines=(f"COUNT={TYPES[dtype]}", f"STAGES={COUNT_STAGES}"),
    )
    return counts


@cache
def parameters_of(kernel: str) -> tuple[str, ...]:
    """The names of the parameters of a kernel of ``pairs.cu``, in order."""
    source = SOURCE.read_text(encoding="utf-8")
    head = rf"__global__ void (?:__launch_bounds__\([^)]*\)\s+)?{kernel}\(([^)]*)\)"
    signature = re.search(head, source)
    if signature is None:
        raise ValueError(f"{SOURCE.name} has no kernel {kernel!r}")
    return tuple(declared.split()[-1].lstrip("*") for declared in signature[1].split(","))


def launch(
    name: str,
    arguments: Mapping[str, Argument],
    *,
    grid: tuple[int, int, int],
    n_threads: int = THREADS,
    shared: int = 0,
    defines: tuple[str, ...] = (),
) -> None:
    """Launch a kernel with a value for each of its parameters, by name.

    ``shared``: bytes of shared memory of a block. ``defines``: what the kernel is compiled with.
    The driver is called directly, because the wrapper of PyTorch takes ten times as long.
    """
    parameters = parameters_of(name)
    if len(arguments) != len(parameters):
        raise TypeError(f"the kernel {name!r} takes {parameters}, not {tuple(arguments)}")
    values = [_as_c(arguments[parameter]) for parameter in parameters]
    addresses = (c_void_p * len(values))(*(addressof(value) for value in values))
    tensor = next(value for value in arguments.values() if isinstance(value, Tensor))
    device = tensor.device
    with torch.cuda.device(device):
        kernel = _compile(name, device, defines)
        stream = c_void_p(torch.cuda.current_stream(device).cuda_stream)
        block = (n_threads, 1, 1)
        status = load_cuda_driver().cuLaunchKernel(
            kernel.func, *grid, *block, shared, stream, addresses, None
        )
    if status:
        raise RuntimeError(f"the kernel {name!r} was not launched: CUDA error {status}")


@cache
def _compile(name: str, device: torch.device, defines: tuple[str, ...]) -> Any:
    """Compile a kernel for a device, which is the current one; ``-DKERNEL_NAME`` chooses it."""
    options = [f"-DKERNEL_{name.upper()}", *(f"-D{define}" for define in defines)]
    source = SOURCE.read_text(encoding="utf-8")
    chip = "90a" if is_hopper(device) else None
    kernel = compile_cuda_kernel(source, name, chip, options)
    if name in ("count", "pairs"):
        kernel.set_shared_memory_config(shared_bytes(device))
    return kernel


def _as_c(value: Argument) -> Any:
    """A value as the driver takes it: addresses of tensors, floats as double, integers as int."""
    if isinstance(value, Tensor):
        return c_void_p(value.data_ptr())
    if isinstance(value, c_longlong | c_void_p):
        return value
    if isinstance(value, float):
        return c_double(value)
    return c_int(value)


@dataclass(frozen=True)
class Recipe:
    """A formula on a device: ``max((sum over cells + terms) * scale, lowest)``."""

    pair_table: Tensor
    """What a cell (xi, xj) of 0, 1, ... samples adds, in whole units of the scale."""

    class_table: Tensor
    """What a cell (xi, xj, y) of 0, 1, ... samples adds."""

    scale_and_lowest: Tensor
    """Two numbers: nats of a unit, and the least value."""

    by_pair: bool
    """Whether any entry of ``pair_table`` is not 0."""

    by_class: bool
    """Whether any entry of ``class_table`` is not 0."""

    symmetric: bool
    """Whether [i, j] and [j, i] are equal."""


@dataclass(frozen=True)
class Lookup:
    """The tables of a formula, as the kernel ``pairs`` takes them.

    An entry for a count of n samples is ``unit * high part(n) + slope * n + lowest + residual[n]``:
    the kernel computes the high part, looks up the residual, and adds a constant for the others.
    """

    tables: Tensor
    """Entries of 64 bits of the class table and the pair table, or residuals of 32 bits."""

    pair_table_at: int
    """The byte where the table of cells of all classes begins, where there are two tables."""

    mark: int
    """The bits of the float 2^21 / 2^k, which is added to counts of at most 2^k."""

    unit: int
    """What a high part is multiplied with."""

    constant: int
    """What is added for each pair."""

    defines: tuple[str, ...]
    """How the kernel is compiled for these tables."""

    @classmethod
    def of(cls, recipe: Recipe, sizes: Indices) -> "Lookup | None":
        """The tables of a recipe over classes of these sizes; None: the kernel cannot."""
        by_class = recipe.by_class
        by_pair = recipe.by_pair
        if by_class and not (len(sizes) == 2 and sizes.max() < MAX_CLASS):
            return None
        if not (by_class or by_pair):
            return None
        tables = []
        if by_class:
            tables.append(recipe.class_table)
        if by_pair:
            tables.append(recipe.pair_table)
        n_entries = len(tables[0])
        defines = (
            f"PARTS={2 if by_class else 1}",
            f"BY_CLASS={int(by_class)}",
            f"BY_PAIR={int(by_pair)}",
        )
        mark = _float_bits_of_power(21 - (n_entries - 2).bit_length())
        # One table of residuals serves both kinds of cells where one table is the other's negative.
        is_one_table = len(tables) == 1 or bool((tables[1] == -tables[0]).all())
        split = SplitTable.of(tables[0], mark) if is_one_table else None
        if split is None:
            return cls(
                tables=_pad_to_chunks(torch.cat(tables).view(torch.int32)),
                pair_table_at=8 * n_entries if by_class else 0,
                mark=0,
                unit=0,
                constant=0,
                defines=(*defines, "EXACT=1"),
            )
        # Each pair has eight cells of two classes, and four of all samples; where both are looked
        # up, those of all samples are subtracted.
        n_lookups = 8 if by_class else 0
        if by_pair:
            n_lookups += -4 if by_class else 4
        # The counts of the cells add up to those of all samples, and cancel if both are looked up.
        total_count = n_entries - 1 if len(tables) == 1 else 0
        return cls(
            tables=_pad_to_chunks(split.residuals),
            pair_table_at=0,
            mark=mark,
            unit=split.unit,
            constant=split.slope * total_count + split.lowest * n_lookups,
            defines=(*defines, "EXACT=0"),
        )


def _float_bits_of_power(exponent: int) -> int:
    """The bits of the 32-bit float 2^exponent."""
    return (127 + exponent) << 23


def _pad_to_chunks(words: Tensor) -> Tensor:
    """The same 32-bit words in whole chunks of 16 bytes."""
    return torch.nn.functional.pad(words, (0, -len(words) % 4))


@dataclass(frozen=True)
class SplitTable:
    """``table[n] = unit * high part(n) + slope * n + lowest + residuals[n]``, in integers."""

    residuals: Tensor
    unit: int
    slope: int
    lowest: int

    @classmethod
    def of(cls, table: Tensor, mark: int) -> "SplitTable | None":
        """Split a table of a recipe; None if 32 bits, or shared memory, do not hold residuals."""
        n_entries = len(table)
        high = torch.empty(n_entries, dtype=torch.int64, device=table.device)
        arguments: dict[str, Argument] = {"n": n_entries, "mark": mark, "out": high}
        launch("high", arguments, grid=(-(-n_entries // THREADS), 1, 1))
        counts = np.arange(n_entries)
        terms = np.stack([high.cpu().numpy(), counts], axis=1).astype(np.float64)
        values = table.cpu().numpy().astype(np.float64)
        coefficients = np.linalg.lstsq(terms, values, rcond=None)[0].tolist()
        unit = round(coefficients[0])
        slope = round(coefficients[1])
        residuals = table - unit * high - slope * torch.arange(n_entries, device=table.device)
        lowest = int(residuals.min())
        fits_in_32_bits = abs(unit) < 2**31 and int(residuals.max()) - lowest < 2**32
        if not fits_in_32_bits or 4 * n_entries + LEAST_BYTES > shared_bytes(table.device):
            return None
        return cls((residuals - lowest).to(torch.int32), unit, slope, lowest)
