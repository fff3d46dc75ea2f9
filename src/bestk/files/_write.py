"""A file with some columns of another; what stood there before stays until all is written."""

import csv
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bestk.files._arrow import WrongTypeError, arrow
from bestk.files._open import FORMATS
from bestk.files._source import Report, Source
from bestk.files._text import TextSource


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a file to write to, which takes its place at ``path`` once all went well.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, replacing(Path(folder, "new.txt")) as part:
    ...     _ = part.write_text("done")
    """
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file to write")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        raise ValueError(f"cannot write to {path.parent}: {error.strerror}") from error
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def copy_columns(
    source: Source, columns: Sequence[str], path: Path, suffix: str, report: Report | None = None
) -> None:
    """Write some columns of a table to ``path``, in the format of a suffix."""
    if FORMATS[suffix] == "text":
        _write_text(source, columns, path, suffix, report)
        return
    writers = {"parquet": _write_parquet, "arrow": _write_arrow, "packed": _write_packed}
    write = writers[FORMATS[suffix]]
    if not isinstance(source, TextSource):
        write(source.batches(columns, report), path, suffix)
        return
    try:  # the types of the first rows say more, but may not hold for all
        write(source.batches(columns, report, source.guess), path, suffix)
    except WrongTypeError:
        write(source.checked(columns).batches(columns, report), path, suffix)


def _write_text(
    source: Source, columns: Sequence[str], path: Path, suffix: str, report: Report | None
) -> None:
    """Write lines; those of a text file keep its spelling of every value."""
    if isinstance(source, TextSource):
        batches = source.batches(columns, report, types={})
    else:
        batches = source.batches(columns, report)
    with _open_text(path, zipped=suffix.endswith(".gz")) as file:
        writer = csv.writer(file, delimiter="\t" if ".tsv" in suffix else ",", lineterminator="\n")
        writer.writerow(columns)
        for batch in batches:
            writer.writerows(zip(*map(_spelled, batch.columns), strict=True))


def _open_text(path: Path, *, zipped: bool) -> IO[str]:
    if zipped:
        return gzip.open(path, "wt", encoding="utf-8", newline="")
    return path.open("w", encoding="utf-8", newline="")


def _spelled(column: Any) -> list[str | None]:
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    spelled: list[str | None] = column.cast("string").to_pylist()
    return spelled


def _write_parquet(batches: Iterable[Any], path: Path, suffix: str) -> None:
    """Write a row group for each few batches, so that memory stays small."""
    writer = None
    try:
        for batch in batches:
            schema = batch.schema.remove_metadata()
            writer = writer or arrow("parquet").ParquetWriter(path, schema)
            writer.write_batch(batch.replace_schema_metadata(None))
    finally:
        if writer is not None:
            writer.close()


def _write_arrow(batches: Iterable[Any], path: Path, suffix: str) -> None:
    """Write one table, whose categories are the same throughout as the format demands."""
    pa = arrow()
    table = pa.Table.from_batches(list(batches)).replace_schema_metadata(None).unify_dictionaries()
    options = pa.ipc.IpcWriteOptions(compression="lz4" if suffix == ".feather" else None)
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, table.schema, options=options) as w,
    ):
        w.write_table(table)


def _write_packed(batches: Iterable[Any], path: Path, suffix: str) -> None:
    """Write discrete columns, the last of them as the target."""
    from bestk.packed import pack

    table = arrow().Table.from_batches(list(batches))
    *features, target = table.column_names
    pack(table.select(features), path, table.column(target), target)
