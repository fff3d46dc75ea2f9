"""P-values of columns given covariates: of each alone, and given its best partner.

What covariates explain by least squares is subtracted from the target, and from what is tested: the
normal score of a number, and indicators of bins, of categories and of pairs of both. The sum of
products of such a column with the residuals of the target is 0 on average if the two are
independent given the covariates, whatever the distributions of the column are at each value of
these.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from bestk._typing import Array, Floats, Indices, Mask
from bestk.diagnosis.significance import (
    BLOCK_VALUES,
    InPairs,
    Scores,
    affordable_permutations,
    bins_for_rows,
    codes_for_pairs,
    correct_skewness,
    explained_pvalues,
    indicator_moments,
    likelihood_pvalues,
)
from bestk.information import Entropies, normal_scores
from bestk.information.adjustment import SMALLEST_REMAINDER
from bestk.information.blocks import TargetScores
from bestk.information.coding import cut_numbers
from bestk.information.covariates import adjustment_for, categorical_covariates
from bestk.information.scan import scan_pairs
from bestk.methods.forward import DEFAULT_CONSTANTS
from bestk.native.threads import calm_blas, spans
from bestk.tables.codes import Codes, encode
from bestk.tables.table import Table, find_numeric
from bestk.tables.target import ClassTarget, NumericTarget, Target, read_classes

# The inverse of the penalty of a logistic regression of classes on covariates, and its iterations:
# a penalty so small matters only where covariates separate the classes.
LOGISTIC_PENALTY = 10.0
LOGISTIC_ITERATIONS = 1000

# Rows are permuted among those of similar predictions: parts of equal frequency of all rows, at
# most so many, and with categories so few that a stratum has this number of rows on average.
MAX_PREDICTED_PARTS = 5
MIN_STRATUM_ROWS = 10


@dataclass(frozen=True)
class ResidualTarget:
    """What covariates leave of a target."""

    columns: Floats
    """Orthogonal rows of length 1 that the covariates do not explain: one for numbers and two
    classes, and one less than the classes for more of them."""

    classes: ClassTarget
    """By which partners are looked for: the classes, or the halves of the only column."""

    labels: Indices
    """The class of each row of the table, permuted with the target; 0 for numbers."""


@dataclass(frozen=True)
class AdjustedTests:
    """Tests of the columns of a table given covariates."""

    table: Table
    """The columns to test, without the covariates."""

    categorical: Indices
    """The places of those that are codes of categories."""

    basis: Floats
    """Orthogonal rows of length 1 that span a constant and the covariates."""

    strata: Indices
    """The stratum of each row: rows with the same categories of covariates, and similar values of
    what covariates predict."""

    rows: float
    """The number of rows, less those that the covariates use up."""

    target: ResidualTarget

    codes: Codes
    """The columns in few bins, of which pairs are counted."""

    @classmethod
    def of(
        cls, table: Table, categorical: Indices, covariates: Indices, parsed: Target
    ) -> "AdjustedTests":
        """Tests of all columns of a table but its covariates.

        ``categorical`` and ``covariates`` are places in the table.
        """
        n_rows = table.n_samples
        features = np.delete(np.arange(table.n_features), covariates)
        given = table.keep(covariates)
        categorical_given = np.flatnonzero(np.isin(covariates, categorical))
        adjustment = adjustment_for(given, categorical_given, [parsed], DEFAULT_CONSTANTS)
        constant = np.full((1, n_rows), n_rows**-0.5)
        basis = _orthonormal(np.concatenate([constant, adjustment.basis]))
        if not isinstance(parsed, NumericTarget):
            basis = _with_probabilities(basis, parsed.classes.codes)
        scored = TargetScores.of(parsed, None, DEFAULT_CONSTANTS.largest_score)
        categories = categorical_covariates(given, categorical_given)
        strata = _strata(given, categories, (scored.columns[0] @ basis.T) @ basis)
        columns = scored.adjusted(adjustment, None).columns
        target = _residual_target(columns, scored.classes, basis)
        tested = table.keep(features)
        places = np.flatnonzero(np.isin(features, categorical))
        n_probabilities = len(basis) - 1 - len(adjustment.basis)
        rows = n_rows - adjustment.rows_used - n_probabilities
        codes = next(codes_for_pairs(tested, places, round(rows), target.classes.n_classes))
        return cls(tested, places, basis, strata, rows, target, codes)

    @property
    def vary_in_pairs(self) -> Mask:
        """Which columns vary in pairs."""
        return self.codes.levels > 1

    def permuted(self, rng: np.random.RandomState) -> ResidualTarget:
        """The residuals of the target in random order within each stratum.

        Residuals may have another variance where covariates predict another value.
        """
        shuffled = rng.permutation(len(self.strata))
        order = np.empty_like(shuffled)
        order[np.argsort(self.strata, kind="stable")] = shuffled[
            np.argsort(self.strata[shuffled], kind="stable")
        ]
        return _residual_target(
            self.target.columns[:, order], self.target.labels[order], self.basis
        )

    def affordable_permutations(self, pairs: bool) -> int:
        """How often the target is permuted by default."""
        n_classes = self.target.classes.n_classes
        return affordable_permutations(self.table, self.table.n_samples, n_classes, pairs)

    def alone(self, targets: Sequence[ResidualTarget]) -> tuple[Floats, Floats, Mask]:
        """Test each column by itself: its line, for numbers, and the means in its levels.

        The results are p-values by target and column, the information about the first target in
        nats, and which columns vary.
        """
        numeric = find_numeric(self.table, self.categorical)
        n_bins = bins_for_rows(self.rows)
        bins = cut_numbers(self.table, numeric, n_bins, few_values=n_bins)
        p = np.empty((len(targets), self.table.n_features))
        share = np.empty(self.table.n_features)
        width = max(1, BLOCK_VALUES // (int(bins.levels.max()) * self.table.n_samples))
        for start, end in spans(self.table.n_features, width):
            tested = self._indicator_tests(bins.values[start:end], bins.levels[start:end], targets)
            p[:, start:end], share[start:end] = tested
        width = max(1, BLOCK_VALUES // self.table.n_samples)
        for span in spans(len(numeric), width):
            columns = numeric[slice(*span)]
            of_lines, explained, have_two_values = self._line_tests(columns, targets)
            # Bins show the same of two values.
            both = np.minimum(2.0 * np.minimum(p[:, columns], of_lines), 1.0)
            p[:, columns] = np.where(have_two_values, p[:, columns], both)
            share[columns] = np.maximum(share[columns], explained)
        return p, self._information(share), bins.levels > 1

    def in_pairs(self, target: ResidualTarget, backend: str) -> InPairs:
        """Each column given its best partner, which is found by counts.

        What both tell is the means in the cells of their levels, beside those in the levels of the
        partner. P-values are multiplied by the number of partners.
        """
        levels, groups = np.unique(self.codes.levels, return_inverse=True)
        entropies = Entropies.count(self.codes, target.classes, backend)
        scan = scan_pairs(entropies, groups)
        degrees = np.outer(levels, self.codes.levels - 1) * (target.classes.n_classes - 1)
        ratios = 2.0 * self.rows * np.maximum(entropies.mi() + scan.best, 0.0)
        counted = likelihood_pvalues(ratios, degrees)
        counted[(levels < 2)[:, np.newaxis] | (scan.partners < 0)] = np.inf
        every = np.arange(self.codes.n_features)
        best = counted.argmin(axis=0)
        partners = np.where(np.isfinite(counted[best, every]), scan.partners[best, every], -1)
        p = np.ones(len(every))
        share = np.zeros(len(every))
        n_partners = max(1, int((self.codes.levels > 1).sum()) - 1)
        testable = np.flatnonzero((partners >= 0) & (self.codes.levels > 1))
        n_cells = int(self.codes.levels.max()) ** 2
        width = max(1, BLOCK_VALUES // (n_cells * self.table.n_samples))
        for span in spans(len(testable), width):
            columns = testable[slice(*span)]
            p[columns], share[columns] = self._cell_tests(columns, partners[columns], target)
        return InPairs(p * n_partners, partners, self._information(share))

    def _information(self, share: Floats) -> Floats:
        """Nats from the explained sum of squares of the columns of the target, each of length 1."""
        n_columns = len(self.target.columns)
        unexplained = np.maximum(1.0 - share / n_columns, np.finfo(float).tiny)
        return np.asarray(-0.5 * n_columns * np.log(unexplained))

    def _subtract(self, columns: Floats) -> Floats:
        """Columns, one in each row, without what covariates explain; 0 where that is all."""
        with calm_blas():
            residuals = columns - (columns @ self.basis.T) @ self.basis
        before = np.einsum("ij,ij->i", columns, columns)
        after = np.einsum("ij,ij->i", residuals, residuals)
        residuals[after < SMALLEST_REMAINDER * before] = 0.0
        return np.asarray(residuals)

    def _line_tests(
        self, columns: Indices, targets: Sequence[ResidualTarget]
    ) -> tuple[Floats, Floats, Mask]:
        """P-values of lines in the scores of numeric columns, and what the first target explains.

        The last result says which columns have at most two values.
        """
        plain = normal_scores(self.table.keep(columns).numeric()[0])
        have_two_values = Scores.of(plain).have_two_values
        scores = Scores.of(self._subtract(plain))
        lengths = np.sqrt(np.where(scores.squares > 0, scores.squares, np.inf))
        p = np.empty((len(targets), len(columns)))
        explained = np.empty(0)
        for number, target in enumerate(targets):
            goal = Scores.of(target.columns)
            correlation = (target.columns @ scores.values.T) / lengths
            z = correlation * np.sqrt(self.rows - 1.0)
            moments_of_target = goal.moments.along_last_axis()
            deviance = correct_skewness(z, scores.moments, moments_of_target, self.rows)
            p[number] = explained_pvalues(deviance.sum(axis=0), len(target.columns), self.rows)
            if number == 0:
                explained = (correlation**2).sum(axis=0)
        return p, explained, have_two_values

    def _indicator_tests(
        self, values: Array, levels: Indices, targets: Sequence[ResidualTarget]
    ) -> tuple[Floats, Floats]:
        """P-values of the means of targets in the levels of columns, and the share for the first.

        Each level has a sum of residuals of the target. Its variance is that of the indicator of
        the level, less what covariates explain of it.
        """
        n_rows = self.table.n_samples
        n_levels = int(levels.max())
        indicators = (values[:, np.newaxis] == np.arange(n_levels)[:, np.newaxis]).astype(float)
        size = indicators.sum(axis=2)
        by_row = indicators.reshape(-1, n_rows)
        with calm_blas():
            explained = ((by_row @ self.basis.T) ** 2).sum(axis=1).reshape(size.shape)
            stacked = np.concatenate([target.columns for target in targets])
            sums = (by_row @ stacked.T).reshape(*size.shape, len(targets), -1)
        occurs = size > 0
        safe_size = np.where(occurs, size, 1.0)
        remaining = np.where(occurs, (size - explained) / safe_size, 0.0)
        remaining[remaining < SMALLEST_REMAINDER] = 0.0
        deviations = np.sqrt(np.where(remaining > 0, remaining * safe_size, np.inf))
        # A constant column has one level with all rows, of which nothing remains.
        share_of_rows = np.clip(size / n_rows, 0.5 / n_rows, 1.0 - 0.5 / n_rows)
        moments_of_levels = indicator_moments(share_of_rows).along_last_axis()
        degrees = remaining.sum(axis=1)
        p = np.empty((len(targets), len(values)))
        share = np.empty(0)
        for number, target in enumerate(targets):
            goal = Scores.of(target.columns)
            of_target = sums[:, :, number]
            z = of_target / deviations[:, :, np.newaxis] * np.sqrt(self.rows - 1.0)
            deviance = correct_skewness(z, moments_of_levels, goal.moments, self.rows)
            between = (deviance * remaining[:, :, np.newaxis]).sum(axis=(1, 2))
            n_columns = len(target.columns)
            p[number] = likelihood_pvalues(between, degrees * n_columns)
            if number == 0:
                squares = of_target**2 / safe_size[:, :, np.newaxis]
                share = np.minimum(squares.sum(axis=(1, 2)), n_columns)
        return p, share

    def _cell_tests(
        self, columns: Indices, partners: Indices, target: ResidualTarget
    ) -> tuple[Floats, Floats]:
        """P-values of columns given their partners, and what they explain beside these."""
        of_partner = _indicators(self.codes, partners)
        of_column = _indicators(self.codes, columns)
        products = of_column[:, :, np.newaxis] * of_partner[:, np.newaxis]
        n_rows = self.table.n_samples
        cells = np.concatenate(
            [of_partner, of_column, products.reshape(len(columns), -1, n_rows)], axis=1
        )
        shape = cells.shape
        cells = self._subtract(cells.reshape(-1, n_rows)).reshape(shape)
        explained, ranks = _explained_by(cells, target.columns)
        n_partner = of_partner.shape[1]
        by_partner, partner_ranks = _explained_by(cells[:, :n_partner], target.columns)
        n_columns = len(target.columns)
        unexplained = np.maximum(1.0 - by_partner / n_columns, SMALLEST_REMAINDER)
        share = np.maximum(explained - by_partner, 0.0) / unexplained
        deviance = np.maximum(self.rows - 1.0 - partner_ranks, 0.0) * share
        return likelihood_pvalues(deviance, (ranks - partner_ranks) * n_columns), share


def _strata(covariates: Table, categories: Indices, predicted: Floats) -> Indices:
    """Numbers of rows that are permuted among each other.

    ``categories``: the places of covariates that are categories; ``predicted``: a value for each
    row, which numbers among the covariates make differ between rows of the same categories.
    """
    n_rows = len(predicted)
    strata = np.zeros(n_rows, np.int64)
    if len(categories):
        levels = encode(covariates.keep(categories)).values
        strata = np.unique(levels, axis=1, return_inverse=True)[1].ravel()
    n_strata = int(strata.max()) + 1
    n_parts = min(MAX_PREDICTED_PARTS, n_rows // (MIN_STRATUM_ROWS * n_strata))
    if len(categories) == covariates.n_features or n_parts < 2:
        return strata
    rank = np.argsort(np.argsort(predicted, kind="stable"), kind="stable")
    return strata * n_parts + rank * n_parts // n_rows


def _with_probabilities(basis: Floats, codes: Indices) -> Floats:
    """The basis, and the probabilities of the classes that a logistic regression on it fits.

    Probabilities lie between 0 and 1, so that they are no lines in a covariate. What a line leaves
    of them would be found in columns that follow the covariate in another curve.
    """
    n_rows = basis.shape[1]
    columns = basis[1:] * np.sqrt(n_rows)
    model = LogisticRegression(C=LOGISTIC_PENALTY, max_iter=LOGISTIC_ITERATIONS)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        probabilities = model.fit(columns.T, codes).predict_proba(columns.T).T[1:]
    for probability in probabilities:
        centered = probability - probability.mean()
        remainder = centered - (basis @ centered) @ basis
        length = np.linalg.norm(remainder)
        if length**2 > SMALLEST_REMAINDER * n_rows:
            basis = np.vstack([basis, remainder / length])
    return basis


def _orthonormal(rows: Floats) -> Floats:
    """Orthogonal rows of length 1 that span the same; the rows are independent."""
    return np.ascontiguousarray(np.linalg.qr(rows.T)[0].T)


def _residual_target(columns: Floats, labels: Indices, basis: Floats) -> ResidualTarget:
    """The target of these columns, less what the basis explains."""
    residuals = _orthonormal(columns - (columns @ basis.T) @ basis)
    goal = labels
    if len(residuals) == 1:
        upper = residuals[0] > np.median(residuals[0])
        goal = upper.astype(np.int64)
    return ResidualTarget(residuals, read_classes(goal, len(goal)), labels)


def _indicators(codes: Codes, columns: Indices) -> Floats:
    """Indicators of all levels but the first, as (column, level, row).

    Columns of fewer levels than others have further rows of zeros.
    """
    levels = np.arange(1, int(codes.levels[columns].max()))
    return (codes.values[columns][:, np.newaxis] == levels[:, np.newaxis]).astype(np.float64)


def _explained_by(cells: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """The sum of squares of a target that blocks of columns explain, and their ranks.

    ``cells``: (block, column, row); ``goal``: rows of length 1.
    """
    products = cells @ cells.transpose(0, 2, 1)
    inverses = np.linalg.pinv(products, rcond=SMALLEST_REMAINDER, hermitian=True)
    ranks = np.rint(np.einsum("cij,cji->c", inverses, products))
    covariances = cells @ goal.T
    explained = np.einsum("ciq,cij,cjq->c", covariances, inverses, covariances, optimize=True)
    return np.asarray(explained), np.asarray(ranks)
