"""One fold: features selected by every method, and the error of an estimator on them."""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils import _safe_indexing

from bestk.data.table import Table
from bestk.evaluation._curves import BASELINE, Row
from bestk.evaluation._shared import SharedEntropies
from bestk.problem.solution import Solution
from bestk.selection.defaults import settle
from bestk.selection.methods import Method, get_method
from bestk.selection.reading import find_features, read_features
from bestk.selection.selector import SelectBestK
from bestk.selection.task import Task

Indices = NDArray[np.int64]
Chosen = dict[str, list[Solution]]  # by method, for every k


@dataclass(frozen=True)
class Study:
    """Everything that a fold needs, but its rows."""

    X: Any
    y: NDArray[Any]
    selector: SelectBestK  # how tables are to be read
    methods: dict[str, Method]
    ks: list[int]
    estimator: Any
    all_features: Indices | None  # those of the baseline, if it is asked for

    def choose(self, rows: Indices | None = None) -> Chosen:
        """Select features by every method, from some rows or all, measured once per estimate."""
        X, y = self.X, self.y
        if rows is not None:
            X, y = _safe_indexing(X, rows), y[rows]
        table = read_features(X, self.selector.categorical_features)
        tasks = dict[str, Task]()
        chosen: Chosen = {}
        for name, method in self.methods.items():
            selector = copy(self.selector).set_params(method=method)
            information = settle(selector).information  # all else is the same for all methods
            if information not in tasks:
                task = Task.of(selector, table, y)
                read = replace(task.read, entropies=SharedEntropies.of(task.read.entropies))
                tasks[information] = replace(task, read=read)
            chosen[name] = replace(tasks[information], method=method).path(self.ks)
        return chosen

    def run(self, fold: int, train: Indices, test: Indices, chosen: Chosen | None) -> list[Row]:
        """Errors on the test rows, with features selected from the training rows, or before."""
        if chosen is None:
            chosen = self.choose(train)
        known: dict[tuple[int, ...], float] = {}

        def measure(method: str, support: Indices, seconds: float) -> Row:
            columns = tuple(np.sort(support).tolist())
            if columns not in known:
                known[columns] = self.error(list(columns), train, test)
            picked = tuple(support.tolist())
            return Row(method, len(support), fold, known[columns], len(test), seconds, picked)

        rows = [measure(name, s.support, s.seconds) for name in chosen for s in chosen[name]]
        if self.all_features is not None:
            rows.append(measure(BASELINE, self.all_features, 0.0))
        return rows

    def error(self, columns: list[int], train: Indices, test: Indices) -> float:
        """Share of wrong classes, or mean squared error of a regressor, on the test rows."""
        kept = _safe_indexing(self.X, columns, axis=1)
        with np.errstate(invalid="ignore", over="ignore"):  # where a column has no value in a fold
            fitted = clone(self.estimator).fit(_safe_indexing(kept, train), self.y[train])
            predicted, truth = fitted.predict(_safe_indexing(kept, test)), self.y[test]
        if is_regressor(fitted):
            return float(np.mean((predicted - truth) ** 2))
        return float(np.mean(predicted != truth))


def read_methods(methods: Any) -> dict[str, Method]:
    """Methods by their names."""
    if isinstance(methods, str):
        methods = [methods]
    try:
        methods = methods if isinstance(methods, Mapping) else {name: name for name in methods}
    except TypeError as error:
        wanted = "names, or a dict of names to methods"
        raise ValueError(f"methods must be {wanted}, not {methods!r}") from error
    for name in methods:
        if not isinstance(name, str):
            raise ValueError(f"{name!r} has no name; give a dict of names to methods")
    if BASELINE in methods:
        raise ValueError(f"{BASELINE!r} is the name of the baseline; call the method otherwise")
    if not methods:
        raise ValueError("there are no methods to measure; give one or more")
    return {name: get_method(method) for name, method in methods.items()}


def read_ks(ks: Iterable[int], selector: SelectBestK, table: Table, allowed: Indices) -> list[int]:
    """The numbers of features, rising, each once."""
    try:
        wanted = sorted({index(k) for k in ks})
    except TypeError as error:
        raise ValueError(f"ks must be a list of whole numbers, not {ks!r}") from error
    least, most = max(1, len(set(find_features(selector.include, table)))), len(allowed)
    if not wanted or wanted[0] < least or wanted[-1] > most:
        came = f"{wanted[0]}..{wanted[-1]}" if wanted else "empty"
        raise ValueError(f"ks must lie between {least} and {most}, the number of features; "
                         f"got {came}")  # fmt: skip
    return wanted


def indexable(X: Any) -> Any:
    """The table, in a form from which rows and columns can be taken."""
    if isinstance(X, list | tuple):
        array = np.asarray(X)
        return array if array.dtype.kind in "biuf" else np.array(X, dtype=object)
    return X.tocsc() if hasattr(type(X), "tocsc") else X
