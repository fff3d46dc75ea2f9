"""A look at every column: how many values it has, and whether they name rows or repeat others."""

import re
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from bestk.report._columns import Values, column_values
from bestk.table import Table

MOSTLY = 0.5  # share of the rows: different texts, or missing values
FEWEST_ROWS = 10  # of a table in which different values mean something
CALLED = re.compile(r"(^|[\W_])(?i:ids?|idx|index|key|uuid|guid|row)($|[\W_])|[a-z]I[dD]$")
MOST_VALUES = 2**26  # of a table that is looked at


@dataclass(frozen=True)
class Look:
    """What is to be seen in one column."""

    place: int
    kind: str
    missing: int
    distinct: int  # different values that are not missing
    identifier: bool
    constant: bool
    content: bytes  # the same for columns of the same values


def look_at(table: Table) -> list[Look] | None:
    """A look at every column; None where the table is too large for that.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> table = read_table([[i, f"p{i}", i / 2, i % 3, 7] for i in range(20)])
    >>> looks = look_at(table)
    >>> [look.identifier for look in looks], [look.distinct for look in looks]
    ([True, True, False, False, False], [20, 20, 20, 3, 1])
    """
    if table.n_samples * table.n_features > MOST_VALUES:
        return None
    return [_look(j, str(table.names[j]), column_values(table, j)) for j in range(table.n_features)]


def _look(place: int, name: str, column: Values) -> Look:
    known = column.values[~column.missing]
    distinct, missing = len(np.unique(known)), int(column.missing.sum())
    constant = distinct <= 1 and not (missing and distinct)
    named = names_rows(name, column, distinct)
    return Look(place, column.kind, missing, distinct, named, constant, content_of(column))


def names_rows(name: str, column: Values, distinct: int) -> bool:
    """Whether values name rows: text that differs in most rows, or whole numbers in all.

    Whole numbers may well be measured and differ by chance, so they also have to count the rows,
    to rise or fall with them, or to be called what names them.
    """
    rows = len(column.values)
    if rows < FEWEST_ROWS or column.kind == "boolean":
        return False
    if column.categories is not None:
        return distinct > MOSTLY * rows
    if distinct < rows or (column.values != np.floor(column.values)).any():
        return False
    steps = np.diff(np.asarray(column.values, np.float64))
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return in_order or np.ptp(column.values) < 2 * rows or CALLED.search(name) is not None


def content_of(column: Values) -> bytes:
    """What two columns of the same values have in common, and others do not.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> table = read_table([[1, 5, 1.0, "1"], [2, 6, 2.0, "2"]])
    >>> first, *others = (content_of(column_values(table, j)) for j in range(4))
    >>> [first == other for other in others]
    [False, True, False]
    """
    if column.categories is None:
        numbers = np.asarray(column.values, np.float64) + 0.0  # -0.0 is 0.0
        return b"numbers" + sha256(numbers.tobytes()).digest()
    spelled = repr([str(category) for category in column.categories]).encode()
    return b"words" + sha256(spelled + np.asarray(column.values, np.int64).tobytes()).digest()
