"""A file with some columns of another; what was there before stays until all is written."""

import csv
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import Any

from bestk.data.files._sources import FORMATS, Report, Source, WrongTypeError, arrow
from bestk.data.files._text import TextSource
from bestk.errors import DataError

STARTS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four are full-width


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a file to write to, which takes its place at ``path`` once all went well."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file to write")
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is no plain file, and is not replaced; give another name")
    part = path.with_name(f".bestk-{token_hex(8)}.part")  # mkstemp would ignore the umask
    try:
        part.touch(exist_ok=False)
        if path.exists():
            part.chmod(S_IMODE(path.stat().st_mode))
    except OSError as error:
        raise DataError(f"cannot write to {path.parent}: {error.strerror}") from error
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            part.unlink()


@dataclass
class Formulas:
    """Finds cells that a spreadsheet would run as formulas, counts them, and can escape them."""

    escape: bool = False
    found: int = 0

    def watch(self, cells: Iterable[str | None]) -> list[str | None]:
        """The cells as they are to be written."""
        return [self._seen(cell) if cell and cell[0] in STARTS else cell for cell in cells]

    def _seen(self, cell: str) -> str:
        with suppress(ValueError):
            float(cell)
            return cell
        self.found += 1
        return f"'{cell}" if self.escape else cell


def copy_columns(
    source: Source, columns: Sequence[str], path: Path, suffix: str,
    report: Report | None = None, formulas: Formulas | None = None,
) -> None:  # fmt: skip
    """Write some columns of a table to ``path``, in the format of a suffix."""
    names = list(columns)
    if FORMATS[suffix] == "text":
        rows = _spelled_rows(source.as_text(names, report), names, formulas or Formulas())
        opened = gzip.open if suffix.endswith(".gz") else open
        with opened(path, "wt", encoding="utf-8", newline="") as file:
            delimiter = "\t" if ".tsv" in suffix else ","
            csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
        return
    batches: Iterable[Any] = source.batches(names, report)
    if isinstance(source, TextSource):
        try:  # the types of the first rows say more, but may not hold for all
            batches = list(source.batches(names, report, source.inferred))
        except WrongTypeError:
            batches = source.checked(names).batches(names, report)
    table = arrow().Table.from_batches(batches).replace_schema_metadata(None).unify_dictionaries()
    if FORMATS[suffix] == "parquet":
        arrow("parquet").write_table(table, path)
    else:
        compression = "lz4" if suffix == ".feather" else "uncompressed"
        arrow("feather").write_feather(table, str(path), compression)


def _spelled_rows(
    batches: Iterable[Any], names: list[str], formulas: Formulas
) -> Iterator[Iterable[str | None]]:
    yield formulas.watch(names)
    for batch in batches:
        columns = []
        for column in batch.columns:
            words = column.dictionary_decode() if hasattr(column, "indices") else column
            columns.append(formulas.watch(words.cast("string").to_pylist()))
        yield from zip(*columns, strict=True)
