"""The labels of discrete columns, numbered in the order in which blocks bring them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import MAX_LEVELS, Codes, _read_full_column, encode
from bestk.data.table import Table
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans, threads

Indices = NDArray[np.int64]
VALUE_COST = 1e-9  # seconds for a value
STRIP_CELLS = 2**18  # values of the columns that a thread takes at once
Label = Any  # a number, a string, ...; None where the value is missing


class Levels:
    """What each level of each column stands for; more may come with every block.

    Examples
    --------
    >>> from bestk.data.table import read_table
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
        all_numbers = np.concatenate(numbers).astype(np.uint16)
        renumber(codes.values, ends(codes.levels), all_numbers, out)
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
    first = find_first(codes.values, starts)
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


def strips(n_columns: int, n_rows: int) -> list[tuple[int, int]]:
    """Columns that a thread takes at once."""
    return spans(n_columns, max(1, STRIP_CELLS // max(1, n_rows)))


def find_first(values: NDArray[Any], starts: Indices) -> Indices:
    """The first row of level l of column j, at ``starts[j] + l``."""
    first = np.empty(starts[-1], np.int64)

    def work(span: tuple[int, int]) -> None:
        some = values[slice(*span)]
        kernels.find_first(*by_width(some), *some.shape, starts[span[0] :], first)

    with threads(seconds=VALUE_COST * values.size):
        run_tiles(work, strips(*values.shape))
    return first


def renumber(values: NDArray[Any], starts: Indices, numbers: Any, out: NDArray[Any]) -> None:
    """Set ``out[j, r]`` to ``numbers[starts[j] + values[j, r]]``."""

    def work(span: tuple[int, int]) -> None:
        some, given = values[slice(*span)], (starts[span[0] :], numbers)
        kernels.renumber(*by_width(some), *some.shape, *given, *by_width(out[slice(*span)]))

    with threads(seconds=VALUE_COST * out.size):
        run_tiles(work, strips(*values.shape))


def by_width(codes: NDArray[Any]) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Codes as kernels take them: of 8 bits, or of 16."""
    return (codes, None) if codes.dtype == np.uint8 else (None, codes)
