"""What random labels tell about Gaussian columns, on average.

For m samples and c classes W/T is distributed as beta((m - c) / 2, (c - 1) / 2), and
det W_ij / det T_ij as Wilks' lambda, a product of two such: means of their logarithms are
differences of digammas. A number for y counts as two classes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

Floats = NDArray[np.float64]


class Chance:
    """Expectations for up to ``m`` samples."""

    def __init__(self, m: int, groups: int) -> None:
        if m < groups + 2:
            raise ValueError(
                f"correction='chance' needs two samples more than classes, {groups + 2} in all, "
                f"not {m}; use correction=None"
            )
        # E[-1/2 log(1 - r^2)] of independent columns, infinite for fewer than two degrees
        degrees = np.maximum(np.arange(m + 1), 2)
        self._dependence = 0.5 * (digamma(degrees / 2) - digamma((degrees - 1) / 2))

    def information(self, counts: Floats, groups: Floats) -> Floats:
        """E[I(x; y)]."""
        inner = np.maximum(counts - groups, 1.0)
        outer = np.maximum(counts - 1.0, inner)
        return np.asarray(0.5 * (digamma(outer / 2) - digamma(inner / 2)))

    def excess(self, counts: Any, groups: Any) -> Any:
        """E[I(xi, xj; y) - I(xi; y) - I(xj; y)]."""
        outer = np.maximum(np.subtract(counts, 1), 0).astype(np.intp)
        inner = np.maximum(np.subtract(counts, groups), 0).astype(np.intp)
        return self._dependence[inner] - self._dependence[outer]
