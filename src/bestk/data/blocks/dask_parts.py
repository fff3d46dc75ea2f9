"""The parts of a dask collection: paired with their targets, fetched, sampled."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from dask import array, delayed
from distributed import get_client

from bestk._typing import Indices
from bestk.data.blocks import (
    Blocks,
    Part,
    Sample,
    draw_rows,
    join_rows,
    join_values,
    read_block,
    sample_size,
)

TASKS_PER_THREAD = 2  # one in work, one to follow


@dataclass(frozen=True)
class Partitions:
    """Parts of a table with their targets; each is a task not yet done."""

    tasks: list[Any]  # of a Part each
    lengths: list[int] | None  # rows of each, where dask knows

    @classmethod
    def of(cls, X: Any, y: Any) -> "Partitions":
        """Pair the rows of X with y: a collection of dask, values in memory, or a column's name."""
        read = delayed(read_block)
        if isinstance(y, str):
            return cls([read(part, y) for part in X.to_delayed()], None)
        parts, lengths = _cut_rows(X)
        if not hasattr(y, "to_delayed"):
            lengths = lengths or list(gather([delayed(len)(part) for part in parts]))
            values = np.asarray(y).ravel()
            if len(values) != (n := sum(lengths)):
                raise ValueError(f"y has {len(values)} values but X has {n} rows; give one each")
            y = array.from_array(values, chunks=(tuple(lengths),))
        elif lengths is not None and getattr(y, "size", None) == sum(lengths):
            y = y.reshape(-1).rechunk((tuple(lengths),))
        targets = list(np.ravel(y.to_delayed()))
        if len(targets) != len(parts):
            raise ValueError(
                f"X has {len(parts)} partitions and y {len(targets)}; give both the same rows in "
                "each, e.g. take y from the same frame, or pass its values"
            )
        return cls([read(pair, None) for pair in zip(parts, targets, strict=True)], lengths)

    def measured(self) -> "Partitions":
        """The same, with the rows of each part known and those without rows left out."""
        lengths = self.lengths or list(gather([delayed(_count_rows)(part) for part in self.tasks]))
        filled = [number for number, length in enumerate(lengths) if length]
        if not filled:
            raise ValueError("there are no rows in any part")
        return Partitions([self.tasks[i] for i in filled], [lengths[i] for i in filled])

    def blocks(self) -> Blocks:
        """The parts one after the other, fetched while the next are made."""
        return Blocks(lambda: gather(self.tasks))

    def sample(self, seed: int, rows: int) -> Sample:
        """The rows that a reservoir would keep, were it shown the parts in order."""
        take, lengths = delayed(_take_rows), self.lengths or []
        ((first, _),) = gather([take(self.tasks[0], np.empty(0, np.int64))])
        kept = draw_rows(sum(lengths), sample_size(first.n_features, rows), seed)
        ends = np.cumsum(lengths)
        places = np.split(kept, np.searchsorted(kept, ends[:-1]))
        taken = gather(
            take(task, rows - (end - length))
            for task, rows, end, length in zip(self.tasks, places, ends, lengths, strict=True)
        )
        tables, targets = zip(*taken, strict=True)
        return Sample(sum(lengths), join_rows(tables), join_values(targets))


def gather(tasks: Iterable[Any]) -> Iterator[Any]:
    """Results in order, with a few tasks under way; one by one where there is no client."""
    client, left = find_client(), iter(tasks)
    if client is None:
        yield from (task.compute() for task in left)
        return
    running = deque(client.compute(task) for task in islice(left, tasks_ahead(client)))
    try:
        while running:
            result = running.popleft().result()
            running.extend(client.compute(task) for task in islice(left, 1))
            yield result
    finally:
        client.cancel(list(running))


def find_client() -> Any:
    """The current client, or None."""
    try:
        return get_client()
    except ValueError:
        return None


def tasks_ahead(client: Any) -> int:
    """Tasks to have under way, so that no worker waits and none is swamped."""
    return TASKS_PER_THREAD * max(1, len(client.nthreads()))


def _cut_rows(X: Any) -> tuple[list[Any], list[int] | None]:
    """Parts of whole rows, and how many each has where dask knows."""
    if not hasattr(X, "chunks"):
        return list(X.to_delayed()), None
    whole = X.rechunk({1: -1}) if X.ndim == 2 else X
    known = not np.isnan(whole.chunks[0]).any()
    lengths = [int(n) for n in whole.chunks[0]] if known else None
    return list(whole.to_delayed().ravel()), lengths


def _count_rows(part: Part) -> int:
    return part[0].n_samples


def _take_rows(part: Part, rows: Indices) -> Part:
    return part[0].take(rows), part[1][rows]
