"""Branch and bound by rows."""

import numpy as np

from bestk._typing import Floats, Indices
from bestk.native import kernels
from bestk.relaxations import row_values

LEFT_COUNT, PATH_BEST = 0, 3  # rows of the path, as in branch.c


class Branching:
    """Find the best choice worth more than a floor by depth-first search, in slices of nodes.

    Items are taken in the order of their row values, included first. At a node where r more items
    are to be chosen, each open item is worth its gain and at most its r - 1 best open partners.
    """

    def __init__(self, Q: Floats, k: int, floor: float) -> None:
        self.turned = 2 * k > len(Q)  # then it is quicker to choose what to leave out
        base = 0.0
        if self.turned:
            base = float(Q.sum())
            Q, k = Q - np.diag(2 * Q.sum(axis=1)), len(Q) - k
        self.order = np.argsort(-row_values(Q, Q.diagonal(), k), kind="stable")
        self.Q, n = Q[np.ix_(self.order, self.order)], len(Q)
        self.partners = np.empty((k, n, n))  # [m, p, i]: the m largest Q_ij over j >= p, j != i
        kernels.branch_partners(self.Q, n, k, self.partners)
        self.gains = np.empty((k, n))  # [d, i]: Q_ii + 2 sum of Q_ij over the d chosen
        self.left = np.empty((k, n), np.int64)  # [d, :]: items that may still be chosen
        self.path = np.zeros((4, k), np.int64)  # [:, d]: number left, position, chosen; the best
        self.value = np.zeros(k)  # [d]: of the chosen
        self.state = np.array([0.0, floor - base, 0.0])  # depth, floor, nodes
        self.gains[0], self.left[0] = self.Q.diagonal(), np.arange(n)
        self.path[LEFT_COUNT, 0], self.path[PATH_BEST] = n, -1

    def advance(self, nodes: int) -> bool:
        """Visit so many more nodes; True when the search is complete."""
        k, n = self.gains.shape
        kernels.branch_advance(
            self.Q, self.partners, n, k, nodes, self.gains, self.left, self.path, self.value,
            self.state,
        )  # fmt: skip
        return bool(self.state[0] < 0)

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self.state[2])

    @property
    def choice(self) -> Indices | None:
        """The best choice found that is worth more than the floor."""
        found = self.path[PATH_BEST]
        if found[0] < 0:
            return None
        best = self.order[found]
        return np.setdiff1d(self.order, best) if self.turned else np.sort(best)
