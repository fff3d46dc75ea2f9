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

# The inverse of the penalty of a logistic regression of classes on covariates. A penalty so small
# matters only where covariates separate the classes.
INVERSE_PENALTY = 10.0

# The logistic regression stops after so many iterations.
LOGISTIC_ITERATIONS = 1000

# Rows are permuted among those of similar predictions: all rows are divided into at most so many
# parts of equal size.
MAX_PREDICTED_PARTS = 5

# There are fewer parts where covariates are categories, so that a stratum, which is a part of the
# rows of a category, has at least this number of rows on average.
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

        Parameters
        ----------
        table : Table
            The features and the covariates.
        categorical : array of int
            The places of numbers in the table that are codes of categories.
        covariates : array of int
            The places of the covariates in the table.
        parsed : Target
            The target of the rows of the table.
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
        predicted = (scored.columns[0] @ basis.T) @ basis
        strata = _strata(given, categories, predicted)
        columns = scored.adjusted(adjustment, None).columns
        target = _residual_target(columns, scored.classes, basis)
        tested = table.keep(features)
        places = np.flatnonzero(np.isin(features, categorical))
        n_probabilities = len(basis) - 1 - len(adjustment.basis)
        rows = n_rows - adjustment.rows_used - n_probabilities
        codings = codes_for_pairs(tested, places, round(rows), target.classes.n_classes)
        codes = next(codings)
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
        # Both list the rows of the first stratum, then those of the second, and so on: the rows
        # of a stratum in their order, and in random order.
        rows_by_stratum = np.argsort(self.strata, kind="stable")
        shuffled_by_stratum = shuffled[np.argsort(self.strata[shuffled], kind="stable")]
        order = np.empty_like(shuffled)
        order[rows_by_stratum] = shuffled_by_stratum
        columns = self.target.columns[:, order]
        labels = self.target.labels[order]
        return _residual_target(columns, labels, self.basis)

    def affordable_permutations(self, pairs: bool) -> int:
        """How often the target is permuted by default, with a test of pairs or without."""
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
        n_levels = int(bins.levels.max())
        width = max(1, BLOCK_VALUES // (n_levels * self.table.n_samples))
        for start, end in spans(self.table.n_features, width):
            values = bins.values[start:end]
            levels = bins.levels[start:end]
            of_levels, explained = self._indicator_tests(values, levels, targets)
            p[:, start:end] = of_levels
            share[start:end] = explained

        width = max(1, BLOCK_VALUES // self.table.n_samples)
        for start, end in spans(len(numeric), width):
            columns = numeric[start:end]
            of_lines, explained, have_two_values = self._line_tests(columns, targets)
            of_levels = p[:, columns]
            smaller = np.minimum(of_levels, of_lines)
            of_both = np.minimum(2.0 * smaller, 1.0)
            # Bins show the same as a line where a column has two values only.
            p[:, columns] = np.where(have_two_values, of_levels, of_both)
            share[columns] = np.maximum(share[columns], explained)
        return p, self._information(share), bins.levels > 1

    def in_pairs(self, target: ResidualTarget, backend: str) -> InPairs:
        """Each column given its best partner, which is found by counts.

        What both tell is the means in the cells of their levels, beside those in the levels of the
        partner. P-values are multiplied by the number of partners.
        """
        partners = self._find_partners(target, backend)
        p = np.ones(self.codes.n_features)
        share = np.zeros(self.codes.n_features)
        varies = self.codes.levels > 1
        n_partners = max(1, int(varies.sum()) - 1)
        testable = np.flatnonzero((partners >= 0) & varies)
        n_cells = int(self.codes.levels.max()) ** 2
        width = max(1, BLOCK_VALUES // (n_cells * self.table.n_samples))
        for start, end in spans(len(testable), width):
            columns = testable[start:end]
            of_cells, explained = self._cell_tests(columns, partners[columns], target)
            p[columns] = of_cells
            share[columns] = explained
        return InPairs(p * n_partners, partners, self._information(share))

    def _find_partners(self, target: ResidualTarget, backend: str) -> Indices:
        """The partner of each column with the smallest p-value by counts; -1 where it has none."""
        # A row of the arrays below has partners with one number of levels.
        levels, group_of_column = np.unique(self.codes.levels, return_inverse=True)
        entropies = Entropies.count(self.codes, target.classes, backend)
        scan = scan_pairs(entropies, group_of_column)
        degrees = np.outer(levels, self.codes.levels - 1) * (target.classes.n_classes - 1)
        given = np.maximum(entropies.mi() + scan.best, 0.0)
        p = likelihood_pvalues(2.0 * self.rows * given, degrees)
        # Constants are no partners.
        is_constant = (levels < 2)[:, np.newaxis]
        p[is_constant | (scan.partners < 0)] = np.inf
        columns = np.arange(self.codes.n_features)
        best = p.argmin(axis=0)
        has_partner = np.isfinite(p[best, columns])
        return np.where(has_partner, scan.partners[best, columns], -1)

    def _information(self, share: Floats) -> Floats:
        """The information about the target, in nats, of what explains a part of it.

        ``share``: the explained sum of squares, of that of all columns of the target: each has 1.
        """
        n_columns = len(self.target.columns)
        unexplained = np.maximum(1.0 - share / n_columns, np.finfo(float).tiny)
        return np.asarray(-0.5 * n_columns * np.log(unexplained))

    def _subtract(self, columns: Floats) -> Floats:
        """Columns without what covariates explain; 0 where that is all.

        ``columns``: of shape (columns, rows of the table).
        """
        with calm_blas():
            residuals = columns - (columns @ self.basis.T) @ self.basis
        before = np.einsum("ij,ij->i", columns, columns)
        after = np.einsum("ij,ij->i", residuals, residuals)
        residuals[after < SMALLEST_REMAINDER * before] = 0.0
        return np.asarray(residuals)

    def _line_tests(
        self, columns: Indices, targets: Sequence[ResidualTarget]
    ) -> tuple[Floats, Floats, Mask]:
        """Test lines in the normal scores of numeric columns.

        ``columns``: the places of numeric columns in the table.

        Returns
        -------
        pvalues : array of shape (n_targets, n_columns)
        share : array of shape (n_columns,)
            The sum of squares of the first target that the line explains.
        have_two_values : array of bool, of shape (n_columns,)
            Which columns have at most two values.
        """
        numbers = self.table.keep(columns).numeric()[0]
        normal = normal_scores(numbers)
        have_two_values = Scores.of(normal).have_two_values
        scores = Scores.of(self._subtract(normal))
        lengths = np.sqrt(np.where(scores.squares > 0, scores.squares, np.inf))
        p = np.empty((len(targets), len(columns)))
        share = np.empty(0)
        for i, target in enumerate(targets):
            of_target = Scores.of(target.columns).moments.along_last_axis()
            correlation = (target.columns @ scores.values.T) / lengths
            z = correlation * np.sqrt(self.rows - 1.0)
            deviance = correct_skewness(z, scores.moments, of_target, self.rows)
            explained = deviance.sum(axis=0)
            p[i] = explained_pvalues(explained, len(target.columns), self.rows)
            if i == 0:
                share = (correlation**2).sum(axis=0)
        return p, share, have_two_values

    def _indicator_tests(
        self, values: Array, levels: Indices, targets: Sequence[ResidualTarget]
    ) -> tuple[Floats, Floats]:
        """Test the means of targets in the levels of columns.

        Each level has a sum of residuals of the target. Its variance is that of the indicator of
        the level, less what covariates explain of it.

        Parameters
        ----------
        values : array of shape (n_columns, n_rows)
            The level of each row.
        levels : array of shape (n_columns,)
            The number of levels of each column.
        targets : sequence of ResidualTarget
            The target, and then its permutations.

        Returns
        -------
        pvalues : array of shape (n_targets, n_columns)
        share : array of shape (n_columns,)
            The sum of squares of the first target that the levels explain.
        """
        n_rows = self.table.n_samples
        n_levels = int(levels.max())
        all_levels = np.arange(n_levels)[:, np.newaxis]
        # Indicators are (column, level, row); what is made of them is (column, level).
        indicators = (values[:, np.newaxis] == all_levels).astype(float)
        size = indicators.sum(axis=2)
        by_row = indicators.reshape(-1, n_rows)
        with calm_blas():
            explained = ((by_row @ self.basis.T) ** 2).sum(axis=1).reshape(size.shape)
            columns_of_targets = np.concatenate([target.columns for target in targets])
            sums = (by_row @ columns_of_targets.T).reshape(*size.shape, len(targets), -1)
        occurs = size > 0
        safe_size = np.where(occurs, size, 1.0)
        # The part of the squares of an indicator that covariates leave.
        remaining = np.where(occurs, (size - explained) / safe_size, 0.0)
        remaining[remaining < SMALLEST_REMAINDER] = 0.0
        deviations = np.sqrt(np.where(remaining > 0, remaining * safe_size, np.inf))
        # A constant column has one level with all rows, of which nothing remains.
        share_of_rows = np.clip(size / n_rows, 0.5 / n_rows, 1.0 - 0.5 / n_rows)
        of_levels = indicator_moments(share_of_rows).along_last_axis()
        degrees = remaining.sum(axis=1)
        p = np.empty((len(targets), len(values)))
        share = np.empty(0)
        for i, target in enumerate(targets):
            n_columns = len(target.columns)
            sums_of_target = sums[:, :, i]
            z = sums_of_target / deviations[:, :, np.newaxis] * np.sqrt(self.rows - 1.0)
            of_target = Scores.of(target.columns).moments
            deviance = correct_skewness(z, of_levels, of_target, self.rows)
            between = (deviance * remaining[:, :, np.newaxis]).sum(axis=(1, 2))
            p[i] = likelihood_pvalues(between, degrees * n_columns)
            if i == 0:
                squares = sums_of_target**2 / safe_size[:, :, np.newaxis]
                share = np.minimum(squares.sum(axis=(1, 2)), n_columns)
        return p, share

    def _cell_tests(
        self, columns: Indices, partners: Indices, target: ResidualTarget
    ) -> tuple[Floats, Floats]:
        """P-values of columns given their partners, and what they explain beside these.

        What they explain is a part of the sum of squares of the target that the partner leaves.
        ``columns`` and ``partners`` are places, one pair at each place of the results.
        """
        of_partner = _indicators(self.codes, partners)
        of_column = _indicators(self.codes, columns)
        products = of_column[:, :, np.newaxis] * of_partner[:, np.newaxis]
        n_pairs = len(columns)
        n_rows = self.table.n_samples
        of_cells = products.reshape(n_pairs, -1, n_rows)
        # The indicators of the partner come first, so that they are also explained by themselves.
        indicators = np.concatenate([of_partner, of_column, of_cells], axis=1)
        residuals = self._subtract(indicators.reshape(-1, n_rows)).reshape(indicators.shape)
        residuals_of_partner = residuals[:, : of_partner.shape[1]]
        by_both, ranks = _explained_by(residuals, target.columns)
        by_partner, partner_ranks = _explained_by(residuals_of_partner, target.columns)
        n_columns = len(target.columns)
        unexplained = np.maximum(1.0 - by_partner / n_columns, SMALLEST_REMAINDER)
        share = np.maximum(by_both - by_partner, 0.0) / unexplained
        free_rows = np.maximum(self.rows - 1.0 - partner_ranks, 0.0)
        degrees = (ranks - partner_ranks) * n_columns
        return likelihood_pvalues(free_rows * share, degrees), share


def _strata(covariates: Table, categories: Indices, predicted: Floats) -> Indices:
    """The stratum of each row: the rows of a stratum are permuted among each other.

    Parameters
    ----------
    covariates : Table
        The covariates only.
    categories : array of int
        The places of those that are categories.
    predicted : array of shape (n_rows,)
        The value of the target that covariates predict. Numbers among the covariates make it
        differ between rows of the same categories.
    """
    n_rows = len(predicted)
    strata = np.zeros(n_rows, np.int64)
    if len(categories):
        levels = encode(covariates.keep(categories)).values
        strata = np.unique(levels, axis=1, return_inverse=True)[1].ravel()
    n_strata = int(strata.max()) + 1
    n_affordable = n_rows // (MIN_STRATUM_ROWS * n_strata)
    n_parts = min(MAX_PREDICTED_PARTS, n_affordable)
    are_all_categories = len(categories) == covariates.n_features
    if are_all_categories or n_parts < 2:
        return strata
    order = np.argsort(predicted, kind="stable")
    rank = np.argsort(order, kind="stable")
    part_of_row = rank * n_parts // n_rows
    return strata * n_parts + part_of_row


def _with_probabilities(basis: Floats, codes: Indices) -> Floats:
    """The basis, and the probabilities of the classes that a logistic regression on it fits.

    ``basis``: orthogonal rows of length 1, the first of them constant; ``codes``: the class of
    each row of the table. Probabilities lie between 0 and 1, so that they are no lines in a
    covariate. What a line leaves of them would be found in columns that follow the covariate in
    another curve.
    """
    n_rows = basis.shape[1]
    columns = basis[1:] * np.sqrt(n_rows)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=LOGISTIC_ITERATIONS)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model.fit(columns.T, codes)
    # Probabilities add up to 1, so that those of the first class add nothing.
    probabilities = model.predict_proba(columns.T).T[1:]
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
    """The target of these columns, less what the basis explains.

    ``columns``: of shape (columns of the target, rows); ``labels``: the class of each row.
    """
    residuals = _orthonormal(columns - (columns @ basis.T) @ basis)
    class_of_row = labels
    if len(residuals) == 1:
        is_upper_half = residuals[0] > np.median(residuals[0])
        class_of_row = is_upper_half.astype(np.int64)
    classes = read_classes(class_of_row, len(class_of_row))
    return ResidualTarget(residuals, classes, labels)


def _indicators(codes: Codes, columns: Indices) -> Floats:
    """Indicators of all levels but the first, as (column, level, row).

    Columns of fewer levels than others have further rows of zeros.
    """
    n_levels = int(codes.levels[columns].max())
    levels = np.arange(1, n_levels)[:, np.newaxis]
    level_of_row = codes.values[columns][:, np.newaxis]
    return (level_of_row == levels).astype(np.float64)


def _explained_by(columns: Floats, target: Floats) -> tuple[Floats, Floats]:
    """The sum of squares of a target that blocks of columns explain, and their ranks.

    Parameters
    ----------
    columns : array of shape (n_blocks, n_columns, n_rows)
        Columns of a block may depend on each other.
    target : array of shape (n_columns_of_target, n_rows)
        Rows of length 1.

    Returns
    -------
    explained : array of shape (n_blocks,)
    ranks : array of shape (n_blocks,)
        The number of independent columns of each block.
    """
    products = columns @ columns.transpose(0, 2, 1)
    inverses = np.linalg.pinv(products, rcond=SMALLEST_REMAINDER, hermitian=True)
    # The trace of a pseudoinverse times its matrix is the rank.
    ranks = np.rint(np.einsum("cij,cji->c", inverses, products))
    covariances = columns @ target.T
    explained = np.einsum("ciq,cij,cjq->c", covariances, inverses, covariances, optimize=True)
    return np.asarray(explained), np.asarray(ranks)
