"""What is left of a problem once some items are proved in and others proved out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestk.problem.problem import BQP
from bestk.relaxations.rounding import Floats, Mask, rounding

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """Choose k of the open items: base + x'Qx is the value of the whole choice."""

    Q: Floats
    k: int
    base: float
    items: Indices  # the open items, as the problem numbers them
    inside: Indices  # items that every choice considered here has

    @classmethod
    def of(cls, problem: BQP) -> "Part":
        """The whole problem."""
        return cls(problem.Q, problem.k, 0.0, np.arange(problem.n), np.zeros(0, np.int64))

    @property
    def n(self) -> int:
        """Number of open items."""
        return len(self.items)

    def without(self, inside: Mask, outside: Mask) -> "Part":
        """The same with more items decided: those inside move into the linear part."""
        keep = ~(inside | outside)
        Q = self.Q[np.ix_(keep, keep)]
        Q.flat[:: len(Q) + 1] += 2 * self.Q[np.ix_(keep, inside)].sum(axis=1)
        return Part(
            Q,
            self.k - int(inside.sum()),
            self.base + float(self.Q[np.ix_(inside, inside)].sum()),
            self.items[keep],
            np.concatenate([self.inside, self.items[inside]]),
        )

    def settled(self) -> tuple[Indices, float] | None:
        """The best choice and its value where they are plain to see: k is 0, 1 or all."""
        if 1 < self.k < self.n:
            return None
        best = np.argsort(-self.Q.diagonal(), kind="stable")[: self.k]
        value = self.base + float(self.Q[np.ix_(best, best)].sum())
        whole = self.k + len(self.inside)
        margin = rounding(whole, abs(value) + whole**2 * float(np.abs(self.Q).max(initial=0.0)))
        return np.concatenate([self.inside, self.items[best]]), value + margin


def screen(value: float, row_values: Floats, k: int, floor: float) -> tuple[Mask, Mask]:
    """Items that are in every choice worth at least ``floor``, and items that are in none.

    The bound ``value`` is a constant and the k largest row values r. A choice with an item i that
    is not among them is worth at most value - r_(k) + r_i; one without an item i that is among
    them is worth at most value - r_i + r_(k+1).

    Examples
    --------
    >>> inside, outside = screen(10.0, np.array([6.0, 4.0, 3.5, 1.0]), k=2, floor=9.0)
    >>> inside, outside
    (array([ True, False, False, False]), array([False, False, False,  True]))
    """
    n = len(row_values)
    order = np.argsort(-row_values, kind="stable")
    top = np.zeros(n, np.bool_)
    top[order[:k]] = True
    floor = floor - rounding(n, float(np.abs(row_values[order[: k + 1]]).max()))
    last_in = row_values[order[k - 1]]
    first_out = row_values[order[k]] if k < n else -np.inf
    inside = top & (value - row_values + first_out < floor)
    outside = ~top & (value - last_in + row_values < floor)
    return inside, outside
