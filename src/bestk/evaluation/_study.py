"""The folds of a study: features selected by every method, and the errors of an estimator."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from sklearn.base import is_regressor
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from bestk._typing import Indices
from bestk.data.features import read_features
from bestk.data.files import replacing
from bestk.evaluation._curves import BASELINE, Row
from bestk.problem.solution import Solution
from bestk.selection.folds import Fold, Trial, group_splitter, read_folds
from bestk.selection.selector import SelectBestK
from bestk.selection.shared import shared_tasks

MAX_ROWS_LEAVE_ONE_OUT = 100
N_FOLDS = 10
Selections = dict[str, list[Solution]]  # by method, for every k


def negative_error(model: Any, X: Any, y: Any) -> float:
    """Minus the error rate, or minus the mean squared error of a regressor."""
    predicted = model.predict(X)
    wrong = (predicted - y) ** 2 if is_regressor(model) else predicted != y
    return -float(np.mean(wrong))


@dataclass(frozen=True)
class Study:
    """Everything that a fold needs, except its rows."""

    trial: Trial
    selector: SelectBestK  # how tables are read
    methods: dict[str, Any]
    ks: list[int]
    all_features: Indices | None  # of the baseline, if it is wanted
    protocol: str = "nested"
    rows: Indices | None = None  # of the whole table, repeated by their weights

    def run_all(
        self, folds: list[Fold], keep: str | PathLike[str] | None, n_jobs: int | None
    ) -> Iterator[list[Row]]:
        """The rows of each fold, in order, as they are done."""
        from bestk import __version__

        run = self.run
        if keep is not None:
            Path(keep).mkdir(parents=True, exist_ok=True)
            run = partial(self.run_or_read, Path(keep, joblib.hash((self, folds, __version__))))
        selected = self.select(self.rows) if self.protocol == "paper" else None
        if n_jobs is None or n_jobs == 1:
            return (run(i, fold, selected) for i, fold in enumerate(folds))
        work = (delayed(run)(i, fold, selected) for i, fold in enumerate(folds))
        done: Iterator[list[Row]] = Parallel(n_jobs=n_jobs, return_as="generator")(work)
        return done

    def select(self, rows: Indices | None = None) -> Selections:
        """Select features by every method, from some rows or all."""
        X, y = self.trial.X, self.trial.y
        if rows is not None:
            X, y = _safe_indexing(X, rows), y[rows]
        table = read_features(X, self.selector.categorical_features)
        tasks = shared_tasks(self.selector, table, y, self.methods)
        return {name: task.path(self.ks) for name, task in tasks.items()}

    def run(self, fold: int, rows: Fold, selected: Selections | None) -> list[Row]:
        """Errors on the test rows, with features selected from the training rows, or before."""
        if selected is None:
            selected = self.select(rows[0])
        known: dict[tuple[int, ...], float] = {}

        def measure(method: str, k: int, support: Indices, seconds: float) -> Row:
            columns = tuple(np.sort(support).tolist())
            if columns not in known:
                known[columns] = -self.trial.score(list(columns), rows)
            error, n_test, picked = known[columns], len(rows[1]), tuple(support.tolist())
            return Row(method, k, fold, error, n_test, seconds, picked)

        found = [
            measure(name, k, solution.support, solution.seconds)
            for name, solutions in selected.items()
            for k, solution in zip(self.ks, solutions, strict=True)
        ]
        if self.all_features is not None:
            found.append(measure(BASELINE, len(self.all_features), self.all_features, 0.0))
        return found

    def run_or_read(
        self, base: Path, fold: int, rows: Fold, selected: Selections | None
    ) -> list[Row]:
        """The rows of a fold from its file, or computed and stored there."""
        path = Path(f"{base}-{fold}.json")
        if path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            return [Row(**row | {"support": tuple(row["support"])}) for row in stored]
        found = self.run(fold, rows, selected)
        with replacing(path) as part:
            part.write_text(json.dumps([asdict(row) for row in found]), encoding="utf-8")
        return found


def split(
    y: Any, cv: Any, groups: Any = None, *, continuous: bool, random_state: int | None
) -> list[Fold]:
    """Training and test rows of every fold."""
    shuffled = {"shuffle": True, "random_state": random_state}
    cv = group_splitter(cv, groups, classes=not continuous, **shuffled)
    if cv is None:
        cv = LeaveOneOut() if len(y) <= MAX_ROWS_LEAVE_ONE_OUT else N_FOLDS
    if isinstance(cv, Integral):
        cv = (KFold if continuous else StratifiedKFold)(int(cv), **shuffled)
    return read_folds(lambda: check_cv(cv), np.empty((len(y), 1)), y, groups)
