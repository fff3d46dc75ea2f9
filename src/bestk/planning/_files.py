"""The shape of a table in a file: what the file says of itself, and a look at its first rows."""

import gzip
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from time import process_time
from typing import Any, BinaryIO

import numpy as np

from bestk.files import Loaded, Source
from bestk.files._arrow import arrow
from bestk.files._binary import ArrowSource, ParquetSource
from bestk.files._load import _Columns
from bestk.files._text import TextSource
from bestk.planning._shape import Shape
from bestk.reading import TARGET_BINS, Reading

SOME = 256  # columns of a binary file that are looked at
FIRST = 2**22  # bytes of a text whose lines are counted
SIP = 2**12


@dataclass(frozen=True)
class Rows:
    """How many rows a file has, and whether that is known."""

    count: int
    is_estimate: bool = False


def look_at(
    source: Source,
    names: Sequence[str],
    target: str,
    *,
    kind: str = "auto",
    in_blocks: bool = False,
    coded: bool = False,
) -> Shape:
    """The shape of some columns of a file, of which no more than the first rows are read.

    Numbers that are ``coded`` are levels already, and are counted as such.
    """
    rows = count_rows(source, target)
    step = 1 if isinstance(source, TextSource) else -(-len(names) // SOME)
    start, some = process_time(), [*names[::step], target]
    loaded = _Columns(source, some).read(islice(source.batches(some), 1))
    seconds = process_time() - start
    table = loaded.table
    share = float((table.kinds == "numeric").mean())
    values = table.n_samples * table.n_features
    return Shape(
        max(2, rows.count, table.n_samples),
        len(names),
        round(share * len(names)),
        _levels(loaded, coded),
        _classes(loaded.y, kind),
        sum(block.values.nbytes for block in table.blocks) / values,
        in_blocks,
        seconds / values,
        rows.is_estimate,
    )


def count_rows(source: Source, target: str) -> Rows:
    """The rows of a file; of a long text an estimate from the length of its first lines."""
    if isinstance(source, ParquetSource):
        with arrow("parquet").ParquetFile(source.path) as file:
            return Rows(file.metadata.num_rows)
    if isinstance(source, ArrowSource):
        return Rows(sum(batch.num_rows for batch in source.batches([target])))
    return _count_lines(source)


def _count_lines(source: Source) -> Rows:
    size, zipped = source.path.stat().st_size, str(source.path).lower().endswith(".gz")
    with source.path.open("rb") as raw, ExitStack() as stack:
        sips: Any = _Sips(raw)
        file: Any = stack.enter_context(gzip.GzipFile(fileobj=sips)) if zipped else raw
        head = file.readline()
        first = file.read(max(FIRST, 32 * len(head)))
        lines = first.count(b"\n") + (not first.endswith(b"\n"))
        if not file.read(1):
            return Rows(lines if first else 0)
        done = raw.tell() if zipped else len(head) + len(first)
    return Rows(round(lines * size / done), is_estimate=True)


class _Sips:
    """A file that is read a little at a time, so that its place tells what was used of it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def read(self, size: int) -> bytes:
        """At most so many bytes, and never many."""
        return self.file.read(min(size, SIP))


def _levels(loaded: Loaded, coded: bool) -> int:
    """Of the columns that are no numbers, or of all, on average."""
    counts = []
    for block in loaded.table.blocks:
        if block.categories is not None:
            counts += [len(labels) for labels in block.categories]
        elif block.kind == "boolean":
            counts += [2] * len(block.columns)
        elif coded:
            counts += [len(np.unique(column)) for column in block.values.T]
    return max(1, round(sum(counts) / len(counts))) if counts else 2


def _classes(y: Any, kind: str) -> int:
    if Reading(target=kind).is_continuous(y):
        return TARGET_BINS
    return max(2, len(set(y.tolist())))
