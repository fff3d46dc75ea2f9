"""How many features: the number after which more of them no longer help a linear model."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from bestk._discriminant import Design, class_error, squared_error
from bestk.bounds._eigen import one_thread
from bestk.codes import Target, read_continuous_target, read_target
from bestk.reading import Reading, find_features
from bestk.solution import Solution
from bestk.table import Table
from bestk.task import Indices, Task

AUTO = "auto"
GRID = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 100)
RULE = "one-se"
FOLDS = 5
FEWEST_ROWS = 10
FEWEST_MEMBERS = 3  # of the largest class: with two, a training fold has each class once
DIGITS = 9  # of an error: what is beyond is rounding, which must not choose


def select_as_many_as_help(
    options: Any, task: Task, table: Table, y: Any, sample_weight: Any = None
) -> Solution:
    """The features of a task, as many as predict well; ``details["k_errors"]`` says how well."""
    ks = numbers_to_try(len(task.allowed), len(task.include))
    fixed = copy(options)
    fixed.random_state = task.effort.random_state  # drawn once, for all folds
    errors = cross_validate(fixed, table, y, ks, sample_weight)
    solution = task.solution(choose(ks, -errors, RULE))
    told = dict(zip(ks, errors.mean(axis=0).tolist(), strict=True))
    return replace(solution, details={**solution.details, "k_errors": told})


def refuse_auto(k: Any) -> None:
    """Say that rows in blocks cannot be split into folds."""
    if isinstance(k, str) and k == AUTO:
        raise ValueError(
            "k='auto' selects in folds of the rows, and blocks of rows are never held together; "
            "give k as a number, or a table in memory"
        )


def numbers_to_try(most: int, least: int = 0) -> list[int]:
    """The numbers of features to try: from those that must be in, to a hundred or all.

    Examples
    --------
    >>> numbers_to_try(30)
    [1, 2, 3, 5, 8, 12, 16, 24, 30]
    >>> numbers_to_try(1000, least=40)
    [40, 48, 64, 100]
    """
    first = max(1, least)
    last = max(first, min(most, GRID[-1]))
    return [first, *(k for k in GRID if first < k < last), *([last] * (last > first))]


def choose(ks: Sequence[int], scores: NDArray[np.float64], rule: str) -> int:
    """The k of the best mean score over folds (rows of ``scores``), by the rule.

    Examples
    --------
    >>> scores = np.array([[0.80, 0.90, 0.91], [0.82, 0.88, 0.89]])
    >>> choose([1, 2, 3], scores, "best"), choose([1, 2, 3], scores, "one-se")
    (3, 2)
    """
    mean = scores.mean(axis=0)
    best = int(np.argmax(mean))
    if rule == "best" or len(scores) < 2:
        return ks[best]
    error = float(scores[:, best].std(ddof=1)) / np.sqrt(len(scores))
    return ks[int(np.argmax(mean >= mean[best] - error))]


def cross_validate(
    options: Any, table: Table, y: Any, ks: list[int], sample_weight: Any = None
) -> NDArray[np.float64]:
    """Errors of a linear model, a row for each fold, on features selected in its training rows.

    Shares of wrong classes; or, of a continuous target, squared errors as shares of its variance.
    """
    counts = np.ones(table.n_samples, np.int64)
    if sample_weight is not None:
        counts = np.asarray(sample_weight).astype(np.int64)
        table, y = table.take(np.flatnonzero(counts)), np.asarray(y)[counts > 0]
        counts = counts[counts > 0]
    goal = Goal.of(options.target, y, table.n_samples)
    folds = [
        (np.repeat(train, counts[train]), np.repeat(test, counts[test]))
        for train, test in goal.split(options.random_state)
    ]
    paths = [_select(options, table, goal, train, ks) for train, _ in folds]
    needed = np.unique(np.concatenate([support for path in paths for support in path]))
    design = Design.of(table, needed, _nominal(options, table))
    with one_thread():
        return np.array([
            _errors(design, goal, train, test, path)
            for (train, test), path in zip(folds, paths, strict=True)
        ])  # fmt: skip


@dataclass(frozen=True)
class Goal:
    """What is to be predicted: classes, or numbers."""

    classes: Target | None
    numbers: NDArray[np.float64]

    @classmethod
    def of(cls, kind: str, y: Any, n_samples: int) -> "Goal":
        """Read a target; refuses one that is too short to be split."""
        if n_samples < FEWEST_ROWS:
            raise ValueError(
                f"k='auto' needs at least {FEWEST_ROWS} rows, and there are {n_samples}; "
                "give k as a number"
            )
        if not Reading(target=kind).is_continuous(y):
            target = read_target(y, n_samples)
            if (most := int(target.counts.max())) < FEWEST_MEMBERS:
                raise ValueError(
                    f"k='auto' needs a class of at least {FEWEST_MEMBERS} rows, and none has more "
                    f"than {most}; give k as a number"
                )
            return cls(target, target.codes.astype(np.float64))
        return cls(None, read_continuous_target(y, n_samples))

    def split(self, seed: int | None) -> list[tuple[Indices, Indices]]:
        """Training and test rows, shuffled; a row that is alone in its class is not tested."""
        from sklearn.model_selection import KFold, StratifiedKFold

        state = {"shuffle": True, "random_state": seed or 0}
        if self.classes is None:
            return list(KFold(FOLDS, **state).split(self.numbers))
        counts = self.classes.counts
        alone = counts[self.classes.codes] == 1
        tested, trained = np.flatnonzero(~alone), np.flatnonzero(alone)
        splitter = StratifiedKFold(min(FOLDS, int(counts.max())), **state)
        with catch_warnings(action="ignore"):  # classes of fewer rows than folds
            parts = list(splitter.split(tested, self.classes.codes[tested]))
        return [(np.sort(np.append(tested[a], trained)), tested[b]) for a, b in parts]

    @cached_property
    def _standardised(self) -> NDArray[np.float64]:
        """Numbers of mean 0 and variance 1."""
        small = self.numbers / (np.abs(self.numbers).max() or 1.0)  # squares must not overflow
        return (small - small.mean()) / (small.std() or 1.0)

    def error(self, Z: NDArray[np.float64], train: Indices, test: Indices) -> float:
        """The error of a linear model on the test rows."""
        if self.classes is None:
            return round(squared_error(Z, self._standardised, train, test), DIGITS)
        return class_error(Z, self.classes, train, test)


def _select(options: Any, table: Table, goal: Goal, train: Indices, ks: list[int]) -> list[Indices]:
    """The features for every k, chosen from the training rows."""
    alike = copy(options)
    alike.target = "continuous" if goal.classes is None else "classes"
    y = goal.numbers if goal.classes is None else goal.classes.codes
    try:
        with catch_warnings(action="ignore"):  # what is to be said was said of the whole table
            return [s.support for s in Task.of(alike, table.take(train), y[train]).path(ks)]
    except ValueError as error:
        raise ValueError(
            f"k='auto' selects in folds of the rows, and one of them is refused: {error}; "
            "or give k as a number"
        ) from error


def _nominal(options: Any, table: Table) -> Indices:
    """Features whose numbers are codes."""
    if options.discretizer is None and options.information != "gaussian":
        return np.arange(table.n_features)
    return find_features(options.categorical_features, table)


def _errors(
    design: Design, goal: Goal, train: Indices, test: Indices, path: list[Indices]
) -> list[float]:
    Z = design.standardised(train)
    return [goal.error(Z[:, np.isin(design.features, s)], train, test) for s in path]
