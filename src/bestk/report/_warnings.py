"""What to know before trusting a selection: leaks, identifiers, copies, classes of few rows."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestk.codes import Target
from bestk.report._columns import Values, column_values
from bestk.report._text import shown
from bestk.table import Table

LEAK = 0.99  # share of the rows whose class one column tells, and of what guessing leaves open
ROWS_PER_BIN = 5  # fewer on average, and a column tells classes by chance
MOSTLY = 0.5  # share of the rows: different texts, or missing values
FEWEST_ROWS = 10  # of a table in which different values mean something
SMALL_CLASS = 10  # rows
NAMED = 8  # columns that a warning names
MOST_VALUES = 2**27  # of a table whose columns are compared


@dataclass(frozen=True)
class Caution:
    """Something to look at."""

    kind: str  # "leak", "identifier", "duplicate", "class", "constant", "missing" or "note"
    text: str
    advice: str = ""


def is_leak(codes: NDArray[np.int64], target: Target) -> bool:
    """Whether the bins of one column nearly determine the class.

    That is: the most frequent class of each bin is right for 99 % of the rows, and for 99 % of
    those that the most frequent class of all is wrong for; and bins have five rows on average.

    Examples
    --------
    >>> from bestk.codes import read_target
    >>> y = read_target([0, 1] * 10, 20)
    >>> is_leak(np.array([0, 1] * 10), y), is_leak(np.array([0, 1] * 9 + [1, 1]), y)
    (True, False)
    """
    n, n_bins = len(codes), len(np.unique(codes))
    if n < ROWS_PER_BIN * n_bins:
        return False
    counts = np.bincount(codes * target.n_classes + target.codes)
    counts = np.append(counts, np.zeros(-len(counts) % target.n_classes, np.int64))
    right = int(counts.reshape(-1, target.n_classes).max(axis=1).sum())
    wrong, guessed = n - right, n - int(target.counts.max())
    return wrong <= (1 - LEAK) * n and wrong <= (1 - LEAK) * guessed


def is_identifier(column: Values) -> bool:
    """Whether values name rows: text that differs in most rows, or whole numbers in all.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> table = read_table([[i, f"p{i}", i / 2, i % 3] for i in range(20)])
    >>> [is_identifier(column_values(table, j)) for j in range(4)]
    [True, True, False, False]
    """
    known = column.values[~column.missing]
    if len(column.values) < FEWEST_ROWS or column.kind == "boolean":
        return False
    n_different = len(np.unique(known))
    if column.categories is not None:
        return n_different > MOSTLY * len(column.values)
    whole = bool((known == np.floor(known)).all())
    return whole and n_different == len(column.values)


def find_duplicates(table: Table) -> list[list[int]]:
    """Columns that hold the same values, in groups, by the place of the first.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> find_duplicates(read_table([[1, 5, 1.0, "a"], [2, 6, 2.0, "b"]]))
    [[0, 2]]
    """
    groups: dict[tuple[bool, bytes], list[int]] = {}
    for place in range(table.n_features):
        column = column_values(table, place)
        if column.categories is not None:
            known = np.array([*map(str, column.categories), ""], dtype=object)
            content = "\0".join(known[column.values]).encode("utf-8", "surrogatepass")
        else:
            content = (np.asarray(column.values, np.float64) + 0.0).tobytes()
        groups.setdefault((column.categories is None, _digest(content)), []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def _digest(content: bytes) -> bytes:
    from hashlib import sha256

    return sha256(content).digest()


def column_cautions(table: Table, selected: set[int]) -> list[Caution]:
    """Identifiers, columns that say nothing, columns that are mostly missing, and copies."""
    if table.n_samples * table.n_features > MOST_VALUES:
        text = "The columns were not compared with each other: the table is too large for that."
        return [Caution("note", text)]
    columns = {place: column_values(table, place) for place in range(table.n_features)}
    names = table.names
    named = [j for j, column in columns.items() if is_identifier(column)]
    constant = [j for j, column in columns.items() if _is_constant(column)]
    empty = [j for j, c in columns.items()
             if c.missing.mean() > MOSTLY and j not in set(constant)]  # fmt: skip
    cautions = [
        Caution(
            "identifier",
            f"{quoted(names, [j])} {'was selected and ' if j in selected else ''}"
            "has a different value in most rows, as an identifier has.",
            "Exclude it if it only names the rows.",
        )
        for j in named[:NAMED]
    ]
    for j in empty[:NAMED]:
        share = f"{100 * columns[j].missing.mean():.0f}%"
        cautions.append(Caution("missing", f"{quoted(names, [j])} is missing in {share} of rows."))
    if constant:
        text = f"{_columns(len(constant))} one value only: {quoted(names, constant)}."
        cautions.append(Caution("constant", text))
    for group in find_duplicates(table)[:NAMED]:
        if not set(group) <= set(constant):
            text = f"{quoted(names, group)} hold the same values."
            cautions.append(Caution("duplicate", text, "One of them is enough."))
    return cautions


def class_cautions(target: Target) -> list[Caution]:
    """Classes of few rows."""
    small = np.flatnonzero(target.counts < SMALL_CLASS)
    if not len(small):
        return []
    names = [f"“{shown(target.classes[i])}” ({target.counts[i]})" for i in small[:NAMED]]
    more = f" and {len(small) - NAMED} more" if len(small) > NAMED else ""
    text = f"Classes of fewer than {SMALL_CLASS} rows: {', '.join(names)}{more}."
    return [Caution("class", text, "What is said of them is uncertain; join classes or add rows.")]


def leak_cautions(table: Table, leaks: Iterable[int]) -> list[Caution]:
    """Columns that nearly determine the target."""
    return [
        Caution(
            "leak",
            f"{quoted(table.names, [j])} alone nearly determines the target.",
            "See whether it is known at the time of prediction; if not, exclude it.",
        )
        for j in leaks
    ]


def quoted(names: Iterable[str], places: list[int]) -> str:
    """Some names, and how many more there are."""
    known = list(names)
    listed = ", ".join(f"“{shown(known[j])}”" for j in places[:NAMED])
    return listed + (f" and {len(places) - NAMED} more" if len(places) > NAMED else "")


def _is_constant(column: Values) -> bool:
    known = column.values[~column.missing]
    mixed = column.missing.any() and len(known) > 0
    return len(np.unique(known)) <= 1 and not mixed


def _columns(n: int) -> str:
    return "1 column holds" if n == 1 else f"{n} columns hold"
