"""The mean of several estimates of the same information."""

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any

import numpy as np

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.information.backends import PairSource
from bestk.information.measures import Measure, Query
from bestk.native.threads import spans

MAX_WHOLE_BYTES = 2**29  # of a matrix that is filled at once, each pair once
BLEND_STRIP_BYTES = 2**24  # of a larger one that are filled together


class BlendedSource(PairSource):
    """The mean of several estimates; for each pair, of those that have both of its columns.

    The chain rule ``I(xi, xj; y) = I(xi; y) + I(xj; y | xi)`` holds for every pair. ``partial`` is
    for the ``known`` columns, in that order.
    """

    is_discrete = False

    def __init__(
        self, counted: Sequence[Any], partial: PairSource | None = None,
        known: Indices | None = None,
    ) -> None:  # fmt: skip
        self._sources, self._partial = list(counted), partial
        self.n_features = len(counted[0].copies)
        self._known = np.arange(0) if known is None else known
        if partial is not None and np.array_equal(self._known, np.arange(self.n_features)):
            self._sources, self._partial = [*counted, partial], None
        self._place = np.full(self.n_features, -1)
        self._place[self._known] = np.arange(len(self._known))
        y = counted[0].singles[2]
        x = self._mean(lambda source: source.singles[0])
        self.singles = x, self._mean(_entropy_within) + y, y
        self.copies = self._mean(lambda source: source.copies)

    def _mean(self, each: Callable[[PairSource], Floats]) -> Floats:
        """The mean over the estimates that have a column."""
        total = np.sum([each(source) for source in self._sources], axis=0)
        share = np.full(self.n_features, float(len(self._sources)))
        if self._partial is not None:
            total[self._known] += each(self._partial)
            share[self._known] += 1
        return np.asarray(total / share)

    def fill(self, query: Query, out: Array) -> None:
        """Write the measure of each row feature against each column feature into ``out``."""
        if query.rows is query.columns and 8 * out.size <= MAX_WHOLE_BYTES:
            self._fill(query, out)
            return
        rows, _ = query.features(self.n_features)
        height = max(1, BLEND_STRIP_BYTES // max(1, 8 * out.shape[1]))
        for strip in starmap(slice, spans(len(out), height)):
            self._fill(query._replace(rows=rows[strip]), out[strip])

    def _fill(self, query: Query, out: Array) -> None:
        total = out if out.dtype == np.float64 else np.empty(out.shape)
        other = np.empty(out.shape)
        every = query._replace(lowest=-np.inf)
        self._sources[0].fill(every, total)
        for source in self._sources[1:]:
            source.fill(every, other)
            total += other
        share: Any = len(self._sources)
        if self._partial is not None:
            share = self._add_known(self._partial, query, total)
        total /= share
        if self._partial is not None:
            total += (share == len(self._sources)) * self._single_terms(query)
        np.maximum(total, query.lowest, out=out)

    def fill_tables(self, measure: Measure, width: int, out: Array) -> None:
        """Write the pairs of each table of so many columns, which stand side by side."""
        if self._partial is not None:
            for start in range(0, self.n_features, width):
                own = np.arange(start, start + width)
                self._fill(Query(measure, own, own), out[start : start + width])
            return
        first, *others = self._sources
        first.fill_tables(measure, width, out)
        part = np.empty(out.shape)
        for source in others:
            source.fill_tables(measure, width, part)
            out += part
        out /= len(self._sources)

    @cached_property
    def _excess(self) -> tuple[Floats, Floats]:
        """H(x) and H(x | y) of each column over all estimates, less those of counts."""
        x, xy, y = self.singles
        x = x - np.mean([source.singles[0] for source in self._sources], axis=0)
        return x, xy - y - np.mean([_entropy_within(source) for source in self._sources], axis=0)

    def _single_terms(self, query: Query) -> Floats:
        """What each pair of the query adds to the measure by the means of its columns."""
        row, column = query.measure.single_terms(*self._excess)
        rows, columns = query.features(self.n_features)
        return np.asarray(np.add.outer(row[rows], column[columns]))

    def _add_known(self, partial: PairSource, query: Query, total: Floats) -> Floats:
        """Add the estimate for some columns; how many estimates each pair has."""
        places = [self._place[some] for some in query.features(self.n_features)]
        here = [np.flatnonzero(place >= 0) for place in places]
        share = np.full(total.shape, float(len(self._sources)))
        own = np.empty((len(here[0]), len(here[1])))
        if own.size:
            left, right = (place[some] for place, some in zip(places, here, strict=True))
            partial.fill(Query(query.measure, left, right), own)
            total[np.ix_(*here)] += own
            share[np.ix_(*here)] += 1
        return share


def _entropy_within(source: PairSource) -> Floats:
    """H(x | y) of each feature."""
    _, xy, y = source.singles
    return xy - y
