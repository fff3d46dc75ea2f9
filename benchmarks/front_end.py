"""Selections in front of other models: ``python -m benchmarks.front_end``.

Models are fitted to all columns of wide tables, and to k selected ones. The last one stands for
models that take at most 100 columns, as TabPFN did first: it is not fitted to more. CPU seconds,
because the machine may have other work.
"""

import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.quality.sets import load
from bestk import SelectBestK

SETS = ("pd_speech", "phenyl", "gravier", "cnae9")
KS = (100, 500)
FOLDS = 3
LIMITED = "support vectors, at most 100 columns"


MODELS: dict[str, Callable[[], Any]] = {
    "gradient boosting": lambda: HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "logistic regression": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=500)
    ),
    LIMITED: lambda: make_pipeline(StandardScaler(), SVC()),
}
WAYS: dict[str, Callable[[int], Any]] = {
    "bestk": lambda k: SelectBestK(k),
    "SelectKBest": lambda k: SelectKBest(f_classif, k=k),
    "random columns": lambda k: SelectKBest(lambda X, y: _noise(X.shape[1]), k=k),
}


def _noise(n: int) -> Any:
    return np.random.default_rng(0).random(n)


def measure(name: str) -> Iterator[dict[str, Any]]:
    """The score and the seconds of every model, with all columns and with some."""
    problem = load(name)
    X, y = problem.X.to_numpy(dtype=float), np.unique(problem.y, return_inverse=True)[1]
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    ways: dict[tuple[str, int], Any] = {("all columns", X.shape[1]): None}
    ways |= {(way, k): make(k) for way, make in WAYS.items() for k in KS if k < 0.9 * X.shape[1]}
    for (way, k), selector in ways.items():
        parts = [_selected(selector, X, y, train) for train, _ in folds]
        for model, make in MODELS.items():
            if model == LIMITED and k > KS[0]:
                continue
            found = [_fitted(make(), X[:, columns], y, fold)
                     for (columns, _), fold in zip(parts, folds, strict=True)]  # fmt: skip
            score, fitting = np.mean(found, axis=0)
            selecting = float(np.mean([seconds for _, seconds in parts]))
            yield {
                "set": name, "rows": len(y), "columns": X.shape[1], "way": way, "k": k,
                "model": model, "score": round(float(score), 4),
                "select_seconds": round(selecting, 3), "fit_seconds": round(float(fitting), 3),
            }  # fmt: skip


def _selected(selector: Any, X: Any, y: Any, train: Any) -> tuple[Any, float]:
    if selector is None:
        return np.arange(X.shape[1]), 0.0
    start = time.process_time()
    support = selector.fit(X[train], y[train]).get_support(indices=True)
    return support, time.process_time() - start


def _fitted(model: Any, X: Any, y: Any, fold: Any) -> tuple[float, float]:
    train, test = fold
    start = time.process_time()
    model.fit(X[train], y[train])
    seconds = time.process_time() - start
    return balanced_accuracy_score(y[test], model.predict(X[test])), seconds


def main() -> None:
    machine = asdict(describe_machine())
    rows = []
    for name in SETS:
        for row in measure(name):
            print(*row.values(), flush=True)
            rows.append(row | machine)
    with (RESULTS / "front_end.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
