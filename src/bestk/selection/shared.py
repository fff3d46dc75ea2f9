"""Methods that select from the same table, and share what is measured of it."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from bestk.data.table import Table
from bestk.information.reading import Reading
from bestk.selection.pipeline import Task, is_method, settle


def shared_tasks(
    selector: Any, table: Table, y: Any, methods: Mapping[str, Any], sample_weight: Any = None
) -> dict[str, Task]:
    """A task for each method; methods that read the same estimates share their entropies.

    Selectors of other libraries read none of them, so that those of any method will do.
    """
    tasks: dict[str, Task] = {}
    read: list[tuple[Reading, Task]] = []  # a discretizer need not be hashable
    for name, method in methods.items():
        options = copy(selector).set_params(method=method)
        information = settle(options)
        any_will_do = not is_method(method)
        task = next((known for how, known in read if any_will_do or how == information), None)
        if task is None:
            task = Task.of(options, table, y, sample_weight)
            shared = replace(task.read, entropies=task.read.entropies.shared())
            task = replace(task, read=shared)
            read.append((information, task))
        tasks[name] = replace(task, method=method)
    return tasks
