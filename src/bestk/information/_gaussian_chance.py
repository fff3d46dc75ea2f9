"""What random labels tell about Gaussian columns, on average.

For m samples and c classes W/T is distributed as beta((m - c) / 2, (c - 1) / 2), and
det W_ij / det T_ij as Wilks' lambda, a product of two such: means of their logarithms are
differences of digammas. A number for y counts as two classes.
"""

from typing import NamedTuple

from scipy.special import digamma


class Chance(NamedTuple):
    """Expectations for random labels."""

    single: float  # E[I(x; y)]
    pair: float  # E[I(xi, xj; y) - I(xi; y) - I(xj; y)]

    @classmethod
    def of(cls, m: int, groups: int) -> "Chance":
        """The expectations for m samples and a target that takes some parameters."""
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
