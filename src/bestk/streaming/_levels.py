"""The labels of discrete columns, numbered in the order in which blocks bring them."""

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bestk._kernels import parallel_kernel
from bestk._threads import threads
from bestk.codes import MAX_LEVELS, Codes, _read_full_column, encode
from bestk.table import Table

Indices = NDArray[np.int64]
VALUE_COST = 1e-9  # seconds for a value
Label = Any  # a number, a string, ...; None where the value is missing


class Levels:
    """What each level of each column stands for; more may come with every block.

    Examples
    --------
    >>> from bestk.table import read_table
    >>> levels = Levels(["colour"])
    >>> levels.encode(read_table([["red"], ["green"], ["red"]]))
    array([[1, 0, 1]], dtype=uint8)
    >>> levels.encode(read_table([["blue"], ["red"], [None]]))
    array([[2, 1, 3]], dtype=uint8)
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.places: list[dict[Label, int]] = [{} for _ in names]

    @property
    def counts(self) -> Indices:
        """Number of levels of each column so far."""
        return np.array([len(place) for place in self.places], np.int64)

    def encode(self, table: Table) -> NDArray[Any]:
        """Codes of a block, one row per column: level 0 is the first that was ever seen."""
        codes = encode(table)
        numbers = self.learn(labels_of(table, codes))
        dtype = np.uint8 if max(map(len, self.places)) <= 2**8 else np.uint16
        out = np.empty(codes.values.shape, dtype)
        with threads(seconds=VALUE_COST * out.size):
            renumber(codes.values, ends(codes.levels), np.concatenate(numbers).astype(dtype), out)
        return out

    def learn(self, labels: Sequence[Sequence[Label]]) -> list[list[int]]:
        """The numbers of labels, column by column; new ones get the next."""
        numbers = []
        for j, (place, some) in enumerate(zip(self.places, labels, strict=True)):
            before = len(place)
            numbers.append([place.setdefault(label, len(place)) for label in some])
            if len(place) > before:
                self._check(j, list(place)[before:])
        return numbers

    def _check(self, column: int, new: list[Label]) -> None:
        place, name = self.places[column], self.names[column]
        if len(place) > MAX_LEVELS:
            raise ValueError(
                f"column {name!r} has more than {MAX_LEVELS} levels; discretise it, or leave it out"
            )
        known = next(iter(label for label in place if label is not None), None)
        for label in new:
            if label is not None and isinstance(label, str) != isinstance(known, str):
                raise ValueError(
                    f"column {name!r} holds {known!r} in one block and {label!r} in another; "
                    "give it one type throughout"
                )


def labels_of(table: Table, codes: Codes) -> list[list[Label]]:
    """What the codes of a block stand for, column by column; None for missing values."""
    starts = ends(codes.levels)
    first = np.empty(starts[-1], np.int64)
    with threads(seconds=VALUE_COST * codes.values.size):
        find_first(codes.values, starts, first)
    labels: list[list[Label]] = [[] for _ in range(table.n_features)]
    for block in table.blocks:
        if block.categories is not None:
            for j, known in zip(block.columns.tolist(), block.categories, strict=True):
                labels[j] = [*known, None][: codes.levels[j]]
            continue
        for columns, strip in block.strips():
            rows = [first[starts[j] : starts[j + 1]] for j in columns]
            places = np.repeat(np.arange(len(columns)), [len(some) for some in rows])
            values = strip[np.concatenate(rows), places].tolist()
            at = 0
            for j, some in zip(columns.tolist(), rows, strict=True):
                labels[j] = [v if v == v else None for v in values[at : at + len(some)]]
                at += len(some)
    return labels


def read_classes(y: Any, n_samples: int) -> tuple[Indices, list[Label]]:
    """The class of each row of a block, and what the classes of this block are."""
    block = _read_full_column(y, n_samples)
    values = block.values[:, 0]
    if block.categories is not None:
        return values.astype(np.int64), list(block.categories[0])
    if values.dtype.kind == "f" and len(fractional := values[values % 1 != 0]):
        raise ValueError(
            f"y is not discrete: it holds {fractional[0]}; discretise it into classes first"
        )
    classes, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), classes.tolist()


def ends(lengths: Indices) -> Indices:
    """Where pieces laid end to end begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


@parallel_kernel
def find_first(values: Any, starts: Any, first: Any) -> None:
    """Write the first row of level l of column j to ``first[starts[j] + l]``."""
    for j in numba.prange(len(values)):
        levels = starts[j + 1] - starts[j]
        first[starts[j] : starts[j + 1]] = -1
        found, row = 0, 0
        while found < levels:
            at = starts[j] + np.int64(values[j, row])
            if first[at] < 0:
                first[at] = row
                found += 1
            row += 1


@parallel_kernel
def renumber(values: Any, starts: Any, numbers: Any, out: Any) -> None:
    """Set ``out[j, r]`` to ``numbers[starts[j] + values[j, r]]``."""
    for j in numba.prange(len(values)):
        mine = numbers[starts[j] : starts[j + 1]]
        for r in range(values.shape[1]):
            out[j, r] = mine[values[j, r]]
