"""The mean of several estimates of the same information, and the covariances of its columns."""

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any

import numpy as np

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.data.target import Target
from bestk.data.weights import RowWeights
from bestk.information._scores import Covariances, Explained, ScoredTable, read_given
from bestk.information.backends import PairSource
from bestk.information.measures import Measure, Query
from bestk.native.threads import spans

MAX_WHOLE_BYTES = 2**29  # of a matrix that is filled at once, each pair once
MIN_CURVED = 1e-6  # of the squares of scores, that scores do not explain; of two values they do
PRIOR_ROWS = 10.0  # with the mean target, added to those of each category
BLEND_STRIP_BYTES = 2**24  # of a larger one that are filled together


class BlendedSource:
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


def measure_curvature(columns: Any) -> Floats:
    """``I(z^2; y | z)`` of each column of scores z under a Gaussian model, less its mean."""
    n, m = len(columns.sums), columns.n_rows
    sums, products, entries = columns.squared()
    models = (
        Explained.by_mean(np.append(columns.sums, sums), m),
        columns.explained._replace(entries=np.hstack([columns.explained.entries, entries])),
    )
    left = np.arange(n) + np.array([[0], [0], [n]])  # scores twice, squares
    right = np.arange(n) + np.array([[0], [n], [n]])
    total, within = np.empty((2, n))
    for model, out in zip(models, (total, within), strict=True):
        zz, zq, qq = model.subtract(np.vstack([columns.squares, products]), left, right)
        out[:] = qq - zq * zq / np.maximum(zz, 1.0)
    curved = np.minimum(total, within) > MIN_CURVED * products[1]
    ratio = np.divide(total, within, out=np.ones(n), where=curved)
    expected = max(1, len(columns.explained.weights) - 1) / m
    return np.where(curved, 0.5 * (np.log(ratio) - expected), 0.0)


def measure_covariances(
    numbers: tuple[Indices, ScoredTable | None], categories: tuple[Indices, Any], target: Any,
    weights: RowWeights | None = None,
) -> Covariances:  # fmt: skip
    """Covariances of numeric columns, given as scores, and of categories, by their mean target.

    Codes of categories, the target and the weights have the rows in their own order.
    """
    parts = []
    if numbers[1] is not None:
        scored, explained = numbers[1], numbers[1].explained
        if scored.kind != "standard" and not isinstance(target, Target):
            explain = read_given(target, "standard", scored.n_samples, weights)[1]
            explained = explain(scored.values)
        parts.append((numbers[0], scored, explained))
    places, codes = categories
    if len(places):
        means = [
            _category_means(column, target, weights)[column] for column in codes.astype(np.int64)
        ]
        scored = ScoredTable(np.array(means).T, target, "standard", weights)
        parts.append((places, scored, scored.explained))
    return Covariances(parts)


def _category_means(column: Indices, target: Target | Floats, weights: RowWeights | None) -> Floats:
    """The mean target of each category of a column; of classes, where they differ most."""
    in_rows = None if weights is None else weights.in_rows
    counts = np.bincount(column, in_rows).astype(np.float64)
    if not isinstance(target, Target):
        excess = target - np.average(target, weights=in_rows)
        sums = np.bincount(column, excess if in_rows is None else excess * in_rows)
        return np.asarray(sums / (counts + PRIOR_ROWS))
    shares, n_classes = target.sizes / target.sizes.sum(), target.n_classes
    places = column * n_classes + target.codes
    cells = np.bincount(places, in_rows, minlength=len(counts) * n_classes)
    scales = np.outer(counts + PRIOR_ROWS, np.sqrt(shares))
    excess = (cells.reshape(-1, n_classes) - np.outer(counts, shares)) / scales
    spread = np.sqrt(counts)[:, np.newaxis] * excess
    first = np.linalg.svd(spread, full_matrices=False)[2][0]
    return np.asarray(excess @ (first * np.sign(first[np.abs(first).argmax()])))
