"""What is computed in another way where problems are large gives what small ones are given."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from scipy.linalg import eigh

from bestk.bqp.bounds import Budget, tight_bound, upper_bound
from bestk.bqp.problem import BQP, top_k
from bestk.bqp.relaxations import admm
from bestk.bqp.relaxations.arrays import ArrayLibrary
from bestk.bqp.relaxations.eigen import (
    CHEBYSHEV_DEGREE,
    DenseEigenpairs,
    FollowedEigenpairs,
    chebyshev_filter,
    lanczos,
    lanczos_minimum,
)
from bestk.bqp.solvers import _simplex, solve
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._greedy import Spectral
from bestk.bqp.solvers._referee import prove
from bestk.bqp.solvers._simplex import Simplex


def signed(n, k, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return BQP(Q + Q.T, k)


def test_the_leading_eigenvector_of_many_items_is_that_of_lapack():
    problem = signed(240, 20)
    expected = top_k(np.abs(eigh(problem.Q)[1][:, -1]), 20)
    assert Spectral().pick(problem, Run()).tolist() == expected.tolist()


def test_equal_items_are_ranked_by_their_index():
    problem = signed(240, 20)
    twice = np.arange(480) % 240
    Q = np.abs(problem.Q)[np.ix_(twice, twice)]
    items = Spectral().pick(BQP(Q, 40), Run()).reshape(20, 2)
    np.testing.assert_array_equal(items[:, 1], items[:, 0] + 240)


def test_a_start_that_is_an_eigenvector_of_another_eigenvalue_does_no_harm():
    n = 240
    angles = 2 * np.pi * np.arange(n) / n
    Q = np.cos(angles[:, None] - angles)  # e is an eigenvector of eigenvalue 0
    found = lanczos(Q, np.ones(n), "LA")[1][:, 0]
    np.testing.assert_allclose(found @ Q @ found, n / 2)


def test_any_direction_leads_where_all_is_zero():
    vectors = lanczos(np.zeros((4, 4)), np.ones(4), "LA")[1]
    assert np.linalg.norm(vectors[:, 0]) == pytest.approx(1.0)


def test_the_simplex_of_many_items_is_shifted_like_that_of_few(monkeypatch):
    problem = signed(50, 10)
    few = Simplex().pick(problem, Run()).tolist()
    monkeypatch.setattr(_simplex, "MAX_DENSE_EIGEN_ITEMS", 20)
    assert Simplex().pick(problem, Run()).tolist() == few


class Products:
    """A matrix known by its products, like that of a large relaxation."""

    library = ArrayLibrary(np, np.float64)

    def __init__(self, A):
        self.A = A

    def __len__(self):
        return len(self.A)

    def __matmul__(self, X):
        return self.A @ X


def matrix_of(projection):
    return (projection.vectors * projection.weights) @ projection.vectors.T


def test_leading_eigenvectors_follow_a_matrix_that_moves():
    rng = np.random.default_rng(0)
    n, rank = 120, 6
    factor = rng.normal(size=(n, rank))
    noise = [(N + N.T) / 20 for N in rng.normal(size=(2, n, n))]
    first, second = (factor @ factor.T + part for part in (noise[0], noise[0] + noise[1] / 50))
    projection = DenseEigenpairs(rank + 10).project(second, 50.0)
    follower = FollowedEigenpairs(rank + 10)
    follower.project(Products(first), 50.0)
    followed = follower.project(Products(second), 50.0)
    assert followed.weights.sum() == pytest.approx(50.0)
    assert followed.level == pytest.approx(projection.level, rel=1e-6)
    np.testing.assert_allclose(matrix_of(followed), matrix_of(projection), atol=1e-4)


def test_the_filter_is_a_chebyshev_polynomial_of_the_matrix_but_for_its_size():
    values, vectors = np.linalg.eigh(signed(20, 1).Q)
    low, cut = values[0] - 1.0, values[15]
    polynomial = Chebyshev.basis(CHEBYSHEV_DEGREE, domain=[low, cut])(values)
    X = np.random.default_rng(1).normal(size=(20, 3))
    expected = (vectors * polynomial) @ vectors.T @ X
    found = chebyshev_filter((vectors * values) @ vectors.T, X, low, cut)
    np.testing.assert_allclose(found / np.abs(found).max(), expected / np.abs(expected).max())


def test_a_matrix_without_a_spectrum_is_filtered_without_a_division_by_zero():
    Q = signed(300, 5).Q
    for A in (np.zeros((300, 300)), np.eye(300)):
        found = FollowedEigenpairs(5).project(Products(A), 3.0)
        unit = np.eye(len(found.weights))
        np.testing.assert_allclose(found.vectors.T @ found.vectors, unit, atol=1e-9)
        assert found.weights.sum() == pytest.approx(3.0)
    assert np.isfinite(chebyshev_filter(0 * Q, Q, 0.0, 0.0)).all()


def test_the_lowest_eigenvalue_is_exact_in_as_many_steps_as_rows_and_below_in_fewer():
    for seed in range(5):
        Q = signed(40, 1, seed).Q
        small = Q[:9, :9]
        least = np.linalg.eigvalsh(small)[0]
        assert lanczos_minimum(Products(small), steps=9) == pytest.approx(least, rel=1e-9)
        values = np.linalg.eigvalsh(Q)
        assert values[0] - np.ptp(values) / 2 < lanczos_minimum(Products(Q)) <= values[0]


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_bound_by_vectors_that_follow_is_nearly_as_good(library, monkeypatch):
    problem = BQP(np.abs(signed(60, 6).Q), 6)
    plain = upper_bound(problem, "dnn", time_limit=20)
    monkeypatch.setattr(admm, "FOLLOW_ITEMS", 0)
    if library == "torch":
        torch = pytest.importorskip("torch")
        monkeypatch.setattr(admm, "gpu_module", lambda n: torch)
        monkeypatch.setattr(admm, "DEVICE", "cpu")
    best = solve(problem, solver="exact", bound=None).objective
    found = upper_bound(problem, "dnn", time_limit=20)
    assert best <= found <= plain + 0.02 * abs(plain)


def test_a_tight_bound_that_stands_still_is_split_for_the_rest_of_the_time():
    problem = signed(24, 8)
    best = solve(problem, solver="exact")
    whole = tight_bound(problem, Budget(operations=60e9), best.objective)
    assert whole.value > 1.001 * best.objective
    split = prove(problem, best.support, "tight", Budget.within(60.0, 0.0))
    assert split.method == "dnn, split"
    assert split.value == pytest.approx(best.objective)
    assert (
        prove(problem, best.support, "fast", Budget(operations=60e9)).value > 1.001 * best.objective
    )
