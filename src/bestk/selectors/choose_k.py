"""k="auto": the number of features, chosen by cross-validation of a linear model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices, Mask
from bestk.bqp.solution import Solution
from bestk.errors import ParameterError
from bestk.information.information import Information
from bestk.methods.forward import BlockForward
from bestk.native.threads import calm_blas
from bestk.selectors.chosen_k import beats, choose
from bestk.selectors.folds import FOLDS, Fold, make_folds, printed_progress, without_weightless
from bestk.selectors.model_columns import ModelColumns
from bestk.selectors.options import Options
from bestk.selectors.resampling import select_from_rows
from bestk.selectors.steps import select_features
from bestk.selectors.trial import Trial
from bestk.tables.dataset import Dataset
from bestk.tables.frames import as_array
from bestk.tables.outliers import move_outliers
from bestk.tables.target import ClassTarget, Target

AUTO = "auto"

# The numbers of features that are tried first.
GRID = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 100)

# How k is chosen from scores; see ``choose``.
RULE = "one-se"

# Up to so many rows there are so many folds; of more rows, five.
MAX_FEW_ROWS = 5000
N_FOLDS_OF_FEW_ROWS = 10

# Rows that cross-validation needs.
MIN_ROWS = 10

# Rows of the largest class that it needs: with two, a training fold has each class once.
MIN_CLASS_ROWS = 3

# The least probability that counts, so that one row cannot decide the mean log loss.
MIN_PROBABILITY = 1e-4

# The inverse of the penalty of logistic regression; with 1, copies of one good column reduce the
# loss.
LOGISTIC_C = 10.0

# Penalties of ridge regression on standardized columns, of which one is chosen.
ALPHAS = (1.0, 10.0, 100.0, 1000.0)

# Indicators of missing values, and squares, are used where their p-value is smaller; others are
# only noise.
MAX_PVALUE = 0.01

# Digits of a score; smaller differences are rounding errors.
DIGITS = 9


def select_auto_k(
    dataset: Dataset, information: Information, options: Options, groups: Any
) -> Solution:
    """The solution for the k chosen by cross-validation; ``details["k_scores"]`` has the scores.

    Parameters
    ----------
    dataset : Dataset
        All rows, also those of weight 0, which folds may name by their places.
    information : Information
        What was measured of the rows that are needed.
    groups : array-like of shape (n_samples,) or None
        Groups of rows that no fold separates.
    """
    if options.threshold is not None:
        raise ParameterError("k='auto' and threshold both choose k; pass one of them")
    limits = information.limits
    ks = numbers_to_try(limits.varying, limits.required)
    selections = FoldSelections.of(dataset, options, groups)
    # The default selects once for all numbers, also for those that may be tried later on.
    one_run_serves_all = isinstance(options.method, BlockForward)
    selections = selections.select(numbers_that_may_be_tried(ks) if one_run_serves_all else ks)
    scores, guess = selections.score(ks)
    between = numbers_below(choose(ks, scores, RULE), ks)
    if between:
        scores_between, _ = selections.select(between).score(between)
        order = np.argsort([*ks, *between])
        scores = np.hstack([scores, scores_between])[:, order]
        ks = sorted([*ks, *between])
    predicts = beats(scores, guess)
    k = choose(ks, scores, RULE) if predicts else ks[0]
    solution = select_features(information, options, k)
    warnings = solution.warnings
    if not predicts:
        has_covariates = len(dataset.columns.covariates) > 0
        alone = "the covariates alone" if has_covariates else "guessing"
        warnings = (
            *warnings,
            f"no number of features predicts better than {alone} in {len(scores)} folds; the "
            f"{solution.k} selected may be noise",
        )
    mean_scores = dict(zip(ks, scores.mean(axis=0).tolist(), strict=True))
    details = {**solution.details, "k_scores": mean_scores, "k_folds": len(scores)}
    if options.scoring is None:
        details["k_errors"] = {k: -score for k, score in mean_scores.items()}
    return replace(solution, details=details, warnings=warnings)


def numbers_to_try(n_varying: int, n_required: int = 0) -> list[int]:
    """The numbers of features to try: from the required ones up to a hundred or all that vary."""
    first = max(1, n_required)
    last = max(first, min(n_varying, GRID[-1]))
    between = [k for k in GRID if first < k < last]
    if last == first:
        return [first]
    return [first, *between, last]


def numbers_that_may_be_tried(ks: list[int]) -> list[int]:
    """The numbers to try at first, and those below any of them."""
    below = [k for chosen in ks for k in numbers_below(chosen, ks)]
    return sorted({*ks, *below})


def numbers_below(chosen: int, ks: list[int]) -> list[int]:
    """Up to three numbers between the chosen one and the one tried before it."""
    place = ks.index(chosen)
    last = ks[place - 1] if place else chosen
    step = max(1, (chosen - last) // 4)
    return list(range(last + step, chosen, step))[:3]


@dataclass(frozen=True)
class FoldSelections:
    """Folds of the rows of a dataset, and the features that are selected from each of them."""

    dataset: Dataset
    options: Options
    goals: "list[Goal]"
    """What is predicted: one for each target."""

    folds: list[Fold]
    """Training and test rows, by their places in the dataset."""

    supports: list[dict[int, Indices]]
    """For each fold, the features selected from its training rows, by their number."""

    @classmethod
    def of(cls, dataset: Dataset, options: Options, groups: Any) -> "FoldSelections":
        """Split the rows; nothing is selected yet."""
        weights = dataset.weights
        folds_name_rows = np.iterable(options.cv)
        if weights is not None and not folds_name_rows:
            if groups is not None:
                groups = as_array(groups)[weights.counts]
            dataset = dataset.without_weightless()
            weights = dataset.weights
        for target in dataset.targets:
            _refuse_few_rows(target)
        goals = [Goal.of(target, options.scoring) for target in dataset.targets]
        folds = split_rows(goals, options.cv, groups, options.seed)
        folds = without_weightless(folds, weights)
        return cls(dataset, options, goals, folds, supports=[{} for _ in folds])

    def select(self, ks: Sequence[int]) -> "FoldSelections":
        """The same with features for more numbers; those that are known stay as they are."""
        new_ks = [k for k in ks if k not in self.supports[0]]
        if not new_ks:
            return self
        show = printed_progress("k='auto'", self.options.verbose)
        supports = []
        for (train, _), known_supports in zip(self.folds, self.supports, strict=True):
            try:
                with catch_warnings(action="ignore"):  # the whole table has been warned of
                    solutions = select_from_rows(self.dataset, train, self.options, new_ks)
            except ValueError as error:
                raise ParameterError(
                    f"k='auto' selects in cross-validation folds, and one fails: {error}; or pass "
                    "k as a number"
                ) from error
            new_supports = [solution.support for solution in solutions]
            supports.append({**known_supports, **dict(zip(new_ks, new_supports, strict=True))})
            show(len(supports), len(self.folds))
        return replace(self, supports=supports)

    def score(self, ks: Sequence[int]) -> tuple[Floats, Floats]:
        """Scores of a linear model, a row for each fold and a column for each k; of a dummy.

        With covariates, the model is given these beside the features, and in place of the dummy
        model there is one of the covariates alone. Features for every k have been selected.
        """
        supports = [[supports[k] for k in ks] for supports in self.supports]
        design = _design_of_supports(self.dataset, self.options, self.goals, supports)
        weights = self.dataset.weights
        covariates = self.dataset.columns.covariates
        scores = np.zeros((len(self.folds), len(ks)))
        guess = np.zeros(len(self.folds))
        # Neither of no convergence nor of classes of few rows need users be warned.
        with calm_blas(), catch_warnings(action="ignore"):
            for number, fold in enumerate(self.folds):
                train = fold[0]
                Z = design.standardized(train)
                is_used = ~design.optional | _are_related(Z, design.optional, self.goals, train)
                is_covariate = np.isin(design.features, covariates)
                columns_of_k = [
                    np.flatnonzero(is_used & (is_covariate | np.isin(design.features, support)))
                    for support in supports[number]
                ]
                for goal in self.goals:
                    linear_model, dummy_model = goal.models(len(train))
                    linear = Trial(linear_model, goal.scorer, Z, goal.y, weights=weights)
                    scores[number] += [
                        round(linear.score(columns, fold), DIGITS) for columns in columns_of_k
                    ]
                    if len(covariates):
                        is_given = is_used & is_covariate
                        without_features = linear.score(np.flatnonzero(is_given), fold)
                    else:
                        dummy = Trial(dummy_model, goal.scorer, Z, goal.y, weights=weights)
                        without_features = dummy.score([0], fold)
                    guess[number] += round(without_features, DIGITS)
        return scores / len(self.goals), guess / len(self.goals)


def _design_of_supports(
    dataset: Dataset, options: Options, goals: "list[Goal]", supports: list[list[Indices]]
) -> ModelColumns:
    """Covariates, and all features that were selected in any fold, as numbers."""
    table = dataset.table
    selected = [support for supports_of_fold in supports for support in supports_of_fold]
    features = np.unique(np.concatenate([dataset.columns.covariates, *selected]))
    categorical = dataset.columns.categorical
    if options.columns_are_codes:
        categorical = np.arange(table.n_features)
    indicators_of_targets = [column for goal in goals for column in goal.columns()]
    return ModelColumns.of(table, features, categorical, indicators_of_targets)


def _are_related(Z: Floats, candidates: Mask, goals: "Sequence[Goal]", train: Indices) -> Mask:
    """Which of some columns are related to a target in the training rows."""
    from sklearn.feature_selection import f_classif, f_regression

    are_related = np.zeros(len(candidates), bool)
    if not candidates.any():
        return are_related
    table = Z[np.ix_(train, candidates)]
    for goal in goals:
        test = f_regression if goal.classes is None else f_classif
        with catch_warnings(action="ignore"), np.errstate(all="ignore"):  # constant columns
            _, pvalues = test(table, goal.y[train])
        are_related[candidates] |= pvalues < MAX_PVALUE
    return are_related


@dataclass(frozen=True)
class Goal:
    """The target, classes or numbers, and how predictions of it are scored."""

    y: NDArray[Any]
    """Labels or numbers, as they are scored."""

    classes: ClassTarget | None
    """The classes; None for numbers."""

    scorer: Any
    """A function of a model, a table and y; larger for better models."""

    @classmethod
    def of(cls, target: Target, scoring: Any) -> "Goal":
        """The goal of a target, scored by a scorer of scikit-learn or by the error of the model."""
        from sklearn.linear_model import LinearRegression
        from sklearn.metrics import check_scoring

        classes = target if isinstance(target, ClassTarget) else None
        y = target.values
        if scoring is None and classes is not None:
            return cls(y, classes, negative_log_loss)
        if scoring is None:
            y = _standardized_without_outliers(y)
            scoring = "neg_mean_squared_error"
        return cls(y, classes, check_scoring(LinearRegression(), scoring=scoring))

    def columns(self) -> list[NDArray[Any]]:
        """The numbers, or an indicator of each class; of two classes, of the second."""
        if self.classes is None:
            return [self.y]
        n_classes = self.classes.n_classes
        first = 1 if n_classes == 2 else 0
        return [self.classes.codes == label for label in range(first, n_classes)]

    def models(self, rows: int) -> tuple[Any, Any]:
        """A linear model for standardized columns, and a model that ignores them."""
        from sklearn.dummy import DummyClassifier, DummyRegressor
        from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV

        if self.classes is not None:
            return LogisticRegression(C=LOGISTIC_C), DummyClassifier(strategy="prior")
        if rows <= MAX_FEW_ROWS:
            return RidgeCV(ALPHAS), DummyRegressor()
        return Ridge(), DummyRegressor()


def _standardized_without_outliers(y: Floats) -> Floats:
    """Numbers of mean 0 and variance 1, of which a few do not decide an error."""
    scaled = y / (np.abs(y).max() or 1.0)  # squares must not overflow
    limited = move_outliers(scaled, np.arange(len(scaled)))
    return np.asarray((limited - limited.mean()) / (limited.std() or 1.0))


def _refuse_few_rows(target: Target) -> None:
    """Raise an error for a target that is too short to be split."""
    if target.n_samples < MIN_ROWS:
        raise ParameterError(
            f"k='auto' needs at least {MIN_ROWS} rows, and there are {target.n_samples}; "
            "pass k as a number"
        )
    if not isinstance(target, ClassTarget):
        return
    n_largest = int(target.counts.max())
    if n_largest < MIN_CLASS_ROWS:
        raise ParameterError(
            f"k='auto' needs a class of at least {MIN_CLASS_ROWS} rows, and none has more "
            f"than {n_largest}; pass k as a number"
        )


def split_rows(goals: list[Goal], cv: Any, groups: Any, seed: int | None) -> list[Fold]:
    """Training and test rows, as scikit-learn splits them; see ``SelectBestK``."""
    y = goals[0].y
    classes = goals[0].classes if len(goals) == 1 else None
    n_folds = N_FOLDS_OF_FEW_ROWS if len(y) <= MAX_FEW_ROWS else FOLDS
    if cv is None and groups is None and classes is not None:
        return _stratified(classes, n_folds, seed or 0)
    return make_folds(
        cv,
        (np.empty((len(y), 1)), y, groups),
        default=n_folds,
        classes=classes is not None,
        shuffle=True,
        random_state=seed or 0,
    )


def _stratified(target: ClassTarget, n_folds: int, seed: int) -> list[Fold]:
    """Stratified folds; the only row of a class is always a training row."""
    from sklearn.model_selection import StratifiedKFold

    is_alone = target.counts[target.codes] == 1
    tested = np.flatnonzero(~is_alone)
    always_training = np.flatnonzero(is_alone)
    n_folds = min(n_folds, int(target.counts.max()))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    folds = []
    with catch_warnings(action="ignore"):  # classes of fewer rows than folds
        for train, test in splitter.split(tested, target.codes[tested]):
            training_rows = np.sort(np.append(tested[train], always_training))
            folds.append((training_rows, tested[test]))
    return folds


def negative_log_loss(
    model: Any, Z: Floats, y: NDArray[Any], sample_weight: Floats | None = None
) -> float:
    """Mean log probability of the classes; that of any, also an unseen one, is at least 1e-4."""
    labels = model.classes_
    places = np.minimum(np.searchsorted(labels, y), len(labels) - 1)
    probabilities = model.predict_proba(Z)
    of_own_class = probabilities[np.arange(len(y)), places]
    of_own_class = np.where(labels[places] == y, of_own_class, 0.0)
    logarithms = np.log(np.maximum(of_own_class, MIN_PROBABILITY))
    return float(np.average(logarithms, weights=sample_weight))
