"""A file as the table that features are selected from, and its target; files that are written."""

import csv
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import Any

import numpy as np

from bestk._typing import Array, Indices
from bestk.errors import DataError, counted
from bestk.tables.blocks import read_values
from bestk.tables.codes import MAX_LEVELS
from bestk.tables.frames import read_table
from bestk.tables.rows import ENOUGH_ROWS, SAFE_SHARE, Part, Reservoir
from bestk.tables.sources import (
    FORMATS,
    Source,
    TextSource,
    WrongTypeError,
    arrow,
    find_columns,
    open_dataset,
    open_source,
)
from bestk.tables.table import MAX_EXACT, Block, Table, find_features, find_inexact
from bestk.tables.target import MAX_CLASSES
from bestk.tables.text import notes_on, parse_levels, parse_text

MAX_COLUMNS = 2_048  # of Parquet at once: few rows of very many columns cost as much as all rows
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


def load(
    source: Source, target: str, exclude: Iterable[str] = (), random_state: Any = None
) -> Loaded:
    """Read a target and all features but the excluded ones; rows without a target are left out."""
    names = find_columns(source, target, exclude)
    source, (table, y), _ = read_file(source, [*names, target], random_state)
    table = parse_text(table)
    many = [
        int(j)
        for block in table.blocks
        for j, levels in zip(block.columns, block.categories or (), strict=False)
        if len(levels) > MAX_LEVELS
    ]
    table = table.keep(np.setdiff1d(np.arange(table.n_features), many)) if many else table
    kept = set(table.names)
    notes = [f"left out {name!r}: {TOO_MANY}" for name in names if name not in kept]
    return Loaded(source, table, y, target, (*notes, *table.notes))


def hold_file(
    path: str | Path, target: Any, exclude: Any = None, of_rows: Sequence[str] = (),
    random_state: Any = None, for_default: bool = False,
) -> tuple[Part, int]:  # fmt: skip
    """Rows of a file, or of a folder of Parquet files, that have a target; and their number.

    Features to exclude are not read, and missing in all rows; columns ``of_rows`` are the last.
    """
    if not isinstance(target, str):
        came = "None" if target is None else f"a {type(target).__name__}"
        raise ValueError(f"X is read from files, so y is the name of its target; got {came}")
    source = open_dataset(path) if Path(path).is_dir() else open_source(path)
    names = find_columns(source, target, of_rows)
    unread = find_features(exclude, Table(0, names, ()))
    read = find_columns(source, target, {*of_rows, *(names[j] for j in unread)})
    columns = [*read, *of_rows, target]
    _, (table, y), n_rows = read_file(source, columns, random_state, for_default)
    names += of_rows
    places = np.delete(np.arange(len(names)), unread)
    blocks = [replace(block, columns=places[block.columns]) for block in table.blocks]
    if len(unread):
        void = np.full((table.n_samples, len(unread)), np.nan, np.float32)
        blocks.append(Block(np.unique(unread), "numeric", void))
    return (replace(table, names=names, blocks=tuple(blocks)), y), n_rows


def read_file(
    source: Source, names: Sequence[str], random_state: Any, for_default: bool = False
) -> tuple[Source, Part, int]:
    """Rows with a target, the last of the columns; their number; the source with its types."""
    features, width = names[:-1], len(names) if isinstance(source, TextSource) else MAX_COLUMNS
    groups = [[*features[i : i + width], names[-1]] for i in range(0, len(features), width)]
    parts: list[Reservoir] = []
    limit = _first_limit(source, names[-1]) if for_default else 1.0
    make = partial(Reservoir, random_state, len(features), for_default, limit)
    for group in groups:
        try:
            part, n_rows = _hold_columns(source, group, make())
        except WrongTypeError:
            source = source.checked(group)
            part, n_rows = _hold_columns(source, group, make())
        parts.append(part)
    if not parts[0].n_rows:
        came = "no row with a target" if n_rows else "no rows"
        raise DataError(f"{source.path} has {came}; nothing can be selected")
    limit, n_known = min(part.limit for part in parts), parts[0].n_rows
    tables, targets = zip(*(parts.pop(0).sample(limit) for _ in groups), strict=True)
    table = _join_columns(tables)
    if isinstance(source, TextSource) and (large := _large_numbers(table, names[-1], targets[0])):
        exact = source.checked(large)
        if exact.types != source.types:
            return read_file(exact, names, random_state, for_default)
    y, note = _parse_target(names[-1], targets[0])
    lost = n_rows - n_known
    missing = [f"left out {counted(lost, 'row')} with no {names[-1]!r}"] if lost else []
    table = replace(table, notes=(*source.notes, *note, *missing, *table.notes))
    return source, (table, y), n_known


def _large_numbers(table: Table, target: str, y: Array) -> list[str]:
    """The columns, and the target, with numbers so large that float64 may have rounded them."""
    large = list[str]()
    for block in table.blocks:
        if block.values.dtype.kind == "f":
            places = block.columns[find_inexact(block.values)]
            large += [table.names[place] for place in places.tolist()]
    if y.dtype.kind == "f" and len(find_inexact(y[:, np.newaxis])):
        large.append(target)
    return large


def _parse_target(name: str, y: Array) -> tuple[Array, list[str]]:
    """The numbers of a target, if it is text of many of them; whole ones as integers."""
    notes = list[str]()
    if y.dtype.kind == "O" and len(set(y)) > MAX_CLASSES:
        levels, places, counts = np.unique(y, return_inverse=True, return_counts=True)
        parsed = parse_levels(levels.tolist(), counts)
        if parsed is not None and not np.isnan(parsed.values).any():
            y, notes = parsed.values[places], notes_on([name], {0: parsed})
        elif len(levels) > MAX_LEVELS:
            why = f"{TOO_MANY}, so it holds no classes; is it an identifier?"
            raise DataError(f"the target {name!r} is {why}")
    if y.dtype.kind == "f" and ((y == np.floor(y)) & (np.abs(y) < MAX_EXACT)).all():
        y = y.astype(np.int64)
    return y, notes


def _first_limit(source: Source, target: str) -> float:
    """A limit for the keys of rows that the default needs, where their number is known before."""
    if isinstance(source, TextSource):
        return 1.0
    compute, parts = arrow("compute"), [batch.column(0) for batch in source.batches([target])]
    n_rows = sum(map(len, parts))
    if n_rows <= ENOUGH_ROWS:
        return 1.0
    column = arrow().chunked_array(parts).unify_dictionaries()
    known = column.filter(compute.invert(compute.is_null(column, nan_is_null=True)))
    largest_class = compute.max(compute.value_counts(known).field("counts")).as_py() or 0
    if largest_class > (1.0 - 1.1 * SAFE_SHARE) * len(known):
        return 1.0  # more rows may be needed
    return min(1.0, (ENOUGH_ROWS + 10.0 * ENOUGH_ROWS**0.5) / max(1, len(known)))


def _hold_columns(source: Source, names: Sequence[str], held: Reservoir) -> tuple[Reservoir, int]:
    """Some columns of the rows that have a target, the last of them; and the number of all rows."""
    n_rows, is_null = 0, arrow("compute").is_null
    for batch in source.batches(names):
        n_rows += batch.num_rows
        missing = is_null(batch.column(names[-1]), nan_is_null=True)
        known = np.flatnonzero(~missing.to_numpy(zero_copy_only=False))
        held.add(len(known), partial(_read_rows, batch, names[-1], known))
    held.shrink()
    return held, n_rows


def _read_rows(batch: Any, target: str, known: Indices, rows: Indices) -> Part:
    """Some of the known rows of a batch; it is not copied if these are all of its rows."""
    batch = batch.take(known[rows]) if len(rows) < batch.num_rows else batch
    table = read_table(batch.drop_columns([target]))
    return table, read_values(batch.select([target]), table.n_samples)


def _join_columns(tables: Sequence[Table]) -> Table:
    blocks: list[Block] = []
    names: list[str] = []
    for table in tables:
        blocks += [replace(block, columns=block.columns + len(names)) for block in table.blocks]
        names += table.names
    return Table(tables[0].n_samples, names, tuple(blocks), tables[0].notes)


def copy_columns(source: Source, columns: Sequence[str], path: Path, suffix: str) -> None:
    """Write some columns of a table to ``path``, in the format of a suffix."""
    names = list(columns)
    if FORMATS[suffix] == "text":
        opened = gzip.open if suffix.endswith(".gz") else open
        with opened(path, "wt", encoding="utf-8", newline="") as file:
            own = source.delimiter if isinstance(source, TextSource) else ","
            delimiter = "\t" if ".tsv" in suffix else own.replace("\t", ",")
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
