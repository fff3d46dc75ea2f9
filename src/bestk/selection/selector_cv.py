"""SelectBestKCV: the number of features chosen by cross-validation."""

from copy import copy
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, StrOptions

from bestk._checks import whole
from bestk.data.features import read_features
from bestk.data.frames import as_array
from bestk.data.target import is_continuous
from bestk.errors import ParameterError
from bestk.selection.base import SELECTABLE, TableSelector
from bestk.selection.cautions import warn_of
from bestk.selection.folds import Fold, choose, group_splitter, read_folds
from bestk.selection.pipeline import Task

MAX_DEFAULT_K = 100


class SelectBestKCV(TableSelector):
    """Select the best features jointly; the number of features is chosen by cross-validation.

    In every fold features are selected from the training rows for all k at once, and the estimator
    is fitted and scored for each k.

    Parameters
    ----------
    estimator : estimator
        Predicts from the selected columns, which have the container type of X.
    ks : iterable of int, default=None
        Numbers of features to try; by default 1 to 100, or to the number of features.
    method : str or Method, default="auto"
        As for :class:`SelectBestK`.
    cv : int, splitter or iterable, default=None
        The folds, as in scikit-learn: 5 by default, stratified for classifiers.
    scoring : str or callable, default=None
        The scorer, as in scikit-learn; by default the score of the estimator.
    rule : {"best", "one-se"}, default="best"
        "best": the k of the best mean score, the smallest of equals. "one-se": the smallest k
        whose mean difference from the best score is within its standard error over folds.
    target : {"auto", "classes", "continuous"}, default="auto"
        Classification or regression; "auto": as the estimator.
    information, discretizer, correction, categorical_features, include, exclude, bound,\
 time_limit, random_state, backend, n_jobs
        As for :class:`SelectBestK`.

    Attributes
    ----------
    best_k_ : int
        The chosen number of features.
    cv_results_ : dict of ndarray
        ``k``, ``mean_test_score``, ``std_test_score``, and ``split0_test_score``, ... for each
        fold.
    solution_, support_, ranking_, scores_, discretizer_, n_features_in_, feature_names_in_
        As for :class:`SelectBestK`, fitted on all rows with ``best_k_`` features.
    selection_seconds_ : float
        Seconds of all selections, without the fits of the estimator.

    See Also
    --------
    SelectBestK : Selects a given number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> selector = SelectBestKCV(model, ks=[1, 2, 5, 10], rule="one-se").fit(X, y)
    >>> selector.best_k_ in (1, 2, 5, 10)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "ks": ["array-like", range, None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "rule": [StrOptions({"best", "one-se"})],
        **SELECTABLE,
    }

    def __init__(
        self,
        estimator: Any,
        ks: Any = None,
        method: Any = "auto",
        *,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "best",
        information: str = "auto",
        discretizer: Any = "auto",
        correction: str | None = None,
        categorical_features: Any = "from_dtype",
        target: str = "auto",
        include: Any = None,
        exclude: Any = None,
        bound: str | None = "fast",
        time_limit: float | None = None,
        random_state: Any = None,
        backend: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.ks = ks
        self.method = method
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.information = information
        self.discretizer = discretizer
        self.correction = correction
        self.categorical_features = categorical_features
        self.target = target
        self.include = include
        self.exclude = exclude
        self.bound = bound
        self.time_limit = time_limit
        self.random_state = random_state
        self.backend = backend
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Choose k, then select the features on all rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for :meth:`SelectBestK.fit`.
        y : array-like of shape (n_samples,)
            The classes, or numbers to predict.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows that are kept in the same fold; also passed to a splitter.

        Returns
        -------
        self
        """
        self._validate_params()
        X = self._check_table(X, reset=True)
        X = as_array(X) if isinstance(X, list | tuple) else X
        y = y if y is None or hasattr(y, "__getitem__") else np.asarray(y)
        self.selection_seconds_ = 0.0
        options = copy(self)
        if isinstance(options.random_state, np.random.RandomState):
            options.random_state = int(options.random_state.randint(2**31))
        options.target = self._target_kind(y)
        whole = self._measure(options, X, y)
        ks = self._ks(whole.most, len(whole.include))
        kind = is_classifier(self.estimator)
        cv = group_splitter(self.cv, groups, classes=kind)
        folds = read_folds(lambda: check_cv(cv, y, classifier=kind), X, y, groups)
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        scores = np.array([
            self._score_fold(options, X, y, fold, ks, scorer)
            for fold in folds
        ])  # fmt: skip
        self.cv_results_ = {
            "k": np.array(ks),
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
            **{f"split{number}_test_score": row for number, row in enumerate(scores)},
        }
        self.best_k_ = choose(ks, scores, self.rule)
        start = perf_counter()
        self.solution_ = whole.solution(self.best_k_)
        self.selection_seconds_ += perf_counter() - start
        self._keep(whole)
        warn_of(self.solution_)
        return self

    def _ks(self, most: int, least: int) -> list[int]:
        """The numbers of features to try, in rising order."""
        first = max(1, least)
        if self.ks is None:
            return list(range(first, max(first, min(MAX_DEFAULT_K, most)) + 1))
        ks = sorted({whole(k, "each of ks") for k in as_array(self.ks)})
        if not ks or not first <= ks[0] <= ks[-1] <= most:
            came = f"{ks[0]} to {ks[-1]}" if ks else "none"
            raise ParameterError(f"ks must lie between {first} and {most}; got {came}")
        return ks

    def _target_kind(self, y: Any) -> str:
        """The kind of target in all folds: that of the estimator, unless it is given."""
        if self.target == "auto" and is_regressor(self.estimator):
            return "continuous"
        if self.target == "auto" and is_classifier(self.estimator):
            return "classes"
        return "continuous" if is_continuous(y, self.target) else "classes"

    def _measure(self, options: Any, X: Any, y: Any) -> Task:
        start = perf_counter()
        task = Task.of(options, read_features(X, self.categorical_features), y)
        self.selection_seconds_ += perf_counter() - start
        return task

    def _score_fold(
        self, options: Any, X: Any, y: Any, fold: Fold, ks: list[int], scorer: Any
    ) -> list[float]:
        """The score of every k on the test rows."""
        train, test = fold
        X_train, y_train = _safe_indexing(X, train), _safe_indexing(y, train)
        X_test, y_test = _safe_indexing(X, test), _safe_indexing(y, test)
        task = self._measure(options, X_train, y_train)
        start = perf_counter()
        solutions = task.path(ks)
        self.selection_seconds_ += perf_counter() - start
        scores = []
        for solution in solutions:
            chosen = np.sort(solution.support)
            model = clone(self.estimator).fit(_safe_indexing(X_train, chosen, axis=1), y_train)
            scores.append(float(scorer(model, _safe_indexing(X_test, chosen, axis=1), y_test)))
        return scores
