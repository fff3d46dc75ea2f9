"""Columns of a table that are adjusted for: what others tell is measured given them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bestk._typing import Indices
from bestk.errors import ParameterError, counted
from bestk.information.adjustment import Adjustment
from bestk.information.blocks import MAX_DENSE_CLASSES, TargetScores, make_design, rows_that_count
from bestk.information.constants import BlockConstants
from bestk.tables.codes import encode
from bestk.tables.table import Table, find_numeric
from bestk.tables.target import Target

# Covariates may use up this share of the rows.
LARGEST_SHARE_OF_ROWS = 0.5

# Numbers of at most so many different whole values are taken as categories when they are adjusted
# for: batches and sites are often numbered, and a line through their numbers would leave most of
# what they explain.
MAX_NUMBERED_LEVELS = 10

# Values that the columns of covariates may have in memory: 2 GiB.
MAX_VALUES = 2**28


def adjustment_for(
    covariates: Table,
    categorical: Indices,
    targets: Sequence[Target],
    constants: BlockConstants,
) -> Adjustment:
    """What is to be subtracted from the columns of features and targets.

    Covariates are blocks of columns as features are, but each level of a category has an indicator,
    however rare: also a site of two rows is adjusted for.

    Parameters
    ----------
    covariates
        A table of the covariates alone.
    categorical
        The places of covariates that are codes of categories.
    """
    row_weights = targets[0].weights
    weights = None if row_weights is None else row_weights.of_mean_one
    categorical = np.union1d(categorical, _numbered_levels(covariates))
    n_rows = rows_that_count(covariates.n_samples, weights)
    _refuse_many_levels(covariates, categorical, n_rows)
    scored = [TargetScores.of(target, weights, constants.largest_score) for target in targets]
    every_level = replace(constants, min_level_rows=1, max_levels=covariates.n_samples)
    design = make_design(covariates, categorical, scored, weights, every_level)
    adjustment = Adjustment.of(np.concatenate(design.columns.parts), design.unit, design.degrees)
    if adjustment.rows_used > LARGEST_SHARE_OF_ROWS * n_rows:
        raise _too_many(round(adjustment.rows_used), n_rows)
    for target in scored:
        n_classes = target.columns.shape[0]
        if n_classes > MAX_DENSE_CLASSES:
            raise ParameterError(
                f"y has {n_classes:,} classes, and at most {MAX_DENSE_CLASSES} can be adjusted for "
                "covariates; merge rare classes, or leave out covariates"
            )
        if not target.adjusted(adjustment, weights).degrees:
            raise ParameterError(
                f"the covariates {_quoted(covariates)} determine the target, so that no feature "
                "can add to them; leave out those that restate the target"
            )
    return adjustment


def categorical_covariates(covariates: Table, categorical: Indices) -> Indices:
    """The places of covariates that are adjusted for level by level.

    ``categorical``: the places of those that are codes of categories.
    """
    codes = np.union1d(categorical, _numbered_levels(covariates))
    return np.flatnonzero(~covariates.mask(find_numeric(covariates, codes)))


def _numbered_levels(table: Table) -> Indices:
    """The places of numeric columns of few different values, all whole numbers."""
    places = []
    for place in find_numeric(table, np.empty(0, np.int64)).tolist():
        column = table.keep(np.array([place])).numeric()[0]
        numbers = np.asarray(column.toarray() if hasattr(column, "toarray") else column, float)
        values = np.unique(numbers[~np.isnan(numbers)])
        if 2 < len(values) <= MAX_NUMBERED_LEVELS and (values == np.rint(values)).all():
            places.append(place)
    return np.array(places, np.int64)


def _refuse_many_levels(table: Table, categorical: Indices, n_rows: float) -> None:
    """Refuse categories of so many levels that indicators use up the rows, or the memory."""
    others = np.flatnonzero(~table.mask(find_numeric(table, categorical)))
    if not len(others):
        return
    n_levels = encode(table.keep(others)).levels
    if n_levels.max() - 1 > LARGEST_SHARE_OF_ROWS * n_rows:
        raise _too_many(int(n_levels.max()) - 1, n_rows)
    if n_levels.sum() * table.n_samples > MAX_VALUES:
        raise ParameterError(
            f"the covariates have {n_levels.sum():,} categories in {table.n_samples:,} rows, too "
            "many to adjust for; merge rare categories"
        )


def _too_many(n_parameters: int, n_rows: float) -> ParameterError:
    return ParameterError(
        f"the covariates take {counted(n_parameters, 'parameter')}, more than half of the "
        f"{n_rows:,.0f} rows (effective ones, with weights), which leaves too few; pass fewer "
        "covariates, or merge rare categories"
    )


def _quoted(table: Table) -> str:
    return ", ".join(repr(str(name)) for name in table.names[:8])
