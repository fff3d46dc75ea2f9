"""The parameters that selectors of k features share, and rows that are collected in blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from bestk._compat import HasMethods, Interval, RealNotInt, StrOptions
from bestk.errors import ParameterError
from bestk.native.threads import threads
from bestk.selectors.options import Options
from bestk.selectors.steps import warn_of
from bestk.selectors.table_selector import TableSelector
from bestk.tables.blocks import read_values, split_column
from bestk.tables.frames import read_table
from bestk.tables.rows import Reservoir
from bestk.tables.table import with_column
from bestk.tables.weights import check_weights

SELECTABLE: dict[str, list[Any]] = {
    "method": [
        str,
        HasMethods(["select", "select_path"]),
        HasMethods(["fit", "get_support"]),
        callable,
        "array-like",
    ],
    "information": [str],
    "discretizer": [str, HasMethods(["fit", "transform"]), None],
    "correction": [StrOptions({"miller-madow", "chance"}), None],
    "categorical_features": ["array-like", str, None],
    "target": [StrOptions({"auto", "classes", "continuous"})],
    "multioutput": [StrOptions({"sum", "min", "union"})],
    "include": ["array-like", str, Integral, None],
    "exclude": ["array-like", str, Integral, None],
    "covariates": ["array-like", str, Integral, None],
    "column_groups": ["array-like", Mapping, str, None],
    "k_counts": [StrOptions({"groups", "columns"})],
    "bound": [StrOptions({"fast", "tight"}), None],
    "time_limit": [
        Interval(RealNotInt, 0, None, closed="neither"),
        Interval(Integral, 1, None, closed="left"),
        None,
    ],
    "random_state": ["random_state"],
    "backend": [str],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}
# The attributes that a selection sets, but for ``k_``, which is read from ``solution_``.
RESULTS = {
    "solution_",
    "support_",
    "ranking_",
    "scores_",
    "discretizer_",
    "k_scores_",
    "k_errors_",
    "k_",
}
# The column that holds the weights of rows which come by partial_fit; no name that a table has.
WEIGHT_COLUMN = "\0sample_weight"


def forget(selector: Any) -> None:
    """Drop the results of an earlier fit."""
    for name in list(vars(selector)):
        if name.endswith("_") or name in ("_held", "_held_weights"):
            delattr(selector, name)


@dataclass(eq=False, repr=False, kw_only=True)
class JointSelector(TableSelector):
    """The parameters that all selectors of k features have."""

    information: str = "auto"
    discretizer: Any = "auto"
    correction: str | None = None
    categorical_features: Any = "from_dtype"
    target: str = "auto"
    multioutput: str = "sum"
    include: Any = None
    exclude: Any = None
    covariates: Any = None
    column_groups: Any = None
    k_counts: str = "groups"
    bound: str | None = "fast"
    time_limit: float | None = None
    random_state: Any = None
    backend: str = "auto"
    n_jobs: int | None = None
    verbose: Any = False

    def _options(self) -> Options:
        """The parameters, checked and resolved."""
        raise NotImplementedError


def resolve_options(selector: JointSelector) -> Options:
    """The parameters of a selector, checked and resolved."""
    return selector._options()


class PartialFit(JointSelector):
    """``partial_fit``, which collects rows, and ``finalize``, which selects from them."""

    n_samples_seen_: int
    _held: Reservoir
    _held_weights: bool  # whether the rows have weights, in a column of their own

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Collect a block of rows; :meth:`finalize` selects from all rows so far.

        ``transform``, ``get_support`` and the like call ``finalize`` where that is yet to be done;
        attributes such as ``solution_`` are there once it is. Results are those of ``fit`` on all
        rows so far; of very many, on a random sample of them (:doc:`/scale`). Levels and classes
        may be new in any block.

        Parameters
        ----------
        X, y
            The rows of a table in memory, as for ``fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, beside those of all blocks; for all blocks or for none.
        classes : array-like, default=None
            Not used; classes may be new in any block.
        """
        self._validate_params()
        first = "_held" not in vars(self)
        if first:
            forget(self)
        table = read_table(self._check_table(X, reset=first))
        values = read_values(y, table.n_samples)
        weighted = sample_weight is not None
        if first:
            self._held = Reservoir(self.random_state)
            self._held_weights = weighted
        elif weighted != self._held_weights:
            came, before = ("has", "had none") if weighted else ("has no", "had some")
            raise ParameterError(
                f"this block {came} sample_weight, and those before {before}; pass weights with "
                "every block, 1 for rows that count once, or with none"
            )
        if weighted:
            weights = check_weights(sample_weight, table.n_samples)
            table = with_column(table, WEIGHT_COLUMN, weights)
        for name in vars(self).keys() & RESULTS:
            delattr(self, name)
        self._held.add_table(table, values)
        self.n_samples_seen_ = self._held.n_rows
        return self

    def finalize(self) -> Self:
        """Select from all rows that ``partial_fit`` has collected, and warn as ``fit`` does.

        Where nothing was collected since features were last selected, nothing is done, and
        ``solution_`` stays the same object. More rows may be collected afterwards.
        """
        if "solution_" in vars(self):
            return self
        if "_held" not in vars(self):
            raise NotFittedError(
                f"this {type(self).__name__} has no rows to select from; call fit or partial_fit"
            )
        options = self._options()
        table, values = self._held.sample()
        weights = None
        if self._held_weights:
            table, weights = split_column(table, WEIGHT_COLUMN)
        with threads(options.n_jobs):
            self._select_rows(options, table, values, weights)
        warn_of(self.solution_)
        return self

    def _select_rows(
        self, options: Options, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> None:
        """Select from a table, its target, weights and groups of rows, and keep the results."""
        raise NotImplementedError

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.finalize().support_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the selected features."""
        self.finalize()
        return np.asarray(super().get_feature_names_out(input_features), object)

    def __sklearn_is_fitted__(self) -> bool:
        return "solution_" in vars(self)

    def __getattr__(self, name: str) -> Any:
        name_of_class = type(self).__name__
        is_pending = "_held" in vars(self) and "solution_" not in vars(self)
        if name in RESULTS and is_pending:
            raise NotFittedError(
                f"this {name_of_class} has collected rows and is yet to select from them; "
                f"call finalize(), which warns as fit does, before {name}"
            )
        raise AttributeError(f"{name_of_class!r} object has no attribute {name!r}")
