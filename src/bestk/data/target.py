"""What a target is: classes, or numbers to predict."""

from typing import Any

import numpy as np

from bestk._checks import choice
from bestk.data.table import Block, read_column

TARGETS = ("auto", "classes", "continuous")
MAX_CLASSES = 20  # different whole numbers that are always classes
MAX_CODES = 100  # different whole numbers that may be the codes of classes
MIN_ROWS_PER_CLASS = 20  # fewer on average, and many different whole numbers are a quantity


def is_continuous(y: Any, target: str = "auto") -> bool:
    """As asked; "auto": y holds fractions, or whole numbers that are a quantity.

    Examples
    --------
    >>> is_continuous([0.5, 1.5]), is_continuous([1, 2]), is_continuous([1, 2], "continuous")
    (True, False, True)
    """
    choice(target, "target", TARGETS)
    if target != "auto":
        return target == "continuous"
    column = read_column(y)
    return is_fractional(column) or _is_quantity(column)


def is_fractional(y: Any) -> bool:
    """Whether a target holds numbers with a fractional part."""
    column = read_column(y)
    if column.categories is not None or column.values.dtype.kind != "f":
        return False
    known = column.values[~np.isnan(column.values)]
    return bool((known != np.floor(known)).any())


def note_on_target(target: str, y: Any) -> str | None:
    """What to say of whole numbers that could be classes as well as a quantity."""
    column = read_column(y)
    if target != "auto" or column.kind != "numeric" or is_fractional(column):
        return None
    n, rows = len(np.unique(column.values)), len(column.values)
    if _is_quantity(column):
        taken, other = "numbers to predict", "pass target='classes' if they are classes"
    elif n > max(MAX_CLASSES, rows / 10):
        taken, other = "classes", "pass target='continuous' if they are a quantity"
    else:
        return None
    return f"y holds {n} different whole numbers in {rows} rows, taken as {taken}; {other}"


def _is_quantity(column: Block) -> bool:
    """Whether whole numbers are too many to be classes, and do not look like their codes.

    Codes are 0, 1, 2, ... or 1, 2, 3, ..., each in two rows or more.
    """
    if column.kind != "numeric" or column.categories is not None:
        return False
    values, counts = np.unique(column.values, return_counts=True)
    n, few = len(values), len(column.values) < MIN_ROWS_PER_CLASS * len(values)
    if n <= MAX_CLASSES:
        return False
    if values[0] in (0, 1) and values[-1] - values[0] == n - 1 and counts.min() > 1:
        return few and n > MAX_CODES
    return few or n > MAX_CODES
