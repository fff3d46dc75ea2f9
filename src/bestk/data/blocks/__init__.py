"""Where blocks of rows come from: files, folders, data sets, iterables, functions, generators."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bestk.data.frames import batch_as_table, is_dataset
from bestk.data.table import Block, Table, read_table
from bestk.data.target import read_full_column
from bestk.errors import UnknownNameError

T = TypeVar("T")
Part = tuple[Table, NDArray[Any]]  # some rows, and their targets
PAIRS = "give pairs (X_block, y_block), or frames and y, the name of their target column"


@dataclass(frozen=True)
class Blocks:
    """Blocks of rows that all have the same columns."""

    open: Callable[[], Iterable[Part]]
    once: bool = False  # a second pass is not to be had
    mend: Callable[[], "Blocks"] | None = None  # other types, where some rows contradict them

    def __iter__(self) -> Iterator[Part]:
        names: list[str] | None = None
        for table, y in self.open():
            if names is None:
                names = list(table.names)
            refuse_other_columns(list(table.names), names)
            if table.n_samples:
                yield table, y
        if names is None:
            raise ValueError(f"there are no blocks of rows; {PAIRS}")


def read_through(blocks: Blocks, work: Callable[[Blocks], T]) -> tuple[Blocks, T]:
    """Do some work on blocks; once more where the types of a file prove wrong on the way."""
    from bestk.data.files import WrongTypeError

    try:
        return blocks, work(blocks)
    except WrongTypeError:
        if blocks.mend is None:
            raise
        mended = blocks.mend()
        return mended, work(mended)


def refuse_other_columns(names: list[str], known: list[str]) -> None:
    """Refuse a block that does not have the columns of those before."""
    if len(names) != len(known):
        raise ValueError(f"a block has {len(names)} columns, and those before {len(known)}")
    if names != known:
        odd = next(j for j, name in enumerate(names) if name != known[j])
        raise ValueError(
            f"column {odd} of a block is {names[odd]!r}, and {known[odd]!r} in those before; "
            "give all blocks the same columns in the same order"
        )


def open_blocks(X: Any, y: Any) -> Blocks:
    """The blocks of what :func:`is_stream` takes for some."""
    if isinstance(X, str | Path) or is_dataset(X):
        from bestk.data.files import DatasetSource, find_columns, open_source, read_parts

        if not isinstance(y, str):
            came = "None" if y is None else f"a {type(y).__name__}"
            raise ValueError(f"X is read from files, so y is the name of its target; got {came}")
        a_file = not is_dataset(X) and not Path(X).is_dir()
        source = open_source(X) if a_file else DatasetSource.open(X)
        names = [*find_columns(source, y), y]

        def mend() -> Blocks:
            checked = source.checked(names)
            return Blocks(lambda: read_parts(checked, names))

        return Blocks(lambda: read_parts(source, names), mend=mend)
    if y is not None and not isinstance(y, str):
        raise ValueError(f"X comes in blocks, and y is a {type(y).__name__}; {PAIRS}")
    make = X if callable(X) else lambda: X
    return Blocks(lambda: (read_block(block, y) for block in make()), once=hasattr(X, "__next__"))


def read_block(block: Any, target: str | None) -> Part:
    """One block of an iterable: a pair, or a frame and the name of its target."""
    if target is not None:
        return split_target(_read_rows(block), target)
    if not (isinstance(block, tuple | list) and len(block) == 2):
        raise ValueError(f"a block is a {type(block).__name__}; {PAIRS}")
    table = _read_rows(block[0])
    return table, read_values(block[1], table.n_samples)


def _read_rows(X: Any) -> Table:
    X = batch_as_table(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and shape[0] == 0:
        names = getattr(X, "columns", None)
        names = [f"x{j}" for j in range(X.shape[1])] if names is None else map(str, names)
        return Table(0, list(getattr(X, "column_names", names)), ())
    return read_table(X)


def read_values(y: Any, n_samples: int) -> NDArray[Any]:
    """The targets of a block as an array of numbers or labels, none of them missing."""
    if n_samples == 0:
        return np.empty(0)
    return _values(read_full_column(y, n_samples), 0)


def split_target(table: Table, target: str) -> Part:
    """A block without its target, and that."""
    places = [j for j, name in enumerate(table.names) if name == target]
    if len(places) != 1:
        if places:
            raise ValueError(f"there are several columns {target!r}; rename all but one")
        raise UnknownNameError("column", target, table.names, "the table")
    rest = table.keep(np.setdiff1d(np.arange(table.n_features), places))
    for block in table.blocks:
        for at in np.flatnonzero(block.columns == places[0]):
            return rest, read_values(_values(block, int(at)), table.n_samples)
    return rest, np.empty(0)


def _values(block: Block, column: int) -> NDArray[Any]:
    """The numbers or labels of a column."""
    values = block.values[:, [column]]
    values = (values.toarray() if hasattr(values, "toarray") else values)[:, 0]
    if block.categories is None:
        return np.asarray(values)
    labels = np.empty(len(block.categories[column]) + 1, dtype=object)
    labels[:-1] = block.categories[column]
    return labels[values]
