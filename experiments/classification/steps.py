"""What the jobs of the test of classification do, each in a process of its own."""

import base64
import zlib
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from bestk.data.table import read_table
from bestk.evaluation import SharedEntropies
from bestk.information.reading import Reading
from experiments import datasets
from experiments.classification.methods import NAMES, SEED, effort_for, method_for
from experiments.classification.svm import Fold, all_features_svm
from experiments.datasets import Dataset

LEAVE_ONE_OUT = 100  # rows: with so many or fewer, each is left out alone
FOLDS = 10
SHOWN = (10, 50)  # numbers of features of which the selections inside folds are kept
Indices = NDArray[np.int64]


def load(name: str, data: str | None, version: str = "") -> Dataset:
    """A data set; its version of three states where that is asked for."""
    found = datasets.load(name, data)
    if version == "states":
        if found.states is None:
            raise ValueError(f"{found.source} has no version of three states, X_disc")
        found = replace(found, X=found.states)
    return found


def errors_on_all(name: str, data: str | None, fold: int, version: str) -> dict[str, Any]:
    """Errors of the set's SVM on all features of one fold."""
    found = load(name, data, version)
    train, test = splits(found.y)[fold]
    X = found.X.astype(np.float64)
    if version == "standardised":
        X = StandardScaler().fit(X[train]).transform(X)
    n, m, c = found.shape
    start, svm = perf_counter(), all_features_svm(m, c)
    with catch_warnings(action="ignore", category=ConvergenceWarning):
        wrong = int((svm.fit(X[train], found.y[train]).predict(X[test]) != found.y[test]).sum())
    seconds = round(perf_counter() - start, 4)
    return {"wrong": wrong, "n_test": len(test), "n_features": n, "seconds": seconds}


def select_on_all(
    name: str, data: str | None, protocol: str, method: str, ks: list[int]
) -> dict[str, Any]:
    """What a method selects from all rows, for every k."""
    found = load(name, data, protocol)
    entropies = measure(found, np.arange(len(found.y)))
    start = perf_counter()
    chosen = method_for(method, found.X.shape[1], protocol)
    solutions = chosen.select_path(entropies, ks, (), effort_for(method))
    seconds = round(perf_counter() - start, 4)
    supports = [solution.support for solution in solutions]
    values = _values(entropies, supports)
    return {"ks": ks, "supports": pack(supports), "cmi": values, "seconds": seconds}


def errors_of_fold(
    selections: list[dict[str, Any]], name: str, data: str | None, protocol: str, fold: int
) -> dict[str, Any]:
    """Errors in one fold on the features that were selected from all rows."""
    found = load(name, data, protocol)
    train, test = splits(found.y)[fold]
    start, svm = perf_counter(), Fold(found.X, found.y, train, test)
    wrong = {
        method: [svm.wrong(support) for support in unpack(own["supports"], own["ks"])]
        for method, own in zip(NAMES, selections, strict=True)
    }
    ks = {method: own["ks"] for method, own in zip(NAMES, selections, strict=True)}
    return _told(wrong, ks, svm, start)


def errors_inside_fold(
    name: str, data: str | None, fold: int, wanted: dict[str, list[int]]
) -> dict[str, Any]:
    """Errors in one fold on the features selected from its training rows alone."""
    found = load(name, data)
    train, test = splits(found.y)[fold]
    start, entropies = perf_counter(), measure(found, train)
    svm, wrong, seconds, shown = Fold(found.X, found.y, train, test), {}, {}, {}
    for method, ks in wanted.items():
        began, chosen = perf_counter(), method_for(method, found.X.shape[1], "nested")
        solutions = chosen.select_path(entropies, ks, (), effort_for(method))
        seconds[method] = round(perf_counter() - began, 4)
        wrong[method] = [svm.wrong(solution.support) for solution in solutions]
        shown[method] = pack([s.support for s in solutions if s.k in SHOWN])
    return _told(wrong, wanted, svm, start) | {"selecting": seconds, "supports": shown}


def _told(
    wrong: dict[str, list[int]], ks: dict[str, list[int]], svm: Fold, start: float
) -> dict[str, Any]:
    seconds = round(perf_counter() - start, 3)
    n_test = len(svm.y_test)
    return {"wrong": wrong, "ks": ks, "n_test": n_test, "fits": svm.fits, "seconds": seconds}


def measure(found: Dataset, rows: Indices) -> SharedEntropies:
    """Entropies of some rows after CAIM, to be shared by all methods."""
    categorical = np.arange(found.X.shape[1]) if found.nominal else None
    reading = Reading(discretizer="caim", categorical_features=categorical, n_jobs=1)
    read = reading.measure(read_table(found.X[rows]), found.y[rows])
    return SharedEntropies.of(read.entropies)


def splits(y: Any) -> list[tuple[Indices, Indices]]:
    """Leave-one-out up to 100 rows, else ten folds, stratified and shuffled; always the same."""
    if len(y) <= LEAVE_ONE_OUT:
        return list(LeaveOneOut().split(y))
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(y, y))


def _values(entropies: Any, supports: Sequence[Indices]) -> list[float]:
    """The paper's objective of each selection."""
    values = []
    for support in supports:
        block = entropies.cmi(support, support)
        np.fill_diagonal(block, entropies.mi()[support])
        values.append(round(float(block.sum()), 6))
    return values


def pack(supports: Sequence[Any]) -> str:
    """Selections as a short text; their order within each is lost."""
    if not len(supports):
        return ""
    together = np.concatenate([np.sort(support) for support in supports]).astype("<u2")
    return base64.b64encode(zlib.compress(together.tobytes(), 9)).decode()


def unpack(text: str, ks: Sequence[int]) -> list[Indices]:
    """The selections of a text, whose sizes are known."""
    together = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<u2").astype(np.int64)
    return np.split(together, np.cumsum(ks)[:-1])
