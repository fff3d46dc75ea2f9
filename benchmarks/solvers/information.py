"""Matrices of information of real data: objective of each solver, and gap by time."""

from collections.abc import Iterator
from functools import partial
from math import inf

from benchmarks.solvers.matrices import Matrix, data_sets, from_data, made_information
from benchmarks.solvers.measure import certify, job, run
from benchmarks.solvers.options import Options
from benchmarks.solvers.record import Job, Row, pick
from benchmarks.solvers.verdict import Verdict, listing, verdict
from bestk.bqp.solvers import SOLVERS

PART = "information"
KS = (10, 20, 50)
INSTANT = ("linear", "spectral", "tpower", "forward")  # no time limit needed
SHARES = (1 / 4, 1)  # of the time for a proved gap
PROOF_SIZE = 700  # up to this size the proof is tried as well
QUICK_SETS = ("waveform", "promoter", "spambase", "optdigits")


def jobs(options: Options) -> Iterator[Job]:
    """Every data set and k, then made-up tables of the sizes that are promised something."""
    for matrix in data_sets(options.data):
        if options.quick and matrix.name not in QUICK_SETS:
            continue
        for k in KS[:2] if options.quick else KS:
            if k < matrix.n:
                yield from _objectives(matrix, k, options.second)
                yield from _gaps(matrix, k, options.gap_seconds)
    for matrix, k, factor in _promised(options):
        yield from _gaps(matrix, k, factor * options.gap_seconds)


def _promised(options: Options) -> list[tuple[Matrix, int, float]]:
    """Tables by name, k, and how many times the usual time their gap is given."""
    if options.quick:
        return [(made_information("made, well sampled", 100, 2000), 10, 1.0)]
    made = [
        (made_information("made, well sampled", 500, 5000), 50, 1.0),
        (made_information("made, few samples", 500, 72), 50, 1.0),
        (made_information("made, well sampled", 1500, 5000), 100, 2.0),
        (made_information("made, few samples", 1500, 72), 100, 2.0),
    ]
    path = None if options.data is None else options.data / "gisette_like.npz"
    if path is not None and path.exists():
        made.append((from_data(path, first=1500), 100, 2.0))
    return made


def _objectives(matrix: Matrix, k: int, second: float) -> Iterator[Job]:
    """Each solver once; those that search or relax have a second, or ten."""
    for name in SOLVERS:
        if name != "exact":
            limit = inf if name in INSTANT else second
            limit = 10 * second if name in ("lowrank", "sdp", "simplex") else limit
            task = partial(run, solver=name, limit=limit)
            yield job(PART, matrix, k, name, task, limit=limit)


def _gaps(matrix: Matrix, k: int, seconds: float) -> Iterator[Job]:
    for share in SHARES:
        limit = share * seconds
        yield job(PART, matrix, k, "choice+bound", partial(certify, limit=limit), limit=limit)
    if matrix.n <= PROOF_SIZE:
        task = partial(run, solver="exact", limit=seconds)
        yield job(PART, matrix, k, "exact", task, limit=seconds)


def claims(rows: list[Row], options: Options) -> list[Verdict]:
    """The gaps that are promised by size, and what there is to see of every data set."""
    T = options.gap_seconds
    gaps = pick(rows, PART, "choice+bound")
    small = [r for r in gaps if r.n <= 500 and r.limit == T]
    large = [r for r in gaps if r.n == 1500 and r.limit == 2 * T]
    return [
        _at_most(small, f"information matrices, n <= 500: gap at most 0.1% in {T:g} s", 0.1),
        _at_most(large, f"information matrices, n = 1500: gap at most 0.5% in {2 * T:g} s", 0.5),
        _proved(pick(rows, PART, "exact"), T),
        _best_objective(rows),
    ]


def _at_most(rows: list[Row], claim: str, percent: float) -> Verdict:
    over = [f"{r.case} n={r.n} k={r.k} {r.gap:.3f}%" for r in rows if not r.gap <= percent]
    worst = max((r.gap for r in rows), default=inf)
    measured = f"{len(rows) - len(over)} of {len(rows)} cases, worst {worst:.4f}%"
    measured += f"; over: {listing(over, 12)}" if over else ""
    return verdict(claim, measured, not over, rows)


def _proved(rows: list[Row], seconds: float) -> Verdict:
    """Exact on well-sampled tables of 500 columns; what it says of the others."""
    own = [r for r in rows if r.n == 500 and r.k <= 50 and "few" not in r.case]
    text = [
        f"{r.case} k={r.k} "
        + ("proved" if r.details.get("optimal") else "{proved_in} in, {proved_out} out, {open} open"
           .format(**r.details))
        + f" in {r.seconds:.1f} s"
        for r in own
    ]  # fmt: skip
    done = all(r.details.get("optimal") for r in own)
    claim = f"exact proves information matrices, n = 500, k <= 50, well sampled, in {seconds:g} s"
    return verdict(claim, listing(text), done, own)


def _best_objective(rows: list[Row]) -> Verdict:
    """Search against every other solver on the same matrix, given the same time."""
    own = {(r.case, r.n, r.k): r for r in pick(rows, PART, "search")}
    below = [
        f"{r.case} k={r.k} to {r.solver}"
        for r in pick(rows, PART, *(name for name in SOLVERS if name != "exact"))
        if (ours := own.get((r.case, r.n, r.k))) is not None and r.seconds <= 1.1 * ours.limit
        if r.objective > ours.objective * (1 + 1e-9)
    ]
    measured = f"below in {len(below)} of {len(own)} problems"
    measured += f": {listing(below)}" if below else ""
    claim = "search is never below another solver given the same second, on information matrices"
    return verdict(claim, measured, not below, own)


def gap_table(rows: list[Row]) -> str:
    """The gap that each time buys, by data set and k."""
    gaps = pick(rows, PART, "choice+bound")
    lines = []
    for case, n, k in dict.fromkeys((r.case, r.n, r.k) for r in gaps):
        own = sorted((r for r in gaps if (r.case, r.n, r.k) == (case, n, k)), key=lambda r: r.limit)
        text = "   ".join(f"{r.limit:g} s: {_percent(r.gap)}" for r in own)
        lines.append(f"{case:20} n = {n:<5} k = {k:<4} {text}   by {own[-1].details['method']}")
    return "\n".join(lines)


def _percent(gap: float) -> str:
    return f"{gap:.3g}%" if gap > 1e-8 else "0"  # rounding is no gap
