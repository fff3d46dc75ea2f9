"""k="auto": the number of features, chosen by cross-validation of a linear model."""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices
from bestk.bqp.solution import Solution
from bestk.errors import ParameterError
from bestk.native.threads import calm_blas
from bestk.selectors.folds import (
    FOLDS,
    Design,
    Fold,
    Trial,
    beats,
    choose,
    make_folds,
    move_outliers,
    printed_progress,
    without_weightless,
)
from bestk.selectors.pipeline import Task, find_covariates
from bestk.tables.frames import as_array
from bestk.tables.table import Table, find_features
from bestk.tables.target import ClassTarget, Target, Targets, drop_weightless

AUTO = "auto"
GRID = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 100)
RULE = "one-se"
N_FOLDS_OF_FEW_ROWS = 10
MAX_FEW_ROWS = 5000
MIN_ROWS = 10
MIN_CLASS_ROWS = 3  # of the largest class: with two, a training fold has each class once
MIN_PROBABILITY = 1e-4  # so that one row cannot decide the mean log loss
LOGISTIC_C = 10.0  # with 1, copies of one good column reduce the loss
ALPHAS = (1.0, 10.0, 100.0, 1000.0)  # of ridge regression on standardized columns
MAX_PVALUE = 0.01  # of missing values and squares related to the target; others are only noise
DIGITS = 9  # of a score; smaller differences are rounding errors


def select_auto_k(
    options: Any, task: Task, table: Table, targets: Targets, groups: Any
) -> Solution:
    """The solution for the k chosen by cross-validation; ``details["k_scores"]`` has the scores."""
    if options.threshold is not None:
        raise ParameterError("k='auto' and threshold both choose k; pass one of them")
    ks = numbers_to_try(task.varying, task.least)
    fixed = copy(options)
    fixed.random_state = task.effort.random_state  # drawn once, for all folds
    scores, guess = cross_validate(fixed, table, targets, ks, groups)
    if between := numbers_below(choose(ks, scores, RULE), ks):
        found, _ = cross_validate(fixed, table, targets, between, groups)
        order = np.argsort([*ks, *between])
        ks, scores = sorted([*ks, *between]), np.hstack([scores, found])[:, order]
    predicts = beats(scores, guess)
    solution = task.solution(choose(ks, scores, RULE) if predicts else ks[0])
    warnings = solution.warnings
    if not predicts:
        folds = f"in {len(scores)} folds; the {solution.k} selected may be noise"
        alone = "guessing" if options.covariates is None else "the covariates alone"
        warnings = (*warnings, f"no number of features predicts better than {alone} {folds}")
    means = dict(zip(ks, scores.mean(axis=0).tolist(), strict=True))
    details = {**solution.details, "k_scores": means, "k_folds": len(scores)}
    if options.scoring is None:
        details["k_errors"] = {k: -score for k, score in means.items()}
    return replace(solution, details=details, warnings=warnings)


def numbers_to_try(most: int, least: int = 0) -> list[int]:
    """The numbers of features to try: from the included ones up to a hundred or all."""
    first = max(1, least)
    last = max(first, min(most, GRID[-1]))
    return [first, *(k for k in GRID if first < k < last), *([last] * (last > first))]


def numbers_below(chosen: int, ks: list[int]) -> list[int]:
    """Up to three numbers between the chosen one and the one tried before it."""
    place = ks.index(chosen)
    last = ks[place - 1] if place else chosen
    step = max(1, (chosen - last) // 4)
    return list(range(last + step, chosen, step))[:3]


def cross_validate(
    options: Any, table: Table, targets: Targets, ks: list[int], groups: Any
) -> tuple[Floats, Floats]:
    """Scores of a linear model, a row for each fold, and those of a dummy model.

    With covariates, the model is given these beside the features, and in place of the dummy model
    there is one of the covariates alone.
    """
    weights = targets[0].weights
    if weights is not None and not np.iterable(options.cv):  # which names rows by their place
        if groups is not None:
            groups = as_array(groups)[weights.counts]
        table, targets = drop_weightless(table, targets)
        weights = targets[0].weights
    for target in targets:
        _refuse_few_rows(target)
    goals = [Goal.of(target, options.scoring) for target in targets]
    folds = split_rows(goals, options.cv, groups, options.random_state)
    folds = without_weightless(folds, weights)
    paths, show = list[list[Indices]](), printed_progress("k='auto'", options.verbose)
    for train, _ in folds:
        try:
            with catch_warnings(action="ignore"):  # the whole table has been warned of
                found = Task.of_rows(options, table, targets, train).path(ks)
        except ValueError as error:
            raise ParameterError(
                f"k='auto' selects in cross-validation folds, and one fails: {error}; or pass k "
                "as a number"
            ) from error
        paths.append([solution.support for solution in found])
        show(len(paths), len(folds))
    covariates = find_covariates(options.covariates, table)
    supports = [support for path in paths for support in path]
    needed = np.unique(np.concatenate([covariates, *supports]))
    nominal = find_features(options.categorical_features, table)
    if options.discretizer is None and options.information != "gaussian":
        nominal = np.arange(table.n_features)
    design = Design.of(table, needed, nominal, [y for goal in goals for y in goal.columns()])
    scores, guess = np.zeros((len(folds), len(ks))), np.zeros(len(folds))
    with calm_blas(), catch_warnings(action="ignore"):  # no convergence, classes of few rows
        for number, (fold, path) in enumerate(zip(folds, paths, strict=True)):
            Z = design.standardized(fold[0])
            used = ~design.optional | _are_related(Z, design.optional, goals, fold[0])
            is_covariate = np.isin(design.features, covariates)
            parts = [
                np.flatnonzero(used & (is_covariate | np.isin(design.features, support)))
                for support in path
            ]
            for goal in goals:
                models = goal.models(len(fold[0]))
                linear, dummy = (
                    Trial(model, goal.scorer, Z, goal.y, weights=weights) for model in models
                )
                scores[number] += [round(linear.score(part, fold), DIGITS) for part in parts]
                if len(covariates):
                    without_features = linear.score(np.flatnonzero(used & is_covariate), fold)
                else:
                    without_features = dummy.score([0], fold)
                guess[number] += round(without_features, DIGITS)
    return scores / len(goals), guess / len(goals)


def _are_related(
    Z: Floats, some: NDArray[np.bool_], goals: "list[Goal]", train: Indices
) -> NDArray[np.bool_]:
    """Which of some columns are related to a target in the training rows."""
    from sklearn.feature_selection import f_classif, f_regression

    related = np.zeros(len(some), bool)
    for goal in goals if some.any() else ():
        test = f_regression if goal.classes is None else f_classif
        with catch_warnings(action="ignore"), np.errstate(all="ignore"):  # constant columns
            related[some] |= test(Z[np.ix_(train, some)], goal.y[train])[1] < MAX_PVALUE
    return related


@dataclass(frozen=True)
class Goal:
    """The target, classes or numbers, and how predictions of it are scored."""

    y: NDArray[Any]  # labels or numbers, as they are scored
    classes: ClassTarget | None
    scorer: Any  # of a model, a table and y; larger for better models

    @classmethod
    def of(cls, parsed: Target, scoring: Any) -> "Goal":
        """The goal of a target, scored by a scorer of scikit-learn or by the error of the model."""
        from sklearn.linear_model import LinearRegression
        from sklearn.metrics import check_scoring

        classes = parsed if isinstance(parsed, ClassTarget) else None
        y = parsed.values
        if scoring is None and classes is not None:
            return cls(y, classes, negative_log_loss)
        if scoring is None:
            small = y / (np.abs(y).max() or 1.0)  # squares must not overflow
            small = move_outliers(small, np.arange(len(small)))  # a few rows must not decide
            y = (small - small.mean()) / (small.std() or 1.0)
            scoring = "neg_mean_squared_error"
        return cls(y, classes, check_scoring(LinearRegression(), scoring=scoring))

    def columns(self) -> list[NDArray[Any]]:
        """The numbers, or an indicator of each class; of two classes, of the second."""
        if self.classes is None:
            return [self.y]
        n = self.classes.n_classes
        return [self.classes.codes == label for label in range(n == 2, n)]

    def models(self, rows: int) -> tuple[Any, Any]:
        """A linear model for standardized columns, and a model that ignores them."""
        from sklearn.dummy import DummyClassifier, DummyRegressor
        from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV

        if self.classes is not None:
            return LogisticRegression(C=LOGISTIC_C), DummyClassifier(strategy="prior")
        return RidgeCV(ALPHAS) if rows <= MAX_FEW_ROWS else Ridge(), DummyRegressor()


def _refuse_few_rows(target: Target) -> None:
    """Raise an error for a target that is too short to be split."""
    if target.n_samples < MIN_ROWS:
        raise ParameterError(
            f"k='auto' needs at least {MIN_ROWS} rows, and there are {target.n_samples}; "
            "pass k as a number"
        )
    if not isinstance(target, ClassTarget):
        return
    most = int(target.counts.max())
    if most < MIN_CLASS_ROWS:
        raise ParameterError(
            f"k='auto' needs a class of at least {MIN_CLASS_ROWS} rows, and none has more "
            f"than {most}; pass k as a number"
        )


def split_rows(goals: list[Goal], cv: Any, groups: Any, seed: int | None) -> list[Fold]:
    """Training and test rows, as scikit-learn splits them; see ``SelectBestK``."""
    y, classes = goals[0].y, goals[0].classes if len(goals) == 1 else None
    n_folds = N_FOLDS_OF_FEW_ROWS if len(y) <= MAX_FEW_ROWS else FOLDS
    if cv is None and groups is None and classes is not None:
        return _stratified(classes, n_folds, seed or 0)
    return make_folds(
        cv, (np.empty((len(y), 1)), y, groups), default=n_folds, classes=classes is not None,
        shuffle=True, random_state=seed or 0,
    )  # fmt: skip


def _stratified(target: ClassTarget, n_folds: int, seed: int) -> list[Fold]:
    """Stratified folds; the only row of a class is always a training row."""
    from sklearn.model_selection import StratifiedKFold

    alone = target.counts[target.codes] == 1
    tested, trained = np.flatnonzero(~alone), np.flatnonzero(alone)
    n_folds = min(n_folds, int(target.counts.max()))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with catch_warnings(action="ignore"):  # classes of fewer rows than folds
        parts = list(splitter.split(tested, target.codes[tested]))
    return [(np.sort(np.append(tested[a], trained)), tested[b]) for a, b in parts]


def negative_log_loss(
    model: Any, Z: Floats, y: NDArray[Any], sample_weight: Floats | None = None
) -> float:
    """Mean log probability of the classes; that of any, also an unseen one, is at least 1e-4."""
    places = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    p = model.predict_proba(Z)[np.arange(len(y)), places]
    p = np.where(model.classes_[places] == y, p, 0.0)
    return float(np.average(np.log(np.maximum(p, MIN_PROBABILITY)), weights=sample_weight))
