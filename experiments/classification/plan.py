"""The jobs of the test of classification, in their order, and what each may cost."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from experiments import datasets
from experiments.classification.methods import (
    COARSE,
    FEW_DRAWS,
    HUGE,
    LARGE,
    NAMES,
    PRINTED,
    all_ks,
    ks_for,
)
from experiments.classification.protocols import ABLATIONS, CODINGS, EVERY, ORDERS, WITH_STATES
from experiments.classification.steps import (
    FOLDS,
    LEAVE_ONE_OUT,
    VERSIONS,
    Place,
    Selection,
    errors_inside_fold,
    errors_of_coding,
    errors_of_fold,
    errors_on_all,
    select_on_all,
)
from experiments.classification.svm import is_small
from experiments.datasets import DATASETS
from experiments.jobs import Job

PART = "classification"
SEEDS = 5  # of folds where there are more than LEAVE_ONE_OUT rows; all but the first for few k
FORMS = ("tpower",)  # the published form, added to the protocols that were run before
BEFORE = tuple(name for name in NAMES if name not in ("lowrank", "tpower"))
ABLATED = ("maxrel", "mrmr", "jmi", "tpower")
# Sets whose folds were run for all methods and k at once. On the others the columns of Tables 3
# and 4 are run in steps: every tenth k, the other even ones, the odd ones.
AT_ONCE = ("colon", "madelon", "optdigits", "promoter", "spambase", "waveform")
STEPS: dict[str, Callable[[int], bool]] = {
    "tens": lambda k: k % 10 == 0,
    "even": lambda k: k % 2 == 0 and k % 10 != 0,
    "odd": lambda k: k % 2 == 1,
}


@dataclass(frozen=True)
class Plan:
    """Which part of the test is wanted."""

    sets: tuple[str, ...]
    data: str | None = None
    protocols: tuple[str, ...] = ("authors", "ablation", "paper", "nested")
    step: int = 1  # between numbers of features
    folds: int | None = None  # at most so many of each set, the first
    draws: int | None = None  # of LowRank, in place of the published number

    @property
    def is_quick(self) -> bool:
        """Whether only some folds are run, of one seed."""
        return self.folds is not None

    @property
    def ordered(self) -> list[str]:
        """The sets, cheap ones first."""
        return sorted(self.sets, key=lambda name: DATASETS[name].n * min(DATASETS[name].m, 1000))

    def ks(self, n: int) -> list[int]:
        """The numbers of features of a set."""
        return all_ks(n)[:: self.step]

    def n_folds(self, m: int) -> int:
        """How many folds of a set are run."""
        every = m if m <= LEAVE_ONE_OUT else FOLDS
        return every if self.folds is None else min(every, self.folds)

    def seeds(self, m: int) -> int:
        """How many times a set is cut into folds."""
        return SEEDS if m > LEAVE_ONE_OUT and not self.is_quick else 1


def jobs(plan: Plan) -> Iterator[Job]:
    """All protocols, the authors' first; within one the cheap sets first."""
    if "authors" in plan.protocols:
        yield from _authors(plan)
    if "ablation" in plan.protocols:
        for name in (name for name in plan.ordered if name in WITH_STATES):
            for protocol in ABLATIONS:
                yield from _once(name, plan, protocol, "folds", ABLATED)
            yield from _once(name, plan, "authors", "warm", ("tpower-warm",))
        if "promoter" in plan.sets and not plan.is_quick:
            for protocol in CODINGS:
                yield from _once("promoter", plan, protocol, "folds", PRINTED)
    if "paper" in plan.protocols:
        for name in plan.ordered:
            yield from _once(name, plan, "paper", "folds", BEFORE)
            yield from _once(name, plan, "paper", "published", FORMS)
    if "nested" in plan.protocols:
        groups = {"folds": [m for m in BEFORE if m != "sdp"], "sdp": ["sdp"], "published": FORMS}
        for kind, methods in groups.items():
            for name in plan.ordered:
                yield from _nested(name, plan, methods, kind)


def _authors(plan: Plan) -> Iterator[Job]:
    for name in plan.ordered:
        yield from _all_features(name, plan)
        if name in AT_ONCE or plan.is_quick:
            yield from _once(name, plan, "authors", "folds", _with_sdp(name, NAMES))
    for kind in STEPS if not plan.is_quick else ():
        for name in plan.ordered:
            if name not in AT_ONCE:
                yield from _once(name, plan, "authors", kind, _with_sdp(name, PRINTED))
            if kind == "even":
                yield from _again(name, plan)


def _with_sdp(name: str, methods: Sequence[str]) -> tuple[str, ...]:
    """Methods; SDP where the paper has it."""
    return tuple(m for m in methods if m != "sdp" or DATASETS[name].n < LARGE)


def _all_features(name: str, plan: Plan) -> Iterator[Job]:
    """Table 2: the first cut into folds, then the others."""
    entry = DATASETS[name]
    for version in VERSIONS:
        if version == "states" and name not in WITH_STATES:
            continue
        if VERSIONS[version][2] == "liblinear" and entry.stands_in_for:
            continue  # as sparse rows it takes half a gigabyte
        seeds = plan.seeds(entry.m) if version == "authors" else 1
        for fold in range(seeds * plan.n_folds(entry.m)):
            key = (PART, name, "all", version, str(fold))
            cost = 0.05 + entry.m * entry.n * 1e-7
            yield Job(key, errors_on_all, (name, plan.data, fold, version), cost=cost)
    if name == "promoter":
        for letters in ("one-hot", *ORDERS):
            key = (PART, name, "coding", letters)
            count = plan.seeds(entry.m) * plan.n_folds(entry.m)
            yield Job(key, errors_of_coding, (plan.data, letters, count))


def _once(name: str, plan: Plan, protocol: str, kind: str, methods: Sequence[str]) -> Iterator[Job]:
    """Features are selected once, from all rows; then folds."""
    entry, source = DATASETS[name], EVERY[protocol].source_of(name)
    ks, needs = plan.ks(entry.n), []
    for method in methods:
        own = ks_for(method, entry.n, False, ks)
        needs.append((PART, name, source, "selection", method))
        cost = selection_cost(method, entry, len(own), plan.draws)
        wanted = Selection(name, plan.data, source, method, plan.draws)
        yield Job(needs[-1], select_on_all, (wanted, own), cost=cost)
    step = STEPS["tens"] if kind == "warm" or protocol in ABLATIONS else STEPS.get(kind)
    ks = [k for k in ks if step is None or step(k)]
    cost = fit_cost(entry, len(ks) * len(methods))
    for fold in range(plan.n_folds(entry.m)):
        key, place = (PART, name, protocol, kind, str(fold)), Place(name, plan.data, protocol, fold)
        yield Job(key, errors_of_fold, (place, methods, ks), tuple(needs), cost)


def _again(name: str, plan: Plan) -> Iterator[Job]:
    """More folds of the authors' protocol, for few k."""
    entry, methods = DATASETS[name], _with_sdp(name, PRINTED)
    needs = tuple((PART, name, "paper", "selection", method) for method in methods)
    ks = [k for k in plan.ks(entry.n) if k in COARSE]
    for fold in range(FOLDS, FOLDS * plan.seeds(entry.m)):
        place = Place(name, plan.data, "authors", fold)
        cost = fit_cost(entry, len(ks) * len(methods))
        yield Job((PART, name, "authors", "again", str(fold)), errors_of_fold,
                  (place, methods, ks), needs, cost)  # fmt: skip


def _nested(name: str, plan: Plan, methods: Sequence[str], kind: str) -> Iterator[Job]:
    entry = DATASETS[name]
    wanted = {method: ks_for(method, entry.n, True, plan.ks(entry.n)) for method in methods}
    cost = fit_cost(entry, sum(map(len, wanted.values())))
    for method, ks in wanted.items():
        cost += selection_cost(method, entry, len(ks), FEW_DRAWS)
    for fold in range(plan.n_folds(entry.m)):
        place = Place(name, plan.data, "nested", fold)
        yield Job((PART, name, "nested", kind, str(fold)), errors_inside_fold, (place, wanted),
                  cost=cost)  # fmt: skip


def selection_cost(method: str, entry: datasets.Entry, n_ks: int, draws: int | None) -> float:
    """Seconds on one core, roughly."""
    n = entry.n
    pairs = n * n * (2e-8 + 1e-11 * entry.m)
    if method.startswith("lowrank"):
        return pairs + (draws or 926_519) * (1e-6 + n * 3e-9) + n_ks * 2e-6 * n
    if method == "search":
        return pairs + n_ks * n * (5e-6 if draws or n >= HUGE else 1e-4)
    if method == "sdp":
        return pairs + n_ks * (0.05 + n * n * 2e-7)
    return pairs + (n * n * 8e-8 if method == "qpfs" else 0.0)


def fit_cost(entry: datasets.Entry, fits: int) -> float:
    """Seconds on one core, roughly, for the fits of a fold."""
    small = is_small(entry.m, entry.c)
    one = 7e-4 + 1.2e-5 * entry.m * entry.c**0.2 if small else 2e-6 * entry.m
    return 0.3 + 0.7 * fits * one
