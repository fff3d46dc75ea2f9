"""Wide tables: the gap that seconds buy, beside that of the records before."""

from collections.abc import Iterator
from functools import partial

from benchmarks.solvers.matrices import data_sets
from benchmarks.solvers.measure import certify, job
from benchmarks.solvers.options import Options
from benchmarks.solvers.record import Job, Row, pick
from benchmarks.solvers.verdict import Verdict, listing, verdict

PART, BEFORE = "wide", "before"  # rows of an earlier version stay in the record
GOALS = {"colon": 0.1, "lymphoma": 2.0, "gisette_like": 5.0, "leukemia": 15.0}  # percent
K = 20
SHARES = (1 / 12, 1 / 3, 1)  # of the time for a proved gap


def jobs(options: Options) -> Iterator[Job]:
    """Each table of ``GOALS``, with more and more time."""
    for matrix in data_sets(options.data):
        for share in SHARES if matrix.name in GOALS and not options.quick else ():
            limit = share * options.gap_seconds
            yield job(PART, matrix, K, "choice+bound", partial(certify, limit=limit), limit=limit)


def claims(rows: list[Row], options: Options) -> list[Verdict]:
    """The gaps that are promised."""
    own = [row for row in pick(rows, PART) if row.limit == options.gap_seconds]
    text = [f"{row.case} {row.gap:.3g}%" for row in own]
    kept = all(row.gap <= GOALS[row.case] for row in own)
    goals = listing(f"{name} {goal:g}%" for name, goal in GOALS.items())
    claim = f"wide tables, k = {K}, in {options.gap_seconds:g} s: gaps at most {goals}"
    return [verdict(claim, listing(text), kept, own)]


def before_and_after(rows: list[Row], name: str) -> dict[str, list[Row]]:
    """The gaps of a table by time, as recorded before and now."""
    found = {
        "before": pick(rows, BEFORE, "choice+bound", case=name, k=K),
        "after": pick(rows, PART, "choice+bound", case=name),
    }
    return {label: sorted(own, key=lambda row: row.limit) for label, own in found.items()}
