"""Measure several small tables in one pass, as if each were measured by itself."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bestk._typing import Array
from bestk.data.table import Block, Table
from bestk.information.backends import PairSource
from bestk.information.entropies import largest_by_chance
from bestk.information.measures import Query
from bestk.information.reading import Measured, ParsedTarget, Reading


def join_tables(tables: Sequence[Table]) -> Table:
    """The columns of tables of the same kinds side by side, those of the first table first."""
    starts = np.cumsum([0, *(table.n_features for table in tables)])
    blocks = []
    for own in zip(*(table.blocks for table in tables), strict=True):
        places = [block.columns + start for block, start in zip(own, starts, strict=False)]
        known = [level for block in own for level in block.categories or ()] or None
        values = np.hstack([block.values for block in own])
        blocks.append(Block(np.concatenate(places), own[0].kind, values, known))
    names = [name for table in tables for name in table.names]
    return Table(tables[0].n_samples, names, tuple(blocks))


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
    return [_part(whole, slice(start, start + width)) for start in starts]


def _part(whole: Measured, columns: slice) -> Measured:
    every = whole.entropies
    levels = whole.levels if every.levels is None else every.levels
    share = every.share[columns] if isinstance(every.share, np.ndarray) else every.share
    chance = None
    if every.chance is not None and levels is not None:  # among the columns of one table
        sizes = whole.target.counts
        chance = share * largest_by_chance(levels[columns], int(sizes.sum()), len(sizes))
    entropies = replace(
        every, x=every.x[columns], xy=every.xy[columns], source=_PartSource(every.source, columns),
        covariances=None if every.covariances is None else every.covariances.part(columns),
        levels=None if every.levels is None else every.levels[columns],
        share=share, chance=chance, find_synergy=None, interactions={},
    )  # fmt: skip
    return replace(whole, entropies=entropies, discretizer=None, discretised=None, levels=None)


class _PartSource:
    """Some columns of a source, side by side."""

    def __init__(self, whole: PairSource, columns: slice) -> None:
        self.whole, self.columns, self.is_discrete = whole, columns, whole.is_discrete
        x, xy, y = whole.singles
        self.singles, self.copies = (x[columns], xy[columns], y), whole.copies[columns]

    def fill(self, query: Query, out: Array) -> None:
        rows, columns = query.features(self.columns.stop - self.columns.start)
        mine = self.columns.start + rows
        yours = mine if rows is columns else self.columns.start + columns
        self.whole.fill(query._replace(rows=mine, columns=yours), out)
