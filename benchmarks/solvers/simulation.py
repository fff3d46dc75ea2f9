"""The paper's two simulations: time, and objective relative to Linear, on random matrices."""

from collections.abc import Iterator
from functools import partial
from math import inf

import numpy as np

from benchmarks.solvers.matrices import at_random
from benchmarks.solvers.measure import job, run
from benchmarks.solvers.options import Options
from benchmarks.solvers.record import Job, Row, pick
from benchmarks.solvers.verdict import Verdict, listing, verdict

PART = "simulation"
PAPER = ("linear", "spectral", "sdp", "lowrank", "tpower")
SLOW = ("sdp", "lowrank")  # these are run to their end, and once more for the same second
TIMED = ("search",)  # has the second that it is given
SOLVERS = (*PAPER, "forward", *TIMED)
CELLS = (
    (100, 10), (100, 30), (200, 20), (200, 60), (500, 20), (500, 50), (500, 150), (1000, 50),
    (1000, 100), (1000, 300), (2000, 200),
)  # fmt: skip
QUICK_CELLS = ((50, 5), (50, 15), (100, 10), (200, 20))
TIE = 1e-9  # relative differences below this are rounding

Cell = tuple[int, int]


def jobs(options: Options) -> Iterator[Job]:
    """Each cell and each matrix of it by every solver."""
    for n, k in QUICK_CELLS if options.quick else CELLS:
        for seed in range(options.runs):
            matrix = at_random(n, seed)
            asked = [(name, options.second if name in TIMED else inf) for name in SOLVERS]
            asked += [(name, options.second) for name in SLOW]
            for solver, limit in asked:
                task = partial(run, solver=solver, seed=seed, limit=limit)
                yield job(PART, matrix, k, solver, task, seed, limit)


def to_the_end(rows: list[Row]) -> list[Row]:
    """The rows of the simulation in which the paper's solvers had all the time they wanted."""
    return [row for row in pick(rows, PART) if row.limit == inf or row.solver in TIMED]


def cells(rows: list[Row]) -> list[Cell]:
    return sorted({(row.n, row.k) for row in pick(rows, PART)})


def above_linear(rows: list[Row]) -> dict[Cell, dict[str, float]]:
    """By cell and solver: the mean percentage by which its objective exceeds Linear's."""
    linear = {(r.n, r.k, r.seed): r.objective for r in pick(rows, PART, "linear")}
    found: dict[Cell, dict[str, list[float]]] = {}
    for row in to_the_end(rows):
        base = linear.get((row.n, row.k, row.seed))
        if base is not None:
            cell = found.setdefault((row.n, row.k), {})
            cell.setdefault(row.solver, []).append(100 * (row.objective / base - 1))
    return {
        cell: {name: float(np.mean(own[name])) for name in SOLVERS if name in own}
        for cell, own in sorted(found.items())
    }


def mean_seconds(rows: list[Row]) -> dict[str, dict[int, float]]:
    """By solver and n: the mean time where k is a tenth of n."""
    found: dict[str, dict[int, list[float]]] = {name: {} for name in SOLVERS}
    for row in to_the_end(rows):
        if row.n == 10 * row.k:
            found[row.solver].setdefault(row.n, []).append(row.seconds)
    return {
        name: {n: float(np.mean(times)) for n, times in sorted(own.items())}
        for name, own in found.items()
        if own
    }


def exponent(times: dict[int, float]) -> float:
    """Slope of log time against log n."""
    if len(times) < 2:
        return float("nan")
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def growth(rows: list[Row]) -> str:
    """The fitted powers of n, for all that take the time they need."""
    times = mean_seconds(rows).items()
    return ", ".join(f"{name} {exponent(own):.2f}" for name, own in times if name not in TIMED)


def claims(rows: list[Row]) -> list[Verdict]:
    """What the paper says of its own simulation, and what is said of the others."""
    percent = {cell: own for cell, own in above_linear(rows).items() if {*SOLVERS} <= own.keys()}
    return [
        *(_above(percent, name) for name in ("tpower", "lowrank")),
        _search_above_all(percent),
        _search_never_below(rows),
        _lowrank_in_time(rows),
    ]


def _above(percent: dict[Cell, dict[str, float]], name: str) -> Verdict:
    """Whether a solver of the paper is above the three others in every cell."""
    others = ("linear", "spectral", "sdp")
    lost = [
        f"{cell} {name} {own[name]:.2f}% {other} {own[other]:.2f}%"
        for cell, own in percent.items()
        for other in others
        if own[name] < own[other]
    ]
    means = [own[name] for own in percent.values()] or [0.0]
    measured = f"{min(means):.2f}% to {max(means):.2f}% over Linear, {len(percent)} cells"
    measured += f"; below: {listing(lost)}" if lost else ""
    claim = f"{name} is above Linear, Spectral and SDP on average in every (n,k) cell"
    return verdict(claim, measured, not lost, percent)


def _search_above_all(percent: dict[Cell, dict[str, float]]) -> Verdict:
    lost, leads = [], []
    for cell, own in percent.items():
        best = max(PAPER, key=lambda name: own[name])
        leads.append(own["search"] - own[best])
        if leads[-1] < -1e-7:
            lost.append(f"{cell} {best} by {-leads[-1]:.4f}%")
    measured = f"ahead of the best of the paper's by {min(leads, default=0):.3f} to "
    measured += f"{max(leads, default=0):.2f} points of Linear"
    measured += f"; not in {listing(lost)}" if lost else ""
    return verdict("search is above all of them in all cells", measured, not lost, percent)


def _search_never_below(rows: list[Row]) -> Verdict:
    """Search against whatever another solver finds in the same time, matrix by matrix."""
    own = {(r.n, r.k, r.seed): r for r in pick(rows, PART, "search")}
    below, compared = [], 0
    for row in pick(rows, PART):
        ours = own.get((row.n, row.k, row.seed))
        if ours is None or (row.limit > ours.limit and row.seconds > ours.limit):
            continue
        compared += 1
        if row.objective > ours.objective * (1 + TIE):
            loss = 100 * (row.objective / ours.objective - 1)
            below.append(f"({row.n}, {row.k}) #{row.seed} by {loss:.4f}% to {row.solver}")
    measured = f"below in {len(below)} of {compared} comparisons"
    measured += f": {listing(below)}" if below else ""
    return verdict("search is never below another solver given the same second", measured,
                   not below, compared)  # fmt: skip


def _lowrank_in_time(rows: list[Row]) -> Verdict:
    own = pick(rows, PART, "lowrank", n=1000, limit=inf)
    draws = {row.details.get("draws") for row in own}
    worst = max((row.seconds for row in own), default=0.0)
    return verdict(
        "lowrank makes the 926,519 draws of the published rule, n = 1000 in at most 10 s",
        f"draws {draws}, slowest {worst:.2f} s", worst <= 10 and draws == {926519}, own,
    )  # fmt: skip
