"""Selection in cross-validation: a hundred k compared with one k, without the models."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from sklearn.naive_bayes import GaussianNB

from benchmarks.counting.cases import Case
from benchmarks.selectors.every_method import warm_up
from benchmarks.selectors.options import Options
from benchmarks.selectors.record import Row, pick
from benchmarks.selectors.tables import TABLES
from benchmarks.solvers.verdict import Verdict, listing, verdict
from benchmarks.timing import REFERENCE, interleave, reference
from bestk import SelectBestKCV, __version__

PART = "curve"
LIMIT = 5.0  # times one k
MOST, ONE = 100, 50
SETS = ("breast_cancer", "madelon", "multifeat", "leukemia")
METHODS = ("tpower", "spectral", "linear", "forward", "jmi", "mrmr", "cmim")
SEARCH_SECONDS = 1.0  # for all k of a fold
SLOW = {"search": ("breast_cancer",), "lowrank": ("breast_cancer",)}  # where they end in time
FOLDS, ROUNDS = 3, 2


def measure(options: Options) -> list[Row]:
    """Every cell: both numbers of k in turn."""
    rows: list[Row] = []
    names = SETS[:1] if options.quick else SETS
    for name in names:
        case = TABLES[name](options)
        rounds = min(options.rounds, ROUNDS)
        for method, limit in _methods(name):
            label = method if limit is None else f"{method}, {limit:g} s"
            found = _cell(case, label, method, limit, 1 if method in SLOW else rounds)
            milliseconds = 1e3 * interleave({REFERENCE: reference()}, 1)[REFERENCE].best
            rows += [replace(row, reference_ms=milliseconds) for row in found]
            print(f"{PART} {name} {label}: {_ratio(*found):.2f}", flush=True)
    return rows


def _methods(name: str) -> list[tuple[str, float | None]]:
    slow = [method for method, sets in SLOW.items() if name in sets]
    return [*product((*METHODS, *slow), [None]), ("search", SEARCH_SECONDS)]


def _cell(case: Case, label: str, method: str, limit: float | None, rounds: int) -> list[Row]:
    most, one = min(MOST, case.n_features), min(ONE, case.n_features // 2)
    ranges: dict[str, Sequence[int]] = {str(one): [one], f"1..{most}": range(1, most + 1)}
    seconds: dict[str, list[float]] = {k: [] for k in ranges}
    warm_up(method, case)
    for _, (k, ks) in product(range(rounds), ranges.items()):
        selector = SelectBestKCV(
            GaussianNB(), ks, method, cv=FOLDS, time_limit=limit, random_state=0
        )
        seconds[k].append(selector.fit(case.raw, case.y).selection_seconds_)
    row = Row(PART, case.name, label, "bestk", __version__, "", case.n_features, len(case.X))
    return [
        replace(row, k=k, seconds_min=min(s), seconds_median=statistics.median(s))
        for k, s in seconds.items()
    ]


def ratios(rows: list[Row]) -> dict[tuple[str, str], float]:
    """How many times one k all of them cost, by data set and method."""
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in pick(rows, PART):
        cells.setdefault((row.case, row.contender), []).append(row)
    return {cell: _ratio(*own) for cell, own in cells.items()}


def _ratio(one: Row, many: Row) -> float:
    return many.seconds_min / one.seconds_min


def claims(rows: list[Row]) -> list[Verdict]:
    """A curve costs a few times a point."""
    found = ratios(rows)
    above = {cell: ratio for cell, ratio in found.items() if ratio > LIMIT}
    claim = f"SelectBestKCV over k = 1..{MOST} costs at most {LIMIT:g} times one k in selection"
    worst = sorted(found, key=lambda cell: -found[cell])
    told = listing((f"{m} on {case} {found[case, m]:.2f}" for case, m in worst), 8)
    return [verdict(claim, f"{len(found) - len(above)} of {len(found)}; {told}", not above, found)]
