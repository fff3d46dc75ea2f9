"""The error against the number of features, measured in folds by one model for all methods."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bestk.data.features import find_features
from bestk.data.table import Table
from bestk.data.target import is_continuous
from bestk.evaluation import Curves, error_curves
from bestk.report._facts import Curve, Errors
from bestk.report._text import shown

FOLDS = 5
N_SIZES = 8  # numbers of features of an error curve
BEYOND = 50  # more features than selected that it goes to, at most
N_SIZES_OF_TREES = 3  # where there is text, and each model takes long
READ_AS = ("information", "discretizer", "correction", "target", "time_limit", "backend", "n_jobs")
WRONG, SQUARED = "share of wrong classes", "mean squared error"
Progress = Callable[[int, int], Any]


def measure(
    options: Any, table: Table, y: Any, k: int, methods: dict[str, Any], progress: Progress | None
) -> Errors:
    """Errors of a model that is the same for all methods, about k features."""
    continuous = is_continuous(y, options.target)
    excluded = find_features(options.exclude, table)
    included = list(dict.fromkeys(find_features(options.include, table).tolist()))
    most = table.n_features - len(excluded)
    allowed = np.delete(table.kinds, excluded)
    trees = bool(set(allowed.tolist()) - {"numeric", "boolean"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curves = error_curves(
            table, y, methods,
            sizes(k, most, len(included), N_SIZES_OF_TREES if trees else N_SIZES),
            cv=FOLDS, random_state=_seed(options.random_state),
            progress=progress, categorical_features=options.categorical_features,
            include=included, exclude=excluded.tolist(),
            **{name: getattr(options, name) for name in READ_AS},
        )  # fmt: skip
    notes = tuple(dict.fromkeys(shown(w.message, 200) for w in caught))
    return _told(curves, y, notes, continuous=continuous, trees=trees)


def _told(
    curves: Curves, y: Any, notes: tuple[str, ...], *, continuous: bool, trees: bool
) -> Errors:
    linear = "ridge regression" if continuous else "a linear support vector machine"
    return Errors(
        tuple(curve_of(name, curves.ks, curves.errors(name).T) for name in curves.methods),
        SQUARED if continuous else WRONG,
        "boosted trees" if trees else f"{linear} on standardised columns",
        FOLDS,
        share=not continuous,
        guess=guess_error(y, continuous=continuous),
        notes=notes,
    )


def curve_of(name: str, ks: Sequence[int], errors: Any) -> Curve:
    """Mean and deviation of errors that have a row for each fold."""
    spread = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.full(len(ks), np.nan)
    means = errors.mean(axis=0)
    return Curve(name, tuple(int(k) for k in ks), tuple(means.tolist()), tuple(spread.tolist()))


def guess_error(y: Any, *, continuous: bool) -> float:
    """The error of the most frequent class, or of the mean, for every row.

    Examples
    --------
    >>> guess_error(["a", "a", "b", "a"], continuous=False), guess_error([1, 3], continuous=True)
    (0.25, 1.0)
    """
    if continuous:
        return float(np.var(np.asarray(y, np.float64)))
    values, counts = np.unique(np.asarray(y).astype(str), return_counts=True)
    return 1 - float(counts.max() / counts.sum()) if len(values) else float("nan")


def sizes(k: int, most: int, least: int = 1, count: int = N_SIZES) -> list[int]:
    """Numbers of features about k, evenly spread in their logarithm, k among them.

    Examples
    --------
    >>> sizes(10, 30)
    [1, 2, 4, 6, 8, 10, 13, 20]
    >>> sizes(2, 3), sizes(20, 1000, count=3)
    ([1, 2, 3], [1, 6, 20, 40])
    """
    first, last = max(1, least), min(most, max(min(2 * k, k + BEYOND), count))
    spread = np.geomspace(first, max(first, last), count).round().astype(int)
    return sorted({*spread.tolist(), k})


def _seed(random_state: Any) -> int:
    return int(random_state) if isinstance(random_state, int | np.integer) else 0
