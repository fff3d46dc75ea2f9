"""Tables over counts that turn cells into entropies, plain or corrected for bias.

With n the counts of a table of m samples, ``m H = total - sum of table[n]``: one look-up per
cell and no logarithm. A correction only changes the tables.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bestk.information._chance import expected_cells

Correction = Literal["miller-madow", "chance"]
Floats = NDArray[np.float64]
LONG = 2**16  # rows from which cells of many samples are estimated by moments


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
        expected = expected_cells(np.arange(m + 1), sizes, plain if m < LONG else None)
        return Tables(plain[m], plain, plain, plain - expected, plain[sizes].sum() - plain[m])
    return Tables(plain[m], plain, plain, None, 0.0)
