"""How well the selection predicts: cross-validated scores by method and number of features."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr, stdtrit
from sklearn.base import is_classifier, is_regressor

from bestk._typing import Floats
from bestk.bqp.solution import Solution
from bestk.evaluation import BASELINE, error_curves, t_statistics
from bestk.information.information import Information
from bestk.report.records import NAN, ReportRequest, format_text
from bestk.selectors.chosen_k import choose
from bestk.selectors.joint_selector import SELECTABLE, resolve_options
from bestk.selectors.resampling import measure_for_each
from bestk.selectors.stability import StabilitySelection, stability_selection
from bestk.selectors.steps import select_path
from bestk.tables.table import Table
from bestk.tables.target import NumericTarget, Target

# The methods that the selection is compared with.
OTHERS = ("maxrel", "mrmr", "jmi")

# The number of folds of the scores.
FOLDS = 5

# A curve has at most so many points.
MAX_SIZES = 8

# It has fewer where there is text: then models are boosted trees, each of which takes long.
MAX_SIZES_OF_TREES = 3

# A curve goes up to twice the selected features, or at least to so many more.
MAX_EXTRA = 50

# A model is given all columns of a table if this has at most so many values.
MAX_ALL_VALUES = 2_000_000

# The number of subsamples that show how often features are selected again.
SUBSAMPLES = 20

# Tables of more values are not subsampled, unless the number of subsamples is given.
MAX_SUBSAMPLED_VALUES = 2_000_000

# The level of tests, and of intervals.
LEVEL = 0.05


@dataclass(frozen=True)
class ScoreKind:
    """A score or an error: its name, its range, and what a model without features gives."""

    name: str

    rising: bool = False
    """Whether higher is better."""

    percent: bool = False
    """Whether it is shown in percent."""

    guess: float = NAN
    """What a model without features gives; NaN if that is not known."""

    limits: tuple[float, float] = (-inf, inf)
    """The smallest and the largest value that is possible."""


@dataclass(frozen=True, kw_only=True)
class FoldScores:
    """Cross-validated scores or errors of the selection, of fewer and more features, of others."""

    k: int
    """The number of features of the report."""

    ks: tuple[int, ...]
    """The numbers of features of the curve, rising."""

    curve: Floats
    """The values of the reported method: a row for each of ks, a column for each fold."""

    others: Mapping[str, Floats]
    """The values of other methods with k features, in each fold."""

    measure: ScoreKind
    """What is measured."""

    model: str
    """The name of the model that predicts."""

    method: str = "auto"
    """The name of the reported method."""

    n_all: int = 0
    """The number of all features."""

    all_features: Floats | None = None
    """The values with all of them, in each fold; None if these were not measured."""

    notes: tuple[str, ...] = ()
    """Warnings of the models."""

    @property
    def folds(self) -> Floats:
        """The value of each fold with the selected number of features."""
        return self.curve[self.ks.index(self.k)]

    def mean(self, k: int | None = None) -> float:
        """Mean over the folds with k features."""
        values = self.folds if k is None else self.curve[self.ks.index(k)]
        return float(values.mean())

    def interval(self, values: Floats) -> tuple[float, float]:
        """95% interval of the mean over folds with common training rows (Nadeau, Bengio 2003)."""
        n = len(values)
        if n < 2:
            return NAN, NAN
        test_rows_for_a_training_row = 1 / (n - 1)
        variance = (1 / n + test_rows_for_a_training_row) * values.var(ddof=1)
        standard_error = sqrt(variance)
        half = stdtrit(n - 1, 1 - LEVEL / 2) * standard_error
        ends = values.mean() + np.array([-half, half])
        low, high = np.clip(ends, *self.measure.limits)
        return float(low), float(high)

    def predicts(self) -> bool | None:
        """Whether the interval with k features excludes guessing; None if that is not known."""
        low, high = self.interval(self.folds)
        guess = self.measure.guess
        if np.isnan([low, guess]).any():
            return None
        return low > guess if self.measure.rising else high < guess

    def compare(self, values: Floats) -> Literal["better", "worse", "similar"]:
        """Whether other values of the folds differ from the reported ones (paired t-test)."""
        n = len(self.folds)
        if n < 2 or not np.isfinite([self.folds, values]).all():
            return "similar"
        differences = self.loss(values - self.folds)
        (t,) = t_statistics(differences[np.newaxis], overlap=1 / (n - 1)).tolist()
        if 2 * stdtr(n - 1, -abs(t)) >= LEVEL:
            return "similar"
        return "better" if t < 0 else "worse"

    def ranked(self) -> list[str]:
        """The other methods by their means, best first."""
        losses = {name: self.loss(values.mean()) for name, values in self.others.items()}
        return sorted(losses, key=lambda name: losses[name])

    def better(self) -> list[str]:
        """The other methods that are better in a paired t-test, best first."""
        return [name for name in self.ranked() if self.compare(self.others[name]) == "better"]

    def loss(self, value: Any) -> Any:
        """A value of which less is better."""
        return -value if self.measure.rising else value

    def spread(self, k: int) -> float:
        """Standard error of the mean with k features."""
        values = self.curve[self.ks.index(k)]
        if len(values) < 2:
            return NAN
        return float(values.std(ddof=1) / sqrt(len(values)))

    def enough(self) -> tuple[int, int]:
        """The smallest k whose difference from the best is within its standard error, and that."""
        losses = self.loss(self.curve.T)
        if not np.isfinite(losses).all():
            return self.k, self.k
        place = int(losses.mean(axis=0).argmin())
        best = self.ks[place]
        return choose(self.ks, -losses, "one-se"), best


def compare_methods(
    request: ReportRequest, table: Table, information: Information, solution: Solution
) -> dict[str, Any]:
    """What other methods select, and scores if they are requested and possible, for the report.

    ``table`` has all rows of the request; those of the information may be a sample of them.
    """
    selector = request.selected
    ours = method_name(selector.method)
    # Other methods do not adjust for covariates: what they select answers another question.
    names_of_others = [name for name in OTHERS if name != ours and selector.covariates is None]
    choices = {ours: tuple(solution.support.tolist())}
    options = {name: resolve_options(replace(selector, method=name)) for name in names_of_others}
    dataset = information.dataset
    k = dataset.columns.count(solution.support)
    # The warnings of the reported method are in the report.
    with warnings.catch_warnings(action="ignore"):
        for name, measured in measure_for_each(dataset, options).items():
            selection = select_path(measured, options[name], [k])[0]
            choices[name] = tuple(selection.support.tolist())
    if hasattr(selector, "cv_results_"):
        return {"choices": choices, "scores": _own_scores(selector, dataset.targets[0])}
    if not request.errors:
        return {"choices": choices, "unmeasured": "errors were not requested"}
    methods = {ours: selector.method} | {name: name for name in names_of_others}
    try:
        scores = _measure_scores(request, table, information, k, methods)
    except ValueError as error:
        why = " ".join(str(error).split())
        return {"choices": choices, "unmeasured": format_text(why, 400)}
    return {"choices": choices, "scores": scores}


def method_name(method: Any) -> str:
    """The name of a method, or its representation."""
    return method if isinstance(method, str) else format_text(repr(method))


def _measure_scores(
    request: ReportRequest,
    table: Table,
    information: Information,
    k: int,
    methods: dict[str, Any],
) -> FoldScores:
    """Scores of one model: by number of features, and by method with k features.

    ``methods``: the reported method and others, by their names.
    """
    dataset = information.dataset
    target = dataset.targets[0]
    columns = dataset.columns.allowed
    kinds = set(table.kinds[columns].tolist())
    has_text = not kinds <= {"numeric", "boolean"}
    ours, *others = methods
    limits = information.limits
    n_sizes = MAX_SIZES_OF_TREES if has_text else MAX_SIZES
    ks_of_method = {ours: spread_sizes(k, limits.available, limits.required, n_sizes)}
    for name in others:
        ks_of_method[name] = [k]
    scoring = request.used_scoring
    if scoring is None:
        scoring = _scoring(target)
    with_all_features = table.n_samples * len(columns) <= MAX_ALL_VALUES
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curves = error_curves(
            table,
            request.y,
            methods,
            ks_of_method,
            scoring=scoring,
            cv=FOLDS if request.used_cv is None else request.used_cv,
            groups=request.groups,
            sample_weight=request.sample_weight,
            baseline=with_all_features,
            progress=request.progress,
            **options_of_all_selectors(request.selected),
        )
    # Where there is a scorer, errors are minus the scores.
    sign = 1 if scoring is None else -1
    name_of_scoring = scoring
    if scoring is not None and not isinstance(scoring, str):
        name_of_scoring = name_of_scorer(scoring)
    all_features = sign * curves.errors(BASELINE)[0] if with_all_features else None
    notes = dict.fromkeys(format_text(warning.message, 200) for warning in caught)
    return FoldScores(
        k=k,
        ks=tuple(curves.ks),
        curve=sign * curves.errors(ours),
        others={name: sign * curves.errors(name)[0] for name in others},
        measure=score_kind(name_of_scoring, target),
        model=_name_of_model(target, trees=has_text),
        method=ours,
        n_all=len(columns),
        all_features=all_features,
        notes=tuple(notes),
    )


def _name_of_model(target: Target, *, trees: bool) -> str:
    """What predicts in ``error_curves``, in words."""
    if trees:
        return "boosted trees"
    if isinstance(target, NumericTarget):
        return "ridge regression on standardized columns"
    return "a linear support vector machine on standardized columns"


def options_of_all_selectors(selector: Any) -> dict[str, Any]:
    """The options that all selectors take, with a whole number as seed."""
    names = SELECTABLE.keys() - {"method", "verbose"}
    options = {name: getattr(selector, name) for name in names}
    seed = selector.random_state
    options["random_state"] = int(seed) if isinstance(seed, int | np.integer) else 0
    return options


def _scoring(target: Target) -> str | None:
    """AUC for two classes and R2 for numbers, where every fold can have one."""
    if isinstance(target, NumericTarget):
        return "r2" if target.n_samples >= 2 * FOLDS else None
    counts = target.classes.counts
    return "roc_auc" if len(counts) == 2 and counts.min() >= FOLDS else None


def score_kind(scoring: str | None, target: Target) -> ScoreKind:
    """What a scorer of scikit-learn measures; None: error rate, or mean squared error."""
    if isinstance(target, NumericTarget):
        weights = None if target.weights is None else target.weights.values
        mean = np.average(target.numbers, weights=weights)
        variance = float(np.average((target.numbers - mean) ** 2, weights=weights))
        kinds = {
            "": ScoreKind("mean squared error", guess=variance),
            "r2": ScoreKind("R²", rising=True, guess=0.0, limits=(-inf, 1.0)),
        }
    else:
        sizes = target.classes.sizes
        largest_share = float(sizes.max() / sizes.sum())
        kinds = {
            "": ScoreKind("error rate", percent=True, guess=1 - largest_share, limits=(0.0, 1.0)),
            "accuracy": ScoreKind(
                "accuracy", rising=True, percent=True, guess=largest_share, limits=(0.0, 1.0)
            ),
            "roc_auc": ScoreKind("AUC", rising=True, guess=0.5, limits=(0.0, 1.0)),
        }
    name = scoring or ""
    if name in kinds:
        return kinds[name]
    is_error = name.startswith("neg_")
    text = format_text(name.removeprefix("neg_")).replace("_", " ")
    return ScoreKind(text, rising=not is_error)


def name_of_scorer(scorer: Any) -> str:
    """The name of a function; a scorer of scikit-learn has none."""
    return str(getattr(scorer, "__name__", "score"))


def _own_scores(selector: Any, target: Target) -> FoldScores:
    """The scores by which a selector chose k."""
    scoring = selector.scoring
    if scoring is None and is_classifier(selector.estimator):
        scoring = "accuracy"
    elif scoring is None and is_regressor(selector.estimator):
        scoring = "r2"
    name = scoring if isinstance(scoring, str) else name_of_scorer(scoring)
    measure = score_kind(name, target)
    results = selector.cv_results_
    by_fold = [results[column] for column in results if column.startswith("split")]
    scores = np.array(by_fold).T
    return FoldScores(
        k=int(selector.best_k_),
        ks=tuple(results["k"].tolist()),
        curve=scores if measure.rising else -scores,
        others={},
        measure=measure,
        model=format_text(" ".join(repr(selector.estimator).split()), 160),
        method=method_name(selector.method),
    )


def spread_sizes(k: int, most: int, least: int = 1, count: int = MAX_SIZES) -> list[int]:
    """Numbers of features around k, evenly spread in their logarithm, k included.

    ``most`` and ``least`` are the largest and the smallest possible, ``count`` is how many.
    """
    first = max(1, least)
    beyond_k = min(2 * k, k + MAX_EXTRA)
    last = min(most, max(beyond_k, count))
    spread = np.geomspace(first, max(first, last), count).round()
    return sorted({*spread.astype(int).tolist(), k})


def measure_stability(request: ReportRequest, table: Table, k: int) -> StabilitySelection | None:
    """How often k features are selected from half of the rows; None if not wanted or possible.

    ``table`` has all rows of the request.
    """
    if request.lacks_groups:
        return None
    n_subsamples = request.stability
    if n_subsamples is None:
        n_values = table.n_samples * table.n_features
        n_subsamples = SUBSAMPLES if n_values <= MAX_SUBSAMPLED_VALUES else 0
    if n_subsamples < 1:
        return None
    try:
        # The warnings on the table are in the report.
        with warnings.catch_warnings(action="ignore"):
            return stability_selection(
                table,
                request.y,
                k,
                request.selected.method,
                n_subsamples=n_subsamples,
                groups=request.groups,
                sample_weight=request.sample_weight,
                **options_of_all_selectors(request.selected),
            )
    except ValueError:
        # A class of one row cannot be in both halves.
        return None
