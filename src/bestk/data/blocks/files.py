"""Files, folders of Parquet files and data sets of pyarrow, as blocks of rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.files import Source, find_columns, open_source
from bestk.data.files._arrow import (
    arrow,
    categories,
    is_whole,
    known,
    numbers,
    plain_errors,
    role_of,
)
from bestk.data.files._load import Words
from bestk.data.files._sources import PIECE, Report, column_types
from bestk.data.objects import Kind, exceeding
from bestk.data.table import Table, side_by_side


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

    def __iter__(self) -> Iterator[tuple[Table, NDArray[Any]]]:
        for batch in self.source.batches(self.names):
            there = known(batch.column(len(self.names) - 1))
            batch = batch if there.all() else batch.filter(arrow().array(there))
            yield self._table(batch), self._target(batch)

    def _table(self, batch: Any) -> Table:
        *names, _ = self.names
        columns = (self._column(batch.column(j), j) for j in range(len(names)))
        blocks = tuple(side_by_side(columns)) if batch.num_rows else ()
        return Table(batch.num_rows, names, blocks)

    def _column(self, column: Any, j: int) -> tuple[int, Kind, NDArray[Any], list[Any] | None]:
        """The place, kind, values and categories of a column."""
        name = self.names[j]
        type_ = self.source.types[name]
        role = role_of(type_)
        if role in ("text", "category"):
            kind: Kind = "categorical" if role == "category" else "string"
            return j, kind, *_read_words(column).finish()
        values = numbers(column)
        if is_whole(type_) and len(exceeding(values[:, None])):
            exact = numbers(column.fill_null(0))  # refused if the column is used
            return j, "numeric", exact.astype(np.int64), None
        self.source.check_exact(name, values)
        floats = values.astype(np.float64, copy=False)
        return j, "boolean" if role == "boolean" else "numeric", floats, None

    def _target(self, batch: Any) -> NDArray[Any]:
        """Classes, or numbers; whole ones as integers."""
        name, column = self.names[-1], batch.column(len(self.names) - 1)
        if role_of(self.source.types[name]) in ("text", "category"):
            return _read_words(column).labels()
        values = numbers(column)
        self.source.check_exact(name, values)
        return values


def _read_words(column: Any) -> Words:
    words = Words()
    words.add(*categories(column))
    return words


def open_files(X: Any) -> Source:
    """The table in a file, in the Parquet files of a folder, or in a data set of pyarrow."""
    if isinstance(X, str | Path) and not Path(X).is_dir():
        return open_source(X)
    if isinstance(X, str | Path):
        path = Path(X)
        with plain_errors(path, "a folder of Parquet files"):
            X = arrow("dataset").dataset(path, format="parquet")
    else:
        path = Path("the data set")
    return DatasetSource(path, column_types(X.schema, path), dataset=X)


@dataclass(frozen=True)
class DatasetSource(Source):
    """A data set of pyarrow: many files of one schema."""

    dataset: Any = None

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield batches of some columns, in that order."""
        rows = max(1, PIECE // max(1, len(columns)))
        options = {"batch_size": rows, "batch_readahead": 2, "fragment_readahead": 1}
        with plain_errors(self.path, "a data set"):
            for batch in self.dataset.to_batches(columns=list(columns), **options):
                yield batch.select(list(columns))
