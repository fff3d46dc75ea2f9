"""One fold: features selected by every method, and the error of an estimator on them."""

import json
import os
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils import _safe_indexing

from bestk._typing import Floats, Indices
from bestk.data.features import read_features
from bestk.data.table import Table
from bestk.evaluation._curves import BASELINE, Row
from bestk.information import Entropies, Measure
from bestk.problem.solution import Solution
from bestk.selection.folds import Fold
from bestk.selection.methods import Method
from bestk.selection.pipeline import Information, Task, settle
from bestk.selection.selector import SelectBestK

Selections = dict[str, list[Solution]]  # by method, for every k
MAX_MATRIX_BYTES = 2**30  # larger matrices are computed again instead of kept


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
        try:
            part.write_text(json.dumps([asdict(row) for row in found]), encoding="utf-8")
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return found


def shared_tasks(
    selector: Any, table: Table, y: Any, methods: Mapping[str, Method]
) -> dict[str, Task]:
    """A task for each method; methods that read the same estimates share their entropies."""
    tasks: dict[str, Task] = {}
    read: list[tuple[Information, Task]] = []  # a discretizer need not be hashable
    for name, method in methods.items():
        options = copy(selector).set_params(method=method)
        information = settle(options)
        task = next((known for how, known in read if how == information), None)
        if task is None:
            task = Task.of(options, table, y)
            entropies = SharedEntropies.of(task.read.entropies)
            task = replace(task, read=replace(task.read, entropies=entropies))
            read.append((information, task))
        tasks[name] = replace(task, method=method)
    return tasks


@dataclass(frozen=True)
class SharedEntropies(Entropies):
    """Entropies that keep the last matrix of all pairs for the next method that needs it."""

    last: dict[Any, Floats] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, entropies: Entropies) -> "SharedEntropies":
        """The same entropies, to be shared."""
        return cls(**{each.name: getattr(entropies, each.name) for each in fields(Entropies)})

    def measure(
        self,
        measure: Measure,
        rows: Iterable[int] | None = None,
        columns: Iterable[int] | None = None,
        dtype: DTypeLike = np.float64,
        signed: bool = False,
    ) -> Floats:
        """Any weighted sum of the entropies of each pair, in a new matrix."""
        size = np.dtype(dtype).itemsize * self.n_features**2
        if rows is not None or columns is not None or size > MAX_MATRIX_BYTES:
            return super().measure(measure, rows, columns, dtype, signed)
        key = (measure, np.dtype(dtype), signed)
        if key not in self.last:
            self.last.clear()
            self.last[key] = super().measure(measure, None, None, dtype, signed)
        return self.last[key].copy()
