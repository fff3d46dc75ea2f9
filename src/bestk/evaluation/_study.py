"""One fold: features selected by every method, and the error of an estimator on them."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils import _safe_indexing

from bestk.data.features import read_features
from bestk.evaluation._curves import BASELINE, Row
from bestk.evaluation._shared import shared_tasks
from bestk.problem.solution import Solution
from bestk.selection.folds import Fold
from bestk.selection.methods import Method
from bestk.selection.selector import SelectBestK

Indices = NDArray[np.int64]
Selections = dict[str, list[Solution]]  # by method, for every k


@dataclass(frozen=True)
class Study:
    """Everything that a fold needs, except its rows."""

    X: Any
    y: NDArray[Any]
    selector: SelectBestK  # how tables are read
    methods: dict[str, Method]
    ks: list[int]
    estimator: Any
    all_features: Indices | None  # of the baseline, if it is wanted

    def select(self, rows: Indices | None = None) -> Selections:
        """Select features by every method, from some rows or all."""
        X, y = self.X, self.y
        if rows is not None:
            X, y = _safe_indexing(X, rows), y[rows]
        table = read_features(X, self.selector.categorical_features)
        tasks = shared_tasks(self.selector, table, y, self.methods)
        return {name: task.path(self.ks) for name, task in tasks.items()}

    def run(self, fold: int, rows: Fold, selected: Selections | None) -> list[Row]:
        """Errors on the test rows, with features selected from the training rows, or before."""
        train, test = rows
        if selected is None:
            selected = self.select(train)
        known: dict[tuple[int, ...], float] = {}

        def measure(method: str, support: Indices, seconds: float) -> Row:
            columns = tuple(np.sort(support).tolist())
            if columns not in known:
                known[columns] = self.error(list(columns), train, test)
            picked = tuple(support.tolist())
            return Row(method, len(support), fold, known[columns], len(test), seconds, picked)

        found = [measure(name, s.support, s.seconds) for name in selected for s in selected[name]]
        if self.all_features is not None:
            found.append(measure(BASELINE, self.all_features, 0.0))
        return found

    def error(self, columns: list[int], train: Indices, test: Indices) -> float:
        """Error rate, or mean squared error of a regressor, on the test rows."""
        kept = _safe_indexing(self.X, columns, axis=1)
        with np.errstate(invalid="ignore", over="ignore"):  # where a column has no value in a fold
            fitted = clone(self.estimator).fit(_safe_indexing(kept, train), self.y[train])
            predicted, truth = fitted.predict(_safe_indexing(kept, test)), self.y[test]
        if is_regressor(fitted):
            return float(np.mean((predicted - truth) ** 2))
        return float(np.mean(predicted != truth))


@dataclass(frozen=True)
class FoldStore:
    """A folder with a JSON file for each finished fold of a study."""

    folder: Path
    key: str  # the same for the same data, options and version

    @classmethod
    def of(cls, keep: Any, study: Study, folds: list[Fold], protocol: str) -> "FoldStore":
        """Create the folder if there is none."""
        from bestk import __version__

        folder = Path(keep)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, joblib.hash((study, folds, protocol, __version__)))

    def run(self, study: Study, fold: int, rows: Fold, selected: Selections | None) -> list[Row]:
        """Read the rows of a fold, or compute and store them."""
        path = self.folder / f"{self.key}-{fold}.json"
        if path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            return [Row(**row | {"support": tuple(row["support"])}) for row in stored]
        found = study.run(fold, rows, selected)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps([asdict(row) for row in found]), encoding="utf-8")
        os.replace(part, path)
        return found
