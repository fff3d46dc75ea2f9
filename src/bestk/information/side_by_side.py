"""Measure several small tables in one pass, as if each were measured by itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from bestk._typing import Array, Floats, Indices
from bestk.information.backends import PairSource
from bestk.information.entropy_reader import EntropyReader, Measured
from bestk.information.measures import Measure, Query
from bestk.tables.table import Block, Table
from bestk.tables.target import Target


def join_subsamples(table: Table, rows: Sequence[Indices]) -> Table:
    """Subsamples of the rows of a table, as one table with their columns side by side.

    Parameters
    ----------
    table : Table
        The values of all its blocks are arrays.
    rows : sequence of arrays of int
        The rows of each subsample, as many in each.
    """
    first_column = table.n_features * np.arange(len(rows))
    blocks = []
    for block in table.blocks:
        subsamples = [block.take(rows_of_subsample) for rows_of_subsample in rows]
        # The columns of the block in the first subsample, then those in the second, and so on.
        places = first_column[:, np.newaxis] + block.columns
        values = np.hstack([subsample.values for subsample in subsamples])
        categories: list[list[Any]] | None = None
        if block.categories is not None:
            categories = []
            for subsample in subsamples:
                categories.extend(subsample.categories or ())
        blocks.append(Block(places.ravel(), block.kind, values, categories))
    n_samples = len(rows[0])
    names = list(table.names) * len(rows)
    return Table(n_samples, names, tuple(blocks))


def measure_parts(
    reader: EntropyReader, joined: Table, width: int, target: Target
) -> list[Measured]:
    """The entropies of tables with so many columns each, joined side by side.

    Parameters
    ----------
    reader : EntropyReader
        How one of the tables is measured; none of its columns is constant.
    joined : Table
        The tables, see :func:`join_subsamples`.
    width : int
        The number of columns of each table.
    target : Target
        The target of all of them: their rows have the same classes.
    """
    starts = range(0, joined.n_features, width)
    categorical = np.asarray(reader.categorical_features, np.int64)
    categorical_of_all = np.concatenate([categorical + start for start in starts])
    reader_of_all = replace(reader, categorical_features=categorical_of_all, width=width)
    whole = reader_of_all.measure(joined, target).entropies

    # The tables ask for the same measures in turn, so that one is kept.
    @lru_cache(maxsize=1)
    def fill_pairs(measure: Measure) -> Floats:
        """A measure of the pairs of each table, one below the other."""
        out = np.empty((joined.n_features, width))
        whole.source.fill_tables(measure, width, out)
        return out

    measured = []
    for start in starts:
        columns = slice(start, start + width)
        source = _TableSource(whole.source, columns, fill_pairs)
        entropies = replace(whole, x=whole.x[columns], xy=whole.xy[columns], source=source)
        measured.append(Measured(entropies))
    return measured


class _TableSource(PairSource):
    """The columns of one of several tables that a source holds side by side."""

    def __init__(
        self, whole: PairSource, columns: slice, fill_pairs: Callable[[Measure], Floats]
    ) -> None:
        """Read the columns of one table.

        Parameters
        ----------
        whole : PairSource
            The source of all tables.
        columns : slice
            The columns of this table among those of all.
        fill_pairs : function
            It gives a measure of the pairs of each table, one below the other, as an array of
            shape (columns of all tables, columns of a table).
        """
        self._whole = whole
        self._columns = columns
        self._fill_pairs = fill_pairs
        x, xy, y = whole.singles
        self.is_discrete = whole.is_discrete
        self.singles = (x[columns], xy[columns], y)
        self.copies = whole.copies[columns]

    def fill(self, query: Query, out: Array) -> None:
        if query.is_whole:
            pairs = self._fill_pairs(query.measure)[self._columns]
            np.maximum(pairs, query.lowest, out=out, casting="same_kind")
            return
        # Column j of this table is column places[j] of the source.
        places = np.arange(self._columns.start, self._columns.stop)
        rows = places
        if query.rows is not None:
            rows = places[query.rows]
        columns = places
        if query.columns is not None:
            columns = places[query.columns]
        query_of_whole = query._replace(rows=rows, columns=columns)
        self._whole.fill(query_of_whole, out)
