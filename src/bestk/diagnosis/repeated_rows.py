"""Rows that belong together, as several visits of one customer: drawing one of each, and a warning.

Tests take rows as independent. Where a customer has eight rows with the same columns, chance is
that of an eighth of the rows.
"""

import numpy as np
from scipy import stats

from bestk._typing import Array, Floats, Indices
from bestk.diagnosis.identifiers import IDENTIFIER
from bestk.errors import DataError
from bestk.tables.table import Table

# A column with fewer different values may be a category that many rows share.
MIN_GROUPS = 20

# Rows for each value, on average, from which on values repeat.
MIN_ROWS_PER_GROUP = 2

# Columns that are the same in the rows of a group, beside the one that shows the groups. Two
# columns can also be two units of the same quantity.
MIN_REPEATED_COLUMNS = 2

# Different pairs of values of two columns, relative to those of the first one, up to which the
# second is taken as determined by the first.
MAX_NEW_PAIRS = 1.05

# Columns with a larger rank correlation are the same quantity in other units.
MAX_RANK_CORRELATION = 0.999

# Only so much of a table is looked at: a few milliseconds.
MAX_ROWS, MAX_COLUMNS = 20_000, 40


def draw_one_of_each(
    labels: Array, n_samples: int, rows: Indices, rng: np.random.RandomState
) -> Indices:
    """One of these rows for each of their groups, drawn at random, in the order of the rows."""
    if labels.shape != (n_samples,):
        raise DataError(
            f"groups.shape == {labels.shape}, expected {(n_samples,)}: give a group for each row"
        )
    if labels.dtype.kind == "O":
        labels = np.array([str(label) for label in labels])
    order = rng.permutation(rows)
    _, first = np.unique(labels[order], return_index=True)
    return np.sort(order[first])


def note_on_repeats(table: Table) -> str | None:
    """A warning about rows that seem to belong together; None if there are none."""
    names, columns = _columns_that_repeat(table)
    advice = "rows must be independent, pass the groups that they belong to as fit(groups=)"
    for name, values in zip(names, columns, strict=True):
        if IDENTIFIER.search(name) is not None:
            n_groups = len(np.unique(values))
            came = f"{name!r} has {n_groups} values in {len(values)} rows"
            return f"{came}: if it names groups of rows, {advice}"
    n_groups, n_columns = _find_groups(columns)
    if n_columns < MIN_REPEATED_COLUMNS + 1:
        return None
    n_rows = len(columns[0])
    came = f"{n_columns} columns have the same values together in {n_groups} kinds of rows"
    return f"{came} among {n_rows}, as if these were groups of rows: {advice}"


def _columns_that_repeat(table: Table) -> tuple[list[str], list[Floats]]:
    """Names and codes of columns of many values, each of which several rows have."""
    n_rows = min(table.n_samples, MAX_ROWS)
    names = list[str]()
    columns = list[Floats]()
    for block in table.blocks:
        for places, strip in block.strips(width=MAX_COLUMNS):
            for j, place in enumerate(places[:MAX_COLUMNS]):
                n_values, codes = _count_values(strip[:n_rows, j])
                if MIN_GROUPS <= n_values <= n_rows / MIN_ROWS_PER_GROUP:
                    names.append(str(table.names[place]))
                    columns.append(codes)
            break  # the first columns of each kind
    return names, columns


def _count_values(column: Array) -> tuple[int, Floats]:
    """How many different values a column has, and their ranks from 0 on."""
    values, codes = np.unique(column, return_inverse=True)
    return len(values), codes.astype(np.float64)


def _find_groups(columns: list[Floats]) -> tuple[int, int]:
    """How many values the column of most values has, and how many columns it determines."""
    if len(columns) <= MIN_REPEATED_COLUMNS:
        return 0, 0
    n_values = [int(codes.max()) + 1 for codes in columns]
    first = columns[int(np.argmax(n_values))]
    n_groups = max(n_values)
    quantities = [first]
    for codes, count in zip(columns, n_values, strict=True):
        pairs = np.unique(first * count + codes)
        if len(pairs) <= MAX_NEW_PAIRS * n_groups and not _is_among(codes, quantities):
            quantities.append(codes)
    return n_groups, len(quantities)


def _is_among(codes: Floats, quantities: list[Floats]) -> bool:
    """Whether a column is one of these, but for its unit."""
    correlations = [stats.spearmanr(codes, other).statistic for other in quantities]
    return bool(np.max(np.abs(correlations)) > MAX_RANK_CORRELATION)
