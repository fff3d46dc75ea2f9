"""A random sample of the rows of a table, which does not depend on how they are cut into blocks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bestk._typing import Indices
from bestk.data.frames import as_array, check_exact
from bestk.data.table import Block, Table

SAMPLE_ROWS, SAMPLE_BYTES = 100_000, 2**30
MIN_SAMPLE_ROWS = 1_000  # however many columns there are
DRAWN_AT_ONCE = 2**20


@dataclass(frozen=True)
class Sample:
    """Some rows of a table."""

    n_rows: int  # of the table, as far as it was read
    table: Table
    y: NDArray[Any]

    @property
    def is_whole(self) -> bool:
        """Whether these are all the rows, in their order."""
        return self.n_rows == self.table.n_samples


class Reservoir:
    """The rows of a table that have the smallest of random keys.

    Tables of at most ``rows`` rows are kept whole.
    """

    def __init__(self, seed: int, rows: int = SAMPLE_ROWS) -> None:
        self._random = np.random.default_rng(seed)
        self._size, self._limit = rows, 1.0  # larger keys are not among the smallest
        self._pieces: list[tuple[NDArray[np.float64], Table, NDArray[Any]]] = []
        self.n_rows = 0

    def add(self, table: Table, y: NDArray[Any]) -> None:
        """Draw from a block; what is kept of it is copied."""
        if self.n_rows == 0:
            self._size = sample_size(table.n_features, self._size)
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


def sample_size(n_columns: int, rows: int = SAMPLE_ROWS) -> int:
    """The most rows that a sample of so many columns has."""
    return max(min(MIN_SAMPLE_ROWS, rows), min(rows, SAMPLE_BYTES // (8 * max(1, n_columns))))


def draw_rows(n_rows: int, size: int, seed: int) -> Indices:
    """The numbers of the rows that a reservoir keeps of so many."""
    reservoir = Reservoir(seed, size)
    for begin in range(0, n_rows, DRAWN_AT_ONCE):
        rows = np.arange(begin, min(begin + DRAWN_AT_ONCE, n_rows))
        block = Block(np.zeros(1, np.intp), "numeric", rows[:, None])
        reservoir.add(Table(len(rows), ["row"], (block,)), rows)
    return reservoir.finish().y


def join_values(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
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
    for number in range(int(group.max()) + 1):
        here = group == number
        parts = [part for table in tables for part in _blocks_of(table, here)]
        blocks += _join_blocks(parts, first.names)
    return Table(sum(table.n_samples for table in tables), first.names, tuple(blocks))


def _blocks_of(table: Table, mask: NDArray[np.bool_]) -> Iterable[Block]:
    return (b.keep(mask[b.columns]) for b in table.blocks if mask[b.columns].any())


def _join_blocks(parts: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """The same columns of several tables; a column without any value fits every kind."""
    columns = parts[0].columns
    if all(part.categories is None for part in parts):
        kind = parts[0].kind if len({part.kind for part in parts}) == 1 else "numeric"
        values = [part.values for part in parts]
        if all(hasattr(some, "tocsc") for some in values):
            return [Block(columns, kind, sparse.vstack(values, format="csc"))]
        values = [some.toarray() if hasattr(some, "tocsc") else some for some in values]
        if np.result_type(*values).kind == "f":
            for some in (part for part in values if part.dtype.kind in "iu"):
                check_exact(some, [names[int(j)] for j in columns])
        return [Block(columns, kind, np.concatenate(values))]
    kind = "categorical" if any(part.kind == "categorical" for part in parts) else "string"
    return [
        Block(columns[[j]], kind, *_join_levels(parts, j, names[columns[j]]))
        for j in range(len(columns))
    ]


def _join_levels(
    parts: Sequence[Block], column: int, name: str
) -> tuple[NDArray[np.int32], list[list[Any]]]:
    """Codes of one column, and what they stand for."""
    for part in parts:
        if part.categories is None and not part.missing(part.values[:, [column]]).all():
            refuse_other_type(name, "string", part.kind)
    known = [part.categories[column] if part.categories else [] for part in parts]
    every = set().union(*known)
    if len(types := {type(level).__name__ for level in every if not isinstance(level, float)}) > 1:
        refuse_other_type(name, *sorted(types)[:2])
    levels = sorted(every)
    places = {level: number for number, level in enumerate(levels)}
    codes = [
        np.append(np.array([places[level] for level in some], np.int32), np.int32(-1))[
            part.values[:, column] if part.categories else np.full(len(part.values), -1)
        ]
        for part, some in zip(parts, known, strict=True)
    ]
    return np.concatenate(codes)[:, None], [levels]


def refuse_other_type(name: str, kind: str, other: str) -> None:
    """Refuse a column that is of another type in another block."""
    raise ValueError(
        f"column {name!r} is {kind} in one block and {other} in another; "
        "give it one type throughout"
    )
