"""What is stored, as errors by set, method, classifier and k."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.classifiers import CLASSIFIERS
from benchmarks.quality.folds import FOLDS, REPEATS
from benchmarks.quality.generated import MAKERS
from benchmarks.quality.methods import DEFAULT
from benchmarks.quality.plan import METHODS, rows
from benchmarks.quality.sets import HALVES, MADE_SEED, NAMES, recall
from bestk.evaluation import stability
from experiments.classification.steps import unpack
from experiments.store import Store

Floats = NDArray[np.float64]
Place = tuple[int, int]  # repeat and fold
Folds = dict[Place, dict[str, Any]]


@dataclass(frozen=True)
class Results:
    """The folds of all sets and methods, of which a method has all or counts as missing."""

    store: Store

    @cached_property
    def folds(self) -> dict[str, dict[str, Folds]]:
        """By set and method, without methods that lack a fold, and sets that were just begun."""
        found: dict[str, dict[str, Folds]] = defaultdict(lambda: defaultdict(dict))
        for name, repeat, fold, method, own in rows(self.store):
            if repeat < REPEATS:
                found[name][method].setdefault((repeat, fold), own)
        whole = {name: _complete(found[name]) for name in NAMES if name in found}
        most = max(map(len, whole.values()), default=0)
        return {name: own for name, own in whole.items() if 2 * len(own) >= most}

    @property
    def sets(self) -> list[str]:
        """The sets of which something is stored."""
        return list(self.folds)

    @cached_property
    def methods(self) -> list[str]:
        """The methods of which something is stored, in their order."""
        there = {method for own in self.folds.values() for method in own}
        return [name for name in METHODS if name in there]

    @cached_property
    def everywhere(self) -> list[str]:
        """The methods that have every set, and so can be ranked with each other."""
        return [m for m in self.methods if all(m in own for own in self.folds.values())]

    @property
    def unfinished(self) -> list[str]:
        """Sets of which folds are still to be run."""
        counts = {name: max(map(len, own.values()), default=0) for name, own in self.folds.items()}
        return [f"{name} ({count} folds)" for name, count in counts.items() if count % FOLDS]

    def missing(self, method: str) -> list[str]:
        """The sets that a method does not have."""
        return [name for name, own in self.folds.items() if method not in own]

    @cached_property
    def _errors(self) -> dict[tuple[str, str], dict[tuple[str, int], float]]:
        return {
            (name, method): _mean_errors(folds)
            for name, own in self.folds.items()
            for method, folds in own.items()
        }

    def error(
        self, name: str, method: str, classifier: str | None = None, k: int | None = None
    ) -> float:
        """Error in percent, mean over folds, then over k, then over classifiers.

        NaN where nothing is stored. Of one k, boosting may have no errors; then all classifiers
        are those that have.
        """
        own = self._errors.get((name, method), {})
        chosen = CLASSIFIERS if classifier is None else (classifier,)
        means = [
            [error for (each, size), error in own.items() if each == one and k in (None, size)]
            for one in chosen
        ]
        found = [float(np.mean(errors)) for errors in means if errors]
        return float(np.mean(found)) if found else float("nan")

    def table(
        self,
        methods: Sequence[str],
        sets: Sequence[str] | None = None,
        classifier: str | None = None,
        k: int | None = None,
    ) -> Floats:
        """Errors, a row for each set that all these methods have, a column for each method."""
        rows = [
            [self.error(name, method, classifier, k) for method in methods]
            for name in (self.sets if sets is None else sets)
        ]
        found = np.array(rows, float).reshape(len(rows), len(methods))
        return found[np.isfinite(found).all(axis=1)]

    def half(self, half: str) -> list[str]:
        """The sets of a half that are stored."""
        return [name for name in HALVES[half] if name in self.folds]

    def n_features(self, name: str) -> int:
        """Number of columns of a set."""
        return next(
            fold["n_features"] for own in self.folds[name].values() for fold in own.values()
        )

    def recalls(self, method: str) -> dict[str, float]:
        """By made-up set: the share found of what matters, with as many features, over folds."""
        found = {}
        for name in (name for name in MAKERS if method in self.folds.get(name, {})):
            groups = MAKERS[name](MADE_SEED).groups
            shares = [recall(groups, own) for own in self.choices(name, method, len(groups))]
            found[name] = float(np.mean(shares))
        return found

    def stability(self, name: str, method: str) -> float:
        """How alike the choices of the folds are, mean over k; NaN where there is one fold only."""
        first = next(iter(self.folds[name][method].values()))
        if len(self.folds[name][method]) < 2:
            return float("nan")
        found = [
            stability(self.choices(name, method, k), first["n_features"]).index for k in first["ks"]
        ]
        return float(np.mean(found))

    def choices(self, name: str, method: str, k: int) -> list[NDArray[np.int64]]:
        """The k features chosen in each fold."""
        folds = self.folds[name][method].values()
        return [unpack(own["picks"], own["ks"])[own["ks"].index(k)] for own in folds]

    def seconds(self, name: str, method: str) -> float:
        """Mean seconds of a fold, of all k together, in a process of one thread."""
        return float(np.mean([own["seconds"] for own in self.folds[name][method].values()]))

    def rows(self) -> Iterator[dict[str, Any]]:
        """A line for each set, method, classifier and k."""
        for (name, method), own in self._errors.items():
            half = next(half for half, names in HALVES.items() if name in names)
            for (classifier, k), error in own.items():
                yield {
                    "set": name, "half": half, "method": method, "classifier": classifier, "k": k,
                    "error": round(error, 4), "folds": len(self.folds[name][method]),
                }  # fmt: skip

    @property
    def has_default(self) -> bool:
        """Whether the default can be compared."""
        return DEFAULT in self.methods


def _complete(own: dict[str, Folds]) -> dict[str, Folds]:
    """The methods that have every fold that most have, in a fixed order of folds."""
    counts = Counter(place for folds in own.values() for place in folds)
    places = sorted(place for place in counts if 2 * counts[place] >= max(counts.values()))
    return {
        method: {place: folds[place] for place in places}
        for method, folds in own.items()
        if folds.keys() >= set(places)
    }


def _mean_errors(folds: Folds) -> dict[tuple[str, int], float]:
    """By classifier and k, in percent: all wrong rows of all folds over all test rows."""
    total = sum(own["n_test"] for own in folds.values())
    wrong: dict[tuple[str, int], int] = defaultdict(int)
    for own in folds.values():
        for classifier, by_k in own["wrong"].items():
            for k, count in by_k.items():
                wrong[classifier, int(k)] += count
    return {key: 100 * count / total for key, count in wrong.items()}
