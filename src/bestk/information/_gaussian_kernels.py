"""From products of scores to measures of pairs: correlations before the logarithm, writes after.

Operations stand in the same order for both members of a pair, so that results do not depend on
how pairs are cut into tiles.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk.native import kernels

Floats = NDArray[np.float64]


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


def correlate(
    products: Floats, left: Side, right: Side, n_inverse: float, weights: Floats, a: float, b: float
) -> tuple[Floats, Floats]:
    """Put shares in place of products: what ``a log(1 - r^2) + b log(1 - s^2)`` is to take.

    That is one of them, or their ratio, where one logarithm is enough; else the second of them
    comes in an array of its own.
    """
    rest = np.empty(products.shape if a and b and a != -b else (0, 0))
    sides = (part for side in (left, right) for part in side[1:5])
    kernels.correlate(
        products, *products.shape, *sides, n_inverse, weights, len(weights), a, b,
        rest if rest.size else None,
    )  # fmt: skip
    return products, rest


def write(
    part: Floats, scale: float, left: Side, right: Side, lowest: float, out: NDArray[Any]
) -> None:
    """Write a tile: the part of each pair, and those of its features."""
    mine = left.features, left.row_term, left.diagonal
    others = right.features, right.column_term
    kernels.write_pairs(part, *part.shape, scale, *mine, *others, lowest, *by_precision(out))


def write_mirrored(
    part: Floats, scale: float, left: Side, right: Side, lowest: float, first: int,
    out: NDArray[Any],
) -> None:  # fmt: skip
    """Write a tile, from column ``first`` on, across the diagonal."""
    terms = right.row_term, left.column_term
    kernels.write_mirrored(part, *part.shape, scale, *terms, lowest, first, *by_precision(out))


def by_precision(out: NDArray[Any]) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """An array of floats as kernels take it: of 64 bits, or of 32."""
    return (out, None) if out.dtype == np.float64 else (None, out)
