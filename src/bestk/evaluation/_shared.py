"""Entropies estimated once for several methods."""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bestk.data.table import Table
from bestk.information import Entropies, Measure
from bestk.selection.methods import Method
from bestk.selection.pipeline import Information, Task, settle

Floats = NDArray[np.float64]
MAX_MATRIX_BYTES = 2**30  # larger matrices are computed again instead of kept


def shared_tasks(
    selector: Any, table: Table, y: Any, methods: Mapping[str, Method]
) -> dict[str, Task]:
    """A task for each method; methods that read the same estimates share their entropies."""
    tasks: dict[str, Task] = {}
    read: dict[Information, Task] = {}
    for name, method in methods.items():
        options = copy(selector).set_params(method=method)
        way = settle(options)
        if way not in read:
            task = Task.of(options, table, y)
            entropies = SharedEntropies.of(task.read.entropies)
            read[way] = replace(task, read=replace(task.read, entropies=entropies))
        tasks[name] = replace(read[way], method=method)
    return tasks


@dataclass(frozen=True)
class SharedEntropies(Entropies):
    """Entropies that keep the last matrix of all pairs for the next method that needs it."""

    last: dict[Any, Floats] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, entropies: Entropies) -> "SharedEntropies":
        """The same entropies, to be shared."""
        return cls(**{each.name: getattr(entropies, each.name) for each in fields(Entropies)})

    def measure(
        self,
        measure: Measure,
        rows: Iterable[int] | None = None,
        columns: Iterable[int] | None = None,
        dtype: DTypeLike = np.float64,
        signed: bool = False,
    ) -> Floats:
        """Any weighted sum of the entropies of each pair, in a new matrix."""
        size = np.dtype(dtype).itemsize * self.n_features**2
        if rows is not None or columns is not None or size > MAX_MATRIX_BYTES:
            return super().measure(measure, rows, columns, dtype, signed)
        key = (measure, np.dtype(dtype), signed)
        if key not in self.last:
            self.last.clear()
            self.last[key] = super().measure(measure, None, None, dtype, signed)
        return self.last[key].copy()
