"""k="auto": the number of features, chosen by cross-validation of a linear model."""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices
from bestk.data.frames import as_array
from bestk.data.table import Table, find_features
from bestk.data.target import Target
from bestk.errors import ParameterError
from bestk.information.reading import ParsedTarget
from bestk.native.threads import calm_blas
from bestk.problem.solution import Solution
from bestk.selection.folds import (
    FOLDS,
    Design,
    Fold,
    beats,
    choose,
    make_folds,
    printed_progress,
)
from bestk.selection.pipeline import Task, read_targets
from bestk.selection.targets import repeated_rows

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
MAX_PVALUE = 0.01  # of missing values that are related to the target; others are only noise
DIGITS = 9  # of a score; smaller differences are rounding errors


def select_auto_k(
    options: Any, task: Task, table: Table, y: Any, sample_weight: Any = None, groups: Any = None
) -> Solution:
    """The solution for the k chosen by cross-validation; ``details["k_scores"]`` has the scores."""
    if options.threshold is not None:
        raise ParameterError("k='auto' and threshold both choose k; pass one of them")
    ks = numbers_to_try(task.varying, task.least)
    fixed = copy(options)
    fixed.random_state = task.effort.random_state  # drawn once, for all folds
    scores, guess = cross_validate(fixed, table, y, ks, sample_weight, groups)
    if between := numbers_below(choose(ks, scores, RULE), ks):
        found, _ = cross_validate(fixed, table, y, between, sample_weight, groups)
        order = np.argsort([*ks, *between])
        ks, scores = sorted([*ks, *between]), np.hstack([scores, found])[:, order]
    predicts = beats(scores, guess)
    solution = task.solution(choose(ks, scores, RULE) if predicts else ks[0])
    warnings = solution.warnings
    if not predicts:
        folds = f"in {len(scores)} folds; the {solution.k} selected may be noise"
        warnings = (*warnings, f"no number of features predicts better than guessing {folds}")
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
    """Up to three numbers between the chosen one and the one tried before it.

    Examples
    --------
    >>> numbers_below(8, [3, 5, 8, 12]), numbers_below(24, [16, 24]), numbers_below(1, [1, 2])
    ([6, 7], [18, 20, 22], [])
    """
    place = ks.index(chosen)
    last = ks[place - 1] if place else chosen
    step = max(1, (chosen - last) // 4)
    return list(range(last + step, chosen, step))[:3]


def cross_validate(
    options: Any, table: Table, y: Any, ks: list[int], sample_weight: Any = None, groups: Any = None
) -> tuple[Floats, Floats]:
    """Scores of a linear model, a row for each fold, and those of a dummy model."""
    targets, cv = read_targets(y, options.target, table.n_samples), options.cv
    counts = np.ones(table.n_samples, np.int64)
    if sample_weight is not None:
        rows = repeated_rows(sample_weight, targets, table.n_samples)
        counts = np.bincount(rows, minlength=table.n_samples)
        known = np.flatnonzero(counts)
        cv = _without_rows(cv, known) if np.iterable(cv) else cv
        table, targets = table.take(known), tuple(target.take(known) for target in targets)
        groups = None if groups is None else as_array(groups)[known]
        counts = counts[known]
    goals = [Goal.of(target, options.scoring) for target in targets]
    splitting = goals[0] if len(goals) == 1 else replace(goals[0], classes=None)
    folds = [
        (np.repeat(train, counts[train]), np.repeat(test, counts[test]))
        for train, test in splitting.split(cv, groups, options.random_state)
    ]
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
    needed = np.unique(np.concatenate([support for path in paths for support in path]))
    nominal = find_features(options.categorical_features, table)
    if options.discretizer is None and options.information != "gaussian":
        nominal = np.arange(table.n_features)
    design = Design.of(table, needed, nominal)
    scores, guess = np.empty((len(folds), len(ks))), np.empty(len(folds))
    with calm_blas():
        for number, (fold, path) in enumerate(zip(folds, paths, strict=True)):
            Z, none = design.standardized(fold[0]), np.zeros((table.n_samples, 1))
            used = ~design.missing | _are_related(Z, design.missing, goals, fold[0])
            parts = [Z[:, used & np.isin(design.features, support)] for support in path]
            scores[number] = [np.mean([goal.score(goal.model(len(fold[0])), part, fold)
                                       for goal in goals]) for part in parts]  # fmt: skip
            guess[number] = np.mean([goal.score(goal.guess(), none, fold) for goal in goals])
    return scores, guess


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
    """The target, classes or numbers, and how predictions are scored."""

    y: NDArray[Any]  # labels or numbers, as they are scored
    classes: Target | None
    scoring: Any = None

    @classmethod
    def of(cls, parsed: ParsedTarget, scoring: Any) -> "Goal":
        """The goal of a target, which must be long enough to be split."""
        if parsed.n_samples < MIN_ROWS:
            raise ParameterError(
                f"k='auto' needs at least {MIN_ROWS} rows, and there are {parsed.n_samples}; "
                "pass k as a number"
            )
        if parsed.continuous:
            return cls(parsed.numbers if scoring else _standardized(parsed.numbers), None, scoring)
        if (most := int(parsed.classes.counts.max())) < MIN_CLASS_ROWS:
            raise ParameterError(
                f"k='auto' needs a class of at least {MIN_CLASS_ROWS} rows, and none has more "
                f"than {most}; pass k as a number"
            )
        return cls(parsed.labels, parsed.classes, scoring)

    def split(self, cv: Any, groups: Any, seed: int | None) -> list[Fold]:
        """Training and test rows, as scikit-learn splits them; see ``SelectBestK``."""
        n_folds = N_FOLDS_OF_FEW_ROWS if len(self.y) <= MAX_FEW_ROWS else FOLDS
        if cv is None and groups is None and self.classes is not None:
            return _stratified(self.classes, n_folds, seed or 0)
        return make_folds(
            self.y, cv, groups, classes=self.classes is not None, default=n_folds,
            random_state=seed or 0,
        )  # fmt: skip

    def model(self, rows: int) -> Any:
        """A linear model for standardized columns."""
        from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV

        if self.classes is not None:
            return LogisticRegression(C=LOGISTIC_C)
        return RidgeCV(ALPHAS) if rows <= MAX_FEW_ROWS else Ridge()

    def guess(self) -> Any:
        """A model that ignores the features."""
        from sklearn.dummy import DummyClassifier, DummyRegressor

        return DummyRegressor() if self.classes is None else DummyClassifier(strategy="prior")

    def score(self, model: Any, Z: Floats, fold: Fold) -> float:
        """The score of a model on the test rows, larger for better ones."""
        from sklearn.metrics import check_scoring

        train, test = fold
        with catch_warnings(action="ignore"):  # no convergence, classes of few rows
            model.fit(Z[train], self.y[train])
            if self.scoring is not None:
                score = check_scoring(model, scoring=self.scoring)(model, Z[test], self.y[test])
            elif self.classes is None:
                score = -np.mean((model.predict(Z[test]) - self.y[test]) ** 2)
            else:
                score = -mean_log_loss(model, Z[test], self.y[test])
        return round(float(score), DIGITS)


def _without_rows(folds: Any, known: Indices) -> list[tuple[Indices, ...]]:
    """Given folds, by their places among the known rows; no others are left in them."""
    parts = [[as_array(rows) for rows in fold] for fold in folds]
    return [
        tuple(np.searchsorted(known, rows[np.isin(rows, known)]) for rows in fold) for fold in parts
    ]


def _stratified(target: Target, n_folds: int, seed: int) -> list[Fold]:
    """Stratified folds; the only row of a class is always a training row."""
    from sklearn.model_selection import StratifiedKFold

    alone = target.counts[target.codes] == 1
    tested, trained = np.flatnonzero(~alone), np.flatnonzero(alone)
    n_folds = min(n_folds, int(target.counts.max()))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with catch_warnings(action="ignore"):  # classes of fewer rows than folds
        parts = list(splitter.split(tested, target.codes[tested]))
    return [(np.sort(np.append(tested[a], trained)), tested[b]) for a, b in parts]


def mean_log_loss(model: Any, Z: Floats, y: NDArray[Any]) -> float:
    """Mean log loss; the probability of any class, also an unseen one, is at least 1e-4."""
    places = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    p = model.predict_proba(Z)[np.arange(len(y)), places]
    p = np.where(model.classes_[places] == y, p, 0.0)
    return float(-np.log(np.maximum(p, MIN_PROBABILITY)).mean())


def _standardized(numbers: Floats) -> Floats:
    """Numbers of mean 0 and variance 1."""
    small = numbers / (np.abs(numbers).max() or 1.0)  # squares must not overflow
    return (small - small.mean()) / (small.std() or 1.0)
