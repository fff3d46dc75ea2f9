"""The values of one column of a table."""

from dataclasses import dataclass
from typing import Any

from bestk._typing import Array, Mask
from bestk.tables.table import Kind, Table


@dataclass(frozen=True)
class ColumnValues:
    """One column of a table."""

    kind: Kind

    values: Array
    """Numbers, booleans, or codes of the categories: a value for each row."""

    categories: list[Any] | None
    """What the codes stand for; None for numbers and booleans."""

    missing: Mask
    """Which values are missing."""


def column_values(table: Table, place: int) -> ColumnValues:
    """The values of the column at a place, which are copied only if they are sparse."""
    for block in table.blocks:
        j = int(block.columns.searchsorted(place))
        if j < len(block.columns) and block.columns[j] == place:
            strip = block.values[:, j : j + 1]
            values = (strip.toarray() if hasattr(strip, "toarray") else strip)[:, 0]
            categories = None if block.categories is None else block.categories[j]
            return ColumnValues(block.kind, values, categories, block.missing(values))
    raise IndexError(f"the table has no column {place}")
