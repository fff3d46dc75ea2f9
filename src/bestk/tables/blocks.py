"""Where blocks of rows come from: iterables, functions and dask."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bestk._typing import Array
from bestk.errors import DataError, UnknownNameError
from bestk.tables.frames import is_dask, read_table
from bestk.tables.rows import RowsWithTarget
from bestk.tables.table import Table
from bestk.tables.target import read_full_column

PAIRS = "give pairs (X_block, y_block), or frames and y, the name of their target column"

# The number of chunks of a table of dask that are computed at once.
PARTS_AT_ONCE = 8


def read_blocks(X: Any, y: Any) -> Iterator[RowsWithTarget]:
    """Yield the blocks of rows of X, all of which must have the same columns.

    Parameters
    ----------
    X : iterable, function that returns one, dask array or dask frame
        An iterable gives pairs (X_block, y_block), or frames if y is a name.
    y : str, array or None
        The name of the column of the target; for dask, also the targets of all rows.
    """
    blocks = _open_blocks(X, y)
    first_names: list[str] | None = None
    for table, values in blocks:
        names = list(table.names)
        if first_names is None:
            first_names = names
        refuse_other_columns(names, first_names)
        yield RowsWithTarget(table, values)
    if first_names is None:
        raise DataError(f"there are no blocks of rows; {PAIRS}")


def _open_blocks(X: Any, y: Any) -> Iterator[RowsWithTarget]:
    """The blocks of X that have rows."""
    if isinstance(X, dict):
        raise DataError("X is a dict; give a frame, such as pandas.DataFrame(X)")
    if is_dask(X):
        return _read_dask(X, y)
    if y is not None and not isinstance(y, str):
        raise DataError(f"X comes in blocks, and y is a {type(y).__name__}; {PAIRS}")
    given = X() if callable(X) else X
    read = (read_block(block, y) for block in given)
    return (block for block in read if block is not None)


def refuse_other_columns(names: list[str], first_names: list[str]) -> None:
    """Refuse a block that does not have the columns of those before."""
    if len(names) != len(first_names):
        raise DataError(f"a block has {len(names)} columns, and those before {len(first_names)}")
    if names != first_names:
        differs = [name != first for name, first in zip(names, first_names, strict=True)]
        odd = differs.index(True)
        raise DataError(
            f"column {odd} of a block is {names[odd]!r}, and {first_names[odd]!r} in those before; "
            "give all blocks the same columns in the same order"
        )


def _read_dask(X: Any, y: Any) -> Iterator[RowsWithTarget]:
    """The rows of a dask array or frame, read by its workers."""
    tables = _compute_tables(X)
    if isinstance(y, str):
        return (split_column(table, y) for table in tables)
    y = y.compute() if is_dask(y) else y
    return _with_targets(tables, read_values(y, len(y)))


def _compute_tables(X: Any) -> Iterator[Table]:
    """The chunks of a dask array or frame that have rows, as tables."""
    from dask import compute, delayed

    if hasattr(X, "chunks") and X.ndim == 2:
        # A chunk then has all columns of its rows.
        X = X.rechunk({1: -1})
    chunks = np.ravel(X.to_delayed())
    tasks = [delayed(read_rows)(chunk) for chunk in chunks]
    for start in range(0, len(tasks), PARTS_AT_ONCE):
        tables = compute(*tasks[start : start + PARTS_AT_ONCE])
        yield from (table for table in tables if table is not None)


def _with_targets(tables: Iterable[Table], values: Array) -> Iterator[RowsWithTarget]:
    """Tables that follow each other, with the targets of their rows."""
    n_rows = 0
    for table in tables:
        start = n_rows
        n_rows += table.n_samples
        if n_rows <= len(values):
            yield RowsWithTarget(table, values[start:n_rows])
    if n_rows != len(values):
        raise DataError(f"y has {len(values)} values but X has {n_rows} rows; give one for each")


def read_block(block: Any, target: str | None) -> RowsWithTarget | None:
    """Read one block of an iterable; None if it has no rows.

    It is a pair of a table and its targets, or a frame, of which ``target`` names a column.
    """
    if target is not None:
        table = read_rows(block)
        return None if table is None else split_column(table, target)
    if not (isinstance(block, tuple | list) and len(block) == 2):
        raise DataError(f"a block is a {type(block).__name__}; {PAIRS}")
    table = read_rows(block[0])
    if table is None:
        return None
    return RowsWithTarget(table, read_values(block[1], table.n_samples))


def read_rows(X: Any) -> Table | None:
    """Read a block; None if it has no rows."""
    n_rows = getattr(X, "shape", ())[:1]
    return None if n_rows == (0,) else read_table(X)


def read_values(y: Any, n_samples: int) -> Array:
    """The targets of a block as an array of numbers or labels, none of them missing."""
    column = read_full_column(y, n_samples)
    values = np.asarray(column.values[:, 0])
    if column.categories is None:
        return values
    labels = np.fromiter(column.categories[0], object)
    return labels[values]


def split_column(table: Table, name: str) -> RowsWithTarget:
    """A table without one of its columns, such as the target, and the values of that."""
    is_asked_for = np.array([column == name for column in table.names])
    if is_asked_for.sum() > 1:
        raise DataError(f"there are several columns {name!r}; rename all but one")
    if not is_asked_for.any():
        raise UnknownNameError("column", name, table.names, "the table")
    features = table.keep(np.flatnonzero(~is_asked_for))
    block = table.keep(np.flatnonzero(is_asked_for)).blocks[0]
    _, dense = next(block.strips())
    y = read_values(replace(block, values=dense), table.n_samples)
    return RowsWithTarget(features, y)
