"""A file as the table that features are selected from, and its target."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bestk._typing import Array
from bestk.data.codes import MAX_LEVELS
from bestk.data.files._sources import (
    FORMATS,
    DatasetSource,
    ParquetSource,
    Report,
    Source,
    WrongTypeError,
    arrow,
    coded,
    find_columns,
    is_whole,
    numbers,
    role_of,
    suffix_of,
)
from bestk.data.files._text import TextSource
from bestk.data.frames import MAX_EXACT, exceeding, inexact
from bestk.data.objects import Kind
from bestk.data.table import Block, Table, side_by_side
from bestk.data.written import parse_levels, parse_text
from bestk.errors import DataError

MAX_PARQUET_COLUMNS = 2_048  # read at once: few rows of all columns would cost as much as all rows
MAX_BUFFERED = 2**24  # numbers that wait until they are converted, column by column
LOOK = 1_000  # texts that show whether a column of very many may hold numbers
NARROW: dict[str, Any] = {"f": (np.uint8, np.int16, np.float32)}
NARROW |= dict.fromkeys("iu", (np.uint8, np.int16, np.int32))
TOO_MANY = f"text of over {MAX_LEVELS} different values"


def open_source(path: str | Path) -> Source:
    r"""Open the table in a file, by its suffix; no more than its beginning is read."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file")
    suffix = suffix_of(path)
    with path.open("rb") as file:
        if not file.read(1):
            raise DataError(f"{path} is empty; a table needs a line of names and rows below it")
    source: Source
    if FORMATS[suffix] == "text":
        source = TextSource.open(path, suffix)
    elif FORMATS[suffix] == "parquet":
        source = ParquetSource.open(path)
    else:
        source = DatasetSource.open(path, "ipc")
    if not source.types:
        raise DataError(f"{path} has no column with a name")
    return source


@dataclass(frozen=True)
class Loaded:
    """The features and the target of a file."""

    source: Source
    table: Table
    y: Array
    target: str
    notes: tuple[str, ...]  # what was left out, and why
    of_rows: dict[str, Array] = field(default_factory=dict)  # such as their groups


def load(
    source: Source, target: str, exclude: Iterable[str] = (), report: Report | None = None
) -> Loaded:
    """Read a target and all features but the excluded ones; rows without a target are left out.

    Numbers are kept in the smallest type that holds each column exactly, text as codes.
    """
    names = find_columns(source, target, exclude)
    width = MAX_PARQUET_COLUMNS if isinstance(source, ParquetSource) else len(names)
    groups = [[*names[i : i + width], target] for i in range(0, len(names), width)]
    parts = []
    for done, group in enumerate(groups):
        part_report = report and _part_of(report, done, len(groups))
        try:
            parts.append(_read_columns(source, group, part_report))
        except WrongTypeError:
            source = source.checked(group, part_report)
            parts.append(_read_columns(source, group, part_report))
    tables, (y, *_), (dropped, *_) = zip(*parts, strict=True)
    table = parse_text(_join_columns(tables))
    notes = list(source.notes)
    if dropped:
        notes.append(f"left out {dropped} rows that have no {target!r}")
    text = {target, *(table.names[j] for j in np.flatnonzero(table.kinds == "string").tolist())}
    notes += [
        f"column {name!r} is read as text, because it holds {value!r}"
        for name, value in source.odd.items()
        if name in text
    ]
    many = [
        int(j)
        for block in table.blocks
        if block.kind == "string"
        for j, levels in zip(block.columns, block.categories or (), strict=True)
        if len(levels) > MAX_LEVELS
    ]
    kept = np.setdiff1d(np.flatnonzero([kind is not None for kind in table.kinds]), many)
    notes += [f"left out {names[j]!r}: {TOO_MANY}" for j in np.delete(np.arange(len(names)), kept)]
    table = table if len(kept) == len(names) else table.keep(kept)
    return Loaded(source, table, y, target, (*notes, *table.notes))


def _part_of(report: Report, place: int, n: int) -> Report:
    return lambda done, total: report(place * total + done, n * total)


def _read_columns(
    source: Source, names: Sequence[str], report: Report | None
) -> tuple[Table, Array, int]:
    """The features, the target, and the number of rows that were left out."""
    columns = Columns(source, names)
    for batch in _buffered(source.batches(names, report), len(names)):
        columns.add(batch)
    if not columns.rows:
        came = "no row with a target" if columns.dropped else "no rows"
        raise DataError(f"{source.path} has {came}; nothing can be selected")
    return columns.table(), columns.target(), columns.dropped


def read_parts(source: Source, names: Sequence[str]) -> Iterator[tuple[Table, Array]]:
    """Blocks of the rows that have a target, which is the last of the columns."""
    for batch in source.batches(names):
        columns = Columns(source, names, whole=False)
        columns.add(batch)
        yield columns.table(), columns.target()


def _join_columns(tables: Sequence[Table]) -> Table:
    blocks: list[Block] = []
    names: list[str] = []
    for table in tables:
        blocks += [replace(block, columns=block.columns + len(names)) for block in table.blocks]
        names += table.names
    return Table(tables[0].n_samples, names, tuple(blocks))


def _buffered(batches: Iterable[Any], n_columns: int) -> Iterator[Any]:
    """The same rows in few large batches, since each column of a batch costs a call."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) * n_columns >= MAX_BUFFERED:
            yield from _combined(waiting)
            waiting = []
    if waiting:
        yield from _combined(waiting)


def _combined(batches: list[Any]) -> list[Any]:
    if len(batches) == 1:
        return batches
    table = arrow().Table.from_batches(batches).unify_dictionaries()
    return list(table.combine_chunks().to_batches())


class Columns:
    """The columns of a source, the last of them the target, as they are read.

    Of a ``whole`` table numbers are narrowed, and text of too many levels is given up.
    """

    def __init__(self, source: Source, names: Sequence[str], whole: bool = True) -> None:
        self.source, self.names, self.whole, self.rows, self.dropped = source, names, whole, 0, 0
        self.is_text = [role_of(source.types[name]) in ("text", "category") for name in names]
        self.pieces: list[list[Any]] = [[] for _ in names]  # arrays, or dictionary arrays of text

    def add(self, batch: Any) -> None:
        """Append the rows of a batch that have a target."""
        compute, last = arrow("compute"), batch.column(len(self.names) - 1)
        known = compute.invert(compute.is_null(last, nan_is_null=True))
        n_known = compute.sum(known).as_py() or 0
        if n_known < batch.num_rows:
            batch = batch.filter(known)
        self.rows, self.dropped = self.rows + n_known, self.dropped + len(known) - n_known
        for pieces, is_text, column in zip(self.pieces, self.is_text, batch.columns, strict=True):
            if is_text:
                pieces.append(coded(column))
            else:
                pieces.append(narrowest(numbers(column)) if self.whole else numbers(column))

    def target(self) -> Array:
        """Classes, or numbers; whole ones as integers."""
        name = self.names[-1]
        if self.is_text[-1]:
            codes, texts = _codes(self.pieces[-1])
            if self.whole and len(texts) > MAX_LEVELS:
                why = f"{TOO_MANY}, so it holds no classes; is it an identifier?"
                raise DataError(f"the target {name!r} is {why}")
            labels = np.empty(len(texts), dtype=object)
            labels[:] = texts.to_pylist()
            return labels[codes]
        y = np.concatenate(self.pieces[-1])
        if self._is_inexact(name, y):
            raise inexact(name)
        if not self.whole or y.dtype == np.uint64:
            return y
        whole = y.dtype.kind != "f" or ((y == np.floor(y)) & (np.abs(y) < MAX_EXACT)).all()
        return y.astype(np.int64 if whole else np.float64)

    def table(self) -> Table:
        """The features; text that was given up has no block."""
        blocks = tuple(side_by_side(self._columns())) if self.rows else ()
        return Table(self.rows, self.names[:-1], blocks)

    def _columns(self) -> Iterator[tuple[int, Kind, Array, list[Any] | None]]:
        """The place, kind, values and categories of each feature; its pieces are dropped."""
        for j, name in enumerate(self.names[:-1]):
            role = role_of(self.source.types[name])
            pieces, self.pieces[j] = self.pieces[j], []
            if not self.is_text[j]:
                values = np.concatenate(pieces)
                if self._is_inexact(name, values):  # refused if the column is used
                    values = np.clip(np.nan_to_num(values), -(2.0**62), 2.0**62).astype(np.int64)
                boolean = role == "boolean"
                values = values.view(bool) if boolean and values.dtype == np.uint8 else values
                yield j, "boolean" if boolean else "numeric", values, None
                continue
            codes, texts = _codes(pieces)
            if (
                not self.whole
                or len(texts) <= MAX_LEVELS
                or (role == "text" and _may_be_numbers(texts))
            ):
                kind: Kind = "categorical" if role == "category" else "string"
                yield j, kind, *_sorted_levels(codes, texts.to_pylist())

    def _is_inexact(self, name: str, values: Array) -> bool:
        """Whether whole numbers are floats that cannot represent them; text files are re-read."""
        if values.dtype.kind != "f" or not is_whole(self.source.type_in_file(name)):
            return False
        found = bool(len(exceeding(values[:, None])))
        if found and isinstance(self.source, TextSource):
            raise WrongTypeError(f"{name!r} holds whole numbers of 2**53 or more")
        return found


def _codes(pieces: Sequence[Any]) -> tuple[Array, Any]:
    """The codes of a column of text or categories, -1 where missing, and the texts, as arrow."""
    chunks = arrow().chunked_array(pieces).unify_dictionaries().chunks
    codes = [each.indices.fill_null(-1).to_numpy(zero_copy_only=False) for each in chunks]
    return np.concatenate(codes), chunks[0].dictionary


def _sorted_levels(codes: Array, texts: list[Any]) -> tuple[Array, list[Any]]:
    """The same codes for the levels that occur, in order."""
    found = np.bincount(codes[codes >= 0], minlength=len(texts)) > 0
    levels = sorted({t for t, yes in zip(texts, found, strict=True) if yes and t is not None})
    place = {text: code for code, text in enumerate(levels)}
    dtype = np.min_scalar_type(-max(1, len(levels)))
    lookup = np.array([*(place.get(text, -1) for text in texts), -1], dtype)  # the last is of -1
    return lookup[codes], levels


def _may_be_numbers(texts: Any) -> bool:
    """Whether very many texts may be numbers or dates, as some of them show."""
    some = texts.take(arrow().array(np.arange(0, len(texts), len(texts) // LOOK + 1))).to_pylist()
    return parse_levels(some, np.ones(len(some), np.int64)) is not None


def narrowest(values: Array) -> Array:
    """The values in the smallest of a few types that holds them exactly."""
    with np.errstate(over="ignore", invalid="ignore"):
        for dtype in NARROW[values.dtype.kind]:
            narrow = values.astype(dtype)
            if np.array_equal(narrow, values, equal_nan=dtype == np.float32):
                return narrow
    return values
