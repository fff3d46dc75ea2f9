"""Measure several small tables in one pass, as if each were measured by itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestk._typing import Array, Indices
from bestk.data.table import Block, Table
from bestk.information.backends import PairSource
from bestk.information.entropies import largest_by_chance
from bestk.information.measures import Query
from bestk.information.reading import Measured, ParsedTarget, Reading


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
    whole = replace(reading, categorical_features=every).measure(joined, target)
    shared = whole.entropies.covariances
    covariances = [None] * len(starts) if shared is None else shared.parts(width)
    return [
        _part(whole, slice(start, start + width), own)
        for start, own in zip(starts, covariances, strict=True)
    ]


def _part(whole: Measured, columns: slice, covariances: Any) -> Measured:
    every = whole.entropies
    levels = whole.levels if every.levels is None else every.levels
    share = every.share[columns] if isinstance(every.share, np.ndarray) else every.share
    chance = None
    if every.chance is not None and levels is not None:  # among the columns of one table
        sizes = whole.target.counts
        chance = share * largest_by_chance(levels[columns], int(sizes.sum()), len(sizes))
    entropies = replace(
        every, x=every.x[columns], xy=every.xy[columns], source=_PartSource(every.source, columns),
        covariances=covariances,
        levels=None if every.levels is None else every.levels[columns],
        share=share, chance=chance, find_synergy=None, interactions={},
    )  # fmt: skip
    return replace(whole, entropies=entropies, discretizer=None, levels=None)


class _PartSource:
    """Some columns of a source, side by side."""

    def __init__(self, whole: PairSource, columns: slice) -> None:
        self._whole, self._columns = whole, np.arange(columns.start, columns.stop)
        self.is_discrete = whole.is_discrete
        x, xy, y = whole.singles
        self.singles, self.copies = (x[columns], xy[columns], y), whole.copies[columns]

    def fill(self, query: Query, out: Array) -> None:
        every = self._columns
        rows, columns = (every if some is None else every[some] for some in query[1:3])
        self._whole.fill(query._replace(rows=rows, columns=columns), out)
