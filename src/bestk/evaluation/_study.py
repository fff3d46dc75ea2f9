"""Folds: features selected by every method, the errors of an estimator, and the default ones."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from bestk._typing import Array, Indices
from bestk.data.frames import read_features
from bestk.evaluation._curves import BASELINE, Row
from bestk.selection.folds import Fold, Trial, group_splitter, read_folds
from bestk.selection.selector import SelectBestK
from bestk.selection.shared import shared_tasks

MAX_ROWS_LEAVE_ONE_OUT = 100
MIN_ROWS_FOR_THREADS = 10_000  # with fewer, threads of gradient boosting wait for each other
N_FOLDS = 10


def negative_error(model: Any, X: Any, y: Any) -> float:
    """Minus the error rate, or minus the mean squared error of a regressor."""
    predicted = model.predict(X)
    wrong = (predicted - y) ** 2 if is_regressor(model) else predicted != y
    return -float(np.mean(wrong))


@dataclass(frozen=True)
class Study:
    """Everything that a fold needs, except its rows."""

    trial: Trial
    selector: SelectBestK  # how tables are read
    methods: dict[str, Any]
    ks: list[int]
    all_features: Indices | None  # of the baseline, if it is wanted

    def run_all(self, folds: list[Fold], n_jobs: int | None) -> Iterator[list[Row]]:
        """The rows of each fold, in order, as they are done."""
        if n_jobs is None or n_jobs == 1:
            return (self.run(i, fold) for i, fold in enumerate(folds))
        work = (delayed(self.run)(i, fold) for i, fold in enumerate(folds))
        done: Iterator[list[Row]] = Parallel(n_jobs=n_jobs, return_as="generator")(work)
        return done

    def run(self, fold: int, rows: Fold) -> list[Row]:
        """Errors on the test rows, with features selected from the training rows."""
        X, y = _safe_indexing(self.trial.X, rows[0]), self.trial.y[rows[0]]
        table = read_features(X, self.selector.categorical_features)
        tasks = shared_tasks(self.selector, table, y, self.methods)
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
            for k, solution in zip(self.ks, task.path(self.ks), strict=True)
        ]
        if self.all_features is not None:
            found.append(measure(BASELINE, len(self.all_features), self.all_features, 0.0))
        return found


def split(
    y: Any, cv: Any, groups: Any = None, *, continuous: bool, random_state: int | None
) -> list[Fold]:
    """Training and test rows of every fold."""
    shuffled = {"shuffle": True, "random_state": random_state}
    cv = group_splitter(cv, groups, classes=not continuous, **shuffled)
    if cv is None:
        cv = LeaveOneOut() if len(y) <= MAX_ROWS_LEAVE_ONE_OUT else N_FOLDS
    if isinstance(cv, Integral):
        cv = (KFold if continuous else StratifiedKFold)(int(cv), **shuffled)
    return read_folds(lambda: check_cv(cv), np.empty((len(y), 1)), y, groups)


def linear_svm(*, sparse: bool = False, missing: bool = False) -> Any:
    """The default classifier: a linear support vector machine on standardized columns.

    It is scikit-learn's ``LinearSVC``: one class against the rest, squared hinge loss, C = 1. It
    is solved in the primal, or in the dual where columns are more than rows, always from the same
    seed, so that the same rows give the same classifier.

    Parameters
    ----------
    sparse : bool, default=False
        Scale the columns without centring them, which would fill a sparse table.
    missing : bool, default=False
        Put the mean in place of missing values.

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> linear_svm().fit(X, y).predict(X[:2])
    array([0, 0])
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    mean = SimpleImputer(strategy="constant", fill_value=0.0)  # of standardized columns
    steps = [StandardScaler(with_mean=not sparse), *([mean] if missing else [])]
    return make_pipeline(*steps, LinearSVC(dual="auto", random_state=0))


def default_model(*, continuous: bool, text: bool, sparse: bool, missing: bool) -> Any:
    """A linear model for numbers, gradient boosting for tables with text."""
    if text:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from sklearn.pipeline import make_pipeline

        trees = HistGradientBoostingRegressor if continuous else HistGradientBoostingClassifier
        return make_pipeline(FillEmpty(), trees(random_state=0))
    model = linear_svm(sparse=sparse, missing=missing)
    if continuous:
        from sklearn.linear_model import RidgeCV

        model.steps[-1] = ("ridgecv", RidgeCV())
    return model


class FillEmpty(TransformerMixin, BaseEstimator):
    """Put 0 in columns that have no value in the training rows, which trees do not accept."""

    def fit(self, X: Array, y: Any = None) -> Self:
        """Find these columns."""
        self.empty_ = np.isnan(X).all(axis=0)
        return self

    def transform(self, X: Array) -> Array:
        """Fill them."""
        return np.where(self.empty_, 0.0, X) if self.empty_.any() else X


def limit_threads(*, trees: bool, rows: int) -> AbstractContextManager[Any]:
    """One thread for gradient boosting on few rows, where more of them only wait."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1 if trees and rows < MIN_ROWS_FOR_THREADS else None, "openmp")
