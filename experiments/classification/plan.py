"""The jobs of the test of classification, in their order, and what each may cost."""

from collections.abc import Iterator
from dataclasses import dataclass

from experiments import datasets
from experiments.classification.methods import FEW_DRAWS, HUGE, NAMES, all_ks, ks_for
from experiments.classification.steps import (
    FOLDS,
    LEAVE_ONE_OUT,
    errors_inside_fold,
    errors_of_fold,
    errors_on_all,
    select_on_all,
)
from experiments.classification.svm import is_small
from experiments.datasets import DATASETS
from experiments.jobs import Job

PART = "classification"
WITH_STATES = ("colon", "leukemia", "lung", "lymphoma")  # the sets from the page of mRMR


@dataclass(frozen=True)
class Plan:
    """Which part of the test is wanted."""

    sets: tuple[str, ...]
    data: str | None = None
    protocols: tuple[str, ...] = ("paper", "nested", "states")
    step: int = 1  # between numbers of features
    folds: int | None = None  # at most so many of each set, the first

    def ks(self, n: int) -> list[int]:
        """The numbers of features of a set."""
        return all_ks(n)[:: self.step]

    def n_folds(self, m: int) -> int:
        """How many folds of a set are run."""
        every = m if m <= LEAVE_ONE_OUT else FOLDS
        return every if self.folds is None else min(every, self.folds)


def jobs(plan: Plan) -> Iterator[Job]:
    """All protocols, the paper's first; within one the cheap sets first."""
    order = sorted(plan.sets, key=lambda name: DATASETS[name].n * min(DATASETS[name].m, 1000))
    if "paper" in plan.protocols:
        for name in order:
            yield from _once(name, plan, "paper")
        for name in order:
            yield from _all_features(name, plan)
    if "nested" in plan.protocols:
        for name in order:
            yield from _nested(name, plan, [method for method in NAMES if method != "sdp"], "folds")
    if "states" in plan.protocols:
        for name in order:
            if name in WITH_STATES:
                yield from _once(name, plan, "states")
    if "nested" in plan.protocols:
        for name in order:
            yield from _nested(name, plan, ["sdp"], "sdp")


def _all_features(name: str, plan: Plan) -> Iterator[Job]:
    entry = DATASETS[name]
    versions = ("standardised", "unscaled", *(["states"] if name in WITH_STATES else []))
    for version in versions:
        for fold in range(plan.n_folds(entry.m)):
            key = (PART, name, "all", version, str(fold))
            cost = 0.05 + entry.m * entry.n * 1e-7
            yield Job(key, errors_on_all, (name, plan.data, fold, version), cost=cost)


def _once(name: str, plan: Plan, protocol: str) -> Iterator[Job]:
    """Features are selected once, from all rows; then folds."""
    entry = DATASETS[name]
    ks = plan.ks(entry.n)
    needs = []
    for method in NAMES:
        own = ks_for(method, entry.n, protocol, ks)
        needs.append((PART, name, protocol, "selection", method))
        cost = selection_cost(method, entry.n, entry.m, len(own), protocol)
        yield Job(needs[-1], select_on_all, (name, plan.data, protocol, method, own), cost=cost)
    for fold in range(plan.n_folds(entry.m)):
        key = (PART, name, protocol, "folds", str(fold))
        cost = fit_cost(entry, len(ks) * len(NAMES))
        yield Job(key, errors_of_fold, (name, plan.data, protocol, fold), tuple(needs), cost)


def _nested(name: str, plan: Plan, methods: list[str], kind: str) -> Iterator[Job]:
    entry = DATASETS[name]
    wanted = {method: ks_for(method, entry.n, "nested", plan.ks(entry.n)) for method in methods}
    cost = fit_cost(entry, sum(map(len, wanted.values())))
    for method, ks in wanted.items():
        cost += selection_cost(method, entry.n, entry.m, len(ks), "nested")
    for fold in range(plan.n_folds(entry.m)):
        key = (PART, name, "nested", kind, str(fold))
        yield Job(key, errors_inside_fold, (name, plan.data, fold, wanted), cost=cost)


def selection_cost(method: str, n: int, m: int, n_ks: int, protocol: str) -> float:
    """Seconds on one core, roughly."""
    light = protocol == "nested" or (protocol == "states" and n >= HUGE)
    pairs = n * n * (2e-8 + 1e-11 * m)
    if method == "lowrank":
        draws = FEW_DRAWS if light else 926_519
        return pairs + draws * (1e-6 + n * 3e-9) + n_ks * 2e-6 * n
    if method == "search":
        return pairs + n_ks * n * (5e-6 if light or n >= HUGE else 1e-4)
    if method == "sdp":
        return pairs + n_ks * (0.05 + n * n * 2e-7)
    return pairs + (n * n * 8e-8 if method == "qpfs" else 0.0)


def fit_cost(entry: datasets.Entry, fits: int) -> float:
    """Seconds on one core, roughly, for the fits of a fold."""
    small = is_small(entry.m, entry.c)
    one = 7e-4 + 1.2e-5 * entry.m * entry.c**0.2 if small else 2e-6 * entry.m
    return 0.3 + 0.7 * fits * one
