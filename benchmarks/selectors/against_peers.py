"""JMI and mRMR on many genes of few patients, in all packages that have them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.counting.cases import Case
from benchmarks.selectors.agreement import agreement
from benchmarks.selectors.contenders import Job, Selector, race
from benchmarks.selectors.options import Options
from benchmarks.selectors.peers import PEERS
from benchmarks.selectors.record import Row, pick
from benchmarks.selectors.silence import silent
from benchmarks.selectors.tables import leukemia
from benchmarks.solvers.verdict import Verdict, listing, verdict
from bestk import SelectBestK

PART = "peers"
K = 50
LIMIT = 0.01  # of the time of the fastest peer
DIFFERS = "DIFFERS"
Make = Callable[[Case, int, Options], Job]


def _numbers(method: str) -> Make:
    """From the table of numbers to the names of the features."""

    def make(case: Case, k: int, options: Options) -> Job:
        return _warm(lambda: SelectBestK(k, method).fit(case.raw, case.y).get_feature_names_out())

    return make


def _frame(method: str) -> Make:
    def make(case: Case, k: int, options: Options) -> Job:
        import pandas as pd

        X = pd.DataFrame(case.raw, columns=[f"gene {i}" for i in range(case.n_features)])
        return _warm(lambda: SelectBestK(k, method).fit(X, case.y).get_feature_names_out())

    return make


def _codes(method: str) -> Make:
    """From codes, which is where the peers start that count."""

    def make(case: Case, k: int, options: Options) -> Job:
        return _warm(lambda: SelectBestK(k, method, discretizer=None).fit(case.X, case.y))

    return make


def _warm(run: Callable[[], Any]) -> Job:
    run()
    return Job(run)


def _ours(name: str, criterion: str, make: Make) -> Selector:
    return Selector(f"bestk {name}", "bestk", "bestk", criterion, make, threads=None)


FROM_CODES, FROM_NUMBERS = "bestk jmi, from codes", "bestk jmi, numbers to names"
OURS = (
    _ours("jmi, from codes", "JMI", _codes("jmi")),
    _ours("mrmr, from codes", "mRMR", _codes("mrmr")),
    _ours("jmi, numbers to names", "JMI", _numbers("jmi")),
    _ours("mrmr, numbers to names", "mRMR", _numbers("mrmr")),
    _ours("jmi, pandas to names", "JMI", _frame("jmi")),
)


def measure(options: Options) -> list[Row]:
    """Everyone in turn, then a look at what was picked."""
    case = leukemia(options)
    rows, jobs = race(PART, case, K, (*OURS, *PEERS), options.rounds, options)
    return [_checked(row, jobs, case) for row in rows]


def _checked(row: Row, jobs: dict[str, Job], case: Case) -> Row:
    job = jobs.get(row.contender)
    if job is None or job.check is None or not row.timed:
        return row
    with silent():
        found = agreement(job.check, case)
    told = str(found) if found.holds else f"{DIFFERS}: {found}"
    return replace(row, note="; ".join(text for text in (row.note, told) if text))


def claims(rows: list[Row]) -> list[Verdict]:
    """Under a hundredth of the time of the fastest peer, and the same picks."""
    peers = sorted(pick(rows, PART, "peer"), key=lambda row: row.seconds_min)
    own = {row.contender: row for row in pick(rows, PART, "bestk")}
    found = [
        _faster(own[name], peers[0], text)
        for name, text in ((FROM_CODES, "from codes"), (FROM_NUMBERS, "from numbers, with CAIM"))
        if name in own and peers
    ]
    checked = [row for row in peers if "picks as bestk" in row.note]
    wrong = [row.contender for row in checked if DIFFERS in row.note]
    same = "peers that count pick what bestk picks by the same criterion, ties apart"
    measured = f"{len(checked)} compared" + (f"; not so: {listing(wrong)}" if wrong else "")
    return [*found, verdict(same, measured, not wrong, checked)]


def _faster(ours: Row, fastest: Row, text: str) -> Verdict:
    share = ours.seconds_min / fastest.seconds_min
    claim = f"JMI, k = {ours.k}, {text}: under {LIMIT:.0%} of the fastest package on PyPI"
    measured = (
        f"{1e3 * ours.seconds_min:.1f} ms, {100 * share:.2f}% of {fastest.seconds_min:.2f} s "
        f"({fastest.contender} {fastest.version})"
    )
    return Verdict(claim, measured, share < LIMIT)
