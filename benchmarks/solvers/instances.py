"""Published problems: is the best known value found, how fast, and with which gap."""

from collections.abc import Iterator
from functools import partial
from math import inf, isfinite, isnan

from benchmarks.solvers.matrices import Listed, Matrix, at_random, listed
from benchmarks.solvers.measure import SAME, certify, job, run, watch
from benchmarks.solvers.options import Options
from benchmarks.solvers.record import Job, Row, pick
from benchmarks.solvers.verdict import Verdict, listing, verdict

PART = "instances"
SMALL = 100  # up to this size the proof is tried to the end
PATIENCE = {"randint2000": 20.0, "tsplib": 10.0, "facebook": 10.0}  # seconds for search; else 5
PROOF_SECONDS = 60.0
GAP_SECONDS = {"MDG-a": 30.0, "GKD-c": 60.0}
QUICK = (
    ("MDG-a_1", 50), ("MDG-b_1", 50), ("GKD-c_1", 50), ("SOM-b_6", 40), ("GKD-b_11", 5),
    ("SOM-a_11", 5), ("tsplib_rd400", 40), ("airline_usca", 100), ("mi_", 10),
)  # fmt: skip


def jobs(options: Options) -> Iterator[Job]:
    """Search from some seeds, TPower as its authors ran it, proofs and proved gaps."""
    seeds, proof = (2, 5.0) if options.quick else (5, PROOF_SECONDS)
    for case in _asked(options):
        matrix, k = case.matrix, case.k
        yield from _searches(case, seeds, options.quick)
        if not isnan(case.authors):
            yield job(PART, matrix, k, "tpower", partial(run, solver="tpower"))
        if matrix.n <= SMALL:
            yield _proof(matrix, k, proof)
        if matrix.name[:5] in GAP_SECONDS and k == 50:
            limit = 3.0 if options.quick else GAP_SECONDS[matrix.name[:5]]
            yield job(PART, matrix, k, "choice+bound", partial(certify, limit=limit), limit=limit)
    for seed in range(seeds):
        yield _proof(at_random(80, seed), 10, proof, seed)


def _asked(options: Options) -> list[Listed]:
    cases = listed(options.bqp)
    if not options.quick:
        return cases
    return [c for c in cases if any(c.matrix.name.startswith(a) and c.k == k for a, k in QUICK)]


def _searches(case: Listed, seeds: int, quick: bool) -> Iterator[Job]:
    family = case.matrix.name.split("_")[0]
    limit = 2.0 if quick else PATIENCE.get(family, 5.0)
    for seed in range(seeds):
        task = partial(watch, solver="search", seed=seed, limit=limit, target=case.best)
        yield job(PART, case.matrix, case.k, "search", task, seed, limit)


def _proof(matrix: Matrix, k: int, limit: float, seed: int = 0) -> Job:
    return job(PART, matrix, k, "exact", partial(run, solver="exact", limit=limit), seed, limit)


def claims(rows: list[Row], options: Options) -> list[Verdict]:
    """What search, TPower, the proofs and the bounds are to show."""
    found = pick(rows, PART, "search")
    families = ("MDG-a", "MDG-b", "SOM-b", "GKD-c")
    least_k = {name: min(r.k for r in found if r.case == name) for name in {r.case for r in found}}
    planes = [r for r in found if r.case.startswith("tsplib") and r.k == least_k[r.case]]
    return [
        *(_in_time([r for r in found if r.case.startswith(f)], f, 1.0) for f in families),
        _in_time(planes, "tsplib at k = 10%", 2.0),
        *(_near(found, *target) for target in ((1.0, 0.05), (5.0, 0.01), (20.0, 100 * SAME))),
        _all_listed(found),
        _as_its_authors(rows, options),
        _small_gap(rows, "MDG-a", 4.6),
        _small_gap(rows, "GKD-c", 0.06),
        _proved(rows, "random", 1.0),
        _proved(rows, "GKD-b", 10.0),
    ]


def _in_time(rows: list[Row], name: str, seconds: float) -> Verdict:
    late = [r for r in rows if not r.to_target <= seconds]
    times = sorted(r.to_target for r in rows if isfinite(r.to_target)) or [inf]
    measured = f"{len(rows) - len(late)} of {len(rows)} runs, median {times[len(times) // 2]:.3f} s"
    measured += f", worst {times[-1]:.3f} s"
    measured += f"; late: {listing(_missed(r) for r in late)}" if late else ""
    claim = f"search attains the best known value of every {name} case within {seconds:g} s"
    return verdict(claim, measured, not late, rows)


def _missed(row: Row) -> str:
    short = 100 * (1 - row.objective / row.target)
    when = f"{row.to_target:.2f} s" if isfinite(row.to_target) else f"{short:.4f}% short"
    return f"{row.case} k={row.k} #{row.seed} {when}"


def _near(found: list[Row], seconds: float, percent: float) -> Verdict:
    """How far from the listed value the searches of randint2000 are after some seconds."""
    rows = [r for r in found if r.case.startswith("randint2000")]
    short = [100 * (1 - r.at(seconds) / r.target) for r in rows] or [inf]
    late = sum(not s <= percent for s in short)
    goal = "attains the listed value" if percent <= 100 * SAME else f"is within {percent:g}%"
    claim = f"search {goal} of randint2000 at {seconds:g} s"
    measured = f"worst {max(short):.4f}% short, {len(rows) - late} of {len(rows)} runs"
    return verdict(claim, measured, not late, rows)


def _all_listed(found: list[Row]) -> Verdict:
    reached = {(r.case, r.k) for r in found if isfinite(r.to_target)}
    missed = {(r.case, r.k) for r in found} - reached
    measured = f"{len(reached)} of {len(reached | missed)} cases"
    measured += f"; not: {listing(f'{c} k={k}' for c, k in sorted(missed))}" if missed else ""
    return verdict("search attains every listed value from some seed", measured, not missed, found)


def _as_its_authors(rows: list[Row], options: Options) -> Verdict:
    authors = {(c.matrix.name, c.k): c.authors for c in listed(options.bqp)}
    own = [r for r in pick(rows, PART, "tpower") if (r.case, r.k) in authors]
    apart = max((abs(r.objective - authors[r.case, r.k]) / r.k for r in own), default=inf)
    claim = "tpower from Linear equals the authors' stored results on airline_usca to 1e-9"
    return verdict(claim, f"{len(own)} cases, largest difference {apart:.1e}", apart <= 1e-9, own)


def _small_gap(rows: list[Row], family: str, percent: float) -> Verdict:
    own = [r for r in pick(rows, PART, "choice+bound") if r.case.startswith(family)]
    worst = max((r.gap for r in own), default=inf)
    limit = own[0].limit if own else 0
    claim = f"certified gap of {family} k = 50 at most {percent}% in {GAP_SECONDS[family]:g} s"
    return verdict(claim, f"worst {worst:.3f}% in {limit:g} s, {len(own)} cases",
                   worst <= percent, own)  # fmt: skip


def _proved(rows: list[Row], family: str, seconds: float) -> Verdict:
    own = [r for r in pick(rows, PART, "exact") if r.case.startswith(family)]
    late = [r for r in own if not (r.details.get("optimal") and r.seconds <= seconds)]
    worst = max((r.seconds for r in own), default=inf)
    sizes = sorted({(r.n, r.k) for r in own})
    claim = f"exact proves {family} problems in {seconds:g} s"
    return verdict(claim, f"{sizes}: {len(own) - len(late)} of {len(own)} in time, slowest "
                   f"{worst:.2f} s", not late, own)  # fmt: skip
