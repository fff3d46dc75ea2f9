"""The semidefinite relaxation at large sizes: primal-dual distance, time and memory."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.solvers.apart import call_apart
from benchmarks.solvers.matrices import from_data, random_matrix
from benchmarks.solvers.measure import run
from benchmarks.solvers.options import Options
from benchmarks.solvers.record import Found, Job, Row, pick
from benchmarks.solvers.verdict import Verdict, listing, verdict
from bestk.bqp.problem import BQP

PART = "sdp"
PROMISES = {1000: (20.0, 0.1), 2000: (60.0, 0.5), 5000: (180.0, 1.0)}  # seconds, percent
QUICK = {300: (3.0, 0.1), 600: (6.0, 0.1)}
LARGEST = ("leukemia", 180.0)
MEMORY_MB = 1500.0


def jobs(options: Options) -> Iterator[Job]:
    """Random matrices with k = n/10, and the largest data set as far as time allows."""
    for n, (limit, _) in (QUICK if options.quick else PROMISES).items():
        yield _job("random", n, n // 10, limit, None)
    path = None if options.data is None else options.data / f"{LARGEST[0]}.npz"
    if path is not None and path.exists() and not options.quick:
        yield _job(LARGEST[0], from_data(path).n, 50, LARGEST[1], path)


def _job(case: str, n: int, k: int, limit: float, path: Path | None) -> Job:
    def apart() -> Found:
        return call_apart(relax, n, k, limit, path, patience=4 * limit + 120)

    return Job(PART, case, n, k, "sdp", apart, 0, limit)


def relax(n: int, k: int, limit: float, path: Path | None) -> Found:
    """Solve one relaxation; its process holds nothing else."""
    Q = random_matrix(n, 0) if path is None else from_data(path).make()
    return run(BQP(Q, k), "sdp", 0, limit)


def distance(row: Row) -> float:
    """Between the relaxation and its proved bound, in percent."""
    value = row.details["relaxation"]
    return 100 * (row.upper_bound - value) / abs(value)


def claims(rows: list[Row], options: Options) -> list[Verdict]:
    """Distance, time and memory at each size."""
    own = pick(rows, PART, "sdp")
    verdicts = []
    for n, (limit, percent) in (QUICK if options.quick else PROMISES).items():
        one = [row for row in own if row.n == n and row.limit == limit]
        text = [f"{distance(row):.4f}% in {row.seconds:.1f} s" for row in one]
        holds = all(distance(row) <= percent and row.seconds <= 1.02 * limit for row in one)
        claim = f"sdp: primal-dual distance at most {percent}% at n = {n} in {limit:g} s"
        verdicts.append(verdict(claim, listing(text), holds, one))
    text = [f"{r.case} n = {r.n}: {r.memory_mb:.0f} MB, Q {8e-6 * r.n**2:.0f} MB" for r in own]
    small = all(r.memory_mb <= MEMORY_MB for r in own if r.case == "random")
    claim = f"sdp: under {MEMORY_MB / 1000:g} GB at these sizes, the whole process"
    return [*verdicts, verdict(claim, listing(text), small, own)]
