"""What other methods would have selected, and the cross-validated error against k."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bestk.evaluation import Curves, error_curves
from bestk.evaluation._study import Study, read_methods
from bestk.methods import Method
from bestk.reading import Reading, find_features
from bestk.report._text import shown
from bestk.solution import Solution
from bestk.table import Table

OTHERS = ("maxrel", "mrmr", "jmi")
FOLDS = 5
N_SIZES = 8  # numbers of features of an error curve
MANY_ROWS = 10_000  # below, threads of trees wait for each other
N_SIZES_OF_TREES = 3  # where there is text, and each model takes long
READ_AS = ("information", "discretizer", "correction", "target", "time_limit", "backend", "n_jobs")
Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Choice:
    """What a method selects from all rows."""

    method: str
    support: tuple[int, ...]  # best first
    shared: int  # with the selection that is reported


@dataclass(frozen=True)
class Errors:
    """Cross-validated errors, by method and number of features."""

    ks: tuple[int, ...]
    means: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]  # over the folds
    measure: str
    model: str
    notes: tuple[str, ...]  # what was warned of on the way


@dataclass(frozen=True)
class Comparison:
    """The selection beside those of other methods."""

    choices: tuple[Choice, ...]  # the reported one first
    errors: Errors | None
    reason: str = ""  # why there are no errors


def compare(
    options: Any, table: Table, y: Any, solution: Solution, *, errors: bool = True,
    progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """Select by other methods, and measure errors in folds unless told not to, or impossible."""
    ours = method_name(options.method)
    methods: dict[str, Any] = {ours: options.method}
    methods |= {name: name for name in OTHERS if name != ours}
    choices = _choices(options, table, y, solution, read_methods(methods))
    if not errors:
        return Comparison(choices, None, "They were not asked for.")
    try:
        return Comparison(choices, _errors(options, table, y, solution.k, methods, progress))
    except ValueError as error:
        return Comparison(
            choices,
            None,
            f"They cannot be measured here: {shown(' '.join(str(error).split()), 400)}.",
        )


def method_name(method: Any) -> str:
    """What a method is called."""
    return method if isinstance(method, str) else shown(repr(method))


def _choices(
    options: Any, table: Table, y: Any, solution: Solution, methods: dict[str, Method]
) -> tuple[Choice, ...]:
    ours, *others = methods
    study = Study(table, y, options, {name: methods[name] for name in others}, [solution.k],
                  None, None)  # fmt: skip
    supports = {ours: tuple(solution.support.tolist())}
    for name, (found,) in (study.choose() if others else {}).items():
        supports[name] = tuple(found.support.tolist())
    mine = set(supports[ours])
    return tuple(Choice(name, s, len(mine & set(s))) for name, s in supports.items())


def _errors(
    options: Any, table: Table, y: Any, k: int, methods: dict[str, Any], progress: Progress | None
) -> Errors:
    from bestk.cli._side_by_side import as_matrix, new_model

    X, words = as_matrix(table)
    if not isinstance(X, np.ndarray) and not hasattr(X, "tocsc"):
        raise ValueError("the table is packed, and models need its values")
    continuous = Reading(target=options.target).is_continuous(y)
    trees, sparse = bool(len(words)), not isinstance(X, np.ndarray)
    if continuous and sparse:
        raise ValueError("there is no default model for a sparse table and a continuous target")
    model = new_model(continuous=continuous, words=trees, X=X) if continuous or trees else None
    excluded = find_features(options.exclude, table)
    included = list(dict.fromkeys(find_features(options.include, table).tolist()))
    most = table.n_features - len(excluded)
    coded = find_features(options.categorical_features, table)
    few = 1 if trees and table.n_samples < MANY_ROWS else None
    with threadpool_limits(few, "openmp"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curves = error_curves(
            X, y, methods, sizes(k, most, len(included), N_SIZES_OF_TREES if trees else N_SIZES),
            estimator=model, cv=FOLDS, random_state=_seed(options.random_state),
            progress=progress, categorical_features=np.union1d(coded, words).astype(np.int64),
            include=included, exclude=excluded.tolist(),
            **{name: getattr(options, name) for name in READ_AS},
        )  # fmt: skip
    notes = tuple(dict.fromkeys(shown(w.message, 200) for w in caught))
    return replace(_told(curves, continuous=continuous, trees=trees), notes=notes)


def sizes(k: int, most: int, least: int = 1, count: int = N_SIZES) -> list[int]:
    """Numbers of features about k, evenly spread in their logarithm, k among them.

    Examples
    --------
    >>> sizes(10, 30)
    [1, 2, 4, 6, 8, 10, 13, 20]
    >>> sizes(2, 3), sizes(20, 1000, count=3)
    ([1, 2, 3], [1, 6, 20, 40])
    """
    first, last = max(1, least), min(most, max(2 * k, count))
    spread = np.geomspace(first, max(first, last), count).round().astype(int)
    return sorted({*spread.tolist(), k})


def _told(curves: Curves, *, continuous: bool, trees: bool) -> Errors:
    errors = {name: curves.errors(name) for name in curves.methods}
    linear = "ridge regression" if continuous else "a linear support vector machine"
    return Errors(
        tuple(curves.ks),
        {name: tuple(e.mean(axis=1).tolist()) for name, e in errors.items()},
        {name: tuple(e.std(axis=1, ddof=1).tolist()) for name, e in errors.items()},
        "mean squared error" if continuous else "share of wrong classes",
        "boosted trees" if trees else f"{linear} on standardised columns",
        (),
    )


def _seed(random_state: Any) -> int:
    return int(random_state) if isinstance(random_state, int | np.integer) else 0
