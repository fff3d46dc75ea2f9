"""Branch and bound with the row bound: for small problems."""

from dataclasses import dataclass

import numpy as np

from bestk._typing import Floats, Indices
from bestk.native import kernels
from bestk.relaxations import row_values

MAX_TABLE = 8_000_000  # entries of the table of partners
SECONDS_OF_ENTRY = 1e-8  # about
LEFT_COUNT, POSITION, PATH_CHOSEN, PATH_BEST = range(4)  # rows of the path, as in branch.c


@dataclass(frozen=True)
class Tree:
    """A depth-first search that can stop anywhere: what is chosen and open at every depth."""

    Q: Floats  # items in a fixed order, the most promising first
    partners: Floats  # [m, p, i]: the m largest Q_ij over j >= p other than i
    gains: Floats  # [d, i]: Q_ii + 2 sum of Q_ij over the d chosen
    left: Indices  # [d, :]: items that may still be chosen
    path: Indices  # [:, d]: number left, position among them, chosen; the best choice
    value: Floats  # [d]: of the chosen
    state: Floats  # depth, floor, nodes


class Branching:
    """Find the best choice worth more than a floor, in slices of nodes.

    Items are taken in the order of their row values, included first. At a node where r more items
    are to be chosen, each open item is worth its gain and at most its r - 1 best open partners.
    """

    def __init__(self, Q: Floats, k: int, floor: float) -> None:
        self.turned = 2 * k > len(Q)  # then it is quicker to choose what to leave out
        self.base = 0.0
        if self.turned:
            self.base = float(Q.sum())
            Q, k = Q - np.diag(2 * Q.sum(axis=1)), len(Q) - k
        self.order = np.argsort(-row_values(Q, Q.diagonal(), k), kind="stable")
        self.tree = new_tree(Q[np.ix_(self.order, self.order)], k, floor - self.base)

    @staticmethod
    def fits(n: int, k: int, seconds: float) -> bool:
        """Whether the tables of such a problem are small enough, also for the time."""
        entries = min(k, n - k) * n**2
        return entries <= MAX_TABLE and SECONDS_OF_ENTRY * entries <= seconds

    def advance(self, nodes: int) -> bool:
        """Visit so many more nodes; True when the search is complete."""
        tree = self.tree
        k, n = tree.gains.shape
        kernels.branch_advance(
            tree.Q, tree.partners, n, k, nodes, tree.gains, tree.left, tree.path, tree.value,
            tree.state,
        )  # fmt: skip
        return bool(tree.state[0] < 0)

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self.tree.state[2])

    @property
    def choice(self) -> Indices | None:
        """The best choice found that is worth more than the floor."""
        found = self.tree.path[PATH_BEST]
        if found[0] < 0:
            return None
        best = self.order[found]
        return np.setdiff1d(self.order, best) if self.turned else np.sort(best)


def new_tree(Q: Floats, k: int, floor: float) -> Tree:
    n = len(Q)
    partners = np.empty((k, n, n))
    kernels.branch_partners(Q, n, k, partners)
    tree = Tree(
        Q=Q,
        partners=partners,
        gains=np.empty((k, n)),
        left=np.empty((k, n), np.int64),
        path=np.zeros((4, k), np.int64),
        value=np.zeros(k),
        state=np.array([0.0, floor, 0.0]),
    )
    tree.gains[0] = Q.diagonal()
    tree.left[0] = np.arange(n)
    tree.path[LEFT_COUNT, 0] = n
    tree.path[PATH_BEST] = -1
    return tree
