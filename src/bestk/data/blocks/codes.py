"""Codes of a whole table, put together from blocks: a byte for each value, or two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.data.blocks.levels import Levels, read_classes
from bestk.data.codes import Codes, Target
from bestk.data.table import Table
from bestk.information.counted.memory import refuse_codes


class GrowingCodes:
    """A discrete table in memory, that grows a block at a time.

    Parameters
    ----------
    n_rows : int or None
        Rows that will come, if that is known; otherwise the memory is twice that of the codes.
    memory : float
        Bytes that it may take.

    Examples
    --------
    >>> from bestk.data.table import read_table
    >>> growing = GrowingCodes(3, memory=1e6)
    >>> growing.add(read_table([["red"], ["blue"]]), np.array([0, 1]))
    >>> growing.add(read_table([["green"]]), np.array([1]))
    >>> codes, target = growing.finish()
    >>> codes.values, target.counts
    (array([[1, 0, 2]], dtype=uint8), array([1, 2]))
    """

    def __init__(self, n_rows: int | None, memory: float) -> None:
        self._n_rows, self._memory = n_rows, memory
        self._levels: Levels | None = None
        self._classes = Levels(["y"])
        self._values: NDArray[Any] | None = None
        self._pieces: list[NDArray[Any]] = []
        self._y: list[NDArray[np.int64]] = []
        self._done = 0

    def add(self, table: Table, y: NDArray[Any]) -> None:
        """Append a block."""
        if self._levels is None:
            self._levels = Levels(table.names)
        codes, labels = read_classes(y, table.n_samples)
        self._y.append(np.array(self._classes.learn([labels])[0], np.int64)[codes])
        values = self._levels.encode(table)
        self._done += table.n_samples
        rows = self._n_rows or 2 * self._done
        refuse_codes(rows, len(values), values.itemsize, self._memory)
        if self._n_rows is None:
            self._pieces.append(values)
            return
        if self._values is None or self._values.dtype < values.dtype:
            wider = np.empty((len(values), self._n_rows), values.dtype)
            if self._values is not None:
                wider[:] = self._values
            self._values = wider
        self._values[:, self._done - table.n_samples : self._done] = values

    def finish(self) -> tuple[Codes, Target]:
        """The codes and the classes."""
        if self._levels is None:
            raise ValueError("there are no rows")
        values = np.concatenate(self._pieces, axis=1) if self._pieces else self._values
        labels = list(self._classes.places[0])
        order = sorted(range(len(labels)), key=labels.__getitem__)
        y = np.argsort(order)[np.concatenate(self._y)]
        classes = np.empty(len(labels), dtype=object)
        classes[:] = [labels[c] for c in order]
        if len(labels) < 2:
            raise ValueError(f"y has one class only, {labels[0]}; at least two are needed")
        assert values is not None
        target = Target(y, classes, np.bincount(y))
        return Codes(values, self._levels.counts, self._levels.names), target
