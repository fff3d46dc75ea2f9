"""A discrete table on a device: levels as planes of 0 and 1, counts as products of planes.

Samples are sorted by class, so that the counts of a class are one matrix product over its places.
Planes are cut from the codes when they are needed, and the table takes a byte for each value.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bestk._cached import cached_property
from bestk._typing import Indices
from bestk.information.backends import _torch_kernels as kernels
from bestk.information.measures import ExactEntropies, Tables
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

MAX_DEVICE_LEVELS = 64  # of a column that is counted here; others are left to the CPU
MAX_PAIR_CELLS = 2**18  # of a pair that is counted here, over all classes
NO_LEVEL = 255  # the code of padding
WIDTH = 32  # features of a tile are padded to a multiple of it, where tensor cores multiply
PLANE_BYTES = 2**30  # for the planes of a tile
COUNT_BYTES = {"cuda": 2**31, "cpu": 2**24}  # for the counts of a tile of pairs, at most
UPLOAD_BYTES = 2**28

Window = tuple[int, int]  # first and last place of some samples


class DeviceCodes(NamedTuple):
    """The codes of a table on a device, samples in order of their classes."""

    values: Tensor  # (feature, sample)
    levels: Indices

    @property
    def n_samples(self) -> int:
        """Number of rows of the table."""
        return int(self.values.shape[1])

    def to_host(self) -> Codes:
        """Copy the codes to the memory of the host."""
        values = self.values.cpu().numpy()
        return Codes(values, self.levels, [str(i) for i in range(len(values))])


@dataclass(frozen=True)
class DeviceTable:
    """Codes and classes, ready to be counted."""

    device: Any
    max_counts: int  # of a tile of pairs
    codes: Tensor  # (features + 1, places): below the features one of no level
    levels: Indices
    starts: Indices  # class c is at starts[c]:starts[c + 1]
    sizes: Tensor  # samples of each class

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.starts) - 1

    @property
    def max_levels(self) -> int:
        """The most levels of a column that is counted here."""
        return max(2, min(MAX_DEVICE_LEVELS, isqrt(MAX_PAIR_CELLS // self.n_classes)))

    @cached_property
    def first_level(self) -> Tensor:
        """Samples at level 0, by class and feature."""
        return self._count_level(0)

    @cached_property
    def takes_bits(self) -> bool:
        """Whether counts come from planes of bits, by kernels of our own."""
        return bool(self.codes.device == self.device) and kernels.available(self.device)

    @cached_property
    def words(self) -> kernels.Words:
        """The words of planes of bits."""
        return kernels.Words.of(self.starts, self.sizes.cpu().numpy(), self.device)

    @cached_property
    def first_bits(self) -> Tensor:
        """Where each feature has level 0, as bits; one row at the end has no level."""
        every = torch.arange(len(self.codes), device=self.device)
        return kernels.pack(self.codes, every, 1, self.words)

    def bits(self, side: Any, n_levels: int) -> Tensor:
        """Where each level is: a row of bits for ``[level, feature]``; kept by the side."""
        if n_levels not in side.bits:
            side.bits[n_levels] = (
                self.first_bits[side.span.start // kernels.SIDE :]
                if n_levels == 1 and side.is_aligned
                else kernels.pack(self.codes, side.features, n_levels, self.words)
            )
        return side.bits[n_levels]

    def count_bits(self, rows: Any, n_i: int, columns: Any, n_j: int, by_class: bool) -> Tensor:
        """Samples of two sides in each cell, at ``[part, level and row, level and column]``."""
        ends = self.words.ends if by_class else self.words.ends[-1:]
        most = int(np.diff(self.starts).max() if by_class else self.starts[-1])
        dtype = torch.uint16 if most < 2**16 else torch.int32
        sides = n_i * len(rows.features), n_j * len(columns.features)
        return kernels.count(self.bits(rows, n_i), self.bits(columns, n_j), sides, ends, dtype)

    def parts(self, by_class: bool) -> list[Window]:
        """The places of each class, or all as one."""
        cuts = self.starts if by_class else self.starts[[0, -1]]
        return [(int(first), int(last)) for first, last in pairwise(cuts)]

    def singles(self, tables: Tables) -> ExactEntropies:
        """Entropies of the features that are counted here."""
        plain, chance = torch.tensor(np.stack([tables.plain, tables.chance]), device=self.device)
        x, xy = torch.zeros((2, len(self.levels)), dtype=torch.int64, device=self.device)
        for level in range(min(self.max_levels, int(self.levels.max()))):
            counts = (self._count_level(level) if level else self.first_level)[:, :-1].long()
            totals = counts.sum(0)
            x += plain[totals]
            xy += plain[counts].sum(0) + chance[totals]
        return ExactEntropies(tables, x.cpu().numpy(), xy.cpu().numpy())

    def _count_level(self, level: int) -> Tensor:
        """Samples at a level, by class and feature."""
        counts = []
        for codes in self.codes.split(max(1, UPLOAD_BYTES // self.codes.shape[1])):
            here = codes.to(self.device) == level
            own = [here[:, first:last].sum(1) for first, last in self.parts(by_class=True)]
            counts.append(torch.stack(own))
        return torch.cat(counts, dim=1).to(torch.int32)

    def planes(self, side: Any, n_levels: int, window: Window) -> Tensor:
        """Where each level is: a row of 0 and 1 for ``[level, feature]``."""
        some = side.features.to(self.codes.device)
        codes = self.codes[:, slice(*window)].index_select(0, some).to(self.device)
        level = torch.arange(n_levels, dtype=codes.dtype, device=self.device)
        return (codes == level[:, None, None]).flatten(0, 1).to(torch.float32)

    def count(self, rows: Any, n_i: int, columns: Any, n_j: int, parts: list[Window]) -> Tensor:
        """Samples of two sides in each cell, at ``[part, level, row, level, column]``."""
        heights = n_i * len(rows.features), n_j * len(columns.features)
        counts = torch.zeros((len(parts), *heights), dtype=torch.int32, device=self.device)
        width = max(1, PLANE_BYTES // (4 * max(heights)))
        for begin in range(0, parts[-1][1], width):
            window = begin, min(begin + width, parts[-1][1])
            a, b = self.planes(rows, n_i, window), self.planes(columns, n_j, window)
            for count, (first, last) in zip(counts, parts, strict=True):
                low, high = max(first, begin) - begin, min(last, window[1]) - begin
                if low < high:
                    count += (a[:, low:high] @ b[:, low:high].T).to(torch.int32)
        return counts.view(len(parts), n_i, len(rows.features), n_j, len(columns.features))


def upload(codes: Codes | DeviceCodes, target: ClassTarget, device: Any) -> DeviceTable:
    """Sort by class; codes stay in the host's memory if the device has too little."""
    sizes, n = target.counts, len(codes.levels)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    where = device if (n + 1) * starts[-1] < free_bytes(device) / 2 else torch.device("cpu")
    order = torch.tensor(target.order, device=where)
    out = torch.full((n + 1, int(starts[-1])), NO_LEVEL, dtype=torch.uint8, device=where)
    at_once = max(1, UPLOAD_BYTES // codes.n_samples)
    for first in range(0, n, at_once):
        some = codes.values[first : first + at_once]
        if isinstance(some, np.ndarray):
            some = torch.from_numpy(some if some.itemsize == 1 else np.minimum(some, NO_LEVEL))
        some = some.to(where).to(torch.uint8)
        torch.index_select(some, 1, order, out=out[first : first + len(some)])
    max_counts = int(min(COUNT_BYTES[device.type], free_bytes(device) / 8)) // 4
    on_device = torch.tensor(sizes, dtype=torch.int32, device=device)
    return DeviceTable(device, max_counts, out, codes.levels, starts, on_device)


def free_bytes(device: Any) -> float:
    """Free memory of a device; that of the host is not limited here."""
    if device.type != "cuda":
        return float("inf")
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return float(torch.cuda.mem_get_info(device)[0] + cached)
