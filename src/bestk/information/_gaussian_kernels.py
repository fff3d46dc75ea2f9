"""From products of scores to measures of pairs: correlations, one logarithm, two writes.

With r the correlation of xi and xj and s that within y, both weakened by noise,
``H(xi,xj) = H(xi) + H(xj) + log(1 - r^2) / 2`` and
``H(xi,xj,y) = H(xi,y) + H(xj,y) - H(y) + log(1 - s^2) / 2``.
Operations stand in the same order for both members of a pair and for complete and incomplete
columns, so that results do not depend on how the pairs are cut into tiles.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK = 128


class Side(NamedTuple):
    """The features along one side of a tile."""

    features: NDArray[np.int64]
    sums: Floats  # of the scores
    terms: Floats  # (term, feature): what y explains, see Formula.weights
    scale: Floats  # 1 / standard deviation, noise included
    scale_within: Floats  # the same within y
    varies: Floats  # 0 for a constant column, else 1
    row_term: Floats
    column_term: Floats
    diagonal: Floats  # the measure of the feature with itself


class Formula(NamedTuple):
    """``xx log(1 - r^2) + xxy log(1 - s^2) + constant``, and what else a tile shares."""

    xx: float
    xxy: float
    constant: float
    chance: float  # added where both columns vary and miss nothing
    lowest: float
    n_inverse: float
    weights: Floats  # covariance within y = products - sum of weights * terms * terms


class Shared(NamedTuple):
    """Sums over the rows that both columns of each pair have."""

    counts: Floats
    groups: Floats  # parameters that y takes
    total: tuple[Floats, Floats, Floats]  # sums of products ij, ii and jj about the mean
    within: tuple[Floats, Floats, Floats]  # the same within y


@numba.njit(parallel=True, cache=True, nogil=True)
def fill_complete(
    products: Any, left: Any, right: Any, formula: Any, out: Any, row: int, column: int, mirror: int
) -> None:
    """Fill a tile of columns that miss nothing, and its mirror image from column ``mirror`` on."""
    n_rows, n_columns = products.shape
    across = (n_columns + BLOCK - 1) // BLOCK
    for block in numba.prange(across * ((n_rows + BLOCK - 1) // BLOCK)):
        i, j = block // across * BLOCK, block % across * BLOCK
        part = np.empty((min(BLOCK, n_rows - i), min(BLOCK, n_columns - j)))
        free, free_within = np.empty((2, part.shape[1]))
        for r in range(len(part)):
            _correlate(products[i + r, j : j + BLOCK], left, i + r, right, j, formula, free)
            _within(products[i + r, j : j + BLOCK], left, i + r, right, j, formula, free_within)
            _weigh(free, free_within, formula, part[r])
            if formula.chance != 0.0:
                for c in range(part.shape[1]):
                    part[r, c] += formula.chance * (left.varies[i + r] * right.varies[j + c])
        _write(part, left, i, right, j, formula.lowest, out, row, column, mirror)


@numba.njit(parallel=True, cache=True, nogil=True)
def fill_shared(
    shared: Any, left: Any, right: Any, formula: Any, noise: Any, keep: float, chance: Any,
    out: Any, row: int, column: int, mirror: int,
) -> None:  # fmt: skip
    """Fill a tile of columns that miss values, each pair from the rows it has."""
    n_rows, n_columns = shared.counts.shape
    across = (n_columns + BLOCK - 1) // BLOCK
    for block in numba.prange(across * ((n_rows + BLOCK - 1) // BLOCK)):
        i, j = block // across * BLOCK, block % across * BLOCK
        part = np.empty((min(BLOCK, n_rows - i), min(BLOCK, n_columns - j)))
        free, free_within = np.empty((2, part.shape[1]))
        for r in range(len(part)):
            for c in range(part.shape[1]):
                count = shared.counts[i + r, j + c]
                add = noise[0] * max(count, 1.0) + noise[1]
                free[c] = _free(shared.total, i + r, j + c, add, keep)
                free_within[c] = _free(shared.within, i + r, j + c, add, keep)
            _weigh(free, free_within, formula, part[r])
            if formula.chance != 0.0:
                for c in range(part.shape[1]):
                    count = int(shared.counts[i + r, j + c])
                    inner = count - int(shared.groups[i + r, j + c])
                    more = 2.0 * formula.xxy * (chance[max(inner, 0)] - chance[max(count - 1, 0)])
                    part[r, c] += more * (left.varies[i + r] * right.varies[j + c])
        _write(part, left, i, right, j, formula.lowest, out, row, column, mirror)


@numba.njit(parallel=True, cache=True, nogil=True)
def subtract_term(left: Any, right: Any, weight: Any, sums: Any) -> None:
    """Take ``weight * left * right`` off the sums of products ij, ii and jj."""
    both, first, second = sums
    for i in numba.prange(len(left)):
        for j in range(left.shape[1]):
            a, b, w = left[i, j], right[i, j], weight[i, j]
            both[i, j] -= a * b * w
            first[i, j] -= a * a * w
            second[i, j] -= b * b * w


@numba.njit(cache=True, nogil=True)
def _free(sums: Any, i: int, j: int, noise: float, keep: float) -> float:
    """1 - r^2 of one pair."""
    both, first, second = sums
    a, b = keep / np.sqrt(first[i, j] + noise), keep / np.sqrt(second[i, j] + noise)
    r = a * b * both[i, j]
    return 1.0 - r * r


@numba.njit(cache=True, nogil=True)
def _correlate(
    products: Any, left: Any, i: int, right: Any, first: int, formula: Any, free: Any
) -> None:
    """1 - r^2 of one feature with a row of others."""
    if formula.xx == 0.0:
        return
    sums, scale = right.sums[first:], right.scale[first:]
    mine, my_scale, n_inverse = left.sums[i], left.scale[i], formula.n_inverse
    for j in range(len(products)):
        r = my_scale * scale[j] * (products[j] - mine * sums[j] * n_inverse)
        free[j] = 1.0 - r * r


@numba.njit(cache=True, nogil=True)
def _within(
    products: Any, left: Any, i: int, right: Any, first: int, formula: Any, free: Any
) -> None:
    """1 - s^2 of one feature with a row of others."""
    if formula.xxy == 0.0:
        return
    for j in range(len(products)):
        free[j] = products[j]
    for k in range(len(formula.weights)):
        terms, mine, weight = right.terms[k, first:], left.terms[k, i], formula.weights[k]
        for j in range(len(products)):
            free[j] -= mine * terms[j] * weight
    scale, my_scale = right.scale_within[first:], left.scale_within[i]
    for j in range(len(products)):
        r = my_scale * scale[j] * free[j]
        free[j] = 1.0 - r * r


@numba.njit(cache=True, nogil=True)
def _weigh(free: Any, free_within: Any, formula: Any, part: Any) -> None:
    """The part of the measure that belongs to the pair."""
    part[:] = formula.constant
    if formula.xx == -formula.xxy and formula.xx != 0.0:
        for j in range(len(part)):
            part[j] += formula.xx * np.log(free[j] / free_within[j])
        return
    if formula.xx != 0.0:
        for j in range(len(part)):
            part[j] += formula.xx * np.log(free[j])
    if formula.xxy != 0.0:
        for j in range(len(part)):
            part[j] += formula.xxy * np.log(free_within[j])


@numba.njit(cache=True, nogil=True)
def _write(
    part: Any, left: Any, i: int, right: Any, j: int, lowest: float, out: Any,
    row: int, column: int, mirror: int,
) -> None:  # fmt: skip
    """Add what belongs to single features and write, also across the diagonal where asked."""
    for r in range(part.shape[0]):
        values, mine = out[row + i + r], left.row_term[i + r]
        for c in range(part.shape[1]):
            value = part[r, c] + (mine + right.column_term[j + c])
            values[column + j + c] = max(value, lowest)
        for c in range(part.shape[1]):
            if left.features[i + r] == right.features[j + c]:
                values[column + j + c] = max(left.diagonal[i + r], lowest)
    for c in range(max(0, mirror - column - j), part.shape[1]):
        values, mine = out[column + j + c], right.row_term[j + c]
        for r in range(part.shape[0]):
            value = part[r, c] + (left.column_term[i + r] + mine)
            values[row + i + r] = max(value, lowest)
