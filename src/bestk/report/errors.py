"""Cross-validated errors against the number of features, of this method and of others."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from bestk.data.table import Table, find_features
from bestk.data.target import is_continuous
from bestk.evaluation import error_curves, shared_tasks
from bestk.problem.solution import Solution
from bestk.report.records import NAN, Curve, Errors, OtherMethods, ReportRequest, format_text
from bestk.selection.grouped import read_groups
from bestk.selection.methods import get_method

OTHERS = ("maxrel", "mrmr", "jmi")
FOLDS = 5
MAX_SIZES = 8  # numbers of features of a curve
MAX_SIZES_OF_TREES = 3  # where there is text, and each model takes long
MAX_EXTRA = 50  # features of a curve beyond those selected
PASSED_ON = ("information", "discretizer", "correction", "categorical_features", "target",
             "time_limit", "backend", "n_jobs", "column_groups", "k_counts")  # fmt: skip
ERROR_RATE, SQUARED_ERROR = "error rate", "mean squared error"
UNEXPLAINED = "unexplained variance (1 - R²)"


def compare_methods(request: ReportRequest, table: Table, solution: Solution) -> OtherMethods:
    """Select by other methods, and measure errors if they are requested and possible."""
    selector = request.selected
    ours = method_name(selector.method)
    methods = {ours: selector.method} | {name: name for name in OTHERS if name != ours}
    choices = _select_by(methods, request, table, solution)
    if hasattr(selector, "cv_results_"):
        return OtherMethods(choices, _own_scores(selector, request.y))
    if not request.errors:
        return OtherMethods(choices, None, "errors were not requested")
    try:
        errors = _measure_errors(request, table, solution, methods)
    except ValueError as error:
        return OtherMethods(choices, None, format_text(" ".join(str(error).split()), 400))
    return OtherMethods(choices, errors)


def method_name(method: Any) -> str:
    """The name of a method, or its representation."""
    return method if isinstance(method, str) else format_text(repr(method))


def _select_by(
    methods: dict[str, Any], request: ReportRequest, table: Table, solution: Solution
) -> dict[str, tuple[int, ...]]:
    """The features that each method selects from all rows."""
    ours, *others = methods
    supports = {ours: tuple(solution.support.tolist())}
    named = {name: get_method(name) for name in others}
    with warnings.catch_warnings(action="ignore"):  # the warnings of ours are in the report
        for name, task in shared_tasks(request.selected, table, request.y, named).items():
            supports[name] = tuple(task.path([task.count(solution.support)])[0].support.tolist())
    return supports


def _measure_errors(
    request: ReportRequest, table: Table, solution: Solution, methods: dict[str, Any]
) -> Errors:
    """Errors of one model for all methods, with about as many features as are selected."""
    selector, y = request.selected, request.y
    continuous = is_continuous(y, selector.target)
    excluded = find_features(selector.exclude, table).tolist()
    included = list(dict.fromkeys(find_features(selector.include, table).tolist()))
    trees = bool(set(np.delete(table.kinds, excluded).tolist()) - {"numeric", "boolean"})
    count = MAX_SIZES_OF_TREES if trees else MAX_SIZES
    k, most = solution.k, table.n_features - len(excluded)
    if selector.column_groups is not None and selector.k_counts == "groups":
        groups = read_groups(selector.column_groups, table)
        left = groups[~np.isin(groups, groups[excluded])]
        k, most, included = len(np.unique(groups[solution.support])), len(np.unique(left)), []
    sizes = spread_sizes(k, most, len(included), count)
    seed = selector.random_state
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curves = error_curves(
            table, y, methods, sizes, cv=FOLDS, progress=request.progress,
            random_state=int(seed) if isinstance(seed, int | np.integer) else 0,
            include=selector.include, exclude=excluded,
            **{name: getattr(selector, name) for name in PASSED_ON},
        )  # fmt: skip
    linear = "ridge regression" if continuous else "a linear support vector machine"
    return Errors(
        tuple(new_curve(name, curves.ks, curves.errors(name).T) for name in curves.methods),
        SQUARED_ERROR if continuous else ERROR_RATE,
        "boosted trees" if trees else f"{linear} on standardised columns",
        FOLDS,
        percent=not continuous,
        guess=guess_error(y, continuous=continuous),
        notes=tuple(dict.fromkeys(format_text(w.message, 200) for w in caught)),
    )


def _own_scores(selector: Any, y: Any) -> Errors:
    """The scores by which a selector chose k."""
    measure, sign, guess = _measure_of(selector, y)
    found = selector.cv_results_
    scores = sign * np.array([found[name] for name in found if name.startswith("split")])
    curve = new_curve(method_name(selector.method), found["k"].tolist(), scores)
    model = format_text(" ".join(repr(selector.estimator).split()), 160)
    return Errors((curve,), measure, model, len(scores), rising=sign > 0, guess=guess)


def _measure_of(selector: Any, y: Any) -> tuple[str, int, float]:
    """The name of a score, -1 if it is a negative error, and what guessing gives."""
    name = selector.scoring
    if name is None and is_classifier(selector.estimator):
        name = "accuracy"
    elif name is None and is_regressor(selector.estimator):
        name = "r2"
    name = name if isinstance(name, str) else getattr(name, "__name__", "score")
    if name == "accuracy":
        return name, 1, 1 - guess_error(y, continuous=False)
    sign = -1 if name.startswith("neg_") else 1
    guess = 0.0 if name == "r2" else NAN
    return format_text(name.removeprefix("neg_")).replace("_", " "), sign, guess


def tried_sizes(solution: Solution, *, continuous: bool) -> Errors | None:
    """The errors or scores by which ``k="auto"`` was chosen."""
    errors, scores = (solution.details.get(name) for name in ("k_errors", "k_scores"))
    found = errors or scores
    if not found:
        return None
    curve = Curve("k='auto'", tuple(found), tuple(found.values()), (NAN,) * len(found))
    measure = (UNEXPLAINED if continuous else "log loss") if errors else "score"
    model = "ridge regression" if continuous else "logistic regression"
    return Errors((curve,), measure, model, solution.details["k_folds"], rising=not errors)


def new_curve(name: str, ks: Sequence[int], errors: Any) -> Curve:
    """Mean and standard deviation of errors with a row for each fold."""
    spread = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.full(len(ks), np.nan)
    means = errors.mean(axis=0)
    return Curve(name, tuple(int(k) for k in ks), tuple(means.tolist()), tuple(spread.tolist()))


def guess_error(y: Any, *, continuous: bool) -> float:
    """The error of always predicting the most frequent class, or the mean."""
    if continuous:
        return float(np.var(np.asarray(y, np.float64)))
    counts = np.unique(np.asarray(y).astype(str), return_counts=True)[1]
    return 1 - float(counts.max() / counts.sum())


def spread_sizes(k: int, most: int, least: int = 1, count: int = MAX_SIZES) -> list[int]:
    """Numbers of features around k, evenly spread in their logarithm, k included."""
    first, last = max(1, least), min(most, max(min(2 * k, k + MAX_EXTRA), count))
    spread = np.geomspace(first, max(first, last), count).round().astype(int)
    return sorted({*spread.tolist(), k})
