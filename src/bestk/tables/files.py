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
from bestk.errors import DataError, ParameterError, counted
from bestk.tables.blocks import read_values
from bestk.tables.codes import MAX_LEVELS
from bestk.tables.frames import read_column, read_table
from bestk.tables.rows import ENOUGH_ROWS, SAFE_SHARE, Reservoir, RowsWithTarget
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
from bestk.tables.text import note_on_numbers, parse_column, parse_text

# The number of columns of a Parquet file that are read at once: a few rows of very many columns
# take as much memory as all rows.
MAX_COLUMNS = 2_048

TOO_MANY = f"text of over {MAX_LEVELS} different values"


@dataclass(frozen=True)
class Loaded:
    """The features and the target of a file."""

    source: Source
    """The file, with the types as which its columns were read."""

    table: Table
    """The features of the rows that have a target."""

    y: Array
    """The target of each of these rows, a number or a label."""

    target: str
    """The name of the column of the target."""

    notes: tuple[str, ...]
    """Sentences on how the file was read: what was left out and why, what was taken as what."""

    of_rows: dict[str, Array] = field(default_factory=dict)
    """Other columns that describe the rows, such as their groups, by the argument they are for."""


def load(
    source: Source, target: str, exclude: Iterable[str] = (), random_state: Any = None
) -> Loaded:
    """Read a target and all features but the excluded ones; rows without a target are left out.

    Text of very many different values is left out, too, with a note.
    """
    names = find_columns(source, target, exclude)
    rows = read_file(source, names, target, random_state)
    table = parse_text(rows.table)
    is_used = np.ones(table.n_features, bool)
    for block in table.blocks:
        for place, levels in zip(block.columns, block.categories or (), strict=False):
            is_used[place] = len(levels) <= MAX_LEVELS
    if not is_used.all():
        table = table.keep(np.flatnonzero(is_used))
    left_out = [f"left out {names[j]!r}: {TOO_MANY}" for j in np.flatnonzero(~is_used)]
    notes = (*left_out, *table.notes)
    return Loaded(rows.source, table, rows.y, target, notes)


def hold_file(
    path: str | Path,
    target: Any,
    exclude: Any = None,
    of_rows: Sequence[str] = (),
    random_state: Any = None,
    for_default: bool = False,
) -> tuple[RowsWithTarget, int]:
    """Read the rows of a file, or of a folder of Parquet files, that have a target.

    Returns these rows, or a sample of very many, and the number of all that have a target.

    Parameters
    ----------
    path : str or Path
        The file or the folder.
    target : str
        The name of the column of the target.
    exclude : names, indices or a mask of features
        Features that are not read; they are missing in all rows of the table.
    of_rows : sequence of str
        Columns that describe the rows, such as their groups; they are the last of the table.
    random_state : int or None
        The seed of the sample.
    for_default : bool
        Whether the rows are for the default method, which needs no more than ENOUGH_ROWS.
    """
    if not isinstance(target, str):
        given = "None" if target is None else f"a {type(target).__name__}"
        raise ParameterError(f"X is read from files, so y is the name of its target; got {given}")
    source = open_dataset(path) if Path(path).is_dir() else open_source(path)
    features = find_columns(source, target, of_rows)
    excluded = find_features(exclude, Table(0, features, ()))
    names_excluded = {features[j] for j in excluded}
    read = find_columns(source, target, {*of_rows, *names_excluded})
    rows = read_file(source, [*read, *of_rows], target, random_state, for_default)
    names = [*features, *of_rows]
    places = np.delete(np.arange(len(names)), excluded)
    blocks = [replace(block, columns=places[block.columns]) for block in rows.table.blocks]
    if len(excluded):
        shape = (rows.table.n_samples, len(excluded))
        missing = np.full(shape, np.nan, np.float32)
        blocks.append(Block(np.unique(excluded), "numeric", missing))
    table = replace(rows.table, names=names, blocks=tuple(blocks))
    return RowsWithTarget(table, rows.y), rows.n_rows


@dataclass(frozen=True)
class FileRows:
    """Rows of a file that have a target: all of them, or a sample of very many."""

    source: Source
    """The file, with the types as which its columns were read."""

    table: Table
    """The features of the rows, with notes on how they were read."""

    y: Array
    """The target of each row, a number or a label."""

    n_rows: int
    """The number of rows of the file that have a target."""


def read_file(
    source: Source,
    features: Sequence[str],
    target: str,
    random_state: Any,
    for_default: bool = False,
) -> FileRows:
    """Read some columns of a file as features, and one as the target; see :func:`hold_file`.

    The columns of Parquet files are read in groups, one after the other. All groups hold the same
    rows, since the keys of the sample are those of the same random numbers.
    """
    limit = _first_limit(source, target) if for_default else 1.0
    make = partial(Reservoir, random_state, len(features), for_default, limit)
    held: list[Reservoir] = []
    n_all_rows = 0
    for group in _column_groups(source, features):
        reservoir = make()
        try:
            n_all_rows = _hold_columns(source, group, target, reservoir)
        except WrongTypeError:
            source = source.checked([*group, target])
            reservoir = make()
            n_all_rows = _hold_columns(source, group, target, reservoir)
        held.append(reservoir)
    n_rows = held[0].n_rows
    if not n_rows:
        what = "no row with a target" if n_all_rows else "no rows"
        raise DataError(f"{source.path} has {what}; nothing can be selected")
    table, y = _join_groups(held)
    large = _large_numbers(table, target, y) if isinstance(source, TextSource) else []
    if large:
        # Whole numbers that may have been rounded are read once more, as integers or as text.
        exact = source.checked(large)
        if exact.types != source.types:
            return read_file(exact, features, target, random_state, for_default)
    y, notes = _parse_target(target, y)
    if n_lost := n_all_rows - n_rows:
        notes.append(f"left out {counted(n_lost, 'row')} with no {target!r}")
    table = replace(table, notes=(*source.notes, *notes, *table.notes))
    return FileRows(source, table, y, n_rows)


def _column_groups(source: Source, features: Sequence[str]) -> list[Sequence[str]]:
    """The columns that are read together: all of a text file, some of other files."""
    width = len(features) if isinstance(source, TextSource) else MAX_COLUMNS
    return [features[start : start + width] for start in range(0, len(features), width)]


def _join_groups(held: list[Reservoir]) -> RowsWithTarget:
    """The rows that all reservoirs hold, of which each has other columns; these are emptied."""
    limit = min(reservoir.limit for reservoir in held)
    tables: list[Table] = []
    y = np.empty(0)
    while held:
        # One is given up after the other, so that no column is held twice.
        table, y = held.pop(0).sample(limit)
        tables.append(table)
    return RowsWithTarget(_join_columns(tables), y)


def _large_numbers(table: Table, target: str, y: Array) -> list[str]:
    """The columns, and the target, with numbers so large that float64 may have rounded them."""
    large: list[str] = []
    for block in table.blocks:
        if block.values.dtype.kind == "f":
            places = block.columns[find_inexact(block.values)]
            large += [table.names[place] for place in places.tolist()]
    y_column = y[:, np.newaxis]
    if y.dtype.kind == "f" and len(find_inexact(y_column)):
        large.append(target)
    return large


def _parse_target(name: str, y: Array) -> tuple[Array, list[str]]:
    """A target as numbers, if it is text of many of them, and notes on that; see parse_levels.

    Whole numbers are integers.
    """
    notes: list[str] = []
    if y.dtype.kind == "O" and len(set(y)) > MAX_CLASSES:
        column = read_column(y)
        codes = column.values[:, 0]
        levels = column.categories[0] if column.categories is not None else []
        parsed = parse_column(codes, levels) if levels else None
        if parsed is not None and not np.isnan(parsed.values).any():
            y = parsed.values[codes]
            notes.append(note_on_numbers([(name, parsed)], parsed.what))
        elif len(levels) > MAX_LEVELS:
            raise DataError(
                f"the target {name!r} is {TOO_MANY}, so it holds no classes; is it an identifier?"
            )
    if y.dtype.kind == "f":
        is_whole = y == np.floor(y)
        is_exact = np.abs(y) < MAX_EXACT
        if (is_whole & is_exact).all():
            y = y.astype(np.int64)
    return y, notes


def _first_limit(source: Source, target: str) -> float:
    """A limit for the keys of rows that the default needs, where their number is known before.

    With fewer keys below the limit, fewer rows are read and narrowed. 1.0 holds all rows.
    """
    if isinstance(source, TextSource):
        return 1.0
    compute = arrow("compute")
    pieces = [batch.column(0) for batch in source.batches([target])]
    n_rows = sum(len(piece) for piece in pieces)
    if n_rows <= ENOUGH_ROWS:
        return 1.0
    column = arrow().chunked_array(pieces).unify_dictionaries()
    is_missing = compute.is_null(column, nan_is_null=True)
    present = column.filter(compute.invert(is_missing))
    counts = compute.value_counts(present).field("counts")
    largest_class = compute.max(counts).as_py() or 0
    n_present = max(1, len(present))
    if largest_class > (1.0 - 1.1 * SAFE_SHARE) * len(present):
        return 1.0  # more rows may be needed
    # Ten standard deviations more than the rows that are needed.
    n_needed = ENOUGH_ROWS + 10.0 * ENOUGH_ROWS**0.5
    return min(1.0, n_needed / n_present)


def _hold_columns(
    source: Source, features: Sequence[str], target: str, reservoir: Reservoir
) -> int:
    """Add some columns of the rows that have a target to a reservoir; the number of all rows."""
    is_null = arrow("compute").is_null
    n_all_rows = 0
    for batch in source.batches([*features, target]):
        n_all_rows += batch.num_rows
        is_missing = is_null(batch.column(target), nan_is_null=True)
        with_target = np.flatnonzero(~is_missing.to_numpy(zero_copy_only=False))
        reservoir.add(len(with_target), partial(_read_rows, batch, target, with_target))
    reservoir.shrink()
    return n_all_rows


def _read_rows(batch: Any, target: str, with_target: Indices, drawn: Indices) -> RowsWithTarget:
    """Some rows of a batch of arrow; it is not copied if these are all of its rows.

    ``with_target`` are the places of the rows that have a target, ``drawn`` the places among these.
    """
    if len(drawn) < batch.num_rows:
        batch = batch.take(with_target[drawn])
    table = read_table(batch.drop_columns([target]))
    y = read_values(batch.select([target]), table.n_samples)
    return RowsWithTarget(table, y)


def _join_columns(tables: Sequence[Table]) -> Table:
    """Tables of the same rows, side by side; the notes are those of the first."""
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
        _copy_as_text(source, names, path, suffix)
        return
    table = source.as_arrow(names).replace_schema_metadata(None).unify_dictionaries()
    if FORMATS[suffix] == "parquet":
        arrow("parquet").write_table(table, path)
    else:
        compression = "lz4" if suffix == ".feather" else "uncompressed"
        arrow("feather").write_feather(table, str(path), compression)


def _copy_as_text(source: Source, names: list[str], path: Path, suffix: str) -> None:
    """Write some columns as lines of text, with the delimiter of the suffix or of the source."""
    delimiter = source.delimiter if isinstance(source, TextSource) else ","
    if ".tsv" in suffix:
        delimiter = "\t"
    elif delimiter == "\t":
        delimiter = ","
    opened = gzip.open if suffix.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(names)
        for batch in source.as_text(names):
            columns = [_spelled(column) for column in batch.columns]
            writer.writerows(zip(*columns, strict=True))


def _spelled(column: Any) -> Any:
    """The values of a column of arrow as a list of strings."""
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
    # The name is made here, since mkstemp would ignore the umask.
    temporary = path.with_name(f".bestk-{token_hex(8)}.part")
    try:
        temporary.touch(exist_ok=False)
        if path.exists():
            temporary.chmod(S_IMODE(path.stat().st_mode))
    except OSError as error:
        raise DataError(f"cannot write to {path.parent}: {error.strerror}") from error
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
