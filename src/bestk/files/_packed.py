"""Packed files, whose columns are unpacked when they are looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bestk.files._batch import Coded
from bestk.files._plain_batch import PlainBatch
from bestk.files._source import Report
from bestk.packed import PackedTable, open_packed
from bestk.table import Table, read_column, read_table, refuse_twins


@dataclass(frozen=True)
class PackedSource:
    """A packed file; its target, if it has one, is a column like the others."""

    path: Path
    types: dict[str, Any]
    packed: PackedTable
    notes: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path) -> "PackedSource":
        """Read the names of the columns."""
        packed = open_packed(path)
        names = list(packed.names)
        types = dict.fromkeys(names, packed.dtype)
        if packed.y is not None and packed.label is not None:
            names.append(packed.label)
            types[packed.label] = packed.y.dtype
        refuse_twins(names, path)
        return cls(path, types, packed)

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same: the types hold for all rows."""
        return self

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[PlainBatch]:
        """Yield one batch of some columns, in that order."""
        names, label = list(columns), self.packed.label
        places = [self._places[name] for name in names if name != label]
        codes = {names.index(label): _coded(self.packed.y)} if label in names else {}
        yield PlainBatch([self.types[name] for name in names], self.packed[:, places], codes)
        if report:
            report(1, 1)

    def column(self, name: str) -> NDArray[Any]:
        """The codes of a column, or the target."""
        if self.packed.y is not None and name == self.packed.label:
            return self.packed.y
        return self.packed[:, self._places[name]]

    def features(self, names: Sequence[str]) -> Table:
        """The table of some columns, in the order of the file; none but a target is read."""
        table = read_table(self.packed)
        places = [self._places[name] for name in names if name != self.packed.label]
        if len(places) < table.n_features:
            table = table.keep(np.sort(np.array(places, np.intp)))
        if len(places) == len(names):
            return table
        target = replace(read_column(self.packed.y), columns=np.array([table.n_features]))
        every = [*table.names, str(self.packed.label)]
        return Table(table.n_samples, every, (*table.blocks, target))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.packed.names)}


def _coded(y: Any) -> Coded:
    """A target as codes and what they stand for."""
    levels, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int32), levels.tolist()
