"""What predicts, and on which rows: the default classifier and the folds."""

from contextlib import AbstractContextManager
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from bestk.data.table import Table
from bestk.selection.folds import Fold, read_folds

Indices = NDArray[np.int64]
LEAVE_ONE_OUT = 100  # rows: up to so many, each is left out alone
N_FOLDS = 10
MANY_ROWS = 10_000  # below, threads of trees wait for each other


def linear_svm(*, sparse: bool = False, missing: bool = False) -> Any:
    """The default classifier: a linear support vector machine on standardised columns.

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

    mean = SimpleImputer(strategy="constant", fill_value=0.0)  # of standardised columns
    steps = [StandardScaler(with_mean=not sparse), *([mean] if missing else [])]
    return make_pipeline(*steps, LinearSVC(dual="auto", random_state=0))


def default_classifier(table: Table, allowed: Indices, *, sparse: bool, continuous: bool) -> Any:
    """The linear support vector machine that fits a table; refuses what it cannot take."""
    advice = "pass estimator=, "
    if continuous:
        raise ValueError(f"y is continuous and the default estimator is a classifier; {advice}"
                         "a regressor, or target='classes'")  # fmt: skip
    kinds = table.kinds[allowed]
    odd = np.flatnonzero((kinds != "numeric") & (kinds != "boolean"))
    if len(odd):
        first = allowed[odd[0]]
        raise ValueError(
            f"column {table.names[first]!r} is {table.kinds[first]}, and the default estimator "
            f"takes numbers; {advice}a pipeline that encodes such columns, or exclude= them"
        )
    return linear_svm(sparse=sparse, missing=bool(table.count_missing()[allowed].any()))


def split(y: NDArray[Any], cv: Any, *, continuous: bool, random_state: int | None) -> list[Fold]:
    """Training and test rows of every fold."""
    from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, check_cv

    if cv is None:
        cv = LeaveOneOut() if len(y) <= LEAVE_ONE_OUT else N_FOLDS
    if isinstance(cv, Integral):
        kind = KFold if continuous else StratifiedKFold
        cv = kind(int(cv), shuffle=True, random_state=random_state)
    return read_folds(lambda: check_cv(cv), np.empty((len(y), 1)), y)


def as_matrix(table: Table) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The table as one array of numbers, with codes for text; and which columns are such codes."""
    if len(table.blocks) == 1 and table.blocks[0].kind == "numeric":
        return table.blocks[0].values, np.empty(0, np.intp)
    dtype = np.result_type(np.float32, *(block.values.dtype for block in table.blocks))
    matrix = np.empty((table.n_samples, table.n_features), dtype)
    for block in table.blocks:
        matrix[:, block.columns] = block.values
        if block.categories is not None:
            matrix[:, block.columns] = np.where(block.values < 0, np.nan, block.values)
    words = [block.columns for block in table.blocks if block.categories is not None]
    return matrix, np.sort(np.concatenate([np.empty(0, np.intp), *words]))


def new_model(*, continuous: bool, words: bool, X: NDArray[Any]) -> Any:
    """What predicts: linear where there are numbers only, trees where there is text."""
    missing = X.dtype.kind == "f" and bool(np.isnan(X).any())
    if words:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from sklearn.pipeline import make_pipeline

        trees = HistGradientBoostingRegressor if continuous else HistGradientBoostingClassifier
        return make_pipeline(FillEmpty(), trees(random_state=0))
    model = linear_svm(missing=missing)
    if continuous:
        from sklearn.linear_model import RidgeCV

        model.steps[-1] = ("ridgecv", RidgeCV())
    return model


class FillEmpty(TransformerMixin, BaseEstimator):
    """Put 0 in columns that have no value in the training rows, which trees cannot cut."""

    def fit(self, X: NDArray[Any], y: Any = None) -> Self:
        """Find these columns."""
        self.empty_ = np.isnan(X).all(axis=0)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """Fill them."""
        return np.where(self.empty_, 0.0, X) if self.empty_.any() else X


def few_threads(*, trees: bool, rows: int) -> AbstractContextManager[Any]:
    """One thread for trees while rows are few: a team of them waits for each busy core."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1 if trees and rows < MANY_ROWS else None, "openmp")
