"""What random labels give on average, in tables too long for a sum over every count."""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel, parallel_kernel

LARGE = 4096.0  # expected samples of a class from which the moments of its count are enough


def expected_cells(totals: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """E[sum over classes of n log n] for cells of so many samples, labels being random.

    Examples
    --------
    >>> expected_cells(np.array([0, 1, 4]), np.array([2, 2])).round(6)
    array([0.      , 0.      , 2.772589])
    """
    out = np.zeros(len(totals))
    _expect(totals, sizes, int(sizes.sum()), out)
    return out


@parallel_kernel
def _expect(totals: Any, sizes: Any, m: int, out: Any) -> None:
    for place in numba.prange(len(totals)):
        for size in sizes:
            mean = totals[place] * (size / m)
            if mean > LARGE:
                out[place] += _by_moments(float(totals[place]), float(m), float(size))
            elif totals[place] > 0:
                out[place] += _by_sum(totals[place], m, size)


@kernel
def _by_moments(t: float, m: float, size: float) -> float:
    """Expand s log s about the mean of a hypergeometric s; what is left out is below mean**-2."""
    p = size / m
    mean = t * p
    variance = t * p * (1.0 - p) * (m - t) / (m - 1.0)
    third = variance * (1.0 - 2.0 * p) * (m - 2.0 * t) / (m - 2.0)
    fourth = 3.0 * variance * variance
    return (
        mean * math.log(mean)
        + variance / (2.0 * mean)
        - third / (6.0 * mean**2)
        + fourth / (12.0 * mean**3)
    )


@kernel
def _by_sum(t: int, m: int, size: int) -> float:
    """Sum over the counts that are likely, from the mode outwards."""
    low, high = max(0, t + size - m), min(t, size)
    mode = min(max(int((t + 1.0) * (size + 1.0) / (m + 2.0)), low), high)
    weight, value = 1.0, _n_log_n(mode)
    p, s = 1.0, mode
    while s < high and p > 1e-20:
        p *= (size - s) * (t - s) / ((s + 1.0) * (m - size - t + s + 1.0))
        s += 1
        weight += p
        value += p * _n_log_n(s)
    p, s = 1.0, mode
    while s > low and p > 1e-20:
        p *= s * (m - size - t + s) / ((size - s + 1.0) * (t - s + 1.0))
        s -= 1
        weight += p
        value += p * _n_log_n(s)
    return value / weight


@kernel
def _n_log_n(n: int) -> float:
    return n * math.log(n) if n > 1 else 0.0
