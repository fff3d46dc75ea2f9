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
from bestk.selectors.base import SELECTABLE, resolve_options
from bestk.selectors.folds import choose
from bestk.selectors.pipeline import select_path
from bestk.selectors.resampling import measure_for_each
from bestk.selectors.stability import StabilitySelection, stability_selection
from bestk.tables.target import NumericTarget, Target

OTHERS = ("maxrel", "mrmr", "jmi")
FOLDS = 5
MAX_SIZES = 8  # numbers of features of a curve
MAX_SIZES_OF_TREES = 3  # where there is text, and each model takes long
MAX_EXTRA = 50  # features of a curve beyond those selected
MAX_ALL_VALUES = 2_000_000  # of a table whose columns are all given to the model
SUBSAMPLES = 20
MAX_SUBSAMPLED_VALUES = 2_000_000  # of a table, unless the number of subsamples is given
LEVEL = 0.05  # of tests, and of intervals
LINEAR = {True: "ridge regression", False: "a linear support vector machine"}


@dataclass(frozen=True)
class ScoreKind:
    """A score or an error: its name, its range, and what a model without features gives."""

    name: str
    rising: bool = False  # higher is better
    percent: bool = False
    guess: float = NAN
    limits: tuple[float, float] = (-inf, inf)


@dataclass(frozen=True)
class FoldScores:
    """Cross-validated scores or errors of the selection, of fewer and more features, of others."""

    k: int  # number of features of the report
    ks: tuple[int, ...]
    curve: Floats  # of the reported method: a row for each of ks, a column for each fold
    others: Mapping[str, Floats]  # of other methods with k features, in each fold
    measure: ScoreKind
    model: str
    method: str = "auto"  # the reported one
    n_all: int = 0  # number of all features
    all_features: Floats | None = None  # with all of them, in each fold
    notes: tuple[str, ...] = ()  # warnings of the models

    @property
    def folds(self) -> Floats:
        """The value of each fold with the selected number of features."""
        return self.curve[self.ks.index(self.k)]

    def mean(self, k: int | None = None) -> float:
        """Mean over the folds with k features."""
        return float(self.curve[self.ks.index(self.k if k is None else k)].mean())

    def interval(self, values: Floats) -> tuple[float, float]:
        """95% interval of the mean over folds with common training rows (Nadeau, Bengio 2003)."""
        n = len(values)
        if n < 2:
            return NAN, NAN
        half = stdtrit(n - 1, 1 - LEVEL / 2) * sqrt((1 / n + 1 / (n - 1)) * values.var(ddof=1))
        low, high = np.clip(values.mean() + np.array([-half, half]), *self.measure.limits)
        return float(low), float(high)

    def predicts(self) -> bool | None:
        """Whether the interval with k features excludes guessing; None if that is not known."""
        low, high = self.interval(self.folds)
        if np.isnan([low, self.measure.guess]).any():
            return None
        return low > self.measure.guess if self.measure.rising else high < self.measure.guess

    def compare(self, values: Floats) -> Literal["better", "worse", "similar"]:
        """Whether other values of the folds differ from the reported ones (paired t-test)."""
        n = len(self.folds)
        if n < 2 or not np.isfinite([self.folds, values]).all():
            return "similar"
        t = float(t_statistics(self.loss(values - self.folds)[np.newaxis], 1 / (n - 1))[0])
        if 2 * stdtr(n - 1, -abs(t)) >= LEVEL:
            return "similar"
        return "better" if t < 0 else "worse"

    def ranked(self) -> list[str]:
        """The other methods by their means, best first."""
        return sorted(self.others, key=lambda method: self.loss(self.others[method].mean()))

    def better(self) -> list[str]:
        """The other methods that are better in a paired t-test, best first."""
        return [name for name in self.ranked() if self.compare(self.others[name]) == "better"]

    def loss(self, value: Any) -> Any:
        """A value of which less is better."""
        return -value if self.measure.rising else value

    def spread(self, k: int) -> float:
        """Standard error of the mean with k features."""
        values = self.curve[self.ks.index(k)]
        return float(values.std(ddof=1) / sqrt(len(values))) if len(values) > 1 else NAN

    def enough(self) -> tuple[int, int]:
        """The smallest k whose difference from the best is within its standard error, and that."""
        losses = self.loss(self.curve.T)
        if not np.isfinite(losses).all():
            return self.k, self.k
        return choose(self.ks, -losses, "one-se"), self.ks[int(losses.mean(axis=0).argmin())]


def compare_methods(
    request: ReportRequest, information: Information, solution: Solution
) -> dict[str, Any]:
    """What other methods select, and scores if they are requested and possible, for the report."""
    selector = request.selected
    ours = method_name(selector.method)
    # Other methods do not adjust for covariates: what they select answers another question.
    names_of_others = [name for name in OTHERS if name != ours and selector.covariates is None]
    choices = {ours: tuple(solution.support.tolist())}
    options = {name: resolve_options(replace(selector, method=name)) for name in names_of_others}
    dataset = information.dataset
    k = dataset.columns.count(solution.support)
    with warnings.catch_warnings(action="ignore"):  # the warnings of ours are in the report
        for name, measured in measure_for_each(dataset, options).items():
            selection = select_path(measured, options[name], [k])[0]
            choices[name] = tuple(selection.support.tolist())
    if hasattr(selector, "cv_results_"):
        return {"choices": choices, "scores": _own_scores(selector, dataset.targets[0])}
    if not request.errors:
        return {"choices": choices, "unmeasured": "errors were not requested"}
    methods = {ours: selector.method} | {name: name for name in names_of_others}
    try:
        scores = _measure_scores(request, information, k, methods)
    except ValueError as error:
        return {"choices": choices, "unmeasured": format_text(" ".join(str(error).split()), 400)}
    return {"choices": choices, "scores": scores}


def method_name(method: Any) -> str:
    """The name of a method, or its representation."""
    return method if isinstance(method, str) else format_text(repr(method))


def _measure_scores(
    request: ReportRequest, information: Information, k: int, methods: dict[str, Any]
) -> FoldScores:
    """Scores of one model: by number of features, and by method with k features."""
    dataset = information.dataset
    table = dataset.table
    target = dataset.targets[0]
    columns = dataset.columns.allowed
    trees = bool(set(table.kinds[columns].tolist()) - {"numeric", "boolean"})
    ours, *others = methods
    limits = information.limits
    sizes = spread_sizes(k, limits.most, limits.least, MAX_SIZES_OF_TREES if trees else MAX_SIZES)
    scoring = request.used_scoring
    if scoring is None:
        scoring = _scoring(target)
    name = scoring if scoring is None or isinstance(scoring, str) else name_of_scorer(scoring)
    sign = 1 if scoring is None else -1
    whole = table.n_samples * len(columns) <= MAX_ALL_VALUES
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curves = error_curves(
            table, request.y, methods, {ours: sizes} | {name: [k] for name in others},
            scoring=scoring, cv=FOLDS if request.used_cv is None else request.used_cv,
            groups=request.groups, baseline=whole, progress=request.progress,
            **options_of_all_selectors(request.selected),
        )  # fmt: skip
    return FoldScores(
        k, tuple(curves.ks), sign * curves.errors(ours),
        {name: sign * curves.errors(name)[0] for name in others},
        score_kind(name, target),
        _name_of_model(target, trees=trees),
        ours, len(columns), sign * curves.errors(BASELINE)[0] if whole else None,
        tuple(dict.fromkeys(format_text(w.message, 200) for w in caught)),
    )  # fmt: skip


def _name_of_model(target: Target, *, trees: bool) -> str:
    """What predicts in ``error_curves``, in words."""
    if trees:
        return "boosted trees"
    return f"{LINEAR[isinstance(target, NumericTarget)]} on standardized columns"


def options_of_all_selectors(selector: Any) -> dict[str, Any]:
    """The options that all selectors take, with a whole number as seed."""
    names, seed = SELECTABLE.keys() - {"method", "verbose"}, selector.random_state
    seed = int(seed) if isinstance(seed, int | np.integer) else 0
    return {name: getattr(selector, name) for name in names} | {"random_state": seed}


def _scoring(target: Target) -> str | None:
    """AUC for two classes and R2 for numbers, where every fold can have one."""
    if isinstance(target, NumericTarget):
        return "r2" if target.n_samples >= 2 * FOLDS else None
    counts = target.classes.counts
    return "roc_auc" if len(counts) == 2 and counts.min() >= FOLDS else None


def score_kind(scoring: str | None, target: Target) -> ScoreKind:
    """What a scorer of scikit-learn measures; None: error rate, or mean squared error."""
    if isinstance(target, NumericTarget):
        known = {"r2": ScoreKind("R²", True, guess=0.0, limits=(-inf, 1.0))}
        known[""] = ScoreKind("mean squared error", guess=float(np.var(target.numbers)))
    else:
        share = float(target.classes.counts.max() / target.n_samples)
        known = {
            "": ScoreKind("error rate", percent=True, guess=1 - share, limits=(0.0, 1.0)),
            "accuracy": ScoreKind("accuracy", True, True, share, (0.0, 1.0)),
            "roc_auc": ScoreKind("AUC", True, guess=0.5, limits=(0.0, 1.0)),
        }
    name = scoring or ""
    text = format_text(name.removeprefix("neg_")).replace("_", " ")
    return known.get(name, ScoreKind(text, not name.startswith("neg_")))


def name_of_scorer(scorer: Any) -> str:
    """The name of a function; a scorer of scikit-learn has none."""
    return str(getattr(scorer, "__name__", "score"))


def _own_scores(selector: Any, target: Target) -> FoldScores:
    """The scores by which a selector chose k."""
    name = selector.scoring
    if name is None and is_classifier(selector.estimator):
        name = "accuracy"
    elif name is None and is_regressor(selector.estimator):
        name = "r2"
    name = name if isinstance(name, str) else name_of_scorer(name)
    measure, found = score_kind(name, target), selector.cv_results_
    folds = np.array([found[each] for each in found if each.startswith("split")]).T
    model = format_text(" ".join(repr(selector.estimator).split()), 160)
    values = folds if measure.rising else -folds
    ks, method = tuple(found["k"].tolist()), method_name(selector.method)
    return FoldScores(int(selector.best_k_), ks, values, {}, measure, model, method)


def spread_sizes(k: int, most: int, least: int = 1, count: int = MAX_SIZES) -> list[int]:
    """Numbers of features around k, evenly spread in their logarithm, k included."""
    first, last = max(1, least), min(most, max(min(2 * k, k + MAX_EXTRA), count))
    spread = np.geomspace(first, max(first, last), count).round().astype(int)
    return sorted({*spread.tolist(), k})


def measure_stability(
    request: ReportRequest, information: Information, solution: Solution
) -> StabilitySelection | None:
    """How often features are selected from half of the rows; None if not wanted or possible."""
    if request.lacks_groups:
        return None
    dataset = information.dataset
    n = request.stability
    values = dataset.table.n_samples * dataset.table.n_features
    n = SUBSAMPLES * (values <= MAX_SUBSAMPLED_VALUES) if n is None else n
    if n < 1:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # those of the table are in the report
            return stability_selection(
                dataset.table,
                request.y,
                dataset.columns.count(solution.support),
                request.selected.method,
                n_subsamples=n,
                groups=request.groups,
                **options_of_all_selectors(request.selected),
            )
    except ValueError:  # a class of one row cannot be in both halves
        return None
