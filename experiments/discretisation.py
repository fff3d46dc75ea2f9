"""Beyond the paper: what the discretisation does to the error, with and without correction.

Gaussian information, which needs none, stands beside the discretisers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from bestk.information.entropy_reader import EntropyReader
from bestk.tables.frames import read_table
from experiments import datasets
from experiments.classification.methods import FEW_DRAWS, effort_for, method_for
from experiments.classification.plan import fit_cost
from experiments.classification.svm import Fold
from experiments.datasets import DATASETS
from experiments.jobs import Job
from experiments.statistics import Ranks, rank_treatments
from experiments.store import Store

PART = "discretisation"
DISCRETIZERS = ("caim", "mdlp", "equal-width", "equal-frequency", "sigma", "gaussian")
CORRECTIONS = ("none", "chance")
METHODS = ("maxrel", "mrmr", "jmi", "tpower-warm", "search")
KS = (10, 20, 50)
FOLDS, SEED = 5, 0
LEFT_OUT = ("promoter", "gisette", "gisette_like")  # nothing to discretise; 12 million pairs
Score = dict[str, dict[str, float]]  # by set and treatment, a mean error in percent


@dataclass(frozen=True)
class Plan:
    """Which sets, and how many of their folds."""

    sets: tuple[str, ...]
    data: str | None = None
    folds: int = FOLDS

    @property
    def used(self) -> list[str]:
        """The sets with something to discretise, cheap ones first."""
        names = [name for name in self.sets if name not in LEFT_OUT]
        return sorted(names, key=lambda name: DATASETS[name].n)


def jobs(plan: Plan) -> Iterator[Job]:
    """A fold of a set with one discretiser, without and with correction."""
    for fold in range(plan.folds):
        for name in plan.used:
            for discretizer in DISCRETIZERS:
                key = (PART, name, discretizer, str(fold))
                arguments = (name, plan.data, discretizer, fold)
                yield Job(key, errors_inside_fold, arguments, cost=_cost(name))


def _cost(name: str) -> float:
    entry = DATASETS[name]
    pairs = entry.n**2 * (1e-7 + 2e-10 * entry.m)
    return 2 * pairs + fit_cost(entry, 2 * len(KS) * len(METHODS))


def errors_inside_fold(name: str, data: str | None, discretizer: str, fold: int) -> dict[str, Any]:
    """Errors in a fold, features selected from its training rows, by correction and method."""
    found = datasets.load(name, data)
    with catch_warnings(action="ignore"):  # lymphoma has classes of two rows
        splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
        train, test = list(splitter.split(found.X, found.y))[fold]
    n, table = found.X.shape[1], read_table(found.X[train])
    svm, ks = Fold(found.X, found.y, (train, test)), [k for k in KS if k <= n]
    wrong: dict[str, dict[str, list[int]]] = {}
    for correction in corrections(discretizer):
        entropies = _reading(discretizer, correction).measure(table, found.y[train]).entropies
        wrong[correction] = {}
        for method in METHODS:
            chosen = method_for(method, n, FEW_DRAWS)
            solutions = chosen.select_path(entropies, ks, (), effort_for(method))
            wrong[correction][method] = [svm.wrong(s.support) for s in solutions]
    return {"wrong": wrong, "ks": ks, "n_test": len(test)}


def _reading(discretizer: str, correction: str) -> EntropyReader:
    """How columns are read: levels are counted, or numbers are taken as normal."""
    given: Any = None if correction == "none" else correction
    if discretizer == "gaussian":
        return EntropyReader("gaussian", None, given, n_jobs=1)
    return EntropyReader("discrete", discretizer, given, n_jobs=1)


def mean_errors(store: Store, method: str | None = None) -> Score:
    """By set and treatment: the mean error over folds, k and methods, or of one method."""
    found: dict[str, dict[str, list[float]]] = {}
    for (name, discretizer, _), result in store.under(PART):
        for correction, by_method in result["wrong"].items():
            treatment = discretizer + (" + chance" if correction == "chance" else "")
            for each, wrong in by_method.items():
                if method in (None, each):
                    errors = 100 * np.array(wrong) / result["n_test"]
                    found.setdefault(name, {}).setdefault(treatment, []).append(errors.mean())
    return {
        name: {treatment: float(np.mean(own[treatment])) for treatment in treatments()}
        for name, own in sorted(found.items())
        if set(treatments()) <= own.keys()
    }


def corrections(discretizer: str) -> tuple[str, ...]:
    """Without and with; for Gaussian information it would take the same from every feature."""
    return CORRECTIONS if discretizer != "gaussian" else CORRECTIONS[:1]


def treatments() -> list[str]:
    """Ways to read numbers, each without and with correction."""
    ends = {"none": "", "chance": " + chance"}
    return [name + ends[each] for name in DISCRETIZERS for each in corrections(name)]


def ranks(score: Score) -> Ranks | None:
    """Treatments ranked over the sets; None where there are fewer than two sets."""
    if len(score) < 2:
        return None
    names = treatments()
    return rank_treatments(
        names, np.array([[own[name] for name in names] for own in score.values()])
    )
