"""Columns of whole numbers beyond 2**53, of which tables of float64 hold only the first bits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.files._arrow import arrow
from bestk.data.files._batch import ArrowBatch
from bestk.data.whole import EXACT, beyond, is_long, refuse_merged

LONG = r"[ \t]*[-+]?[0-9]{16,}[ \t]*"  # how text spells a whole number that may be so large
WHOLE = re.compile("-?[0-9]{1,400}")
MOST = 2**20  # different numbers to remember
RANGES = {"int64": (-(2**63), 2**63), "uint64": (0, 2**64)}
Known = NDArray[np.bool_]


@lru_cache(maxsize=256)
def may_be_long(type_: Any) -> bool:
    """Whether a column of an arrow or numpy type may hold whole numbers that float64 rounds."""
    if isinstance(type_, np.dtype):
        return is_long(type_)
    is_ = arrow("types")
    return bool(
        is_.is_int64(type_) or is_.is_uint64(type_) or (is_.is_decimal(type_) and type_.scale <= 0)
    )


def long_columns(values: NDArray[Any], places: Sequence[int]) -> list[int]:
    """Those of some columns of an array that reach 2**53."""
    if not places:
        return []
    part = values if len(places) == values.shape[1] else values[:, places]
    return [places[j] for j in beyond(part)]


class LongColumns:
    """The exact values of such columns, wherever a piece of them is beyond 2**53."""

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places  # of the columns that may be
        self.pieces: dict[int, list[tuple[int, NDArray[Any], Known]]] = {}

    def add(
        self,
        batch: ArrowBatch,
        columns: Sequence[int],
        values: NDArray[Any],
        start: int,
        wide: Known,
    ) -> None:
        """Look at rows from ``start`` on: ``values`` are those of ``columns`` of the batch."""
        for place in long_columns(values, [place for place in self._places if wide[place]]):
            piece = (start, *batch.integers(columns[place]))
            self.pieces.setdefault(place, []).append(piece)

    def exact(self, place: int, rounded: NDArray[Any], name: str) -> NDArray[Any]:
        """The values of a column: integers, or floats where some are missing."""
        pieces = self.pieces[place]
        known = ~np.isnan(rounded)
        for start, values, _ in pieces:
            known[start : start + len(values)] = False
        whole = np.zeros(len(rounded), pieces[0][1].dtype)
        whole[known] = rounded[known]
        for start, values, there in pieces:
            whole[start : start + len(values)] = values
            known[start : start + len(values)] = there
        if known.all():
            return whole
        refuse_merged(whole[known], f"column {name!r}")
        return np.where(known, whole, np.nan)


@dataclass
class Spelled:
    """What the texts of a column of numbers say of its type."""

    low: int = 0
    high: int = 0
    others: bool = False  # fractions and the like
    seen: set[int] = field(default_factory=set)  # beyond 2**53

    def add(self, texts: Sequence[str]) -> None:
        """Look at some texts."""
        for text in texts:
            bare = text.strip(" \t")
            if not WHOLE.fullmatch(bare):
                self.others = True
                continue
            value = int(bare)
            self.low, self.high = min(self.low, value), max(self.high, value)
            if abs(value) > EXACT and len(self.seen) < MOST:
                self.seen.add(value)

    def role(self) -> str:
        """The type that holds it exactly, or else as text; a number if it has fractions."""
        if not self.seen:
            return "number"
        for name, (lowest, end) in RANGES.items():
            if not self.others and lowest <= self.low and self.high < end:
                return name
        return "text" if self.is_merged and not self.others else "number"

    @property
    def largest(self) -> int:
        """The number furthest from 0."""
        return max(self.low, self.high, key=abs)

    @property
    def is_merged(self) -> bool:
        """Whether float64 takes different ones for the same."""
        return len(self.seen) == MOST or len({float(str(v)) for v in self.seen}) < len(self.seen)
