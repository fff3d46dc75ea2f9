"""Covariates that come as a table of their own, beside X."""

from dataclasses import replace
from typing import Any

import numpy as np

from bestk._typing import Indices
from bestk.errors import DataError
from bestk.tables.frames import as_array, is_frame, read_table
from bestk.tables.table import Table


def is_covariate_table(covariates: Any) -> bool:
    """Whether covariates are a table, and not names, indices or a mask of columns."""
    return is_frame(covariates) or getattr(covariates, "ndim", 1) > 1


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
