"""Rows that come in blocks, joined to one table; a random sample of them if they are too many."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from bestk._memory import machine_memory
from bestk._typing import Array, Floats, Indices
from bestk.errors import DataError
from bestk.tables.columns import number_levels
from bestk.tables.frames import as_array
from bestk.tables.table import Block, Table, find_inexact, inexact

Part = tuple[Table, Array]  # some rows, and their targets
MAX_VALUES, MIN_LONG_ROWS = 2**28, 10_000  # a table of more of both is sampled
ENOUGH = "more would hardly change the default's estimates (method='jmi', which counts, uses all)"
HELD_SHARE = 0.125  # of the memory, for rows that come in blocks
MIN_HELD_ROWS = 1_000  # however short memory is
ENOUGH_ROWS = 200_000  # for the default,
ENOUGH_RARE_ROWS = 20_000  # if so many are not of the largest class
SAFE_SHARE = 1.2 * ENOUGH_RARE_ROWS / ENOUGH_ROWS  # of them in some rows, so that they are in all
SLACK = 1.5  # times the rows of a sample are held before it is drawn again
HEAD = 100  # rows that show most columns that do not fit into a narrow type
NARROW: dict[str, Any] = {"f": (np.uint8, np.int16, np.float32)}
NARROW |= dict.fromkeys("iu", (np.uint8, np.int16, np.int32))


def most_rows(n_features: int) -> int:
    """The number of rows that are used, at most, of a table with so many columns."""
    return max(MIN_LONG_ROWS, MAX_VALUES // max(1, n_features))


def rows_to_hold(n_features: int, value_bytes: float) -> int:
    """The number of rows that are held, at most, if they come in blocks."""
    room = HELD_SHARE * machine_memory() / (max(1, n_features) * max(value_bytes, 1.0))
    return max(MIN_HELD_ROWS, min(most_rows(n_features), int(room)))


def draw_rows(table: Table, most: int, random_state: Any) -> tuple[Table, Indices | None]:
    """At most so many rows of a table in memory; None for all. The table notes if not all."""
    n_rows, large = table.n_samples, most_rows(table.n_features)
    if n_rows <= min(most, large):
        return table, None
    keys, size = _generator(random_state).random(n_rows), min(most, large)
    drawn = np.flatnonzero(keys < _limit(keys, size))
    note = _note_on_sample(size, n_rows, ENOUGH if size < large else "")
    table = replace(table, notes=(*table.notes, note))
    return table, drawn


def _note_on_sample(n_used: int, n_rows: int, why: str) -> str:
    """That not all rows are used, and why; because of their number, if nothing is given."""
    why = why or f"tables of more than {MAX_VALUES:,} values are sampled"
    return f"a random sample of {n_used:,} of {n_rows:,} rows is used; {why}"


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(int(random_state if isinstance(random_state, Integral) else 0))


def _limit(keys: Floats, size: int) -> float:
    """The number that so many keys are below."""
    return float(np.partition(keys, size)[size]) if len(keys) > size else 1.0


class Reservoir:
    """The rows with the smallest of random keys; all of them, if they are few enough.

    ``n_features`` is the number of columns of the whole table, where blocks have some of them:
    parts with the same random state hold the same rows below the smallest of their limits.
    """

    def __init__(
        self, random_state: Any = None, n_features: int | None = None, for_default: bool = False,
        limit: float = 1.0,
    ) -> None:  # fmt: skip
        self._random, self._n_features = _generator(random_state), n_features
        self._for_default = for_default  # which needs no more than some of the rows
        self._pieces: list[tuple[Floats, Table, Array]] = []
        self.limit = limit  # rows with larger keys are not held
        self.n_rows = 0

    def add(self, n_rows: int, take: Callable[[Indices], Part]) -> None:
        """Draw from a block of so many rows; ``take`` gives those drawn."""
        keys = self._random.random(n_rows)
        drawn = np.flatnonzero(keys < self.limit)
        self.n_rows += n_rows
        if not len(drawn):
            return
        table, y = take(drawn)
        blocks = (part for block in table.blocks for part in narrowed(block))
        self._pieces.append((keys[drawn], replace(table, blocks=tuple(blocks)), y))
        n_held, most = sum(len(some) for some, _, _ in self._pieces), self._size()
        if n_held > SLACK * min(most, ENOUGH_ROWS if self._for_default else most):
            self.shrink()

    def add_table(self, table: Table, y: Array) -> None:
        """Draw from a block in memory, and copy what is drawn."""
        self.add(table.n_samples, lambda rows: (table.take(rows), y[rows]))

    def _size(self) -> int:
        """The number of rows to hold."""
        tables = [table for _, table, _ in self._pieces]
        n_bytes = sum(_n_bytes(block.values) for table in tables for block in table.blocks)
        n_values = sum(table.n_samples * table.n_features for table in tables)
        return rows_to_hold(self._n_features or tables[0].n_features, n_bytes / max(1, n_values))

    def shrink(self, limit: float = 1.0) -> None:
        """Forget rows beyond the size, or with keys above a limit."""
        if not self._pieces:
            return
        keys, most = np.concatenate([some for some, _, _ in self._pieces]), self._size()
        if self._for_default and len(keys) > ENOUGH_ROWS:
            y = join_values([targets for _, _, targets in self._pieces])
            largest_class = max(Counter(y.tolist()).values())
            self._for_default = largest_class < (1.0 - SAFE_SHARE) * len(keys)
            most = min(most, ENOUGH_ROWS) if self._for_default else most
        self.limit = min(limit, self.limit, _limit(keys, most))
        if keys.max(initial=0.0) < self.limit:
            return
        for i, (some, table, y) in enumerate(self._pieces):
            kept = np.flatnonzero(some < self.limit)
            self._pieces[i] = some[kept], table.take(kept), y[kept]

    def sample(self, limit: float = 1.0) -> Part:
        """The rows that are held, in their order; more may be added afterwards."""
        if not self.n_rows:
            raise ValueError("there are no rows in any block; one block at least must have some")
        self.shrink(limit)
        keys, tables, targets = zip(*self._pieces, strict=True)
        table, y = join_rows(tables), join_values(targets)
        self._pieces = [(np.concatenate(keys), table, y)]
        if table.n_samples < self.n_rows:
            large = most_rows(self._n_features or table.n_features)
            why = "" if table.n_samples >= large else "the others do not fit into memory"
            why = ENOUGH if self._for_default and table.n_samples == ENOUGH_ROWS < large else why
            table = replace(table, notes=(_note_on_sample(table.n_samples, self.n_rows, why),))
        return table, y


def _n_bytes(values: Any) -> int:
    parts = (values.data, values.indices) if hasattr(values, "tocsc") else (values,)
    return sum(part.nbytes for part in parts)


def narrowed(block: Block) -> Iterator[Block]:
    """The columns of a block in the smallest of a few types that holds them exactly."""
    dense = block.categories is None and isinstance(block.values, np.ndarray)
    for dtype in NARROW.get(block.values.dtype.kind, ()) if dense else ():
        if np.dtype(dtype).itemsize >= block.values.dtype.itemsize:
            break
        fits = _fits(block.values[:HEAD], dtype)
        fits[fits] = _fits(block.values[:, fits], dtype)
        if not fits.any():
            continue
        some = block.keep(fits)
        yield replace(some, values=some.values.astype(dtype))
        if fits.all():
            return
        block = block.keep(~fits)
    yield block


def _fits(values: Array, dtype: Any) -> Array:
    """Whether columns have the same values in another type."""
    with np.errstate(over="ignore", invalid="ignore"):
        other = values.astype(dtype)
    same = (other == values) | (np.isnan(other) & np.isnan(values))
    return np.asarray(same.all(axis=0))


def refuse_other_type(name: str, kind: str, other: str) -> None:
    """Refuse a column that is of another type in another block."""
    raise DataError(
        f"column {name!r} is {kind} in one block and {other} in another; "
        "give it one type throughout"
    )


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
