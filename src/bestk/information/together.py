"""Measure several small tables in one pass, as if each were measured by itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.data.table import Block, Table
from bestk.data.target import ParsedTarget
from bestk.information.entropies import largest_by_chance
from bestk.information.measures import Measure, Query
from bestk.information.reading import Measured, Reading


def join_subsamples(table: Table, rows: Sequence[Indices]) -> Table:
    """Tables of some rows each, as many, with their columns side by side, the first table's first.

    All blocks are arrays.
    """
    starts = table.n_features * np.arange(len(rows))[:, np.newaxis]
    every, blocks = np.stack(rows, axis=1), []
    for block in table.blocks:
        places, known = (starts + block.columns).ravel(), None
        if block.categories is None:
            values = block.values[every].reshape(len(every), -1)
        else:
            parts = [block.take(some) for some in rows]
            values = np.hstack([part.values for part in parts])
            known = [levels for part in parts for levels in part.categories or ()]
        blocks.append(Block(places, block.kind, values, known))
    return Table(len(every), list(table.names) * len(rows), tuple(blocks))


def measure_parts(
    reading: Reading, joined: Table, width: int, target: ParsedTarget
) -> list[Measured]:
    """The entropies of tables with so many columns each, joined side by side.

    Their rows have the same classes. The reading is that of one table, none of whose columns is
    constant, and which has 200 rows or as many as the joined table has columns.
    """
    starts = range(0, joined.n_features, width)
    places = np.asarray(reading.categorical_features, np.int64)
    every = np.concatenate([places + start for start in starts])
    whole = replace(reading, categorical_features=every, width=width).measure(joined, target)
    source = _Joined(whole.entropies.source, width)
    shared = whole.entropies.covariances
    covariances = [None] * len(starts) if shared is None else shared.parts(width)
    return [
        _part(whole, source, slice(start, start + width), own, target.classes.counts)
        for start, own in zip(starts, covariances, strict=True)
    ]


def _part(
    whole: Measured, source: "_Joined", columns: slice, covariances: Any, sizes: Indices
) -> Measured:
    """What was measured of the columns of one table, with classes of these sizes."""
    every, own = whole.entropies, dict[str, Any]()
    for name in ("x", "xy", "levels", "share", "curvature"):
        values = getattr(every, name)
        own[name] = values[columns] if isinstance(values, np.ndarray) else values
    if every.chance is not None:  # among the columns of one table
        levels: Any = whole.levels if every.levels is None else every.levels
        by_chance = largest_by_chance(levels[columns], int(sizes.sum()), len(sizes))
        own["chance"] = own["share"] * by_chance
    entropies = replace(
        every, source=_PartSource(source, columns), covariances=covariances, find_synergy=None,
        interactions={}, **own,
    )  # fmt: skip
    return Measured(entropies)


class _Joined:
    """The source of tables side by side; it keeps the last measure of all their pairs."""

    def __init__(self, source: Any, width: int) -> None:
        self.source, self._width = source, width
        self._last: tuple[Measure, Floats] | None = None

    def pairs(self, measure: Measure) -> Floats:
        """A row for each column, with all columns of its table."""
        if self._last is None or self._last[0] != measure:
            self._last = measure, np.empty((len(self.source.copies), self._width))
            self.source.fill_tables(measure, self._width, self._last[1])
        return self._last[1]


class _PartSource:
    """Some columns of a source, side by side."""

    def __init__(self, joined: _Joined, columns: slice) -> None:
        self._joined, self._whole, self._columns = joined, joined.source, columns
        self.is_discrete = self._whole.is_discrete
        x, xy, y = self._whole.singles
        self.singles, self.copies = (x[columns], xy[columns], y), self._whole.copies[columns]

    def fill(self, query: Query, out: Array) -> None:
        if query.is_whole:
            pairs = self._joined.pairs(query.measure)[self._columns]
            np.maximum(pairs, query.lowest, out=out, casting="same_kind")
            return
        every = np.arange(self._columns.start, self._columns.stop)
        rows, columns = (every if some is None else every[some] for some in query[1:3])
        self._whole.fill(query._replace(rows=rows, columns=columns), out)
