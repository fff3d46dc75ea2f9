"""Rows in blocks: where they come from, how they are joined, and a random sample of them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bestk._typing import Array, Floats
from bestk.data.columns import number_levels
from bestk.data.frames import as_array, batch_as_table, is_dask, labels_of, read_table
from bestk.data.table import Block, Table, find_inexact, inexact, refuse_other_type
from bestk.data.target import read_full_column
from bestk.errors import DataError, UnknownNameError

Part = tuple[Table, Array]  # some rows, and their targets
PAIRS = "give pairs (X_block, y_block), or frames and y, the name of their target column"
SAMPLE_ROWS, SAMPLE_BYTES = 100_000, 2**30
MIN_SAMPLE_ROWS = 1_000  # however many columns there are
TASKS_PER_THREAD = 2  # of a dask worker: one in work, one to follow


@dataclass(frozen=True)
class Blocks:
    """Blocks of rows that all have the same columns."""

    open: Callable[[], Iterable[Part]]
    once: bool = False  # a second pass is not to be had
    # of a seed, a sample of about all rows without a pass over them; None where there is none
    quick_sample: "Callable[[int], Sample | None] | None" = None

    def __iter__(self) -> Iterator[Part]:
        names: list[str] | None = None
        for table, y in self.open():
            if names is None:
                names = list(table.names)
            refuse_other_columns(list(table.names), names)
            if table.n_samples:
                yield table, y
        if names is None:
            raise ValueError(f"there are no blocks of rows; {PAIRS}")


def refuse_other_columns(names: list[str], known: list[str]) -> None:
    """Refuse a block that does not have the columns of those before."""
    if len(names) != len(known):
        raise DataError(f"a block has {len(names)} columns, and those before {len(known)}")
    if names != known:
        odd = next(j for j, name in enumerate(names) if name != known[j])
        raise ValueError(
            f"column {odd} of a block is {names[odd]!r}, and {known[odd]!r} in those before; "
            "give all blocks the same columns in the same order"
        )


def open_blocks(X: Any, y: Any) -> Blocks:
    """The blocks of what :func:`bestk.selection.base.is_stream` takes for some."""
    if isinstance(X, str | Path):
        from bestk.data.files import quick_sample, read_parts
        from bestk.data.sources import find_columns, open_dataset, open_source

        if not isinstance(y, str):
            came = "None" if y is None else f"a {type(y).__name__}"
            raise ValueError(f"X is read from files, so y is the name of its target; got {came}")
        source = open_dataset(X) if Path(X).is_dir() else open_source(X)
        names = [*find_columns(source, y), y]
        source = source.checked(names)
        return Blocks(
            lambda: read_parts(source, names),
            quick_sample=lambda seed: quick_sample(source, names, seed),
        )
    if is_dask(X):
        return _open_dask(X, y)
    if y is not None and not isinstance(y, str):
        raise ValueError(f"X comes in blocks, and y is a {type(y).__name__}; {PAIRS}")
    make = X if callable(X) else lambda: X
    return Blocks(lambda: (read_block(block, y) for block in make()), once=hasattr(X, "__next__"))


def _open_dask(X: Any, y: Any) -> Blocks:
    """The rows of a dask array or frame, read by its workers."""
    from dask import delayed

    rows = X.rechunk({1: -1}) if hasattr(X, "chunks") and X.ndim == 2 else X
    tasks = [delayed(read_rows)(part) for part in np.ravel(rows.to_delayed())]
    if isinstance(y, str):
        return Blocks(lambda: (split_target(table, y) for table in _gather(tasks)))
    y = y.compute() if is_dask(y) else y
    values = read_values(y, len(y))
    return Blocks(lambda: _with_targets(_gather(tasks), values))


def _gather(tasks: Iterable[Any]) -> Iterator[Any]:
    """Results of dask in order, with a few tasks under way; one by one without a client."""
    from distributed import get_client

    left = iter(tasks)
    try:
        client = get_client()
    except ValueError:
        yield from (task.compute() for task in left)
        return
    ahead = TASKS_PER_THREAD * max(1, len(client.nthreads()))
    running = deque(client.compute(task) for task in islice(left, ahead))
    try:
        while running:
            result = running.popleft().result()
            running.extend(client.compute(task) for task in islice(left, 1))
            yield result
    finally:
        client.cancel(list(running))


def _with_targets(tables: Iterable[Table], values: Array) -> Iterator[Part]:
    start = stop = 0
    for table in tables:
        start, stop = stop, stop + table.n_samples
        if stop <= len(values):
            yield table, values[start:stop]
    if stop != len(values):
        raise DataError(f"y has {len(values)} values but X has {stop} rows; give one for each")


def read_block(block: Any, target: str | None) -> Part:
    """One block of an iterable: a pair, or a frame and the name of its target."""
    if target is not None:
        return split_target(read_rows(block), target)
    if not (isinstance(block, tuple | list) and len(block) == 2):
        raise ValueError(f"a block is a {type(block).__name__}; {PAIRS}")
    table = read_rows(block[0])
    return table, read_values(block[1], table.n_samples)


def read_rows(X: Any) -> Table:
    """Read a block, which may have no rows."""
    X = batch_as_table(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and shape[0] == 0:
        names = labels_of(X) if hasattr(X, "columns") else [f"x{j}" for j in range(shape[1])]
        return Table(0, list(map(str, names)), ())
    return read_table(X)


def read_values(y: Any, n_samples: int) -> Array:
    """The targets of a block as an array of numbers or labels, none of them missing."""
    if n_samples == 0:
        return np.empty(0)
    block = read_full_column(y, n_samples)
    values = np.asarray(block.values[:, 0])
    if block.categories is None:
        return values
    labels = np.empty(len(block.categories[0]), dtype=object)
    labels[:] = block.categories[0]
    return labels[values]


def split_target(table: Table, target: str) -> Part:
    """A block without its target, and that."""
    here = np.array([name == target for name in table.names])
    if here.sum() > 1:
        raise DataError(f"there are several columns {target!r}; rename all but one")
    if not here.any():
        raise UnknownNameError("column", target, table.names, "the table")
    rest = table.keep(np.flatnonzero(~here))
    if table.n_samples == 0:
        return rest, np.empty(0)
    (own,) = table.keep(np.flatnonzero(here)).blocks
    ((_, values),) = own.strips()
    return rest, read_values(replace(own, values=values), table.n_samples)


@dataclass(frozen=True)
class Sample:
    """Some rows of a table."""

    n_rows: int  # of the table, as far as it was read
    table: Table
    y: Array

    @property
    def is_whole(self) -> bool:
        """Whether these are all the rows, in their order."""
        return self.n_rows == self.table.n_samples


class Reservoir:
    """The rows of a table that have the smallest of random keys; all, if they are few enough."""

    def __init__(self, seed: int, rows: int = SAMPLE_ROWS) -> None:
        self._random = np.random.default_rng(seed)
        self._size, self._limit = rows, 1.0  # larger keys are not among the smallest
        self._pieces: list[tuple[Floats, Table, Array]] = []
        self.n_rows = 0

    def add(self, table: Table, y: Array) -> None:
        """Draw from a block; what is kept of it is copied."""
        if self.n_rows == 0:
            most = max(MIN_SAMPLE_ROWS, SAMPLE_BYTES // (8 * max(1, table.n_features)))
            self._size = min(self._size, most)
        keys = self._random.random(table.n_samples)
        chosen = np.flatnonzero(keys < self._limit)
        self.n_rows += table.n_samples
        if len(chosen) or not self._pieces:
            self._pieces.append((keys[chosen], table.take(chosen), y[chosen]))
        if sum(len(some) for some, _, _ in self._pieces) > 2 * self._size:
            self._shrink()

    def _shrink(self) -> None:
        """Make the pieces one, of no more rows than are wanted."""
        some, tables, targets = zip(*self._pieces, strict=True)
        keys, table, y = np.concatenate(some), join_rows(tables), join_values(targets)
        if len(keys) > self._size:
            rows = np.sort(np.argsort(keys, kind="stable")[: self._size])
            keys, table, y = keys[rows], table.take(rows), y[rows]
            self._limit = keys.max()
        self._pieces = [(keys, table, y)]

    def finish(self) -> Sample:
        """The rows that were kept, in their order."""
        self._shrink()
        _, table, y = self._pieces[0]
        return Sample(self.n_rows, table, y)


def join_values(parts: Sequence[Array]) -> Array:
    """Targets end to end; numbers of different types as Python has them."""
    if len({part.dtype for part in parts}) == 1:
        return np.concatenate(parts)
    return as_array([value for part in parts for value in part.tolist()])


def join_rows(tables: Sequence[Table]) -> Table:
    """Tables of the same columns, one below the other."""
    tables = [table for table in tables if table.n_samples] or list(tables[:1])
    first = tables[0]
    if len(tables) == 1:
        return first
    group = np.zeros(first.n_features, np.int64)  # columns that share a block in every table
    for table in tables:
        held = np.empty(table.n_features, np.int64)
        for number, block in enumerate(table.blocks):
            held[block.columns] = number
        if len(table.blocks) > 1:
            _, group = np.unique(group * len(table.blocks) + held, return_inverse=True)
    blocks: list[Block] = []
    for number in range(int(group.max(initial=-1)) + 1):
        here = group == number
        every = (block for table in tables for block in table.blocks)
        parts = [b.keep(here[b.columns]) for b in every if here[b.columns].any()]
        blocks += _join_blocks(parts, first.names)
    return Table(sum(table.n_samples for table in tables), first.names, tuple(blocks))


def _join_blocks(parts: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """The same columns of several tables; a column without any value fits every kind."""
    columns = parts[0].columns
    if all(part.categories is None for part in parts):
        kind = parts[0].kind if len({part.kind for part in parts}) == 1 else "numeric"
        values = [part.values for part in parts]
        if all(hasattr(some, "tocsc") for some in values):
            return [Block(columns, kind, sparse.vstack(values, format="csc"))]
        values = [some.toarray() if hasattr(some, "tocsc") else some for some in values]
        joined = np.concatenate(values)
        for some in values:
            if some.dtype.kind in "iu" and joined.dtype.kind == "f":
                for j in find_inexact(some):
                    raise inexact(names[int(columns[j])])
        return [Block(columns, kind, joined)]
    kind = "categorical" if any(part.kind == "categorical" for part in parts) else "string"
    return [
        Block(columns[[j]], kind, *_join_levels(parts, j, names[columns[j]]))
        for j in range(len(columns))
    ]


def _join_levels(parts: Sequence[Block], column: int, name: str) -> tuple[Array, list[list[Any]]]:
    """Codes of one column, and what they stand for."""
    codes, labels = list[Array](), list[Any]()
    for part in parts:
        own = part.values[:, [column]]
        if part.categories is None:
            if not part.missing(own).all():
                refuse_other_type(name, "string", part.kind)
            codes.append(np.full(len(own), -1))
            continue
        codes.append(np.where(own[:, 0] < 0, -1, own[:, 0].astype(np.int64) + len(labels)))
        labels += part.categories[column]
    if len(types := {type(label).__name__ for label in labels if not isinstance(label, float)}) > 1:
        refuse_other_type(name, *sorted(types)[:2])
    values, levels = number_levels(np.concatenate(codes), labels, name)
    return values[:, None], [levels]
