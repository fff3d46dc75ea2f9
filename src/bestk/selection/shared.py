"""Methods that select from the same table, and share what is measured of it."""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bestk._typing import Floats
from bestk.data.table import Table
from bestk.information import Entropies, Measure
from bestk.selection.pipeline import Information, Task, is_method, settle

MAX_MATRIX_BYTES = 2**30  # larger matrices are computed again instead of kept


def shared_tasks(
    selector: Any, table: Table, y: Any, methods: Mapping[str, Any], sample_weight: Any = None
) -> dict[str, Task]:
    """A task for each method; methods that read the same estimates share their entropies.

    Selectors of other libraries read none of them, so that those of any method will do.
    """
    tasks: dict[str, Task] = {}
    read: list[tuple[Information, Task]] = []  # a discretizer need not be hashable
    for name, method in methods.items():
        options = copy(selector).set_params(method=method)
        information = settle(options)
        any_will_do = not is_method(method)
        task = next((known for how, known in read if any_will_do or how == information), None)
        if task is None:
            task = Task.of(options, table, y, sample_weight)
            entropies = SharedEntropies.of(task.read.entropies)
            task = replace(task, read=replace(task.read, entropies=entropies))
            read.append((information, task))
        tasks[name] = replace(task, method=method)
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
