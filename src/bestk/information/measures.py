"""The formulas: every measure of a pair is a weighted sum of its entropies."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestk._typing import Floats, Indices

MAX_WEIGHT = 32.0  # sum of a measure's weights: entropies take 57 bits, their sums have 63


@dataclass(frozen=True)
class Measure:
    """Weights of H(xi,xj), H(xi,xj,y), H(xi), H(xj), H(xi,y), H(xj,y) and H(y)."""

    xx: float = 0.0
    xxy: float = 0.0
    xi: float = 0.0
    xj: float = 0.0
    xiy: float = 0.0
    xjy: float = 0.0
    y: float = 0.0

    @property
    def is_symmetric(self) -> bool:
        """Whether the measure of ``[i, j]`` is that of ``[j, i]``."""
        return self.xi == self.xj and self.xiy == self.xjy

    def single_terms(self, x: Floats, xy: Floats) -> tuple[Floats, Floats]:
        """What features add as xi and as xj, by H(x) and H(x, y), apart from how pairs depend."""
        return (
            (self.xi + self.xx) * x + (self.xiy + self.xxy) * xy,
            (self.xj + self.xx) * x + (self.xjy + self.xxy) * xy,
        )


class Query(NamedTuple):
    """A measure of the pairs of some features with others."""

    measure: Measure
    rows: Indices | None = None  # features; None for all
    columns: Indices | None = None  # each at most once
    lowest: float = -np.inf  # smaller values are rounding noise and raised to it

    @property
    def is_whole(self) -> bool:
        """Whether all pairs are wanted: each is then computed once and written twice."""
        return self.rows is None and self.columns is None

    def features(self, n: int) -> tuple[Indices, Indices]:
        """The features of rows and of columns, among n."""
        every = np.arange(n)
        rows, columns = (every if some is None else some for some in (self.rows, self.columns))
        return rows, columns


#: ``H(xi, xj)`` and ``H(xi, xj, y)`` themselves.
PAIR_ENTROPY = Measure(xx=1)
TRIPLE_ENTROPY = Measure(xxy=1)
#: ``I(xi, xj; y)``
JOINT_MI = Measure(xx=1, xxy=-1, y=1)
#: ``I(xj; y | xi)`` at ``[i, j]``
CMI = Measure(xx=1, xxy=-1, xi=-1, xiy=1)
#: ``(I(xj; y | xi) + I(xi; y | xj)) / 2``
SYMMETRIC_CMI = Measure(xx=1, xxy=-1, xi=-0.5, xiy=0.5, xj=-0.5, xjy=0.5)
#: ``I(xi; xj)``
PAIR_MI = Measure(xx=-1, xi=1, xj=1)
#: ``I(xi; xj | y)``
PAIR_CMI = Measure(xxy=-1, xiy=1, xjy=1, y=-1)
#: ``-I(xi; xj)``
NO_REDUNDANCY = Measure(xx=1, xi=-1, xj=-1)
#: ``I(xi; xj | y) - I(xi; xj)``, which is also ``I(xi, xj; y) - I(xi; y) - I(xj; y)``
INTERACTION = Measure(xx=1, xxy=-1, xi=-1, xj=-1, xiy=1, xjy=1, y=-1)
