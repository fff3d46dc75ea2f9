"""Columns that grow a piece at a time, in the smallest types that hold them."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import MAX_LEVELS
from bestk.data.written import Parsed, parse_levels, parse_values

Ints = NDArray[np.int64]
LADDER: tuple[Any, ...] = (np.uint8, np.int16, np.float32, np.float64)
SHORT, TOP = 1, len(LADDER) - 1
CHUNK = 2**26  # bytes: so large a block is handed back to the system once it is dropped
Piece = list[tuple[Ints, NDArray[Any]]]  # columns of each type, and their values in some rows


class Numbers:
    """Columns of numbers, NaN where missing; each is as wide as its widest value so far.

    Examples
    --------
    >>> numbers = Numbers(2)
    >>> numbers.add(np.array([[1.0, 0.5], [2.0, 0.1]]))
    >>> numbers.add(np.array([[300.0, 1.0]]))
    >>> for columns, values in numbers.finish():
    ...     print(columns, values.dtype, values.ravel())
    [0] int16 [ 1 2 300]
    [1] float64 [0.5 0.1 1. ]
    """

    def __init__(self, n_columns: int) -> None:
        self._rung = np.zeros(n_columns, dtype=np.int8)
        self._chunks: list[Piece] = []
        self._pieces: list[Piece] = []
        self._room = CHUNK

    def add(self, values: NDArray[Any]) -> None:
        """Append rows."""
        rising = np.flatnonzero(self._rung < TOP)
        if len(rising):
            part = values if len(rising) == len(self._rung) else values[:, rising]
            self._rung[rising] = np.maximum(self._rung[rising], _rungs(part))
        piece = [
            (columns, values[:, columns].astype(LADDER[rung], copy=False))
            for rung, columns in self._groups()
        ]
        self._pieces.append(piece)
        self._room -= sum(part.nbytes for _, part in piece)
        if self._room < 0:
            self._chunks.append(self._joined(self._pieces))
            self._room = CHUNK

    def is_wide(self) -> NDArray[np.bool_]:
        """Which columns are more than short integers so far."""
        return self._rung > SHORT

    def finish(self) -> Piece:
        """The columns of each type, and their values; what they were made of is given up."""
        self._chunks += self._pieces
        return self._joined(self._chunks)

    def _joined(self, pieces: list[Piece]) -> Piece:
        """One piece of several, which are dropped on the way so that no two copies are held."""
        rows = sum(len(piece[0][1]) for piece in pieces)
        groups = [
            (columns, np.empty((rows, len(columns)), LADDER[rung]))
            for rung, columns in self._groups()
        ]
        while pieces:
            piece = pieces.pop()
            stop, rows = rows, rows - len(piece[0][1])
            for columns, whole in groups:
                for found, values in piece:
                    if np.array_equal(found, columns):
                        whole[rows:stop] = values
                        continue
                    here = np.isin(found, columns)
                    whole[rows:stop, np.searchsorted(columns, found[here])] = values[:, here]
        return groups

    def _groups(self) -> Iterator[tuple[int, Ints]]:
        for rung in range(len(LADDER)):
            if len(columns := np.flatnonzero(self._rung == rung)):
                yield rung, columns


def _rungs(values: NDArray[Any]) -> NDArray[np.int8]:
    """For each column the first type of the ladder that holds it exactly."""
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    gaps = np.isnan(values).any(axis=0)
    near = ((single == values) | np.isnan(values)).all(axis=0)
    whole = ~gaps & (values == np.floor(values)).all(axis=0)
    rungs = np.where(near, 2, 3)
    rungs[whole & (low >= -(2**15)) & (high < 2**15)] = 1
    rungs[whole & (low >= 0) & (high < 2**8)] = 0
    return rungs.astype(np.int8)


class Words:
    """A column of text or categories, as codes; with too many levels as numbers, or given up.

    Examples
    --------
    >>> words = Words()
    >>> words.add(np.array([1, -1, 0]), ["blue", "red"])
    >>> words.finish()
    (array([ 1, -1,  0], dtype=int8), ['blue', 'red'])
    """

    def __init__(self) -> None:
        self._place: dict[Any, int] = {}
        self._pieces: list[NDArray[Any]] = []

    @property
    def too_many(self) -> bool:
        """Whether there are more levels than can be counted."""
        return len(self._place) > MAX_LEVELS

    def add(self, codes: NDArray[np.integer[Any]], levels: Sequence[Any]) -> None:
        """Append values, given as codes (-1 where missing) and what these stand for."""
        if self.too_many:
            if self.parsed:
                texts = ["" if level is None else str(level).strip() for level in levels]
                values = parse_values(texts, self.parsed.kind)
                self._pieces.append(np.append(values, np.nan)[codes])
            else:
                self._pieces.clear()
            return
        place = self._place
        numbers = [-1 if value is None else place.setdefault(value, len(place)) for value in levels]
        lookup = np.array([*numbers, -1], _code_type(len(place)))  # the last is that of -1
        self._pieces.append(lookup[codes])

    @cached_property
    def parsed(self) -> Parsed | None:
        """How too many levels are read as numbers or dates; asked for once they are too many."""
        if not self.too_many:
            return None
        levels = list(self._place)
        found = parse_levels(levels, np.ones(len(levels), np.int64))
        if found is not None:
            values = np.append(found.values, np.nan)
            self._pieces = [values[piece] for piece in self._pieces]
        return found

    def numbers(self) -> NDArray[np.float64]:
        """The column, where it was parsed."""
        return np.concatenate(self._pieces)

    def finish(self) -> tuple[NDArray[Any], list[Any]]:
        """The codes, -1 where missing, and the levels that occur, in order."""
        codes = np.concatenate([np.empty(0, np.int8), *self._pieces])
        found = np.bincount(codes[codes >= 0], minlength=len(self._place)) > 0
        levels = sorted(value for value, place in self._place.items() if found[place])
        lookup = np.full(len(self._place) + 1, -1, _code_type(len(levels)))
        lookup[[self._place[value] for value in levels]] = np.arange(len(levels))
        return lookup[codes], levels


def _code_type(n_levels: int) -> Any:
    return np.int8 if n_levels <= 2**7 else np.int16 if n_levels <= 2**15 else np.int32
