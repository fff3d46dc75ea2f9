import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from experiments.classification.svm import Fold, NewtonSVM, is_small


def made_up(m, n, c, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, m)
    return rng.standard_normal((m, n)) + 0.5 * (y[:, None] == np.arange(n) % c), y


@pytest.mark.parametrize("c", [2, 3])
def test_newton_finds_the_weights_of_liblinear(c):
    X, y = made_up(400, 6, c)
    support = np.arange(6)
    ours = NewtonSVM(6).fit(X, y, support)
    theirs = LinearSVC(dual=False, tol=1e-8, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours._weights[:, :6], theirs.coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X, support), theirs.predict(X))


def test_the_fit_before_changes_nothing():
    X, y = made_up(300, 8, 2)
    fresh, used = NewtonSVM(8), NewtonSVM(8)
    used.fit(X[:, [0, 3, 5]], y, np.array([0, 3, 5]))
    for svm in (fresh, used):
        svm.fit(X[:, 2:6], y, np.arange(2, 6))
    np.testing.assert_allclose(fresh._weights, used._weights, atol=1e-5)


def test_a_choice_of_columns_is_fitted_once_in_any_order():
    X, y = made_up(60, 5, 2)
    fold = Fold(X, y, (np.arange(50), np.arange(50, 60)))
    assert fold.wrong([3, 1]) == fold.wrong([1, 3])
    assert fold.fits == 1


def test_a_small_set_has_the_errors_of_svc_on_standardised_columns():
    X, y = made_up(80, 4, 3)
    train, test = np.arange(60), np.arange(60, 80)
    fold = Fold(X * [1, 10, 100, 1000], y, (train, test))
    Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    predicted = SVC(kernel="linear").fit(Z[train][:, :3], y[train]).predict(Z[test][:, :3])
    assert fold.wrong([0, 1, 2]) == (predicted != y[test]).sum()


def test_sets_of_few_rows_in_a_class_are_small():
    assert is_small(3823, 10)
    assert not is_small(5000, 3)


def test_the_authors_standardise_by_all_rows_and_train_each_class_against_the_others():
    X, y = made_up(80, 4, 3)
    train, test = np.arange(60), np.arange(60, 80)
    fold = Fold(X * [1, 10, 100, 1000], y, (train, test), "liblinear", "all")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    svm = LinearSVC(dual=True, tol=0.1, random_state=0).fit(Z[train][:, :3], y[train])
    assert fold.wrong([0, 1, 2]) == (svm.predict(Z[test][:, :3]) != y[test]).sum()


def test_a_row_left_out_of_noise_goes_to_the_smaller_class_if_it_was_centred_with_the_others():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2000)), np.repeat([0, 1], (20, 10))
    wrong = {}
    for scaling in ("all", "train"):
        folds = [Fold(X, y, (np.delete(np.arange(30), i), [i]), "liblinear", scaling)
                 for i in range(30)]  # fmt: skip
        wrong[scaling] = [fold.wrong(np.arange(2000)) for fold in folds]
    assert wrong["all"] == [1] * 20 + [0] * 10
    assert sum(wrong["train"]) < 15
