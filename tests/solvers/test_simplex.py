"""Weights on the simplex: exact, sparse, and the QPFS of its authors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bestk.bqp.problem import BQP
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._simplex import Centred, Simplex, _enter, _factor, minimise, rank_by_weight

from .conftest import load_instance, problems


@st.composite
def redundancies(draw, max_n=12):
    """A psd H, with copies and low rank among them, and relevances f."""
    n = draw(st.integers(1, max_n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    factor = rng.normal(size=(n, draw(st.integers(1, n))))
    if draw(st.booleans()):
        factor = factor[rng.integers(0, n, n)]
    scale = draw(st.sampled_from([1e-12, 1.0, 1e12]))
    return factor @ factor.T * scale, rng.random(n) * scale


def solve_simplex_qp(H, f, alpha=0.5):
    """Minimise (1 - alpha) x'Hx / 2 - alpha f'x over x >= 0, sum x = 1."""
    A = Centred(np.asarray(H, float), 1 - alpha)
    return minimise(A, alpha * np.asarray(f) - (1 - alpha) * A.g)[0]


def objective(x, H, f, alpha):
    return (1 - alpha) * x @ H @ x / 2 - alpha * f @ x


def slsqp(H, f, alpha):
    """The same problem by a general solver."""
    n = len(f)
    result = minimize(
        objective,
        np.full(n, 1 / n),
        args=(H, f, alpha),
        jac=lambda x, *_: (1 - alpha) * H @ x - alpha * f,
        bounds=[(0, None)] * n,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return result.x


def qpfs_matrix(H, f, alpha):
    """The matrix whose x'Qx, sum x = 1, is minus the QPFS objective."""
    return alpha * (f[:, None] + f) / 2 - (1 - alpha) * H / 2


def random_information(n, seed=0):
    """Redundancies like those of real features: a common part, and more within groups."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n // 2 + 5, 1))
    C = np.corrcoef(rng.normal(size=(n // 2 + 5, n)) + 1.5 * common, rowvar=False)
    H = -0.5 * np.log(1 - np.minimum(C**2, 0.9))
    convex = max(0.0, 0.01 - np.linalg.eigvalsh(H)[0])
    return H + convex * np.eye(n), rng.random(n) / 2


def test_two_independent_features_by_hand():
    # min x^2/2 + y^2/2 - (x/2 + y/4) on x + y = 1, all halved: x - y = 1/4
    x = solve_simplex_qp(np.eye(2), [0.5, 0.25], alpha=0.5)
    np.testing.assert_allclose(x, [0.625, 0.375], atol=1e-8)


def test_a_redundant_feature_gets_exactly_nothing():
    H = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    x = solve_simplex_qp(H, [0.9, 0.5, 0.5], alpha=0.5)
    assert x[1] == 0.0
    np.testing.assert_allclose(x, [0.7, 0.0, 0.3], atol=1e-8)


def test_only_relevance_counts_at_alpha_1_and_only_redundancy_at_alpha_0():
    H, f = random_information(20)
    assert solve_simplex_qp(H, f, alpha=1.0)[np.argmax(f)] == 1.0
    np.testing.assert_allclose(
        solve_simplex_qp(H, f, alpha=0.0), solve_simplex_qp(H, 7 * f, alpha=0.0)
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.9])
def test_equal_to_a_general_solver(seed, alpha):
    H, f = random_information(25, seed)
    x, other = solve_simplex_qp(H, f, alpha), slsqp(H, f, alpha)
    assert objective(x, H, f, alpha) <= objective(other, H, f, alpha) + 1e-12
    np.testing.assert_allclose(x, other, atol=1e-5)


@given(data=redundancies(), alpha=st.floats(0, 0.95))
def test_no_item_can_be_raised_with_profit(data, alpha):
    H, f = data
    x = solve_simplex_qp(H, f, alpha)
    assert x.min() >= 0
    np.testing.assert_allclose(x.sum(), 1.0)
    slopes = (1 - alpha) * H @ x - alpha * f
    level = slopes @ x
    small = 1e-6 * (np.abs(H).max() + np.abs(f).max())
    assert (slopes >= level - small).all()
    np.testing.assert_allclose(slopes[x > 1e-9], level, atol=small)


@given(problem=problems(), data=st.data())
def test_any_problem_gets_k_different_items_and_one_ranking_serves_every_k(problem, data):
    picked = Simplex().pick(problem, Run())
    assert len(set(picked.tolist())) == problem.k
    whole = Simplex().pick(problem.with_k(problem.n), Run())
    assert whole[: problem.k].tolist() == picked.tolist()


@given(problem=problems())
def test_the_weights_of_any_problem_are_the_best_of_its_concave_form(problem):
    run = Run()
    Simplex().pick(problem, run)
    w, shift = run.details["weights"], run.details["shift"]
    slopes = 2 * problem.Q @ w - shift * w
    small = 1e-6 * (np.abs(problem.Q).max() or 1.0)
    assert (slopes <= slopes @ w + small).all()


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_qpfs_is_this_solver_on_its_matrix(alpha):
    H, f = random_information(60)
    run = Run()
    picked = Simplex().pick(BQP(qpfs_matrix(H, f, alpha), 10), run)
    x = solve_simplex_qp(H, f, alpha)
    np.testing.assert_allclose(run.details["weights"], x, atol=1e-7)
    used = picked[x[picked] > 1e-6]
    assert used.tolist() == np.argsort(-x, kind="stable")[: len(used)].tolist()


def test_copies_share_their_weight_and_the_lowest_index_comes_first():
    H, f = random_information(10)
    copied = np.r_[0:10, 0:10]
    x = solve_simplex_qp(H[np.ix_(copied, copied)], f[copied])
    np.testing.assert_allclose(x[:10], x[10:], atol=1e-6)
    np.testing.assert_allclose(2 * x[:10], solve_simplex_qp(H, f), atol=1e-6)
    order = Simplex().pick(BQP(np.ones((4, 4)), 4), Run())
    assert order.tolist() == [0, 1, 2, 3]


def test_items_without_weight_are_ranked_by_how_nearly_they_would_enter():
    w, prices = np.array([0.4, 0.0, 0.6, 0.0]), np.array([0.0, 0.3, 0.0, 0.2])
    assert rank_by_weight(w, prices).tolist() == [2, 0, 3, 1]


def test_an_indefinite_matrix_is_shifted_just_enough():
    H = np.array([[0.0, 2.0], [2.0, 0.0]])  # on x + y = 1 its curvature is -2
    A = Centred(H, 1.0)
    np.testing.assert_allclose(A.shift, 2.0, rtol=1e-4)
    x = solve_simplex_qp(H + np.eye(2), [0.0, 0.0], alpha=0.0)
    np.testing.assert_allclose(x, [0.5, 0.5], atol=1e-6)


class Plain:
    """A quadratic by its matrix."""

    def __init__(self, M):
        self.M = M

    def __matmul__(self, x):
        return self.M @ x

    def block(self, items):
        return self.M[np.ix_(items, items)]


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_an_item_that_enters_lowers_the_objective_and_no_weight_falls_below_0(seed):
    rng = np.random.default_rng(seed)
    n = 8
    for _ in range(20):
        factor, b = rng.normal(size=(n, n)), rng.normal(size=n)
        A, w = Plain(factor @ factor.T + 0.1 * np.eye(n)), rng.dirichlet(np.ones(n))
        w[rng.permutation(n)[:3]] = 0.0
        w /= w.sum()
        prices = A @ w - b
        item = int(np.flatnonzero(w == 0)[np.argmin(prices[w == 0])])
        moved = _enter(A, b, w, item)
        assert moved.min() >= -1e-12
        assert moved.sum() == pytest.approx(1.0)
        if prices[item] < w @ prices:
            before, after = (v @ (A @ v) / 2 - b @ v for v in (w, moved))
            assert after <= before + 1e-12


def test_a_block_that_rounding_made_indefinite_is_solved_with_a_small_ridge():
    block = np.ones((3, 3)) - 1e-14 * np.eye(3)
    triangle, lower = _factor(block)
    half = np.tril(triangle) if lower else np.triu(triangle).T
    np.testing.assert_allclose(half @ half.T, block, atol=1e-9)


def test_large_problems_are_exact_too():
    H, f = random_information(600)
    A = Centred(H, 0.5)
    w, prices = minimise(A, 0.5 * f - 0.5 * A.g)
    assert ((w > 0) | (prices > 0)).all()
    assert 0 < np.count_nonzero(w) < 200


def test_real_information_has_few_weights():
    Q = load_instance("mi_digits64")
    alpha = Q.mean() / (Q.mean() + Q.diagonal().mean())
    assert 0 < np.count_nonzero(solve_simplex_qp(Q, Q.diagonal(), alpha)) < 64
