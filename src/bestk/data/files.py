"""A file as the table that features are selected from, and its target; files that are written."""

import csv
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import Any

import numpy as np

from bestk._typing import Array
from bestk.data.blocks import (
    SAMPLE_ROWS,
    Part,
    Reservoir,
    Sample,
    join_rows,
    join_values,
    read_rows,
    read_values,
)
from bestk.data.codes import MAX_LEVELS
from bestk.data.sources import (
    FORMATS,
    Source,
    WrongTypeError,
    arrow,
    find_columns,
    suffix_of,
)
from bestk.data.table import MAX_EXACT, Block, Table
from bestk.data.text import parse_text
from bestk.errors import DataError

MAX_COLUMNS = 2_048  # of Parquet at once: few rows of very many columns cost as much as all rows
NARROW: dict[str, Any] = {"f": (np.uint8, np.int16, np.float32)}
NARROW |= dict.fromkeys("iu", (np.uint8, np.int16, np.int32))
MANY_LEVELS = 100  # of a target; numbers of more are compared by tenths
MAX_SHIFT, MAX_SHIFT_ROWS = 0.2, 10  # by which a class of a quick sample may differ
TOO_MANY = f"text of over {MAX_LEVELS} different values"


@dataclass(frozen=True)
class Loaded:
    """The features and the target of a file."""

    source: Source
    table: Table
    y: Array
    target: str
    notes: tuple[str, ...]  # what was left out, and why
    of_rows: dict[str, Array] = field(default_factory=dict)  # such as their groups


def load(source: Source, target: str, exclude: Iterable[str] = ()) -> Loaded:
    """Read a target and all features but the excluded ones; rows without a target are left out."""
    names = find_columns(source, target, exclude)
    width = MAX_COLUMNS if FORMATS[suffix_of(source.path)] == "parquet" else len(names)
    groups = [[*names[i : i + width], target] for i in range(0, len(names), width)]
    tables: list[Table] = []
    for group in groups:
        try:
            table, y, n_rows = _read_columns(source, group)
        except WrongTypeError:
            source = source.checked(group)
            table, y, n_rows = _read_columns(source, group)
        tables.append(table)
    table, notes = parse_text(_join_columns(tables)), list(source.notes)
    if dropped := n_rows - len(y):
        notes.append(f"left out {dropped} rows that have no {target!r}")
    kinds = dict(zip(table.names, table.kinds, strict=True)) | {target: "string"}
    notes += [
        f"column {name!r} is read as text, because it holds {value!r}"
        for name, value in source.odd.items()
        if kinds.get(name) == "string"
    ]
    many = [
        int(j)
        for block in table.blocks
        for j, levels in zip(block.columns, block.categories or (), strict=False)
        if len(levels) > MAX_LEVELS
    ]
    table = table.keep(np.setdiff1d(np.arange(table.n_features), many)) if many else table
    kept = set(table.names)
    notes += [f"left out {name!r}: {TOO_MANY}" for name in names if name not in kept]
    return Loaded(source, table, y, target, (*notes, *table.notes))


def _read_columns(source: Source, names: Sequence[str]) -> tuple[Table, Array, int]:
    """The features and the target, which is the last; and the number of rows in the file."""
    tables, targets, n_rows = list[Table](), list[Array](), 0
    for batch in source.batches(names):
        n_rows += batch.num_rows
        table, y = _read_batch(batch, names[-1])
        blocks = (narrow for block in table.blocks for narrow in narrowed(block))
        tables.append(replace(table, blocks=tuple(blocks)))
        targets.append(y)
    if not sum(map(len, targets)):
        came = "no row with a target" if n_rows else "no rows"
        raise DataError(f"{source.path} has {came}; nothing can be selected")
    y = join_values([y for y in targets if len(y)])
    if y.dtype.kind == "O" and len(set(y)) > MAX_LEVELS:
        why = f"{TOO_MANY}, so it holds no classes; is it an identifier?"
        raise DataError(f"the target {names[-1]!r} is {why}")
    if y.dtype.kind == "f" and ((y == np.floor(y)) & (np.abs(y) < MAX_EXACT)).all():
        y = y.astype(np.int64)
    return join_rows(tables), y, n_rows


def _read_batch(batch: Any, target: str) -> Part:
    """The rows of a batch that have a target; nothing is copied where all have one."""
    batch = _with_target(batch, target)
    table = read_rows(batch.drop_columns([target]))
    return table, read_values(batch.select([target]), table.n_samples)


def _with_target(batch: Any, target: str) -> Any:
    compute = arrow("compute")
    missing = compute.is_null(batch.column(target), nan_is_null=True)
    return batch.filter(compute.invert(missing)) if missing.true_count else batch


def read_parts(source: Source, names: Sequence[str]) -> Iterator[Part]:
    """Blocks of the rows that have a target, which is the last of the columns."""
    return (_read_batch(batch, names[-1]) for batch in source.batches(names))


def quick_sample(source: Source, names: Sequence[str], seed: int) -> Sample | None:
    """Rows from places spread over a file; None where there are none, or where their y differs.

    The target, which is the last of the columns, is read whole: a file may be sorted by it.
    """
    reservoir, target = Reservoir(seed, SAMPLE_ROWS), names[-1]
    for batch in source.spread(names, SAMPLE_ROWS):
        reservoir.add(*_read_batch(batch, target))
    if not reservoir.n_rows:
        return None
    sample, n_rows, every = reservoir.finish(), 0, list[Array]()
    step = source.parquet.metadata.num_rows // SAMPLE_ROWS
    for batch in source.batches([target]):
        known = _with_target(batch, target)
        rows = np.arange(-n_rows % step, known.num_rows, step)
        every += [read_values(known.take(rows), len(rows))] if len(rows) else []
        n_rows += known.num_rows
    return replace(sample, n_rows=n_rows) if is_like(sample.y, join_values(every)) else None


def is_like(y: Array, other: Array) -> bool:
    """Whether each class, or tenth of the numbers, has about the same share of two targets.

    Examples
    --------
    >>> is_like(np.repeat([0, 1], 50), np.tile([0, 1], 200))
    True
    >>> is_like(np.zeros(100), np.tile([0.0, 1.0], 200))
    False
    """
    if other.dtype.kind in "iuf" and len(np.unique(other)) > MANY_LEVELS:
        tenths = np.quantile(other, np.arange(1, 10) / 10)
        y, other = np.searchsorted(tenths, y), np.searchsorted(tenths, other)
    labels, codes = np.unique(np.concatenate([y, other]), return_inverse=True)
    found, wanted = (
        np.bincount(part, minlength=len(labels)) / len(part)
        for part in (codes[: len(y)], codes[len(y) :])
    )
    near = abs(found - wanted) <= MAX_SHIFT * wanted + MAX_SHIFT_ROWS / len(y)
    return bool((near & ((found > 0) | (wanted == 0))).all())


def _join_columns(tables: Sequence[Table]) -> Table:
    blocks: list[Block] = []
    names: list[str] = []
    for table in tables:
        blocks += [replace(block, columns=block.columns + len(names)) for block in table.blocks]
        names += table.names
    return Table(tables[0].n_samples, names, tuple(blocks))


def narrowed(block: Block) -> Iterator[Block]:
    """The columns of a block in the smallest of a few types that holds them exactly."""
    if block.categories is None:
        for dtype in NARROW.get(block.values.dtype.kind, ()):
            with np.errstate(over="ignore", invalid="ignore"):
                values = block.values.astype(dtype)
            same = (values == block.values) | (np.isnan(values) & np.isnan(block.values))
            fits = same.all(axis=0)
            if fits.any():
                yield Block(block.columns[fits], block.kind, values[:, fits])
            if fits.all():
                return
            block = block.keep(~fits)
    yield block


def copy_columns(source: Source, columns: Sequence[str], path: Path, suffix: str) -> None:
    """Write some columns of a table to ``path``, in the format of a suffix."""
    names = list(columns)
    if FORMATS[suffix] == "text":
        opened = gzip.open if suffix.endswith(".gz") else open
        with opened(path, "wt", encoding="utf-8", newline="") as file:
            delimiter = "\t" if ".tsv" in suffix else ","
            writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            writer.writerow(names)
            for batch in source.as_text(names):
                writer.writerows(zip(*map(_spelled, batch.columns), strict=True))
        return
    table = source.as_arrow(names).replace_schema_metadata(None).unify_dictionaries()
    if FORMATS[suffix] == "parquet":
        arrow("parquet").write_table(table, path)
    else:
        compression = "lz4" if suffix == ".feather" else "uncompressed"
        arrow("feather").write_feather(table, str(path), compression)


def _spelled(column: Any) -> Any:
    words = column.dictionary_decode() if hasattr(column, "indices") else column
    return words.cast("string").to_pylist()


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
