"""Several methods on one table: their choices, and the errors of models on them."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.cli._options import Request
from bestk.cli._progress import Talk
from bestk.evaluation import error_curves, linear_svm
from bestk.evaluation._shared import SharedEntropies
from bestk.files import Loaded
from bestk.methods import Method
from bestk.reading import Reading, find_features
from bestk.selector import SelectBestK
from bestk.table import Table
from bestk.task import Task


def choose(
    loaded: Loaded, k: int, methods: dict[str, Method], request: Request, talk: Talk
) -> dict[str, Any]:
    """What each method selects from all rows, and how much of it is the same."""
    options = SelectBestK(k, include=list(request.include), **request.options())
    with talk.stage("measuring the columns (a first run compiles, too)"):
        task = Task.of(options, loaded.table, loaded.y)
        read = replace(task.read, entropies=SharedEntropies.of(task.read.entropies))
    solutions = {}
    for name, method in methods.items():
        with talk.stage(f"selecting by {name}"):
            solutions[name] = replace(task, read=read, method=method).solution(k)
    chosen = {name: set(s.support.tolist()) for name, s in solutions.items()}
    return {
        name: {
            "features": [str(loaded.table.names[place]) for place in s.support],
            "value": float(s.details["pairs"].sum()),
            "objective": float(s.objective),
            "upper_bound": float(s.upper_bound),
            "gap": float(s.gap),
            "seconds": float(s.seconds),
            "shared": {other: len(chosen[name] & chosen[other]) for other in chosen},
        }
        for name, s in solutions.items()
    }


def measure_errors(
    loaded: Loaded, k: int, methods: dict[str, Method], request: Request, talk: Talk, cv: int
) -> dict[str, dict[str, float]]:
    """The cross-validated error of each method, and its deviation over the folds."""
    table = loaded.table
    X, words = as_matrix(table)
    continuous = Reading(target=request.target_kind).is_continuous(loaded.y)
    with talk.stage(f"measuring the error in {cv} folds") as report:
        curves = error_curves(
            X,
            loaded.y,
            methods,
            [k],
            estimator=new_model(continuous=continuous, words=bool(len(words)), X=X),
            cv=cv,
            progress=report,
            categorical_features=words,
            include=find_features(list(request.include), table),
            **request.options(),
        )
    errors = {name: curves.errors(name)[0] for name in methods}
    return {
        name: {"error": float(each.mean()), "error_deviation": float(each.std(ddof=1))}
        for name, each in errors.items()
    }


def as_matrix(table: Table) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The table as one array of numbers, with codes for text; and which columns are such codes."""
    if len(table.blocks) == 1 and table.blocks[0].kind == "numeric":
        return table.blocks[0].values, np.empty(0, np.intp)
    dtype = np.result_type(np.float32, *(block.values.dtype for block in table.blocks))
    matrix = np.empty((table.n_samples, table.n_features), dtype)
    for block in table.blocks:
        matrix[:, block.columns] = block.values
        if block.categories is not None:
            matrix[:, block.columns] = np.where(block.values < 0, np.nan, block.values)
    words = [block.columns for block in table.blocks if block.categories is not None]
    return matrix, np.sort(np.concatenate([np.empty(0, np.intp), *words]))


def new_model(*, continuous: bool, words: bool, X: NDArray[Any]) -> Any:
    """What predicts: linear where there are numbers only, trees where there is text."""
    missing = X.dtype.kind == "f" and bool(np.isnan(X).any())
    if words:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        trees = HistGradientBoostingRegressor if continuous else HistGradientBoostingClassifier
        return trees(random_state=0)
    model = linear_svm(missing=missing)
    if continuous:
        from sklearn.linear_model import RidgeCV

        model.steps[-1] = ("ridgecv", RidgeCV())
    return model
