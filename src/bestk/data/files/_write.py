"""A file with some columns of another; what stood there before stays until all is written."""

import csv
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import IO, Any

from bestk.data.files._arrow import WrongTypeError, arrow
from bestk.data.files._batch import ArrowBatch
from bestk.data.files._formulas import Formulas
from bestk.data.files._open import FORMATS
from bestk.data.files._source import Report, Source
from bestk.data.files._text import TextSource


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
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is no plain file, and is not replaced; give another name")
    part = path.with_name(f".bestk-{token_hex(8)}.part")  # not by process: containers reuse ids
    try:
        _create(part, path)
        yield part
        os.replace(part, path)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            part.unlink()


def _create(part: Path, path: Path) -> None:
    """Create a file with the permissions of the one it will replace."""
    try:
        part.touch(exist_ok=False)
        if path.exists():
            part.chmod(S_IMODE(path.stat().st_mode))
    except OSError as error:
        raise ValueError(f"cannot write to {path.parent}: {error.strerror}") from error


def copy_columns(
    source: Source, columns: Sequence[str], path: Path, suffix: str,
    report: Report | None = None, formulas: Formulas | None = None,
) -> None:  # fmt: skip
    """Write some columns of a table to ``path``, in the format of a suffix."""
    kind, names = FORMATS[suffix], list(columns)
    if kind == "text":
        _write_text(source, names, path, suffix, report, formulas or Formulas())
        return
    write = {"parquet": _write_parquet, "arrow": _write_arrow}[kind]
    if not isinstance(source, TextSource):
        write(_records(source.batches(names, report)), path, suffix)
        return
    try:  # the types of the first rows say more, but may not hold for all
        write(_records(source.batches(names, report, source.guess)), path, suffix)
    except WrongTypeError:
        checked = source.checked(names)
        write(_records(checked.batches(names, report)), path, suffix)


def _records(batches: Iterable[ArrowBatch]) -> Iterator[Any]:
    return (batch.batch.replace_schema_metadata(None) for batch in batches)


def _write_text(
    source: Source, columns: list[str], path: Path, suffix: str, report: Report | None,
    formulas: Formulas,
) -> None:  # fmt: skip
    """Write lines; those of a text file keep its spelling of every value."""
    batches: Iterable[ArrowBatch]
    if isinstance(source, TextSource):
        batches = source.batches(columns, report, types={})
    else:
        batches = source.batches(columns, report)
    with _open_text(path, zipped=suffix.endswith(".gz")) as file:
        writer = csv.writer(file, delimiter="\t" if ".tsv" in suffix else ",", lineterminator="\n")
        writer.writerow(formulas.watch(columns))
        for batch in batches:
            cells = (formulas.watch(batch.spelled(place)) for place in range(len(columns)))
            writer.writerows(zip(*cells, strict=True))


def _open_text(path: Path, *, zipped: bool) -> IO[str]:
    if zipped:
        return gzip.open(path, "wt", encoding="utf-8", newline="")
    return path.open("w", encoding="utf-8", newline="")


def _write_parquet(batches: Iterable[Any], path: Path, suffix: str) -> None:
    """Write a row group for each few batches, so that memory stays small."""
    writer = None
    try:
        for batch in batches:
            writer = writer or arrow("parquet").ParquetWriter(path, batch.schema)
            writer.write_batch(batch)
    finally:
        if writer is not None:
            writer.close()


def _write_arrow(batches: Iterable[Any], path: Path, suffix: str) -> None:
    """Write one table, whose categories are the same throughout as the format demands."""
    pa = arrow()
    table = pa.Table.from_batches(list(batches)).unify_dictionaries()
    options = pa.ipc.IpcWriteOptions(compression="lz4" if suffix == ".feather" else None)
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, table.schema, options=options) as w,
    ):
        w.write_table(table)
