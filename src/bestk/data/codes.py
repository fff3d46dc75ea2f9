"""Discrete tables as small integers, whole or block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._memory import gib
from bestk._typing import Array, Indices
from bestk.data.frames import read_table
from bestk.data.table import Table, check_finite
from bestk.data.target import Target, read_labels
from bestk.errors import DataError
from bestk.native import as_table, kernels
from bestk.native.threads import run_tiles, spans, threads

MAX_LEVELS = 2**15
READ_COST = 2e-9  # seconds for a value
FIRST_ROWS = 256  # that are searched for all levels, before more
STRIP = 64  # columns a thread encodes at once: whole cache lines of the smallest dtypes,
STRIP_VALUES = 2**15  # or more, where columns are short
DISCRETISE = "discretise it first, e.g. CAIM().fit_transform(X, y)"
Label = Any  # a number, a string, ...; None where the value is missing
MIN_KEPT_ROWS = 1000  # of rows in blocks; where even fewer do not fit, columns are too many


@dataclass(frozen=True)
class Codes:
    """A discrete table: small integers, one row per feature."""

    values: NDArray[np.uint8] | NDArray[np.uint16]  # (n_features, n_samples), C-contiguous
    levels: Indices  # values[i] lies in 0..levels[i]-1, and every level occurs
    names: Sequence[str]
    width: int | None = None  # columns of each table, where several stand side by side

    def __post_init__(self) -> None:
        values, levels = self.values, self.levels
        if values.ndim != 2 or values.dtype not in (np.uint8, np.uint16):
            came = f"{values.dtype} of shape {values.shape}"
            raise DataError(f"values must be a uint8 or uint16 matrix, not {came}; use encode(X)")
        if not values.flags.c_contiguous:
            raise DataError("values must be C-contiguous; use np.ascontiguousarray(values)")
        if levels.dtype != np.int64 or levels.shape != (len(values),):
            came = f"{levels.dtype} of shape {levels.shape}"
            raise DataError(f"levels must be int64 of shape ({len(values)},), not {came}")
        if len(self.names) != len(values):
            raise DataError(f"{len(values)} features need as many names, not {len(self.names)}")

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return int(self.values.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of rows of the table."""
        return int(self.values.shape[1])


def encode(X: Any) -> Codes:
    """Write a discrete table as dense codes: the levels of each column, in order, are 0, 1, ...

    Parameters
    ----------
    X : array, frame, sparse matrix, list of rows, or Table
        Whole numbers from 0 up, booleans, strings or categories. Missing values (NaN, None, NA,
        null) are the last level of their column.

    Returns
    -------
    Codes
        One row per feature, of at most 2**15 levels.

    Examples
    --------
    >>> codes = encode([[7, "red"], [3, "blue"], [7, None]])
    >>> codes.values
    array([[1, 0, 1],
           [1, 0, 2]], dtype=uint8)
    >>> codes.levels
    array([2, 3])
    """
    table = read_table(X)
    values: Array = np.empty((table.n_features, table.n_samples), dtype=np.uint8)
    levels = np.empty(table.n_features, dtype=np.int64)
    for block in table.blocks:
        write = _encode_numbers if block.categories is None else _encode_categories
        for columns, strip in block.strips():
            levels[columns] = write(strip, columns, table.names, values)
            if values.dtype == np.uint8 and levels[columns].max() > 256:
                values = values.astype(np.uint16)
                write(strip, columns, table.names, values)
    return Codes(values, levels, table.names)


def _encode_categories(
    strip: Array, columns: Indices, names: Sequence[str], values: Array
) -> Indices:
    """Write category codes, dense but for missing (-1), to ``values``; return the levels."""
    known = strip.max(axis=0).astype(np.int64) + 1
    gone = strip < 0
    levels: Indices = known + gone.any(axis=0)
    _refuse_many(levels, columns, names)
    values[columns] = np.where(gone, known, strip).T
    return levels


def _encode_numbers(strip: Array, columns: Indices, names: Sequence[str], values: Array) -> Indices:
    """Write the codes of whole numbers, missing where NaN, to ``values``; return the levels."""
    n_columns, n_rows = len(columns), len(strip)
    levels, odd = np.empty(n_columns, np.int64), np.zeros(n_columns, np.uint8)
    by_width = (None, values) if values.dtype == np.uint16 else (values, None)
    table = as_table(strip)
    with threads(seconds=READ_COST * strip.size) as n_threads:
        width = max(STRIP, STRIP_VALUES // n_rows)
        width = width if n_threads == 1 else max(STRIP, -(-n_columns // (4 * n_threads)))
        write = kernels.write_codes.bind(table, n_rows, columns, *by_width, levels, odd)
        run_tiles(lambda span: write(*span), spans(n_columns, width))
    for j in np.flatnonzero(odd):
        values[columns[j]], levels[j] = _rank_column(strip[:, j], names[columns[j]])
    _refuse_many(levels, columns, names)
    return levels


def _rank_column(column: Array, name: str) -> tuple[Indices, int]:
    """Codes and levels of a column whose values are too large to look up; or why it has none."""
    where = f"column {name!r}"
    if column.dtype.kind == "f":
        check_finite(where, column)
        if len(fractional := column[column % 1 > 0]):
            raise DataError(
                f"{where} is not discrete: it holds {fractional[0]}; {DISCRETISE}, "
                "or use information='gaussian'"
            )
    if (lowest := np.nanmin(column)) < 0:
        raise DataError(
            f"{where} has negative codes, down to {lowest}; shift them to start at 0, "
            "or pass the column as strings or categories"
        )
    known = column == column
    seen, ranks = np.unique(column[known], return_inverse=True)
    codes = np.full(len(column), len(seen))
    codes[known] = ranks
    return codes, len(seen) + (not known.all())


def _refuse_many(levels: Indices, columns: Indices, names: Sequence[str]) -> None:
    if levels.max() > MAX_LEVELS:
        first = int(np.argmax(levels > MAX_LEVELS))
        raise DataError(
            f"column {names[columns[first]]!r} has {levels[first]} levels, "
            f"more than {MAX_LEVELS}; {DISCRETISE}, or drop it"
        )


class Levels:
    """What each level of each column stands for; more may come with every block."""

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
        numbers = self.learn(_labels_of(table, codes))
        dtype = np.uint8 if max(map(len, self.places)) <= 2**8 else np.uint16
        out = codes.values.astype(dtype, copy=False)
        for column, known in zip(out, numbers, strict=True):
            if known != list(range(len(known))):
                np.take(np.array(known, dtype), column.copy(), out=column, mode="clip")
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


def _labels_of(table: Table, codes: Codes) -> list[list[Label]]:
    """What the codes of a block stand for, column by column; None for missing values."""
    labels: list[list[Label]] = [[] for _ in range(table.n_features)]
    for block in table.blocks:
        if block.categories is not None:
            for j, known in zip(block.columns.tolist(), block.categories, strict=True):
                labels[j] = [*known, None][: codes.levels[j]]
            continue
        for columns, strip in block.strips():
            for j, column in zip(columns.tolist(), strip.T, strict=True):
                values = column[first_rows(codes.values[j], int(codes.levels[j]))].tolist()
                labels[j] = [value if value == value else None for value in values]
    return labels


def first_rows(column: Array, n_levels: int) -> Indices:
    """The first row of each level of a column."""
    found, n_rows = np.full(n_levels, -1), FIRST_ROWS
    while found.min() < 0:  # few rows show most levels
        some = column[:n_rows][::-1]
        found[some] = np.arange(len(some))[::-1]  # the last to be set is the first
        n_rows *= 8
    return found


def ends(lengths: Indices) -> Indices:
    """Where pieces laid end to end begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


class CodeBlocks:
    """The codes and the classes of blocks of rows, of at most so many bytes.

    Levels and classes may be new in any block: they are known by their labels. Where the rows take
    more than the memory, every second one is dropped, at random, and of those that follow too.
    """

    def __init__(self, memory: float, seed: int = 0) -> None:
        self._memory = memory
        self._rng = np.random.default_rng([seed, MAX_LEVELS])  # not the numbers of a user's seed
        self._levels, self._classes = Levels([]), Levels(["y"])
        self._codes: list[NDArray[Any]] = []
        self._y: list[Indices] = []
        self.share = 1.0  # of the rows that are kept

    def add(self, table: Table, y: NDArray[Any]) -> None:
        """Encode a block."""
        self._levels = self._levels if self._y else Levels(table.names)
        codes, labels = read_labels(y, table.n_samples)
        self._y.append(np.array(self._classes.learn([labels.tolist()])[0], np.int64)[codes])
        self._codes.append(self._levels.encode(table))
        if self.share < 1:
            self._drop_rows(-1, self.share)
        while (needed := sum(piece.nbytes for piece in self._codes)) > self._memory:
            if (rows := sum(map(len, self._y))) < MIN_KEPT_ROWS:
                raise MemoryError(
                    f"codes of {table.n_features} columns in {rows} rows need {gib(needed)} GiB "
                    f"and may take {gib(self._memory)}; leave out columns"
                )
            self.share /= 2
            for place in range(len(self._y)):
                self._drop_rows(place, 0.5)

    def _drop_rows(self, place: int, share: float) -> None:
        """Keep a share of the rows of a block, drawn at random."""
        kept = self._rng.random(len(self._y[place])) < share
        self._y[place], self._codes[place] = self._y[place][kept], self._codes[place][:, kept]

    def join(self) -> tuple[Codes, Target]:
        """The codes and the classes of all rows so far."""
        known = list(self._classes.places[0])
        if len(known) < 2:
            raise ValueError(f"y has one class only, {known[0]}; at least two are needed")
        joined = np.empty((len(self._levels.names), sum(map(len, self._y))), self._codes[-1].dtype)
        end = joined.shape[1]
        while self._codes:  # which are dropped on the way
            piece = self._codes.pop()
            joined[:, end - piece.shape[1] : end] = piece
            end -= piece.shape[1]
        self._codes, self._y = [joined], [np.concatenate(self._y)]
        places, labels = read_labels(known, len(known))
        y = places[self._y[0]]
        codes = Codes(joined, self._levels.counts, self._levels.names)
        return codes, Target(y, labels, np.bincount(y))
