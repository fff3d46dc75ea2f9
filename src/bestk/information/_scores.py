"""Numeric columns as normal scores, and what a target explains of them.

Scores are multiples of a power of two, so coarse that sums of products of two columns are integers
below 2**53, which do not depend on their order: equal columns have equal information.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from bestk._typing import Array, Floats, Indices
from bestk.errors import DataError
from bestk.native import kernels
from bestk.native.threads import calm_blas, map_columns
from bestk.tables.target import ClassTarget, Target
from bestk.tables.weights import RowWeights, effective_rows

ScoreKind = Literal["rank", "standard"]

Part = Indices | slice  # some of the features

# Multiplications of the products of all columns with each other that are made at once, and kept: a
# millisecond on one thread.
MAX_SMALL_WORK = 2**24

# The entropy of a standard normal variable, in nats.
HALF_LOG = 0.5 * np.log(2 * np.pi * np.e)

# Called with the scores of some columns, ``[column, sample]``, and the place of the first column.
UseScores = Callable[[Floats, int], None]


def normal_scores(
    values: Array,
    kind: ScoreKind = "rank",
    order: Indices | None = None,
    use: UseScores | None = None,
    weights: RowWeights | None = None,
) -> Floats:
    """Scores of mean 0 and variance 1, one row per column; those of missing values are 0.

    They are integers, in units of ``1 / unit_score(m)`` for m samples.
    ``"rank"``: the normal quantile of (r - 1/2) / m, r the rank among the m known values, averaged
    over ties. ``"standard"``: the distance to the mean in standard deviations. Constant columns,
    and those without known values, are 0 throughout. Samples are taken in an ``order``. ``use`` is
    called with the scores of some columns and the place of the first, while they are in the cache.

    With weights, of the samples in their own order, m is the effective number of rows, the rank is
    that among the weights, and each score is times the square root of its weight in such rows: sums
    of products of scores are then weighted sums.
    """
    n_samples, n_columns = values.shape
    n_rows = effective_rows(weights, n_samples)
    one = unit_score(n_rows)
    scores = np.empty((n_columns, n_samples))
    weights_in_order = weights
    if weights is not None and order is not None:
        weights_in_order = RowWeights(weights.values[order])
    quantiles = normal_quantiles(n_rows) if kind == "rank" and weights is None else None

    def write(block: Floats, start: int) -> None:
        """Write the scores of the columns of a block, which is overwritten."""
        out = scores[start : start + len(block)]
        if weights_in_order is not None:
            if kind == "rank":
                _rank_weighted(block, weights_in_order.values)
            _standardise_weighted(block, weights_in_order, one, out)
        else:
            if quantiles is not None:
                _rank(block, quantiles)
            n_columns_of_block, n_values = block.shape
            kernels.standardise_rows(block, n_columns_of_block, n_values, one, out)
        if use is not None:
            use(out, start)

    map_columns(values, write, order)
    return scores


@lru_cache(maxsize=4)
def normal_quantiles(n_samples: int) -> Floats:
    """The normal quantiles of (rank - 1/2) / n for the ranks 1, 1.5, 2, ..., n, which is read only.

    The last tables are kept: strips, folds and subsamples of a table have the same length.
    """
    quantiles = np.asarray(ndtri(np.arange(1, 2 * n_samples) / (2 * n_samples)))
    quantiles.flags.writeable = False
    return quantiles


def unit_score(m: int) -> float:
    """The integer of a score of 1, so that products over m samples add up exactly."""
    return 2.0 ** ((52 - int(np.ceil(np.log2(m)))) // 2)


def _rank(block: Floats, quantiles: Floats) -> None:
    """Put normal quantiles of ranks in place of values, ``[column, sample]``.

    ``quantiles``: of the ranks of columns without gaps. For columns with gaps, the kernel writes
    (r - 1/2) / m with their own m.
    """
    is_missing = np.isnan(block)
    with_gaps = np.flatnonzero(is_missing.any(axis=1)) if is_missing.any() else ()
    n_columns, n_samples = block.shape
    kernels.rank_rows(block, n_columns, n_samples, quantiles)
    for column in with_gaps:
        block[column] = ndtri(block[column])


def _rank_weighted(block: Floats, weights: Floats) -> None:
    """Put normal quantiles of the shares of the weight up to each value in place of values.

    Half of the weight of equal values counts, as half a row does among rows that count alike.
    ``block``: ``[column, sample]``; ``weights``: of the samples.
    """
    for column in block:
        ascending = np.argsort(column, kind="stable")  # NaN last
        n_values = len(column) - int(np.isnan(column).sum())
        if not n_values:
            continue
        samples = ascending[:n_values]
        _, first_samples, value_of_sample = np.unique(
            column[samples], return_index=True, return_inverse=True
        )
        weight_of_value = np.add.reduceat(weights[samples], first_samples)
        weight_up_to = np.cumsum(weight_of_value)
        shares = (weight_up_to - weight_of_value / 2) / weight_up_to[-1]
        column[samples] = ndtri(shares)[value_of_sample]


def _standardise_weighted(block: Floats, weights: RowWeights, one: float, out: Floats) -> None:
    """Write whole numbers of weighted mean 0 and variance one^2, times the root of the weights.

    ``block`` and ``out``: ``[column, sample]``.
    """
    in_rows = weights.in_rows
    root = np.sqrt(in_rows)
    for column, scores in zip(block, out, strict=True):
        has_value = ~np.isnan(column)
        scores[:] = 0.0
        if not has_value.any():
            continue
        values = column[has_value]
        middle = 0.5 * values.max() + 0.5 * values.min()
        half = 0.5 * values.max() - 0.5 * values.min()
        if not half > 0:
            continue
        values = (values - middle) / half
        weight = in_rows[has_value]
        values -= (weight @ values) / weight.sum()
        deviation = np.sqrt((weight @ values**2) / weights.n_effective)
        scores[has_value] = np.rint(values * root[has_value] * (one / deviation))


class Explained(NamedTuple):
    """The part of columns that their mean, or a target, explains.

    The sum of products of two columns that is left is that of their scores, less, for each term, a
    weight times the entries of both columns.
    """

    entropy: float
    """Of the target."""

    weights: Floats
    """Of the terms: as many as it takes parameters to explain a column."""

    entries: Floats
    """``[term, feature]``"""

    @classmethod
    def by_mean(cls, sums: Floats, m: int) -> "Explained":
        """By the mean; sums of the scores of each column over m samples."""
        return cls(0.0, np.array([1.0 / m]), sums[np.newaxis])

    @classmethod
    def by_class(cls, sizes: Indices | Floats, entries: Floats) -> "Explained":
        """By classes of these sizes; entries: sums of the scores in each, ``[class, feature]``."""
        m = sizes.sum()
        entropy = float(np.log(m) - (sizes * np.log(sizes)).sum() / m)
        return cls(entropy, 1.0 / sizes, entries)

    @classmethod
    def by_number(
        cls, y: Floats, sums: Floats, products: Floats, weights: RowWeights | None = None
    ) -> "Explained":
        """By the scores of a number.

        ``sums``: of the scores of each column; ``products``: sums of products of these scores with
        those of the number.
        """
        weight_of_mean = 1.0 / effective_rows(weights, len(y))
        sum_of_y = add_scores(y[np.newaxis], weights)[0]
        squares_of_y = y @ y - sum_of_y * sum_of_y * weight_of_mean
        entries = np.array([sums, products - sums * sum_of_y * weight_of_mean])
        weights_of_terms = np.array([weight_of_mean, 1.0 / squares_of_y])
        return cls(float(HALF_LOG), weights_of_terms, entries)

    def subtract(self, products: Floats, i: Any = slice(None), j: Any = slice(None)) -> Floats:
        """What is left of sums of products of the columns i and j."""
        unexplained = products.copy()
        for weight, entry in zip(self.weights, self.entries, strict=True):
            # Term by term: the same bits on any number of threads.
            unexplained -= weight * entry[j] * entry[i]
        return unexplained


def add_scores(scores: Floats, weights: RowWeights | None) -> Floats:
    """Sums of each row of scores, which are times the square roots of the weights, by weight."""
    if weights is None:
        return np.einsum("ij->i", scores)
    return np.asarray(scores @ np.sqrt(weights.in_rows))


@dataclass(frozen=True)
class ByClasses:
    """What classes explain of columns whose samples come class by class."""

    target: ClassTarget

    @property
    def order(self) -> Indices:
        """The order of the samples."""
        return self.target.order

    def explain(self, scores: Floats) -> Explained:
        """What the classes explain of columns, by their scores, ``[column, sample]``."""
        target = self.target
        first_samples = np.cumsum(target.counts) - target.counts
        if target.weights is None:
            sums = np.add.reduceat(scores, first_samples, axis=1)
            return Explained.by_class(target.counts, sums.T.copy())
        root = np.sqrt(target.weights.in_rows[self.order])
        sums = np.add.reduceat(scores * root, first_samples, axis=1)
        return Explained.by_class(target.sizes, sums.T.copy())


@dataclass(frozen=True)
class ByNumbers:
    """What numbers explain of columns whose samples come in their own order."""

    scores: Floats
    """Of the numbers."""

    weights: RowWeights | None

    order = None
    """Samples keep their order."""

    def explain(self, scores: Floats) -> Explained:
        """What the numbers explain of columns, by their scores, ``[column, sample]``."""
        sums = add_scores(scores, self.weights)
        return Explained.by_number(self.scores, sums, scores @ self.scores, self.weights)


def explain_by(target: Target, kind: ScoreKind, n_samples: int) -> ByClasses | ByNumbers:
    """What a target explains of columns of so many samples."""
    if target.n_samples != n_samples:
        came = f"the target has {target.n_samples} values but X has {n_samples} rows"
        raise DataError(f"{came}; give one a row")
    if isinstance(target, ClassTarget):
        return ByClasses(target)
    numbers = target.values
    scores = normal_scores(numbers[:, np.newaxis], kind, weights=target.weights)[0]
    if not scores.any():
        raise DataError(f"y is constant, {numbers[0]}; at least two different values are needed")
    return ByNumbers(scores, target.weights)


class ScoredTable:
    """Columns as normal scores, their sums, and what the target explains of them.

    The rows of ``values`` are those of the target, which has their weights.
    ``n_rows`` is the effective number of rows, ``n_samples`` that of scores of each column.
    """

    def __init__(self, values: Array, target: Target, kind: ScoreKind = "rank") -> None:
        weights = target.weights
        self.n_samples = len(values)
        self.n_rows = effective_rows(weights, self.n_samples)
        self.one = unit_score(self.n_rows)
        self._tables: Floats | None = None  # products of the columns of each table
        by_target = explain_by(target, kind, self.n_samples)
        weights_in_order = weights
        if weights is not None and by_target.order is not None:
            weights_in_order = RowWeights(weights.values[by_target.order])
        n_columns = values.shape[1]
        self.sums = np.empty(n_columns)
        self.squares = np.empty(n_columns)
        explained_from: dict[int, Explained] = {}  # by the first of some columns

        def sum_up(scores: Floats, start: int) -> None:
            columns = slice(start, start + len(scores))
            self.sums[columns] = add_scores(scores, weights_in_order)
            np.einsum("ij,ij->i", scores, scores, out=self.squares[columns])
            explained_from[start] = by_target.explain(scores)

        with calm_blas():
            self.values = normal_scores(values, kind, by_target.order, sum_up, weights)
        entries = np.hstack([explained_from[start].entries for start in sorted(explained_from)])
        self.explained = explained_from[0]._replace(entries=entries)

    def table_products(self, width: int) -> Floats:
        """Sums of products of the columns of each table, of so many side by side; they are kept."""
        if self._tables is None or self._tables.shape[1] != width:
            scores = self.values.reshape(-1, width, self.n_samples)
            with calm_blas():
                products = scores @ scores.transpose(0, 2, 1)
            self._tables = products.reshape(-1, width)
        return self._tables

    def products(self, rows: Part, columns: Part) -> Floats:
        """Sums of products of the scores of some columns with those of others."""
        n_columns = len(self.values)
        if n_columns**2 * self.n_samples <= MAX_SMALL_WORK:
            return np.ascontiguousarray(self.table_products(n_columns)[rows][:, columns])
        if isinstance(columns, slice) and not isinstance(rows, slice) and len(rows) == 1:
            row = self.values[int(rows[0])]
            with calm_blas(self.values.size):
                return np.asarray((self.values @ row)[np.newaxis, columns])
        return np.asarray(self.values[rows] @ self.values[columns].T)
