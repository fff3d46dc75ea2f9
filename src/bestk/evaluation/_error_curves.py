"""Error against k, measured fold by fold."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
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
from bestk.information.reading import Reading
from bestk.methods.registry import get_method
from bestk.selectors.folds import (
    Fold,
    Trial,
    make_folds,
    printed_progress,
    read_ks,
    weight_parameter,
    without_weightless,
)
from bestk.selectors.pipeline import (
    Task,
    find_covariates,
    is_method,
    seed_of,
    settle,
)
from bestk.selectors.selector import SelectBestK
from bestk.tables.frames import as_array, read_column, read_features
from bestk.tables.table import Table, as_matrix, find_features
from bestk.tables.target import NumericTarget, Targets, parse_targets

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
    random_state = seed_of(random_state)
    selector = SelectBestK(k=1, method="maxrel", random_state=random_state, **options)
    selector._validate_params()
    read_column(y)  # refuses what is not a column
    table, y = read_features(X, selector.categorical_features), column_or_1d(y)
    check_consistent_length(range(table.n_samples), y)
    targets = parse_targets(y, len(y), selector.target, sample_weight)
    weights = targets[0].weights
    excluded = find_features(selector.exclude, table)
    covariates = find_covariates(selector.covariates, table)
    allowed = np.setdiff1d(np.arange(table.n_features), np.union1d(excluded, covariates))
    text = set(table.kinds[allowed].tolist()) - {"numeric", "boolean"}
    trees, continuous = estimator is None and bool(text), isinstance(targets[0], NumericTarget)
    X = _indexable(X, table, coded=trees)
    if estimator is None:
        estimator = default_model(
            continuous=continuous, text=trees, sparse=hasattr(X, "tocsc"),
            missing=bool(table.count_missing()[allowed].any()),
        )  # fmt: skip
    if weights is not None:
        weight_parameter(estimator)  # an error where it takes none
    scorer = check_scoring(estimator, scoring) if scoring else negative_error
    included = find_features(selector.include, table)
    least = len(set(included)) if selector.column_groups is None else 1
    named = _read_methods(methods)
    if not isinstance(ks, Mapping):
        ks = dict.fromkeys(named, list(ks) if np.iterable(ks) else ks)
    wanted = {name: read_ks(ks.get(name, ()), least, len(allowed)) for name in named}
    folds = make_folds(
        cv, (np.empty((len(y), 1)), y, groups), classes=not continuous,
        default=LeaveOneOut() if len(y) <= MAX_ROWS_LEAVE_ONE_OUT and weights is None else 10,
        shuffle=True, random_state=random_state,
    )  # fmt: skip
    folds = without_weightless(folds, weights)
    trial = Trial(estimator, scorer, X, y, weights=weights)
    everything = allowed if baseline else None
    study = Study(trial, selector, table, targets, named, wanted, everything)
    show, found = progress or printed_progress("error_curves", verbose), list[Row]()
    parallel = Parallel(1 if n_jobs is None else n_jobs, return_as="generator")
    with threadpool_limits(1 if trees and len(y) < MIN_ROWS_FOR_THREADS else None, "openmp"):
        parts = parallel(delayed(study.run)(i, fold) for i, fold in enumerate(folds))
        for done, part in enumerate(parts, 1):
            found += part
            show(done, len(folds))
    name = scoring if scoring is None or isinstance(scoring, str) else "score"
    return Curves(tuple(found), table.names, name)


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


def shared_tasks(
    selector: Any, table: Table, y: Any, methods: Mapping[str, Any], sample_weight: Any = None
) -> dict[str, Task]:
    """A task for each method; methods that read the same estimates share their entropies."""
    tasks: dict[str, Task] = {}
    read: list[tuple[Reading, Task]] = []  # a discretizer need not be hashable
    for name, method in methods.items():
        options = copy(selector).set_params(method=method)
        information = settle(options)
        any_will_do = not is_method(method)  # selectors of other libraries read none
        task = next((known for how, known in read if any_will_do or how == information), None)
        if task is None:
            targets = parse_targets(y, table.n_samples, options.target, sample_weight)
            task = Task.of(options, table, targets)
            read.append((information, task))
        tasks[name] = replace(task, method=method)
    return tasks


@dataclass(frozen=True)
class Study:
    """Everything that a fold needs, except its rows."""

    trial: Trial
    selector: SelectBestK  # how the table is measured
    table: Table
    targets: Targets
    methods: dict[str, Any]
    ks: dict[str, list[int]]  # of each method
    all_features: Indices | None  # of the baseline, if it is wanted

    def run(self, fold: int, rows: Fold) -> list[Row]:
        """Errors on the test rows, with features selected from the training rows."""
        targets = tuple(target.take(rows[0]) for target in self.targets)
        tasks = shared_tasks(self.selector, self.table.take(rows[0]), targets, self.methods)
        known: dict[tuple[int, ...], float] = {}

        def measure(method: str, k: int, support: Indices, seconds: float) -> Row:
            columns = tuple(np.sort(support).tolist())
            if columns not in known:
                known[columns] = -self.trial.score(list(columns), rows)
            error, n_test, picked = known[columns], len(rows[1]), tuple(support.tolist())
            return Row(method, k, fold, error, n_test, seconds, picked)

        found = [
            measure(name, k, solution.support, solution.seconds)
            for name, task in tasks.items()
            for k, solution in zip(self.ks[name], task.path(self.ks[name]), strict=True)
        ]
        if self.all_features is not None:
            found.append(measure(BASELINE, len(self.all_features), self.all_features, 0.0))
        return found


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
