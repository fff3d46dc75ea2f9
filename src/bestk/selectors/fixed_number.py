"""Selecting a number of features that is given, or fewer of them by a threshold."""

from dataclasses import replace
from numbers import Integral
from warnings import warn

import numpy as np

from bestk.bqp.solution import Solution
from bestk.errors import ParameterError, counted
from bestk.information.information import Information, pair_details
from bestk.selectors.options import Options
from bestk.selectors.steps import select_features, select_path
from bestk.tables.dataset import Dataset, FeatureLimits


def count_features(k: float | str, dataset: Dataset, limits: FeatureLimits) -> int:
    """The number of features that k, a number or a fraction, means; warns if it is too large.

    A fraction is one of the columns of the table without covariates, or of the column groups.
    """
    columns = dataset.columns
    n_features = dataset.table.n_features - len(columns.covariates)
    if columns.groups is not None:
        n_features = limits.available
    wanted = int(k) if isinstance(k, Integral) else max(1, round(float(k) * n_features))
    if wanted < limits.required:
        raise ParameterError(
            f"k={wanted} is less than the {limits.required} features to include; raise it"
        )
    if wanted > limits.available:
        n_there = counted(limits.available, "feature")
        warn(
            f"k={wanted} is more than the {n_there} to select from; all are selected",
            UserWarning,
            stacklevel=6,
        )
    return min(wanted, limits.available)


def select_number(information: Information, options: Options, k: float) -> Solution:
    """The solution for k, a number or a fraction of the features, and for the threshold."""
    limits = information.limits
    n_wanted = count_features(k, information.dataset, limits)
    if options.threshold is None:
        return select_features(information, options, n_wanted)
    n_required = max(1, limits.required)
    n_useful = _count_useful(information, options, n_required, min(n_wanted, limits.varying))
    solution = select_features(information, options, n_useful)
    least_new = _least_new_information(information, solution)
    if least_new >= options.threshold:
        return solution
    warning = (
        f"the new information, {least_new:.4f}, is below the threshold of {options.threshold}, "
        "but at least one feature, and those to include, are selected"
    )
    return replace(solution, warnings=(*solution.warnings, warning))


def _count_useful(
    information: Information, options: Options, n_required: int, n_wanted: int
) -> int:
    """The last number of features before one at which a feature tells less than the threshold."""
    assert options.threshold is not None
    n_useful = n_required
    while n_useful < n_wanted:
        numbers_ahead = range(n_useful + 1, min(n_wanted, 2 * n_useful + 6) + 1)
        for solution in select_path(information, options, numbers_ahead):
            if _least_new_information(information, solution) < options.threshold:
                return n_useful
            n_useful += 1
    return n_useful


def _least_new_information(information: Information, solution: Solution) -> float:
    """The least new information of a selected feature that varies."""
    varying = solution.support[np.isin(solution.support, information.features)]
    items = np.searchsorted(information.features, varying)
    details = pair_details(information.estimates, items)
    return float(details["new_information"].min())
