"""bestk and general solvers with the same time limit."""

from collections.abc import Iterator
from functools import partial
from math import isnan

from benchmarks.solvers.apart import call_apart
from benchmarks.solvers.matrices import Matrix, at_random, data_sets, listed
from benchmarks.solvers.measure import certify, job, watch
from benchmarks.solvers.mip import cp_sat, highs
from benchmarks.solvers.options import Options
from benchmarks.solvers.record import Found, Job, Row, pick
from benchmarks.solvers.sampling import annealing, tabu
from benchmarks.solvers.verdict import Verdict, listing, verdict
from bestk.bqp.problem import BQP

PART = "peers"
SAMPLERS = {"annealing": annealing, "tabu": tabu}
PROGRAMS = {"HiGHS": highs, "CP-SAT": cp_sat}  # a variable for each pair of items
PEERS = {**PROGRAMS, **SAMPLERS}
MOST_ITEMS = 700  # above it a program has more variables than it can read in its time
SAME_BOUND = 1e-4  # HiGHS ends within this of its optimum
LISTED = (("MDG-a_1_n500_m50", 50), ("GKD-c_1_n500_m50", 50), ("randint2000_101", 200))
SETS = (("optdigits", 20), ("lung", 20), ("multifeat", 50))


def jobs(options: Options) -> Iterator[Job]:
    """Each peer in a process of its own, then bestk."""
    T = options.peer_seconds
    for matrix, k in _problems(options):
        for name, peer in PEERS.items():
            if name in SAMPLERS or matrix.n <= MOST_ITEMS:
                yield job(PART, matrix, k, name, partial(_apart, peer=peer, limit=T), limit=T)
        for name in ("search", "exact"):
            yield job(
                PART, matrix, k, name, partial(watch, solver=name, seed=0, limit=T), limit=T
            )  # fmt: skip
        yield job(PART, matrix, k, "choice+bound", partial(certify, limit=T), limit=T)


def _problems(options: Options) -> list[tuple[Matrix, int]]:
    if options.quick:
        return [(at_random(30, 0), 5), (at_random(100, 0), 10)]
    known = {(c.matrix.name, c.k): c.matrix for c in listed(options.bqp)}
    sets = {matrix.name: matrix for matrix in data_sets(options.data)}
    return [
        (at_random(50, 0), 10),
        *((sets[name], k) for name, k in SETS if name in sets),
        *((known[case], case[1]) for case in LISTED if case in known),
    ]


def _apart(problem: BQP, peer: object, limit: float) -> Found:
    return call_apart(peer, problem.Q, problem.k, limit, 0, patience=5 * limit + 60)


def problems(rows: list[Row]) -> list[tuple[str, int, int]]:
    return list(dict.fromkeys((r.case, r.n, r.k) for r in pick(rows, PART)))


def claims(rows: list[Row]) -> list[Verdict]:
    """Nobody finds a better choice in the same time, nor proves a lower bound."""
    own = {(r.case, r.n, r.k, r.solver): r for r in pick(rows, PART)}
    better, closer, lines = [], [], []
    for problem in problems(rows):
        ours = own.get((*problem, "search"))
        proofs = [r for s in ("exact", "choice+bound") if (r := own.get((*problem, s)))]
        theirs = {name: r for name in PEERS if (r := own.get((*problem, name)))}
        if ours is None or not proofs:
            continue
        bound = min(r.upper_bound for r in proofs)
        where = f"{problem[0]} ({problem[1]}, {problem[2]})"
        for name, row in theirs.items():
            if row.objective > ours.objective * (1 + 1e-9):
                better.append(f"{name} on {where}")
            # a program that ends early may name less than a choice is worth
            is_bound = row.upper_bound >= ours.objective * (1 - SAME_BOUND)
            if is_bound and row.upper_bound < bound * (1 - SAME_BOUND):
                closer.append(f"{name} on {where}: {row.upper_bound:.6g} against {bound:.6g}")
        lines.append(f"{where}: " + ", ".join(_standing(n, r, ours) for n, r in theirs.items()))
    measured = "; ".join(lines) + (f"; BETTER: {listing(better)}" if better else "")
    return [
        verdict("no peer finds a better choice than search in the same time", measured,
                not better, lines),
        verdict("no peer proves a lower bound in the same time",
                f"lower: {listing(closer)}" if closer else f"none on {len(lines)} problems",
                not closer, lines),
    ]  # fmt: skip


def _standing(name: str, row: Row, ours: Row) -> str:
    if isnan(row.objective):
        return f"{name} nothing"
    return f"{name} {100 * (row.objective / ours.objective - 1):+.3f}%"
