"""From stored folds to errors by method and k, and to comparisons."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from experiments.classification.methods import COARSE, NAMES
from experiments.classification.plan import PART
from experiments.classification.steps import FOLDS
from experiments.comparison import Comparison, win_tie_loss
from experiments.store import Store

Floats = NDArray[np.float64]
ALPHA = 0.05  # level of the one-sided tests


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors of a method on a set: a row for each k, a column for each fold."""

    ks: tuple[int, ...]
    errors: Floats  # shares of wrong test rows
    sizes: NDArray[np.int64]  # test rows of each fold

    @property
    def mean(self) -> Floats:
        """Mean over folds, in percent, for each k."""
        return 100 * self.errors.mean(axis=1)

    def at(self, ks: Sequence[int]) -> Floats:
        """The errors for some k only."""
        return self.errors[[self.ks.index(k) for k in ks]]

    def only(self, ks: Sequence[int]) -> "Curve":
        """The curve of those k that are among some."""
        kept = tuple(k for k in self.ks if k in ks)
        return Curve(kept, self.at(kept), self.sizes)


Curves = dict[str, Curve]  # by method
Folds = dict[int, tuple[dict[int, int], int]]  # by fold: wrong test rows for each k, and test rows


def methods_with_every_k(sets: Iterable[Curves]) -> list[str]:
    """The methods that have all k of a set on every set."""
    return [m for m in NAMES if all(
        m in own and len(own[m].ks) == max(len(curve.ks) for curve in own.values())
        for own in sets)]  # fmt: skip


def read_curves(store: Store, name: str, protocol: str, seed: int | None = None) -> Curves:
    """The curves of a data set in a protocol, of all folds that are stored.

    With a seed, those of the folds that it makes, for the k that every seed has.
    """
    found: dict[str, Folds] = defaultdict(dict)
    for (kind, fold), result in store.under(PART, name, protocol):
        if kind == "selection" or (kind == "again" and int(fold) // FOLDS != seed):
            continue
        if seed and kind != "again":
            continue
        for method, wrong in result["wrong"].items():
            errors = dict(zip(result["ks"][method], wrong, strict=True))
            if seed is not None:
                errors = {k: count for k, count in errors.items() if k in COARSE}
            known, _ = found[method].setdefault(int(fold), ({}, result["n_test"]))
            known.update(errors)
    return {method: _curve(found[method]) for method in NAMES if method in found}


def _curve(folds: Folds) -> Curve:
    """The curve for the k that all folds have."""
    rows = [folds[fold] for fold in sorted(folds)]
    ks = sorted(set.intersection(*(set(errors) for errors, _ in rows)))
    wrong = np.array([[errors[k] for errors, _ in rows] for k in ks], float)
    sizes = np.array([size for _, size in rows])
    return Curve(tuple(ks), wrong / sizes, sizes)


def compare(curves: Curves, ours: str, other: str) -> Comparison | None:
    """One method against another for the k that both have, on the folds that both have."""
    if ours not in curves or other not in curves:
        return None
    return _compare(curves[ours], curves[other])


@cache
def _compare(first: Curve, second: Curve) -> Comparison | None:
    ks = [k for k in first.ks if k in second.ks]
    folds = min(first.errors.shape[1], second.errors.shape[1])
    if folds < 2 or not ks:
        return None
    return win_tie_loss(first.at(ks)[:, :folds], second.at(ks)[:, :folds], ALPHA)


@dataclass(frozen=True)
class AllFeatures:
    """Errors on all features, fold by fold."""

    errors: Floats  # shares of wrong test rows
    sizes: NDArray[np.int64]  # test rows of each fold
    to_smallest: int  # test rows that are assigned to one of the smallest classes

    @property
    def mean(self) -> float:
        """Mean error in percent; NaN where nothing is stored."""
        return 100 * float(self.errors.mean()) if len(self.errors) else np.nan

    @property
    def fold_noise(self) -> float:
        """Standard error in percent of a mean over ten folds; NaN for leave-one-out."""
        if len(self.errors) < FOLDS or self.sizes.max() == 1:
            return np.nan
        return 100 * float(self.errors.std(ddof=1) / np.sqrt(FOLDS))


def all_features(store: Store, name: str, version: str) -> AllFeatures:
    """What is stored of the errors on all features."""
    found = store.under(PART, name, "all", version)
    rows = sorted(((int(fold), row) for (fold,), row in found), key=lambda pair: pair[0])
    sizes = np.array([row["n_test"] for _, row in rows], np.int64)
    wrong = np.array([row["wrong"] for _, row in rows], np.float64)
    return AllFeatures(wrong / sizes, sizes, sum(row.get("to_smallest", 0) for _, row in rows))
