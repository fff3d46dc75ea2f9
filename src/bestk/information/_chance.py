"""What random labels give on average, in tables too long for a sum over every count."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.native import kernels
from bestk.native.threads import run_tiles, spans

LARGE = 4096.0  # expected samples of a class from which the moments of its count are enough
CELLS_AT_ONCE = 512


def expected_cells(
    totals: NDArray[np.int64],
    sizes: NDArray[np.int64],
    table: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """E[sum over classes of n log n] for cells of so many samples, labels being random.

    With a table of n log n for all n, every sum is taken in full.

    Examples
    --------
    >>> expected_cells(np.array([0, 1, 4]), np.array([2, 2])).round(6)
    array([0.      , 0.      , 2.772589])
    """
    out = np.zeros(len(totals))
    large = LARGE if table is None else np.inf
    expect = kernels.expect.bind(totals, sizes, len(sizes), int(sizes.sum()), large, table, out)
    run_tiles(lambda span: expect(*span), spans(len(totals), CELLS_AT_ONCE))
    return out


def largest_by_chance(levels: Any, rows: int, n_classes: int) -> NDArray[np.float64]:
    """About the largest relevance of n columns that are independent of the target.

    2m times an estimate is chi-square with d degrees of freedom. The largest of n such is about
    ``d + 2 sqrt(d log n) + 2 log n``, of which the correction for chance subtracts d. A number
    to predict takes one parameter, like two classes.
    """
    degrees = np.maximum(np.asarray(levels) - 1.0, 1.0) * max(1, n_classes - 1)
    tests = np.log(max(2, len(levels)))
    return np.asarray((np.sqrt(degrees * tests) + tests) / rows)
