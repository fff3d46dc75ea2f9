"""Columns of a table: those that are named, constant, numeric, or numbers written as text."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Indices, Mask
from bestk.data.table import Block, Table, read_table
from bestk.data.written import notes_on, parse_block, parse_text, parse_values
from bestk.errors import UnknownNameError

SEVERAL = -1  # the place of a name that several columns have
FIRST_ROWS = 32  # most columns that vary do so here
MAX_COMMAS = 1_000  # texts with a comma that show whether it is a decimal one


def read_features(X: Any, categorical_features: Any = None) -> Table:
    """Read a table to select from: numbers and dates written as text are numbers, too.

    Columns of text among the categorical features stay text.
    """
    table = read_table(X)
    if not any(block.kind == "string" for block in table.blocks):
        return table
    return parse_text(table, find_features(categorical_features, table).tolist())


def find_features(features: Any, table: Table) -> Indices:
    """The places of features given by name, index or mask; of none for None or "from_dtype"."""
    if features is None or (isinstance(features, str) and features == "from_dtype"):
        return np.empty(0, np.int64)
    single = isinstance(features, str | Integral) or getattr(features, "ndim", 1) == 0
    chosen: list[Any] = [features] if single else list(features)
    if chosen and all(isinstance(item, bool | np.bool_) for item in chosen):
        if len(chosen) != table.n_features:
            came = f"{len(chosen)} values and the table has {table.n_features} columns"
            raise ValueError(f"a mask of features needs a value for each column; it has {came}")
        return np.flatnonzero(chosen)
    if not chosen:
        return np.empty(0, np.int64)
    places: dict[str, int] = {}
    for place, name in enumerate(table.names):
        places[name] = place if name not in places else SEVERAL
    return np.array([_place(item, places, table.n_features) for item in chosen], np.int64)


def _place(item: Any, places: dict[str, int], n: int) -> int:
    if isinstance(item, str):
        if places.get(item) == SEVERAL:
            raise ValueError(f"there are several columns {item!r}; give the index of the one meant")
        if item in places:
            return places[item]
        raise UnknownNameError("column", item, places, "the table")
    item = item[()] if isinstance(item, np.ndarray) else item
    if not isinstance(item, int | np.integer):
        raise ValueError(f"a feature must be given by its name or its index, not by {item!r}")
    if not -n <= item < n:
        raise ValueError(f"there is no column {item}: the table has {n}, from 0 to {n - 1}")
    return int(item) % n


def find_numeric(table: Table, categorical: Indices) -> Indices:
    """The columns of numbers that are no codes of categories."""
    numeric = np.flatnonzero(table.kinds == "numeric")
    return numeric[~np.isin(numeric, categorical)]


def split_numbers(
    table: Table, numeric: Indices, together: bool
) -> tuple[list[Block], list[Block]]:
    """Blocks of the numbers of some columns, as one if they are to be together; and the rest."""
    wanted = np.zeros(table.n_features, dtype=bool)
    wanted[numeric] = True
    parts = [b.keep(wanted[b.columns]) for b in table.blocks if wanted[b.columns].any()]
    rest = [b.keep(~wanted[b.columns]) for b in table.blocks if not wanted[b.columns].all()]
    if len(parts) == 1 or not together:
        return parts, rest
    dtype = np.result_type(np.float32, *(block.values.dtype for block in parts))
    values = np.empty((table.n_samples, len(numeric)), dtype, order="F")
    for block in parts:
        for columns, strip in block.strips():
            values[:, np.searchsorted(numeric, columns)] = strip
    return [Block(numeric, "numeric", values)], rest


def find_constant(table: Table) -> NDArray[np.intp]:
    """The columns that have the same value in all rows, or none at all.

    Examples
    --------
    >>> find_constant(read_table([[1.0, None, "a", None], [1.0, None, "b", "c"]]))
    array([0, 1])
    """
    found = [np.empty(0, np.intp)]
    for block in table.blocks:
        if (likely := _may_be_constant(block)).any():
            found += [
                columns[_are_alike(block, values)]
                for columns, values in block.keep(likely).strips()
            ]
    return np.sort(np.concatenate(found))


def _may_be_constant(block: Block) -> Mask:
    """Whether columns may be constant: those that vary in the first rows are not."""
    values = block.values
    if hasattr(values, "tocsc"):
        stored = np.repeat(np.arange(values.shape[1]), np.diff(values.indptr))
        counts = np.bincount(stored[values.data != 0], minlength=values.shape[1])
        return (counts == 0) | (counts == values.shape[0])
    return _are_alike(block, values[:FIRST_ROWS])


def _are_alike(block: Block, values: Array) -> Mask:
    missing = block.missing(values)
    return np.asarray(((values == values[:1]) | (missing & missing[:1])).all(axis=0))


@dataclass(frozen=True)
class TextNumbers:
    """Columns of text that hold numbers or dates, as some rows of a table show."""

    kinds: dict[int, str]  # by place: "numbers" or "dates"
    with_comma: dict[int, list[str]]
    notes: tuple[str, ...] = ()

    @classmethod
    def find(cls, table: Table, keep: Indices) -> "TextNumbers":
        """Look at all columns of text but those to keep."""
        found, commas = {}, {}
        for block in table.blocks:
            if block.kind != "string" or block.categories is None:
                continue
            for j, parsed in parse_block(block, keep.tolist()).items():
                place = int(block.columns[j])
                found[place] = parsed
                texts = [text.strip() for text in block.categories[j] if "," in text]
                commas[place] = texts[:MAX_COMMAS]
        kinds = {place: parsed.kind for place, parsed in found.items()}
        return cls(kinds, commas, tuple(notes_on(table.names, found)))

    def parse(self, table: Table) -> Table:
        """The same rows, or others, with numbers in these columns; what is no number is missing."""
        blocks: list[Block] = []
        for block in table.blocks:
            here = np.isin(block.columns, list(self.kinds))
            if block.categories is None or not here.any():
                blocks.append(block)
                continue
            values = np.empty((table.n_samples, int(here.sum())))
            for column, j in zip(values.T, np.flatnonzero(here), strict=True):
                place = int(block.columns[j])
                texts = [text.strip() for text in block.categories[j]]
                numbers = parse_values(texts + self.with_comma[place], self.kinds[place])
                column[:] = np.append(numbers[: len(texts)], np.nan)[block.values[:, j]]
            blocks.append(Block(block.columns[here], "numeric", values))
            blocks += [] if here.all() else [block.keep(~here)]
        return Table(table.n_samples, table.names, tuple(blocks), table.notes)
