"""Parquet, Feather and Arrow IPC files, which know their own types."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bestk.data.files._arrow import arrow, telling
from bestk.data.files._batch import ArrowBatch
from bestk.data.files._source import PIECE, Report
from bestk.data.table import refuse_twins


@dataclass(frozen=True)
class BinarySource:
    """A table whose file says its types."""

    path: Path
    types: dict[str, Any]
    notes: tuple[str, ...] = ()

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same: the types hold for all rows."""
        return self


@dataclass(frozen=True)
class ParquetSource(BinarySource):
    """A Parquet file."""

    @classmethod
    def open(cls, path: Path) -> "ParquetSource":
        """Read the names and types of the columns."""
        with telling(path, "a Parquet table"), arrow("parquet").ParquetFile(path) as file:
            return cls(path, column_types(file.schema_arrow, path))

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[ArrowBatch]:
        """Yield batches of some columns, in that order."""
        rows, done = max(1, PIECE // max(1, len(columns))), 0
        with telling(self.path, "a Parquet table"), arrow("parquet").ParquetFile(self.path) as file:
            total = file.metadata.num_rows
            for batch in file.iter_batches(rows, columns=list(columns)):
                done += batch.num_rows
                yield ArrowBatch(batch.select(list(columns)))
                if report:
                    report(done, total)

    def by_columns(
        self, groups: Sequence[Sequence[str]], report: Report | None = None
    ) -> Iterator[Iterator[ArrowBatch]]:
        """Yield the batches of each group of columns; the file is opened once."""
        with telling(self.path, "a Parquet table"), arrow("parquet").ParquetFile(self.path) as file:
            for done, group in enumerate(groups, 1):
                rows = max(1, PIECE // max(1, len(group)))
                batches = file.iter_batches(rows, columns=list(group))
                yield (ArrowBatch(batch.select(list(group))) for batch in batches)
                if report:
                    report(done, len(groups))


@dataclass(frozen=True)
class ArrowSource(BinarySource):
    """A Feather or Arrow IPC file, or a stream of Arrow batches."""

    fields: tuple[str, ...] = ()  # the names of all columns, in the order of the file

    @classmethod
    def open(cls, path: Path) -> "ArrowSource":
        """Read the names and types of the columns."""
        with telling(path, "an Arrow table"), arrow().OSFile(str(path)) as file:
            schema = _reader(file).schema
            return cls(path, column_types(schema, path), fields=tuple(schema.names))

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[ArrowBatch]:
        """Yield batches of some columns, in that order; others are not read."""
        rows, size = max(1, PIECE // max(1, len(columns))), self.path.stat().st_size
        places = {name: place for place, name in enumerate(self.fields)}
        with telling(self.path, "an Arrow table"), arrow().OSFile(str(self.path)) as file:
            reader = _reader(file, sorted(places[name] for name in columns))
            total = getattr(reader, "num_record_batches", 0)  # a stream does not know
            for done, batch in enumerate(_each(reader), 1):
                chosen = batch.select(list(columns))
                chosen.validate(full=True)  # offsets and codes of a damaged file may lead anywhere
                for start in range(0, batch.num_rows, rows):
                    yield ArrowBatch(chosen.slice(start, rows))
                if report:
                    report(*((done, total) if total else (file.tell(), size)))


def _reader(file: Any, fields: Sequence[int] | None = None) -> Any:
    ipc = arrow("ipc")
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    options = ipc.IpcReadOptions(included_fields=fields)
    return (ipc.open_file if is_file else ipc.open_stream)(file, options=options)


def _each(reader: Any) -> Iterator[Any]:
    """The batches of a file, which has them by number, or of a stream."""
    if hasattr(reader, "get_batch"):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)


def column_types(schema: Any, path: Path) -> dict[str, Any]:
    """The columns of a schema, but for an index that pandas has left there."""
    stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in stored.get("index_columns", []) if isinstance(name, str)]
    refuse_twins(schema.names, path)
    return {entry.name: entry.type for entry in schema if entry.name not in index}
