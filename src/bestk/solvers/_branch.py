"""Branch and bound with the row bound: every choice of a small problem, or proved not worth it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestk._kernels import kernel
from bestk.bounds._rows import row_values

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
TABLE = 8_000_000  # entries of the table of partners at most


class Tree(NamedTuple):
    """A depth-first search that can stop anywhere: what is chosen and open at every depth."""

    Q: Floats  # items in a fixed order, the most promising first
    partners: Floats  # [m, p, i]: the m largest Q_ij over j >= p other than i
    gains: Floats  # [d, i]: Q_ii + 2 sum of Q_ij over the d chosen
    left: Indices  # [d, :]: items that may still be chosen
    many: Indices  # [d]: how many
    at: Indices  # [d]: where among them the search stands
    chosen: Indices  # [d]
    value: Floats  # [d]: of the chosen
    best: Indices  # the best choice found
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
        self.tree = _new_tree(Q[np.ix_(self.order, self.order)], k, floor - self.base)

    @staticmethod
    def fits(n: int, k: int) -> bool:
        """Whether the tables of such a problem are small enough."""
        return min(k, n - k) * n**2 <= TABLE

    def advance(self, nodes: int) -> bool:
        """Look at so many nodes more; True when the search is complete."""
        return bool(_advance(self.tree, nodes))

    @property
    def nodes(self) -> int:
        """Nodes looked at so far."""
        return int(self.tree.state[2])

    @property
    def choice(self) -> Indices | None:
        """The best choice found that is worth more than the floor."""
        if self.tree.best[0] < 0:
            return None
        best = self.order[self.tree.best]
        return np.setdiff1d(self.order, best) if self.turned else np.sort(best)


def _new_tree(Q: Floats, k: int, floor: float) -> Tree:
    n = len(Q)
    tree = Tree(
        Q=Q,
        partners=_partners(Q, k),
        gains=np.empty((k, n)),
        left=np.empty((k, n), np.int64),
        many=np.zeros(k, np.int64),
        at=np.zeros(k, np.int64),
        chosen=np.zeros(k, np.int64),
        value=np.zeros(k),
        best=np.full(k, -1, np.int64),
        state=np.array([0.0, floor, 0.0]),
    )
    tree.gains[0] = Q.diagonal()
    tree.left[0] = np.arange(n)
    tree.many[0] = n
    return tree


@kernel
def _partners(Q: Floats, k: int) -> Floats:
    """At [m, p, i] the sum of the m largest Q_ij over j >= p other than i, for m < k."""
    n = len(Q)
    sums = np.zeros((k, n, n))
    top = np.empty(k)
    for i in range(n):
        held = 0
        for p in range(n - 1, -1, -1):
            if p != i and k > 1 and (held < k - 1 or Q[i, p] > top[held - 1]):
                held = min(held + 1, k - 1)
                q = held - 1
                while q > 0 and top[q - 1] < Q[i, p]:
                    top[q] = top[q - 1]
                    q -= 1
                top[q] = Q[i, p]
            total = 0.0
            for m in range(1, k):
                if m <= held:
                    total += top[m - 1]
                sums[m, p, i] = total
    return sums


@kernel
def _advance(tree: Tree, nodes: int) -> bool:
    """Go on for so many nodes; True when the tree is exhausted."""
    k, n = tree.gains.shape
    worth, scratch = np.empty(n), np.empty(n)
    depth, floor = int(tree.state[0]), tree.state[1]
    seen = 0
    while depth >= 0 and seen < nodes:
        seen += 1
        left = k - depth
        if tree.many[depth] - tree.at[depth] < left:
            depth -= 1
        elif left == 1:
            floor = _finish(tree, depth, floor)
            depth -= 1
        elif _descend(tree, depth, floor, worth, scratch):
            depth += 1
        else:
            depth -= 1
    tree.state[0], tree.state[1] = depth, floor
    tree.state[2] += seen
    return depth < 0


@kernel
def _finish(tree: Tree, depth: int, floor: float) -> float:
    """Try every open item as the last one; return the new floor."""
    for q in range(tree.at[depth], tree.many[depth]):
        item = tree.left[depth, q]
        value = tree.value[depth] + tree.gains[depth, item]
        if value > floor:
            floor = value
            tree.best[:depth] = tree.chosen[:depth]
            tree.best[depth] = item
    return floor


@kernel
def _descend(tree: Tree, depth: int, floor: float, worth: Floats, scratch: Floats) -> bool:
    """Choose the next open item and pass on those worth keeping; False if the node is bounded."""
    start, stop, left = tree.at[depth], tree.many[depth], len(tree.gains) - depth
    first = tree.left[depth, start]
    for q in range(start, stop):
        item = tree.left[depth, q]
        worth[q] = scratch[q - start] = (
            tree.gains[depth, item] + tree.partners[left - 1, first, item]
        )
    total, least = _top(scratch, stop - start, left)
    bound = tree.value[depth] + total
    if bound <= floor:
        return False
    tree.at[depth] += 1
    tree.chosen[depth] = first
    tree.value[depth + 1] = tree.value[depth] + tree.gains[depth, first]
    kept = 0
    for q in range(start + 1, stop):
        if bound - least + min(worth[q], least) > floor:
            item = tree.left[depth, q]
            tree.left[depth + 1, kept] = item
            tree.gains[depth + 1, item] = tree.gains[depth, item] + 2 * tree.Q[first, item]
            kept += 1
    tree.many[depth + 1], tree.at[depth + 1] = kept, 0
    return True


@kernel
def _top(values: Floats, count: int, k: int) -> tuple[float, float]:
    """Sum and least of the k largest of the first values, which are put in another order."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return values[:k].sum(), values[k - 1]
