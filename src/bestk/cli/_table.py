"""From the options of a command to the table that it reads."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from bestk.cli._options import TableOptions, shown
from bestk.cli._terminal import Messages
from bestk.data.files import Loaded, Source, check_names, find_columns, load, open_source, replacing
from bestk.data.table import as_matrix
from bestk.errors import UnknownNameError
from bestk.selection.look import MOSTLY

DEFAULT_K = 10


@dataclass(frozen=True)
class CheckedFile:
    """A file that has the columns asked for."""

    source: Source
    names: list[str]  # of the columns to select from
    k: int | str


def check(request: TableOptions) -> CheckedFile:
    """Open the file, and check the columns and -k before it is read."""
    source = open_source(request.file)
    aside = set(request.aside.values())
    check_names(source, aside)
    names = [n for n in find_columns(source, request.target, request.exclude) if n not in aside]
    for name in request.include:
        if name not in names:
            raise UnknownNameError("feature", name, names, request.file)
    n, k = len(names), request.k
    if k is None:
        k = n if request.threshold is not None else max(DEFAULT_K, len(set(request.include)))
        return CheckedFile(source, names, min(n, k))
    if isinstance(k, float):
        k = max(1, round(k * n))
    if isinstance(k, int) and k > n:
        raise ValueError(f"k={k} is more than the {n} columns to select from")
    return CheckedFile(source, names, k)


def read(
    checked: CheckedFile, request: TableOptions, messages: Messages
) -> tuple[Loaded, int | str, float]:
    """Read the table without columns that identify rows; return it, k, and the seconds taken."""
    start = perf_counter()
    with messages.stage(f"reading {shown(request.file)}") as progress:
        loaded = load(checked.source, request.target, request.exclude, progress)
    for note in loaded.notes:
        messages.note(note)
    loaded = _set_aside(loaded, request)
    if request.correction == "none":
        loaded = _without_identifiers(loaded, request, messages)
    k = checked.k if request.k is not None else min(int(checked.k), loaded.table.n_features)
    return loaded, k, perf_counter() - start


def _set_aside(loaded: Loaded, request: TableOptions) -> Loaded:
    """Take the columns that describe the rows out of the table."""
    names, every = list(loaded.table.names), np.arange(loaded.table.n_features)
    places = {argument: [names.index(name)] for argument, name in request.aside.items()}
    of_rows = {
        argument: as_matrix(loaded.table.keep(np.array(place)))[0][:, 0]
        for argument, place in places.items()
    }
    kept = np.setdiff1d(every, list(places.values()))
    return replace(loaded, table=loaded.table.keep(kept), of_rows=of_rows) if places else loaded


def _without_identifiers(loaded: Loaded, request: TableOptions, messages: Messages) -> Loaded:
    """Drop text that differs in most rows, of which uncorrected estimates are far too large."""
    table, dropped = loaded.table, []
    for block in table.blocks:
        for place, levels in zip(block.columns, block.categories or [], strict=False):
            name = table.names[int(place)]
            if len(levels) > MOSTLY * table.n_samples and name not in request.include:
                dropped.append(int(place))
                messages.note(
                    f"left out {name!r}: text with a different value in most rows, such as an "
                    "identifier; --correction chance keeps it"
                )
    if not dropped:
        return loaded
    kept = np.setdiff1d(np.arange(table.n_features), dropped)
    return replace(loaded, table=table.keep(kept))


def new_file(path: Path, source: Path) -> AbstractContextManager[Path]:
    """A temporary file that replaces ``path`` at the end; ``path`` must not be the input."""
    if path.exists() and path.samefile(source):
        raise ValueError(f"{path} is the input file; write to another file")
    return replacing(path)
