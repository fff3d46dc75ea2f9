"""The parts of a table of dask: paired with their targets, brought here, sampled."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from dask import array, delayed
from distributed import get_client
from numpy.typing import NDArray

from bestk.data.blocks.blocks import Blocks, Part, _read
from bestk.data.blocks.sample import FEWEST_ROWS, SAMPLE_BYTES, Reservoir, Sample
from bestk.data.table import as_array
from bestk.information.backends.cluster import TILES_UNDER_WAY

Indices = NDArray[np.int64]
DRAWN_AT_ONCE = 2**20


@dataclass(frozen=True)
class Partitions:
    """Parts of a table with their targets; each is a task not yet done."""

    tasks: list[Any]  # of a Part each
    lengths: list[int] | None  # rows of each, where dask knows

    @classmethod
    def of(cls, X: Any, y: Any) -> "Partitions":
        """Pair the rows of X with y: a collection of dask, values in memory, or a column's name."""
        read = delayed(_read)
        if isinstance(y, str):
            return cls([read(part, y) for part in X.to_delayed()], None)
        parts, lengths = _cut_rows(X)
        if not hasattr(y, "to_delayed"):
            lengths = lengths or list(gather([delayed(len)(part) for part in parts]))
            y = array.from_array(_values(y, sum(lengths)), chunks=(tuple(lengths),))
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
        count = delayed(_count_rows)
        lengths = self.lengths or list(gather([count(part) for part in self.tasks]))
        filled = [number for number, length in enumerate(lengths) if length]
        if not filled:
            raise ValueError("there are no rows in any part")
        return Partitions([self.tasks[i] for i in filled], [lengths[i] for i in filled])

    def blocks(self) -> Blocks:
        """The parts one after the other, brought here while the next are made."""
        return Blocks(lambda: gather(self.tasks))

    def sample(self, seed: int, rows: int) -> Sample:
        """The rows that a reservoir would keep, were it shown the parts in order."""
        look, lengths = delayed(_look), self.lengths or []
        (first,) = gather([look(self.tasks[0], np.empty(0, np.int64))])
        width = 8 * max(1, len(first.numeric))
        most = max(min(FEWEST_ROWS, rows), min(rows, SAMPLE_BYTES // width))
        kept, ends = _keep_rows(sum(lengths), most, seed), np.cumsum(lengths)
        part = np.searchsorted(ends, kept, side="right")
        places = [np.flatnonzero(part == number) for number in range(len(lengths))]
        looks = gather(
            look(task, kept[slots] - (end - length))
            for task, slots, end, length in zip(self.tasks, places, ends, lengths, strict=True)
        )
        still, values = np.ones(len(first.numeric), bool), np.empty((len(kept), width // 8))
        y = np.empty(len(kept), dtype=object)
        parts: list[tuple[Indices, dict[int, NDArray[Any]]]] = []
        for slots, some in zip(places, looks, strict=True):
            here = np.isin(first.numeric, some.numeric)
            still &= here
            there = np.isin(some.numeric, first.numeric)
            values[np.ix_(slots, np.flatnonzero(here))] = some.values[:, there]
            y[slots] = some.y
            parts.append((slots, some.exact))
        exact = _join_exact(parts, first.numeric, values)
        return Sample(
            sum(lengths),
            first.names,
            first.numeric[still],
            values[:, : len(still)] if still.all() else values[:, np.flatnonzero(still)],
            as_array(y.tolist()),
            most,
            exact,
        )


def _join_exact(
    parts: list[tuple[Indices, dict[int, NDArray[Any]]]], numeric: Indices, values: NDArray[Any]
) -> dict[int, NDArray[Any]]:
    """The columns that float64 rounds in some part, as Python's numbers."""
    found = {j for _, some in parts for j in some}.intersection(numeric.tolist())
    exact = {j: values[:, np.searchsorted(numeric, j)].astype(object) for j in found}
    for slots, some in parts:
        for j in found & some.keys():
            exact[j][slots] = some[j]
    return exact


def gather(tasks: Iterable[Any]) -> Iterator[Any]:
    """Results in order, with a few tasks under way; one by one where there is no client."""
    client, left = find_client(), iter(tasks)
    if client is None:
        yield from (task.compute() for task in left)
        return
    running = deque(client.compute(task) for task in islice(left, ahead(client)))
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


def ahead(client: Any) -> int:
    """Tasks to have under way, so that no worker waits and none is swamped."""
    return TILES_UNDER_WAY * max(1, len(client.nthreads()))


def _cut_rows(X: Any) -> tuple[list[Any], list[int] | None]:
    """Parts of whole rows, and how many each has where dask knows."""
    if not hasattr(X, "chunks"):
        return list(X.to_delayed()), None
    whole = X.rechunk({1: -1}) if X.ndim == 2 else X
    known = not np.isnan(whole.chunks[0]).any()
    lengths = [int(n) for n in whole.chunks[0]] if known else None
    return list(whole.to_delayed().ravel()), lengths


def _values(y: Any, n_rows: int) -> NDArray[Any]:
    values = np.asarray(y).ravel()
    if len(values) != n_rows:
        raise ValueError(f"y has {len(values)} values but X has {n_rows} rows; give one for each")
    return values


def _count_rows(part: Part) -> int:
    return part[0].n_samples


def _look(part: Part, rows: Indices) -> Sample:
    """Some rows of a part, in that order."""
    table, y = part
    reservoir = Reservoir(seed=0, rows=len(rows))
    reservoir.add(table.take(rows), y[rows])
    return reservoir.finish()


def _keep_rows(n_rows: int, most: int, seed: int) -> Indices:
    """The row in each place of a reservoir after all have come."""
    kept = np.arange(min(n_rows, most))
    random = np.random.default_rng(seed)
    for begin in range(most, n_rows, DRAWN_AT_ONCE):
        rows = np.arange(begin, min(begin + DRAWN_AT_ONCE, n_rows))
        slots = (random.random(len(rows)) * (rows + 1)).astype(np.int64)
        taken = slots < most
        kept[slots[taken]] = rows[taken]  # of several, the last stays
    return kept
