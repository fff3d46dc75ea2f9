"""The error against the number of features as a selector has measured it to choose k."""

import warnings
from collections.abc import Callable, Sequence
from math import log
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from bestk.problem.solution import Solution
from bestk.report._curves import WRONG, Progress, curve_of, guess_error, sizes
from bestk.report._facts import Curve, Errors
from bestk.report._text import shown

OPEN = "share of the variance left open"


def tried(solution: Solution, *, continuous: bool) -> Errors | None:
    """What ``k="auto"`` has measured to choose k."""
    scores, errors = (solution.details.get(name) for name in ("k_scores", "k_errors"))
    if not scores:
        return None
    told, nothing = errors or scores, (float("nan"),) * len(scores)
    curve = Curve("error" if errors else "score", tuple(told), tuple(told.values()), nothing)
    model = "ridge regression" if continuous else "logistic regression"
    measure = (OPEN if continuous else "log loss") if errors else "score"
    return Errors((curve,), measure, model, solution.details["k_folds"],
                  share=continuous and bool(errors), rising=not errors)  # fmt: skip


def cross_validated(
    selector: Any, X: Any, y: Any, methods: dict[str, Any], progress: Progress | None = None
) -> Errors:
    """The results of a selector that chose k itself, and of other methods in the same way."""
    ours, *others = methods
    ks = selector.cv_results_["k"].tolist()
    few = _nearest(ks, sizes(selector.best_k_, ks[-1]), selector.best_k_)
    measure, error, options = _as_error(selector, y)
    curves, notes = [curve_of(ours, ks, error(_splits(selector)))], list[str]()
    for done, name in enumerate(others, 1):
        alike = clone(selector, safe=False).set_params(method=name, ks=few, bound=None)
        try:
            curves.append(curve_of(name, few, error(_score(alike, X, y, notes))))
        except (TypeError, ValueError) as refused:
            notes.append(f"{name} was not measured: {shown(refused, 200)}")
        if progress is not None:
            progress(done, len(others))
    model = shown(" ".join(repr(selector.estimator).split()), 160)
    told = tuple(dict.fromkeys(notes))
    return Errors(tuple(curves), measure, model, len(_splits(selector)), notes=told, **options)


def _score(selector: Any, X: Any, y: Any, notes: list[str]) -> Any:
    """Scores of a selector that is yet to be fitted; what it warns of is noted."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X, y)
    notes += [shown(w.message, 200) for w in caught]
    return _splits(selector)


def _splits(selector: Any) -> Any:
    """Scores, a row for each fold."""
    found = selector.cv_results_
    return np.array([found[name] for name in found if name.startswith("split")])


def _nearest(ks: Sequence[int], wanted: Sequence[int], k: int) -> list[int]:
    """Those of some numbers that are nearest to the wanted ones, k among them."""
    return sorted({k, *(min(ks, key=lambda each: abs(log(each / size))) for size in wanted)})


def _as_error(selector: Any, y: Any) -> tuple[str, Callable[[Any], Any], dict[str, Any]]:
    """What the scores are called as errors, and how they become some; as they are, if unknown."""
    scoring = selector.scoring
    if scoring is None:
        plain = is_classifier(selector.estimator), is_regressor(selector.estimator)
        scoring = {(True, False): "accuracy", (False, True): "r2"}.get(plain)
    if scoring == "accuracy":
        guess = guess_error(y, continuous=False)
        return WRONG, lambda score: 1 - score, {"share": True, "guess": guess}
    if scoring == "r2":
        return OPEN, lambda score: 1 - score, {"share": True, "guess": 1.0}
    if isinstance(scoring, str) and scoring.startswith("neg_"):
        return scoring.removeprefix("neg_").replace("_", " "), lambda score: -score, {}
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return shown(name).replace("_", " "), lambda score: score, {"rising": True}
