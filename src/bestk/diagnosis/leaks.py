"""Leaks: columns that alone predict the target better than honest columns do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from bestk._typing import Array, Floats, Indices
from bestk.diagnosis.column_values import column_values
from bestk.diagnosis.lines import line_shares
from bestk.diagnosis.selected import SelectedColumns
from bestk.information import normal_scores
from bestk.information.coding import cut_numbers
from bestk.native import kernels
from bestk.native.threads import map_columns, spans
from bestk.tables.codes import Codes
from bestk.tables.outliers import move_outliers
from bestk.tables.table import Table, find_numeric, split_numbers
from bestk.tables.target import ClassTarget, NumericTarget, Target

# A column may be a leak if its cross-validated AUC, or R2, is above 0.97: its error is below 0.03.
MAX_ERROR = 0.03

# Below 0.99, a column is also a leak only if its error is this many times smaller than that of the
# best column with an error above MAX_ERROR. Of 236 real tables 14 have a selected column below
# MAX_ERROR, many of them tables of genes and of tumors where other columns are nearly as good; by
# this factor 7 of them are named, of which 5 restate the target (benchmarks/results/leaks.csv).
TIMES_BETTER = 3.0

# A column may also be a leak if it has more than this part of the entropy of the classes, and this
# many times the information of the next column. This finds leaks of some of many classes.
MIN_INFORMATION = 0.6
TIMES_MORE_INFORMATION = 10.0

# Part of the entropy of the target that the selection must have found in a column to look at it.
# An AUC of 0.97 needs a third of the entropy; estimates by a straight line find half of that in a
# column whose missing values tell.
MIN_RELEVANCE = 0.15

# Rows, and rows of the smallest class, that are needed to measure an AUC: with fewer, one of some
# columns of noise separates the classes. With them, a perfect column has to be far ahead of others.
MIN_ROWS = 20
MIN_CLASS_ROWS = 3

# Classes of fewer rows than this are judged only where no class has more: a single row decides.
FEW_CLASS_ROWS = 20

# Classes whose AUC is measured, the most frequent ones: time and memory grow with their number, and
# a column that predicts so many classes predicts the others.
MAX_JUDGED_CLASSES = 50

# Rows of a class that are looked at; the error of an AUC is then about 0.001.
MAX_CLASS_ROWS = 10_000

# Bins of numbers: about ROWS_PER_BIN rows in each, so that ties within a bin matter little.
MIN_BINS = 5
MAX_BINS = 100
ROWS_PER_BIN = 20

N_FOLDS = 5

# Levels of columns that are handed to the kernel at once: 8 MiB.
STRIP_VALUES = 2**20

# Different values of a number, on either side of a row, by which a number to predict is predicted.
N_NEIGHBORS = 2

# The smallest probability that counts in a log loss.
TINY = np.finfo(np.float64).tiny

# Columns, besides those that are selected, to which a candidate is compared: the most relevant,
# and as many that are spread over all others.
N_COMPARED = 20


@dataclass(frozen=True)
class Predictions:
    """How well each of some columns predicts the target alone, in rows that were not fitted."""

    errors: Floats
    """1 - AUC, the largest of all classes against the others; or 1 - R2."""

    information: Floats
    """Information about the classes, as a part of their entropy, and not above it; 0 for numbers.

    It is negative where the predictions are worse than the frequencies of the classes.
    """

    least_error: float
    """What one more misplaced row would add to an error: errors below it are chance."""

    def are_suspects(self) -> NDArray[np.bool_]:
        """Which columns predict so well that it is worth comparing them to others."""
        return (self.errors < MAX_ERROR) | (self.information > MIN_INFORMATION)

    def are_leaks(self, others: "Predictions") -> NDArray[np.bool_]:
        """Which columns stand out among themselves and ``others``."""
        all_errors = np.concatenate([self.errors, others.errors])
        ordinary_error = all_errors[all_errors >= MAX_ERROR].min(initial=1.0)
        smallest_error = self.errors + self.least_error
        stands_out = TIMES_BETTER * smallest_error <= ordinary_error
        predicts = (self.errors < MAX_ERROR) & stands_out
        return predicts | self._are_far_ahead(others)

    def _are_far_ahead(self, others: "Predictions") -> NDArray[np.bool_]:
        """Which columns have most of the entropy, and ten times the information of the next."""
        information_of_all = np.concatenate([self.information, others.information])
        largest_of_others = np.empty(len(self.information))
        for i in range(len(self.information)):
            largest_of_others[i] = np.delete(information_of_all, i).max(initial=0.0)
        much_more = self.information > TIMES_MORE_INFORMATION * largest_of_others
        return (self.information > MIN_INFORMATION) & much_more


def find_leaks(selected: SelectedColumns, candidates: Sequence[int]) -> list[int]:
    """Candidates that predict the target alone so much better than others that they may be leaks.

    ``candidates``: some of the selected columns, by their numbers among these.
    """
    target = selected.target
    if target is None or not can_be_judged(target):
        return []
    shares = target.classes.sizes / target.classes.sizes.sum()
    entropy = entr(shares).sum()
    is_relevant = selected.relevance > MIN_RELEVANCE * entropy
    if selected.information.levels is None:
        # Estimates by straight lines do not see what missing values tell.
        is_relevant |= [column.missing.any() for column in selected.columns]
    relevant = np.array([i for i in candidates if is_relevant[i]], np.int64)
    if not len(relevant):
        return []
    predictions = predict_alone(*selected.keep(relevant), target)
    if not predictions.are_suspects().any():
        return []
    others = selected.columns_to_compare(N_COMPARED, without=selected.places[relevant])
    compared = predict_alone(*selected.table_of(others), target)
    return relevant[predictions.are_leaks(compared)].tolist()


def can_be_judged(target: Target) -> bool:
    """Whether there are enough rows to measure an AUC or R2."""
    if target.n_samples < MIN_ROWS:
        return False
    return isinstance(target, NumericTarget) or _smallest_class(target.classes) >= MIN_CLASS_ROWS


def predict_alone(table: Table, categorical: Indices, target: Target) -> Predictions:
    """Cross-validate predictions of the target from each column of a table by itself.

    Numbers are cut into bins of equal frequency, and missing values are a bin of their own: what
    is predicted is the frequency of each class, or the mean of the numbers, in the training rows
    of the bin. Numbers are also used as they are: to rank the rows; or along a straight line, and
    by the rows with the next values.
    """
    rows = _draw_rows(target.classes)
    if len(rows) < table.n_samples:
        table = table.take(rows)
        target = target.take(rows)
    if not table.n_features:
        return Predictions(np.empty(0), np.empty(0), least_error=0.0)
    numeric = find_numeric(table, categorical)
    n_bins = int(np.clip(table.n_samples / ROWS_PER_BIN, MIN_BINS, MAX_BINS))
    bins = cut_numbers(table, numeric, n_bins)
    fold_of_row = _assign_folds(target.classes.codes)
    if isinstance(target, NumericTarget):
        errors = _errors_of_numbers(table, numeric, bins.values, target.numbers, fold_of_row)
        return Predictions(errors, np.zeros(table.n_features), least_error=1.0 / len(rows))

    classes = target.classes
    judged = _judged_classes(classes)
    information, aucs = _predict_by_levels(bins, classes, judged, fold_of_row)
    if len(numeric):
        numbers = split_numbers(table, numeric)[0].values
        aucs[numeric] = np.maximum(aucs[numeric], _rank_aucs(numbers, classes, judged))
    least_error = 0.5 / _smallest_class(classes)
    return Predictions(1.0 - aucs.min(axis=1), information, least_error)


def _draw_rows(classes: ClassTarget) -> Indices:
    """All rows of rare classes, and as many of the others as are needed to measure an AUC."""
    rng = np.random.default_rng(0)
    rows_of_classes = []
    for label in range(classes.n_classes):
        rows = np.flatnonzero(classes.codes == label)
        if len(rows) > MAX_CLASS_ROWS:
            rows = rng.choice(rows, MAX_CLASS_ROWS, replace=False)
        rows_of_classes.append(rows)
    return np.sort(np.concatenate(rows_of_classes))


def _assign_folds(codes: Indices) -> Indices:
    """A fold for each row, so that every fold has its share of the rows of each class."""
    shuffled = np.random.default_rng(0).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold_of_row = np.empty(len(codes), np.int64)
    fold_of_row[by_class] = np.arange(len(codes)) % N_FOLDS
    return fold_of_row


def _judged_classes(classes: ClassTarget) -> Indices:
    """The classes of enough rows for an AUC, the most frequent of very many.

    Of two classes only one, as their AUC is the same.
    """
    if classes.n_classes == 2:
        return np.array([1])
    enough = min(FEW_CLASS_ROWS, int(classes.counts.max()))
    most_frequent = np.argsort(-classes.counts, kind="stable")[:MAX_JUDGED_CLASSES]
    return np.sort(most_frequent[classes.counts[most_frequent] >= enough])


def _smallest_class(classes: ClassTarget) -> int:
    """The rows of the smallest class whose AUC is measured; of two classes, of either."""
    if classes.n_classes == 2:
        return int(classes.counts.min())
    return int(classes.counts[_judged_classes(classes)].min())


def _predict_by_levels(
    bins: Codes, classes: ClassTarget, judged: Indices, fold_of_row: Indices
) -> tuple[Floats, Floats]:
    """How well the level of each column predicts the classes of rows that are not in its fold.

    The probability of a class is its frequency among the other rows of the level, where the
    frequencies of all of them count as one row more.
    The first result is 1 - log loss / entropy of the classes; the second has the mean AUC over
    folds of each judged class against the others, one row for each column.
    """
    n_rows = bins.n_samples
    predict = kernels.predict_classes.bind(
        classes.codes, classes.n_classes, judged, len(judged), fold_of_row, N_FOLDS, TINY, n_rows
    )
    log_losses = np.empty(bins.n_features)
    aucs = np.empty((bins.n_features, len(judged)))
    for first, last in spans(bins.n_features, max(1, STRIP_VALUES // n_rows)):
        levels = bins.values[first:last].astype(np.int64)
        n_levels = bins.levels[first:last]
        predict(levels, n_levels, last - first, log_losses[first:last], aucs[first:last])
    entropy = entr(classes.counts / n_rows).sum()
    return 1.0 - log_losses / n_rows / entropy, aucs


def _rank_aucs(numbers: Array, classes: ClassTarget, judged: Indices) -> Floats:
    """The AUC of numbers as they are, or of their negatives; missing ones are all at one end.

    ``numbers`` has one column for each row of the result, which has a column for each judged class.
    """
    n_rows = len(classes.codes)
    # The mean rank of equal values by the sum of their first and last rank, both from 0.
    mean_ranks = 1.0 + np.arange(2 * n_rows - 1) / 2

    def measure(block: Floats, start: int) -> Floats:
        missing = np.isnan(block)
        kernels.rank_rows(block, *block.shape, mean_ranks)
        # Ranks of columns with missing values come back as (rank - 1/2) / number of known values.
        has_gaps = missing.any(axis=1)
        n_known = n_rows - missing[has_gaps].sum(axis=1)
        block[has_gaps] = block[has_gaps] * n_known[:, np.newaxis] + 0.5
        block[missing] = 0.0
        return _aucs_of_ranks(block, missing, classes, judged)

    return np.concatenate(map_columns(numbers, measure))


def _aucs_of_ranks(
    ranks: Floats, missing: NDArray[np.bool_], classes: ClassTarget, judged: Indices
) -> Floats:
    """The AUC of each judged class by the ranks among known values, 0 where a value is missing.

    AUC = (sum of ranks of positive rows - n (n + 1) / 2) / (n * number of negative rows), with n
    positive rows. It is that of the ranks or of their negatives, with missing values in front or
    at the end, whichever is largest.
    """
    n_rows = ranks.shape[1]
    n_positive = classes.counts[judged]
    rank_sums = _sum_by_class(ranks, classes)[:, judged]
    missing_positive = _sum_by_class(missing, classes)[:, judged]
    known_positive = n_positive - missing_positive
    n_missing = missing.sum(axis=1)[:, np.newaxis]
    mean_rank_in_front = (n_missing + 1) / 2
    mean_rank_at_end = n_rows - n_missing + mean_rank_in_front
    sums_in_front = rank_sums + known_positive * n_missing + missing_positive * mean_rank_in_front
    sums_at_end = rank_sums + missing_positive * mean_rank_at_end
    smallest_sum = n_positive * (n_positive + 1) / 2
    n_pairs = n_positive * (n_rows - n_positive)
    in_front = (sums_in_front - smallest_sum) / n_pairs
    at_end = (sums_at_end - smallest_sum) / n_pairs
    return np.maximum.reduce([in_front, 1.0 - in_front, at_end, 1.0 - at_end])


def _sum_by_class(values: Array, classes: ClassTarget) -> Floats:
    """Sums of each row of a matrix over the samples of each class, as (row, class).

    ``values``: of shape (rows, samples).
    """
    sums = [np.bincount(classes.codes, row, classes.n_classes) for row in values]
    return np.array(sums)


def _errors_of_numbers(
    table: Table, numeric: Indices, bins: NDArray[np.integer], y: Floats, fold_of_row: Indices
) -> Floats:
    """1 - R2 of a target of numbers, or of their ranks: the smaller one, for each column.

    Parameters
    ----------
    table : Table
        The columns that predict.
    numeric : array of int
        The places of those that are numbers.
    bins : array of shape (n_columns, n_samples)
        The bin or the category of each row.
    y : array of shape (n_samples,)
        The target.
    fold_of_row : array of shape (n_samples,)
        The fold in which each row is predicted.
    """
    # Squares of large numbers would overflow.
    y = y / max(np.abs(y).max(), TINY)
    # A few rows far away must not decide.
    without_outliers = move_outliers(y[:, np.newaxis], np.arange(len(y)))[:, 0]
    ranks = normal_scores(y[:, np.newaxis])[0]
    errors = np.empty(table.n_features)
    for column, levels in enumerate(bins):
        of_numbers = _error_of_means(levels, without_outliers, fold_of_row)
        of_ranks = _error_of_means(levels, ranks, fold_of_row)
        errors[column] = min(of_numbers, of_ranks)
    explained = line_shares(table.keep(numeric), y)
    errors[numeric] = np.minimum(errors[numeric], 1.0 - explained)
    for column in numeric.tolist():
        values = column_values(table, column).values.astype(np.float64)
        of_neighbors = _error_of_neighbors(values, without_outliers)
        errors[column] = min(errors[column], of_neighbors)
    return errors


def _error_of_neighbors(values: Floats, y: Floats) -> float:
    """1 - R2 of y predicted by the means of y at the next values of a column, on both sides.

    Rows of the same value are predicted together, by other values only: equal values may be those
    of the same person. Rows without a value are predicted by the mean of y. This finds a curve that
    is too steep for bins of 20 rows.
    """
    present = np.flatnonzero(~np.isnan(values))
    centered = y - y.mean()
    levels, level_of_row = np.unique(values[present], return_inverse=True)
    if len(levels) <= 2 * N_NEIGHBORS:
        return 1.0
    means = np.bincount(level_of_row, centered[present]) / np.bincount(level_of_row)
    # The sum of the means of the first i levels.
    sum_of_first = np.concatenate([[0.0], np.cumsum(means)])
    place = np.arange(len(levels))
    first = np.maximum(place - N_NEIGHBORS, 0)
    end = np.minimum(place + N_NEIGHBORS + 1, len(levels))
    sum_of_neighbors = sum_of_first[end] - sum_of_first[first] - means
    n_neighbors = end - first - 1
    predicted = sum_of_neighbors / n_neighbors
    residuals = centered.copy()
    residuals[present] -= predicted[level_of_row]
    return float((residuals @ residuals) / (centered @ centered))


def _error_of_means(levels: NDArray[np.integer], y: Floats, fold_of_row: Indices) -> float:
    """1 - R2 of the mean at each level in the training rows; one row more has the mean of all.

    ``levels``, ``y`` and ``fold_of_row`` have a value for each row of the table.
    """
    n_levels = int(levels.max()) + 1
    shape = (N_FOLDS, n_levels)
    cell_of_row = np.ravel_multi_index((fold_of_row, levels), shape)
    n_cells = N_FOLDS * n_levels
    counts = np.bincount(cell_of_row, minlength=n_cells).reshape(shape)
    centered = y - y.mean()
    sums = np.bincount(cell_of_row, centered, minlength=n_cells).reshape(shape)
    training_sums = sums.sum(axis=0) - sums
    training_counts = counts.sum(axis=0) - counts
    means = training_sums / (training_counts + 1.0)
    residuals = centered - means[fold_of_row, levels]
    return float((residuals**2).sum() / (centered**2).sum())
