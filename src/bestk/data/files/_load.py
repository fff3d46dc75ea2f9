"""A file as the table that features are selected from, and its target."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bestk._typing import Array, Floats
from bestk.data.codes import MAX_LEVELS
from bestk.data.files._arrow import (
    WrongTypeError,
    arrow,
    categories,
    known,
    numbers,
    role_of,
)
from bestk.data.files._open import find_columns
from bestk.data.files._sources import ParquetSource, Report, Source
from bestk.data.objects import MAX_EXACT, Kind
from bestk.data.table import Block, Table, side_by_side
from bestk.data.written import Parsed, notes_on, parse_levels, parse_values
from bestk.errors import DataError

MAX_PARQUET_COLUMNS = 2_048  # read at once: few rows of all columns would cost as much as all rows
MAX_BUFFERED = 2**24  # numbers that wait until they are converted, column by column
NARROW: dict[str, Any] = {"f": (np.uint8, np.int16, np.float32)}
NARROW |= dict.fromkeys("iu", (np.uint8, np.int16, np.int32))


@dataclass(frozen=True)
class Loaded:
    """The features and the target of a file."""

    source: Source
    table: Table
    y: Array
    target: str
    notes: tuple[str, ...]  # what was left out, and why


def load(
    source: Source, target: str, exclude: Iterable[str] = (), report: Report | None = None
) -> Loaded:
    """Read a target and all features but the excluded ones; rows without a target are left out.

    Numbers are kept in the smallest type that holds each column exactly, text as codes.
    """
    names = find_columns(source, target, exclude)
    if not isinstance(source, ParquetSource):
        return _read_twice(source, [*names, target], report)
    starts = range(0, len(names), MAX_PARQUET_COLUMNS)
    groups = [[*names[start : start + MAX_PARQUET_COLUMNS], target] for start in starts]
    parts = [
        _Columns(source, group).read(batches)
        for group, batches in zip(groups, source.grouped(groups, report), strict=True)
    ]
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return replace(parts[0], table=_join_tables([p.table for p in parts]), notes=tuple(notes))


def _read_twice(source: Source, columns: list[str], report: Report | None) -> Loaded:
    """Read some columns; once more where the types prove wrong."""
    with suppress(WrongTypeError):
        return _Columns(source, columns).read(source.batches(columns, report))
    source = source.checked(columns, report)
    return _Columns(source, columns).read(source.batches(columns, report))


def _join_tables(tables: list[Table]) -> Table:
    blocks: list[Block] = []
    names: list[str] = []
    for table in tables:
        blocks += [replace(block, columns=block.columns + len(names)) for block in table.blocks]
        names += table.names
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return Table(tables[0].n_samples, names, tuple(blocks), tuple(notes))


def count_rows(source: Source, column: str) -> int:
    """Count the rows of a file by reading one of its columns."""
    return sum(batch.num_rows for batch in source.as_text([column]))


class _Columns:
    """The columns of a source, the last of them the target, as they are read."""

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        self.source, self.names, self.rows, self.dropped = source, list(names), 0, 0
        self.roles = [role_of(source.types[name]) for name in names]
        is_text = [role in ("text", "category") for role in self.roles]
        self.words = {j: Words() for j, text in enumerate(is_text) if text}
        self.pieces: dict[int, list[Array]] = {j: [] for j, text in enumerate(is_text) if not text}
        self.waiting: list[Any] = []

    def read(self, batches: Iterable[Any]) -> Loaded:
        """Read all batches."""
        for batch in batches:
            there = known(batch.column(len(self.names) - 1))
            self.dropped += int((~there).sum())
            self._add(batch if there.all() else batch.filter(arrow().array(there)))
        if not self.rows:
            came = "no row with a target" if self.dropped else "no rows"
            raise DataError(f"{self.source.path} has {came}; nothing can be selected")
        self._convert_numbers()
        return self._loaded()

    def _add(self, batch: Any) -> None:
        self.rows += batch.num_rows
        for j, words in self.words.items():
            words.add(*categories(batch.column(j)))
        if self.pieces and batch.num_rows:
            self.waiting.append(batch.select(list(self.pieces)))
            if sum(each.num_rows for each in self.waiting) * len(self.pieces) >= MAX_BUFFERED:
                self._convert_numbers()

    def _convert_numbers(self) -> None:
        if self.waiting:
            table = arrow().Table.from_batches(self.waiting).combine_chunks()
            for pieces, column in zip(self.pieces.values(), table.columns, strict=True):
                pieces.append(narrowest(numbers(column.chunk(0))))
            self.waiting.clear()

    def _loaded(self) -> Loaded:
        *features, name = self.names
        notes = list(self.source.notes)
        if self.dropped:
            notes.append(f"left out {self.dropped} rows that have no {name!r}")
        y = self._target(len(features))
        gone = [j for j, words in self.words.items() if words.too_many and not words.parsed]
        told = f"text of over {MAX_LEVELS} different values"
        notes += [f"left out {features[j]!r}: {told}" for j in gone]
        parsed = {j: words.parsed for j, words in self.words.items() if words.parsed}
        blocks = (*self._number_blocks(), *side_by_side(self._word_columns()))
        table = Table(self.rows, features, blocks, tuple(notes_on(features, parsed)))
        if gone:
            table = table.keep(np.setdiff1d(np.arange(len(features)), gone))
        return Loaded(self.source, table, y, name, tuple(notes))

    def _target(self, j: int) -> Array:
        if j in self.pieces:
            y = self._numbers(j)
            if y.dtype.kind == "f":
                whole = ((y == np.floor(y)) & (np.abs(y) < MAX_EXACT)).all()
                return y.astype(np.int64 if whole else np.float64)
            return y if y.dtype == np.uint64 else y.astype(np.int64)
        words = self.words.pop(j)
        if words.too_many:
            raise DataError(
                f"the target {self.names[j]!r} is text of over {MAX_LEVELS} different "
                "values, so it holds no classes; is it an identifier?"
            )
        return words.labels()

    def _numbers(self, j: int) -> Array:
        """A column of numbers; its pieces are dropped."""
        values = np.concatenate(self.pieces.pop(j))
        self.source.check_exact(self.names[j], values)
        return values

    def _number_blocks(self) -> Iterator[Block]:
        groups: dict[tuple[bool, Any], list[int]] = defaultdict(list)
        for j, pieces in self.pieces.items():
            dtype = np.result_type(*(piece.dtype for piece in pieces))
            groups[self.roles[j] == "boolean", dtype].append(j)
        for (is_boolean, dtype), places in groups.items():
            values = np.empty((len(places), self.rows), dtype)
            for row, j in zip(values, places, strict=True):
                row[:] = self._numbers(j)
            values = values.view(bool) if is_boolean and dtype == np.uint8 else values
            yield Block(np.array(places), "boolean" if is_boolean else "numeric", values.T)

    def _word_columns(self) -> Iterator[tuple[int, Kind, Array, list[Any] | None]]:
        for j, words in self.words.items():
            if words.parsed:
                yield j, "numeric", words.numbers(), None
            elif not words.too_many:
                kind: Kind = "categorical" if self.roles[j] == "category" else "string"
                yield j, kind, *words.finish()


def narrowest(values: Array) -> Array:
    """The values in the smallest of a few types that holds them exactly.

    Examples
    --------
    >>> narrowest(np.array([1.0, 300.0])).dtype, narrowest(np.array([0.5, np.nan])).dtype
    (dtype('int16'), dtype('float32'))
    """
    with np.errstate(over="ignore", invalid="ignore"):
        for dtype in NARROW[values.dtype.kind]:
            narrow = values.astype(dtype)
            if np.array_equal(narrow, values, equal_nan=dtype == np.float32):
                return narrow
    return values


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
        self._pieces: list[Array] = []

    @property
    def too_many(self) -> bool:
        """Whether there are more levels than can be counted."""
        return len(self._place) > MAX_LEVELS

    def add(self, codes: Array, levels: Sequence[Any]) -> None:
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

    def numbers(self) -> Floats:
        """The column, where it was parsed."""
        return np.concatenate(self._pieces)

    def labels(self) -> Array:
        """The texts or categories themselves, none of them missing."""
        codes, levels = self.finish()
        labels = np.empty(len(levels), dtype=object)
        labels[:] = levels
        return labels[codes]

    def finish(self) -> tuple[Array, list[Any]]:
        """The codes, -1 where missing, and the levels that occur, in order."""
        codes = np.concatenate([np.empty(0, np.int8), *self._pieces])
        found = np.bincount(codes[codes >= 0], minlength=len(self._place)) > 0
        levels = sorted(value for value, place in self._place.items() if found[place])
        lookup = np.full(len(self._place) + 1, -1, _code_type(len(levels)))
        lookup[[self._place[value] for value in levels]] = np.arange(len(levels))
        return lookup[codes], levels


def _code_type(n_levels: int) -> Any:
    return np.int8 if n_levels <= 2**7 else np.int16 if n_levels <= 2**15 else np.int32
