"""The sides of tiles of pairs: some features on a device, and where their values go."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bestk._typing import Indices
from bestk.information.backends._torch_kernels import SIDE

# Planes on a side of a tile, at most.
MAX_SIDE_PLANES = 2**16


@dataclass(frozen=True)
class TileSide:
    """The features of one side of a tile."""

    chosen: Indices
    """The features, as places in the table."""

    features: Tensor
    """The same on the device, filled up with the feature without levels."""

    levels: int
    """The most that one of them has."""

    first_level: Tensor
    """Samples at level 0, ``[class, feature]``, filled up in the same way."""

    places: Indices
    """The row, or the column, of the output that each feature goes to."""

    at: Tensor
    """The same on the device."""

    row_term: Tensor
    """What the formula adds for each feature as xi, in units of its scale."""

    column_term: Tensor
    """What it adds for each feature as xj."""

    start: int | None
    """The first of the features, where they follow each other in the table."""

    first: int | None
    """The first of the places in the output, where they follow each other."""

    bits: dict[int, Tensor] = field(default_factory=dict)
    """Planes of so many levels, kept once they are made: see ``DeviceTable.bits``."""

    @property
    def first_tile(self) -> int | None:
        """The tile of all planes that begins with these features; None if there is none."""
        if self.start is None or self.start % SIDE:
            return None
        return self.start // SIDE

    def copy(self) -> "TileSide":
        """The same features as another side."""
        return replace(self)

    def moved_to_start(self) -> "TileSide":
        """The same features with places 0, 1, ... in the output on the device."""
        return replace(self, at=torch.arange(len(self.at), device=self.at.device), first=0)


@dataclass(frozen=True)
class Margins:
    """Samples at the first level in each part: the classes, or all samples as one part."""

    of_rows: Tensor
    """``[part, feature]``"""

    of_columns: Tensor
    """``[part, feature]``"""

    sizes: Tensor
    """All samples of each part."""


def cut_by_levels(
    levels: Indices, max_planes: int, bands: tuple[int, ...], longest: int = MAX_SIDE_PLANES
) -> Iterator[tuple[int, int]]:
    """Cut features in order of their levels into sides: yields the first of each, and its end.

    A side has at most ``longest`` features and, as all its features take the planes of the last,
    ``max_planes`` planes. Features of up to as many levels as a band are kept apart from others.
    """
    ends_of_bands = np.searchsorted(levels, bands, "right").tolist()
    for first_of_band, end_of_band in pairwise([0, *ends_of_bands, len(levels)]):
        first = first_of_band
        while first < end_of_band:
            end = min(end_of_band, first + max_planes, first + longest)
            candidates = levels[first:end]
            planes_up_to = n_planes(candidates) * np.arange(1, len(candidates) + 1)
            n_fitting = int(np.searchsorted(planes_up_to, max_planes, "right"))
            last = first + max(1, n_fitting)
            yield first, last
            first = last


def n_planes(levels: Any) -> Any:
    """Planes of features against features of as many levels: of two levels, one gives the other."""
    return np.where(levels <= 2, 1, levels)


def first_of_run(places: Indices) -> int | None:
    """The first of places that follow each other; None if they do not."""
    return int(places[0]) if (np.diff(places) == 1).all() else None
