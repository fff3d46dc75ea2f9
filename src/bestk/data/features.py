"""Columns of a table to select from: by name or index, numeric, constant."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Array, Indices, Mask
from bestk.data.table import Block, Table, read_table
from bestk.data.written import parse_text
from bestk.errors import UnknownNameError

SEVERAL = -1  # the place of a name that several columns have
FIRST_ROWS = 32  # most columns that vary do so here


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
    return np.array([_find_place(item, places, table.n_features) for item in chosen], np.int64)


def _find_place(item: Any, places: dict[str, int], n: int) -> int:
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


def as_matrix(table: Table) -> tuple[Any, NDArray[np.intp]]:
    """The table as one array of numbers, with codes for text; and which columns are such codes."""
    if len(table.blocks) == 1 and table.blocks[0].kind == "numeric":
        return table.blocks[0].values, np.empty(0, np.intp)
    dtype = np.result_type(np.float32, *(block.values.dtype for block in table.blocks))
    matrix = np.empty((table.n_samples, table.n_features), dtype)
    for block in table.blocks:
        matrix[:, block.columns] = block.values
        if block.categories is not None:
            matrix[:, block.columns] = np.where(block.values < 0, np.nan, block.values)
    codes = [block.columns for block in table.blocks if block.categories is not None]
    return matrix, np.sort(np.concatenate([np.empty(0, np.intp), *codes]))


def find_constant(table: Table) -> NDArray[np.intp]:
    """The columns that have the same value in all rows, or none at all."""
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
