"""Predictions of classes from the levels of a column, against numpy and scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bestk.native import kernels

N_FOLDS = 5
SMALLEST = 1e-300
SIZES = [(40, 2, 3), (300, 2, 30), (300, 7, 1), (500, 4, 60), (90, 30, 90)]  # rows, classes, levels


def predict_classes(classes, judged, folds, levels):
    """The log loss of all rows, and the area of each judged class, for each row of levels."""
    levels = np.atleast_2d(levels)
    log_losses = np.empty(len(levels))
    areas = np.empty((len(levels), len(judged)))
    predict = kernels.predict_classes.bind(classes, int(classes.max()) + 1, judged, len(judged))
    predict = predict.bind(folds, N_FOLDS, SMALLEST, len(classes))
    predict(levels, levels.max(axis=1) + 1, len(levels), log_losses, areas)
    return log_losses, areas


def probabilities(classes, folds, levels):
    """The probability of each class in each row, from the rows of its level in other folds."""
    n_classes = int(classes.max()) + 1
    found = np.empty((len(classes), n_classes))
    for fold in range(N_FOLDS):
        training = folds != fold
        overall = np.bincount(classes[training], minlength=n_classes) / training.sum()
        for row in np.flatnonzero(folds == fold):
            same = training & (levels == levels[row])
            counts = np.bincount(classes[same], minlength=n_classes)
            found[row] = (counts + overall) / (same.sum() + 1)
    return found


def table_of(n_rows, n_classes, n_levels):
    rng = np.random.default_rng(n_rows + n_classes)
    classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    levels = (classes * rng.integers(1, 3, n_rows) + rng.integers(0, 3, n_rows)) % n_levels
    return classes, rng.permutation(np.arange(n_rows) % N_FOLDS), levels


@pytest.mark.parametrize("size", SIZES)
def test_the_loss_is_that_of_frequencies_in_other_folds(cpu, size):
    classes, folds, levels = table_of(*size)
    chances = probabilities(classes, folds, levels)
    expected = -np.log(np.maximum(chances[np.arange(len(classes)), classes], SMALLEST)).sum()
    (log_loss,), _ = predict_classes(classes, np.array([0]), folds, levels)
    assert log_loss == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_areas_are_means_of_those_of_scikit_learn_over_folds_of_both_kinds(cpu, size):
    classes, folds, levels = table_of(*size)
    chances = probabilities(classes, folds, levels)
    judged = np.arange(min(3, size[1]))
    _, (areas,) = predict_classes(classes, judged, folds, levels)
    for label, area in zip(judged, areas, strict=True):
        expected = []
        for fold in range(N_FOLDS):
            is_positive = classes[folds == fold] == label
            if 0 < is_positive.sum() < len(is_positive):
                expected.append(roc_auc_score(is_positive, chances[folds == fold, label]))
        assert area == pytest.approx(np.mean(expected), abs=1e-12)


def test_a_class_that_no_fold_tells_from_others_has_no_area(cpu):
    classes = np.zeros(10, np.int64)
    folds = np.arange(10) % N_FOLDS
    _, areas = predict_classes(classes, np.array([0]), folds, np.zeros(10, np.int64))
    assert np.isnan(areas).all()


def test_columns_are_predicted_from_one_by_one(cpu):
    classes, folds, levels = table_of(300, 7, 5)
    both = np.stack([levels, 2 * levels])
    judged = np.arange(7)
    log_losses, areas = predict_classes(classes, judged, folds, both)
    for column in range(2):
        (log_loss,), (areas_alone,) = predict_classes(classes, judged, folds, both[column])
        assert log_losses[column] == log_loss
        np.testing.assert_array_equal(areas[column], areas_alone)
