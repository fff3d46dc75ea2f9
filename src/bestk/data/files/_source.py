"""A table in a file: what its columns are, and its rows a piece at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from bestk.data.files._arrow import role_of
from bestk.data.files._batch import ArrowBatch
from bestk.errors import UnknownNameError

WANTED = "a column holds numbers, booleans, text or dates"
PIECE = 2**22  # values converted at once: 32 MiB as float64
Report = Callable[[int, int], None]  # how much is done, and of how much


class Source(Protocol):
    """A table in a file."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def types(self) -> dict[str, Any]:
        """The arrow or numpy type of each column, by name."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how the columns are read."""

    def batches(self, columns: Sequence[str], report: Report | None = None) -> Iterator[ArrowBatch]:
        """Yield batches of some columns, in that order."""

    def checked(self, columns: Sequence[str], report: Report | None = None) -> "Source":
        """The same table, with types that hold for all rows of some columns."""


def check_names(source: Source, names: Iterable[str]) -> None:
    """Refuse a name that no column has, and say which may be meant."""
    for name in names:
        if name not in source.types:
            raise UnknownNameError("column", name, source.types, source.path)


def find_columns(source: Source, target: str, exclude: Iterable[str] = ()) -> list[str]:
    """The features of a file; the names asked for must be there."""
    excluded = set(exclude)
    check_names(source, (target, *excluded))
    if target in excluded:
        raise ValueError(f"column {target!r} is the target, and cannot be excluded as well")
    names = [name for name in source.types if name != target and name not in excluded]
    if not names:
        raise ValueError(f"{source.path} has no column to select from beside {target!r}")
    for name in (*names, target):
        if role_of(source.types[name]) is None:
            came = source.types[name]
            raise ValueError(f"column {name!r} holds {came} values; {WANTED}: exclude it")
    return names
