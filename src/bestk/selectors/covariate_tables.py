"""Covariates that come as a table of their own, beside X."""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from bestk._typing import Indices
from bestk.errors import DataError, ParameterError
from bestk.methods.foreign import read_groups
from bestk.selectors.base import is_stream
from bestk.selectors.pipeline import find_covariates
from bestk.tables.frames import as_array, is_frame, read_table
from bestk.tables.table import Table, find_features


def is_covariate_table(covariates: Any) -> bool:
    """Whether covariates are a table, and not names, indices or a mask of columns."""
    return is_frame(covariates) or getattr(covariates, "ndim", 1) > 1


def with_covariates(options: Any, table: Table, covariates: Any) -> tuple[Any, Table]:
    """Options of a selector, and a table with further covariates as its last columns.

    In the options, columns are given by their places in the joined table, and those of the
    covariates are among the ``covariates``.
    """
    joined, places = join_covariates(table, covariates)
    resolved = copy(options)
    for name in ("include", "exclude", "categorical_features"):
        setattr(resolved, name, find_features(getattr(options, name), table).tolist())
    own = find_covariates(options.covariates, table)
    resolved.covariates = np.concatenate([own, places]).tolist()
    if options.column_groups is not None:
        groups = read_groups(options.column_groups, table)
        of_covariates = groups.max() + 1 + np.arange(len(places))
        resolved.column_groups = np.concatenate([groups, of_covariates])
    return resolved, joined


def join_covariates(table: Table, covariates: Any) -> tuple[Table, Indices]:
    """A table with the columns of another one, the last ones; and the places of these.

    ``covariates``: a frame or an array with as many rows, or one column of values.
    """
    if not is_frame(covariates):
        covariates = as_array(covariates)
        if covariates.ndim == 1:
            covariates = covariates[:, np.newaxis]
    elif hasattr(covariates, "to_frame") and len(covariates.shape) == 1:
        covariates = covariates.to_frame()
    given = read_table(covariates)
    if given.n_samples != table.n_samples:
        raise DataError(
            f"covariates have {given.n_samples} rows and X has {table.n_samples}; give a row of "
            "covariates for each row of X"
        )
    n_before = table.n_features
    moved = [replace(block, columns=block.columns + n_before) for block in given.blocks]
    names = [*table.names, *_new_names(given, set(table.names))]
    notes = (*table.notes, *given.notes)
    joined = Table(table.n_samples, names, (*table.blocks, *moved), notes)
    return joined, np.arange(n_before, joined.n_features)


def _new_names(covariates: Table, names: set[str]) -> list[str]:
    """The names of covariates, made different from those of X."""
    new_names = []
    for name in covariates.names:
        new_name = str(name)
        while new_name in names:
            new_name = f"covariate {new_name}"
        new_names.append(new_name)
        names = {*names, new_name}
    return new_names


def refuse_blocks(X: Any, y: Any) -> None:
    """Refuse covariates beside rows that come in blocks, which they could not follow."""
    if is_stream(X, y):
        raise ParameterError(
            "X comes in blocks of rows, which a table of covariates could not follow; add its "
            "columns to X, and pass their names as the parameter covariates"
        )
