"""A file as the table that features are selected from, and its target."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.codes import MAX_LEVELS
from bestk.data.files._arrow import WrongTypeError, role_of
from bestk.data.files._batch import ArrowBatch
from bestk.data.files._binary import ParquetSource
from bestk.data.files._columns import Numbers, Words
from bestk.data.files._long import LongColumns, may_be_long
from bestk.data.files._rounded import is_unsure, refuse_rounded
from bestk.data.files._source import Report, Source, find_columns
from bestk.data.files._text import TextSource
from bestk.data.table import Block, Table
from bestk.data.written import notes_on

WIDE, GROUP = 10_000, 2_048  # columns of a file that is read by columns, and of a group of them


@dataclass(frozen=True)
class Loaded:
    """The features and the target of a file."""

    source: Source
    table: Table
    y: NDArray[Any]
    target: str
    notes: tuple[str, ...]  # what was left out, and why


def load(
    source: Source, target: str, exclude: Iterable[str] = (), report: Report | None = None
) -> Loaded:
    """Read a target and all features but the excluded ones; rows without a target are left out.

    Numbers are kept in the smallest type that holds each column exactly, text as codes.
    """
    columns = [*find_columns(source, target, exclude), target]
    if isinstance(source, ParquetSource) and len(columns) > WIDE:
        return _load_wide(source, columns, report)
    return read_columns(source, columns, report)


def count_rows(source: Source, column: str) -> int:
    """Count the rows of a file by reading one of its columns."""
    names = [column]
    batches: Iterable[ArrowBatch]
    if isinstance(source, TextSource):
        batches = source.batches(names, types={})
    else:
        batches = source.batches(names)
    return sum(batch.num_rows for batch in batches)


def read_columns(source: Source, columns: list[str], report: Report | None = None) -> Loaded:
    """Read some columns, the last of them the target; once more where the types prove wrong."""
    with suppress(WrongTypeError):
        return _Columns(source, columns, watch=True).read(source.batches(columns, report))
    source = source.checked(columns, report)
    return _Columns(source, columns).read(source.batches(columns, report))


def _load_wide(source: ParquetSource, columns: list[str], report: Report | None) -> Loaded:
    """Read all rows of some columns after the other: few rows of all of them cost as much."""
    *names, target = columns
    groups = [[*names[start : start + GROUP], target] for start in range(0, len(names), GROUP)]
    parts = [
        _Columns(source, group).read(batches)
        for group, batches in zip(groups, source.by_columns(groups, report), strict=True)
    ]
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return replace(parts[0], table=_side_by_side([p.table for p in parts]), notes=tuple(notes))


def _side_by_side(tables: list[Table]) -> Table:
    blocks: list[Block] = []
    names: list[str] = []
    for table in tables:
        blocks += [replace(block, columns=block.columns + len(names)) for block in table.blocks]
        names += table.names
    return Table(tables[0].n_samples, names, tuple(blocks))


class _Columns:
    """The columns of a source, the last of them the target, as they are read."""

    def __init__(self, source: Source, names: Sequence[str], watch: bool = False) -> None:
        self.source, self.names, self.rows, self.dropped = source, list(names), 0, 0
        roles = [role_of(source.types[name]) for name in names]
        self.roles = roles
        features = range(len(names) - 1)
        self.numeric = [j for j in features if roles[j] in ("number", "boolean", "date")]
        self.numbers = Numbers(len(self.numeric))
        types = [source.types[name] for name in names]
        self.long = LongColumns(
            [place for place, j in enumerate(self.numeric) if may_be_long(types[j])]
        )
        self.watch = watch and is_unsure(source)
        self.words = {j: Words() for j in features if roles[j] in ("text", "category")}
        self.target: Words | list[NDArray[Any]] = (
            Words() if roles[-1] in ("text", "category") else []
        )

    def read(self, batches: Iterable[ArrowBatch]) -> Loaded:
        for batch in batches:
            self._add(batch)
        if not self.rows:
            came = "no row with a target" if self.dropped else "no rows"
            raise ValueError(f"{self.source.path} has {came}; nothing can be selected")
        return self._loaded()

    def _add(self, batch: ArrowBatch) -> None:
        last = len(self.names) - 1
        known = batch.known(last)
        if not known.all():
            self.dropped += int((~known).sum())
            batch = batch.keep(known)
        if not batch.num_rows:
            return
        if self.numeric:
            values = batch.matrix(self.numeric)
            self.numbers.add(values)
            wide = self.numbers.is_wide()
            if self.watch and wide.any():
                refuse_rounded(values if wide.all() else values[:, wide], self.source)
            self.long.add(batch, self.numeric, values, self.rows, wide)
        self.rows += batch.num_rows
        for j, words in self.words.items():
            words.add(*batch.coded(j))
        if isinstance(self.target, Words):
            self.target.add(*batch.coded(last))
        else:
            long = may_be_long(self.source.types[self.names[last]])
            y = batch.integers(last)[0] if long else batch.values(last)
            if self.watch:
                refuse_rounded(y, self.source)
            self.target.append(y)

    def _loaded(self) -> Loaded:
        y, name = self._y(), self.names[-1]
        notes = list(self.source.notes)
        if self.dropped:
            notes.append(f"left out {self.dropped} rows that have no {name!r}")
        gone = [j for j, words in self.words.items() if words.too_many and not words.parsed]
        notes += [f"left out {self.names[j]!r}: text of over {MAX_LEVELS} different values"
                  for j in gone]  # fmt: skip
        blocks = [*self._number_blocks(), *self._word_blocks()]
        parsed = {j: words.parsed for j, words in self.words.items() if words.parsed}
        said = tuple(notes_on(self.names, parsed)) if parsed else ()
        table = Table(self.rows, self.names[:-1], tuple(blocks), said)
        if gone:
            kept = np.setdiff1d(np.arange(len(table.names)), gone)
            table = table.keep(kept)
        return Loaded(self.source, table, y, name, tuple(notes))

    def _y(self) -> NDArray[Any]:
        if isinstance(self.target, Words):
            if self.target.too_many:
                raise ValueError(
                    f"the target {self.names[-1]!r} is text of over {MAX_LEVELS} different "
                    "values, so it holds no classes; is it an identifier?"
                )
            codes, levels = self.target.finish()
            labels = np.empty(len(levels), dtype=object)
            labels[:] = levels
            return labels[codes]
        y = np.concatenate(self.target)
        if y.dtype.kind == "f" and (y == np.floor(y)).all() and (np.abs(y) < 2**53).all():
            return y.astype(np.int64)
        return y

    def _number_blocks(self) -> list[Block]:
        places = np.array(self.numeric, dtype=np.intp)
        is_boolean = np.array([self.roles[j] == "boolean" for j in self.numeric], dtype=bool)
        blocks = []
        for columns, values in self.numbers.finish():
            for j in np.flatnonzero(np.isin(columns, list(self.long.pieces))):
                place = int(places[columns[j]])
                exact = self.long.exact(int(columns[j]), values[:, j], self.names[place])
                blocks.append(Block(np.array([place]), "numeric", exact[:, None]))
            short = ~np.isin(columns, list(self.long.pieces))
            if not short.all():
                columns, values = columns[short], values[:, short]
            if not len(columns):
                continue
            yes = is_boolean[columns]
            if not yes.all():
                block = Block(places[columns], "numeric", values)
                blocks.append(block.keep(~yes))
            if yes.any():
                truths = values[:, yes]
                truths = truths.astype(bool) if truths.dtype == np.uint8 else truths
                blocks.append(Block(places[columns[yes]], "boolean", truths))
        return blocks

    def _word_blocks(self) -> list[Block]:
        groups: dict[tuple[Any, Any], list[tuple[int, NDArray[Any], list[Any]]]] = {}
        numbers = []
        for j, words in self.words.items():
            if words.parsed:
                numbers.append(Block(np.array([j]), "numeric", words.numbers()[:, None]))
            elif not words.too_many:
                codes, levels = words.finish()
                groups.setdefault((self.roles[j], codes.dtype), []).append((j, codes, levels))
        return numbers + [
            Block(
                np.array([j for j, _, _ in group]),
                "categorical" if role == "category" else "string",
                np.array([codes for _, codes, _ in group]).T,
                [levels for _, _, levels in group],
            )
            for (role, _), group in groups.items()
        ]
