"""A few eigenpairs, as accurate as the time allows."""

import numpy as np
import pytest

from bestk.bqp.relaxations import eigen
from bestk.bqp.relaxations.eigen import lanczos
from bestk.native.threads import calm_blas, threads


def symmetric(n, seed=0):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return Q + Q.T + 3 * np.ones((n, n))


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
def test_with_time_the_eigenpairs_are_those_of_lapack(which):
    Q = symmetric(60)
    values, vectors = lanczos(Q, np.ones(60), which, 2)
    all_values = np.linalg.eigvalsh(Q)
    order = {"LA": -all_values, "SA": all_values, "LM": -np.abs(all_values)}[which]
    np.testing.assert_allclose(np.sort(values), np.sort(all_values[np.argsort(order)[:2]]))
    np.testing.assert_allclose(Q @ vectors, vectors * values, atol=1e-8)


def test_after_the_deadline_the_vectors_seen_so_far_give_the_answer():
    Q = symmetric(60)
    values, vectors = lanczos(Q, np.ones(60), "LA", 2, deadline=-np.inf)
    assert vectors.shape == (60, 2)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(np.diag(vectors.T @ Q @ vectors), values)
    assert values[0] == pytest.approx(np.linalg.eigvalsh(Q)[-1], rel=0.05)


def test_a_late_answer_keeps_the_leading_direction_after_a_restart():
    Q, calls = symmetric(400), []

    class Slow:
        def __matmul__(self, x):
            calls.append(1)
            return Q @ x

    whole = lanczos(Q, np.ones(400), "LA", 3)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bestk.bqp.relaxations.eigen.perf_counter", lambda: float(len(calls)))
        values, _ = lanczos(Slow(), np.ones(400), "LA", 3, deadline=35.0)
    assert len(calls) == 35
    assert values[0] == pytest.approx(whole.max(), rel=1e-6)


@pytest.mark.parametrize("n", [201, 512, 1129])
@pytest.mark.parametrize("team", [1, 2, 3, 64])
def test_a_product_has_the_same_bits_for_any_number_of_threads(n, team, monkeypatch):
    monkeypatch.setattr(eigen, "ENTRY_COST", 1.0)  # worth threads at any size
    rng = np.random.default_rng(n)
    Q, x = rng.normal(size=(n, n)), rng.normal(size=n)
    with threads(team), calm_blas():
        assert np.array_equal(eigen.product(Q, x), Q @ x)
