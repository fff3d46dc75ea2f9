"""Rows that come in blocks: they are held in memory, all or a random sample, as one table."""

from pathlib import Path
from typing import Any, Self

import numpy as np

from bestk._typing import Array
from bestk.data.blocks import read_blocks, read_values, split_column
from bestk.data.frames import as_array, read_table
from bestk.data.rows import Reservoir
from bestk.data.table import Table
from bestk.data.target import weighted_rows
from bestk.selection.base import FOUND, forget
from bestk.selection.pipeline import settle


def hold_blocks(
    selector: Any, X: Any, y: Any, sample_weight: Any = None
) -> tuple[Table, Array, Array | None]:
    """The rows that a selector uses of a table in blocks; their targets, and their weights."""
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise ValueError(
            f"X comes in blocks, and sample_weight is a {type(sample_weight).__name__}; give the "
            "name of a column of weights, or pass the weights of each block to partial_fit"
        )
    fixed = sample_weight is None and not isinstance(getattr(selector, "k", ""), str)
    for_default = fixed and settle(selector).information == "blend"
    if isinstance(X, str | Path):
        from bestk.data.files import hold_file

        (table, values), n_rows = hold_file(X, y, selector.random_state, for_default)
    else:
        held = Reservoir(selector.random_state, for_default=for_default)
        for part in read_blocks(X, y):
            held.add_table(*part)
        (table, values), n_rows = held.sample(), held.n_rows
    weights = None
    if sample_weight is not None:
        table, weights = split_column(table, sample_weight)
    selector.n_samples_seen_, selector.n_features_in_ = n_rows, table.n_features
    if list(table.names) != [f"x{j}" for j in range(table.n_features)]:
        selector.feature_names_in_ = np.array(list(table.names), dtype=object)
    return table, values, weights


class PartialFit:
    """``partial_fit``, and results that are worked out when they are first asked for."""

    n_samples_seen_: int
    _held: Reservoir

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Hold a block of rows; features are selected when a result is asked for.

        Results are those of ``fit`` on all rows so far; of very many, on a random sample of them
        (:doc:`/scale`). Levels and classes may be new in any block.

        Parameters
        ----------
        X, y, sample_weight
            The rows of a table in memory, as for ``fit``.
        classes : array-like, default=None
            Not used; classes may be new in any block.
        """
        selector: Any = self
        selector._validate_params()
        first = "_held" not in vars(self)
        if first:
            forget(selector)
        table = read_table(selector._check_table(X, reset=first))
        values = read_values(y, table.n_samples)
        if sample_weight is not None:
            weights = as_array(sample_weight)
            rows = weighted_rows(weights, values, len(values)) if weights.any() else np.arange(0)
            table, values = table.take(rows), values[rows]
        if first:
            self._held = Reservoir(selector.random_state)
        for name in FOUND:
            vars(self).pop(name, None)
        self._held.add_table(table, values)
        self.n_samples_seen_ = self._held.n_rows
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in FOUND or "_held" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        selector: Any = self
        selector._select_rows(*self._held.sample())
        return object.__getattribute__(self, name)
