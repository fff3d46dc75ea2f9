"""How columns were read: kind, missing values, bins, and the classes of the rows in each bin."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.codes import Target
from bestk.report._text import shown
from bestk.table import Block, Table

MOST_BINS = 24  # shown of a column; the rarest levels beyond them are put together
MISSING = "missing"


@dataclass(frozen=True)
class Values:
    """One column of a table."""

    kind: str
    values: NDArray[Any]  # numbers, booleans, or codes of the categories
    missing: NDArray[np.bool_]
    categories: list[Any] | None


@dataclass(frozen=True)
class Bin:
    """Rows of a column that count as one level."""

    label: str
    counts: tuple[int, ...]  # rows of each class; all in one, where there are no classes


@dataclass(frozen=True)
class Column:
    """How a column was read."""

    name: str
    kind: str
    missing: int | None  # None where the rows are not at hand
    distinct: int | None  # different values
    cuts: tuple[float, ...]  # between the bins of numbers
    bins: tuple[Bin, ...]  # none where numbers were not cut


def column_values(table: Table, place: int) -> Values:
    """The values of one column."""
    for block in table.blocks:
        found = np.flatnonzero(block.columns == place)
        if len(found):
            return _of_block(block, int(found[0]))
    raise IndexError(f"the table has no column {place}; it has {table.n_features}")


def _of_block(block: Block, j: int) -> Values:
    strip = block.values[:, j : j + 1]
    strip = strip.toarray() if hasattr(strip, "toarray") else np.asarray(strip)
    categories = None if block.categories is None else block.categories[j]
    values = strip[:, 0]
    return Values(block.kind, values, block.missing(values), categories)


def read_column(
    name: str, column: Values, cuts: NDArray[np.float64] | None, target: Target | None
) -> Column:
    """All that is shown of a column; ``cuts`` are None where it was not discretised."""
    known = column.values[~column.missing]
    levels = np.unique(known)
    split = _split(column, cuts, levels)
    bins = () if split is None else _count(*split, target)
    told = () if cuts is None else tuple(float(cut) for cut in cuts)
    missing = int(column.missing.sum())
    return Column(shown(name), column.kind, missing, len(levels), told, bins)


def bin_codes(column: Values, cuts: NDArray[np.float64] | None) -> NDArray[np.int64] | None:
    """The bin of each row, the last one for missing values; None where there are no bins."""
    split = _split(column, cuts, np.unique(column.values[~column.missing]))
    return None if split is None else split[0]


def _split(
    column: Values, cuts: NDArray[np.float64] | None, levels: NDArray[Any]
) -> tuple[NDArray[np.int64], list[str]] | None:
    """The bin of each row, and what the bins are called."""
    if cuts is not None:
        codes, labels = np.searchsorted(cuts, column.values, side="left"), _ranges(cuts)
    elif column.categories is not None:
        codes, labels = np.asarray(column.values, np.int64), [shown(c) for c in column.categories]
    elif column.kind == "boolean" or len(levels) <= MOST_BINS:
        codes = np.searchsorted(levels, column.values)
        labels = [shown(level) for level in levels.tolist()]
    else:
        return None
    codes = np.where(column.missing, len(labels), codes).astype(np.int64)
    return codes, [*labels, MISSING] if column.missing.any() else labels


def _ranges(cuts: NDArray[np.float64]) -> list[str]:
    """The intervals between cut points; a value that is one belongs to the lower interval.

    Examples
    --------
    >>> _ranges(np.array([0.5, 2.0])), _ranges(np.array([]))
    (['≤ 0.5', '> 0.5 to 2', '> 2'], ['all values'])
    """
    if not len(cuts):
        return ["all values"]
    points = [f"{cut:.6g}" for cut in cuts]
    between = [f"> {low} to {high}" for low, high in pairwise(points)]
    return [f"≤ {points[0]}", *between, f"> {points[-1]}"]


def _count(codes: NDArray[np.int64], labels: list[str], target: Target | None) -> tuple[Bin, ...]:
    """How many rows of each class every bin has; bins that are too many are put together."""
    classes = np.zeros(len(codes), np.int64) if target is None else target.codes
    n_classes = 1 if target is None else target.n_classes
    flat = np.bincount(codes * n_classes + classes, minlength=len(labels) * n_classes)
    counts = flat.reshape(len(labels), n_classes)
    if len(labels) <= MOST_BINS:
        kept, rest = np.arange(len(labels)), None
    else:
        frequent = np.argsort(-counts.sum(axis=1), kind="stable")
        kept, rest = np.sort(frequent[: MOST_BINS - 1]), frequent[MOST_BINS - 1 :]
    bins = [Bin(labels[i], tuple(counts[i].tolist())) for i in kept]
    if rest is not None:
        bins.append(Bin(f"{len(rest)} rarer values", tuple(counts[rest].sum(axis=0).tolist())))
    return tuple(bins)
