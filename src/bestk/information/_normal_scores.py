"""Numeric columns as normal scores, in whole numbers whose products add up exactly.

Scores are multiples of a power of two, fine enough to change nothing and coarse enough that
every sum of products of two columns is a whole number below 2**53. Such sums do not depend on
their order: not on threads, on blocks, on the library that takes the product, nor on the order
of rows and columns. Equal columns have equal information, to the last bit.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bestk.native import kernels
from bestk.native.threads import run_tiles

Floats = NDArray[np.float64]
Kind = Literal["rank", "standard"]
Order = NDArray[np.int64] | slice
STRIP_CELLS = 2**18  # values that a thread turns into scores at once


@dataclass(frozen=True)
class Scores:
    """Columns of mean 0 and variance 1, one row per feature."""

    values: Floats  # score * one, a whole number; 0 where the value is missing
    one: float


def normal_scores(
    values: NDArray[Any], kind: Kind = "rank", *, order: Order = slice(None)
) -> Scores:
    """Turn each column into scores of mean 0 and variance 1; those of missing values are 0.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        Finite numbers; NaN = missing.
    kind : {"rank", "standard"}
        ``"rank"``: the normal quantile of (r - 1/2) / m, r the rank among the m known values,
        averaged over ties. ``"standard"``: the distance to the mean in standard deviations.
    order : indices
        The order in which to take the samples.

    Returns
    -------
    Scores
        Constant columns, and those without known values, are 0 throughout.

    Examples
    --------
    >>> scores = normal_scores(np.array([[1.0, 5.0], [2.0, 7.0], [9.0, np.nan]]))
    >>> np.round(scores.values / scores.one, 3)
    array([[-1.225,  0.   ,  1.225],
           [-1.225,  1.225,  0.   ]])
    """
    if kind not in get_args(Kind):
        raise ValueError(f"unknown scores {kind!r}; choose 'rank' or 'standard'")
    m, n = values.shape
    one = unit_score(m)
    out = np.empty((n, m))
    table = ndtri(np.arange(1, 2 * m) / (2 * m))

    def work(strip: slice) -> None:
        block = np.array(values[order, strip].T, dtype=np.float64, order="C")
        if kind == "rank":
            _rank(block, table)
        kernels.standardise_rows(block, *block.shape, 1, one, out[strip])

    width = max(1, STRIP_CELLS // m)
    run_tiles(work, [slice(start, start + width) for start in range(0, n, width)])
    return Scores(out, one)


def unit_score(m: int) -> float:
    """The number that stands for a score of 1, so that products over m samples add up exactly."""
    return 2.0 ** ((52 - int(np.ceil(np.log2(m)))) // 2)


def _rank(block: Floats, table: Floats) -> None:
    """Put normal quantiles of ranks in place of values; ``table`` holds those of full rows."""
    with_gaps = np.flatnonzero(np.isnan(block).any(axis=1))
    kernels.rank_rows(block, *block.shape, table)
    for row in with_gaps:
        block[row] = ndtri(block[row])
