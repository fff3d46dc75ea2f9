"""Row-chunked arrays and frames of dask: cut into levels and counted where their rows are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask import delayed
from numpy.typing import NDArray

from bestk._memory import memory_to_use
from bestk._typing import Indices
from bestk.data.blocks import SAMPLE_ROWS, Part
from bestk.data.blocks.dask_parts import Partitions, find_client, gather
from bestk.data.table import Table
from bestk.information.backends.dask_cluster import one_at_a_time
from bestk.information.blocks import Counted, Counting, Cuts, Stream
from bestk.information.counts import PairCounts
from bestk.information.reading import Reading

WORKER_SHARE = 0.125  # of a worker's memory for one set of counts: several are made and merged


@dataclass(frozen=True)
class DaskStream(Stream):
    """A table of dask; its sample, and so the cuts, are those of the same rows in a file."""

    partitions: Partitions

    @classmethod
    def open(cls, X: Any, y: Any, seed: int, whole: bool, rows: int | None = None) -> "DaskStream":
        """Draw a sample: of all rows, or of the first."""
        partitions = Partitions.of(X, y)
        if whole:
            partitions = partitions.measured()
            sample = partitions.sample(seed, rows or SAMPLE_ROWS)
            return cls(partitions.blocks(), sample, sample.n_rows, partitions)
        head = Stream.look(partitions.blocks(), seed, False, rows)
        return cls(partitions.blocks(), head.sample, head.n_rows, partitions)

    def count(self, reading: Reading, cuts: Cuts, allowed: Indices, included: Indices) -> Counted:
        """Count the blocks on the workers."""
        return DaskCounting(self, reading, cuts, allowed, included, _memory_of_workers()).run()


class DaskCounting(Counting):
    """The pass over the parts, on the workers; only counts or codes come back."""

    stream: DaskStream

    def _parts(self) -> Iterator[Part]:
        cut, tasks = delayed(_cut), self.stream.partitions.tasks
        for some in (tasks[:1], tasks[1:]):  # the first decides whether the others are needed
            for part in gather(cut(task, self.cuts, self.allowed) for task in some):
                if part[0].n_samples:
                    yield part

    def _prefers_counts(self, table: Table, y: NDArray[Any]) -> bool:
        here = replace(self, reading=replace(self.reading, backend="auto"))
        return Counting._prefers_counts(here, table, y)

    def _by_counts(self, parts: Iterator[Part]) -> Counted:
        count, tasks = delayed(_count), self.stream.partitions.tasks
        how = self.cuts, self.allowed, self.memory
        return self._counted(_add_up(count(task, *how) for task in tasks))

    def _by_codes(self, parts: Iterator[Part]) -> Counted:
        return Counting._by_codes(replace(self, memory=memory_to_use()), parts)  # of this machine


def _add_up(tasks: Iterable[Any]) -> PairCounts:
    """The sum of counts, two at a time on the workers."""
    merge, counts = delayed(_merge), list(tasks)
    while len(counts) > 1:
        pairs = zip(counts[::2], counts[1::2], strict=False)
        counts = [merge(*pair) for pair in pairs] + counts[len(counts) // 2 * 2 :]
    return counts[0].compute()


def _memory_of_workers() -> float:
    """Bytes that counts may take: of this machine, and of the smallest worker."""
    client = find_client()
    workers = {} if client is None else client.scheduler_info()["workers"]
    limits = [worker["memory_limit"] or np.inf for worker in workers.values()]
    return float(min([memory_to_use(), *(WORKER_SHARE * limit for limit in limits)]))


def _cut(part: Part, cuts: Cuts, allowed: Indices) -> Part:
    with one_at_a_time():
        return cuts.apply(part, allowed) if part[0].n_samples else part


def _count(part: Part, cuts: Cuts, allowed: Indices, memory: float) -> PairCounts:
    cut = _cut(part, cuts, allowed)
    with one_at_a_time():  # merging counts the rows that wait
        return PairCounts(memory=memory).merge(PairCounts(memory=memory).add(*cut))


def _merge(some: PairCounts, others: PairCounts) -> PairCounts:
    with one_at_a_time():
        return some + others
