"""What the jobs of the test of classification do, each in a process of its own."""

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut, StratifiedKFold

from bestk.information import Entropies
from bestk.information.entropy_reader import EntropyReader
from bestk.tables.frames import read_table
from experiments import datasets
from experiments.classification.methods import FEW_DRAWS, SEED, effort_for, method_for
from experiments.classification.protocols import EVERY, LETTERS, Source, with_values
from experiments.classification.svm import Fold, Split, make_svm, standardise
from experiments.datasets import Dataset

LEAVE_ONE_OUT = 100  # rows: with so many or fewer, each is left out alone
FOLDS = 10
SHOWN = (10, 50)  # numbers of features of which the selections inside folds are kept
# All features: values, rows over which they are standardised, classifier
VERSIONS: dict[str, tuple[Source, str, str]] = {
    "authors": ("authors", "all", "liblinear"),
    "train-scaled": ("authors", "train", "liblinear"),
    "standardised": ("paper", "train", "mixed"),
    "unscaled": ("paper", "none", "mixed"),
    "states": ("authors", "none", "mixed"),
}
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Place:
    """A fold of a data set in a protocol; ten folds with the next seed are numbered from 10 on."""

    name: str
    data: str | None
    protocol: str
    fold: int

    def load(self) -> tuple[Dataset, Split]:
        """The values that the classifier is trained on, and the rows."""
        source = EVERY[self.protocol].source_of(self.name)
        found = with_values(datasets.load(self.name, self.data), source)
        return found, split(found.y, self.fold)

    def svm(self, found: Dataset, rows: Split) -> Fold:
        """The classifier of the protocol on the rows of the fold."""
        protocol = EVERY[self.protocol]
        return Fold(found.X, found.y, rows, protocol.svm, protocol.scaling)


def errors_on_all(name: str, data: str | None, fold: int, version: str) -> dict[str, Any]:
    """Errors of a linear SVM on all features of one fold."""
    source, scaling, kind = VERSIONS[version]
    found = datasets.load(name, data)
    found = found if found.states is None else with_values(found, source)
    train, test = split(found.y, fold)
    X = found.X.astype(np.float64)
    if scaling != "none":
        X = standardise(X, train if scaling == "train" else slice(None))
    start, svm = perf_counter(), make_svm(kind, *found.shape[1:])
    with catch_warnings(action="ignore", category=ConvergenceWarning):
        predicted = svm.fit(X[train], found.y[train]).predict(X[test])
    wrong, seconds = int((predicted != found.y[test]).sum()), round(perf_counter() - start, 4)
    sizes = np.bincount(found.y)
    to_smallest = int((sizes[predicted] == sizes.min()).sum())
    return {"wrong": wrong, "n_test": len(test), "to_smallest": to_smallest, "seconds": seconds}


def errors_of_coding(data: str | None, letters: str, n_folds: int) -> list[float]:
    """Shares of errors on Promoter with letters numbered in some order, or ``one-hot``."""
    found, errors = datasets.load("promoter", data), []
    if letters == "one-hot":
        X = np.hstack([np.equal(found.X, place) for place in range(len(LETTERS))])
    else:
        X = with_values(found, letters).X
    X = standardise(X, slice(None))
    for fold in range(n_folds):
        train, test = split(found.y, fold)
        svm = make_svm("liblinear", *found.shape[1:]).fit(X[train], found.y[train])
        errors.append(float((svm.predict(X[test]) != found.y[test]).mean()))
    return errors


@dataclass(frozen=True)
class Selection:
    """A selection from all rows of a data set."""

    name: str
    data: str | None
    source: Source
    method: str
    draws: int | None = None  # of LowRank, in place of the published number


def select_on_all(wanted: Selection, ks: list[int]) -> dict[str, Any]:
    """What a method selects from all rows, for every k."""
    method, source = wanted.method, wanted.source
    found = with_values(datasets.load(wanted.name, wanted.data), source)
    entropies = measure(found, np.arange(len(found.y)), cut=source != "authors")
    start = perf_counter()
    chosen = method_for(method, found.X.shape[1], wanted.draws)
    solutions = chosen.select_path(entropies, ks, (), effort_for(method))
    seconds = round(perf_counter() - start, 4)
    supports = [solution.support for solution in solutions]
    told = {"draws": solutions[0].details["draws"]} if "draws" in solutions[0].details else {}
    values = _values(entropies, supports)
    return {"ks": ks, "supports": pack(supports), "cmi": values, "seconds": seconds} | told


def errors_of_fold(
    selections: list[dict[str, Any]], place: Place, methods: Sequence[str], ks: list[int]
) -> dict[str, Any]:
    """Errors in one fold on the features that were selected from all rows."""
    found, rows = place.load()
    start, svm, wrong, used = perf_counter(), place.svm(found, rows), {}, {}
    with catch_warnings(action="ignore", category=ConvergenceWarning):
        for method, own in zip(methods, selections, strict=True):
            supports = dict(zip(own["ks"], unpack(own["supports"], own["ks"]), strict=True))
            used[method] = [k for k in own["ks"] if k in ks]
            wrong[method] = [svm.wrong(supports[k]) for k in used[method]]
    return _told(wrong, used, svm, start)


def errors_inside_fold(place: Place, wanted: dict[str, list[int]]) -> dict[str, Any]:
    """Errors in one fold on the features selected from its training rows alone."""
    found, rows = place.load()
    start, entropies = perf_counter(), measure(found, rows[0])
    svm, wrong, seconds, shown = place.svm(found, rows), {}, {}, {}
    for method, ks in wanted.items():
        began, chosen = perf_counter(), method_for(method, found.X.shape[1], FEW_DRAWS)
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


def measure(found: Dataset, rows: Indices, cut: bool = True) -> Entropies:
    """Entropies of some rows, cut by CAIM or counted as they are, to be shared by all methods."""
    categorical = np.arange(found.X.shape[1]) if found.nominal else None
    reading = EntropyReader(discretizer="caim" if cut else None, categorical_features=categorical,
                      n_jobs=1)  # fmt: skip
    X = found.X[rows] if cut else np.searchsorted(np.unique(found.X), found.X)[rows]
    return reading.measure(read_table(X), found.y[rows]).entropies


def split(y: Any, fold: int) -> Split:
    """Leave-one-out up to 100 rows, else ten folds, stratified and shuffled by the seed."""
    if len(y) <= LEAVE_ONE_OUT:
        return list(LeaveOneOut().split(y))[fold]
    seed, fold = divmod(fold, FOLDS)
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED + seed).split(y, y))[fold]


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
