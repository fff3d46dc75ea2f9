"""Packed files, whose columns are unpacked when they are looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bestk.files._arrow import arrow
from bestk.files._source import Report, refuse_twins
from bestk.packed import PackedTable, open_packed
from bestk.table import Table, read_table


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
        types = dict.fromkeys(names, arrow().from_numpy_dtype(packed.dtype))
        if packed.y is not None and packed.label is not None:
            names.append(packed.label)
            text = packed.y.dtype.kind == "U"
            types[packed.label] = (
                arrow().string() if text else arrow().from_numpy_dtype(packed.y.dtype)
            )
        refuse_twins(names, path)
        return cls(path, types, packed)

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same: the types hold for all rows."""
        return self

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield one record batch of some columns, in that order."""
        arrays = [arrow().array(self.column(name)) for name in columns]
        yield arrow().RecordBatch.from_arrays(arrays, list(columns))
        if report:
            report(1, 1)

    def column(self, name: str) -> NDArray[Any]:
        """The codes of a column, or the target."""
        if self.packed.y is not None and name == self.packed.label:
            return self.packed.y
        return self.packed[:, self._places[name]]

    def features(self, names: Sequence[str]) -> Table:
        """The table of some columns, in the order of the file; none of them is read."""
        table = read_table(self.packed)
        if len(names) == table.n_features:
            return table
        places = self._places
        return table.keep(np.sort(np.array([places[name] for name in names], np.intp)))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.packed.names)}
