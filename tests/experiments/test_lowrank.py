from itertools import combinations

import numpy as np
import pytest

from benchmarks.solvers.matrices import at_random
from bestk.bqp.problem import BQP
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._lowrank import factor
from experiments.lowrank import PublishedLowRank, exact_low_rank, spannogram


@pytest.mark.parametrize("d", [2, 3])
def test_the_spannogram_has_the_choice_along_every_direction(d):
    V = np.random.default_rng(0).normal(size=(d, 9))
    known = {frozenset(choice.tolist()) for choice in spannogram(V, 4)}
    for c in np.random.default_rng(1).normal(size=(500, d)):
        assert frozenset(np.argsort(-(c @ V))[:4].tolist()) in known


@pytest.mark.parametrize("d", [2, 3])
def test_the_exact_form_finds_the_best_choice_of_a_positive_matrix_of_low_rank(d):
    V = np.random.default_rng(2).normal(size=(d, 10))
    problem = BQP(V.T @ V, 4)
    best = max(problem.value(np.array(choice)) for choice in combinations(range(10), 4))
    np.testing.assert_allclose(problem.value(exact_low_rank(problem, d)), best)


def test_the_published_form_is_the_best_pair_on_the_matrix_of_low_rank():
    problem = at_random(20, 0).problem(5)
    V, signs = factor(problem.Q, 3)

    def pair_value(x):
        scores = (signs * V[:, x].sum(axis=1)) @ V
        return np.sort(scores)[-problem.k :].sum()

    picked = PublishedLowRank(20_000).pick(problem, Run(np.random.default_rng(0)))
    exact = exact_low_rank(problem, 3)
    best = max(pair_value(choice) for choice in spannogram(V, problem.k))
    assert len(set(picked.tolist())) == problem.k
    assert pair_value(exact) <= best + 1e-9
    assert pair_value(picked) >= 0.98 * best
