"""The mean of several estimates of the same information."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.information.backends import PairSource
from bestk.information.measures import Measure, Query
from bestk.native.threads import spans

# Bytes of a matrix that is filled at once, each pair once.
MAX_WHOLE_BYTES = 2**29

# Bytes of the rows of a larger matrix that are filled together.
BLEND_STRIP_BYTES = 2**24


class BlendedSource(PairSource):
    """The mean of several estimates; for each pair, of those that have both of its columns.

    The chain rule ``I(xi, xj; y) = I(xi; y) + I(xj; y | xi)`` holds for every pair. ``counted``
    have all columns; ``partial`` has some of them, those of ``partial_columns`` in that order.
    """

    is_discrete = False

    def __init__(
        self,
        counted: Sequence[Any],
        partial: PairSource | None = None,
        partial_columns: Indices | None = None,
    ) -> None:
        self.n_features = len(counted[0].copies)
        self._complete = list(counted)
        self._partial = partial
        self._partial_columns = np.arange(0) if partial_columns is None else partial_columns
        has_all_columns = np.array_equal(self._partial_columns, np.arange(self.n_features))
        if partial is not None and has_all_columns:
            self._complete = [*counted, partial]
            self._partial = None
        self._place_in_partial = np.full(self.n_features, -1)
        self._place_in_partial[self._partial_columns] = np.arange(len(self._partial_columns))
        y = counted[0].singles[2]
        x = self._mean(lambda source: source.singles[0])
        xy = self._mean(_entropy_within) + y
        self.singles = x, xy, y
        self.copies = self._mean(lambda source: source.copies)

    def _mean(self, estimate: Callable[[PairSource], Floats]) -> Floats:
        """The mean over the estimates that have a column, by a function of a source."""
        total = np.sum([estimate(source) for source in self._complete], axis=0)
        n_estimates = np.full(self.n_features, float(len(self._complete)))
        if self._partial is not None:
            total[self._partial_columns] += estimate(self._partial)
            n_estimates[self._partial_columns] += 1
        return np.asarray(total / n_estimates)

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        if query.rows is query.columns and 8 * out.size <= MAX_WHOLE_BYTES:
            self._fill(query, out)
            return
        rows, _ = query.features(self.n_features)
        bytes_of_row = max(1, 8 * out.shape[1])
        for start, stop in spans(len(out), max(1, BLEND_STRIP_BYTES // bytes_of_row)):
            self._fill(query._replace(rows=rows[start:stop]), out[start:stop])

    def _fill(self, query: Query, out: Array) -> None:
        """The same for rows that are filled together."""
        total = out if out.dtype == np.float64 else np.empty(out.shape)
        values = np.empty(out.shape)
        as_it_is = query._replace(lowest=-np.inf)
        self._complete[0].fill(as_it_is, total)
        for source in self._complete[1:]:
            source.fill(as_it_is, values)
            total += values
        if self._partial is None:
            total /= len(self._complete)
        else:
            n_estimates = self._add_partial(self._partial, query, total)
            total /= n_estimates
            # Pairs of a column that the partial estimate has with one that it has not are counted:
            # what the column alone tells is still the mean over all estimates.
            is_counted_only = n_estimates == len(self._complete)
            total += is_counted_only * self._single_terms(query)
        np.maximum(total, query.lowest, out=out)

    def fill_tables(self, measure: Measure, width: int, out: Array) -> None:
        """Write the pairs of each table of so many columns, which stand side by side."""
        if self._partial is not None:
            super().fill_tables(measure, width, out)
            return
        first, *others = self._complete
        first.fill_tables(measure, width, out)
        values = np.empty(out.shape)
        for source in others:
            source.fill_tables(measure, width, values)
            out += values
        out /= len(self._complete)

    @cached_property
    def _excess(self) -> tuple[Floats, Floats]:
        """H(x) and H(x | y) of each column over all estimates, less those of complete ones."""
        x, xy, y = self.singles
        of_complete = [source.singles[0] for source in self._complete]
        within_of_complete = [_entropy_within(source) for source in self._complete]
        excess = x - np.mean(of_complete, axis=0)
        excess_within = xy - y - np.mean(within_of_complete, axis=0)
        return excess, excess_within

    def _single_terms(self, query: Query) -> Floats:
        """What each pair of the query adds to the measure by the means of its columns."""
        row_term, column_term = query.measure.single_terms(*self._excess)
        rows, columns = query.features(self.n_features)
        return np.asarray(np.add.outer(row_term[rows], column_term[columns]))

    def _add_partial(self, partial: PairSource, query: Query, total: Floats) -> Floats:
        """Add the partial estimate to a total; returns how many estimates each pair has."""
        rows, columns = query.features(self.n_features)
        row_places = self._place_in_partial[rows]
        column_places = self._place_in_partial[columns]
        rows_here = np.flatnonzero(row_places >= 0)
        columns_here = np.flatnonzero(column_places >= 0)
        n_estimates = np.full(total.shape, float(len(self._complete)))
        values = np.empty((len(rows_here), len(columns_here)))
        if values.size:
            of_partial = Query(query.measure, row_places[rows_here], column_places[columns_here])
            partial.fill(of_partial, values)
            both_here = np.ix_(rows_here, columns_here)
            total[both_here] += values
            n_estimates[both_here] += 1
        return n_estimates


def _entropy_within(source: PairSource) -> Floats:
    """H(x | y) of each feature."""
    _, xy, y = source.singles
    return xy - y
