"""What a bound is, and the margins that keep it true after rounding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no choice of k items exceeds, and what else its proof has shown."""

    value: float
    method: str
    seconds: float = 0.0
    row_values: Floats | None = None  # the k largest of these and a constant add up to the value
    details: Mapping[str, Any] = field(default_factory=dict)


def rounding(terms: int, size: float) -> float:
    """More than rounding can move a sum of so many terms whose absolute values add up to size."""
    return 4 * (terms + 64) * EPS * size


def largest_entry(Q: Floats) -> float:
    """The largest absolute value, without a copy of the matrix."""
    return float(max(Q.max(), -Q.min()))


def k_largest(values: Floats, k: int) -> float:
    """Sum of the k largest values.

    Examples
    --------
    >>> k_largest(np.array([1.0, 5.0, 3.0]), 2)
    8.0
    """
    cut = len(values) - k
    return float(np.partition(values, cut)[cut:].sum())
