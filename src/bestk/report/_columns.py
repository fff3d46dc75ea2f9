"""How columns were read: kind, missing values, bins, and the classes of the rows in each bin."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import Target
from bestk.report._text import shown
from bestk.selection.look import Values, bin_codes

MOST_BINS = 24  # shown of a column; the rarest levels beyond them are put together
MISSING = "missing"


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


def _split(
    column: Values, cuts: NDArray[np.float64] | None, levels: NDArray[Any]
) -> tuple[NDArray[np.int64], list[str]] | None:
    """The bin of each row, and what the bins are called."""
    codes = bin_codes(column, cuts, MOST_BINS)
    if codes is None:
        return None
    if cuts is not None:
        labels = _ranges(cuts)
    else:
        labels = [shown(c) for c in column.categories or levels.tolist()]
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
