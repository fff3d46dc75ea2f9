"""The jobs of the benchmark: a fold with one peer, or with methods that share a reading."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from typing import Any

from benchmarks.quality import methods, peers
from benchmarks.quality.folds import FOLDS, REPEATS, repeats_for, run_fold
from benchmarks.quality.sets import load
from experiments.jobs import Job
from experiments.store import Store

PART = "quality"
QUICK_SETS = ("wine", "breast_cancer", "lung", "promoter", "xor", "chains")
QUICK_FOLDS = 2
# seconds of a selection on one core, roughly: always, for each feature, and for each value
SLOW = {
    "SelectKBest mutual_info": (0.0, 2e-3, 6e-6),
    "RFE linear SVM": (0.1, 2e-4, 2e-6),
    "random forest": (0.3, 0.0, 4e-6),
    "extra trees": (0.2, 0.0, 2e-6),
    "mrmr_selection": (0.3, 4e-3, 0.0),
    "feature_engine MRMR": (1.0, 1e-2, 0.0),
    "Boruta": (3.0, 0.0, 1e-5),
    "sdp": (0.2, 4e-3, 0.0),
}
METHODS = (*methods.SELECTORS, *methods.OURS, *peers.PEERS)


@dataclass(frozen=True)
class Plan:
    """Which sets, methods and folds."""

    sets: tuple[str, ...]
    methods: tuple[str, ...] = METHODS
    data: str | None = None
    folds: int = FOLDS
    repeats: int | None = None  # as many as a set of that size has


def is_ours(name: str) -> bool:
    """Whether a method is bestk's."""
    return name in methods.OURS or name in methods.SELECTORS


def fits(name: str, n_features: int) -> bool:
    """Whether a method is one for so many features."""
    widest = peers.PEERS[name].widest if name in peers.PEERS else None
    return methods.fits(name, n_features) if is_ours(name) else n_features <= (widest or n_features)


def missing_peers(names: Sequence[str]) -> dict[str, str]:
    """Peers that are not installed, and their packages."""
    asked = {name: peers.PEERS[name] for name in names if name in peers.PEERS}
    return {name: peer.package for name, peer in asked.items() if peer.version is None}


def jobs(plan: Plan, store: Store) -> Iterator[Job]:
    """What is not in the store yet: the first fold of all sets, small ones first, then the next."""
    done = finished(store)
    shapes = {name: load(name, plan.data).X.shape for name in plan.sets}
    order = sorted(plan.sets, key=lambda name: shapes[name][0] * shapes[name][1])
    most = plan.repeats or REPEATS
    for repeat, fold, name in product(range(most), range(plan.folds), order):
        m, n = shapes[name]
        if repeat < repeats_for(m):
            names = [method for method in plan.methods if fits(method, n)]
            todo = [each for each in names if (name, repeat, fold, each) not in done]
            todo.sort(key=methods.group_of)
            for group, members in groupby(todo, key=methods.group_of):
                own = list(members)
                key = (PART, name, str(repeat), str(fold), group, "+".join(own))
                arguments = (name, plan.data, repeat, fold, own)
                yield Job(key, run_fold, arguments, cost=sum(_cost(each, m, n) for each in own))


def finished(store: Store) -> set[tuple[str, int, int, str]]:
    """Sets, repeats, folds and methods of which there are results."""
    return {(name, repeat, fold, method) for name, repeat, fold, method, _ in rows(store)}


def rows(store: Store) -> Iterator[tuple[str, int, int, str, dict[str, Any]]]:
    """What each method did in each fold; not of methods that have other settings by now."""
    groups = {method: methods.group_of(method) for method in METHODS}
    for (name, repeat, fold, group, _), result in store.under(PART):
        shape = {key: result[key] for key in ("n_test", "n_features")}
        for method, own in result["methods"].items():
            if groups.get(method) == group:
                yield name, int(repeat), int(fold), method, own | shape


def forget(path: Path, names: Sequence[str]) -> None:
    """Strike methods from the lines of a store, so that they are run again."""
    if not names or not Store(path).path.exists():
        return
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        for name in names if "result" in line else ():
            line["result"]["methods"].pop(name, None)
    kept = [line for line in lines if "start" in line or line["result"]["methods"]]
    for line in kept:
        if "key" in line:  # a new job of the same methods must not meet its own old key
            line["key"][-1] = "+".join(line["result"]["methods"])
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in kept)
    path.write_text(text)


def _cost(method: str, m: int, n: int) -> float:
    """Seconds on one core, roughly: those of the selection, and those of the fits after it."""
    always, feature, value = SLOW.get(method, (0.0, 3e-8 * n if is_ours(method) else 0.0, 0.0))
    return always + feature * n + value * m * n + 0.1 + 5e-4 * m
