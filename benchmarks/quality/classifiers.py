"""Errors of three classifiers on some columns of a fold; a choice of columns is fitted once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.quality.sets import Problem
from experiments.classification.svm import Fold

Indices = NDArray[np.int64]
CLASSIFIERS = ("svm", "neighbours", "boosting")
LABELS = {
    "svm": "linear SVM",
    "neighbours": "5 nearest neighbours",
    "boosting": "gradient boosting",
}
BOOSTED = (10, 50)  # numbers of features for which trees are boosted: the dearest classifier
NEIGHBOURS, ROUNDS, LEAVES = 5, 40, 15
SEED = 0


class Judge:
    """Training and test rows of a fold. Columns of categories stand as indicators."""

    def __init__(self, problem: Problem, train: Indices, test: Indices) -> None:
        X, self._columns = indicators(problem)
        self._fold = Fold(X, problem.y, train, test)
        self._known: dict[bytes, dict[str, int]] = {}

    @property
    def n_test(self) -> int:
        """Number of test rows."""
        return len(self._fold.y_test)

    def wrong(self, support: Any, classifiers: Sequence[str]) -> dict[str, int]:
        """How many test rows each classifier gets wrong on those columns."""
        chosen = np.sort(np.asarray(support, np.int64))
        known = self._known.setdefault(chosen.tobytes(), {})
        for name in classifiers:
            if name not in known:
                columns = np.concatenate([self._columns[i] for i in chosen])
                known[name] = self._count(name, columns)
        return {name: known[name] for name in classifiers}

    def _count(self, name: str, columns: Indices) -> int:
        fold = self._fold
        if name == "svm":
            return fold.wrong(columns)
        train, test = fold.train[:, columns], fold.test[:, columns]
        with config_context(assume_finite=True, skip_parameter_validation=True):
            predicted = make(name, len(fold.y)).fit(train, fold.y).predict(test)
        return int((predicted != fold.y_test).sum())


def make(name: str, n_rows: int) -> Any:
    """A classifier that is not the SVM."""
    if name == "neighbours":
        return KNeighborsClassifier(min(NEIGHBOURS, n_rows))
    return HistGradientBoostingClassifier(
        max_iter=ROUNDS, max_leaf_nodes=LEAVES, early_stopping=False, random_state=SEED
    )


def asked(k: int) -> tuple[str, ...]:
    """The classifiers that are fitted to k features."""
    return CLASSIFIERS if k in BOOSTED else CLASSIFIERS[:2]


def indicators(problem: Problem) -> tuple[NDArray[Any], list[Indices]]:
    """The table as numbers, and the columns that stand for each feature.

    Examples
    --------
    >>> X, columns = indicators(Problem("", np.array([[0, 2], [1, 5], [0, 7]]), np.zeros(3), True))
    >>> X.tolist()
    [[1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]]
    >>> columns
    [array([0, 1]), array([2, 3, 4])]
    """
    if not problem.nominal:
        return problem.X, [np.array([i]) for i in range(problem.n_features)]
    parts = [(column[:, None] == np.unique(column)).astype(np.int8) for column in problem.X.T]
    ends = np.cumsum([part.shape[1] for part in parts])
    return np.hstack(parts), np.split(np.arange(ends[-1]), ends[:-1])
