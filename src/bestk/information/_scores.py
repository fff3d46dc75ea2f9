"""Numeric columns as normal scores, and what a target explains of them.

Scores are multiples of a power of two, so coarse that sums of products of two columns are integers
below 2**53, which do not depend on their order: equal columns have equal information.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from bestk._typing import Array, Floats, Indices
from bestk.native import kernels
from bestk.native.threads import calm_blas, map_columns
from bestk.tables.target import ClassTarget, Target
from bestk.tables.weights import RowWeights, effective_rows

ScoreKind = Literal["rank", "standard"]
Part = Indices | slice  # some of the features
MAX_SMALL_WORK = 2**24  # of products of columns with each other: a millisecond on one thread
HALF_LOG = 0.5 * np.log(2 * np.pi * np.e)  # entropy of a standard normal variable


def normal_scores(
    values: Array, kind: ScoreKind = "rank", order: Indices | None = None,
    use: Callable[[Floats, int], None] | None = None, weights: RowWeights | None = None,
) -> Floats:  # fmt: skip
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
    n_samples, n = values.shape
    m = effective_rows(weights, n_samples)
    one, out = unit_score(m), np.empty((n, n_samples))
    in_order = weights if weights is None or order is None else RowWeights(weights.values[order])
    table = normal_quantiles(m) if kind == "rank" and weights is None else None

    def write(block: Floats, start: int) -> None:
        part = out[start : start + len(block)]
        if in_order is not None:
            if kind == "rank":
                _rank_weighted(block, in_order.values)
            _standardise_weighted(block, in_order, one, part)
        else:
            if table is not None:
                _rank(block, table)
            kernels.standardise_rows(block, *block.shape, one, part)
        if use is not None:
            use(part, start)

    map_columns(values, write, order)
    return out


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


def _rank(block: Floats, table: Floats) -> None:
    """Put normal quantiles of ranks in place of values; ``table`` holds those of full rows."""
    gaps = np.isnan(block)
    with_gaps = np.flatnonzero(gaps.any(axis=1)) if gaps.any() else ()
    kernels.rank_rows(block, *block.shape, table)
    for row in with_gaps:
        block[row] = ndtri(block[row])


def _rank_weighted(block: Floats, weights: Floats) -> None:
    """Put normal quantiles of the shares of the weight up to each value in place of values.

    Half of the weight of equal values counts, as half a row does among rows that count alike.
    """
    for row in block:
        order = np.argsort(row, kind="stable")
        known = order[: len(row) - int(np.isnan(row).sum())]
        if not len(known):
            continue
        _, first_rows, group = np.unique(row[known], return_index=True, return_inverse=True)
        of_groups = np.add.reduceat(weights[known], first_rows)
        up_to = np.cumsum(of_groups)
        row[known] = ndtri((up_to - of_groups / 2) / up_to[-1])[group]


def _standardise_weighted(block: Floats, weights: RowWeights, one: float, out: Floats) -> None:
    """Whole numbers of weighted mean 0 and variance one^2, times the root of the weights."""
    in_rows = weights.in_rows
    root = np.sqrt(in_rows)
    for row, scores in zip(block, out, strict=True):
        known = ~np.isnan(row)
        scores[:] = 0.0
        if not known.any():
            continue
        values = row[known]
        middle = 0.5 * values.max() + 0.5 * values.min()
        half = 0.5 * values.max() - 0.5 * values.min()
        if not half > 0:
            continue
        values = (values - middle) / half
        of_known = in_rows[known]
        values -= (of_known @ values) / of_known.sum()
        deviation = np.sqrt((of_known @ values**2) / weights.n_effective)
        scores[known] = np.rint(values * root[known] * (one / deviation))


class Explained(NamedTuple):
    """The part of columns that their mean, or a target, explains.

    The sum of products of two columns that is left is that of their scores, less, for each term, a
    weight times the entries of both columns.
    """

    entropy: float  # of the target
    weights: Floats  # of the terms: as many as it takes parameters to explain a column
    entries: Floats  # (term, feature)

    @classmethod
    def by_mean(cls, sums: Floats, m: int) -> "Explained":
        """By the mean; sums of the scores of each column over m samples."""
        return cls(0.0, np.array([1.0 / m]), sums[np.newaxis])

    @classmethod
    def by_class(cls, sizes: Indices | Floats, entries: Floats) -> "Explained":
        """By classes of these sizes; entries: sums of the scores of each."""
        m = sizes.sum()
        entropy = float(np.log(m) - (sizes * np.log(sizes)).sum() / m)
        return cls(entropy, 1.0 / sizes, entries)

    @classmethod
    def by_number(
        cls, y: Floats, sums: Floats, products: Floats, weights: RowWeights | None = None
    ) -> "Explained":
        """By the scores of a number; sums of those of columns, and of their products with it."""
        each = 1.0 / effective_rows(weights, len(y))
        total = add_scores(y[np.newaxis], weights)[0]
        weights_of_terms = np.array([each, 1.0 / (y @ y - total * total * each)])
        entries = np.array([sums, products - sums * total * each])
        return cls(float(HALF_LOG), weights_of_terms, entries)

    def subtract(self, products: Floats, i: Any = slice(None), j: Any = slice(None)) -> Floats:
        """What is left of sums of products of the columns i and j."""
        left = products.copy()  # term by term: the same bits on any number of threads
        for weight, entry in zip(self.weights, self.entries, strict=True):
            left -= weight * entry[j] * entry[i]
        return left


Explain = Callable[[Floats], Explained]  # of columns, given by their scores, one row each


def add_scores(scores: Floats, weights: RowWeights | None) -> Floats:
    """Sums of each row of scores, which are times the square roots of the weights, by weight."""
    if weights is None:
        return np.einsum("ij->i", scores)
    return np.asarray(scores @ np.sqrt(weights.in_rows))


def read_given(target: Target, kind: ScoreKind, m: int) -> tuple[Any, Explain]:
    """An order of m samples, and what their classes or numbers explain of scores in that order."""
    if target.n_samples != m:
        came = f"the target has {target.n_samples} values but X has {m} rows"
        raise ValueError(f"{came}; give one a row")
    if isinstance(target, ClassTarget):
        first = np.cumsum(target.counts) - target.counts
        if target.weights is None:
            return target.order, lambda z: Explained.by_class(
                target.counts, np.add.reduceat(z, first, axis=1).T.copy()
            )
        root = np.sqrt(target.weights.in_rows[target.order])
        return target.order, lambda z: Explained.by_class(
            target.sizes, np.add.reduceat(z * root, first, axis=1).T.copy()
        )
    numbers = target.values
    weights = target.weights
    y = normal_scores(numbers[:, np.newaxis], kind, weights=weights)[0]
    if not y.any():
        raise ValueError(f"y is constant, {numbers[0]}; at least two different values are needed")
    return None, lambda z: Explained.by_number(y, add_scores(z, weights), z @ y, weights)


class ScoredTable:
    """Columns as normal scores, their sums, and what the target explains of them.

    The rows of ``values`` are those of the target, which has their weights.
    ``n_rows`` is the effective number of rows, ``n_samples`` that of scores of each column.
    """

    def __init__(self, values: Array, target: Target, kind: ScoreKind = "rank") -> None:
        self.n_samples = len(values)
        weights = target.weights
        self.n_rows = effective_rows(weights, self.n_samples)
        self._tables: Floats | None = None  # products of the columns of each table
        order, self._explain = read_given(target, kind, self.n_samples)
        self._weights = weights
        if weights is not None and order is not None:
            self._weights = RowWeights(weights.values[order])
        self.one = unit_score(self.n_rows)
        self.sums, self.squares = np.empty((2, values.shape[1]))
        found: dict[int, Explained] = {}

        def sum_up(z: Floats, start: int) -> None:
            here = slice(start, start + len(z))
            self.sums[here] = add_scores(z, self._weights)
            np.einsum("ij,ij->i", z, z, out=self.squares[here])
            found[start] = self._explain(z)

        with calm_blas():
            self.values = normal_scores(values, kind, order, sum_up, weights)
        entries = np.hstack([found[start].entries for start in sorted(found)])
        self.explained = found[0]._replace(entries=entries)

    def table_products(self, width: int) -> Floats:
        """Sums of products of the columns of each table, of so many side by side; they are kept."""
        if self._tables is None or self._tables.shape[1] != width:
            z = self.values.reshape(-1, width, self.n_samples)
            with calm_blas():
                self._tables = (z @ z.transpose(0, 2, 1)).reshape(-1, width)
        return self._tables

    def products(self, rows: Part, columns: Part) -> Floats:
        """Sums of products of the scores of some columns with those of others."""
        n = len(self.values)
        if n * n * self.n_samples <= MAX_SMALL_WORK:
            return np.ascontiguousarray(self.table_products(n)[rows][:, columns])
        if isinstance(columns, slice) and not isinstance(rows, slice) and len(rows) == 1:
            row = self.values[int(rows[0])]
            with calm_blas(self.values.size):
                return np.asarray((self.values @ row)[np.newaxis, columns])
        return np.asarray(self.values[rows] @ self.values[columns].T)
