"""Every method of bestk on the same table, including its bound."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from benchmarks.counting.cases import Case
from benchmarks.selectors.contenders import Job, Selector, race
from benchmarks.selectors.options import Options
from benchmarks.selectors.record import Row, pick
from benchmarks.selectors.tables import leukemia
from benchmarks.solvers.apart import call_apart
from benchmarks.solvers.record import Found
from benchmarks.solvers.verdict import Verdict, listing, verdict
from bestk import METHODS, Quadratic, SelectBestK, __version__

PART = "methods"
K = 50
LIMIT = 5.0  # seconds
SLOW = ("sdp", "exact")  # they are for few features; here with a time limit
FEW = 100  # columns, to load what a method needs
START = 8.0  # seconds, at most, until the process of a method is ready


def measure(options: Options) -> list[Row]:
    """Those that may be slow once in a process of their own; the quick ones in turn."""
    case = leukemia(options)
    late: dict[str, Row] = {}
    for name, method in METHODS.items():
        if isinstance(method, Quadratic):
            row = _once(name, case, options)
            if name in SLOW or not row.seconds_min < LIMIT:
                late[name] = row
    quick = [
        Selector(name, "bestk", "bestk", "", _fit(name)) for name in METHODS if name not in late
    ]
    rows, _ = race(PART, case, K, quick, options.rounds, options)
    return sorted([*rows, *late.values()], key=lambda row: list(METHODS).index(row.contender))


def _once(name: str, case: Case, options: Options) -> Row:
    limit = LIMIT if name in SLOW else None
    row = Row(PART, case.name, name, "bestk", __version__, str(K), case.n_features, len(case.X))
    try:
        patience = START + options.patience
        found = call_apart(_timed_fit, name, case, limit, patience=patience)
    except Exception as error:  # one method may fail in any way; the others go on
        return replace(row, note=f"failed: {type(error).__name__}: {error}"[:160])
    note = f"time_limit={limit:g} s" if limit else "timed once"
    if found.note:
        return replace(row, seconds_min=options.patience, note=f"{note}; {found.note}")
    return replace(row, seconds_min=found.seconds, seconds_median=found.seconds, note=note)


def warm_up(name: str, case: Case) -> None:
    """Compile, or load from the cache, what a method needs."""
    SelectBestK(5, name, time_limit=0.2, random_state=0).fit(case.raw[:, :FEW], case.y)


def _timed_fit(name: str, case: Case, limit: float | None) -> Found:
    """Seconds of a fit, after one on a few columns."""
    warm_up(name, case)
    start = perf_counter()
    selector = SelectBestK(K, name, time_limit=limit, random_state=0).fit(case.raw, case.y)
    return Found(perf_counter() - start, selector.solution_.objective)


def _fit(name: str) -> Callable[[Case, int, Options], Job]:
    def make(case: Case, k: int, options: Options) -> Job:
        def run() -> Any:
            return SelectBestK(k, name, random_state=0).fit(case.raw, case.y)

        run()
        return Job(run)

    return make


def claims(rows: list[Row]) -> list[Verdict]:
    """Every method but those for few features ends soon."""
    own = [row for row in pick(rows, PART) if row.contender not in SLOW]
    late = [row for row in own if row.seconds_min >= LIMIT]
    claim = f"{' and '.join(SLOW)} apart, every method takes under {LIMIT:g} s, CAIM included"
    slowest = sorted(own, key=lambda row: -row.seconds_min)[:4]
    measured = f"{len(own) - len(late)} of {len(own)}; slowest: {listing(map(_told, slowest))}"
    return [verdict(claim, measured, not late, own)]


def _told(row: Row) -> str:
    sign = ">" if "ended" in row.note else ""
    return f"{row.contender} {sign}{row.seconds_min:.2f} s"
