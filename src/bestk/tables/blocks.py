"""Where blocks of rows come from: iterables, functions and dask."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from bestk._typing import Array
from bestk.errors import DataError, UnknownNameError
from bestk.tables.frames import is_dask, read_table
from bestk.tables.rows import Part
from bestk.tables.table import Table
from bestk.tables.target import read_full_column

PAIRS = "give pairs (X_block, y_block), or frames and y, the name of their target column"
PARTS_AT_ONCE = 8  # of a table of dask


def read_blocks(X: Any, y: Any) -> Iterator[Part]:
    """Yield the blocks of an iterable, a function that returns one, or something of dask."""
    if isinstance(X, dict):
        raise DataError("X is a dict; give a frame, such as pandas.DataFrame(X)")
    if is_dask(X):
        parts = _read_dask(X, y)
    elif y is None or isinstance(y, str):
        parts = filter(None, (read_block(block, y) for block in (X() if callable(X) else X)))
    else:
        raise ValueError(f"X comes in blocks, and y is a {type(y).__name__}; {PAIRS}")
    names: list[str] | None = None
    for table, values in parts:
        if names is None:
            names = list(table.names)
        refuse_other_columns(list(table.names), names)
        yield table, values
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


def _read_dask(X: Any, y: Any) -> Iterator[Part]:
    """The rows of a dask array or frame, read by its workers."""
    from dask import compute, delayed

    rows = X.rechunk({1: -1}) if hasattr(X, "chunks") and X.ndim == 2 else X
    tasks = [delayed(read_rows)(part) for part in np.ravel(rows.to_delayed())]
    some = (tasks[i : i + PARTS_AT_ONCE] for i in range(0, len(tasks), PARTS_AT_ONCE))
    tables = filter(None, chain.from_iterable(compute(*each) for each in some))
    if isinstance(y, str):
        return (split_column(table, y) for table in tables)
    y = y.compute() if is_dask(y) else y
    return _with_targets(tables, read_values(y, len(y)))


def _with_targets(tables: Iterable[Table], values: Array) -> Iterator[Part]:
    start = stop = 0
    for table in tables:
        start, stop = stop, stop + table.n_samples
        if stop <= len(values):
            yield table, values[start:stop]
    if stop != len(values):
        raise DataError(f"y has {len(values)} values but X has {stop} rows; give one for each")


def read_block(block: Any, target: str | None) -> Part | None:
    """One block of an iterable: a pair, or a frame and the name of its target."""
    if target is not None:
        table = read_rows(block)
        return None if table is None else split_column(table, target)
    if not (isinstance(block, tuple | list) and len(block) == 2):
        raise ValueError(f"a block is a {type(block).__name__}; {PAIRS}")
    table = read_rows(block[0])
    return None if table is None else (table, read_values(block[1], table.n_samples))


def read_rows(X: Any) -> Table | None:
    """Read a block; None if it has no rows."""
    return None if getattr(X, "shape", ())[:1] == (0,) else read_table(X)


def read_values(y: Any, n_samples: int) -> Array:
    """The targets of a block as an array of numbers or labels, none of them missing."""
    block = read_full_column(y, n_samples)
    values = np.asarray(block.values[:, 0])
    return values if block.categories is None else np.fromiter(block.categories[0], object)[values]


def split_column(table: Table, name: str) -> Part:
    """A table without one of its columns, such as the target, and that."""
    here = np.array([each == name for each in table.names])
    if here.sum() > 1:
        raise DataError(f"there are several columns {name!r}; rename all but one")
    if not here.any():
        raise UnknownNameError("column", name, table.names, "the table")
    rest = table.keep(np.flatnonzero(~here))
    (own,) = table.keep(np.flatnonzero(here)).blocks
    ((_, values),) = own.strips()
    return rest, read_values(replace(own, values=values), table.n_samples)
