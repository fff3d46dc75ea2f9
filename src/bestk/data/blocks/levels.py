"""The codes of discrete columns that come in blocks: levels are numbered as they come."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._memory import gib
from bestk._typing import Indices
from bestk.data.codes import MAX_LEVELS, Codes, encode
from bestk.data.table import Table
from bestk.data.target import Target, read_labels

FIRST_ROWS = 256  # that are looked at for all levels, before more
Label = Any  # a number, a string, ...; None where the value is missing


class Levels:
    """What each level of each column stands for; more may come with every block.

    Examples
    --------
    >>> from bestk.data.frames import read_table
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
    codes, labels = read_labels(y, n_samples)
    return codes, labels.tolist()


def ends(lengths: Indices) -> Indices:
    """Where pieces laid end to end begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


def find_first(values: NDArray[Any], starts: Indices) -> Indices:
    """The first row of level l of column j, at ``starts[j] + l``."""
    found = []
    for column, n_levels in zip(values, np.diff(starts), strict=True):
        own, n_rows = np.full(n_levels, -1), FIRST_ROWS
        while own.min() < 0:  # few rows show most levels
            some = column[:n_rows][::-1]
            own[some] = np.arange(len(some))[::-1]  # the last to be set is the first
            n_rows *= 8
        found.append(own)
    return np.concatenate(found)


def renumber(values: NDArray[Any], starts: Indices, numbers: Any, out: NDArray[Any]) -> None:
    """Set ``out[j, r]`` to ``numbers[starts[j] + values[j, r]]``."""
    mine = numbers.astype(out.dtype)
    for column, (first, last), to in zip(values, pairwise(starts), out, strict=True):
        np.take(mine[first:last], column, out=to, mode="clip")  # all are in range


def collect_codes(
    parts: Iterable[tuple[Table, NDArray[Any]]], memory: float
) -> tuple[Codes, Target]:
    """The codes and the classes of all blocks, of at most so many bytes."""
    levels, classes = Levels([]), Levels(["y"])
    pieces: list[NDArray[Any]] = []
    y: list[Indices] = []
    for table, values in parts:
        levels = levels if pieces else Levels(table.names)
        codes, labels = read_classes(values, table.n_samples)
        y.append(np.array(classes.learn([labels])[0], np.int64)[codes])
        pieces.append(levels.encode(table))
        if (needed := sum(piece.nbytes for piece in pieces)) > memory:
            rows = sum(map(len, y))
            raise MemoryError(
                f"codes of {table.n_features} columns in {rows} rows need {gib(needed)} GiB and "
                f"may take {gib(memory)}; leave out columns, or take a part of the rows"
            )
    labels = list(classes.places[0])
    if len(labels) < 2:
        raise ValueError(f"y has one class only, {labels[0]}; at least two are needed")
    joined = np.empty((len(levels.names), sum(map(len, y))), pieces[-1].dtype)
    end = joined.shape[1]
    while pieces:  # which are dropped on the way
        piece = pieces.pop()
        joined[:, end - piece.shape[1] : end] = piece
        end -= piece.shape[1]
    places, known = read_labels(labels, len(labels))
    target = places[np.concatenate(y)]
    return Codes(joined, levels.counts, levels.names), Target(target, known, np.bincount(target))


def bytes_of_codes(n_rows: int, n_features: int, n_planes: int, itemsize: int = 1) -> float:
    """Memory for codes, and for the bit planes that are made of them."""
    return n_rows * (n_features * itemsize + n_planes / 8.0)
