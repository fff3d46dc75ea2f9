"""Files, folders of Parquet files and data sets of pyarrow, as blocks of rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data._objects import refuse_inexact
from bestk.data.files import Source, find_columns, open_source
from bestk.data.files._arrow import arrow, role_of, telling
from bestk.data.files._batch import ArrowBatch
from bestk.data.files._binary import BinarySource, column_types
from bestk.data.files._columns import Words
from bestk.data.files._long import long_columns, may_be_long
from bestk.data.files._rounded import is_unsure
from bestk.data.files._source import PIECE, Report
from bestk.data.table import Block, Table
from bestk.data.whole import beyond


@dataclass(frozen=True)
class FileBlocks:
    """The rows of a source that have a target."""

    source: Source
    names: list[str]  # of the features, and last of the target

    @classmethod
    def of(cls, X: Any, target: str) -> "FileBlocks":
        """Open a file, a folder or a data set."""
        source = open_files(X)
        return cls(source, [*find_columns(source, target), target])

    def mended(self) -> "FileBlocks":
        """The same with types that hold for all rows."""
        return replace(self, source=self.source.checked(self.names))

    @cached_property
    def sure(self) -> "FileBlocks":
        """The same with types that hold for all rows, found once."""
        return self.mended()

    def __iter__(self) -> Iterator[tuple[Table, NDArray[Any]]]:
        unsure = is_unsure(self.source)
        for done, (table, y) in enumerate(self._parts()):
            if unsure and _may_be_rounded(table, y):
                yield from islice(self.sure._parts(), done, None)  # those before were exact
                return
            yield table, y

    def _parts(self) -> Iterator[tuple[Table, NDArray[Any]]]:
        roles = [role_of(self.source.types[name]) for name in self.names]
        for batch in self.source.batches(self.names):
            last = len(self.names) - 1
            known = batch.known(last)
            batch = batch if known.all() else batch.keep(known)
            yield self._table(batch, roles), self._target(batch, last, roles[-1])

    def _table(self, batch: ArrowBatch, roles: Sequence[Any]) -> Table:
        blocks: list[Block] = []
        numeric = [j for j, role in enumerate(roles[:-1]) if role in ("number", "date")]
        if batch.num_rows and (columns := numeric):
            blocks += self._numbers(batch, columns)
        if batch.num_rows and (columns := [j for j, r in enumerate(roles[:-1]) if r == "boolean"]):
            blocks.append(Block(np.array(columns), "boolean", batch.matrix(columns)))
        for j, role in enumerate(roles[:-1]):
            if role in ("text", "category"):
                words = Words()
                words.add(*batch.coded(j))
                codes, levels = words.finish()
                kind = "categorical" if role == "category" else "string"
                blocks.append(Block(np.array([j]), kind, codes[:, None], [levels]))  # type: ignore[arg-type]
        return Table(batch.num_rows, self.names[:-1], tuple(blocks))

    def _numbers(self, batch: ArrowBatch, columns: list[int]) -> Iterator[Block]:
        """Numbers side by side, but for integers that would be rounded there.

        Floats of one block may be those of another, so that integers with gaps are refused.
        """
        values = batch.matrix(columns)
        types = [self.source.types[self.names[j]] for j in columns]
        long = long_columns(values, [at for at, type_ in enumerate(types) if may_be_long(type_)])
        for at in long:
            whole, known = batch.integers(columns[at])
            if not known.all():
                refuse_inexact(whole[known], self.names[columns[at]])
            yield Block(np.array([columns[at]]), "numeric", whole[:, None])
        short = np.setdiff1d(np.arange(len(columns)), long)
        if len(short):
            kept = values[:, short] if long else values
            yield Block(np.array(columns)[short], "numeric", kept)

    def _target(self, batch: ArrowBatch, column: int, role: Any) -> NDArray[Any]:
        """Classes, or numbers; whole ones as integers."""
        if role in ("text", "category"):
            words = Words()
            words.add(*batch.coded(column))
            codes, levels = words.finish()
            labels = np.empty(len(levels), dtype=object)
            labels[:] = levels
            return labels[codes]
        if may_be_long(self.source.types[self.names[column]]):
            return batch.integers(column)[0]
        return batch.values(column)


def _may_be_rounded(table: Table, y: NDArray[Any]) -> bool:
    blocks = [block.values for block in table.blocks if block.kind == "numeric"]
    floats = [values for values in (*blocks, y[:, None]) if values.dtype.kind == "f"]
    return any(len(values) and len(beyond(values)) for values in floats)


def open_files(X: Any) -> Source:
    """The table in a file, in the Parquet files of a folder, or in a data set of pyarrow."""
    if isinstance(X, str | Path) and not Path(X).is_dir():
        return open_source(X)
    if isinstance(X, str | Path):
        path = Path(X)
        with telling(path, "a folder of Parquet files"):
            X = arrow("dataset").dataset(path, format="parquet")
    else:
        path = Path("the data set")
    return DatasetSource(path, column_types(X.schema, path), dataset=X)


@dataclass(frozen=True)
class DatasetSource(BinarySource):
    """A data set of pyarrow: many files of one schema."""

    dataset: Any = None

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[ArrowBatch]:
        """Yield batches of some columns, in that order."""
        rows = max(1, PIECE // max(1, len(columns)))
        options = {"batch_size": rows, "batch_readahead": 2, "fragment_readahead": 1}
        with telling(self.path, "a data set"):
            for batch in self.dataset.to_batches(columns=list(columns), **options):
                yield ArrowBatch(batch.select(list(columns)))
