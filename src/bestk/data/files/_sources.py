"""Parquet, Feather and Arrow IPC files: their types, and their rows a piece at a time."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bestk._typing import Array
from bestk.data.files._arrow import arrow, is_whole, plain_errors
from bestk.data.frames import refuse_twins
from bestk.data.objects import check_exact

Report = Callable[[int, int], None]  # how much is done, and of how much
PIECE = 2**22  # values converted at once: 32 MiB as float64


@dataclass(frozen=True)
class Source:
    """A table in a file, whose types are known."""

    path: Path
    types: dict[str, Any]  # the arrow type of each column, by name
    notes: tuple[str, ...] = ()  # how columns are read, where that may surprise

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield record batches of some columns, in that order."""
        raise NotImplementedError

    def checked(self, columns: Sequence[str], report: Report | None = None) -> Self:
        """The same table, with types that hold for all rows of some columns."""
        return self

    def check_exact(self, name: str, values: Array) -> None:
        """Refuse whole numbers that were converted to float64, and cannot be represented there."""
        if values.dtype.kind == "f" and is_whole(self.types[name]):
            check_exact(values[:, None], [name])

    def as_text(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield batches of some columns that are to be written as text."""
        return self.batches(columns, report)


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the names and types of the columns."""
        with plain_errors(path, "a Parquet table"), arrow("parquet").ParquetFile(path) as file:
            return cls(path, column_types(file.schema_arrow, path))

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield record batches of some columns, in that order."""
        for batches in self.grouped([columns], report):
            yield from batches

    def grouped(
        self, groups: Sequence[Sequence[str]], report: Report | None = None
    ) -> Iterator[Iterator[Any]]:
        """Yield the batches of each group of columns; the file is opened once."""
        with (
            plain_errors(self.path, "a Parquet table"),
            arrow("parquet").ParquetFile(self.path) as file,
        ):
            for place, group in enumerate(groups):
                yield self._group(file, list(group), report, (place, len(groups)))

    def _group(
        self, file: Any, columns: list[str], report: Report | None, place: tuple[int, int]
    ) -> Iterator[Any]:
        """Yield the batches of the first, second, ... of so many groups."""
        n_rows = file.metadata.num_rows
        done, total = place[0] * n_rows, place[1] * n_rows
        with plain_errors(self.path, "a Parquet table"):
            for batch in file.iter_batches(max(1, PIECE // max(1, len(columns))), columns=columns):
                yield batch.select(columns)
                done += batch.num_rows
                if report:
                    report(done, total)


@dataclass(frozen=True)
class ArrowSource(Source):
    """A Feather or Arrow IPC file, or a stream of Arrow batches."""

    fields: tuple[str, ...] = ()  # the names of all columns, in the order of the file

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the names and types of the columns."""
        with plain_errors(path, "an Arrow table"), arrow().OSFile(str(path)) as file:
            schema = _arrow_reader(file).schema
            return cls(path, column_types(schema, path), fields=tuple(schema.names))

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[Any]:
        """Yield batches of some columns, in that order; others are not read."""
        rows, size = max(1, PIECE // max(1, len(columns))), self.path.stat().st_size
        places = {name: place for place, name in enumerate(self.fields)}
        with plain_errors(self.path, "an Arrow table"), arrow().OSFile(str(self.path)) as file:
            reader = _arrow_reader(file, sorted(places[name] for name in columns))
            n = getattr(reader, "num_record_batches", None)  # not known of a stream
            batches = iter(reader) if n is None else map(reader.get_batch, range(n))
            for done, batch in enumerate(batches, 1):
                chosen = batch.select(list(columns))
                chosen.validate(full=True)  # offsets and codes of a damaged file may lead anywhere
                for start in range(0, batch.num_rows, rows):
                    yield chosen.slice(start, rows)
                if report:
                    report(*((done, n) if n else (file.tell(), size)))


def _arrow_reader(file: Any, fields: Sequence[int] | None = None) -> Any:
    ipc = arrow("ipc")
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    options = ipc.IpcReadOptions(included_fields=fields)
    return (ipc.open_file if is_file else ipc.open_stream)(file, options=options)


def column_types(schema: Any, path: Path) -> dict[str, Any]:
    """The columns of a schema, except for an index that pandas has stored."""
    stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in stored.get("index_columns", []) if isinstance(name, str)]
    refuse_twins(schema.names, path)
    return {entry.name: entry.type for entry in schema if entry.name not in index}
