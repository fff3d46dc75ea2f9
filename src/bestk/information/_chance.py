"""The information that random labels give on average, by counts and for Gaussian columns."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma

from bestk._typing import Floats, Indices
from bestk.native import kernels
from bestk.native.threads import run_tiles, spans

MIN_MOMENT_SAMPLES = 4096.0  # expected samples of a class from which moments are accurate enough
CELLS_AT_ONCE = 512


def expected_cells(totals: Indices, sizes: Indices, table: Floats | None = None) -> Floats:
    """E[sum over classes of n log n] for cells of ``totals`` samples with random labels.

    The count of a class in a cell is hypergeometric; moments replace its sum where it is large.

    With a table of n log n for all n, every sum is taken in full.

    Examples
    --------
    >>> expected_cells(np.array([0, 1, 4]), np.array([2, 2])).round(6)
    array([0.      , 0.      , 2.772589])
    """
    out = np.zeros(len(totals))
    m = int(sizes.sum())
    large = MIN_MOMENT_SAMPLES if table is None else np.inf
    expect = kernels.expect.bind(totals, sizes, len(sizes), m, large, table, out)
    run_tiles(lambda span: expect(*span), spans(len(totals), CELLS_AT_ONCE))
    return out


def largest_by_chance(levels: Any, rows: int, n_classes: int) -> Floats:
    """About the largest relevance of n columns that are independent of the target.

    2m times an estimate is chi-square with d degrees of freedom. The largest of n such is about
    ``d + 2 sqrt(d log n) + 2 log n``, of which the correction for chance subtracts d. A
    continuous target has one parameter, like two classes.
    """
    degrees = np.maximum(np.asarray(levels) - 1.0, 1.0) * max(1, n_classes - 1)
    tests = np.log(max(2, len(levels)))
    return np.asarray((np.sqrt(degrees * tests) + tests) / rows)


class GaussianChance(NamedTuple):
    """Expected information of Gaussian columns about random labels.

    For m samples and c classes W/T is distributed as beta((m - c) / 2, (c - 1) / 2), and
    det W_ij / det T_ij as Wilks' lambda, a product of two such: means of their logarithms are
    differences of digammas. A continuous y counts as two classes.
    """

    single: float  # E[I(x; y)]
    pair: float  # E[I(xi, xj; y) - I(xi; y) - I(xj; y)]

    @classmethod
    def of(cls, m: int, groups: int) -> "GaussianChance":
        """The expectations for m samples."""
        if m < groups + 2:
            raise ValueError(
                f"correction='chance' needs two samples more than classes, {groups + 2} in all, "
                f"not {m}; use correction=None"
            )
        single = 0.5 * (digamma((m - 1) / 2) - digamma((m - groups) / 2))
        return cls(float(single), _dependence(m - groups) - _dependence(m - 1))


def _dependence(degrees: int) -> float:
    """E[-1/2 log(1 - r^2)] of independent columns."""
    return float(0.5 * (digamma(degrees / 2) - digamma((degrees - 1) / 2)))
