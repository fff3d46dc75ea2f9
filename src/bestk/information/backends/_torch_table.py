"""A discrete table on a device: levels as planes of 0 and 1, counts as products of planes.

Samples are sorted by class and each class is padded, so that the counts of a class are one
matrix product over its places. Planes are cut from the codes when they are needed, and the table
takes a byte for each value; where there is room the first planes, all that pairs of two-level
features need, are kept beside it.
"""

import os
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from shutil import which
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Indices
from bestk.data.codes import Codes
from bestk.data.target import Target

MAX_BYTE_LEVELS = 255  # of a column that has planes: its codes fit in a byte, with one left
MAX_PAIR_CELLS = 2**18  # of a pair that is counted by planes, over all classes
STEPS = (128, 64, 32, 16)  # samples of a class are padded to a multiple of one of these
WIDTH = 32  # and features of a tile, where tensor cores multiply
PLANE_BYTES = 2**30  # for the planes of a tile
COUNT_BYTES = {"cuda": 2**31, "cpu": 2**24}  # for the counts of a tile of pairs, at most
UPLOAD_BYTES = 2**28
MAX_KEPT_SHARE = 0.3  # of the device's free memory, for planes that are kept
SORTED_SAMPLES = 2**24  # samples
COMPILERS = ("cc", "gcc", "clang")
EXACT_FLOATS = 2**24  # a sum of zeros and ones is exact in float32 up to here
ONE = 2.0**9  # a byte of 1, read as an 8-bit float, is 2^-9

Window = tuple[int, int]  # first and last place of some samples


@dataclass(frozen=True)
class DeviceTable:
    """Codes and classes, ready to be counted."""

    device: Any
    dtype: Any  # of planes
    most_counts: int  # of a tile of pairs
    codes: Tensor  # (features + 2, places): below the features a constant, and one of no level
    levels: Indices  # of the features and the constant
    starts: Indices  # class c is at starts[c]:starts[c + 1], its padding last
    sizes: Tensor  # samples of each class
    first_level: Tensor  # (classes, features + 2): how many of them are at level 0
    samples: Tensor  # places that are no padding
    classes: Tensor  # of those

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.levels) - 1

    @cached_property
    def n_planes(self) -> int:
        """Planes of all features."""
        return int(count_planes(self.levels).sum())

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.starts) - 1

    def parts(self, by_class: bool) -> list[Window]:
        """The places of each class, or all as one."""
        cuts = self.starts if by_class else self.starts[[0, -1]]
        return [(int(first), int(last)) for first, last in pairwise(cuts)]

    def has_planes(self, n_i: int, n_j: int) -> bool:
        """Whether pairs of that many levels are counted by planes, not by sorting."""
        return max(n_i, n_j) <= MAX_BYTE_LEVELS and n_i * n_j * self.n_classes <= MAX_PAIR_CELLS

    @cached_property
    def first_planes(self) -> Tensor | None:
        """Where each feature has level 0, if there is room; some rows at the end are padding."""
        if self.codes.device != self.device or self.dtype == torch.float32:
            return None
        shape = self.codes.shape[0] + WIDTH, self.codes.shape[1]
        if shape[0] * shape[1] > MAX_KEPT_SHARE * free_bytes(self.device):
            return None
        planes = torch.empty(shape, dtype=torch.uint8, device=self.device)
        for codes, out in zip(self.codes.split(2**13), planes.split(2**13), strict=False):
            out[: len(codes)] = codes == 0
        return planes.view(self.dtype)

    def planes(
        self, features: Tensor, n_levels: int, window: Window, span: slice | None = None
    ) -> Tensor:
        """Where each level is: a row of 0 and 1 for ``[level, feature]``; span: side by side."""
        if n_levels == 1 and span is not None and self.first_planes is not None:
            return self.first_planes[span, slice(*window)]
        codes = self.codes[:, slice(*window)]
        if codes.device != self.device:
            codes = codes.index_select(0, features.to(codes.device)).to(self.device)
            features = torch.arange(len(features), device=self.device)
        own = triton_kernels(self.device)
        if own is not None:
            hot = own.cut_planes(codes, features, n_levels)
        else:
            level = torch.arange(n_levels, dtype=codes.dtype, device=self.device)
            hot = (codes.index_select(0, features) == level[:, None, None]).flatten(0, 1)
        return hot.to(self.dtype) if self.dtype == torch.float32 else hot.view(self.dtype)

    def count(self, rows: Any, n_i: int, columns: Any, n_j: int, parts: list[Window]) -> Tensor:
        """Samples of two sides in each cell, at ``[part, level, row, level, column]``."""
        heights = n_i * len(rows.features), n_j * len(columns.features)
        dtype = torch.float32 if self.dtype == torch.float8_e4m3fn else torch.int32
        counts = torch.empty((len(parts), *heights), dtype=dtype, device=self.device)
        kept = n_i == n_j == 1 and rows.span and columns.span and self.first_planes is not None
        most = PLANE_BYTES // (max(heights) * self.dtype.itemsize)
        width = parts[-1][1] if kept else max(STEPS[0], most // STEPS[0] * STEPS[0])
        for begin in range(0, parts[-1][1], width):
            window = begin, min(begin + width, parts[-1][1])
            a = self.planes(rows.features, n_i, window, rows.span)
            b = self.planes(columns.features, n_j, window, columns.span)
            for count, (first, last) in zip(counts, parts, strict=True):
                low, high = max(first, begin) - begin, min(last, window[1]) - begin
                if low < high:
                    multiply(a[:, low:high], b[:, low:high], count, add=first < begin)
        return counts.view(len(parts), n_i, len(rows.features), n_j, len(columns.features))

    def sum_sorted(
        self, feature: Tensor, others: Tensor, pair_step: Tensor, class_step: Tensor
    ) -> Tensor:
        """Sum tables, given by their steps, over the cells of one feature against others.

        The next sample of a cell that has t adds step t, and equal cells are sorted together.
        """
        at_once = max(1, SORTED_SAMPLES // len(self.samples))
        own = self._known_codes(feature[None])
        sums = []
        for some in others.split(at_once):
            codes = self._known_codes(some)
            cells = (own * (codes.max() + 1) + codes) * self.n_classes + self.classes
            cells = cells.sort(dim=1).values
            pairs = cells.div(self.n_classes, rounding_mode="floor")
            sums.append(class_step[_ranks(cells)].sum(1) + pair_step[_ranks(pairs)].sum(1))
        return torch.cat(sums)

    def _known_codes(self, features: Tensor) -> Tensor:
        codes = self.codes.index_select(0, features.to(self.codes.device))
        return codes.to(self.device)[:, self.samples].long()


def count_planes(levels: Indices) -> Indices:
    """Planes of features against their like: of two levels, one gives the other."""
    return np.where(levels <= 2, 1, levels)


def _ranks(cells: Tensor) -> Tensor:
    """0, 1, 2, ... along each run of equal cells."""
    place = torch.arange(cells.shape[1], device=cells.device)
    begins = torch.zeros_like(cells)
    begins[:, 1:] = torch.where(cells[:, 1:] != cells[:, :-1], place[1:], 0)
    return place - begins.cummax(dim=1).values


def upload(codes: Codes, target: Target, device: Any) -> DeviceTable:
    """Sort by class and pad; codes stay in the host's memory if the device has too little."""
    sizes = target.counts
    step = next((s for s in STEPS if 8 * s * len(sizes) <= codes.n_samples), STEPS[-1])
    starts = np.concatenate([[0], np.cumsum(-(-sizes // step) * step)])
    known = np.concatenate([s + np.arange(n) for s, n in zip(starts, sizes, strict=False)])
    source = np.zeros(starts[-1], np.int64)
    source[known] = np.argsort(target.codes, kind="stable")
    padding = np.setdiff1d(np.arange(starts[-1]), known, assume_unique=True)
    dtype = torch.uint8 if codes.levels.max(initial=1) <= MAX_BYTE_LEVELS else torch.int16
    n_bytes = (codes.n_features + 2) * len(source) * dtype.itemsize
    where = device if n_bytes < free_bytes(device) / 2 else torch.device("cpu")
    sorted_codes, first_level = _sort(codes, where, source, padding, starts, dtype)
    return DeviceTable(
        device,
        plane_dtype(device, len(source)),
        int(min(COUNT_BYTES[device.type], free_bytes(device) / 8)) // 4,
        sorted_codes,
        np.append(codes.levels, 1),
        starts,
        torch.tensor(sizes, dtype=torch.int32, device=device),
        first_level.to(device),
        torch.tensor(known, device=device),
        torch.tensor(np.repeat(np.arange(len(sizes)), sizes), device=device),
    )


def _sort(
    codes: Codes, where: Any, source: Any, padding: Any, starts: Any, dtype: Any
) -> tuple[Tensor, Tensor]:
    """The codes of each place, and how many of each class are at level 0."""
    n, no_level = codes.n_features, 255 if dtype == torch.uint8 else -1
    out = torch.zeros((n + 2, len(source)), dtype=dtype, device=where)
    source, padding = torch.tensor(source, device=where), torch.tensor(padding, device=where)
    at_once = max(1, UPLOAD_BYTES // len(source))
    kind = np.uint8 if dtype == torch.uint8 else np.int16
    for first in range(0, n, at_once):
        some = torch.from_numpy(codes.values[first : first + at_once].astype(kind))
        out[first : first + len(some)] = some.to(where).index_select(1, source)
    out[n + 1] = no_level
    out[:, padding] = no_level
    zeros = torch.empty((len(starts) - 1, n + 2), dtype=torch.int32, device=where)
    for first in range(0, n + 2, at_once):
        some = out[first : first + at_once] == 0
        for c, (begin, end) in enumerate(pairwise(starts)):
            zeros[c, first : first + at_once] = some[:, begin:end].sum(1)
    return out, zeros


def free_bytes(device: Any) -> float:
    """Free memory of a device; that of the host is not limited here."""
    if device.type != "cuda":
        return float("inf")
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return float(torch.cuda.mem_get_info(device)[0] + cached)


@cache
def triton_kernels(device: Any) -> Any:
    """The Triton kernels, for a GPU where Triton and the C compiler it needs are installed."""
    if device.type != "cuda" or not (os.environ.get("CC") or any(map(which, COMPILERS))):
        return None
    try:
        from bestk.information.backends import _torch_kernels
    except ImportError:
        return None
    return _torch_kernels


def plane_dtype(device: Any, n_places: int) -> Any:
    """What planes of bytes are read as: 8-bit floats, integers, or else turned into floats."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (7, 5):
        return torch.float32
    if n_places < EXACT_FLOATS and _float8_is_exact(device):
        return torch.float8_e4m3fn
    return torch.int8


@cache
def _float8_is_exact(device: Any) -> bool:
    """Whether tensor cores add ones without loss; a product of planes has no larger sums."""
    if torch.cuda.get_device_capability(device) < (8, 9):
        return False
    ones = torch.ones((32, 2**18), dtype=torch.uint8, device=device).view(torch.float8_e4m3fn)
    out = torch.empty((32, 32), device=device)
    try:
        multiply(ones, ones, out, add=False)
    except RuntimeError:
        return False
    return bool((out == 2**18).all())


def multiply(a: Tensor, b: Tensor, out: Tensor, add: bool) -> None:
    """Products of the rows of a with those of b, or these added to what is there."""
    if add:
        more = torch.empty_like(out)
        multiply(a, b, more, add=False)
        out += more
    elif a.dtype == torch.float8_e4m3fn:
        one = _one(a.device)
        torch._scaled_mm(a, b.T, one, one, out_dtype=out.dtype, use_fast_accum=False, out=out)
    elif a.dtype == torch.int8:
        torch._int_mm(a, b.T, out=out)
    else:
        out.copy_(a @ b.T)


@cache
def _one(device: Any) -> Tensor:
    return torch.full((), ONE, device=device)
