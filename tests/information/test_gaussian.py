"""Gaussian information against the closed form: by hand and in the limit."""

import numpy as np
import pytest

from bestk.information import GaussianSource, ScoredTable, measures
from bestk.information.entropies import Entropies
from bestk.tables.target import NumericTarget, read_classes


def gaussian(X, y, signed=True, n_jobs=None, scores="rank", **options):
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    target = read_classes(y, len(y)) if y.dtype.kind in "iu" else NumericTarget(y)
    source = GaussianSource(ScoredTable(X, target, scores), **options)
    return Entropies(*source.singles, source, signed=signed, n_jobs=n_jobs)


def log_det(matrix):
    sign, value = np.linalg.slogdet(matrix)
    assert sign == 1
    return value


def test_two_columns_worked_by_hand():
    X = [[-1, -1], [-1, 1], [1, -1], [1, 1], [-1, -1], [1, 1]]
    y = [0, 0, 1, 1, 0, 1]
    # T = [[1, 1/3], [1/3, 1]]; within each class x0 is constant, x1 has mean -+1/3
    h = gaussian(X, y, scores="standard", noise=0.5)
    np.testing.assert_allclose(h.mi(), 0.5 * np.log([1.5 / 0.5, 1.5 / (8 / 9 + 0.5)]), atol=1e-6)
    np.testing.assert_allclose(h.pair_mi()[0, 1], -0.5 * np.log(1 - 1 / 4.5**2), atol=1e-6)
    joint = 0.5 * np.log((1.5**2 - 1 / 9) / (0.5 * (8 / 9 + 0.5)))
    np.testing.assert_allclose(h.joint_mi()[0, 1], joint, atol=1e-6)
    np.testing.assert_allclose(h.y, np.log(2))


def test_a_number_for_y_gives_minus_half_log_of_one_minus_r_squared():
    X = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]], dtype=float)
    y = X @ [2, 1] + np.array([1, -1, -1, 1])  # r^2 = 4/6 with x0, 1/6 with x1
    h = gaussian(X, y, scores="standard", noise=0)
    np.testing.assert_allclose(h.mi(), -0.5 * np.log([1 / 3, 5 / 6]), atol=1e-6)
    np.testing.assert_allclose(h.joint_mi()[0, 1], -0.5 * np.log(1 / 6), atol=1e-6)
    np.testing.assert_allclose(h.y, 0.5 * np.log(2 * np.pi * np.e), atol=1e-6)


SIZES = [500, 5000, 50000]


def slope(estimate, truth, repeats=12):
    """Exponent with which the mean error shrinks; every error at 50000 rows is small."""
    rng = np.random.default_rng(0)
    errors = [np.mean([np.abs(estimate(rng, m) - truth) for _ in range(repeats)]) for m in SIZES]
    assert errors[-1] < 0.005
    return np.polyfit(np.log(SIZES), np.log(errors), 1)[0]


def mixing(n):
    return np.random.default_rng(1).normal(size=(n, n)) / np.sqrt(n) + np.eye(n)


@pytest.mark.parametrize("scores", ["rank", "standard"])
def test_for_a_number_the_error_against_the_closed_form_shrinks_as_one_over_root_m(scores):
    n = 8
    A = mixing(n + 1)
    C = A.T @ A
    pairs = np.triu_indices(n, 1)
    blocks = [
        (np.ix_([i, j], [i, j]), np.ix_([i, j, n], [i, j, n])) for i, j in np.transpose(pairs)
    ]
    truth = [0.5 * (np.log(C[n, n]) + log_det(C[two]) - log_det(C[three])) for two, three in blocks]

    def estimate(rng, m):
        data = rng.normal(size=(m, n + 1)) @ A
        return gaussian(data[:, :n], data[:, n], scores=scores).joint_mi()[pairs]

    assert slope(estimate, truth) == pytest.approx(-0.5, abs=0.06)


def test_for_classes_the_error_against_the_closed_form_shrinks_as_one_over_root_m():
    n, p = 8, np.array([0.5, 0.3, 0.2])
    A, means = mixing(n), np.random.default_rng(2).normal(size=(3, n))
    W = A.T @ A
    T = W + (means - p @ means).T @ np.diag(p) @ (means - p @ means)
    pairs = np.triu_indices(n, 1)
    blocks = [np.ix_(pair, pair) for pair in np.transpose(pairs)]
    truth = [0.5 * (log_det(T[block]) - log_det(W[block])) for block in blocks]

    def estimate(rng, m):
        y = rng.choice(3, size=m, p=p)
        X = means[y] + rng.normal(size=(m, n)) @ A
        return gaussian(X, y, scores="standard").joint_mi()[pairs]

    assert slope(estimate, truth) == pytest.approx(-0.5, abs=0.06)


@pytest.mark.parametrize("y", [np.arange(2000) % 4, np.sin(np.arange(2000.0))])
def test_independent_columns_have_no_information_beyond_noise(y):
    h = gaussian(np.random.default_rng(0).normal(size=(2000, 30)), y)
    assert h.mi().max() < 10 / 2000
    assert h.joint_mi().max() < 15 / 2000
    off = ~np.eye(30, dtype=bool)
    assert h.pair_mi()[off].max() < 10 / 2000


def test_gaps_weaken_estimates():
    rng = np.random.default_rng(5)
    y = np.arange(20000) % 2
    X = rng.normal(size=(20000, 2)) @ [[1, 0.8], [0, 0.6]] + 1.5 * y[:, None]
    whole = gaussian(X, y, scores="standard")
    X[rng.random(X.shape) < 0.3] = np.nan
    h = gaussian(X, y, scores="standard")
    assert (h.mi() > 0).all()
    assert (h.mi() < 0.8 * whole.mi()).all()
    assert h.pair_mi()[0, 1] < 0.7 * whole.pair_mi()[0, 1]


@pytest.mark.parametrize("y", [np.arange(500) % 2, np.arange(500.0)])
def test_a_copy_adds_almost_nothing(y):
    x = np.random.default_rng(0).normal(size=500) + y / y.std()
    X = np.column_stack([x, x])
    h = gaussian(X, y)
    assert 0 < h.cmi()[0, 1] < 0.01 * h.mi()[0]


@pytest.mark.parametrize("y", [np.arange(12) % 3, np.arange(12.0)])
def test_columns_that_are_constant_or_unknown_tell_nothing(y):
    X = np.random.default_rng(0).normal(size=(12, 5))
    X[:, 1], X[:, 2] = 7.1, np.nan
    X[1:, 3] = np.nan
    X[5:, 4] = np.nan
    for noise in (None, 0):
        h = gaussian(X, y, noise=noise)
        np.testing.assert_allclose(h.mi()[1:4], 0, atol=1e-12)
        np.testing.assert_allclose(h.joint_mi()[0, 1:4], h.mi()[0], atol=1e-12)
        np.testing.assert_allclose(h.pair_mi()[0, 1:4], 0, atol=1e-12)
        assert np.isfinite(h.measure(measures.TRIPLE_ENTROPY, signed=True)).all()


def test_classes_of_one_sample_are_taken_as_they_come():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    np.testing.assert_allclose(gaussian(X, np.arange(4)).mi(), 0.5 * np.log(1.25 / 0.25), rtol=1e-6)
    assert np.isfinite(gaussian(X, [0, 0, 0, 1]).joint_mi()).all()
    assert np.isfinite(gaussian(X[:2], [0, 1]).joint_mi()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": np.arange(4)}, "give one a row"),
        ({"y": np.ones(5)}, "y is constant"),
    ],
)
def test_bad_input_is_refused_with_advice(options, message):
    with pytest.raises(ValueError, match=message):
        gaussian(np.eye(5), **{"y": np.array([0, 0, 1, 1, 1]), **options})


def test_no_rows_are_a_matrix_without_rows():
    h = gaussian(np.random.default_rng(0).normal(size=(9, 3)), np.arange(9) % 2)
    assert h.cmi(rows=[]).shape == (0, 3)
