"""What the selectors share: how tables, in memory or in blocks, are read and cut to columns."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bestk._compat import output_container, take_items
from bestk.bqp.solution import Solution
from bestk.discretize import check_parameters
from bestk.errors import ParameterError
from bestk.information.information import Information
from bestk.tables.blocks import read_blocks, split_column
from bestk.tables.frames import as_array, is_dask, is_frame, named_frame
from bestk.tables.rows import Reservoir
from bestk.tables.table import Table, refuse_shape


def is_stream(X: Any, y: Any) -> bool:
    """Whether X is to be read block by block: anything but a table in memory."""
    if isinstance(X, str | Path) or callable(X) or is_dask(X):
        return True
    if isinstance(X, list | tuple):
        return isinstance(y, str) or (y is None and bool(X) and all(map(_is_pair, X)))
    in_memory = is_frame(X) or hasattr(X, "shape") or hasattr(X, "__array__")
    return hasattr(X, "__iter__") and not in_memory


def _is_pair(block: Any) -> bool:
    """Whether something is a block of rows and its targets."""
    return isinstance(block, tuple) and len(block) == 2 and hasattr(block[0], "shape")


def refuse_blocks(X: Any, y: Any) -> None:
    """Refuse covariates beside rows that come in blocks, which they could not follow."""
    if is_stream(X, y):
        raise ParameterError(
            "X comes in blocks of rows, which a table of covariates could not follow; add its "
            "columns to X, and pass their names as the parameter covariates"
        )


class TableSelector(SelectorMixin, BaseEstimator):
    """What the selectors share: how tables are checked, read and cut to the selected columns."""

    solution_: Solution
    support_: NDArray[np.bool_]

    _validate_params = check_parameters

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        """Let scikit-learn check arrays; frames and lists only for their shape."""
        if isinstance(X, Table):
            self.n_features_in_ = X.n_features
            return X
        is_list = isinstance(X, list | tuple)
        X = as_array(X) if is_list else named_frame(X)
        if is_list or hasattr(type(X), "tocsc"):
            refuse_shape(X.shape)
        is_plain = type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "fiub"
        if is_list or is_plain or is_frame(X):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return validate_data(
            self, X, reset=reset, dtype=None, accept_sparse="csc", ensure_all_finite=False
        )

    def _rows(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any = None,
        *,
        for_default: bool = False,
        exclude: Any = None,
    ) -> tuple[Any, Any, Any, Any]:
        """A table, its target, weights and groups, in memory; of very many in blocks a sample.

        ``for_default``: whether the default method is given the rows, which needs only some.
        ``exclude``: columns of files that need not be read.
        """
        if not is_stream(X, y):
            return self._check_table(X, reset=True), y, sample_weight, groups
        columns_of_rows = {"sample_weight": sample_weight, "groups": groups}
        for name, column in columns_of_rows.items():
            if not isinstance(column, str | None):
                raise ParameterError(
                    f"X comes in blocks, and {name} is a {type(column).__name__}; give the name "
                    "of a column, or pass the weights of each block to partial_fit"
                )
        named = [column for column in columns_of_rows.values() if column is not None]
        if isinstance(X, str | Path):
            from bestk.tables.files import hold_file

            (table, targets), n_rows = hold_file(
                X, y, exclude, named, self.random_state, for_default
            )
        else:
            reservoir = Reservoir(self.random_state, for_default=for_default)
            for table_of_block, targets_of_block in read_blocks(X, y):
                reservoir.add_table(table_of_block, targets_of_block)
            table, targets = reservoir.sample()
            n_rows = reservoir.n_rows
        values_of_rows: dict[str, Any] = dict.fromkeys(columns_of_rows)
        for name, column in columns_of_rows.items():
            if column is not None:
                table, values_of_rows[name] = split_column(table, column)
        self.n_samples_seen_ = n_rows
        self.n_features_in_ = table.n_features
        numbered = [f"x{j}" for j in range(table.n_features)]
        if list(table.names) != numbered:
            self.feature_names_in_ = np.array(list(table.names), dtype=object)
        return table, targets, values_of_rows["sample_weight"], values_of_rows["groups"]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Keep the selected columns, as an array, in the type of X, or as ``set_output`` asks.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        """
        selected = self.get_support(indices=True)
        X = self._check_table(X, reset=False)
        if not is_frame(X):
            return X[:, selected]
        columns = take_items(X, selected, axis=1)
        wanted = output_container(self)
        if type(X).__module__.split(".")[0] == wanted:  # a frame stays one if asked for
            return columns
        import narwhals as nw

        frame = nw.from_native(columns)
        if wanted != "default":
            with suppress(ImportError, TypeError, ValueError):  # types that other frames lack
                return getattr(frame, f"to_{wanted}")()
        try:
            return np.asarray(frame.to_numpy())
        except TypeError:  # dates of pyarrow beside numbers
            return np.array([column.to_list() for column in frame.iter_columns()], object).T

    def _keep(self, information: Information, solution: Solution) -> None:
        """Store a solution, and what was found of each feature."""
        k = solution.k
        # Covariates that are not columns of X come after these, and are never selected.
        n_columns = self.n_features_in_
        names = None if solution.names is None else solution.names[:n_columns]
        self.solution_ = replace(solution, names=names)
        self.ranking_ = np.full(n_columns, k + 1)
        self.ranking_[solution.support] = np.arange(1, k + 1)
        self.support_ = self.ranking_ <= k
        self.scores_ = information.relevance()[:n_columns]
        self.discretizer_ = information.discretizer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = hasattr(self, "multioutput")
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
