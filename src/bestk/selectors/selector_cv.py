"""SelectBestKCV: the number of features chosen by cross-validation."""

from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bestk._compat import HasMethods, StrOptions, refuse_unrouted_params, take_items
from bestk.diagnosis import diagnose
from bestk.errors import DataError
from bestk.selectors.chosen_k import choose, read_ks
from bestk.selectors.folds import Fold, make_folds, printed_progress, without_weightless
from bestk.selectors.joint_selector import SELECTABLE, JointSelector
from bestk.selectors.options import Options
from bestk.selectors.resampling import select_from_rows
from bestk.selectors.steps import measure, read_dataset, select_features, warn_of, with_warnings
from bestk.selectors.table_selector import is_stream
from bestk.selectors.trial import Trial, weight_parameter
from bestk.tables.dataset import Dataset, FeatureLimits
from bestk.tables.frames import as_array

MAX_DEFAULT_K = 100


def _of_estimator(name: str) -> Any:
    """A method of the estimator, which is given the selected columns; there if it has that."""

    def call(self: Any, X: Any) -> Any:
        X = self._read(X)
        return getattr(self.estimator_, name)(X)

    def is_there(selector: Any) -> bool:
        estimator = getattr(selector, "estimator_", selector.estimator)
        return hasattr(estimator, name)

    call.__name__ = name
    call.__doc__ = f"``{name}`` of the estimator, from the selected features."
    return available_if(is_there)(call)


@dataclass(eq=False, repr=False)
class SelectBestKCV(JointSelector):
    """Select the best features jointly; the number of features is chosen by cross-validation.

    In every fold features are selected from the training rows for all k at once, and the estimator
    is fitted and scored for each k. At the end it is fitted to the selected features of all rows,
    so that the selector predicts, like ``RFECV``.

    Parameters
    ----------
    estimator : estimator
        Predicts from the selected columns, which have the container type of X.
    ks : iterable of int, default=None
        Numbers of features to try; by default 1 to 100, or to the number of features.
    cv : int, splitter or iterable, default=None
        The folds, as in scikit-learn: 5 by default, stratified for classifiers.
    scoring : str or callable, default=None
        The scorer, as in scikit-learn; by default the score of the estimator.
    rule : {"best", "one-se"}, default="best"
        "best": the k of the best mean score, the smallest of equals. "one-se": the smallest k
        whose mean difference from the best score is within its standard error over folds.
    target : {"auto", "classes", "continuous"}, default="auto"
        Classification or regression; "auto": as the estimator.
    method, information, discretizer, correction, categorical_features, multioutput, include,\
 exclude, covariates, column_groups, k_counts, bound, time_limit, random_state, backend, n_jobs,\
 verbose
        As for :class:`SelectBestK`; ``verbose`` prints a line after each fold. The estimator is
        given the selected columns alone, without the covariates.

    Attributes
    ----------
    best_k_ : int
        The chosen number of features.
    estimator_ : estimator
        The estimator, fitted to the selected features of all rows.
    classes_ : ndarray of shape (n_classes,)
        The classes, of a classifier.
    cv_results_ : dict of ndarray
        ``k``, ``mean_test_score``, ``std_test_score``, and ``split0_test_score``, ... by fold.
    solution_, support_, ranking_, scores_, discretizer_, n_features_in_, feature_names_in_
        As for :class:`SelectBestK`, fitted on all rows with ``best_k_`` features.
    n_groups_ : int or None
        Number of groups of rows, where ``fit`` was given groups.
    selection_seconds_ : float
        Seconds of all selections, without the fits of the estimator.

    Notes
    -----
    With ``sklearn.set_config(enable_metadata_routing=True)`` other arguments of ``fit``, such as
    ``sample_weight``, are passed to the estimator, the splitter and the scorer that request them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = SelectBestKCV(GaussianNB(), ks=[1, 2, 5, 10], rule="one-se").fit(X, y)
    >>> selector.best_k_
    5
    >>> selector.predict(X[:3])
    array([0, 0, 0])
    """

    __metadata_request__fit: ClassVar[dict[str, str]] = {"groups": UNUSED}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "ks": ["array-like", range, None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "rule": [StrOptions({"best", "one-se"})],
        **SELECTABLE,
    }

    estimator: Any
    ks: Any = None
    method: Any = "auto"
    _: KW_ONLY
    cv: Any = None
    scoring: Any = None
    rule: str = "best"

    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        covariates: Any = None,
        **params: Any,
    ) -> Self:
        """Choose k, then select the features and fit the estimator on all rows.

        Parameters
        ----------
        X, y
            As for :meth:`SelectBestK.fit`, in memory.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows that are kept in the same fold; also passed to a splitter.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, as for :meth:`SelectBestK.fit`: in the selection, in the fit
            of the estimator and in the score, which are given weights of mean 1. With metadata
            routing they are given weights as they request them.
        covariates : table of shape (n_samples, n_covariates), default=None
            Columns to adjust for that are not in X, as for :meth:`SelectBestK.fit`. The estimator
            is not given them.
        **params
            Passed on by metadata routing, if it is enabled; see Notes.
        """
        self._validate_params()
        if is_stream(X, y):
            raise DataError(
                f"SelectBestKCV needs a table in memory, as its estimator does, and X is a "
                f"{type(X).__name__} that is read in blocks; read it into a table first, or use "
                "SelectBestK('auto')"
            )
        X = self._check_table(X, reset=True)
        y = y if y is None or hasattr(y, "__getitem__") else np.asarray(y)
        y = column_or_1d(y, warn=True) if np.shape(y)[1:] == (1,) else y
        arguments = {**params, "groups": groups, "sample_weight": sample_weight}
        routed = self._route(
            "fit", {name: value for name, value in arguments.items() if value is not None}
        )
        start = perf_counter()
        options = self._options()
        dataset = read_dataset(X, y, options, sample_weight, covariates)
        self.n_covariates_ = dataset.table.n_features - self.n_features_in_
        self.is_weighted_ = dataset.weights is not None
        # With metadata routing the estimator and the scorer are given weights as they request them.
        has_routes = get_config()["enable_metadata_routing"]
        weights = None if has_routes else dataset.weights
        if weights is not None:
            weight_parameter(self.estimator)  # an error where it takes none
        information = measure(dataset, options)
        ks = self._read_ks(information.limits)
        self.selection_seconds_ = perf_counter() - start
        groups = routed.splitter.split.get("groups")
        self.n_groups_ = None if groups is None else len(np.unique(as_array(groups)))
        is_stratified = is_classifier(self.estimator) and len(dataset.targets) == 1
        folds = make_folds(self.cv, (X, y, groups), classes=is_stratified)
        if weights is not None:
            folds = without_weightless(folds, weights)
        fit_params = routed.estimator.fit
        trial = Trial(
            self.estimator, self._scorer(), X, y, fit_params, routed.scorer.score, weights
        )
        self._choose_k(dataset, options, trial, folds, ks)
        solution = select_features(information, options, self.best_k_)
        self.selection_seconds_ += solution.seconds
        findings = diagnose(information, solution)
        self._keep(information, with_warnings(information, solution, findings))
        if weights is not None:
            rows = np.flatnonzero(weights.counts)
            X = take_items(X, rows)
            y = take_items(y, rows)
            fit_params = {
                **fit_params,
                weight_parameter(self.estimator): weights.of_mean_one[rows],
            }
        self.estimator_ = clone(self.estimator).fit(self._read(X), y, **fit_params)
        warn_of(self.solution_)
        return self

    def _options(self) -> Options:
        self._validate_params()
        return Options.of(self, target=self.target_kind)

    def _read_ks(self, limits: FeatureLimits) -> list[int]:
        """The numbers of features to try, rising."""
        smallest = max(1, limits.required)
        if self.ks is not None:
            return read_ks(self.ks, smallest, limits.available)
        largest = max(smallest, min(MAX_DEFAULT_K, limits.available))
        return read_ks(range(smallest, largest + 1), smallest, limits.available)

    def _choose_k(
        self, dataset: Dataset, options: Options, trial: Trial, folds: list[Fold], ks: list[int]
    ) -> None:
        """Score every k in every fold, and keep the scores and the best k."""
        show = printed_progress(type(self).__name__, self.verbose)
        scores = []
        for n_done, fold in enumerate(folds, 1):
            start = perf_counter()
            solutions = select_from_rows(dataset, fold[0], options, ks)
            self.selection_seconds_ += perf_counter() - start
            scores.append([trial.score(np.sort(solution.support), fold) for solution in solutions])
            show(n_done, len(folds))
        self.cv_results_ = {
            "k": np.array(ks),
            "mean_test_score": np.mean(scores, axis=0),
            "std_test_score": np.std(scores, axis=0),
            **{f"split{number}_test_score": np.array(row) for number, row in enumerate(scores)},
        }
        self.best_k_ = choose(ks, np.array(scores), self.rule)

    @property
    def target_kind(self) -> str:
        """How y is read: as ``target`` says; for "auto", as the estimator does."""
        if self.target != "auto":
            return self.target
        if is_classifier(self.estimator):
            return "classes"
        return "continuous" if is_regressor(self.estimator) else "auto"

    def _read(self, X: Any) -> Any:
        """The selected columns, in the container type of X."""
        check_is_fitted(self)
        X = self._check_table(X, reset=False)
        return take_items(X, np.flatnonzero(self.support_), axis=1)

    predict = _of_estimator("predict")
    predict_proba = _of_estimator("predict_proba")
    decision_function = _of_estimator("decision_function")

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """The score of the predictions, by ``scoring``."""
        routed, X = self._route("score", params), self._read(X)
        return float(self._scorer()(self.estimator_, X, y, **routed.scorer.score))

    @property
    def classes_(self) -> Any:
        """The classes of the fitted classifier."""
        return self.estimator_.classes_

    def _scorer(self) -> Any:
        return check_scoring(self.estimator, scoring=self.scoring)

    def get_metadata_routing(self) -> MetadataRouter:
        """Where the arguments of ``fit`` and ``score`` go."""
        numbered = self.cv is None or isinstance(self.cv, Integral)
        fit, split, score = (
            MethodMapping().add(caller="fit", callee=callee) for callee in ("fit", "split", "score")
        )
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=fit)
            .add(splitter=GroupKFold() if numbered else check_cv(self.cv), method_mapping=split)
            .add(scorer=self._scorer(), method_mapping=score.add(caller="score", callee="score"))
        )

    def _route(self, method: str, params: dict[str, Any]) -> Any:
        """Arguments by the object that they are for; only groups, unless routing is enabled."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, method, **params)
        groups = params.pop("groups", None)
        params.pop("sample_weight", None)
        refuse_unrouted_params(params, self, method)
        splitter = Bunch(split={"groups": groups})
        return Bunch(estimator=Bunch(fit={}), scorer=Bunch(score={}), splitter=splitter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator)
        tags.estimator_type = of_estimator.estimator_type
        tags.classifier_tags = deepcopy(of_estimator.classifier_tags)
        tags.regressor_tags = deepcopy(of_estimator.regressor_tags)
        return tags
