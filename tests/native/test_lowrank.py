"""The best choices along directions by C, against one direction at a time."""

import numpy as np
import pytest

from bestk.bqp.problem import BQP, top_k
from bestk.bqp.solvers._lowrank import _best_along, along_a_curve, factor

pytestmark = pytest.mark.usefixtures("cpu")


def random_matrix(n, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return Q + Q.T


@pytest.mark.parametrize("signs", [(1.0, 1.0), (1.0, -1.0)])
def test_every_direction_is_scored_on_the_true_matrix(signs):
    Q, k = random_matrix(37), 9
    problem, (V, _) = BQP(Q, k), factor(Q, 2)
    directions = along_a_curve(np.random.default_rng(1).normal(size=(200, 2)))
    value, best = _best_along(Q, V, np.array(signs), k, directions)
    np.testing.assert_allclose(value, problem.value(best))
    seen = [problem.value(top_k(c @ V, k)) for c in directions]
    if min(signs) > 0:
        np.testing.assert_allclose(value, max(seen))
    assert value >= max(seen) - 1e-9


def thinned(problem, items):
    """The items but those that are missed least, until k are left."""
    items = list(items)
    while len(items) > problem.k:
        items = max(([i for i in items if i != out] for out in items), key=problem.value)
    return items


@pytest.mark.parametrize("k", [1, 5, 30, 31])
def test_with_signs_both_ends_of_a_direction_and_the_best_of_both_are_scored(k):
    Q, signs = random_matrix(31), np.array([1.0, -1.0, 1.0])
    problem, (V, _) = BQP(Q, k), factor(Q, 3)
    directions = along_a_curve(np.random.default_rng(2).normal(size=(60, 3)))
    ends, unions = [], []
    value, best = _best_along(Q, V, signs, k, directions)
    for c in directions:
        X = top_k(c @ V, k)
        Y = top_k((signs * V[:, X].sum(axis=1)) @ V, k)
        ends += [problem.value(X), problem.value(Y)]
        unions.append(problem.value(thinned(problem, {*X.tolist(), *Y.tolist()})))
    np.testing.assert_allclose(value, problem.value(best))
    assert max(ends) - 1e-9 <= value <= max(ends + unions) + 1e-9
    if k == 1:
        np.testing.assert_allclose(value, max(ends + unions))
