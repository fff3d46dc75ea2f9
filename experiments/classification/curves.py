"""From stored folds to errors by method and k, and to comparisons."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk.evaluation import Comparison, win_tie_loss
from experiments.classification.methods import NAMES
from experiments.classification.plan import PART
from experiments.store import Store

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """Errors of a method on a set: a row for each k, a column for each fold."""

    ks: tuple[int, ...]
    errors: Floats  # shares of wrong test rows
    sizes: NDArray[np.int64]  # test rows of each fold

    @property
    def mean(self) -> Floats:
        """Mean over folds, in percent, for each k."""
        return 100 * self.errors.mean(axis=1)

    def at(self, ks: list[int]) -> Floats:
        """The errors for some k only."""
        return self.errors[[self.ks.index(k) for k in ks]]


Curves = dict[str, Curve]  # by method


def read_curves(store: Store, name: str, protocol: str) -> Curves:
    """The curves of a data set in a protocol, of all folds that are stored."""
    found: dict[str, dict[int, Any]] = defaultdict(dict)
    for (kind, fold), result in store.under(PART, name, protocol):
        if kind != "selection":
            for method, wrong in result["wrong"].items():
                found[method][int(fold)] = wrong, result["ks"][method], result["n_test"]
    return {method: _curve(found[method]) for method in NAMES if method in found}


def _curve(folds: dict[int, Any]) -> Curve:
    rows = [folds[fold] for fold in sorted(folds)]
    wrong = np.array([own[0] for own in rows], float).T
    sizes = np.array([own[2] for own in rows])
    return Curve(tuple(rows[0][1]), wrong / sizes, sizes)


def compare(curves: Curves, ours: str, other: str) -> Comparison | None:
    """One method against another for the k that both have, on the folds that both have."""
    if ours not in curves or other not in curves:
        return None
    first, second = curves[ours], curves[other]
    ks = [k for k in first.ks if k in second.ks]
    folds = min(first.errors.shape[1], second.errors.shape[1])
    if folds < 2 or not ks:
        return None
    return win_tie_loss(first.at(ks)[:, :folds], second.at(ks)[:, :folds])


def all_features_error(store: Store, name: str, version: str) -> float:
    """Mean error over folds in percent on all features; NaN where nothing is stored."""
    rows = [result for _, result in store.under(PART, name, "all", version)]
    return 100 * float(np.mean([r["wrong"] / r["n_test"] for r in rows])) if rows else np.nan


def rows(store: Store, names: list[str], protocols: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """A line for each set, protocol, method and k, for a table of all errors."""
    for name in names:
        for protocol in protocols:
            for method, curve in read_curves(store, name, protocol).items():
                n_folds = curve.errors.shape[1]
                spread = (
                    curve.errors.std(axis=1, ddof=1)
                    if n_folds > 1
                    else np.full(len(curve.ks), np.nan)
                )
                for k, error, deviation in zip(curve.ks, curve.mean, 100 * spread, strict=True):
                    yield {
                        "set": name, "protocol": protocol, "method": method, "k": k,
                        "error": round(float(error), 4), "deviation": round(float(deviation), 4),
                        "folds": n_folds,
                    }  # fmt: skip
