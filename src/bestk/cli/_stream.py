"""Selecting from a file that is read in blocks of rows and never held."""

from pathlib import Path
from time import perf_counter
from typing import Any

from bestk.cli._input import shown
from bestk.cli._options import Request
from bestk.cli._progress import Talk
from bestk.cli._table import Checked
from bestk.files import Loaded


def is_long(path: Path) -> bool:
    """Whether a file is larger than what a table may take of the memory."""
    from bestk.streaming import memory_to_use

    return path.stat().st_size > memory_to_use()


def select_rows(
    checked: Checked, request: Request, talk: Talk, method: Any, options: dict[str, Any]
) -> tuple[Loaded, Any, dict[str, float]]:
    """The file as far as it is known, the features, and the seconds that it took."""
    from bestk.selector import SelectBestK
    from bestk.table import Table

    start = perf_counter()
    include, exclude = list(request.include), list(request.exclude)
    selector = SelectBestK(checked.k, method, include=include, exclude=exclude, **options)
    with talk.stage(f"counting the rows of {shown(request.file)}, a block at a time"):
        selector.fit(request.file, request.target)
    solution, seconds = selector.solution_, perf_counter() - start
    talk.note("rows were read in blocks; cut points of numbers are those of a sample of 100,000")
    table = Table(selector.n_samples_seen_, solution.names or (), ())
    loaded = Loaded(checked.source, table, None, request.target, ())  # type: ignore[arg-type]
    return loaded, solution, {"read": seconds - solution.seconds, "select": solution.seconds}
