"""Error against k, measured fold by fold."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import LeaveOneOut
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length, column_or_1d
from threadpoolctl import threadpool_limits

from bestk._typing import Array, Indices
from bestk.errors import ParameterError
from bestk.evaluation._curves import BASELINE, Curves, Row
from bestk.methods.registry import get_method
from bestk.selectors.chosen_k import read_ks
from bestk.selectors.folds import Fold, make_folds, printed_progress, without_weightless
from bestk.selectors.joint_selector import resolve_options
from bestk.selectors.options import Options, seed_of
from bestk.selectors.resampling import measure_for_each
from bestk.selectors.selector import SelectBestK
from bestk.selectors.steps import read_dataset, select_path
from bestk.selectors.trial import Trial, weight_parameter
from bestk.tables.dataset import ColumnRoles, Dataset
from bestk.tables.frames import as_array, read_column, read_features
from bestk.tables.table import Table, as_matrix
from bestk.tables.target import NumericTarget

MAX_ROWS_LEAVE_ONE_OUT = 100
MIN_ROWS_FOR_THREADS = 10_000  # with fewer, threads of gradient boosting wait for each other


def error_curves(
    X: Any,
    y: Any,
    methods: str | Iterable[str] | Mapping[str, Any],
    ks: Iterable[int] | Mapping[str, Iterable[int]],
    *,
    estimator: Any = None,
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    baseline: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    verbose: bool | int = False,
    **options: Any,
) -> Curves:
    """Measure the cross-validated error against k, for several methods on the same folds.

    Everything, from discretizing to selecting, uses the training rows of each fold alone.

    Parameters
    ----------
    X, y, groups, sample_weight, random_state, verbose, **options
        As for :class:`SelectBestK` and its ``fit``, in memory. The estimator is given the selected
        columns, in the order of the table, in the kind of table that X is; lists become arrays.
        It is not given the ``covariates``, which go with the method "auto" alone.
    methods : str, list of str, or dict of name to method
        Names from :data:`bestk.METHODS`; or, under names of your own, anything that
        :class:`SelectBestK` takes as ``method``: also selectors of scikit-learn such as
        ``SelectKBest()`` or ``RFE(estimator)``, rankings, and functions of X, y and k.
    ks : iterable of int, or dict of method name to iterable of int
        Numbers of features, for all methods or for each.
    estimator : scikit-learn estimator, default=None
        What predicts; by default ``LinearSVC`` on standardized columns, ``RidgeCV`` for a
        continuous target, or gradient boosting where some columns contain text.
    scoring : str or callable, default=None
        A scorer of scikit-learn, such as "roc_auc"; errors are then its negative values. None:
        the error rate, or the mean squared error of a regressor.
    cv : int, splitter, iterable of splits or None, default=None
        None: leave-one-out up to 100 rows, ten folds above, as in Venkateswara et al. (2015), and
        with ``sample_weight``, since each fold counts alike in the mean. A
        number of folds is stratified by class and shuffled.
    baseline : bool, default=False
        Whether to add the error on all features, as rows of the method "all".
    n_jobs : int, default=None
        Number of processes, each for one fold at a time; None: one process with all threads.
    progress : callable, default=None
        Called after each fold with the number of folds done and their total.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> curves = error_curves(X, y, ["maxrel", "tpower"], [2, 4, 8], cv=5, random_state=0)
    >>> print(curves)
    mean error over 5 folds
         k  maxrel  tpower
         2  0.0931  0.0685
         4  0.0456  0.0439
         8  0.0316  0.0387
    """
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress must be a function of two numbers, not {progress!r}")
    if estimator is not None and not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ParameterError(f"estimator must have the methods fit and predict; got {estimator!r}")
    if options.get("threshold") is not None:
        raise ParameterError(
            "threshold has no effect on error_curves: it chooses the number of features, and ks "
            "are the numbers to measure; leave threshold out"
        )
    seed = seed_of(random_state)
    selector = SelectBestK(k=1, method="auto", random_state=seed, **options)
    options_of_name = _options_of_methods(selector, _read_methods(methods))
    # Methods differ in what they estimate, and not in how the table is read.
    any_options = next(iter(options_of_name.values()))
    read_column(y)  # refuses what is not a column
    table = read_features(X, selector.categorical_features)
    y = column_or_1d(y)
    check_consistent_length(range(table.n_samples), y)
    dataset = read_dataset(table, y, any_options, sample_weight)
    allowed = dataset.columns.allowed
    weights = dataset.weights
    is_numeric = isinstance(dataset.targets[0], NumericTarget)
    has_text = bool(set(table.kinds[allowed].tolist()) - {"numeric", "boolean"})
    uses_trees = estimator is None and has_text
    X = _indexable(X, table, coded=uses_trees)
    if estimator is None:
        estimator = default_model(
            continuous=is_numeric,
            text=uses_trees,
            sparse=hasattr(X, "tocsc"),
            missing=bool(table.count_missing()[allowed].any()),
        )
    if weights is not None:
        weight_parameter(estimator)  # an error where it takes none
    scorer = check_scoring(estimator, scoring) if scoring else negative_error
    folds = make_folds(
        cv,
        (np.empty((len(y), 1)), y, groups),
        classes=not is_numeric,
        default=LeaveOneOut() if len(y) <= MAX_ROWS_LEAVE_ONE_OUT and weights is None else 10,
        shuffle=True,
        random_state=seed,
    )
    folds = without_weightless(folds, weights)
    study = Study(
        trial=Trial(estimator, scorer, X, y, weights=weights),
        dataset=dataset,
        options=options_of_name,
        ks=_read_ks_of_methods(ks, list(options_of_name), dataset.columns),
        all_features=allowed if baseline else None,
    )
    show = progress or printed_progress("error_curves", verbose)
    rows: list[Row] = []
    parallel = Parallel(1 if n_jobs is None else n_jobs, return_as="generator")
    few_rows = uses_trees and len(y) < MIN_ROWS_FOR_THREADS
    with threadpool_limits(1 if few_rows else None, "openmp"):
        rows_of_folds = parallel(
            delayed(study.run)(number, fold) for number, fold in enumerate(folds)
        )
        for n_done, rows_of_fold in enumerate(rows_of_folds, 1):
            rows += rows_of_fold
            show(n_done, len(folds))
    score_name = scoring if scoring is None or isinstance(scoring, str) else "score"
    return Curves(tuple(rows), table.names, score_name)


def _indexable(X: Any, table: Table, *, coded: bool) -> Any:
    """The table in a form that scikit-learn can index, with codes for text if asked for."""
    if coded or isinstance(X, Table):
        return as_matrix(table)[0]
    X = as_array(X) if isinstance(X, list | tuple) else X
    return X.tocsc() if hasattr(type(X), "tocsc") else X


def _read_methods(methods: Any) -> dict[str, Any]:
    if isinstance(methods, str):
        methods = [methods]
    names = list(methods) if np.iterable(methods) else []
    if not names or BASELINE in names or not all(isinstance(name, str) for name in names):
        wanted = f"names of methods, or a dict of names to methods, none of them {BASELINE!r}"
        raise ParameterError(f"methods must be {wanted}; got {methods!r}")
    named = methods if isinstance(methods, Mapping) else dict(zip(names, names, strict=True))
    return {name: get_method(method) for name, method in named.items()}


def _options_of_methods(
    selector: SelectBestK, method_of_name: Mapping[str, Any]
) -> dict[str, Options]:
    """The options of a selector with each of several methods."""
    return {
        name: resolve_options(replace(selector, method=method))
        for name, method in method_of_name.items()
    }


def _read_ks_of_methods(ks: Any, names: list[str], columns: ColumnRoles) -> dict[str, list[int]]:
    """The numbers of features to try for each method, rising."""
    n_required = len(columns.included) if columns.groups is None else 1
    if not isinstance(ks, Mapping):
        ks = dict.fromkeys(names, list(ks) if np.iterable(ks) else ks)
    return {name: read_ks(ks.get(name, ()), n_required, len(columns.allowed)) for name in names}


@dataclass(frozen=True, kw_only=True)
class Study:
    """Everything that a fold needs, except its rows."""

    trial: Trial

    dataset: Dataset

    options: dict[str, Options]
    """Those of each method, by its name."""

    ks: dict[str, list[int]]
    """The numbers of features of each method."""

    all_features: Indices | None
    """The features of the baseline; None if it is not wanted."""

    def run(self, number: int, fold: Fold) -> list[Row]:
        """Errors on the test rows of a fold, with features selected from its training rows."""
        train, test = fold
        error_of_columns: dict[tuple[int, ...], float] = {}

        def measure_error(method: str, k: int, support: Indices, seconds: float) -> Row:
            columns = tuple(np.sort(support).tolist())
            if columns not in error_of_columns:
                error_of_columns[columns] = -self.trial.score(list(columns), fold)
            return Row(
                method=method,
                k=k,
                fold=number,
                error=error_of_columns[columns],
                n_test=len(test),
                seconds=seconds,
                support=tuple(support.tolist()),
            )

        information = measure_for_each(self.dataset.take(train), self.options)
        rows = []
        for name, options in self.options.items():
            solutions = select_path(information[name], options, self.ks[name])
            for k, solution in zip(self.ks[name], solutions, strict=True):
                rows.append(measure_error(name, k, solution.support, solution.seconds))
        if self.all_features is not None:
            rows.append(measure_error(BASELINE, len(self.all_features), self.all_features, 0.0))
        return rows


def negative_error(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Minus the error rate, or minus the mean squared error of a regressor."""
    predicted = model.predict(X)
    wrong = (predicted - y) ** 2 if is_regressor(model) else predicted != y
    return -float(np.average(wrong, weights=sample_weight))


def default_model(*, continuous: bool, text: bool, sparse: bool, missing: bool) -> Any:
    """A linear model of standardized columns, or gradient boosting for tables with text."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    if text:
        trees = HistGradientBoostingRegressor if continuous else HistGradientBoostingClassifier
        return make_pipeline(FillEmpty(), trees(random_state=0))
    scale = StandardScaler(with_mean=not sparse)  # the mean would fill a sparse table
    fill = [SimpleImputer(strategy="constant", fill_value=0.0)] if missing else []
    model = RidgeCV() if continuous else LinearSVC(dual="auto", random_state=0)
    return make_pipeline(scale, *fill, model)


class FillEmpty(TransformerMixin, BaseEstimator):
    """Put 0 in columns that have no value in the training rows, which trees do not accept."""

    def fit(self, X: Array, y: Any = None) -> Self:
        """Find these columns."""
        self.empty_ = np.isnan(X).all(axis=0)
        return self

    def transform(self, X: Array) -> Array:
        """Fill them."""
        return np.where(self.empty_, 0.0, X) if self.empty_.any() else X
