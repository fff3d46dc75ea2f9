"""Measure several small tables in one pass, as if each were measured by itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.backends import PairSource
from bestk.information.measures import Measure, Query
from bestk.information.reading import Measured, Reading
from bestk.tables.table import Block, Table
from bestk.tables.target import Target


def join_subsamples(table: Table, rows: Sequence[Indices]) -> Table:
    """Tables of some rows each, as many, of blocks that are arrays, with columns side by side."""
    starts, blocks = table.n_features * np.arange(len(rows))[:, np.newaxis], list[Block]()
    for block in table.blocks:
        parts, known = [block.take(some) for some in rows], None
        if block.categories is not None:
            known = [levels for part in parts for levels in part.categories or ()]
        values = np.hstack([part.values for part in parts])
        blocks.append(Block((starts + block.columns).ravel(), block.kind, values, known))
    return Table(len(rows[0]), list(table.names) * len(rows), tuple(blocks))


def measure_parts(reading: Reading, joined: Table, width: int, target: Target) -> list[Measured]:
    """The entropies of tables with so many columns each, joined side by side.

    Their rows have the same classes. The reading is that of one table, none of whose columns is
    constant.
    """
    starts = range(0, joined.n_features, width)
    places = np.asarray(reading.categorical_features, np.int64)
    every = np.concatenate([places + start for start in starts])
    whole = replace(reading, categorical_features=every, width=width).measure(joined, target)
    source = whole.entropies.source

    @lru_cache(maxsize=1)  # the tables ask for the same measures in turn
    def pairs(measure: Measure) -> Floats:
        out = np.empty((joined.n_features, width))
        source.fill_tables(measure, width, out)
        return out

    parts = []
    for start in starts:
        columns = slice(start, start + width)
        entropies = replace(
            whole.entropies,
            x=whole.entropies.x[columns],
            xy=whole.entropies.xy[columns],
            source=_PartSource(source, columns, pairs),
        )
        parts.append(Measured(entropies))
    return parts


class _PartSource(PairSource):
    """Some columns of a source; ``pairs`` gives a measure of the pairs of each table."""

    def __init__(
        self, whole: PairSource, columns: slice, pairs: Callable[[Measure], Floats]
    ) -> None:
        self._whole, self.columns, self._pairs = whole, columns, pairs
        self.is_discrete = whole.is_discrete
        x, xy, y = whole.singles
        self.singles, self.copies = (x[columns], xy[columns], y), whole.copies[columns]

    def fill(self, query: Query, out: Array) -> None:
        if query.is_whole:
            pairs = self._pairs(query.measure)[self.columns]
            np.maximum(pairs, query.lowest, out=out, casting="same_kind")
            return
        every = np.arange(self.columns.start, self.columns.stop)
        rows, columns = (every if some is None else every[some] for some in query[1:3])
        self._whole.fill(query._replace(rows=rows, columns=columns), out)
