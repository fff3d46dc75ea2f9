"""The default models that predict from selected features."""

from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

MIN_ROWS_FOR_THREADS = 10_000  # with fewer, threads of gradient boosting wait for each other


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

    def fit(self, X: NDArray[Any], y: Any = None) -> Self:
        """Find these columns."""
        self.empty_ = np.isnan(X).all(axis=0)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """Fill them."""
        return np.where(self.empty_, 0.0, X) if self.empty_.any() else X


def limit_threads(*, trees: bool, rows: int) -> AbstractContextManager[Any]:
    """One thread for gradient boosting on few rows, where more of them only wait."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1 if trees and rows < MIN_ROWS_FOR_THREADS else None, "openmp")
