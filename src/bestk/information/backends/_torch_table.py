"""A discrete table on a device: levels as planes of 0 and 1, counts as products of planes.

Samples are sorted by class, so that the counts of a class are one matrix product over its places.
Planes are cut from the codes when they are needed, and the table takes a byte for each value.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np
import torch
from torch import Tensor

from bestk._cached import cached_property
from bestk._typing import Array, Indices
from bestk.information.backends import _torch_kernels as kernels
from bestk.information.backends._torch_sides import TileSide
from bestk.information.measures import ExactEntropies, Tables
from bestk.tables.codes import Codes
from bestk.tables.target import ClassTarget

# Levels of a column that is counted here; columns with more are left to the CPU.
MAX_DEVICE_LEVELS = 64

# Cells of a pair that is counted here, over all classes: many classes lower the levels.
MAX_PAIR_CELLS = 2**18

# The code of samples of the feature without levels, with which tiles are filled up.
NO_LEVEL = 255

# Features of a tile are filled up to a multiple of it where tensor cores multiply.
WIDTH = 32

# Bytes of the planes of 0 and 1 that are multiplied at once.
PLANE_BYTES = 2**30

# The most bytes of the counts of a tile of pairs.
COUNT_BYTES = {"cuda": 2**31, "cpu": 2**24}

# Bytes of codes that travel to the device at once, or are compared with a level at once.
UPLOAD_BYTES = 2**28

Window = tuple[int, int]  # first and last place of some samples


@dataclass(frozen=True)
class DeviceCodes:
    """The codes of a table on a device, samples in order of their classes."""

    values: Tensor
    """``[feature, sample]``, 8 bits each."""

    levels: Indices
    """How many levels each feature has."""

    @property
    def n_samples(self) -> int:
        """Number of rows of the table."""
        return int(self.values.shape[1])

    def to_host(self) -> Codes:
        """Copy the codes to the memory of the host."""
        values = self.values.cpu().numpy()
        names = [str(i) for i in range(len(values))]
        return Codes(values, self.levels, names)


@dataclass(frozen=True)
class DeviceTable:
    """Codes and classes, ready to be counted on a device."""

    device: torch.device

    max_counts: int
    """Counts of a tile of pairs, at most."""

    codes: Tensor
    """``[feature, place]``, samples by class; the last row is a feature without levels.

    They are on the device, or in the memory of the host where the device has too little.
    """

    levels: Indices
    """How many levels each feature has."""

    starts: Indices
    """Class c is at the places starts[c] up to starts[c + 1]."""

    sizes: Tensor
    """Samples of each class, on the device."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.starts) - 1

    @property
    def max_levels(self) -> int:
        """The most levels of a column that is counted here."""
        levels_of_pairs = isqrt(MAX_PAIR_CELLS // self.n_classes)
        return max(2, min(MAX_DEVICE_LEVELS, levels_of_pairs))

    @cached_property
    def first_level(self) -> Tensor:
        """Samples at level 0, ``[class, feature]``, with the feature without levels."""
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
        """Where each feature has level 0, as bits, with the feature without levels."""
        all_features = torch.arange(len(self.codes), device=self.device)
        return kernels.pack(self.codes, all_features, 1, self.words)

    def bits(self, side: TileSide, n_levels: int) -> Tensor:
        """Where features of a side have each of the first levels, as bits; kept by the side.

        Plane ``[level, feature]`` is a row of the tiles: see ``_torch_kernels.pack``.
        """
        if n_levels not in side.bits:
            if n_levels == 1 and side.first_tile is not None:
                side.bits[n_levels] = self.first_bits[side.first_tile :]
            else:
                planes = kernels.pack(self.codes, side.features, n_levels, self.words)
                side.bits[n_levels] = planes
        return side.bits[n_levels]

    def count_bits(
        self,
        rows: TileSide,
        row_levels: int,
        columns: TileSide,
        column_levels: int,
        *,
        by_class: bool,
    ) -> Tensor:
        """Samples in each cell of two sides, ``[class, level and row, level and column]``.

        With ``by_class=False``, all samples are one class.
        """
        if by_class:
            ends = self.words.ends
            largest_count = int(np.diff(self.starts).max())
        else:
            ends = self.words.ends[-1:]
            largest_count = int(self.starts[-1])
        dtype = torch.uint16 if largest_count < 2**16 else torch.int32
        left = self.bits(rows, row_levels)
        right = self.bits(columns, column_levels)
        sides = (row_levels * len(rows.features), column_levels * len(columns.features))
        return kernels.count(left, right, sides, ends, dtype)

    def windows(self, by_class: bool) -> list[Window]:
        """The places of each class, or those of all samples as one."""
        cuts = self.starts if by_class else self.starts[[0, -1]]
        return [(int(first), int(last)) for first, last in pairwise(cuts)]

    def singles(self, tables: Tables) -> ExactEntropies:
        """Entropies of the features that are counted here; those of others are not complete."""
        plain = torch.tensor(tables.plain, device=self.device)
        chance = torch.tensor(tables.chance, device=self.device)
        n_features = len(self.levels)
        x = torch.zeros(n_features, dtype=torch.int64, device=self.device)
        xy = torch.zeros(n_features, dtype=torch.int64, device=self.device)
        for level in range(min(self.max_levels, int(self.levels.max()))):
            counts = self.first_level if level == 0 else self._count_level(level)
            counts = counts[:, :n_features].long()
            totals = counts.sum(0)
            x += plain[totals]
            xy += plain[counts].sum(0) + chance[totals]
        return ExactEntropies(tables, x.cpu().numpy(), xy.cpu().numpy())

    def _count_level(self, level: int) -> Tensor:
        """Samples at a level, ``[class, feature]``, with the feature without levels."""
        windows = self.windows(by_class=True)
        counts = []
        for codes in self.codes.split(max(1, UPLOAD_BYTES // self.codes.shape[1])):
            is_at_level = codes.to(self.device) == level
            by_class = [is_at_level[:, first:last].sum(1) for first, last in windows]
            counts.append(torch.stack(by_class))
        return torch.cat(counts, dim=1).to(torch.int32)

    def planes(self, side: TileSide, n_levels: int, window: Window) -> Tensor:
        """Where features of a side have each of the first levels, as 0 and 1.

        A row for ``[level, feature]``, a column for each sample of the window.
        """
        first, last = window
        features = side.features.to(self.codes.device)
        codes = self.codes[:, first:last].index_select(0, features).to(self.device)
        levels = torch.arange(n_levels, dtype=codes.dtype, device=self.device)
        return (codes == levels[:, None, None]).flatten(0, 1).to(torch.float32)

    def count(
        self,
        rows: TileSide,
        row_levels: int,
        columns: TileSide,
        column_levels: int,
        windows: list[Window],
    ) -> Tensor:
        """Samples of each window in each cell, ``[window, level, row, level, column]``."""
        height = row_levels * len(rows.features)
        width = column_levels * len(columns.features)
        counts = torch.zeros((len(windows), height, width), dtype=torch.int32, device=self.device)
        n_places = windows[-1][1]
        step = max(1, PLANE_BYTES // (4 * max(height, width)))
        for begin in range(0, n_places, step):
            end = min(begin + step, n_places)
            left = self.planes(rows, row_levels, (begin, end))
            right = self.planes(columns, column_levels, (begin, end))
            for of_window, (first, last) in zip(counts, windows, strict=True):
                low = max(first, begin) - begin
                high = min(last, end) - begin
                if low < high:
                    of_window += (left[:, low:high] @ right[:, low:high].T).to(torch.int32)
        shape = (row_levels, len(rows.features), column_levels, len(columns.features))
        return counts.view(len(windows), *shape)


def upload(codes: Codes | DeviceCodes, target: ClassTarget, device: torch.device) -> DeviceTable:
    """Sort the samples of a table by class; it stays on the host if the device has too little."""
    sizes = target.counts
    n_features = len(codes.levels)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n_samples = int(starts[-1])
    fits = (n_features + 1) * n_samples < free_bytes(device) / 2
    where = device if fits else torch.device("cpu")
    order = torch.tensor(target.order, device=where)
    table = torch.full((n_features + 1, n_samples), NO_LEVEL, dtype=torch.uint8, device=where)
    step = max(1, UPLOAD_BYTES // codes.n_samples)
    for first in range(0, n_features, step):
        strip = _as_bytes(codes.values[first : first + step], where)
        torch.index_select(strip, 1, order, out=table[first : first + len(strip)])
    max_counts = int(min(COUNT_BYTES[device.type], free_bytes(device) / 8)) // 4
    sizes_on_device = torch.tensor(sizes, dtype=torch.int32, device=device)
    return DeviceTable(device, max_counts, table, codes.levels, starts, sizes_on_device)


def _as_bytes(values: Array | Tensor, device: torch.device) -> Tensor:
    """Codes in 8 bits on a device; levels beyond are not counted here and become ``NO_LEVEL``."""
    if isinstance(values, np.ndarray):
        fitting = values if values.itemsize == 1 else np.minimum(values, NO_LEVEL)
        values = torch.from_numpy(fitting)
    return values.to(device).to(torch.uint8)


def free_bytes(device: torch.device) -> float:
    """Free memory of a device; that of the host is not limited here."""
    if device.type != "cuda":
        return float("inf")
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    free, _ = torch.cuda.mem_get_info(device)
    return float(free + unused)
