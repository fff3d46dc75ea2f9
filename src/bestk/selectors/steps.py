"""The steps of a selection: read a dataset, measure it, select features, describe them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from warnings import warn

import numpy as np

from bestk._typing import Indices
from bestk.bqp.solution import Solution
from bestk.bqp.solvers import Effort
from bestk.diagnosis import Finding
from bestk.errors import SelectionWarning
from bestk.information.information import Information
from bestk.methods.foreign import Foreign, Grouped
from bestk.methods.method import Method
from bestk.methods.targets import unite
from bestk.selectors.options import Options, is_method, refuse_covariates
from bestk.tables import rows
from bestk.tables.covariates import join_covariates
from bestk.tables.dataset import ColumnRoles, Dataset
from bestk.tables.frames import read_features
from bestk.tables.target import ClassTarget, Targets, parse_targets


def read_dataset(
    X: Any, y: Any, options: Options, sample_weight: Any = None, covariates: Any = None
) -> Dataset:
    """Read all rows of a table and its targets, and find the columns that the options name.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As for :meth:`bestk.SelectBestK.fit`, in memory.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The targets, or a tuple of targets that are parsed already.
    sample_weight : array-like of shape (n_samples,) or None
        How much each row counts; None: all count alike.
    covariates : table of shape (n_samples, n_covariates) or None
        Columns to adjust for that are not in X; they become the last columns of the table.
    """
    table = read_features(X, options.columns.categorical_features)
    targets = parse_targets(y, table.n_samples, options.target, sample_weight)
    columns = ColumnRoles.of(options.columns, table, k_counts_columns=options.k_counts_columns)
    if covariates is not None:
        refuse_covariates(options.method)
        table, joined = join_covariates(table, covariates)
        columns = columns.with_covariates(joined)
    return Dataset(table, targets, columns)


def measure(dataset: Dataset, options: Options) -> Information:
    """What the columns of a dataset tell about its targets, from the rows that are needed."""
    return options.estimator.fit(draw_needed_rows(dataset, options))


def draw_needed_rows(dataset: Dataset, options: Options) -> Dataset:
    """The dataset without rows of weight 0, and of very many rows a random sample."""
    dataset = dataset.without_weightless()
    n_rows = dataset.table.n_samples
    n_needed = n_rows
    if n_rows > rows.ENOUGH_ROWS and not options.estimator.needs_all_rows:
        n_needed = enough_rows(dataset.targets)
    if n_rows <= min(n_needed, rows.MIN_LONG_ROWS):
        return dataset
    table_with_note, drawn = rows.draw_rows(dataset.table, n_needed, options.seed)
    if drawn is None:
        return dataset
    return replace(dataset, table=table_with_note).take(drawn)


def enough_rows(targets: Targets) -> int:
    """The number of rows that the default needs: more where most are of one class."""
    needed = [rows.ENOUGH_ROWS]
    for target in targets:
        if isinstance(target, ClassTarget):
            rare_share = 1.0 - target.counts.max() / target.counts.sum()
            needed.append(int(rows.ENOUGH_RARE_ROWS / rare_share))
    return max(needed)


def select_features(information: Information, options: Options, k: int) -> Solution:
    """The k best features, by their places in the table, with the information of each."""
    if unites_targets(information, options):
        of_targets = [
            select_features(of_target, options, k) for of_target in information.of_targets()
        ]
        return describe_features(information, unite(of_targets))
    n_measured = min(k, information.limits.varying)
    solution = _method_for(information, options).select(
        information.estimates, n_measured, information.included, effort_of(information, options)
    )
    return describe_features(information, _place(solution, information, k))


def select_path(information: Information, options: Options, ks: Sequence[int]) -> list[Solution]:
    """The best features for every k, by their places in the table; without bounds and details."""
    if unites_targets(information, options):
        paths = [select_path(of_target, options, ks) for of_target in information.of_targets()]
        return [unite(of_targets) for of_targets in zip(*paths, strict=True)]
    effort = effort_of(information, options)._replace(bound=None)
    n_varying = information.limits.varying
    n_measured = sorted({min(k, n_varying) for k in ks})
    method = _method_for(information, options)
    solutions = method.select_path(information.estimates, n_measured, information.included, effort)
    solution_of_number = dict(zip(n_measured, solutions, strict=True))
    return [_place(solution_of_number[min(k, n_varying)], information, k) for k in ks]


def select_each(measured: Sequence[Information], options: Options, k: int) -> list[Indices]:
    """The k best features, best first, for each of several measurements of the same columns."""
    first = measured[0]
    effort = effort_of(first, options)._replace(bound=None)
    solutions = _method_for(first, options).select_each(
        [information.estimates for information in measured],
        min(k, first.limits.varying),
        first.included,
        effort,
    )
    return [
        _place(solution, information, k).support
        for solution, information in zip(solutions, measured, strict=True)
    ]


def unites_targets(information: Information, options: Options) -> bool:
    """Whether features are selected for each of several targets by itself."""
    return options.multioutput == "union" and len(information.dataset.targets) > 1


def effort_of(information: Information, options: Options) -> Effort:
    """What the choice of features may cost."""
    return Effort(options.seed, options.time_limit, options.bound, information.cost)


def _method_for(information: Information, options: Options) -> Method:
    """The method, adapted to column groups, or to what a user's own selector takes."""
    method = options.method
    dataset = information.dataset
    columns = dataset.columns
    if columns.groups is not None:
        groups, group_of_feature = np.unique(
            columns.groups[information.features], return_inverse=True
        )
        sizes = np.bincount(columns.groups)[groups]
        return Grouped(method, group_of_feature, sizes, columns.k_counts_columns)
    if is_method(method):
        adapted: Method = method
        return adapted
    return Foreign(method, dataset.table, information.features, dataset.targets)


def _place(solution: Solution, information: Information, k: int) -> Solution:
    """The solution by places in the table; constant columns are added last, if k needs them."""
    support = information.features[solution.support]
    constant = information.constant
    groups = information.dataset.columns.groups
    if groups is None:
        added = constant[: max(0, k - len(support))]
    else:
        added = constant[np.isin(groups[constant], groups[support])]
    unknown = np.full(len(support), np.nan)
    contribution = solution.details.get("contribution", unknown)
    return replace(
        solution,
        support=np.append(support, added),
        names=information.dataset.table.names,
        details={
            **solution.details,
            "contribution": np.append(contribution, np.zeros(len(added))),
        },
    )


def describe_features(information: Information, solution: Solution) -> Solution:
    """The solution with the information of each feature."""
    details = information.details_of(solution.support)
    return replace(solution, details={**solution.details, **details})


def with_warnings(
    information: Information, solution: Solution, findings: Sequence[Finding]
) -> Solution:
    """The solution with sentences on how the table was read and on what was selected."""
    return replace(
        solution,
        warnings=(
            *solution.warnings,
            *information.dataset.notes,
            *information.notes,
            *(finding.sentence for finding in findings),
        ),
    )


def warn_of(solution: Solution) -> None:
    """Issue all warnings of a solution as one."""
    if solution.warnings:
        warn("\n".join(solution.warnings), SelectionWarning, stacklevel=3)
