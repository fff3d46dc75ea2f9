"""Tables over counts that turn cells into entropies, plain or corrected for bias.

With n the counts of a table of m samples, ``m H = total - sum of table[n]``: one look-up per
cell and no logarithm. A correction only changes the tables.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numba
import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel, parallel_kernel
from bestk.information._chance import expected_cells

Correction = Literal["miller-madow", "chance"]
Floats = NDArray[np.float64]
LONG = 2**16  # rows from which cells of many samples are told by their moments


@dataclass(frozen=True)
class Tables:
    """What each count adds, by the kind of cell it stands in."""

    total: float  # m H = total - sum of table[n]
    plain: Floats  # cells of H(y), H(x) and H(xi, xj)
    with_class: Floats  # cells (x, y) of H(x, y) and (xi, xj, y) of H(xi, xj, y)
    chance: Floats | None  # added to those once per cell of x, or of (xi, xj)
    offset: float  # and once per table


def tables(sizes: NDArray[np.int64], correction: Correction | None) -> Tables:
    """Tables for classes of the given sizes.

    ``"miller-madow"`` adds (occupied cells - 1) / 2m to each entropy. ``"chance"`` takes from
    I(x; y), for single columns and for pairs, what random labels would give on average: for a
    cell of t samples the count of class c is hypergeometric, so the expectation of
    sum n log n over classes is a table over t.
    """
    if correction not in (None, *get_args(Correction)):
        known = ", ".join(map(repr, get_args(Correction)))
        raise ValueError(f"unknown correction {correction!r}; choose None, {known}")
    m = int(sizes.sum())
    count = np.arange(m + 1.0)
    plain = count * np.log(np.maximum(count, 1.0))
    if correction == "miller-madow":
        corrected = plain - 0.5 * (count > 0)
        return Tables(plain[m] - 0.5, corrected, corrected, None, 0.0)
    if correction == "chance":
        short = m < LONG
        expected = (
            _expected_under_chance(m, sizes, plain)
            if short
            else expected_cells(np.arange(m + 1), sizes)
        )
        return Tables(plain[m], plain, plain, plain - expected, plain[sizes].sum() - plain[m])
    return Tables(plain[m], plain, plain, None, 0.0)


@parallel_kernel
def _expected_under_chance(m: int, sizes: Any, plain: Any) -> Any:
    """E[sum over classes of plain[n_c]] for a cell of t samples, t = 0..m."""
    expected = np.zeros(m + 1)
    for t in numba.prange(m + 1):
        for size in sizes:
            expected[t] += _expected_cell(np.int64(t), m, size, plain)
    return expected


@kernel
def _expected_cell(t: int, m: int, size: int, plain: Any) -> float:
    """E[plain[s]], s ~ Hypergeometric(m, size, t): from the mode outwards, then normalised."""
    low, high = max(0, t + size - m), min(t, size)
    mode = min(max((t + 1) * (size + 1) // (m + 2), low), high)
    weight, value = 1.0, plain[mode]
    p, s = 1.0, mode
    while s < high and p > 1e-20:
        p *= (size - s) * (t - s) / ((s + 1) * (m - size - t + s + 1.0))
        s += 1
        weight += p
        value += p * plain[s]
    p, s = 1.0, mode
    while s > low and p > 1e-20:
        p *= s * (m - size - t + s) / ((size - s + 1) * (t - s + 1.0))
        s -= 1
        weight += p
        value += p * plain[s]
    return value / weight
