"""From the options of a command to the table that it asks for."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bestk.cli._input import is_piped_in, refuse_missing, shown
from bestk.cli._options import AUTO, Request
from bestk.cli._progress import Talk
from bestk.data.files import Loaded, Source, check_names, find_columns, load, open_source, replacing
from bestk.data.table import Table
from bestk.data.written import parse_text

DEFAULT = 10  # features, where their number is not given
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
MOSTLY = 0.5  # text with more different values than this share of the rows identifies them


@dataclass(frozen=True)
class Checked:
    """A file that has what was asked for."""

    source: Source
    names: list[str]  # of the columns to select from
    k: int  # the least, where it is to be chosen


def check(request: Request) -> Checked:
    """Open the file, and see that the columns asked for are there, before it is read."""
    refuse_missing(request.file)
    source = open_source(request.file)
    names = find_columns(source, request.target, request.exclude)
    check_names(source, request.include)
    if request.target in request.include:
        raise ValueError(f"column {request.target!r} is the target and cannot be included")
    for name in set(request.include) & set(request.exclude):
        raise ValueError(f"column {name!r} is both included and excluded")
    count, n = _count(request, len(names)), len(names)
    if count > n:
        raise ValueError(f"k={count} is more than the {n} columns to select from")
    if count < len(set(request.include)):
        raise ValueError(f"k={count} is less than the {len(set(request.include))} included columns")
    return Checked(source, names, count)


def _count(request: Request, n: int) -> int:
    """How many features are asked for, of n."""
    if request.k is None:
        return min(n, max(DEFAULT, len(set(request.include))))
    if request.k == AUTO:
        return max(1, len(set(request.include)))
    return request.k if isinstance(request.k, int) else max(1, round(float(request.k) * n))


def read(checked: Checked, request: Request, talk: Talk) -> tuple[Loaded, float]:
    """Read the table, without columns that identify rows; and the seconds that it took."""
    start = perf_counter()
    with talk.stage(f"reading {shown(request.file)}") as report:
        loaded = load(checked.source, request.target, request.exclude, report)
        parsed = parse_text(loaded.table)
    _doubt_names(checked, talk)
    for note in _still_true(loaded, parsed):
        talk.note(note)
    loaded = replace(loaded, table=parsed)
    if request.correction == "none":
        loaded = _without_identifiers(loaded, request, talk)
    if (n := loaded.table.n_features) < checked.k and request.k is not None:
        raise ValueError(f"k={checked.k} is more than the {n} columns that are left to select from")
    missing = [name for name in request.include if name not in loaded.table.names]
    if missing:
        raise ValueError(f"column {missing[0]!r} cannot be included: {loaded.notes[-1]}")
    return loaded, perf_counter() - start


def features_wanted(checked: Checked, loaded: Loaded) -> int:
    """How many features to select: all that are left, where fewer are than without a -k."""
    return min(checked.k, loaded.table.n_features)


def _doubt_names(checked: Checked, talk: Talk) -> None:
    """Say that the first line was taken as names, where it looks like a row of numbers."""
    found = [float(name) for name in checked.names if NUMBER.fullmatch(name)]
    counted = [b - a for a, b in pairwise(found)] == [1] * (len(found) - 1)
    if 2 * len(found) > len(checked.names) and not (len(found) > 1 and counted):
        some = ", ".join(map(repr, checked.names[:3]))
        talk.note(f"the header line is {some}, ...; the first line of a file must name its columns")


def _still_true(loaded: Loaded, parsed: Table) -> Iterator[str]:
    """What is to be known of how a file and its target were read."""
    numbers = [parsed.names[j] for j in np.flatnonzero(parsed.kinds == "numeric").tolist()]
    for note in loaded.notes:
        if not any(note.startswith(f"column {name!r} is read as text") for name in numbers):
            yield note
    yield from parsed.notes


def _without_identifiers(loaded: Loaded, request: Request, talk: Talk) -> Loaded:
    """Leave out text that differs in most rows: uncorrected, it seems to know everything."""
    table, gone = loaded.table, []
    for block in table.blocks:
        for place, levels in zip(block.columns, block.categories or [], strict=False):
            name = table.names[int(place)]
            if len(levels) > MOSTLY * table.n_samples and name not in request.include:
                gone.append(int(place))
                talk.note(
                    f"left out {name!r}: text with a different value in most rows, such as an "
                    "identifier; --correction chance keeps it"
                )
    if not gone:
        return loaded
    kept = [j for j in range(table.n_features) if j not in set(gone)]
    return replace(loaded, table=table.keep(np.array(kept, np.intp)))


def new_file(path: Path, source: Path) -> AbstractContextManager[Path]:
    """A file to write in the place of ``path``, which must not be the one that is read."""
    if path.exists() and (path.samefile(source) or is_piped_in(path, source)):
        raise ValueError(f"{path} is the input file; write to another file")
    return replacing(path)


def is_long(path: Path) -> bool:
    """Whether a file is larger than the memory that a table may take."""
    from bestk.information.counted.memory import memory_to_use

    return path.stat().st_size > memory_to_use()


def select_rows(
    checked: Checked, request: Request, talk: Talk, method: Any, options: dict[str, Any]
) -> tuple[Loaded, Any, dict[str, float]]:
    """Select from a file in blocks of rows: what is known of the file, the solution, seconds."""
    from bestk.selection.selector import SelectBestK

    start = perf_counter()
    include, exclude = list(request.include), list(request.exclude)
    selector = SelectBestK(checked.k, method, include=include, exclude=exclude, **options)
    with talk.stage(f"reading {shown(request.file)} in blocks of rows"):
        selector.fit(request.file, request.target)
    solution, seconds = selector.solution_, perf_counter() - start
    talk.note("read in blocks of rows; numeric columns are binned by a sample of 100,000 rows")
    table = Table(selector.n_samples_seen_, solution.names or (), ())
    loaded = Loaded(checked.source, table, None, request.target, ())  # type: ignore[arg-type]
    return loaded, solution, {"read": seconds - solution.seconds, "select": solution.seconds}
