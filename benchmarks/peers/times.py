"""Time a selection on one table, for all packages in turn.

Seconds are those of the processors, which say the same on a busy machine as on a quiet one; time by
the clock stands beside them.
"""

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peers import tables
from benchmarks.peers.answers import one_line
from benchmarks.peers.peer import Peer
from benchmarks.peers.record import Row, context, release_date
from benchmarks.selectors.silence import silent

SLOW = 5.0  # seconds from which one run is enough
TABLE = (
    f"{tables.TIMED_K} of {tables.TIMED_COLUMNS} columns, {tables.TIMED_ROWS} rows, "
    f"{tables.LEVELS} levels, 3 classes"
)


@dataclass
class Job:
    """One criterion of one peer, ready to run, and how long it took."""

    peer: Peer
    name: str
    run: Callable[[], Any]
    seconds: list[tuple[float, float]] = field(default_factory=list)  # of processors, and all
    error: str = ""


def time_peers(peers: Iterable[Peer], rounds: int) -> list[Row]:
    """Rows of the best time of each criterion; the first run, which may compile, does not count."""
    jobs = [job for peer in peers for job in _jobs(peer)]
    with warnings.catch_warnings(action="ignore"), silent():
        for number in range(rounds + 1):
            for job in jobs:
                _run(job, number)
    return [_row(job) for job in jobs]


def _jobs(peer: Peer) -> list[Job]:
    codes, numbers, y = tables.timed()
    table = peer.prepare(codes if (peer.timed_on or peer.needs) == "codes" else numbers)
    return [
        Job(peer, name, lambda pick=pick: pick(table, y, tables.TIMED_K))
        for name, pick in peer.contenders().items()
    ]


def _run(job: Job, number: int) -> None:
    slow = bool(job.seconds) and min(job.seconds)[0] > SLOW
    if job.error or slow:
        return
    start, processors = time.perf_counter(), time.process_time()
    try:
        job.run()
    except Exception as error:
        job.error = f"{type(error).__name__}: {error}"
        return
    seconds = time.process_time() - processors, time.perf_counter() - start
    if number > 0 or seconds[0] > SLOW:
        job.seconds.append(seconds)


def _row(job: Job) -> Row:
    peer, number = job.peer, job.peer.version or ""
    answer, evidence = "no", one_line(job.error)
    if job.seconds:
        least, wall = (min(values) for values in zip(*job.seconds, strict=True))
        answer = f"{least:.3g}"
        evidence = f"{TABLE}; best of {len(job.seconds)}; {wall:.3g} s by the clock"
    released = release_date(peer.package, number)
    return Row(
        peer.name, number, released, f"time: {job.name}", answer, evidence, "run", **context()
    )
