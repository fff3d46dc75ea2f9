"""The paper's simulations: time, and objective beside Linear's, on random symmetric matrices."""

from collections.abc import Iterator
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.solvers import simulation as shared
from benchmarks.solvers.matrices import at_random
from benchmarks.solvers.measure import job, run, warm_up, work
from benchmarks.solvers.record import Job, Ledger, Row

SOLVERS = ("linear", "spectral", "sdp", "lowrank", "tpower", "search")
SECOND = 1.0  # for search, which takes what it is given
RUNS, QUICK_RUNS = 10, 3
LARGE, FEW_RUNS = 5000, 1  # items from which LowRank takes minutes
# The paper's figures came without their (n, k); most of these have k = n/10, for the growth.
CELLS = (
    (100, 10), (100, 30), (200, 20), (300, 30), (500, 20), (500, 50), (500, 150), (700, 70),
    (1000, 50), (1000, 100), (1000, 300), (2000, 200), (5000, 500),
)  # fmt: skip
QUICK_CELLS = ((100, 10), (200, 20), (500, 50), (700, 70), (1000, 100))
GROWTH_FROM = 500  # items: below, a call costs more than its work


def jobs(quick: bool) -> Iterator[Job]:
    """Every solver on the same matrices of each cell."""
    for n, k in QUICK_CELLS if quick else CELLS:
        for seed in range(QUICK_RUNS if quick else FEW_RUNS if n >= LARGE else RUNS):
            for solver in SOLVERS:
                limit = SECOND if solver == "search" else inf
                task = partial(run, solver=solver, seed=seed, limit=limit)
                yield job(shared.PART, at_random(n, seed), k, solver, task, seed, limit)


def open_ledger(folder: Path) -> Ledger:
    """The rows of the simulation, in a file of their own."""
    return Ledger(folder / "simulation.csv", describe_machine())


def simulate(folder: Path, quick: bool) -> None:
    """Do what is not done yet, one job at a time: times are measured."""
    ledger, wanted = open_ledger(folder), list(jobs(quick))
    left = [job for job in wanted if not ledger.knows(job)]
    print(f"simulation: {len(left)} of {len(wanted)} jobs to do; {ledger.path}", flush=True)
    if left:
        warm_up()
        work(left, ledger)


def seconds_by_cell(rows: list[Row]) -> dict[tuple[int, int], dict[str, tuple[float, float]]]:
    """By cell and solver: mean time, and its standard deviation over the matrices."""
    found: dict[tuple[int, int], dict[str, list[float]]] = {}
    for row in shared.to_the_end(rows):
        found.setdefault((row.n, row.k), {}).setdefault(row.solver, []).append(row.seconds)
    return {
        cell: {
            name: (float(np.mean(own[name])), float(np.std(own[name])))
            for name in SOLVERS
            if name in own
        }
        for cell, own in sorted(found.items())
    }


def above_linear(rows: list[Row]) -> dict[tuple[int, int], dict[str, float]]:
    """By cell and solver: the mean percentage by which its objective exceeds Linear's."""
    return shared.above_linear(rows)


def growth(rows: list[Row]) -> dict[str, float]:
    """Fitted powers of n at k = n/10, from 500 items on."""
    times: dict[str, Any] = shared.mean_seconds(rows)
    return {
        name: shared.exponent({n: t for n, t in own.items() if n >= GROWTH_FROM})
        for name, own in times.items()
        if name in SOLVERS and name != "search"
    }
