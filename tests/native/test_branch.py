"""Branch and bound by C, node by node, against a slow twin."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.bqp.relaxations.rows import PATH_BEST, Branching
from bestk.native import kernels


def matrix(n, seed):
    """Whole numbers, so that sums are the same in any order."""
    Q = np.random.default_rng(seed).integers(-3, 7, (n, n)).astype(float)
    return Q + Q.T


class Twin:
    """The tree by recursion: the number of nodes, and the best choice above a floor."""

    def __init__(self, Q, k, floor):
        self.Q, self.k, self.floor = Q, k, floor
        self.nodes, self.best = 0, None
        self.visit([], 0.0, Q.diagonal().copy(), list(range(len(Q))))

    def visit(self, chosen, value, gains, items):
        left = self.k - len(chosen)
        while True:
            self.nodes += 1
            if len(items) < left:
                return
            if left == 1:
                for item in items:
                    if value + gains[item] > self.floor:
                        self.floor, self.best = value + gains[item], [*chosen, item]
                return
            first = items[0]
            worth = {i: gains[i] + self.partners(i, first, left - 1) for i in items}
            top = sorted(worth.values(), reverse=True)[:left]
            if value + sum(top) <= self.floor:
                return
            rest = value + sum(top) - top[-1]
            kept = [i for i in items[1:] if rest + min(worth[i], top[-1]) > self.floor]
            after = gains + 2 * self.Q[first]
            self.visit([*chosen, first], value + gains[first], after, kept)
            items = items[1:]

    def partners(self, item, first, count):
        others = [self.Q[item, j] for j in range(first, len(self.Q)) if j != item]
        return sum(sorted(others, reverse=True)[:count])


@given(n=st.integers(2, 9), k=st.integers(1, 8), seed=st.integers(0, 999), slack=st.integers(0, 60))
def test_every_node_is_that_of_the_twin_however_the_search_is_cut(n, k, seed, slack):
    Q, k = matrix(n, seed), min(k, n - 1)
    floor = 7.5 * k * k - slack * k
    tree = Branching(Q, k, floor)
    ordered, floor = tree.Q, tree.state["floor"]
    twin = Twin(ordered, len(tree.gains), floor)
    while not tree.advance(3):
        pass
    assert tree.nodes == twin.nodes
    assert tree.state["floor"] == twin.floor
    if twin.best is None:
        assert tree.choice is None
    else:
        assert tree.path[PATH_BEST].tolist() == twin.best


@given(n=st.integers(1, 7), k=st.integers(1, 7), seed=st.integers(0, 999))
def test_partners_are_the_largest_entries_among_the_items_from_a_place_on(n, k, seed):
    Q = matrix(n, seed)
    sums = np.empty((k, n, n))
    kernels.branch_partners(Q, n, k, sums)
    for m, p, i in product(range(k), range(n), range(n)):
        others = sorted((Q[i, j] for j in range(p, n) if j != i), reverse=True)
        assert sums[m, p, i] == sum(others[:m])


@pytest.mark.parametrize(("n", "k"), [(60, 5), (61, 30)])
def test_one_long_call_is_many_short_ones(n, k):
    trees = [Branching(matrix(n, 0), k, -np.inf) for _ in range(2)]
    trees[0].advance(2000)
    for _ in range(40):
        trees[1].advance(50)
    for name in ("path", "values", "state"):
        np.testing.assert_array_equal(*(getattr(tree, name) for tree in trees), err_msg=name)
