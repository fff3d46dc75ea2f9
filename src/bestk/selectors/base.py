"""What the selectors share: how tables, in memory or in blocks, are read and cut to columns."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bestk._compat import HasMethods, Interval, RealNotInt, StrOptions, output_container, take_items
from bestk.bqp.solution import Solution
from bestk.discretize import check_parameters
from bestk.errors import ParameterError, counted
from bestk.information.information import Information, pair_details
from bestk.native.threads import threads
from bestk.selectors.options import Options
from bestk.selectors.pipeline import select_features, select_path, warn_of
from bestk.tables.blocks import read_blocks, read_values, split_column
from bestk.tables.dataset import Dataset, FeatureLimits
from bestk.tables.frames import as_array, is_dask, is_frame, named_frame, read_table
from bestk.tables.rows import Reservoir
from bestk.tables.table import Table, refuse_shape, with_column
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


def is_stream(X: Any, y: Any) -> bool:
    """Whether X is to be read block by block: anything but a table in memory."""
    if isinstance(X, str | Path) or callable(X) or is_dask(X):
        return True
    if isinstance(X, list | tuple):
        pairs = (isinstance(x, tuple) and len(x) == 2 and hasattr(x[0], "shape") for x in X)
        return isinstance(y, str) or (y is None and bool(X) and all(pairs))
    in_memory = is_frame(X) or any(hasattr(X, name) for name in ("shape", "__array__"))
    return hasattr(X, "__iter__") and not in_memory


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
        of_rows = {"sample_weight": sample_weight, "groups": groups}
        for name, given in of_rows.items():
            if not isinstance(given, str | None):
                raise ValueError(
                    f"X comes in blocks, and {name} is a {type(given).__name__}; give the name "
                    "of a column, or pass the weights of each block to partial_fit"
                )
        named = [given for given in of_rows.values() if given is not None]
        if isinstance(X, str | Path):
            from bestk.tables.files import hold_file

            (table, values), n_rows = hold_file(
                X, y, exclude, named, self.random_state, for_default
            )
        else:
            held = Reservoir(self.random_state, for_default=for_default)
            for part in read_blocks(X, y):
                held.add_table(*part)
            (table, values), n_rows = held.sample(), held.n_rows
        for name, given in of_rows.items():
            if given is not None:
                table, of_rows[name] = split_column(table, given)
        self.n_samples_seen_, self.n_features_in_ = n_rows, table.n_features
        if list(table.names) != [f"x{j}" for j in range(table.n_features)]:
            self.feature_names_in_ = np.array(list(table.names), dtype=object)
        return table, values, *of_rows.values()

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Keep the selected columns, as an array, in the type of X, or as ``set_output`` asks.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        """
        kept = self.get_support(indices=True)
        X = self._check_table(X, reset=False)
        if not is_frame(X):
            return X[:, kept]
        part = take_items(X, kept, axis=1)
        output = output_container(self)
        if type(X).__module__.split(".")[0] == output:  # a frame stays one if asked for
            return part
        import narwhals as nw

        frame = nw.from_native(part)
        if output != "default":
            with suppress(ImportError, TypeError, ValueError):  # types that other frames lack
                return getattr(frame, f"to_{output}")()
        try:
            return np.asarray(frame.to_numpy())
        except TypeError:  # dates of pyarrow beside numbers
            return np.array([each.to_list() for each in frame.iter_columns()], object).T

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
            raise ValueError(
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


def count_features(k: float | str, dataset: Dataset, limits: FeatureLimits) -> int:
    """The number of features that k, a number or a fraction, means; warns if it is too large.

    A fraction is one of the columns of the table without covariates, or of the column groups.
    """
    columns = dataset.columns
    n_features = dataset.table.n_features - len(columns.covariates)
    if columns.groups is not None:
        n_features = limits.most
    wanted = int(k) if isinstance(k, Integral) else max(1, round(float(k) * n_features))
    if wanted < limits.least:
        raise ParameterError(
            f"k={wanted} is less than the {limits.least} features to include; raise it"
        )
    if wanted > limits.most:
        n_there = counted(limits.most, "feature")
        warn(
            f"k={wanted} is more than the {n_there} to select from; all are selected",
            UserWarning,
            stacklevel=6,
        )
    return min(wanted, limits.most)


def select_number(information: Information, options: Options, k: float) -> Solution:
    """The solution for k, a number or a fraction of the features, and for the threshold."""
    limits = information.limits
    n_wanted = count_features(k, information.dataset, limits)
    if options.threshold is None:
        return select_features(information, options, n_wanted)
    least = max(1, limits.least)
    n_useful = _count_useful(information, options, least, min(n_wanted, limits.varying))
    solution = select_features(information, options, n_useful)
    least_new = _least_new_information(information, solution)
    if least_new >= options.threshold:
        return solution
    warning = (
        f"the new information, {least_new:.4f}, is below the threshold of {options.threshold}, "
        "but at least one feature, and those to include, are selected"
    )
    return replace(solution, warnings=(*solution.warnings, warning))


def _count_useful(information: Information, options: Options, least: int, most: int) -> int:
    """The last number of features before one at which a feature tells less than the threshold."""
    assert options.threshold is not None
    n_useful = least
    while n_useful < most:
        numbers_ahead = range(n_useful + 1, min(most, 2 * n_useful + 6) + 1)
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
