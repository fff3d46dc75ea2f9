"""From products of scores to measures of pairs: correlations before the logarithm, writes after.

Operations stand in the same order for both members of a pair, and as in ``Shared.of`` for
columns that miss values, so that results do not depend on how pairs are cut into tiles.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel

Floats = NDArray[np.float64]
STRIPE = 8  # columns of a tile that are turned into rows at once: a cache line


class Side(NamedTuple):
    """The features along one side of a tile."""

    features: NDArray[np.int64]
    sums: Floats  # of the scores
    terms: Floats  # (term, feature): what y explains
    scale: Floats  # 1 / standard deviation, noise included
    scale_within: Floats  # the same within y
    varies: Floats  # 0 for a constant column, else 1
    row_term: Floats  # what the measure adds for the feature as xi
    column_term: Floats  # as xj
    diagonal: Floats  # the measure of the feature with itself


@kernel(nogil=True, error_model="numpy")
def correlate(
    products: Any, left: Any, right: Any, n_inverse: float, weights: Any, a: float, b: float,
    rest: Any,
) -> None:  # fmt: skip
    """Put shares in place of products: what ``a log(1 - r^2) + b log(1 - s^2)`` is to take.

    That is one of them, or their ratio, where one logarithm is enough; else the second of them
    goes to ``rest``.
    """
    sums, scale, scale_within, terms = right.sums, right.scale, right.scale_within, right.terms
    total, within = np.ones((2, products.shape[1]))
    for i in range(len(products)):
        if a != 0.0:
            mine, my_scale = left.sums[i], left.scale[i]
            for j in range(len(total)):
                r = my_scale * scale[j] * (products[i, j] - mine * sums[j] * n_inverse)
                total[j] = 1.0 - r * r
        if b != 0.0:
            for j in range(len(within)):
                within[j] = products[i, j]
            for k in range(len(weights)):
                mine, weight = left.terms[k, i], weights[k]
                for j in range(len(within)):
                    within[j] -= mine * terms[k, j] * weight
            my_scale = left.scale_within[i]
            for j in range(len(within)):
                r = my_scale * scale_within[j] * within[j]
                within[j] = 1.0 - r * r
        if a == -b:
            for j in range(len(total)):
                products[i, j] = total[j] / within[j]
        else:
            products[i] = within if a == 0.0 else total
            if a != 0.0 and b != 0.0:
                rest[i] = within


@kernel(nogil=True)
def write(part: Any, scale: float, left: Any, right: Any, lowest: float, out: Any) -> None:
    """Write a tile: the part of each pair, and those of its features."""
    column_term, features = right.column_term, right.features
    first, last = features.min(), features.max()
    for i in range(len(part)):
        mine, me = left.row_term[i], left.features[i]
        for j in range(part.shape[1]):
            out[i, j] = max(scale * part[i, j] + (mine + column_term[j]), lowest)
        if first <= me <= last:
            for j in range(part.shape[1]):
                if features[j] == me:
                    out[i, j] = max(left.diagonal[i], lowest)


@kernel(nogil=True)
def write_mirrored(
    part: Any, scale: float, left: Any, right: Any, lowest: float, first: int, out: Any
) -> None:
    """Write a tile, from column ``first`` on, across the diagonal."""
    column_term = left.column_term
    turned = np.empty((STRIPE, len(part)))
    for start in range(first, part.shape[1], STRIPE):
        width = min(STRIPE, part.shape[1] - start)
        for i in range(len(part)):
            for j in range(width):
                turned[j, i] = part[i, start + j]
        for j in range(width):
            mine = right.row_term[start + j]
            for i in range(len(part)):
                out[start + j, i] = max(scale * turned[j, i] + (column_term[i] + mine), lowest)
